/**
 * Granting reservations: what a request is weighed against, what its pattern may cost, and the grant itself. The check
 * and the grant are one transaction, which is the caller's.
 */

import { COMPARED_RESERVATIONS_MAX, COMPARISON_STEPS_MAX } from "../../config/limits.ts"
import type { Queries } from "../../db/database.ts"
import { patternCost, requireWithinBudget } from "../../domain/coordination/pattern-budget.ts"
import {
  anyOverlap,
  type Candidate,
  findConflicts,
  findOwn,
  isHeld,
  pathComparison,
  type Reservation,
  type ReservationConflict,
  renewedExpiry,
} from "../../domain/coordination/reservation.ts"
import { echoed } from "../../domain/foreign-text/markdown.ts"
import { GlobError } from "../../domain/glob/glob.ts"
import { literalPath, literalPrefix } from "../../domain/glob/literal.ts"
import { Work } from "../../domain/glob/work.ts"
import type { Repository } from "../../domain/project.ts"
import { assert, invalid } from "../../errors.ts"
import {
  type AskedPath,
  findReservation,
  forgetCandidates,
  insertReservation,
  type KnownCandidates,
  listCandidates,
  listOpenPatterns,
  renewReservation,
} from "../../store/coordination/reservations.ts"
import { listWaitsIn, markWaitUsed } from "../../store/coordination/waits.ts"
import { linkRepository } from "../../store/projects.ts"
import type { ActorContext } from "../operation.ts"
import { recordReservation } from "./recording.ts"
import { ownAgentIdsOf } from "./sessions.ts"

/** What an agent asks for; the pattern is as `resolvePattern` returns it. */
interface GrantRequest {
  repository: Repository
  pathPattern: string
  exclusive: boolean
  durationSeconds: number
  reason: string | null
  /** All agents that count as the requester, where that is a whole session; by default the actor alone. */
  ownAgentIds?: ReadonlySet<number>
  /**
   * Whether it is for whoever waited: beside what that agent has already, which stays as it is should this one lapse, and
   * no use of what was granted so before.
   */
  toWaiter?: boolean
}

/** For whom a reservation is granted, and when. */
export type Grantee = Pick<ActorContext, "project" | "actor" | "nowMs">

/** What the grants of one call share, within one transaction. */
export interface GrantCall {
  /** What comparing may still take. */
  work: Work
  known: KnownCandidates
  /** What open patterns of a repository cost, read when it is first needed. */
  open: Map<number, { own: number; others: number }>
}

export function newGrantCall(): GrantCall {
  return { work: new Work(COMPARISON_STEPS_MAX), known: new Map(), open: new Map() }
}

export type Grant = { granted: Reservation; renewed: boolean } | Refused

/** A refusal, as the agent of `projectId` gets it. */
export interface Refused {
  conflicts: ReservationConflict[]
  pathPattern: string
  exclusive: boolean
  projectId: number
}

/**
 * Grants a reservation or reports every conflict. The same agent's reservation of the same pattern is
 * renewed: the later expiry counts, and the mode becomes the one asked for. Must run in a transaction, in which what has
 * run out was closed before, so that those who wait come first.
 */
export async function grant(
  tx: Queries,
  context: Grantee,
  request: GrantRequest,
  call: GrantCall = newGrantCall(),
): Promise<Grant> {
  const { project, actor, nowMs } = context
  const { repository, pathPattern, exclusive } = request
  const prefixKey = literalPrefix(pathPattern)
  const candidates = await candidatesFor(tx, request, nowMs, call.known)
  const wanted = { agentId: actor.id, pathPattern, exclusive }
  const terms = {
    ignoreCase: repository.ignoreCase,
    nowMs,
    ownAgentIds: request.ownAgentIds,
    work: call.work,
  }
  const conflicts = compared(pathPattern, () => findConflicts(wanted, candidates, terms))
  if (conflicts.length > 0)
    return { conflicts: await inFull(tx, conflicts), pathPattern, exclusive, projectId: project.id }
  await linkRepository(tx, project.id, repository.id)
  const requestedMs = nowMs + request.durationSeconds * 1_000
  const own = request.toWaiter === true ? undefined : findOwn(wanted, candidates, terms)
  if (own === undefined) await takeFromBudget(tx, context, request, call)
  const expiresAtMs = own === undefined ? requestedMs : renewedExpiry(own.expiresAtMs, requestedMs)
  if (own !== undefined)
    await renewReservation(tx, own.id, { exclusive, reason: request.reason, expiresAtMs })
  const id =
    own?.id ??
    (await insertReservation(
      tx,
      {
        projectId: project.id,
        repositoryId: repository.id,
        agentId: actor.id,
        pathPattern,
        prefixKey,
        exclusive,
        reason: request.reason,
        expiresAtMs,
      },
      nowMs,
    ))
  if (request.toWaiter !== true) await useGrants(tx, context, request, id)
  forgetCandidates(call.known, repository.id, prefixKey)
  const granted = await findReservation(tx, id)
  assert(granted !== undefined, `reservation ${id} is there after it was granted`)
  await recordReservation(
    tx,
    own === undefined ? "reservation.granted" : "reservation.renewed",
    granted,
    nowMs,
  )
  return { granted, renewed: own !== undefined }
}

