/** Mail: sending, replying, reading, acknowledging. */

import * as z from "zod"
import {
  ATTACHMENTS_JSON_BYTES_MAX,
  ATTACHMENTS_MAX,
  INBOX_LIMIT_DEFAULT,
  INBOX_LIMIT_MAX,
  RECIPIENTS_MAX,
  SUBJECT_CHARS_MAX,
} from "../../config/limits.ts"
import type { Queries } from "../../db/database.ts"
import { type Agent, isNotifier, NOTIFIER_NAME } from "../../domain/coordination/agent.ts"
import {
  firstAckAt,
  type Importance,
  type Message,
  mergeRecipients,
  type Recipient,
  type RecipientKind,
  replyRecipients,
  replySubject,
  visibleRecipients,
} from "../../domain/coordination/message.ts"
import { echoed, oneLine } from "../../domain/foreign-text/markdown.ts"
import type { Project } from "../../domain/project.ts"
import { AppError } from "../../errors.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import {
  countInbox,
  findMessage,
  type InboxFilter,
  listInbox,
  listRecipients,
} from "../../store/coordination/messages.ts"
import { findThread, isThreadMember } from "../../store/coordination/threads.ts"
import { requireAgent } from "../admission.ts"
import type { App } from "../app.ts"
import {
  agentIds,
  agentName,
  body,
  importance,
  limit,
  messageId,
  projectId,
  text,
  threadId,
  time,
} from "../fields.ts"
import { fitBlocks, fromAt, inboxEntry, lines, messageBody, messageFacts, shownTime } from "../markdown.ts"
import { type ActorContext, defineOperation } from "../operation.ts"
import { inTransaction } from "../transaction.ts"
import { deliver, requireDelivered } from "./delivery.ts"
import { noteRead } from "./receipts.ts"
import type { Draft } from "./writing.ts"

const sendOptions = {
  importance: importance().default("normal"),
  ack_required: z.boolean().default(false).describe("Ask every recipient to acknowledge"),
}

export const sendMessage = defineOperation({
  name: "send-message",
  title: "Send message",
  category: "messaging",
  effect: "write",
  actor: "sender_name",
  description:
    "Send mail to agents by id (list-agents shows ids). It reaches all recipients or none; an error lists each refusal and the next step.",
  input: z.strictObject({
    sender_name: agentName(),
    project_id: projectId(),
    to_agent_ids: agentIds("Recipients").min(1),
    subject: text(SUBJECT_CHARS_MAX, "Subject"),
    body_md: body(),
    ...sendOptions,
    cc_agent_ids: agentIds("Copy to").optional(),
    bcc_agent_ids: agentIds("Blind copy to").optional(),
    thread_id: threadId("Thread to write in; default: a new one").optional(),
    attachments: z
      .array(z.record(z.string(), z.unknown()))
      .max(ATTACHMENTS_MAX)
      .refine(
        (value) => Buffer.byteLength(JSON.stringify(value)) <= ATTACHMENTS_JSON_BYTES_MAX,
        "must take at most 16 KiB as JSON",
      )
      .optional()
      .describe("Metadata objects, kept as they are"),
  }),
  async run(context, input) {
    const kinds = mergeRecipients(input.to_agent_ids, input.cc_agent_ids ?? [], input.bcc_agent_ids ?? [])
    if (kinds.size > RECIPIENTS_MAX) {
      throw new AppError(
        "invalid",
        `to_agent_ids, cc_agent_ids and bcc_agent_ids must name at most ${RECIPIENTS_MAX} agents together (got ${kinds.size})`,
        { field: "to_agent_ids", hint: "Send the message in parts, or begin a thread that others join." },
      )
    }
    const draft = {
      sender: context.actor,
      threadKey: input.thread_id,
      parentId: null,
      subject: input.subject,
      bodyMd: input.body_md,
      importance: input.importance,
      ackRequired: input.ack_required,
      attachments: input.attachments ?? [],
    }
    return { ...(await send(context, draft, kinds)), draft, recipientCount: kinds.size }
  },
  markdown: ({ messageId, threadKey, sentAtMs, draft, recipientCount }) =>
    lines(
      "# Message sent",
      `Message id: ${messageId}`,
      `Thread id: ${threadKey}`,
      `Subject: ${oneLine(draft.subject)}`,
      `Importance: ${draft.importance}`,
      `Sent: ${shownTime(sentAtMs)}`,
      `Recipients: ${recipientCount}`,
      `Acknowledgment required: ${draft.ackRequired ? "yes" : "no"}`,
    ),
})

