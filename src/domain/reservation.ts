/**
 * File reservations: when two of them conflict, and how one's own is renewed. Which reservations are
 * looked at, and storing them, is the store's work.
 */

import { foldCase } from "./glob/case-folding.ts"
import { type CompiledPattern, compilePattern, GlobError, matchesPath, overlap } from "./glob.ts"

export interface Reservation {
  id: number
  projectId: number
  repositoryId: number
  agentId: number
  agentName: string
  pathPattern: string
  exclusive: boolean
  reason: string | null
  createdAtMs: number
  expiresAtMs: number
  endedAtMs: number | null
}

/** What must be known of a reservation to weigh it against a request. */
export type Candidate = Pick<
  Reservation,
  "id" | "agentId" | "pathPattern" | "exclusive" | "expiresAtMs" | "endedAtMs"
>

/** A reservation that stands in the way, with a path that both patterns match. */
export interface ReservationConflict<Known extends Candidate = Reservation> {
  reservation: Known
  witness: string
}

/** What somebody wants to reserve. */
export interface ReservationRequest {
  agentId: number
  pathPattern: string
  exclusive: boolean
}

export type ReservationMode = "exclusive" | "shared"

export function modeOf(reservation: { exclusive: boolean }): ReservationMode {
  return reservation.exclusive ? "exclusive" : "shared"
}

/** Whether a reservation holds at `nowMs`. */
export function isHeld(reservation: Pick<Reservation, "expiresAtMs" | "endedAtMs">, nowMs: number): boolean {
  return reservation.endedAtMs === null && reservation.expiresAtMs > nowMs
}

/** What reservations are weighed by. */
export interface Terms {
  ignoreCase: boolean
  nowMs: number
  /** All agents that count as the requester; by default it alone. */
  ownAgentIds?: ReadonlySet<number> | undefined
}

function isOwn(request: { agentId: number }, { agentId }: Candidate, { ownAgentIds }: Terms): boolean {
  return agentId === request.agentId || ownAgentIds?.has(agentId) === true
}

/**
 * Returns the reservations that a request conflicts with: another agent's, held, at least one of the
 * two exclusive, and some path is matched by both patterns. Throws GlobError, about the pattern wanted, when
 * one of the comparisons takes too much work to be certain.
 */
export function findConflicts<Known extends Candidate>(
  request: ReservationRequest,
  candidates: readonly Known[],
  terms: Terms,
): ReservationConflict<Known>[] {
  const rivals = candidates.filter(
    (reservation) =>
      !isOwn(request, reservation, terms) &&
      (reservation.exclusive || request.exclusive) &&
      isHeld(reservation, terms.nowMs),
  )
  if (rivals.length === 0) return []
  const wanted = compilePattern(request.pathPattern, { ignoreCase: terms.ignoreCase })
  const conflicts: ReservationConflict<Known>[] = []
  for (const reservation of rivals) {
    const witness = commonPath(wanted, reservation.pathPattern, terms.ignoreCase)
    if (witness !== null) conflicts.push({ reservation, witness })
  }
  return conflicts
}

/** Returns the requester's own held reservation of the same pattern, if there is one among the candidates. */
export function findOwn<Known extends Candidate>(
  request: ReservationRequest,
  candidates: readonly Known[],
  options: { ignoreCase: boolean; nowMs: number },
): Known | undefined {
  const fold = (pattern: string) => (options.ignoreCase ? foldCase(pattern) : pattern)
  const wanted = fold(request.pathPattern)
  return candidates.find(
    (reservation) =>
      reservation.agentId === request.agentId &&
      fold(reservation.pathPattern) === wanted &&
      isHeld(reservation, options.nowMs),
  )
}

/**
 * Returns a reservation of the requester's own that already covers a path, plain text: held until `untilMs`
 * at least, and exclusive if that is asked for.
 */
export function findCovering<Known extends Candidate>(
  request: { agentId: number; path: string; exclusive: boolean },
  candidates: readonly Known[],
  terms: Terms & { untilMs: number },
): Known | undefined {
  const { ignoreCase, nowMs, untilMs } = terms
  return candidates.find(
    (reservation) =>
      isOwn(request, reservation, terms) &&
      (reservation.exclusive || !request.exclusive) &&
      isHeld(reservation, nowMs) &&
      reservation.expiresAtMs >= untilMs &&
      matchesPath(compilePattern(reservation.pathPattern, { ignoreCase }), request.path),
  )
}

/**
 * Whether any pattern of one list overlaps any of the other, as reservations of one repository. Two that
 * are too complex to compare count as apart: nobody gains a right by them.
 */
export function anyOverlap(ours: readonly string[], theirs: readonly string[], ignoreCase: boolean): boolean {
  const compiled = ours.map((pattern) => compilePattern(pattern, { ignoreCase }))
  return theirs.some((pattern) => compiled.some((own) => surelyOverlap(own, pattern, ignoreCase)))
}

function surelyOverlap(pattern: CompiledPattern, other: string, ignoreCase: boolean): boolean {
  try {
    return commonPath(pattern, other, ignoreCase) !== null
  } catch (error) {
    if (error instanceof GlobError) return false
    throw error
  }
}

/** Returns the expiry after a renewal: nothing shortens a reservation but releasing it. */
export function renewedExpiry(currentMs: number, requestedMs: number): number {
  return Math.max(currentMs, requestedMs)
}

function commonPath(pattern: CompiledPattern, other: string, ignoreCase: boolean): string | null {
  const result = overlap(pattern, compilePattern(other, { ignoreCase }))
  return result.overlaps ? result.witness : null
}
