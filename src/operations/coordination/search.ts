/** Searching messages, and what happened lately. */

import * as z from "zod"
import { MESSAGE_EXCERPT_CHARS_MAX, SEARCH_LIMIT_DEFAULT, SEARCH_LIMIT_MAX } from "../../config/limits.ts"
import type { Message, Recipient } from "../../domain/coordination/message.ts"
import { inQuotes, named, oneLine } from "../../domain/foreign-text/markdown.ts"
import { excerpt, hasWords, type MessageQuery, parseQuery } from "../../domain/text/query-text.ts"
import { type Activity, listActivity } from "../../store/coordination/activity.ts"
import { findMessage } from "../../store/coordination/messages.ts"
import { requireAgent } from "../admission.ts"
import { agentName, importance, limit, projectId, query, time, timeUntil } from "../fields.ts"
import { fitBlocks, isoTime, lines } from "../markdown.ts"
import { defineOperation } from "../operation.ts"
import { withVisibleRecipients } from "./messages.ts"

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
  async run({ app, project }, input) {
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
    return { parsed, found: await withVisibleRecipients(app, messages) }
  },
  markdown: ({ parsed, found }) =>
    fitBlocks(
      lines(
        "# Messages found",
        "",
        `Results: ${found.length}`,
        found.length === 0 ? emptyHint(parsed) : null,
      ),
      found.map(({ message, recipients }) => resultEntry(parsed, message, recipients)),
      "Use a smaller limit or more words.",
    ),
})

function emptyHint(parsed: MessageQuery): string {
  return hasWords(parsed)
    ? "Nothing matched; try other words, or beginnings of words such as auth*."
    : "The query names no word to look for; add one."
}

function resultEntry(parsed: MessageQuery, message: Message, recipients: readonly Recipient[]): string {
  return lines(
    `### ${oneLine(excerpt(message.subject, parsed, "subject", MESSAGE_EXCERPT_CHARS_MAX))}`,
    `Message id: ${message.id}`,
    `Thread id: ${message.threadKey}`,
    `From: ${message.senderName} (agent ${message.senderId})`,
    `To: ${recipients.map((recipient) => recipient.name).join(", ")}`,
    `Importance: ${message.importance}`,
    `Sent: ${isoTime(message.createdAtMs)}`,
    `Excerpt: ${oneLine(excerpt(message.bodyMd, parsed, "body", MESSAGE_EXCERPT_CHARS_MAX))}`,
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
  async run({ app, project }, input) {
    const agent =
      input.agent_name === undefined ? undefined : await requireAgent(app.db, project, input.agent_name)
    return listActivity(
      app.db,
      { projectId: project.id, sinceMs: input.since_ts, agentId: agent?.id },
      input.limit,
    )
  },
  markdown: (activities) =>
    fitBlocks(
      lines("# Latest updates", "", `Updates: ${activities.length}`),
      activities.map(activityLine),
      "Use a smaller limit.",
    ),
})

function activityLine(activity: Activity): string {
  return `- ${isoTime(activity.createdAtMs)} ${activity.agentName}: ${describeActivity(activity)}`
}

function describeActivity(activity: Activity): string {
  const message = `${inQuotes(activity.subject ?? "")} (message ${activity.messageId}, thread ${activity.threadKey})`
  const reservation = `${named(activity.pathPattern ?? "")} (${activity.exclusive ? "exclusive" : "shared"}, reservation ${activity.reservationId})`
  switch (activity.kind) {
    case "message_sent":
      return `message sent: ${message}`
    case "message_acknowledged":
      return `message acknowledged: ${message}`
    case "files_reserved":
      return `files reserved: ${reservation}`
    case "reservation_released":
      return `reservation released: ${reservation}`
  }
}