export const replyMessage = defineOperation({
  name: "reply-message",
  title: "Reply to message",
  category: "messaging",
  effect: "write",
  actor: "sender_name",
  description: "Reply in the same thread, to the sender with a copy to the other recipients.",
  input: z.strictObject({
    sender_name: agentName(),
    project_id: projectId(),
    parent_message_id: messageId().describe("Message to reply to"),
    body_md: body(),
    ...sendOptions,
  }),
  run: reply,
  markdown: ({ messageId, threadKey, sentAtMs, draft, parent }) =>
    lines(
      "# Reply sent",
      `Message id: ${messageId}`,
      `Parent message id: ${parent.id}`,
      `Thread id: ${threadKey}`,
      `Subject: ${oneLine(draft.subject)}`,
      `Importance: ${draft.importance}`,
      `Sent: ${shownTime(sentAtMs)}`,
    ),
})

/** Replies to a message of the actor's threads, to all or none; fails with `refused` where it is a notification. */
export async function reply(
  context: ActorContext,
  input: { parent_message_id: number; body_md: string; importance: Importance; ack_required: boolean },
) {
  const { app, project, actor, caller } = context
  const parent = await requireMessage(app.db, project, input.parent_message_id)
  await requireParticipant(app.db, project, actor, parent)
  if (isNotifier(parent.senderName)) {
    const way = caller.surface === "command line" ? `${ownCommand()} send <agent>` : "send-message"
    throw new AppError(
      "refused",
      `message ${parent.id} is a notification, and ${NOTIFIER_NAME} reads no mail`,
      { hint: `Write to the agent it speaks of with ${way}.` },
    )
  }
  const addressed = replyRecipients(actor.id, parent, await listRecipients(app.db, parent.id))
  const draft = {
    sender: actor,
    threadKey: parent.threadKey,
    parentId: parent.id,
    subject: replySubject(parent.subject),
    bodyMd: input.body_md,
    importance: input.importance,
    ackRequired: input.ack_required,
    attachments: [],
  }
  return { ...(await send(context, draft, mergeRecipients(addressed.to, addressed.cc, []))), draft, parent }
}

/** Delivers a draft to agents of the project, all or none. */
async function send(
  context: ActorContext,
  draft: Omit<Draft, "recipients">,
  kinds: ReadonlyMap<number, RecipientKind>,
) {
  const { project } = context
  const delivery = await inTransaction(context, `project:${project.id}`, async (tx, dated) => {
    const recipients = new Map<Agent, RecipientKind>()
    for (const [id, kind] of kinds) {
      const agent = await requireAgent(tx, project, id)
      if (isNotifier(agent.name))
        throw new AppError("refused", `agent ${id} is ${NOTIFIER_NAME}, which reads no mail`)
      recipients.set(agent, kind)
    }
    return deliver(tx, dated, { ...draft, recipients })
  })
  return requireDelivered(delivery)
}

/** Returns one page of an inbox and its counts; nothing is marked read by it. */
export async function readInbox(
  db: Queries,
  filter: InboxFilter,
  options: { bodies: boolean; limit: number },
) {
  return { ...(await countInbox(db, filter)), messages: await listInbox(db, filter, options) }
}

