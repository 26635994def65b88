/** The summary of a mail thread. No word is our own: every text is a sentence of the mail it cites, cut at most. */

import { type ThreadStatus, threadStatus } from "../coordination/thread.ts"
import { indexableText } from "../text/words.ts"
import { decisionsIn } from "./decision.ts"
import { keySentences } from "./key-sentences.ts"
import { lookedAt } from "./opening.ts"
import { knownNames } from "./request.ts"
import { type CitedSentence, cite, readStatements, type ThreadMessage } from "./statement.ts"
import { type ActionItem, trackWork } from "./work.ts"

export type { CitedSentence, ThreadMessage } from "./statement.ts"
export type { ActionItem } from "./work.ts"

const SUMMARY_LIMIT = 5
const LIST_LIMIT = 10

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
  status: ThreadStatus
}

/**
 * Summarises a thread (mails oldest first) by extraction; the same input gives the same summary. Texts are plain text
 * of the cited mail, at most 300 characters; `nowMs` decides the status only. Names are those of the participants and
 * of all who wrote. Near linear in the size of the thread; of one that would take longer than a moment the opening of
 * the longest mails is looked at.
 */
export function summarizeThread(
  all: readonly ThreadMessage[],
  participants: readonly string[],
  nowMs: number,
): ThreadSummary {
  const { messages, wholeCount } = lookedAt(all)
  const statements = readStatements(messages)
  const decided = decisionsIn(statements)
  const decisions = decided.map(cite)
  const work = trackWork(statements, knownNames([...participants, ...messages.map(({ sender }) => sender)]))
  const open = work.filter(({ item }) => !item.completed).map(({ cited }) => cited)
  const steps = [...new Map(open.map((cited) => [indexableText(cited.text), cited])).values()]
  return {
    summary: keySentences(statements, new Set(decided), messages.length, SUMMARY_LIMIT).map(cite),
    // Only a repetition of the decision in force goes: after a reversal, the old words decide anew.
    decisions: decisions
      .filter(({ text }, index) => indexableText(text) !== indexableText(decisions[index - 1]?.text ?? ""))
      .slice(-LIST_LIMIT),
    actionItems: work.filter(({ kind }) => kind === "action").map(({ item }) => item),
    nextSteps: steps.slice(-LIST_LIMIT),
    messageCount: messages.length,
    wholeMessageCount: wholeCount,
    participants: [...new Set(participants)],
    status: threadStatus(messages.at(-1)?.createdAtMs ?? Number.NEGATIVE_INFINITY, nowMs),
  }
}
