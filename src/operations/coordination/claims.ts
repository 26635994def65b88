/**
 * Claims: what a session needs before it edits files. The hook, its HTTP call and the command line all come
 * here: are the files free of other sessions' reservations, and whose are they from now on.
 */

import {
  COMPARISON_STEPS_MAX,
  CONFLICTS_FOUND_MAX,
  LISTING_ROWS_MAX,
  WAIT_GRANT_MS,
} from "../../config/limits.ts"
import type { Queries } from "../../db/database.ts"
import type { Agent } from "../../domain/coordination/agent.ts"
import {
  type Candidate,
  findConflicts,
  findCovering,
  type Reservation,
  type ReservationConflict,
} from "../../domain/coordination/reservation.ts"
import { echoed } from "../../domain/foreign-text/markdown.ts"
import { GlobError, normalizePattern } from "../../domain/glob/glob.ts"
import { escapePath } from "../../domain/glob/literal.ts"
import { Work } from "../../domain/glob/work.ts"
import type { Project } from "../../domain/project.ts"
import { AppError } from "../../errors.ts"
import { findReservation, type KnownCandidates } from "../../store/coordination/reservations.ts"
import { listWaitsIn, type Wait } from "../../store/coordination/waits.ts"
import type { App } from "../app.ts"
import type { CallContext } from "../operation.ts"
import { endExpired } from "./endings.ts"
import { candidatesFor, compared, grant, inFull, newGrantCall, useGrants } from "./grants.ts"
import type { Location } from "./locations.ts"

/**
 * A covering reservation with less than this left is renewed, so that an edit does not outlive it; which is also how the
 * first edit makes last what was granted to whoever waited.
 */
const REUSED_WHILE_LEFT_MS = WAIT_GRANT_MS

/** Who claims: an agent, and all agents that count as the same holder. */
export interface Claimant {
  agent: Agent
  project: Project
  ownAgentIds: ReadonlySet<number>
}

/** One file that is claimed. */
export interface ClaimedPath extends Location {
  /** The path as a pattern that matches it and nothing beside it. */
  pathPattern: string
  exclusive: boolean
}

/**
 * Returns the claim of a file; fails with `invalid`, naming the field that the path was given in, for one that no
 * reservation can stand for.
 */
export function claimOf(location: Location, exclusive: boolean, field = "path"): ClaimedPath {
  try {
    return { ...location, pathPattern: normalizePattern(escapePath(location.path)), exclusive }
  } catch (error) {
    if (error instanceof GlobError)
      throw new AppError("invalid", `${echoed(location.path)} ${error.message}`, { field })
    throw error
  }
}

export interface ClaimConflict extends ReservationConflict {
  /** The claimed file that is not free. */
  claimed: ClaimedPath
}

/** What may be shared by several looks at the same state of the database, and how far is looked. */
interface Look {
  known?: KnownCandidates
  work?: Work
  conflictsMax?: number
}

/**
 * Returns the other holders whose reservations stand in the way of a claim, the first 100 unless told otherwise; nobody
 * is `undefined`.
 */
export async function findClaimConflicts(
  db: Queries,
  claimant: Pick<Claimant, "ownAgentIds"> | undefined,
  paths: readonly ClaimedPath[],
  nowMs: number,
  look: Look = {},
): Promise<ClaimConflict[]> {
  const {
    known = new Map(),
    work = new Work(COMPARISON_STEPS_MAX),
    conflictsMax = CONFLICTS_FOUND_MAX,
  } = look
  const conflicts: ClaimConflict[] = []
  for (const claimed of paths) {
    if (conflicts.length >= conflictsMax) break
    const bounds = { work, conflictsMax: conflictsMax - conflicts.length }
    const candidates = await candidatesFor(db, claimed, nowMs, known)
    conflicts.push(...(await conflictsWith(db, claimed, candidates, claimant, { ...bounds, nowMs })))
  }
  return conflicts
}

/**
 * Returns the other sessions' reservations of a path, also those that do not stand in the way of sharing it, the first
 * 100 unless told otherwise; nobody is `undefined`.
 */
export async function findSharers(
  db: Queries,
  claimant: Pick<Claimant, "ownAgentIds"> | undefined,
  claimed: ClaimedPath,
  nowMs: number,
  look: Look = {},
): Promise<Reservation[]> {
  const asExclusive = { ...claimed, exclusive: true }
  const others = await findClaimConflicts(db, claimant, [asExclusive], nowMs, look)
  return others.map(({ reservation }) => reservation)
}

/** Returns the reservations that match a file, whoever holds it, at most 1,000. */
export async function findHolders(db: Queries, location: Location, nowMs: number): Promise<Reservation[]> {
  const look = { conflictsMax: LISTING_ROWS_MAX }
  return findSharers(db, undefined, claimOf(location, true), nowMs, look)
}

