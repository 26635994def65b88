/** Threads: reading, finding and summarising them. */

import * as z from "zod"
import {
  ACTION_ITEMS_SHOWN_MAX,
  FOUND_COUNTED_MAX,
  SEARCH_LIMIT_DEFAULT,
  SEARCH_LIMIT_MAX,
  SUMMARY_MESSAGES_MAX,
  THREAD_ACTIVE_WINDOW_MS,
  THREAD_IDS_MAX,
  THREAD_MESSAGES_LIMIT_DEFAULT,
  THREAD_MESSAGES_LIMIT_MAX,
} from "../../config/limits.ts"
import type { Queries } from "../../db/database.ts"
import { nameKey } from "../../domain/coordination/agent.ts"
import { type Participant, type Thread, threadStatus } from "../../domain/coordination/thread.ts"
import { echoed, inQuotes, lineStart, oneLine } from "../../domain/foreign-text/markdown.ts"
import type { Project } from "../../domain/project.ts"
import type { ActionItem, CitedSentence, ThreadSummary } from "../../domain/summary/summary.ts"
import { hasWords, parseQuery } from "../../domain/text/query-text.ts"
import { AppError } from "../../errors.ts"
import { listThreadMessages } from "../../store/coordination/messages.ts"
import {
  countThreads,
  findThread,
  findThreadById,
  listParticipants,
  listThreads,
} from "../../store/coordination/threads.ts"
import { requireAgent } from "../admission.ts"
import type { App } from "../app.ts"
import { agentName, limit, projectId, query, threadId, time } from "../fields.ts"
import {
  count,
  duration,
  fitBlocks,
  lines,
  nameList,
  shownCount,
  threadEntry,
  timeAndAge,
} from "../markdown.ts"
import { defineOperation } from "../operation.ts"
import { withVisibleRecipients } from "./messages.ts"

/** Returns a project's thread; fails with `not_found`. A notice is nobody's thread but its recipient's mail. */
export async function requireThread(db: Queries, project: Project, key: string): Promise<Thread> {
  const thread = await findThread(db, project.id, key)
  if (thread !== undefined && !thread.isNotice) return thread
  throw new AppError("not_found", `thread ${echoed(key)} was not found in project ${echoed(project.key)}`, {
    hint: "Call search-threads to find thread ids.",
  })
}

/** Returns the latest messages of a thread, oldest first, with those who take part. */
export async function readThread(app: App, thread: Thread, limit: number) {
  const messages = await withVisibleRecipients(app, await listThreadMessages(app.db, thread.id, limit))
  return { thread, participants: await listParticipants(app.db, thread.id), messages }
}

/** Returns what is to be known of a thread below its subject. */
function threadFacts(thread: Thread, participants: readonly Participant[], nowMs: number): string {
  return lines(
    `Thread id: ${thread.key}`,
    `Participants: ${nameList(participants.map((participant) => participant.name))}`,
    `Messages: ${thread.messageCount}`,
    `Last activity: ${timeAndAge(thread.lastMessageAtMs, nowMs)}`,
    `Status: ${threadStatus(thread.lastMessageAtMs, nowMs)}`,
  )
}

export const getThreadMessages = defineOperation({
  name: "get-thread-messages",
  title: "Get thread messages",
  category: "messaging",
  effect: "read",
  idempotent: true,
  description: "Show a thread's messages in order; of a long thread the latest ones.",
  input: z.strictObject({
    project_id: projectId(),
    thread_id: threadId(),
    limit: limit(THREAD_MESSAGES_LIMIT_DEFAULT, THREAD_MESSAGES_LIMIT_MAX),
  }),
  async run({ app, project, nowMs }, input) {
    return {
      ...(await readThread(app, await requireThread(app.db, project, input.thread_id), input.limit)),
      nowMs,
    }
  },
  markdown: ({ thread, participants, messages, nowMs }) => {
    const shown =
      messages.length < thread.messageCount ? `Shown: the latest ${messages.length}` : `Shown: all`
    const head = lines(
      `# ${oneLine(thread.subject)}`,
      threadFacts(thread, participants, nowMs),
      `Created: ${timeAndAge(thread.createdAtMs, nowMs)}`,
      shown,
    )
    const blocks = messages.map(({ message, recipients, ackedAtMs }) =>
      threadEntry(message, recipients, ackedAtMs, nowMs),
    )
    return fitBlocks(
      head,
      blocks,
      "They are older; call read-message for one of them, or summarize-thread for all.",
      "last",
    )
  },
})

