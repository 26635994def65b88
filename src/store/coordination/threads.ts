/** Threads, who takes part in them, and what they hold. */

import type { Queries } from "../../db/database.ts"
import { type Participant, type Thread, threadRole } from "../../domain/coordination/thread.ts"
import { flag, type ThreadRow, toThread } from "../rows.ts"

const COLUMNS =
  "t.id, t.project_id, t.key, t.subject, t.is_notice, t.message_count, t.created_at_ms, t.last_message_at_ms"

/** Threads in which ? is seen to take part: as a sender, or addressed in to or cc. */
const VISIBLE_THREADS = `
  SELECT m.thread_id FROM messages m WHERE m.sender_id = ?
  UNION
  SELECT m.thread_id FROM message_recipients r JOIN messages m ON m.id = r.message_id
  WHERE r.agent_id = ? AND r.kind <> 'bcc'`

const LISTED = `
  FROM threads t
  WHERE t.project_id = ? AND t.is_notice = 0 AND (? IS NULL OR t.last_message_at_ms >= ?)
    AND (? IS NULL OR t.id IN (${VISIBLE_THREADS}))`

export const threadStatements = {
  findByKey: `SELECT ${COLUMNS} FROM threads t WHERE t.project_id = ? AND t.key = ?`,
  findById: `SELECT ${COLUMNS} FROM threads t WHERE t.id = ?`,
  list: `SELECT ${COLUMNS} ${LISTED} ORDER BY t.last_message_at_ms DESC, t.id DESC LIMIT ?`,
  countListed: `SELECT count(*) AS count ${LISTED}`,
  listKeys: `
    SELECT key FROM threads WHERE project_id = ? AND is_notice = 0 AND substr(key, 1, length(?)) = ?
    ORDER BY last_message_at_ms DESC LIMIT ?`,
  insert: `
    INSERT INTO threads (project_id, key, subject, is_notice, message_count, created_at_ms, last_message_at_ms)
    VALUES (?, ?, ?, ?, 0, ?, ?)
    RETURNING id, project_id, key, subject, is_notice, message_count, created_at_ms, last_message_at_ms`,
  setKey: "UPDATE threads SET key = ? WHERE id = ?",
  addMessage: "UPDATE threads SET message_count = message_count + 1, last_message_at_ms = ? WHERE id = ?",
  senders: `
    SELECT m.sender_id AS id, a.name AS name, count(*) AS sent, max(m.created_at_ms) AS last_ms, min(m.id) AS first_id
    FROM messages m JOIN agents a ON a.id = m.sender_id
    WHERE m.thread_id = ? GROUP BY m.sender_id, a.name`,
  addressees: `
    SELECT r.agent_id AS id, a.name AS name, min(m.created_at_ms) AS first_ms, max(coalesce(r.read_at_ms, 0)) AS read_ms,
      min(m.id) AS first_id
    FROM messages m JOIN message_recipients r ON r.message_id = m.id JOIN agents a ON a.id = r.agent_id
    WHERE m.thread_id = ? AND r.kind <> 'bcc' GROUP BY r.agent_id, a.name`,
  isMember: `
    SELECT 1 AS found WHERE EXISTS (SELECT 1 FROM messages WHERE thread_id = ? AND sender_id = ?)
      OR EXISTS (
        SELECT 1 FROM messages m JOIN message_recipients r ON r.message_id = m.id
        WHERE m.thread_id = ? AND r.agent_id = ?)`,
  hasWritten: `
    SELECT 1 AS found FROM messages m JOIN message_recipients r ON r.message_id = m.id
    WHERE m.thread_id = ? AND m.sender_id = ? AND r.agent_id = ? LIMIT 1`,
  shared: `SELECT thread_id FROM (${VISIBLE_THREADS}) mine WHERE thread_id IN (${VISIBLE_THREADS}) LIMIT 1`,
}

export async function findThread(db: Queries, projectId: number, key: string): Promise<Thread | undefined> {
  const row = await db.get<ThreadRow>(threadStatements.findByKey, [projectId, key])
  return row && toThread(row)
}

export async function findThreadById(db: Queries, id: number): Promise<Thread | undefined> {
  const row = await db.get<ThreadRow>(threadStatements.findById, [id])
  return row && toThread(row)
}

interface ThreadListFilter {
  projectId: number
  participantId?: number | undefined
  fromMs?: number | undefined
}

/** Returns threads, the most recently written first, at most `limit`. */
export async function listThreads(db: Queries, filter: ThreadListFilter, limit: number): Promise<Thread[]> {
  return (await db.all<ThreadRow>(threadStatements.list, [...listArguments(filter), limit])).map(toThread)
}

