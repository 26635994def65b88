/**
 * Owns the summary of a mail thread: what was said, decided, promised and what comes next, each with its
 * source. It refuses to write a word of its own: every text is a sentence of the mail it cites, cut at
 * most.
 */

import { actionItemsOf, namesIn } from "./summary/action-item.ts"
import { isDecision } from "./summary/decision.ts"
import { rankStatements } from "./summary/sentence-rank.ts"
import {
  type CitedSentence,
  cite,
  normalizedText,
  readStatements,
  type Statement,
} from "./summary/statement.ts"
import type { ThreadMessage } from "./summary/thread-message.ts"
import { type ActionItem, trackWork, type WorkEntry } from "./summary/work-ledger.ts"
import { type ThreadStatus, threadStatus } from "./thread.ts"

export type { CitedSentence } from "./summary/statement.ts"
export type { ThreadMessage } from "./summary/thread-message.ts"
export type { ActionItem } from "./summary/work-ledger.ts"

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
 * size of the thread: sentences are compared with the few chosen ones, never with each other.
 */
export function summarizeThread(
  messages: readonly ThreadMessage[],
  participants: readonly string[],
  nowMs: number,
): ThreadSummary {
  const statements = readStatements(messages)
  const work = trackWork(statements, namesIn(messages, participants))
  return {
    summary: rankStatements(statements, messages.length, SUMMARY_LIMIT).map(cite),
    decisions: decisionsIn(statements),
    actionItems: actionItemsOf(work),
    nextSteps: nextStepsIn(work),
    messageCount: messages.length,
    participants: [...new Set(participants)],
    ...activityOf(messages, nowMs),
  }
}

function decisionsIn(statements: readonly Statement[]): CitedSentence[] {
  const decisions = statements.filter(isDecision).map(cite)
  // Only a repetition of the decision in force goes: after a reversal, the old words decide anew.
  return decisions
    .filter(({ text }, index) => normalizedText(text) !== normalizedText(decisions[index - 1]?.text ?? ""))
    .slice(-DECISION_LIMIT)
}

function nextStepsIn(work: readonly WorkEntry[]): CitedSentence[] {
  const steps = new Map<string, CitedSentence>()
  for (const { item } of work) {
    const { quote: text, messageId, mentionedBy: sender } = item
    const key = normalizedText(text)
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