export const searchThreads = defineOperation({
  name: "search-threads",
  title: "Search threads",
  category: "search",
  effect: "read",
  idempotent: true,
  isSearch: true,
  description: "Find threads by words in their messages, participant or date; without query the latest ones.",
  input: z.strictObject({
    project_id: projectId(),
    query: query("Words, as in search-messages").optional(),
    participant_name: agentName("Only threads this agent takes part in").optional(),
    from_date: time("Only threads with activity since, ISO 8601").optional(),
    active_only: z.boolean().describe("Only threads with activity in the last 7 days").optional(),
    limit: limit(SEARCH_LIMIT_DEFAULT, SEARCH_LIMIT_MAX),
  }),
  async run({ app, project, nowMs }, input) {
    const participant =
      input.participant_name === undefined
        ? undefined
        : await requireAgent(app.db, project, input.participant_name)
    const activeFromMs = input.active_only === true ? nowMs - THREAD_ACTIVE_WINDOW_MS : undefined
    const fromMs = Math.max(
      input.from_date ?? Number.NEGATIVE_INFINITY,
      activeFromMs ?? Number.NEGATIVE_INFINITY,
    )
    const filter = {
      projectId: project.id,
      participantId: participant?.id,
      fromMs: Number.isFinite(fromMs) ? fromMs : undefined,
    }
    const { threads, total } =
      input.query === undefined
        ? await latestThreads(app, filter, input.limit)
        : await findThreads(app, input.query, filter, input.limit)
    const found: { thread: Thread; participants: Participant[] }[] = []
    for (const thread of threads)
      found.push({ thread, participants: await listParticipants(app.db, thread.id) })
    return { found, total, nowMs }
  },
  markdown: ({ found, total, nowMs }) =>
    fitBlocks(
      lines(
        "# Threads",
        `Results: ${shownCount(found.length, total)}`,
        found.length === 0 ? "Nothing matched; try other or fewer words." : null,
      ),
      found.map(({ thread, participants }) =>
        lines(`### ${oneLine(thread.subject)}`, threadFacts(thread, participants, nowMs)),
      ),
      "Use a smaller limit or more words.",
    ),
})

type ThreadsFound = { threads: Thread[]; total: number }
type ThreadFilter = Parameters<typeof listThreads>[1]

async function latestThreads(app: App, filter: ThreadFilter, limit: number): Promise<ThreadsFound> {
  const threads = await listThreads(app.db, filter, limit)
  return { threads, total: threads.length < limit ? threads.length : await countThreads(app.db, filter) }
}

async function findThreads(
  app: App,
  text: string,
  filter: ThreadFilter,
  limit: number,
): Promise<ThreadsFound> {
  const parsed = parseQuery(text)
  if (!hasWords(parsed)) return { threads: [], total: 0 }
  const ids = await app.search.findThreads(app.db, parsed, filter, limit)
  const threads: Thread[] = []
  for (const id of ids) {
    const thread = await findThreadById(app.db, id)
    if (thread !== undefined) threads.push(thread)
  }
  const isAll = ids.length < limit
  return {
    threads,
    total: isAll ? ids.length : await app.search.countThreads(app.db, parsed, filter, FOUND_COUNTED_MAX + 1),
  }
}

/** Returns a thread's summary, of its latest messages when it is very long. */
export async function summaryOf(app: App, thread: Thread, nowMs: number): Promise<ThreadSummary> {
  const names = (await listParticipants(app.db, thread.id)).map((participant) => participant.name)
  const messages = await listThreadMessages(app.db, thread.id, SUMMARY_MESSAGES_MAX)
  const plain = messages.map((message) => ({
    id: message.id,
    sender: message.senderName,
    subject: message.subject,
    body: message.bodyMd,
    createdAtMs: message.createdAtMs,
  }))
  // The reader of Markdown is large, and most servers never make a summary.
  const { summarizeThread: summarize } = await import("../../domain/summary/summary.ts")
  return summarize(plain, names, nowMs)
}