/** Counts what `listThreads` would return without a limit. */
export async function countThreads(db: Queries, filter: ThreadListFilter): Promise<number> {
  const row = await db.get<{ count: number }>(threadStatements.countListed, listArguments(filter))
  return row?.count ?? 0
}

function listArguments(filter: ThreadListFilter): (number | null)[] {
  const fromMs = filter.fromMs ?? null
  const participant = filter.participantId ?? null
  return [filter.projectId, fromMs, fromMs, participant, participant, participant]
}

/** Returns the thread ids that begin with `prefix`, the most recently written first. */
export async function listThreadKeys(
  db: Queries,
  projectId: number,
  prefix: string,
  limit: number,
): Promise<string[]> {
  const rows = await db.all<{ key: string }>(threadStatements.listKeys, [projectId, prefix, prefix, limit])
  return rows.map((row) => row.key)
}

export async function insertThread(
  tx: Queries,
  thread: { projectId: number; key: string; subject: string; isNotice: boolean },
  nowMs: number,
): Promise<Thread> {
  const args = [thread.projectId, thread.key, thread.subject, flag(thread.isNotice), nowMs, nowMs]
  return toThread((await tx.get<ThreadRow>(threadStatements.insert, args)) as ThreadRow)
}

export async function setThreadKey(tx: Queries, threadId: number, key: string): Promise<void> {
  await tx.run(threadStatements.setKey, [key, threadId])
}

/** Counts one more message in a thread. */
export async function addToThread(tx: Queries, threadId: number, nowMs: number): Promise<void> {
  await tx.run(threadStatements.addMessage, [nowMs, threadId])
}

type SenderRow = { id: number; name: string; sent: number; last_ms: number; first_id: number }
type AddresseeRow = { id: number; name: string; first_ms: number; read_ms: number; first_id: number }

/**
 * Returns those who are seen to take part in a thread, in the order in which they entered it: bcc
 * recipients are not, until they write. Last active: their last message or reading there.
 */
export async function listParticipants(db: Queries, threadId: number): Promise<Participant[]> {
  const senders = await db.all<SenderRow>(threadStatements.senders, [threadId])
  const addressees = await db.all<AddresseeRow>(threadStatements.addressees, [threadId])
  const initiator = senders.reduce<SenderRow | undefined>(
    (a, b) => (a === undefined || b.first_id < a.first_id ? b : a),
    undefined,
  )
  const entered = new Map<number, number>()
  const participants = new Map<number, Participant>()
  for (const row of senders) {
    const role = threadRole(row.id, initiator?.id ?? 0, row.sent)
    // A sender enters before those whom the same message addresses.
    entered.set(row.id, row.first_id - 0.5)
    participants.set(row.id, {
      agentId: row.id,
      name: row.name,
      messagesSent: row.sent,
      lastActiveAtMs: row.last_ms,
      role,
    })
  }
  for (const row of addressees) {
    const known = participants.get(row.id)
    const activeMs = Math.max(row.first_ms, row.read_ms)
    entered.set(row.id, Math.min(entered.get(row.id) ?? row.first_id, row.first_id))
    if (known !== undefined) known.lastActiveAtMs = Math.max(known.lastActiveAtMs, row.read_ms)
    else
      participants.set(row.id, {
        agentId: row.id,
        name: row.name,
        messagesSent: 0,
        lastActiveAtMs: activeMs,
        role: "recipient",
      })
  }
  return [...participants.values()].sort(
    (a, b) => (entered.get(a.agentId) ?? 0) - (entered.get(b.agentId) ?? 0) || a.agentId - b.agentId,
  )
}

/** Whether an agent has written in a thread or was addressed there, in bcc too. */
export async function isThreadMember(db: Queries, threadId: number, agentId: number): Promise<boolean> {
  return (await db.get(threadStatements.isMember, [threadId, agentId, threadId, agentId])) !== undefined
}

/** Whether one agent has written to another in a thread. */
export async function hasWrittenTo(
  db: Queries,
  threadId: number,
  writerId: number,
  readerId: number,
): Promise<boolean> {
  return (await db.get(threadStatements.hasWritten, [threadId, writerId, readerId])) !== undefined
}

/** Whether two agents are both seen to take part in some thread. */
export async function shareThread(db: Queries, agentId: number, otherId: number): Promise<boolean> {
  return (await db.get(threadStatements.shared, [agentId, agentId, otherId, otherId])) !== undefined
}
