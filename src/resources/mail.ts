/** Inbox, outbox, thread, message, and the three views of what waits. */

import * as z from "zod"
import {
  ACK_OVERDUE_AFTER_MS,
  INBOX_LIMIT_DEFAULT,
  INBOX_LIMIT_MAX,
  THREAD_MESSAGES_LIMIT_MAX,
} from "../config/limits.ts"
import { type Agent, isNotifier } from "../domain/coordination/agent.ts"
import { visibleRecipients } from "../domain/coordination/message.ts"
import { AppError } from "../errors.ts"
import { requireMessage } from "../operations/coordination/messages.ts"
import { readThread, requireThread } from "../operations/coordination/threads.ts"
import { agentName, projectKey, threadId } from "../operations/fields.ts"
import { isoTime } from "../operations/markdown.ts"
import type { ProjectContext } from "../operations/operation.ts"
import {
  listAwaitingAck,
  listInbox,
  listOutbox,
  listRecipients,
  listUrgentUnread,
  type WaitingMessage,
} from "../store/coordination/messages.ts"
import { inboxJson, messageJson, outboxJson } from "./json.ts"
import { defineResource, integerText } from "./resource.ts"

const boxParameters = z.strictObject({
  agent: agentName("Agent name"),
  project_key: projectKey(),
  limit: integerText(1, INBOX_LIMIT_MAX).default(INBOX_LIMIT_DEFAULT),
})

export const inbox = defineResource({
  name: "inbox",
  title: "Inbox",
  path: "coordination/inbox/{agent}",
  description: "An agent's mail, unread first, then newest first.",
  parameters: boxParameters,
  actor: "agent",
  async read({ app, actor: agent }, parameters) {
    const messages = await listInbox(
      app.db,
      { agentId: agent.id },
      { bodies: false, limit: parameters.limit },
    )
    return {
      agent: { id: agent.id, name: agent.name },
      messages: messages.map(inboxJson),
      count: messages.length,
    }
  },
})

export const outbox = defineResource({
  name: "outbox",
  title: "Outbox",
  path: "coordination/outbox/{agent}",
  description: "What an agent sent, newest first.",
  parameters: boxParameters,
  actor: "agent",
  async read({ app, actor: agent }, parameters) {
    const messages: object[] = []
    for (const message of await listOutbox(app.db, agent.id, parameters.limit)) {
      messages.push(outboxJson(message, await listRecipients(app.db, message.id)))
    }
    return { agent: { id: agent.id, name: agent.name }, messages, count: messages.length }
  },
})

export const thread = defineResource({
  name: "thread",
  title: "Thread",
  path: "coordination/thread/{thread_id}",
  description: `A thread and its messages, oldest first; of a long one the latest ${THREAD_MESSAGES_LIMIT_MAX}.`,
  parameters: z.strictObject({ thread_id: threadId(), project_key: projectKey() }),
  async read({ app, project }, parameters) {
    const found = await requireThread(app.db, project, parameters.thread_id)
    const { participants, messages } = await readThread(app, found, THREAD_MESSAGES_LIMIT_MAX)
    return {
      thread_id: found.key,
      subject: found.subject,
      participants: participants.map((participant) => participant.name),
      message_count: found.messageCount,
      created_at: isoTime(found.createdAtMs),
      messages: messages.map(({ message, recipients }) => messageJson(message, recipients)),
    }
  },
})

export const message = defineResource({
  name: "message",
  title: "Message",
  path: "coordination/message/{id}",
  description: "One message with its recipients and text.",
  parameters: z.strictObject({ id: integerText(1, Number.MAX_SAFE_INTEGER), project_key: projectKey() }),
  async read({ app, project }, parameters) {
    const found = await requireMessage(app.db, project, parameters.id)
    if (isNotifier(found.senderName)) throw notForEverybody(`message ${found.id}`)
    return messageJson(found, visibleRecipients(await listRecipients(app.db, found.id)))
  },
})

/** A notification is its recipient's business, for it may speak of a blind copy. */
function notForEverybody(what: string): AppError {
  return new AppError("not_found", `${what} is for nobody to read here`, {
    hint: "A notification stands in its recipient's inbox only.",
  })
}

const viewParameters = z.strictObject({
  project_key: projectKey(),
  agent: agentName("Agent name").optional(),
})

/** Reads a view for the agent who looks, or for all of the project. */
async function view(
  { project, actor: agent }: ProjectContext & { actor?: Agent },
  list: (agentId: number | null) => Promise<WaitingMessage[]>,
): Promise<object> {
  const messages = await list(agent?.id ?? null)
  return {
    project_key: project.key,
    agent: agent === undefined ? null : { id: agent.id, name: agent.name },
    count: messages.length,
    messages: messages.map((waiting) => ({ ...inboxJson(waiting), recipient: waiting.recipientName })),
  }
}

export const urgentUnread = defineResource({
  name: "urgent-unread",
  title: "Urgent unread messages",
  path: "coordination/views/urgent-unread",
  description: "Urgent messages that nobody has read yet, newest first.",
  parameters: viewParameters,
  actor: "agent",
  read: (context) =>
    view(context, (agentId) =>
      listUrgentUnread(context.app.db, context.project.id, agentId, INBOX_LIMIT_MAX),
    ),
})

export const ackRequired = defineResource({
  name: "ack-required",
  title: "Messages to acknowledge",
  path: "coordination/views/ack-required",
  description: "Messages that wait for an acknowledgment, oldest first.",
  parameters: viewParameters,
  actor: "agent",
  read: (context) => awaitingAck(context, Number.MAX_SAFE_INTEGER),
})

export const ackOverdue = defineResource({
  name: "ack-overdue",
  title: "Overdue acknowledgments",
  path: "coordination/views/ack-overdue",
  description: "Messages that have waited for an acknowledgment for more than 24 hours, oldest first.",
  parameters: viewParameters,
  actor: "agent",
  read: (context) => awaitingAck(context, context.nowMs - ACK_OVERDUE_AFTER_MS),
})

function awaitingAck(context: ProjectContext & { actor?: Agent }, beforeMs: number): Promise<object> {
  return view(context, (agentId) =>
    listAwaitingAck(context.app.db, context.project.id, agentId, beforeMs, INBOX_LIMIT_MAX),
  )
}
