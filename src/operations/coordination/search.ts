/** Searching messages, and what happened lately. */

import * as z from "zod"
import {
  FOUND_COUNTED_MAX,
  LATER_EXCERPT_CHARS_MAX,
  MESSAGE_EXCERPT_CHARS_MAX,
  SEARCH_LIMIT_DEFAULT,
  SEARCH_LIMIT_MAX,
} from "../../config/limits.ts"
import type { Message, Recipient } from "../../domain/coordination/message.ts"
import { inQuotes, named, oneLine, quoted } from "../../domain/foreign-text/markdown.ts"
import { excerpt, hasWords, type MessageQuery, parseQuery } from "../../domain/text/query-text.ts"
import { type Activity, countActivity, listActivity } from "../../store/coordination/activity.ts"
import { findMessage } from "../../store/coordination/messages.ts"
import { requireAgent } from "../admission.ts"
import { agentName, importance, limit, projectId, query, time, timeUntil } from "../fields.ts"
import { fitBlocks, fromAt, lines, nameAt, nameList, shownCount, timeAndAge } from "../markdown.ts"
import { defineOperation } from "../operation.ts"
import { withVisibleRecipients } from "./messages.ts"

/** The best of what was found are shown with more of their text than the others. */
const WELL_SHOWN = 5

export const searchMessages = defineOperation({
  name: "search-messages",
  title: "Search messages",
  category: "search",
  effect: "read",
  idempotent: true,
  isSearch: true,
  description:
    'Find messages by words (any may match, best first), "phrases", -word, prefix*, subject: and body:. Every text is a valid query.',
  input: z.strictObject({
    project_id: projectId(),
    query: query("What to look for"),
    sender_name: agentName("Only from this agent").optional(),
    recipient_name: agentName("Only to this agent").optional(),
    importance: importance().optional(),
    from_date: time("Sent since, ISO 8601").optional(),
    to_date: timeUntil("Sent until, ISO 8601").optional(),
    limit: limit(SEARCH_LIMIT_DEFAULT, SEARCH_LIMIT_MAX),
  }),
  async run({ app, project, nowMs }, input) {
    const parsed = parseQuery(input.query)
    const idOf = async (name: string | undefined) =>
      name === undefined ? undefined : (await requireAgent(app.db, project, name)).id
    const filter = {
      projectId: project.id,
      senderId: await idOf(input.sender_name),
      recipientId: await idOf(input.recipient_name),
      importance: input.importance,
      fromMs: input.from_date,
      toMs: input.to_date,
    }
    const messages: Message[] = []
    for (const id of await app.search.findMessages(app.db, parsed, filter, input.limit)) {
      const message = await findMessage(app.db, id)
      if (message !== undefined) messages.push(message)
    }
    const isAll = messages.length < input.limit
    const total = isAll
      ? messages.length
      : await app.search.countMessages(app.db, parsed, filter, FOUND_COUNTED_MAX + 1)
    return { parsed, total, found: await withVisibleRecipients(app, messages), nowMs }
  },
  markdown: ({ parsed, total, found, nowMs }) =>
    fitBlocks(
      lines(
        "# Messages found",
        `Results: ${shownCount(found.length, total)}`,
        found.length === 0 ? emptyHint(parsed) : null,
      ),
      found.map((one, index) => (index < WELL_SHOWN ? wellShown : briefly)(parsed, one, nowMs)),
      "Use a smaller limit or more words.",
    ),
})

function emptyHint(parsed: MessageQuery): string {
  return hasWords(parsed)
    ? "Nothing matched; try other words, or beginnings of words such as auth*."
    : "The query names no word to look for; add one."
}

/** Returns one of the best as a block with all that a reader may go by. */
function wellShown(
  parsed: MessageQuery,
  { message, recipients }: { message: Message; recipients: readonly Recipient[] },
  nowMs: number,
): string {
  return lines(
    resultHead(parsed, message),
    `From: ${fromAt(message, nowMs)}`,
    `To: ${nameList(recipients.map((recipient) => recipient.name))}`,
    `Importance: ${message.importance}`,
    quoted(excerpt(message.bodyMd, parsed, "body", MESSAGE_EXCERPT_CHARS_MAX)),
  )
}

/** Returns one of the others as a shorter block. */
function briefly(parsed: MessageQuery, { message }: { message: Message }, nowMs: number): string {
  return lines(
    resultHead(parsed, message),
    `From: ${nameAt(message, nowMs)}`,
    message.importance === "normal" ? null : `Importance: ${message.importance}`,
    quoted(excerpt(message.bodyMd, parsed, "body", LATER_EXCERPT_CHARS_MAX)),
  )
}

function resultHead(parsed: MessageQuery, message: Message): string {
  return lines(
    `### ${oneLine(excerpt(message.subject, parsed, "subject", MESSAGE_EXCERPT_CHARS_MAX))}`,
    `Message id: ${message.id}`,
    `Thread id: ${message.threadKey}`,
  )
}

export const getLatestUpdates = defineOperation({
  name: "get-latest-updates",
  title: "Get latest updates",
  category: "search",
  effect: "read",
  idempotent: true,
  description:
    "List what happened lately: messages sent and acknowledged, files reserved, reservations released; newest first.",
  input: z.strictObject({
    project_id: projectId(),
    since_ts: time("Only after this time, ISO 8601").optional(),
    agent_name: agentName("Only by this agent").optional(),
    limit: limit(SEARCH_LIMIT_DEFAULT, SEARCH_LIMIT_MAX),
  }),
  async run({ app, project, nowMs }, input) {
    const agent =
      input.agent_name === undefined ? undefined : await requireAgent(app.db, project, input.agent_name)
    const filter = { projectId: project.id, sinceMs: input.since_ts, agentId: agent?.id }
    const activities = await listActivity(app.db, filter, input.limit)
    const isAll = activities.length < input.limit
    return { activities, total: isAll ? activities.length : await countActivity(app.db, filter), nowMs }
  },
  markdown: ({ activities, total, nowMs }) =>
    fitBlocks(
      lines("# Latest updates", `Updates: ${shownCount(activities.length, total)}`),
      activities.map((activity) => activityLine(activity, nowMs)),
      "Use a smaller limit.",
    ),
})

function activityLine(activity: Activity, nowMs: number): string {
  return `- ${timeAndAge(activity.createdAtMs, nowMs)}, ${activity.agentName}: ${describeActivity(activity)}`
}

function describeActivity(activity: Activity): string {
  const message = `${inQuotes(activity.subject ?? "")} (message ${activity.messageId}, thread ${activity.threadKey})`
  const reservation = `${named(activity.pathPattern ?? "")} (${activity.exclusive ? "exclusive" : "shared"}, reservation ${activity.reservationId})`
  switch (activity.kind) {
    case "message.sent":
      return `message sent: ${message}`
    case "message.acknowledged":
      return `message acknowledged: ${message}`
    case "reservation.granted":
    case "reservation.renewed":
      return `files reserved: ${reservation}`
    case "reservation.released":
      return `reservation released: ${reservation}`
  }
}
