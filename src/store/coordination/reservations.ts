/** File reservations: found by the coarsest honest predicate; whether two conflict is decided in domain/. */

import type { Queries } from "../../db/database.ts"
import { PERSON_SESSION_PREFIX } from "../../domain/coordination/agent.ts"
import type { Candidate, Reservation } from "../../domain/coordination/reservation.ts"
import { type CandidateRow, flag, type ReservationRow, toCandidate, toReservation } from "../rows.ts"
import { DEATH_NOTICE } from "./sessions.ts"

const SELECT = `
  SELECT r.id, r.project_id, r.repository_id, r.agent_id, a.name AS agent_name,
    CASE WHEN a.session LIKE '${PERSON_SESSION_PREFIX}%' THEN 1 ELSE 0 END AS is_persons,
    (SELECT n.created_at_ms FROM session_notices n WHERE n.session = a.session AND n.notice = '${DEATH_NOTICE}')
      AS died_at_ms, r.path_pattern, r.exclusive, r.reason,
    r.created_at_ms, r.expires_at_ms, r.ended_at_ms
  FROM reservations r JOIN agents a ON a.id = r.agent_id`

const LISTED = `
  WHERE r.project_id = ? AND r.ended_at_ms IS NULL AND r.expires_at_ms > ?
    AND (? IS NULL OR r.repository_id = ?) AND (? IS NULL OR r.agent_id = ?)`

/** Comparing reads many rows, so these hold only what comparing needs. */
const CANDIDATE = `
  SELECT id, agent_id, path_pattern, exclusive, expires_at_ms, ended_at_ms FROM reservations
  WHERE repository_id = ? AND ended_at_ms IS NULL`

/** Stands in no normalised pattern, but for alternatives in braces. */
const PATTERN_BREAK = "//"

export const reservationStatements = {
  findById: `${SELECT} WHERE r.id = ?`,
  atPrefix: `${CANDIDATE} AND prefix_key = ? AND expires_at_ms > ? LIMIT ?`,
  patternsAtPrefix: `
    SELECT count(*) AS count, string_agg(path_pattern, '${PATTERN_BREAK}') AS patterns FROM reservations
    WHERE repository_id = ? AND ended_at_ms IS NULL AND prefix_key = ? AND expires_at_ms > ?`,
  ofPattern: `${CANDIDATE} AND prefix_key = ? AND expires_at_ms > ? AND path_pattern = ?`,
  belowRoot: `${CANDIDATE} AND prefix_key > '' AND expires_at_ms > ? AND exclusive >= ? LIMIT ?`,
  belowPrefix: `
    ${CANDIDATE} AND prefix_key > ? AND prefix_key < ? AND expires_at_ms > ? AND exclusive >= ? LIMIT ?`,
  openPatterns: `
    SELECT agent_id, path_pattern FROM reservations
    WHERE repository_id = ? AND ended_at_ms IS NULL AND expires_at_ms > ?
      AND (path_pattern LIKE '%*%' OR path_pattern LIKE '%?%' OR path_pattern LIKE '%[%' OR path_pattern LIKE '%{%')`,
  list: `${SELECT} ${LISTED} ORDER BY r.id LIMIT ?`,
  countListed: `SELECT count(*) AS count FROM reservations r ${LISTED}`,
  // What has anything special may match any path.
  listAround: `
    ${SELECT} ${LISTED}
      AND (lower(r.path_pattern) LIKE lower(?) ESCAPE '!'
        OR substr(lower(?), 1, length(r.path_pattern) + 1) = lower(r.path_pattern) || '/'
        OR r.path_pattern LIKE '%*%' OR r.path_pattern LIKE '%?%' OR r.path_pattern LIKE '%[%'
        OR r.path_pattern LIKE '%{%' OR r.path_pattern LIKE '%!\\%' ESCAPE '!')
    ORDER BY r.id`,
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
  moveSince:
    "UPDATE reservations SET agent_id = ? WHERE agent_id = ? AND ended_at_ms IS NULL AND created_at_ms >= ?",
  end: "UPDATE reservations SET ended_at_ms = ? WHERE id = ? AND ended_at_ms IS NULL",
  holdingSessions: `
    SELECT DISTINCT a.session AS session,
      (SELECT n.created_at_ms FROM session_notices n WHERE n.session = a.session AND n.notice = '${DEATH_NOTICE}')
        AS died_at_ms
    FROM reservations r JOIN agents a ON a.id = r.agent_id
    WHERE r.ended_at_ms IS NULL AND r.expires_at_ms > ? AND a.session IS NOT NULL ORDER BY session`,
  firstExpired: "SELECT id FROM reservations WHERE ended_at_ms IS NULL AND expires_at_ms <= ? LIMIT 1",
  endExpired: `
    UPDATE reservations SET ended_at_ms = expires_at_ms WHERE ended_at_ms IS NULL AND expires_at_ms <= ?
    RETURNING id, project_id, repository_id, agent_id, path_pattern, exclusive, reason, expires_at_ms`,
}

