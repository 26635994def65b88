/**
 * Owns the summary of a mail thread: what was said, decided, promised and what comes next, each with its
 * source. It refuses to write a word of its own: every text is a sentence of the mail it cites, cut at
 * most.
 */

import { type ThreadStatus, threadStatus } from "../coordination/thread.ts"
import { indexableText } from "../text/words.ts"
import { AgentNames } from "./agent-name.ts"
import { isDecision } from "./decision.ts"
import { lookedAt } from "./opening.ts"
import { rankStatements } from "./sentence-rank.ts"
import { type CitedSentence, cite, readStatements, type Statement } from "./statement.ts"
import type { ThreadMessage } from "./thread-message.ts"
import { type ActionItem, trackWork, type WorkEntry } from "./work-ledger.ts"

export type { CitedSentence } from "./statement.ts"
export type { ThreadMessage } from "./thread-message.ts"
export type { ActionItem } from "./work-ledger.ts"

const SUMMARY_LIMIT = 5
const DECISION_LIMIT = 10
const NEXT_STEP_LIMIT = 10

export interface ThreadSummary {
  /** At most 5 sentences that stand for the thread, in the order they were written. */
  summary: CitedSentence[]
  /** The latest 10 decisions, oldest first; a reversal stands beside what it reverses. */
  decisions: CitedSentence[]
  actionItems: ActionItem[]
  /** The latest 10 sentences that name open work: pending action items and announced steps. */
  nextSteps: CitedSentence[]
  messageCount: number
  /** How many of them were looked at whole; of the others, the longest, only the opening was. */
  wholeMessageCount: number
  participants: string[]
  /** Milliseconds since the epoch; null in an empty thread, as is the last activity. */
  startedAtMs: number | null
  lastActivityAtMs: number | null
  durationMs: number
  status: ThreadStatus
}

/**
 * Summarises a thread (mails oldest first) by extraction; the same input gives the same summary. Texts are
 * plain text of the cited mail, at most 300 characters; `nowMs` decides the status only. Near linear in the
 * size of the thread: sentences are compared with the few chosen ones, never with each other. Names are
 * those of the participants and of all who wrote in the thread. Of a thread that would take longer than a moment the
 * opening of the longest mails is looked at.
 */
export function summarizeThread(
  all: readonly ThreadMessage[],
  participants: readonly string[],
  nowMs: number,
): ThreadSummary {
  const { messages, wholeCount } = lookedAt(all)
  const statements = readStatements(messages)
  const names = new AgentNames([...participants, ...messages.map((message) => message.sender)])
  const work = trackWork(statements, names)
  return {
    summary: rankStatements(statements, messages.length, SUMMARY_LIMIT).map(cite),
    decisions: decisionsIn(statements),
    actionItems: work.filter(({ origin }) => origin === "action").map(({ item }) => item),
    nextSteps: nextStepsIn(work),
    messageCount: messages.length,
    wholeMessageCount: wholeCount,
    participants: [...new Set(participants)],
    ...activityOf(messages, nowMs),
  }
}

function decisionsIn(statements: readonly Statement[]): CitedSentence[] {
  const decisions = statements.filter(isDecision).map(cite)
  // Only a repetition of the decision in force goes: after a reversal, the old words decide anew.
  return decisions
    .filter(({ text }, index) => indexableText(text) !== indexableText(decisions[index - 1]?.text ?? ""))
    .slice(-DECISION_LIMIT)
}

function nextStepsIn(work: readonly WorkEntry[]): CitedSentence[] {
  const steps = new Map<string, CitedSentence>()
  for (const { item } of work) {
    const { quote: text, messageId, mentionedBy: sender } = item
    const key = indexableText(text)
    if (!item.completed && !steps.has(key)) steps.set(key, { text, messageId, sender })
  }
  return [...steps.values()].slice(-NEXT_STEP_LIMIT)
}

type Activity = Pick<ThreadSummary, "startedAtMs" | "lastActivityAtMs" | "durationMs" | "status">

function activityOf(messages: readonly ThreadMessage[], nowMs: number): Activity {
  const times = messages.map((message) => message.createdAtMs)
  const startedAtMs = times.reduce<number | null>((first, time) => Math.min(first ?? time, time), null)
  const lastActivityAtMs = times.reduce<number | null>((last, time) => Math.max(last ?? time, time), null)
  if (startedAtMs === null || lastActivityAtMs === null) {
    return { startedAtMs, lastActivityAtMs, durationMs: 0, status: "idle" }
  }
  const status = threadStatus(lastActivityAtMs, nowMs)
  return { startedAtMs, lastActivityAtMs, durationMs: lastActivityAtMs - startedAtMs, status }
}