/** Returns the Markdown of a summary below a heading of its own. */
export function summaryMarkdown(thread: Thread, summary: ThreadSummary): string {
  const cited = (sentence: CitedSentence) =>
    `- ${lineStart(sentence.text)} (${sentence.sender}, message ${sentence.messageId})`
  const section = (title: string, entries: readonly string[]) =>
    `## ${title}\n${entries.length === 0 ? "none" : entries.join("\n")}`
  const { messageCount, wholeMessageCount } = summary
  const latest = messageCount < thread.messageCount ? `the latest ${messageCount} are summarised` : null
  const opening =
    wholeMessageCount < messageCount
      ? `${wholeMessageCount} looked at whole, of the ${messageCount - wholeMessageCount} longest the opening`
      : null
  const parts = [latest, opening].filter((part) => part !== null)
  const partial = parts.length === 0 ? "" : ` (${parts.join("; ")})`
  return [
    lines(
      `# Summary: ${oneLine(thread.subject)}`,
      `Thread id: ${thread.key}`,
      `Participants: ${nameList(summary.participants)}`,
      `Messages: ${thread.messageCount}${partial}`,
      `Duration: ${duration(thread.lastMessageAtMs - thread.createdAtMs)}`,
      `Status: ${summary.status}`,
    ),
    section("Summary", summary.summary.map(cited)),
    section("Key decisions", summary.decisions.map(cited)),
    section("Action items", actionItemLines(summary.actionItems)),
    section("Next steps", summary.nextSteps.map(cited)),
  ].join("\n\n")
}

/** Of many items the open ones are shown first. */
function actionItemLines(items: readonly ActionItem[]): string[] {
  if (items.length <= ACTION_ITEMS_SHOWN_MAX) return items.map(actionItemLine)
  const openFirst = [...items].sort((a, b) => Number(a.completed) - Number(b.completed))
  const left = items.length - ACTION_ITEMS_SHOWN_MAX
  return [
    ...openFirst.slice(0, ACTION_ITEMS_SHOWN_MAX).map(actionItemLine),
    `${left} more did not fit. Call get-action-items to see all of them.`,
  ]
}

function actionItemLine(item: ActionItem): string {
  const facts = [
    item.owner === null ? "no owner" : `owner ${oneLine(item.owner)}`,
    item.due === null ? null : `due ${oneLine(item.due)}`,
    item.completed && item.completedBy !== null ? `done in message ${item.completedBy}` : null,
    `message ${item.messageId}`,
  ]
  return `- [${item.completed ? "x" : " "}] ${oneLine(item.description)} (${facts.filter((fact) => fact !== null).join(", ")})`
}

export const summarizeThread = defineOperation({
  name: "summarize-thread",
  title: "Summarize thread",
  category: "search",
  effect: "read",
  idempotent: true,
  description:
    "Summarise a thread: what matters, decisions, action items, next steps, each with its message id.",
  input: z.strictObject({ project_id: projectId(), thread_id: threadId() }),
  async run({ app, project, nowMs }, input) {
    const thread = await requireThread(app.db, project, input.thread_id)
    return { thread, summary: await summaryOf(app, thread, nowMs) }
  },
  markdown: ({ thread, summary }) => fitBlocks(summaryMarkdown(thread, summary), [], ""),
})

