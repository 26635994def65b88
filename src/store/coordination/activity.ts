/** What get-latest-updates tells of the events of a project. */

import type { Queries } from "../../db/database.ts"
import type { EventKind } from "../../domain/events/kinds.ts"

type ActivityKind = Extract<
  EventKind,
  | "message.sent"
  | "message.acknowledged"
  | "reservation.granted"
  | "reservation.renewed"
  | "reservation.released"
>

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

/** The literal is the index's condition, word for word. */
const WANTED = `
  x.project_id = ? AND (? IS NULL OR x.created_at_ms > ?) AND (? IS NULL OR x.agent_id = ?) AND x.kind
  IN ('message.sent', 'message.acknowledged', 'reservation.granted', 'reservation.renewed', 'reservation.released')`

export const activityStatements = {
  list: `
    SELECT x.id, x.kind, a.name AS agent_name, m.id AS message_id, m.subject, t.key AS thread_key,
      r.id AS reservation_id, r.path_pattern, r.exclusive, x.created_at_ms
    FROM events x JOIN agents a ON a.id = x.agent_id
      LEFT JOIN messages m ON m.id = x.subject_id AND x.kind LIKE 'message.%'
      LEFT JOIN threads t ON t.id = m.thread_id
      LEFT JOIN reservations r ON r.id = x.subject_id AND x.kind LIKE 'reservation.%'
    WHERE ${WANTED} ORDER BY x.id DESC LIMIT ?`,
  count: `SELECT count(*) AS count FROM events x WHERE ${WANTED}`,
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
