/** Messages and what became of them with each recipient. */

import type { Queries } from "../../db/database.ts"
import { PERSON_SESSION_PREFIX } from "../../domain/coordination/agent.ts"
import type { InboxMessage, Message, Recipient, RecipientKind } from "../../domain/coordination/message.ts"
import {
  flag,
  type InboxRow,
  type MessageRow,
  type RecipientRow,
  toInboxMessage,
  toMessage,
  toRecipient,
} from "../rows.ts"

const JOINS = "JOIN threads t ON t.id = m.thread_id JOIN agents a ON a.id = m.sender_id"
const SENDER = `
  m.sender_id, a.name AS sender_name, CASE WHEN a.session LIKE '${PERSON_SESSION_PREFIX}%' THEN 1 ELSE 0 END AS is_persons`
const MESSAGE = `
  SELECT m.id, m.project_id, t.key AS thread_key, m.parent_id, ${SENDER}, m.subject, m.body_md, m.importance, m.ack_required, m.attachments, m.created_at_ms
  FROM messages m ${JOINS}`
const listing = (body: string) => `
  m.id, t.key AS thread_key, ${SENDER}, m.subject, ${body} AS body_md, m.importance,
  m.ack_required, m.created_at_ms, r.read_at_ms, r.acked_at_ms`
/** Reads mail of recipients; its first parameter says whether with the texts. */
export const INBOX = `
  SELECT ${listing("CASE WHEN ? = 1 THEN m.body_md ELSE '' END")}
  FROM message_recipients r JOIN messages m ON m.id = r.message_id ${JOINS}`
const INBOX_FILTER = "(? IS NULL OR m.created_at_ms > ?) AND (? = 0 OR m.importance = 'urgent')"