export async function findReservation(db: Queries, id: number): Promise<Reservation | undefined> {
  const row = await db.get<ReservationRow>(reservationStatements.findById, [id])
  return row && toReservation(row)
}

/** Candidates read before in the same look at the database, by what they were asked for. */
export type KnownCandidates = Map<string, Candidate[]>

/** A path that is compared with patterns, and whether one meets it. */
export interface AskedPath {
  path: string
  meets(pattern: string): boolean
}

interface CandidateQuery {
  repositoryId: number
  prefixKey: string
  nowMs: number
  /** Given for a plain path: of those at and above only what meets it is wanted. */
  asked: AskedPath | undefined
  /** Only exclusive ones of those below, which are all that a shared pattern conflicts with there. */
  exclusiveBelow: boolean
  /** How many of those below are wanted at most. */
  belowMax: number
}

/**
 * Returns the held reservations of a repository that can overlap a pattern with this prefix key: those
 * above it, at it and below it in the tree of folders. Those at and above are looked for in `known` first.
 */
export async function listCandidates(
  db: Queries,
  query: CandidateQuery,
  known: KnownCandidates,
): Promise<Candidate[]> {
  const { repositoryId, prefixKey, nowMs, exclusiveBelow, belowMax, asked } = query
  // A key ends in a slash, and 0 is the character after it: this is the end of all that lies below.
  const end = `${prefixKey.slice(0, -1)}0`
  const last = [nowMs, flag(exclusiveBelow), belowMax]
  const below =
    prefixKey === ""
      ? await db.all<CandidateRow>(reservationStatements.belowRoot, [repositoryId, ...last])
      : await db.all<CandidateRow>(reservationStatements.belowPrefix, [repositoryId, prefixKey, end, ...last])
  const candidates = below.map(toCandidate)
  for (const key of prefixAndAncestors(prefixKey)) {
    const name = `${knownName(repositoryId, key)} ${asked?.path ?? ""}`
    let found = known.get(name)
    if (found === undefined) {
      found = (await rowsAt(db, query, key)).map(toCandidate)
      known.set(name, found)
    }
    candidates.push(...found)
  }
  return candidates
}

/** So many rows are read as they are, for a folder or for the patterns in it that a path meets. */
const ROWS_READ_MAX = 20

/** A row takes many times longer to read than the text of its pattern, and a path meets few of many patterns. */
async function rowsAt(
  db: Queries,
  { repositoryId, nowMs, asked }: CandidateQuery,
  key: string,
): Promise<CandidateRow[]> {
  const args = [repositoryId, key, nowMs]
  const read = (max: number) => db.all<CandidateRow>(reservationStatements.atPrefix, [...args, max])
  if (asked === undefined) return read(Number.MAX_SAFE_INTEGER)
  const first = await read(ROWS_READ_MAX + 1)
  if (first.length <= ROWS_READ_MAX) return first
  const texts = await db.get<{ count: number; patterns: string }>(
    reservationStatements.patternsAtPrefix,
    args,
  )
  const patterns = splitPatterns(texts?.patterns ?? "")
  if (patterns.length !== texts?.count) return read(Number.MAX_SAFE_INTEGER)
  const met = [...new Set(patterns.filter((pattern) => asked.meets(pattern)))]
  if (met.length > ROWS_READ_MAX) return read(Number.MAX_SAFE_INTEGER)
  const rows: CandidateRow[] = []
  for (const pattern of met)
    rows.push(...(await db.all<CandidateRow>(reservationStatements.ofPattern, [...args, pattern])))
  return rows
}

/** The texts taken apart last: they are the same from one edit to the next, unless somebody reserved. */
let lastSplit = { texts: "", patterns: [""] as readonly string[] }

function splitPatterns(texts: string): readonly string[] {
  if (texts !== lastSplit.texts) lastSplit = { texts, patterns: texts.split(PATTERN_BREAK) }
  return lastSplit.patterns
}

/** Forgets what is known at a prefix key, where something was written since. */
export function forgetCandidates(known: KnownCandidates, repositoryId: number, prefixKey: string): void {
  const name = `${knownName(repositoryId, prefixKey)} `
  for (const key of known.keys()) if (key.startsWith(name)) known.delete(key)
}

/** A key ends in a slash or is empty, so no name but its own begins with it and a space. */
function knownName(repositoryId: number, prefixKey: string): string {
  return `${repositoryId} ${prefixKey}`
}

