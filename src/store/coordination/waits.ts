/** Who waits for files. Whose turn it is, and whether a process still waits, is decided elsewhere. */

import type { Queries, Row } from "../../db/database.ts"
import { flag } from "../rows.ts"

export interface Wait {
  id: number
  repositoryId: number
  agentId: number
  agentName: string
  /** The project of the agent. */
  projectId: number
  pathPattern: string
  exclusive: boolean
  durationSeconds: number
  /** The process that waits, and what tells it from a later one with its pid. */
  pid: number
  identityMark: string
  createdAtMs: number
  untilMs: number
  /** What it was granted; null while it waits. */
  reservationId: number | null
  /** When that was first used; null while it lapses by itself. */
  usedAtMs: number | null
}

const SELECT = `
  SELECT w.id, w.repository_id, w.agent_id, a.name AS agent_name, a.project_id, w.path_pattern, w.exclusive,
    w.duration_seconds, w.pid, w.identity_mark, w.created_at_ms, w.until_at_ms, w.reservation_id, w.used_at_ms
  FROM reservation_waits w JOIN agents a ON a.id = w.agent_id`

export const waitStatements = {
  list: `${SELECT} ORDER BY w.id`,
  listIn: `${SELECT} WHERE w.repository_id = ? ORDER BY w.id`,
  find: `${SELECT} WHERE w.id = ? AND w.pid = ? AND w.identity_mark = ?`,
  insert: `
    INSERT INTO reservation_waits (repository_id, agent_id, path_pattern, exclusive, duration_seconds, pid,
      identity_mark, created_at_ms, until_at_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
  grant: "UPDATE reservation_waits SET reservation_id = ? WHERE id = ?",
  use: "UPDATE reservation_waits SET used_at_ms = ? WHERE id = ?",
  remove: "DELETE FROM reservation_waits WHERE id = ?",
}

type WaitRow = Row & {
  id: number
  repository_id: number
  agent_id: number
  agent_name: string
  project_id: number
  path_pattern: string
  exclusive: number
  duration_seconds: number
  pid: number
  identity_mark: string
  created_at_ms: number
  until_at_ms: number
  reservation_id: number | null
  used_at_ms: number | null
}

function toWait(row: WaitRow): Wait {
  return {
    id: row.id,
    repositoryId: row.repository_id,
    agentId: row.agent_id,
    agentName: row.agent_name,
    projectId: row.project_id,
    pathPattern: row.path_pattern,
    exclusive: row.exclusive === 1,
    durationSeconds: row.duration_seconds,
    pid: row.pid,
    identityMark: row.identity_mark,
    createdAtMs: row.created_at_ms,
    untilMs: row.until_at_ms,
    reservationId: row.reservation_id,
    usedAtMs: row.used_at_ms,
  }
}

/** Returns all waits, the longest first, with those that were granted something. */
export async function listWaits(db: Queries): Promise<Wait[]> {
  return (await db.all<WaitRow>(waitStatements.list)).map(toWait)
}

/** Returns those for files of one repository. */
export async function listWaitsIn(db: Queries, repositoryId: number): Promise<Wait[]> {
  return (await db.all<WaitRow>(waitStatements.listIn, [repositoryId])).map(toWait)
}

/** Returns a wait of a process: ids are given again. */
export async function findWait(
  db: Queries,
  { id, pid, identityMark }: Pick<Wait, "id" | "pid" | "identityMark">,
): Promise<Wait | undefined> {
  const row = await db.get<WaitRow>(waitStatements.find, [id, pid, identityMark])
  return row && toWait(row)
}

/** Stores a wait at the end of the queue; returns its id. */
export async function insertWait(
  tx: Queries,
  wait: Omit<Wait, "id" | "agentName" | "projectId" | "reservationId" | "usedAtMs">,
): Promise<number> {
  const row = await tx.get<{ id: number }>(waitStatements.insert, [
    wait.repositoryId,
    wait.agentId,
    wait.pathPattern,
    flag(wait.exclusive),
    wait.durationSeconds,
    wait.pid,
    wait.identityMark,
    wait.createdAtMs,
    wait.untilMs,
  ])
  return (row as { id: number }).id
}

/** Notes what a wait was granted. */
export async function putGrantOfWait(tx: Queries, id: number, reservationId: number): Promise<void> {
  await tx.run(waitStatements.grant, [reservationId, id])
}

export async function markWaitUsed(tx: Queries, id: number, nowMs: number): Promise<void> {
  await tx.run(waitStatements.use, [nowMs, id])
}

export async function removeWait(tx: Queries, id: number): Promise<void> {
  await tx.run(waitStatements.remove, [id])
}
