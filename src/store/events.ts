/** Events: the append-only record of what happened. Who may see one is decided in domain/events. */

import type { Queries, Row } from "../db/database.ts"
import type { EventKind, StoredEvent } from "../domain/events/kinds.ts"

export const eventStatements = {
  insert: `
    INSERT INTO events (kind, project_id, repository_id, agent_id, actor, party_id, subject_id, data, created_at_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  newestId: "SELECT coalesce(max(id), 0) AS id FROM events",
  // The newest one stays, so that no id is ever given again.
  lastOld: `
    SELECT max(oldest.id) AS id FROM (
      SELECT e.id, e.created_at_ms FROM events e WHERE e.id < (SELECT max(id) FROM events) ORDER BY e.id LIMIT ?) oldest
    WHERE oldest.created_at_ms < ?`,
  removeUpTo: "DELETE FROM events WHERE id <= ?",
  raiseHorizon: "UPDATE event_horizon SET told_after = ? WHERE id = 1 AND told_after < ?",
  horizon: "SELECT told_after FROM event_horizon WHERE id = 1",
}

export type EventRow = Row & {
  id: number
  kind: string
  project_id: number | null
  repository_id: number | null
  agent_id: number | null
  actor: string | null
  party_id: number | null
  subject_id: number | null
  data: string
  created_at_ms: number
}

/** Returns an event from its row. */
export function toEvent(row: EventRow): StoredEvent {
  return {
    id: row.id,
    kind: row.kind as EventKind,
    projectId: row.project_id,
    repositoryId: row.repository_id,
    agentId: row.agent_id,
    actor: row.actor,
    partyId: row.party_id,
    subjectId: row.subject_id,
    data: JSON.parse(row.data) as Record<string, unknown>,
    createdAtMs: row.created_at_ms,
  }
}

/** An event to be recorded; what is not given is null. */
export interface NewEvent {
  kind: EventKind
  projectId?: number | null
  repositoryId?: number | null
  agentId?: number | null
  actor?: string
  partyId?: number
  subjectId?: number
  data: Readonly<Record<string, unknown>>
}

/** Records what happened; must run in the transaction of the change itself. */
export async function recordEvent(tx: Queries, event: NewEvent, nowMs: number): Promise<void> {
  await tx.run(eventStatements.insert, [
    event.kind,
    event.projectId ?? null,
    event.repositoryId ?? null,
    event.agentId ?? null,
    event.actor ?? null,
    event.partyId ?? null,
    event.subjectId ?? null,
    JSON.stringify(event.data),
    nowMs,
  ])
}

/** Returns the id of the newest event, 0 when there is none yet. */
export async function newestEventId(db: Queries): Promise<number> {
  const row = await db.get<{ id: number }>(eventStatements.newestId)
  return row?.id ?? 0
}

/** Returns the id from which on everything is there: what came after an earlier one is lost in part. */
export async function eventHorizon(db: Queries): Promise<number> {
  const row = await db.get<{ told_after: number }>(eventStatements.horizon)
  return row?.told_after ?? 0
}

/**
 * Returns the last one of the oldest events, at most `limit`, that happened before a time; undefined when none of them
 * did. The newest event of all never counts.
 */
export async function lastOldEvent(
  db: Queries,
  beforeMs: number,
  limit: number,
): Promise<number | undefined> {
  return (await db.get<{ id: number | null }>(eventStatements.lastOld, [limit, beforeMs]))?.id ?? undefined
}

/** Deletes all events up to an id, and notes that they are no longer there; returns how many. */
export async function removeEventsUpTo(tx: Queries, id: number): Promise<number> {
  await tx.run(eventStatements.raiseHorizon, [id, id])
  return tx.run(eventStatements.removeUpTo, [id])
}