export const summarizeThreads = defineOperation({
  name: "summarize-threads",
  title: "Summarize threads",
  category: "search",
  effect: "read",
  idempotent: true,
  description: "Summarise several threads at once.",
  input: z.strictObject({
    project_id: projectId(),
    thread_ids: z.array(threadId()).min(1).max(THREAD_IDS_MAX).describe("Thread ids"),
  }),
  async run({ app, project, nowMs }, input) {
    const threads: Thread[] = []
    for (const key of new Set(input.thread_ids)) threads.push(await requireThread(app.db, project, key))
    const summaries: { thread: Thread; summary: ThreadSummary }[] = []
    for (const thread of threads) {
      summaries.push({ thread, summary: await summaryOf(app, thread, nowMs) })
      // Other calls get their turn.
      await new Promise((resolve) => setImmediate(resolve))
    }
    return summaries
  },
  markdown: (summaries) =>
    fitBlocks(
      `${count(summaries.length, "thread")} summarised.`,
      summaries.map(({ thread, summary }) => summaryMarkdown(thread, summary)),
      "Call summarize-threads with fewer thread ids.",
    ),
})

export const getThreadParticipants = defineOperation({
  name: "get-thread-participants",
  title: "Get thread participants",
  category: "search",
  effect: "read",
  idempotent: true,
  description: "List who takes part in a thread: messages sent, last active, role.",
  input: z.strictObject({ project_id: projectId(), thread_id: threadId() }),
  async run({ app, project, nowMs }, input) {
    const thread = await requireThread(app.db, project, input.thread_id)
    return { thread, participants: await listParticipants(app.db, thread.id), nowMs }
  },
  markdown: ({ thread, participants, nowMs }) =>
    fitBlocks(
      lines("# Thread participants", `Thread id: ${thread.key}`, `Participants: ${participants.length}`),
      participants.map((participant) =>
        lines(
          `### ${participant.name}`,
          `Agent id: ${participant.agentId}`,
          `Messages sent: ${participant.messagesSent}`,
          `Last active: ${timeAndAge(participant.lastActiveAtMs, nowMs)}`,
          `Role: ${participant.role}`,
        ),
      ),
      "The others entered the thread later.",
    ),
})

export const getActionItems = defineOperation({
  name: "get-action-items",
  title: "Get action items",
  category: "search",
  effect: "read",
  idempotent: true,
  description: "List a thread's action items: who is to do what, until when, and whether it is done.",
  input: z.strictObject({
    project_id: projectId(),
    thread_id: threadId(),
    assigned_to: agentName("Only items of this agent").optional(),
    completed: z.boolean().describe("true: only completed, false: only pending").optional(),
  }),
  async run({ app, project, nowMs }, input) {
    const thread = await requireThread(app.db, project, input.thread_id)
    const all = (await summaryOf(app, thread, nowMs)).actionItems
    const wanted = (item: ActionItem) =>
      (input.assigned_to === undefined ||
        (item.owner !== null && nameKey(item.owner) === nameKey(input.assigned_to))) &&
      (input.completed === undefined || item.completed === input.completed)
    return { thread, all, items: all.filter(wanted) }
  },
  markdown: ({ thread, all, items }) => {
    const pending = items.filter((item) => !item.completed)
    const completed = items.filter((item) => item.completed)
    const section = (title: string, entries: readonly ActionItem[]) =>
      entries.length === 0 ? [] : [`## ${title}`, ...entries.map(actionItemEntry)]
    return fitBlocks(
      lines(
        "# Action items",
        `Thread id: ${thread.key}`,
        `Total: ${all.length}`,
        `Pending: ${all.filter((item) => !item.completed).length}`,
        `Completed: ${all.filter((item) => item.completed).length}`,
        items.length === all.length ? null : `Shown: ${items.length}`,
      ),
      [...section("Pending", pending), ...section("Completed", completed)],
      "Use assigned_to or completed to see fewer.",
    )
  },
})

function actionItemEntry(item: ActionItem): string {
  return lines(
    `### ${oneLine(item.description)}`,
    `Assigned to: ${oneLine(item.owner ?? "nobody")}`,
    `Mentioned by: ${item.mentionedBy}`,
    `Due: ${oneLine(item.due ?? "none")}`,
    `Status: ${item.completed ? "completed" : "pending"}`,
    `Completed: ${item.completed ? "yes" : "no"}${item.completedBy === null ? "" : ` (message ${item.completedBy})`}`,
    `Context: ${inQuotes(item.quote)} (message ${item.messageId})`,
  )
}
