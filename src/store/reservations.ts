/** File reservations: found by the coarsest honest predicate; whether two conflict is decided in domain/. */

import type { Queries } from "../db/database.ts"
import type { Candidate, Reservation } from "../domain/reservation.ts"
import { type CandidateRow, flag, type ReservationRow, toCandidate, toReservation } from "./rows.ts"

const SELECT = `
  SELECT r.id, r.project_id, r.repository_id, r.agent_id, a.name AS agent_name, r.path_pattern, r.exclusive, r.reason,
    r.created_at_ms, r.expires_at_ms, r.ended_at_ms
  FROM reservations r JOIN agents a ON a.id = r.agent_id`

/** Comparing reads many rows, so these hold only what comparing needs. */
const CANDIDATE = `
  SELECT id, agent_id, path_pattern, exclusive, expires_at_ms, ended_at_ms FROM reservations
  WHERE repository_id = ? AND ended_at_ms IS NULL`

export const reservationStatements = {
  findById: `${SELECT} WHERE r.id = ?`,
  atPrefix: `${CANDIDATE} AND prefix_key = ? AND expires_at_ms > ?`,
  belowRoot: `${CANDIDATE} AND prefix_key > '' AND expires_at_ms > ?`,
  belowPrefix: `${CANDIDATE} AND prefix_key > ? AND prefix_key < ? AND expires_at_ms > ?`,
  list: `
    ${SELECT} WHERE r.project_id = ? AND r.ended_at_ms IS NULL AND r.expires_at_ms > ?
      AND (? IS NULL OR r.repository_id = ?) AND (? IS NULL OR r.agent_id = ?)
      AND (? IS NULL OR lower(r.path_pattern) LIKE lower(?) ESCAPE '!')
    ORDER BY r.id LIMIT ?`,
  listInRepository: `
    ${SELECT} WHERE r.repository_id = ? AND r.ended_at_ms IS NULL AND r.expires_at_ms > ? ORDER BY r.id LIMIT ?`,
  heldByAgent: `${SELECT} WHERE r.agent_id = ? AND r.ended_at_ms IS NULL AND r.expires_at_ms > ? ORDER BY r.id`,
  insert: `
    INSERT INTO reservations (project_id, repository_id, agent_id, path_pattern, prefix_key, exclusive, reason,
      created_at_ms, expires_at_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
  renew:
    "UPDATE reservations SET exclusive = ?, reason = coalesce(?, reason), expires_at_ms = ? WHERE id = ?",
  move: "UPDATE reservations SET agent_id = ?, project_id = ? WHERE agent_id = ? AND ended_at_ms IS NULL",
  end: "UPDATE reservations SET ended_at_ms = ? WHERE id = ? AND ended_at_ms IS NULL",
  endExpired:
    "UPDATE reservations SET ended_at_ms = expires_at_ms WHERE ended_at_ms IS NULL AND expires_at_ms <= ?",
}

export async function findReservation(db: Queries, id: number): Promise<Reservation | undefined> {
  const row = await db.get<ReservationRow>(reservationStatements.findById, [id])
  return row && toReservation(row)
}

/**
 * Returns the held reservations of a repository that can overlap a pattern with this prefix key: those
 * above it, at it and below it in the tree of folders.
 */
export async function listCandidates(
  db: Queries,
  repositoryId: number,
  prefixKey: string,
  nowMs: number,
): Promise<Candidate[]> {
  // A key ends in a slash, and 0 is the character after it: this is the end of all that lies below.
  const end = `${prefixKey.slice(0, -1)}0`
  const rows =
    prefixKey === ""
      ? await db.all<CandidateRow>(reservationStatements.belowRoot, [repositoryId, nowMs])
      : await db.all<CandidateRow>(reservationStatements.belowPrefix, [repositoryId, prefixKey, end, nowMs])
  for (const key of prefixAndAncestors(prefixKey)) {
    rows.push(...(await db.all<CandidateRow>(reservationStatements.atPrefix, [repositoryId, key, nowMs])))
  }
  return rows.map(toCandidate)
}

function prefixAndAncestors(prefixKey: string): string[] {
  const keys = [""]
  for (let slash = prefixKey.indexOf("/"); slash >= 0; slash = prefixKey.indexOf("/", slash + 1)) {
    keys.push(prefixKey.slice(0, slash + 1))
  }
  return keys
}

export interface ReservationFilter {
  projectId: number
  repositoryId?: number | undefined
  agentId?: number | undefined
  /** Part of the pattern's text, in any case. */
  patternPart?: string | undefined
}

/** Returns held reservations, oldest first, at most `limit`. */
export async function listReservations(
  db: Queries,
  filter: ReservationFilter,
  nowMs: number,
  limit: number,
): Promise<Reservation[]> {
  const repository = filter.repositoryId ?? null
  const agent = filter.agentId ?? null
  const part = filter.patternPart === undefined ? null : `%${filter.patternPart.replace(/[!%_]/g, "!$&")}%`
  const args = [filter.projectId, nowMs, repository, repository, agent, agent, part, part, limit]
  return (await db.all<ReservationRow>(reservationStatements.list, args)).map(toReservation)
}

/** Returns what is held in a repository, whatever the project, oldest first, at most `limit`. */
export async function listReservationsIn(
  db: Queries,
  repositoryId: number,
  nowMs: number,
  limit: number,
): Promise<Reservation[]> {
  const args = [repositoryId, nowMs, limit]
  return (await db.all<ReservationRow>(reservationStatements.listInRepository, args)).map(toReservation)
}

/** Returns everything that an agent holds, oldest first. */
export async function listHeldByAgent(db: Queries, agentId: number, nowMs: number): Promise<Reservation[]> {
  return (await db.all<ReservationRow>(reservationStatements.heldByAgent, [agentId, nowMs])).map(
    toReservation,
  )
}

export interface NewReservation {
  projectId: number
  repositoryId: number
  agentId: number
  pathPattern: string
  prefixKey: string
  exclusive: boolean
  reason: string | null
  expiresAtMs: number
}

/** Stores a reservation; returns its id. */
export async function insertReservation(
  tx: Queries,
  reservation: NewReservation,
  nowMs: number,
): Promise<number> {
  const row = await tx.get<{ id: number }>(reservationStatements.insert, [
    reservation.projectId,
    reservation.repositoryId,
    reservation.agentId,
    reservation.pathPattern,
    reservation.prefixKey,
    flag(reservation.exclusive),
    reservation.reason,
    nowMs,
    reservation.expiresAtMs,
  ])
  return (row as { id: number }).id
}

export async function renewReservation(
  tx: Queries,
  id: number,
  renewal: { exclusive: boolean; reason: string | null; expiresAtMs: number },
): Promise<void> {
  await tx.run(reservationStatements.renew, [
    flag(renewal.exclusive),
    renewal.reason,
    renewal.expiresAtMs,
    id,
  ])
}

/** Hands everything that one agent holds to another. */
export async function moveReservations(
  tx: Queries,
  fromAgentId: number,
  to: { id: number; projectId: number },
): Promise<void> {
  await tx.run(reservationStatements.move, [to.id, to.projectId, fromAgentId])
}

export async function endReservation(tx: Queries, id: number, nowMs: number): Promise<void> {
  await tx.run(reservationStatements.end, [nowMs, id])
}

/** Closes the rows of reservations that have run out, so that the index of open ones stays small; returns how many. */
export function endExpiredReservations(tx: Queries, nowMs: number): Promise<number> {
  return tx.run(reservationStatements.endExpired, [nowMs])
}
