/**
 * File reservations: when two of them conflict, and how one's own is renewed. Which reservations are
 * looked at, and storing them, is the store's work.
 */

import {
  COMPARED_RESERVATIONS_MAX,
  COMPARISON_STEPS_MAX,
  CONFLICTS_FOUND_MAX,
  DEAD_SESSION_GRACE_MS,
} from "../../config/limits.ts"
import { foldCase } from "../glob/case-folding.ts"
import { compilePattern, GlobError, overlap } from "../glob/glob.ts"
import { literalPath } from "../glob/literal.ts"
import { matches, plainPath, witnessAt } from "../glob/matching.ts"
import { meet } from "../glob/meeting.ts"
import { Work, WorkLimitError } from "../glob/work.ts"

export interface Reservation {
  id: number
  projectId: number
  repositoryId: number
  agentId: number
  agentName: string
  /** Whether a person holds it, and not a program. */
  isPersons: boolean
  /** When the holder's session was found dead, while it is; what it holds is released after a grace. */
  diedAtMs: number | null
  pathPattern: string
  exclusive: boolean
  reason: string | null
  createdAtMs: number
  expiresAtMs: number
  endedAtMs: number | null
}

/**
 * Returns who holds a reservation, as lists and reports name it; with facts about holder or reservation in the same
 * brackets, those about the holder as `of`: `ada (agent 2, a person; exclusive)`.
 */
export function holderOf(holder: HolderFacts, { of, facts }: { of?: string; facts?: string } = {}): string {
  const who = [of, holderNote(holder)].filter((one) => one !== undefined).join(", ")
  const all = [who, facts ?? ""].filter((one) => one !== "").join("; ")
  return all === "" ? holder.agentName : `${holder.agentName} (${all})`
}

function holderNote({ isPersons, diedAtMs, expiresAtMs }: HolderFacts): string | undefined {
  if (isPersons) return "a person"
  if (diedAtMs === null) return undefined
  const freeAtMs = Math.min(expiresAtMs, diedAtMs + DEAD_SESSION_GRACE_MS)
  return `its session has died; released at ${new Date(freeAtMs).toISOString()}`
}