/** Whether the claimant's own reservations already give it every path of a claim, for long enough. */
export async function areCovered(
  db: Queries,
  claimant: Claimant,
  paths: readonly ClaimedPath[],
  nowMs: number,
  known: KnownCandidates,
): Promise<boolean> {
  for (const claimed of paths) {
    const candidates = await candidatesFor(db, claimed, nowMs, known)
    if (coveringOf(claimant, claimed, candidates, nowMs) === undefined) return false
  }
  return true
}

interface ClaimTerms {
  durationSeconds: number
  reason: string | null
  /**
   * Whether what the claimant has already is kept as it is, as for an edit that asks for the least it needs;
   * otherwise each file is reserved just as asked for.
   */
  keeps: boolean
}

export type ClaimOutcome =
  | { conflicts: ClaimConflict[] }
  | { held: Reservation[]; hasNew: boolean; conflicts: [] }

/**
 * Reserves every path of a claim or none. What a wider reservation of the claimant's own covers is reused,
 * its own reservation of just that file is renewed. Must run in a transaction; `hasNew` tells whether any
 * reservation was made that was not there before.
 */
export async function claim(
  tx: Queries,
  context: CallContext,
  claimant: Claimant,
  paths: readonly ClaimedPath[],
  terms: ClaimTerms,
): Promise<ClaimOutcome> {
  const { nowMs } = context
  await endExpired(tx, nowMs)
  const call = newGrantCall()
  const conflicts = await findClaimConflicts(tx, claimant, paths, nowMs, call)
  if (conflicts.length > 0) return { conflicts }
  const held: Reservation[] = []
  let hasNew = false
  for (const claimed of paths) {
    const candidates = await candidatesFor(tx, claimed, nowMs, call.known)
    const covering = coveringOf(claimant, claimed, candidates, nowMs)
    const reused = terms.keeps && covering ? await findReservation(tx, covering.id) : undefined
    const isSame = reused?.pathPattern === claimed.pathPattern && reused.agentId === claimant.agent.id
    if (reused !== undefined && !isSame) {
      held.push(reused)
      continue
    }
    // What the claimant holds exclusively stays so.
    const asExclusive = { ...claimed, exclusive: true }
    const exclusive =
      claimed.exclusive ||
      (terms.keeps && coveringOf(claimant, asExclusive, candidates, nowMs, 0) !== undefined)
    const actor = { ...context, project: claimant.project, actor: claimant.agent }
    const { durationSeconds, reason } = terms
    const request = { ...claimed, durationSeconds, reason, exclusive, ownAgentIds: claimant.ownAgentIds }
    const granted = await grant(tx, actor, request, call)
    // Nothing came between the look and the grant: both hold the write lock.
    if (!("granted" in granted)) return { conflicts: granted.conflicts.map((one) => ({ ...one, claimed })) }
    held.push(granted.granted)
    hasNew ||= !granted.renewed
  }
  return { held, hasNew, conflicts: [] }
}

/**
 * Makes what the claimant had waited for last as it asked, once it edits any of it, be it reserved for that or covered
 * by what it holds already. In the usual case nothing is written.
 */
export async function useWaited(
  { db, now }: App,
  { agent, ownAgentIds }: Claimant,
  paths: readonly ClaimedPath[],
): Promise<void> {
  const [first] = paths
  if (first === undefined) return
  const isUnused = ({ agentId, reservationId, usedAtMs }: Wait) =>
    reservationId !== null && usedAtMs === null && ownAgentIds.has(agentId)
  if (!(await listWaitsIn(db, first.repository.id)).some(isUnused)) return
  await db.transaction(`repository:${first.repository.id}`, async (tx) => {
    const used = { actor: agent, nowMs: now() }
    for (const path of paths) await useGrants(tx, used, { ...path, ownAgentIds })
  })
}

const NOBODY = 0

async function conflictsWith(
  db: Queries,
  claimed: ClaimedPath,
  candidates: readonly Candidate[],
  claimant: Pick<Claimant, "ownAgentIds"> | undefined,
  bounds: Pick<Look, "work" | "conflictsMax"> & { nowMs: number },
): Promise<ClaimConflict[]> {
  const { repository, pathPattern, exclusive } = claimed
  const request = { agentId: NOBODY, pathPattern, exclusive }
  const terms = { ...bounds, ignoreCase: repository.ignoreCase, ownAgentIds: claimant?.ownAgentIds }
  const found = compared(pathPattern, () => findConflicts(request, candidates, terms))
  return (await inFull(db, found)).map((conflict) => ({ ...conflict, claimed }))
}

function coveringOf(
  { agent, ownAgentIds }: Claimant,
  { repository, path, exclusive }: ClaimedPath,
  candidates: readonly Candidate[],
  nowMs: number,
  leftMsMin = REUSED_WHILE_LEFT_MS,
): Candidate | undefined {
  const { ignoreCase } = repository
  const untilMs = nowMs + leftMsMin
  return findCovering({ agentId: agent.id, path, exclusive }, candidates, {
    ignoreCase,
    nowMs,
    ownAgentIds,
    untilMs,
  })
}