/** Returns the held patterns of a repository that may have anything special, each with its agent. */
export async function listOpenPatterns(
  db: Queries,
  repositoryId: number,
  nowMs: number,
): Promise<{ agentId: number; pathPattern: string }[]> {
  const rows = await db.all<Pick<CandidateRow, "agent_id" | "path_pattern">>(
    reservationStatements.openPatterns,
    [repositoryId, nowMs],
  )
  return rows.map((row) => ({ agentId: row.agent_id, pathPattern: row.path_pattern }))
}

function prefixAndAncestors(prefixKey: string): string[] {
  const keys = [""]
  for (let slash = prefixKey.indexOf("/"); slash >= 0; slash = prefixKey.indexOf("/", slash + 1)) {
    keys.push(prefixKey.slice(0, slash + 1))
  }
  return keys
}

interface ReservationFilter {
  projectId: number
  repositoryId?: number | undefined
  agentId?: number | undefined
}

function listArguments({ projectId, repositoryId, agentId }: ReservationFilter, nowMs: number) {
  const [repository, agent] = [repositoryId ?? null, agentId ?? null]
  return [projectId, nowMs, repository, repository, agent, agent]
}

/** Returns held reservations, oldest first, at most `limit`. */
export async function listReservations(
  db: Queries,
  filter: ReservationFilter,
  nowMs: number,
  limit: number,
): Promise<Reservation[]> {
  const args = [...listArguments(filter, nowMs), limit]
  return (await db.all<ReservationRow>(reservationStatements.list, args)).map(toReservation)
}

/** Counts what `listReservations` would return without a limit. */
export async function countReservations(
  db: Queries,
  filter: ReservationFilter,
  nowMs: number,
): Promise<number> {
  const args = listArguments(filter, nowMs)
  const row = await db.get<{ count: number }>(reservationStatements.countListed, args)
  return row?.count ?? 0
}

/**
 * Returns the held reservations whose patterns contain a text, in any case, and all that may match it as a path:
 * folders above it and patterns with anything special. Oldest first.
 */
export async function listReservationsAround(
  db: Queries,
  filter: ReservationFilter,
  { text, path }: { text: string; path: string },
  nowMs: number,
): Promise<Reservation[]> {
  const part = `%${text.replace(/[!%_]/g, "!$&")}%`
  const args = [...listArguments(filter, nowMs), part, path]
  return (await db.all<ReservationRow>(reservationStatements.listAround, args)).map(toReservation)
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

/** Returns the sessions whose agents hold anything, and when each was found dead, if it was. */
export async function listHoldingSessions(
  db: Queries,
  nowMs: number,
): Promise<{ session: string; diedAtMs: number | null }[]> {
  const rows = await db.all<{ session: string; died_at_ms: number | null }>(
    reservationStatements.holdingSessions,
    [nowMs],
  )
  return rows.map((row) => ({ session: row.session, diedAtMs: row.died_at_ms }))
}

interface NewReservation {
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

/** Gives an agent what another one of its project has reserved since a time. */
export async function moveReservationsSince(
  tx: Queries,
  fromAgentId: number,
  to: { id: number },
  sinceMs: number,
): Promise<void> {
  await tx.run(reservationStatements.moveSince, [to.id, fromAgentId, sinceMs])
}

export async function endReservation(tx: Queries, id: number, nowMs: number): Promise<void> {
  await tx.run(reservationStatements.end, [nowMs, id])
}

/** Whether any reservation has run out that is not closed yet. */
export async function hasExpiredReservation(db: Queries, nowMs: number): Promise<boolean> {
  return (await db.get(reservationStatements.firstExpired, [nowMs])) !== undefined
}

/**
 * Closes the rows of reservations that have run out, so that the index of open ones stays small; returns them, those
 * that ran out first first.
 */
export async function endExpiredReservations(tx: Queries, nowMs: number): Promise<ClosedReservation[]> {
  const rows = await tx.all<ClosedRow>(reservationStatements.endExpired, [nowMs])
  return rows
    .sort((one, other) => one.expires_at_ms - other.expires_at_ms || one.id - other.id)
    .map((row) => ({
      id: row.id,
      projectId: row.project_id,
      repositoryId: row.repository_id,
      agentId: row.agent_id,
      pathPattern: row.path_pattern,
      exclusive: row.exclusive === 1,
      reason: row.reason,
      expiresAtMs: row.expires_at_ms,
    }))
}

type ClosedReservation = Omit<
  Reservation,
  "agentName" | "isPersons" | "diedAtMs" | "createdAtMs" | "endedAtMs"
>
type ClosedRow = Omit<
  ReservationRow,
  "agent_name" | "is_persons" | "died_at_ms" | "created_at_ms" | "ended_at_ms"
>
