/** The append-only record of what happened in a project. */

import type { Queries } from "../../db/database.ts"

type ActivityKind = "message_sent" | "message_acknowledged" | "files_reserved" | "reservation_released"

export interface Activity {
  id: number
  kind: ActivityKind
  agentName: string
  messageId: number | null
  subject: string | null
  threadKey: string | null
  reservationId: number | null
  pathPattern: string | null
  exclusive: boolean | null
  createdAtMs: number
}

const WANTED = "x.project_id = ? AND (? IS NULL OR x.created_at_ms > ?) AND (? IS NULL OR x.agent_id = ?)"

export const activityStatements = {
  insert: `
    INSERT INTO activity (project_id, agent_id, kind, message_id, reservation_id, created_at_ms)
    VALUES (?, ?, ?, ?, ?, ?)`,
  list: `
    SELECT x.id, x.kind, a.name AS agent_name, x.message_id, m.subject, t.key AS thread_key,
      x.reservation_id, r.path_pattern, r.exclusive, x.created_at_ms
    FROM activity x JOIN agents a ON a.id = x.agent_id
      LEFT JOIN messages m ON m.id = x.message_id LEFT JOIN threads t ON t.id = m.thread_id
      LEFT JOIN reservations r ON r.id = x.reservation_id
    WHERE ${WANTED} ORDER BY x.id DESC LIMIT ?`,
  count: `SELECT count(*) AS count FROM activity x WHERE ${WANTED}`,
}

interface NewActivity {
  projectId: number
  agentId: number
  kind: ActivityKind
  messageId?: number
  reservationId?: number
}

export async function recordActivity(tx: Queries, activity: NewActivity, nowMs: number): Promise<void> {
  await tx.run(activityStatements.insert, [
    activity.projectId,
    activity.agentId,
    activity.kind,
    activity.messageId ?? null,
    activity.reservationId ?? null,
    nowMs,
  ])
}

type ActivityRow = {
  id: number
  kind: string
  agent_name: string
  message_id: number | null
  subject: string | null
  thread_key: string | null
  reservation_id: number | null
  path_pattern: string | null
  exclusive: number | null
  created_at_ms: number
}

interface ActivityFilter {
  projectId: number
  sinceMs?: number | undefined
  agentId?: number | undefined
}

function filterArguments({ projectId, sinceMs, agentId }: ActivityFilter): (number | null)[] {
  return [projectId, sinceMs ?? null, sinceMs ?? null, agentId ?? null, agentId ?? null]
}

/** Counts what `listActivity` would return without a limit. */
export async function countActivity(db: Queries, filter: ActivityFilter): Promise<number> {
  const row = await db.get<{ count: number }>(activityStatements.count, filterArguments(filter))
  return row?.count ?? 0
}

/** Returns what happened after a time, the latest first, at most `limit`. */
export async function listActivity(db: Queries, filter: ActivityFilter, limit: number): Promise<Activity[]> {
  const rows = await db.all<ActivityRow>(activityStatements.list, [...filterArguments(filter), limit])
  return rows.map((row) => ({
    id: row.id,
    kind: row.kind as ActivityKind,
    agentName: row.agent_name,
    messageId: row.message_id,
    subject: row.subject,
    threadKey: row.thread_key,
    reservationId: row.reservation_id,
    pathPattern: row.path_pattern,
    exclusive: row.exclusive === null ? null : row.exclusive === 1,
    createdAtMs: row.created_at_ms,
  }))
}
