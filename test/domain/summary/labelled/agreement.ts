/**
 * Threads with what a reader would note of them, and how far a summary agrees. The labels were written before the cues;
 * `threads-held-out.txt` serves only to judge them.
 *
 * A thread is `=== Subject`, its mails `@ Sender +1h` and a body, its labels lines that begin with `%` and name a mail
 * and a phrase of the sentence that is meant. Without a time, a mail follows the one before after ten minutes.
 */

import { readFileSync } from "node:fs"
import type { ActionItem, ThreadMessage, ThreadSummary } from "../../../../src/domain/summary/summary.ts"

interface Phrase {
  messageId: number
  phrase: string
}

interface LabelledItem extends Phrase {
  owner: string | null
  /** As written, and the day it means where one is meant. */
  due: { written: string; date: string | null } | null
  isDone: boolean
}

export interface LabelledThread {
  subject: string
  messages: ThreadMessage[]
  decisions: Phrase[]
  items: LabelledItem[]
  keyPoints: Phrase[]
}

/** Tuesday. */
const FIRST_MESSAGE_MS = Date.parse("2026-03-10T09:00:00Z")
const HOUR_MS = 3_600_000

/** Returns the threads of a file beside this one. */
export function readThreads(name: string): LabelledThread[] {
  const text = readFileSync(new URL(name, import.meta.url), "utf8")
  return text.split(/^=== /m).slice(1).map(readThread)
}

function readThread(text: string): LabelledThread {
  const [head = "", ...mails] = text.split(/^@ /m)
  const subject = head.trim()
  const thread: LabelledThread = { subject, messages: [], decisions: [], items: [], keyPoints: [] }
  let createdAtMs = FIRST_MESSAGE_MS
  for (const mail of mails) {
    const [, sender = "", amount, unit, rest = ""] = /^(\S+)(?: \+(\d+)([hd]))?\n([\s\S]*)$/.exec(mail) ?? []
    const hours = amount === undefined ? 1 / 6 : Number(amount) * (unit === "d" ? 24 : 1)
    createdAtMs += thread.messages.length === 0 ? 0 : hours * HOUR_MS
    const lines = rest.split("\n")
    const body = lines.filter((line) => !line.startsWith("% ")).join("\n")
    thread.messages.push({ id: thread.messages.length + 1, sender, subject, body: body.trim(), createdAtMs })
    for (const line of lines) if (line.startsWith("% ")) readLabel(line, thread)
  }
  return thread
}

function readLabel(line: string, thread: LabelledThread): void {
  const [, kind, id, text = ""] = /^% (decision|item|key) (\d+) (.*)$/.exec(line) ?? []
  const messageId = Number(id)
  if (kind === "decision") thread.decisions.push({ messageId, phrase: text })
  else if (kind === "key") thread.keyPoints.push({ messageId, phrase: text })
  else if (kind === "item") {
    const [owner = "", phrase = "", due = "", state = ""] = text.split(" | ")
    const [written = "", date = null] = due.split("=")
    thread.items.push({
      messageId,
      phrase,
      owner: owner === "-" ? null : owner,
      due: due === "-" ? null : { written, date },
      isDone: state === "done",
    })
  } else throw new Error(`no label: ${line}`)
}

/** What was found, what was meant, and what is both. */
class Tally {
  found = 0
  meant = 0
  right = 0

  /** The harmonic mean of precision and recall, 0 to 1. */
  get f1(): number {
    return (2 * this.right) / (this.found + this.meant)
  }

  get precision(): number {
    return this.right / this.found
  }

  get recall(): number {
    return this.right / this.meant
  }
}

export interface Agreement {
  decisions: Tally
  items: Tally
  /** Of the items that were found: whose owner, due words, day and state are those of the label. */
  owners: number
  dueWords: number
  dueDates: number
  states: number
  /** Key points that stand in the summary. */
  keyPoints: Tally
}

/** Returns how far the summaries of threads agree with their labels. */
export function agreementOf(
  threads: readonly LabelledThread[],
  summarize: (thread: LabelledThread) => ThreadSummary,
): Agreement {
  const decisions = new Tally()
  const items = new Tally()
  const keyPoints = new Tally()
  const pairs: [LabelledItem, ActionItem][] = []
  for (const thread of threads) {
    const summary = summarize(thread)
    matched(thread.decisions, summary.decisions, ({ text }) => text, decisions)
    matched(thread.keyPoints, summary.summary, ({ text }) => text, keyPoints)
    pairs.push(...matched(thread.items, summary.actionItems, ({ description }) => description, items))
  }
  const share = (isRight: (label: LabelledItem, item: ActionItem) => boolean) =>
    pairs.filter(([label, item]) => isRight(label, item)).length / pairs.length
  return {
    decisions,
    items,
    owners: share((label, item) => label.owner === item.owner),
    dueWords: share((label, { due }) =>
      label.due === null ? due === null : normalised(due ?? "").includes(normalised(label.due.written)),
    ),
    dueDates: share((label, item) => (label.due?.date ?? null) === dateOf(item)),
    states: share((label, item) => label.isDone === item.completed),
    keyPoints,
  }
}

function dateOf(item: ActionItem): string | null {
  return /\d{4}-\d{2}-\d{2}/.exec(item.due ?? "")?.[0] ?? null
}

/** Pairs each label with the first thing found that is it, none twice. */
function matched<Label extends Phrase, Found extends { messageId: number }>(
  labels: readonly Label[],
  found: readonly Found[],
  textOf: (one: Found) => string,
  tally: Tally,
): [Label, Found][] {
  const left = new Set(found)
  const pairs = labels.flatMap((label): [Label, Found][] => {
    const match = [...left].find(
      (one) =>
        one.messageId === label.messageId && normalised(textOf(one)).includes(normalised(label.phrase)),
    )
    if (match) left.delete(match)
    return match ? [[label, match]] : []
  })
  tally.found += found.length
  tally.meant += labels.length
  tally.right += pairs.length
  return pairs
}

function normalised(text: string): string {
  return text.replace(/\*\*/g, "").replace(/\s+/g, " ").toLowerCase()
}