type HolderFacts = Pick<Reservation, "agentName" | "isPersons" | "diedAtMs" | "expiresAtMs">

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
interface ReservationRequest {
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
interface Terms {
  ignoreCase: boolean
  nowMs: number
  /** All agents that count as the requester; by default it alone. */
  ownAgentIds?: ReadonlySet<number> | undefined
}

function isOwn(request: { agentId: number }, { agentId }: Candidate, { ownAgentIds }: Terms): boolean {
  return agentId === request.agentId || ownAgentIds?.has(agentId) === true
}

/** How far conflicts are looked for. */
interface Bounds {
  /** What the comparisons of a whole call share; a plain path is compared whatever is left of it. */
  work?: Work | undefined
  conflictsMax?: number
}

/**
 * Returns the reservations that a request conflicts with, the first 100 unless told otherwise: another agent's, held, at
 * least one of the two exclusive, and some path is matched by both patterns. A plain path is always compared; throws
 * GlobError, about the pattern wanted, when a pattern takes too much work to be certain.
 */
export function findConflicts<Known extends Candidate>(
  request: ReservationRequest,
  candidates: readonly Known[],
  terms: Terms & Bounds,
): ReservationConflict<Known>[] {
  const { work = new Work(COMPARISON_STEPS_MAX), conflictsMax = CONFLICTS_FOUND_MAX } = terms
  const rivals = candidates.filter(
    (reservation) =>
      !isOwn(request, reservation, terms) &&
      (reservation.exclusive || request.exclusive) &&
      isHeld(reservation, terms.nowMs),
  )
  if (rivals.length === 0) return []
  const path = literalPath(request.pathPattern)
  if (path === null && candidates.length > COMPARED_RESERVATIONS_MAX) throw tooComplex(candidates.length)
  const witnessWith = comparison(request.pathPattern, path, terms.ignoreCase, work)
  const conflicts: ReservationConflict<Known>[] = []
  try {
    for (const reservation of rivals) {
      const witness = witnessWith(reservation.pathPattern)
      if (witness !== null) conflicts.push({ reservation, witness })
      if (conflicts.length === conflictsMax) break
    }
  } catch (error) {
    if (!(error instanceof WorkLimitError)) throw error
    // Those that were found are refusal enough.
    if (conflicts.length === 0) throw tooComplex(rivals.length)
  }
  return conflicts
}

function tooComplex(rivals: number): GlobError {
  return new GlobError(
    `is too complex beside what is open in this repository: comparing it with ${rivals} reservations takes more ` +
      `than ${COMPARISON_STEPS_MAX} steps or concerns more than ${COMPARED_RESERVATIONS_MAX}. Reserve fewer ` +
      "wildcards, or name folders and files.",
  )
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
  const path = plainPath(request.path, ignoreCase)
  return candidates.find(
    (reservation) =>
      isOwn(request, reservation, terms) &&
      (reservation.exclusive || !request.exclusive) &&
      isHeld(reservation, nowMs) &&
      reservation.expiresAtMs >= untilMs &&
      matches(compilePattern(reservation.pathPattern, { ignoreCase }), path),
  )
}

/** Of what comparing two patterns takes at least. */
const STEPS_PER_PAIR = 10

/**
 * Whether any pattern of one list overlaps any of the other, as reservations of one repository. Those that are too
 * complex to compare, alone or together, count as apart: nobody gains a right by them.
 */
export function anyOverlap(ours: readonly string[], theirs: readonly string[], ignoreCase: boolean): boolean {
  const work = new Work(COMPARISON_STEPS_MAX)
  try {
    return ours.some((own) => {
      const witnessWith = comparison(own, literalPath(own), ignoreCase, work)
      return theirs.some((pattern) => {
        work.spend(STEPS_PER_PAIR)
        return witnessWith(pattern) !== null
      })
    })
  } catch (error) {
    if (error instanceof WorkLimitError) return false
    throw error
  }
}

/** Returns the expiry after a renewal: nothing shortens a reservation but releasing it. */
export function renewedExpiry(currentMs: number, requestedMs: number): number {
  return Math.max(currentMs, requestedMs)
}

/**
 * Returns what gives a path that a plain path, with all below it, shares with a pattern, or null when they share none.
 * No limit holds: what the patterns cost was bounded when they were granted.
 */
export function pathComparison(path: string, ignoreCase: boolean): (other: string) => string | null {
  const plain = plainPath(path, ignoreCase)
  return (other) => {
    const otherPath = literalPath(other)
    if (otherPath === null) return witnessAt(compilePattern(other, { ignoreCase }), plain)
    return deeper(path, otherPath, ignoreCase)
  }
}

/** Returns the same for any pattern; `path` is the one that it names, if it is plain, for which `work` is no limit. */
function comparison(
  pattern: string,
  path: string | null,
  ignoreCase: boolean,
  work: Work,
): (other: string) => string | null {
  if (path !== null) return pathComparison(path, ignoreCase)
  const compiled = compilePattern(pattern, { ignoreCase })
  return (other) => {
    const otherPath = literalPath(other)
    const meets =
      otherPath === null
        ? meet(compiled, compilePattern(other, { ignoreCase }), work)
        : witnessAt(compiled, plainPath(otherPath, ignoreCase), work) !== null
    return meets ? overlap(compiled, compilePattern(other, { ignoreCase }), work).witness : null
  }
}

/** Of two plain paths, each of which covers what is below it, the one that lies in the other, if one does. */
function deeper(path: string, other: string, ignoreCase: boolean): string | null {
  const fold = (text: string) => `${ignoreCase ? foldCase(text) : text}/`
  const [one, two] = [fold(path), fold(other)]
  if (one.startsWith(two)) return path
  // Folding keeps the length, and the names that both have are shown as they were asked for.
  return two.startsWith(one) ? path + other.slice(path.length) : null
}