export const messageStatements = {
  findById: `${MESSAGE} WHERE m.id = ?`,
  insert: `
    INSERT INTO messages (project_id, thread_id, parent_id, sender_id, subject, body_md, importance, ack_required,
      attachments, created_at_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
  insertRecipient: "INSERT INTO message_recipients (message_id, agent_id, kind) VALUES (?, ?, ?)",
  latestOfThread: `${MESSAGE} WHERE m.thread_id = ? ORDER BY m.id DESC LIMIT ?`,
  outbox: `${MESSAGE} WHERE m.sender_id = ? ORDER BY m.id DESC LIMIT ?`,
  inbox: `
    ${INBOX} WHERE r.agent_id = ? AND ${INBOX_FILTER}
    ORDER BY CASE WHEN r.read_at_ms IS NULL THEN 0 ELSE 1 END, r.message_id DESC LIMIT ?`,
  newest: `
    ${INBOX} WHERE r.agent_id = ? AND (? = 0 OR r.read_at_ms IS NULL) ORDER BY r.message_id DESC LIMIT ?`,
  // Both counts are read off the inbox index alone.
  countInbox: `
    SELECT
      (SELECT count(*) FROM message_recipients WHERE agent_id = ?) AS total,
      (SELECT count(*) FROM message_recipients
        WHERE agent_id = ? AND CASE WHEN read_at_ms IS NULL THEN 0 ELSE 1 END = 0) AS unread`,
  countInboxFiltered: `
    SELECT count(*) AS total, coalesce(sum(CASE WHEN r.read_at_ms IS NULL THEN 1 ELSE 0 END), 0) AS unread
    FROM message_recipients r JOIN messages m ON m.id = r.message_id
    WHERE r.agent_id = ? AND ${INBOX_FILTER}`,
  urgentUnread: `
    SELECT ${listing("''")}, o.name AS recipient_name
    FROM messages m ${JOINS} JOIN message_recipients r ON r.message_id = m.id JOIN agents o ON o.id = r.agent_id
    WHERE m.project_id = ? AND m.importance = 'urgent' AND r.read_at_ms IS NULL
      AND ((? IS NULL AND r.kind <> 'bcc') OR r.agent_id = ?)
    ORDER BY m.id DESC LIMIT ?`,
  awaitingAck: `
    SELECT ${listing("''")}, o.name AS recipient_name
    FROM messages m ${JOINS} JOIN message_recipients r ON r.message_id = m.id JOIN agents o ON o.id = r.agent_id
    WHERE m.project_id = ? AND m.ack_required = 1 AND r.acked_at_ms IS NULL AND m.created_at_ms < ?
      AND ((? IS NULL AND r.kind <> 'bcc') OR r.agent_id = ?)
    ORDER BY m.id LIMIT ?`,
  // The notice is as messageNotice spells it.
  unannounced: `
    SELECT ${listing("''")}
    FROM message_recipients r JOIN messages m ON m.id = r.message_id ${JOINS}
    WHERE r.agent_id = ? AND r.read_at_ms IS NULL
      AND (m.importance = 'urgent' OR (m.ack_required = 1 AND r.acked_at_ms IS NULL))
      AND NOT EXISTS (SELECT n.notice FROM session_notices n
        WHERE n.session = ? AND n.notice = 'message:' || r.agent_id || ':' || m.id)
    ORDER BY CASE WHEN m.importance = 'urgent' THEN 0 ELSE 1 END, m.id LIMIT ?`,
  // The notice is as pushNotice spells it.
  unpushed: `
    ${INBOX} WHERE r.agent_id = ? AND CASE WHEN r.read_at_ms IS NULL THEN 0 ELSE 1 END = 0 AND m.created_at_ms >= ?
      AND (m.importance = 'urgent' OR (m.ack_required = 1 AND r.acked_at_ms IS NULL))
      AND NOT EXISTS (SELECT n.notice FROM session_notices n
        WHERE n.session = ? AND n.notice = 'push:' || r.agent_id || ':' || m.id)
    ORDER BY CASE WHEN m.importance = 'urgent' THEN 0 ELSE 1 END, m.id LIMIT ?`,
  ordinary: `
    ${INBOX} WHERE r.agent_id = ? AND CASE WHEN r.read_at_ms IS NULL THEN 0 ELSE 1 END = 0 AND r.message_id > ?
      AND m.importance <> 'urgent' AND (m.ack_required = 0 OR r.acked_at_ms IS NOT NULL)
    ORDER BY r.message_id DESC LIMIT ?`,
  recipients: `
    SELECT r.message_id, r.agent_id, a.name, r.kind, r.read_at_ms, r.acked_at_ms
    FROM message_recipients r JOIN agents a ON a.id = r.agent_id
    WHERE r.message_id = ?
    ORDER BY CASE r.kind WHEN 'to' THEN 0 WHEN 'cc' THEN 1 ELSE 2 END, r.agent_id`,
  hasMail: `
    SELECT id FROM messages WHERE sender_id = ?
    UNION SELECT message_id FROM message_recipients WHERE agent_id = ? LIMIT 1`,
  markRead: `
    UPDATE message_recipients SET read_at_ms = ? WHERE message_id = ? AND agent_id = ? AND read_at_ms IS NULL
    RETURNING kind`,
  kindOfCopy: "SELECT kind FROM message_recipients WHERE message_id = ? AND agent_id = ?",
  markAcked:
    "UPDATE message_recipients SET acked_at_ms = ? WHERE message_id = ? AND agent_id = ? AND acked_at_ms IS NULL",
  notices: `
    SELECT count(*) AS count FROM message_recipients r JOIN messages m ON m.id = r.message_id
      JOIN threads t ON t.id = m.thread_id
    WHERE r.agent_id = ? AND t.is_notice = 1 AND m.subject = ?`,
  sentSince:
    "SELECT count(*) AS sent, min(created_at_ms) AS first_ms FROM messages WHERE sender_id = ? AND created_at_ms > ?",
}

export async function findMessage(db: Queries, id: number): Promise<Message | undefined> {
  const row = await db.get<MessageRow>(messageStatements.findById, [id])
  return row && toMessage(row)
}

interface NewMessage {
  projectId: number
  /** The thread's row id. */
  threadId: number
  parentId: number | null
  senderId: number
  subject: string
  bodyMd: string
  importance: Message["importance"]
  ackRequired: boolean
  attachments: Record<string, unknown>[]
  recipients: ReadonlyMap<number, RecipientKind>
}

/** Stores a message with its recipients; returns its id. */
export async function insertMessage(tx: Queries, message: NewMessage, nowMs: number): Promise<number> {
  const row = await tx.get<{ id: number }>(messageStatements.insert, [
    message.projectId,
    message.threadId,
    message.parentId,
    message.senderId,
    message.subject,
    message.bodyMd,
    message.importance,
    flag(message.ackRequired),
    JSON.stringify(message.attachments),
    nowMs,
  ])
  const { id } = row as { id: number }
  for (const [agentId, kind] of message.recipients)
    await tx.run(messageStatements.insertRecipient, [id, agentId, kind])
  return id
}

/** Returns the latest messages of a thread, oldest first, at most `limit`. */
export async function listThreadMessages(db: Queries, threadId: number, limit: number): Promise<Message[]> {
  return (await db.all<MessageRow>(messageStatements.latestOfThread, [threadId, limit]))
    .map(toMessage)
    .reverse()
}

/** Returns what an agent sent, newest first, at most `limit`. */
export async function listOutbox(db: Queries, agentId: number, limit: number): Promise<Message[]> {
  return (await db.all<MessageRow>(messageStatements.outbox, [agentId, limit])).map(toMessage)
}

export interface InboxFilter {
  agentId: number
  /** Only messages sent after this time. */
  sinceMs?: number | undefined
  urgentOnly?: boolean
}

/** Returns an inbox, unread first, then newest first, at most `limit`; bodies are empty unless asked for. */
export async function listInbox(
  db: Queries,
  filter: InboxFilter,
  options: { bodies: boolean; limit: number },
): Promise<InboxMessage[]> {
  const args = [flag(options.bodies), ...inboxArguments(filter), options.limit]
  return (await db.all<InboxRow>(messageStatements.inbox, args)).map(toInboxMessage)
}

/** Returns an agent's mail without its texts, the newest first, at most `limit`; all of it, or what is unread. */
export async function listNewestMail(
  db: Queries,
  agentId: number,
  { unreadOnly, limit }: { unreadOnly: boolean; limit: number },
): Promise<InboxMessage[]> {
  const args = [flag(false), agentId, flag(unreadOnly), limit]
  return (await db.all<InboxRow>(messageStatements.newest, args)).map(toInboxMessage)
}

/** Counts what `listInbox` would return without a limit. */
export async function countInbox(
  db: Queries,
  filter: InboxFilter,
): Promise<{ total: number; unread: number }> {
  const everything = filter.sinceMs === undefined && filter.urgentOnly !== true
  const row = everything
    ? await db.get<{ total: number; unread: number }>(messageStatements.countInbox, [
        filter.agentId,
        filter.agentId,
      ])
    : await db.get<{ total: number; unread: number }>(
        messageStatements.countInboxFiltered,
        inboxArguments(filter),
      )
  return { total: row?.total ?? 0, unread: row?.unread ?? 0 }
}

function inboxArguments(filter: InboxFilter): (number | null)[] {
  const sinceMs = filter.sinceMs ?? null
  return [filter.agentId, sinceMs, sinceMs, flag(filter.urgentOnly ?? false)]
}

/** A message that waits for one recipient. */
export interface WaitingMessage extends InboxMessage {
  recipientName: string
}

type WaitingRow = InboxRow & { recipient_name: string }
const toWaiting = (row: WaitingRow): WaitingMessage => ({
  ...toInboxMessage(row),
  recipientName: row.recipient_name,
})

/** Returns urgent unread messages of one agent, or of all without those in bcc; newest first. */
export async function listUrgentUnread(
  db: Queries,
  projectId: number,
  agentId: number | null,
  limit: number,
): Promise<WaitingMessage[]> {
  return (await db.all<WaitingRow>(messageStatements.urgentUnread, [projectId, agentId, agentId, limit])).map(
    toWaiting,
  )
}

/** Returns messages sent before a time that wait for an acknowledgment by one agent, or by all without those in bcc; oldest first. */
export async function listAwaitingAck(
  db: Queries,
  projectId: number,
  agentId: number | null,
  beforeMs: number,
  limit: number,
): Promise<WaitingMessage[]> {
  const args = [projectId, beforeMs, agentId, agentId, limit]
  return (await db.all<WaitingRow>(messageStatements.awaitingAck, args)).map(toWaiting)
}

/** Returns the name under which a session is noted to have been told of a message. */
export function messageNotice(agentId: number, messageId: number): string {
  return `message:${agentId}:${messageId}`
}

/** Returns unread mail that is urgent or waits for an acknowledgment, and that a session was not told of; urgent first, then oldest first. */
export async function listUnannounced(
  db: Queries,
  agentId: number,
  session: string,
  limit: number,
): Promise<InboxMessage[]> {
  return (await db.all<InboxRow>(messageStatements.unannounced, [agentId, session, limit])).map(
    toInboxMessage,
  )
}

/** Returns the name under which a session is noted to have been handed a message before its agent stopped. */
export function pushNotice(agentId: number, messageId: number): string {
  return `push:${agentId}:${messageId}`
}

/**
 * Returns unread mail since a time that is urgent or waits for an acknowledgment, with its texts, that a session was
 * not handed; urgent first, then oldest first.
 */
export async function listUnpushed(
  db: Queries,
  agentId: number,
  session: string,
  sinceMs: number,
  limit: number,
): Promise<InboxMessage[]> {
  const args = [flag(true), agentId, sinceMs, session, limit]
  return (await db.all<InboxRow>(messageStatements.unpushed, args)).map(toInboxMessage)
}

/** Returns unread mail behind a message that is neither urgent nor waits for an acknowledgment, newest first, without its texts. */
export async function listOrdinaryUnread(
  db: Queries,
  agentId: number,
  afterId: number,
  limit: number,
): Promise<InboxMessage[]> {
  const args = [flag(false), agentId, afterId, limit]
  return (await db.all<InboxRow>(messageStatements.ordinary, args)).map(toInboxMessage)
}

/** Returns a message's recipients, to, cc, bcc. */
export async function listRecipients(db: Queries, messageId: number): Promise<Recipient[]> {
  return (await db.all<RecipientRow>(messageStatements.recipients, [messageId])).map(toRecipient)
}

/** Whether an agent has ever sent or been sent anything. */
export async function hasMail(db: Queries, agentId: number): Promise<boolean> {
  return (await db.get(messageStatements.hasMail, [agentId, agentId])) !== undefined
}

/** Marks a message read by a recipient; the first time stays. If this was it, returns as what it got the message. */
export async function markRead(
  tx: Queries,
  messageId: number,
  agentId: number,
  nowMs: number,
): Promise<RecipientKind | undefined> {
  const row = await tx.get<{ kind: string }>(messageStatements.markRead, [nowMs, messageId, agentId])
  return row?.kind as RecipientKind | undefined
}

/** Returns as what an agent got a message; undefined when it did not. */
export async function kindOfCopy(
  db: Queries,
  messageId: number,
  agentId: number,
): Promise<RecipientKind | undefined> {
  const row = await db.get<{ kind: string }>(messageStatements.kindOfCopy, [messageId, agentId])
  return row?.kind as RecipientKind | undefined
}

/** Records a recipient's acknowledgment; the first time stays. Returns whether this was it. */
export async function markAcknowledged(
  tx: Queries,
  messageId: number,
  agentId: number,
  nowMs: number,
): Promise<boolean> {
  return (await tx.run(messageStatements.markAcked, [nowMs, messageId, agentId])) > 0
}

/** Counts the notifications with a subject that an agent ever got. */
export async function countNotices(db: Queries, agentId: number, subject: string): Promise<number> {
  const row = await db.get<{ count: number }>(messageStatements.notices, [agentId, subject])
  return row?.count ?? 0
}

/** Counts what an agent sent after a time, and tells when the first of it was sent. */
export async function countSentSince(
  db: Queries,
  senderId: number,
  sinceMs: number,
): Promise<{ sent: number; firstMs: number | null }> {
  const row = await db.get<{ sent: number; first_ms: number | null }>(messageStatements.sentSince, [
    senderId,
    sinceMs,
  ])
  return { sent: row?.sent ?? 0, firstMs: row?.first_ms ?? null }
}