export const fetchInbox = defineOperation({
  name: "fetch-inbox",
  title: "Fetch inbox",
  category: "messaging",
  effect: "read",
  idempotent: true,
  actor: "agent_name",
  description:
    "Show your inbox, unread first, then newest first. Marks nothing read; use read-message or ack-message for that.",
  input: z.strictObject({
    agent_name: agentName(),
    project_id: projectId(),
    since_ts: time("Only messages after this time, ISO 8601").optional(),
    urgent_only: z.boolean().default(false).describe("Only urgent messages"),
    include_bodies: z.boolean().default(false).describe("Include the texts"),
    limit: limit(INBOX_LIMIT_DEFAULT, INBOX_LIMIT_MAX),
  }),
  async run({ app, actor, nowMs }, input) {
    const filter = { agentId: actor.id, sinceMs: input.since_ts, urgentOnly: input.urgent_only }
    return {
      agent: actor,
      nowMs,
      ...(await readInbox(app.db, filter, { bodies: input.include_bodies, limit: input.limit })),
    }
  },
  markdown: ({ agent, nowMs, total, unread, messages }) => {
    const head = lines(
      `# Inbox of ${agent.name}`,
      `Total: ${total}`,
      `Unread: ${unread}`,
      `Shown: ${messages.length}`,
    )
    return fitBlocks(
      head,
      messages.map((message) => inboxEntry(message, nowMs)),
      "Call read-message for single messages, or fetch-inbox with a smaller limit.",
    )
  },
})

export const readMessage = defineOperation({
  name: "read-message",
  title: "Read message",
  category: "messaging",
  effect: "write",
  idempotent: true,
  actor: "agent_name",
  description: "Show a message of yours with its text and mark it read.",
  input: z.strictObject({ agent_name: agentName(), project_id: projectId(), message_id: messageId() }),
  run: read,
  markdown: ({ agent, message, recipients, readAtMs, nowMs }) =>
    lines(
      `# ${oneLine(message.subject)}`,
      `Thread id: ${message.threadKey}`,
      `From: ${fromAt(message, nowMs)}`,
      messageFacts(
        message,
        visibleRecipients(recipients),
        ownCopy(recipients, agent)?.ackedAtMs ?? firstAckAt(visibleRecipients(recipients)),
      ),
      `Read by: ${agent.name}, ${shownTime(readAtMs)}`,
      messageBody(message),
    ),
})

/** Returns a message of the actor's threads with its recipients, and marks it read. */
export function read(context: ActorContext, input: { message_id: number }) {
  const { project, actor } = context
  return inTransaction(context, `project:${project.id}`, async (tx, { nowMs }) => {
    const message = await requireMessage(tx, project, input.message_id)
    await requireParticipant(tx, project, actor, message)
    await noteRead(tx, message, actor.id, nowMs)
    const recipients = await listRecipients(tx, message.id)
    const readAtMs = ownCopy(recipients, actor)?.readAtMs ?? nowMs
    return { agent: actor, message, recipients, readAtMs, nowMs }
  })
}

/** Returns a project's message; fails with `not_found`. */
export async function requireMessage(db: Queries, project: Project, id: number): Promise<Message> {
  const message = await findMessage(db, id)
  if (message !== undefined && message.projectId === project.id) return message
  throw new AppError("not_found", `message ${id} was not found in project ${echoed(project.key)}`, {
    hint: "Call fetch-inbox or search-messages to find message ids.",
  })
}

/** Fails with `refused` unless an agent takes part in a message's thread. */
export async function requireParticipant(
  db: Queries,
  project: Project,
  agent: Agent,
  message: Message,
): Promise<void> {
  const thread = await findThread(db, project.id, message.threadKey)
  if (thread !== undefined && (await isThreadMember(db, thread.id, agent.id))) return
  throw new AppError("refused", `${agent.name} takes no part in message ${message.id}`, {
    hint: "Only its sender and recipients may read, reply or acknowledge; call get-thread-messages to see a thread.",
  })
}

/** Returns an agent's own copy among a message's recipients, if it has one. */
export function ownCopy(recipients: readonly Recipient[], agent: Agent): Recipient | undefined {
  return recipients.find((recipient) => recipient.agentId === agent.id)
}

/** Returns messages with those they were visibly addressed to, as threads show them. */
export async function withVisibleRecipients(app: App, messages: readonly Message[]) {
  const entries: { message: Message; recipients: Recipient[]; ackedAtMs: number | null }[] = []
  for (const message of messages) {
    const recipients = visibleRecipients(await listRecipients(app.db, message.id))
    entries.push({ message, recipients, ackedAtMs: firstAckAt(recipients) })
  }
  return entries
}