/** Returns all that a request has to be weighed against. */
export function candidatesFor(
  db: Queries,
  { repository, pathPattern, exclusive }: Pick<GrantRequest, "repository" | "pathPattern" | "exclusive">,
  nowMs: number,
  known: KnownCandidates,
): Promise<Candidate[]> {
  const path = literalPath(pathPattern)
  const query = {
    repositoryId: repository.id,
    prefixKey: literalPrefix(pathPattern),
    nowMs,
    asked: path === null ? undefined : askedPath(path, repository.ignoreCase),
    exclusiveBelow: !exclusive,
    // One more tells that there are too many. A plain path must be compared with them all.
    belowMax: path === null ? COMPARED_RESERVATIONS_MAX + 1 : Number.MAX_SAFE_INTEGER,
  }
  return listCandidates(db, query, known)
}

function askedPath(path: string, ignoreCase: boolean): AskedPath {
  const witnessWith = pathComparison(path, ignoreCase)
  return { path, meets: (pattern) => witnessWith(pattern) !== null }
}

/**
 * Makes what was granted to the actor when it had waited last as it asked, once it uses any of it; must run in a
 * transaction. `newId` is of a reservation that is told of elsewhere.
 */
export async function useGrants(
  tx: Queries,
  { actor, nowMs }: Pick<Grantee, "actor" | "nowMs">,
  {
    repository,
    pathPattern,
    ownAgentIds = new Set([actor.id]),
  }: Pick<GrantRequest, "repository" | "pathPattern" | "ownAgentIds">,
  newId?: number,
): Promise<void> {
  for (const wait of await listWaitsIn(tx, repository.id)) {
    const { reservationId, usedAtMs, durationSeconds } = wait
    if (reservationId === null || usedAtMs !== null || !ownAgentIds.has(wait.agentId)) continue
    if (!anyOverlap([pathPattern], [wait.pathPattern], repository.ignoreCase)) continue
    const held = await findReservation(tx, reservationId)
    if (held === undefined || !isHeld(held, nowMs)) continue
    await markWaitUsed(tx, wait.id, nowMs)
    const expiresAtMs = renewedExpiry(held.expiresAtMs, nowMs + durationSeconds * 1_000)
    await renewReservation(tx, held.id, { exclusive: held.exclusive, reason: null, expiresAtMs })
    if (held.id !== newId) await recordReservation(tx, "reservation.renewed", { ...held, expiresAtMs }, nowMs)
  }
}

/** Takes what a new pattern costs from the actor's session; fails with `invalid` when that is more than it may hold. */
export async function takeFromBudget(
  tx: Queries,
  { actor, nowMs }: Grantee,
  { repository, pathPattern }: GrantRequest,
  call: GrantCall,
): Promise<void> {
  const cost = patternCost(pathPattern)
  if (cost === 0) return
  let open = call.open.get(repository.id)
  if (open === undefined) {
    const ownIds = await ownAgentIdsOf(tx, actor)
    open = { own: 0, others: 0 }
    for (const one of await listOpenPatterns(tx, repository.id, nowMs))
      open[ownIds.has(one.agentId) ? "own" : "others"] += patternCost(one.pathPattern)
    call.open.set(repository.id, open)
  }
  const { own, others } = open
  compared(pathPattern, () => requireWithinBudget(cost, { own, others }))
  open.own += cost
}

/** Patterns that are too complex to compare are the caller's to change. */
export function compared<T>(pathPattern: string, compare: () => T): T {
  try {
    return compare()
  } catch (error) {
    if (error instanceof GlobError) throw invalid(echoed(pathPattern), error.message)
    throw error
  }
}

/** Returns conflicts with all that a report says of the reservations. */
export async function inFull(
  tx: Queries,
  conflicts: readonly ReservationConflict<Candidate>[],
): Promise<ReservationConflict[]> {
  const full: ReservationConflict[] = []
  for (const { reservation, witness } of conflicts) {
    const found = await findReservation(tx, reservation.id)
    if (found !== undefined) full.push({ reservation: found, witness })
  }
  return full
}
