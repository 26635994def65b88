/**
 * What is told of reservations that are refused and of edits that are blocked. Both change nothing and may be asked for
 * again and again, so each is told once a minute, after the answer is known: that it is told never decides anything.
 */

import { REFUSAL_EVENT_MS, TELLING_WAIT_MS_MAX } from "../../config/event-limits.ts"
import type { Queries } from "../../db/database.ts"
import { modeOf, type Reservation } from "../../domain/coordination/reservation.ts"
import { wasRefusedSince } from "../../store/coordination/refusals.ts"
import { type NewEvent, recordEvent } from "../../store/events.ts"
import type { App } from "../app.ts"
import type { Claimant, ClaimConflict, ClaimedPath } from "./claims.ts"
import type { Refused } from "./grants.ts"
import { holderNames } from "./recording.ts"

/** Who is refused something: its agent, or where there is none yet, the program that asked. */
export interface Asking {
  agent: Claimant["agent"] | undefined
  program: string
}

/** Returns what is told of reservations that an agent did not get in a repository. */
export function refusedGrants(
  agent: Claimant["agent"],
  repositoryId: number,
  refused: readonly Refused[],
): NewEvent[] {
  return refused.map(({ pathPattern, exclusive, conflicts }) => {
    const holders = conflicts.map(({ reservation }) => reservation)
    const data = { path_pattern: pathPattern, mode: modeOf({ exclusive }), holders: holderNames(holders) }
    return { kind: "reservation.refused", ...sides({ agent, program: "" }, repositoryId, holders), data }
  })
}

/** Returns what is told of files that an agent could not claim. */
export function refusedClaims(agent: Claimant["agent"], conflicts: readonly ClaimConflict[]): NewEvent[] {
  return byFile(conflicts).flatMap(([{ repository, pathPattern, exclusive }, conflictsOf]) =>
    refusedGrants(agent, repository.id, [
      { conflicts: conflictsOf, pathPattern, exclusive, projectId: agent.projectId },
    ]),
  )
}

/** Returns what is told of edits that were blocked. */
export function blockedEdits(asking: Asking, conflicts: readonly ClaimConflict[]): NewEvent[] {
  return byFile(conflicts).map(([claimed, conflictsOf]) =>
    editEvent(
      "edit.blocked",
      asking,
      claimed,
      conflictsOf.map(({ reservation }) => reservation),
    ),
  )
}

/** Returns what is told of an edit of a file that others hold. */
export function editEvent(
  kind: "edit.allowed" | "edit.blocked",
  asking: Asking,
  { repository, path }: Pick<ClaimedPath, "repository" | "path">,
  holders: readonly Reservation[],
): NewEvent {
  return { kind, ...sides(asking, repository.id, holders), data: { path, holders: holderNames(holders) } }
}

function sides(
  { agent, program }: Asking,
  repositoryId: number,
  holders: readonly Reservation[],
): Pick<NewEvent, "projectId" | "repositoryId" | "agentId" | "actor" | "partyId"> {
  const asking = agent === undefined ? { actor: program } : { agentId: agent.id, projectId: agent.projectId }
  return { ...asking, repositoryId, ...(holders[0] && { partyId: holders[0].agentId }) }
}

function byFile(conflicts: readonly ClaimConflict[]): [ClaimedPath, ClaimConflict[]][] {
  const files = new Map<ClaimedPath, ClaimConflict[]>()
  for (const conflict of conflicts)
    files.set(conflict.claimed, [...(files.get(conflict.claimed) ?? []), conflict])
  return [...files]
}

/**
 * Tells of refusals of one agent, except those that were told within the last minute; never fails. Nothing is locked for
 * what was told. With `waits` false it returns before anything is written, which is given up where others hold the lock
 * for long: whoever waits for a decision waits for no lock.
 */
export async function tellRefused(
  { db, log, now }: Pick<App, "db" | "log" | "now">,
  refusals: readonly NewEvent[],
  { waits }: { waits: boolean } = { waits: true },
): Promise<void> {
  const failed = (error: unknown) => log.warn("a refusal could not be told of", { error })
  try {
    const [first] = await untoldOf(db, refusals, now())
    if (first === undefined) return
    const write = async (tx: Queries) => {
      for (const refusal of await untoldOf(tx, refusals, now())) await recordEvent(tx, refusal, now())
    }
    const bound = waits ? {} : { waitMs: TELLING_WAIT_MS_MAX }
    const written = db.transaction(`repository:${first.repositoryId}`, write, bound).catch(failed)
    if (waits) await written
  } catch (error) {
    failed(error)
  }
}

async function untoldOf(db: Queries, refusals: readonly NewEvent[], nowMs: number): Promise<NewEvent[]> {
  const untold: NewEvent[] = []
  for (const refusal of refusals)
    if (!(await wasRefusedSince(db, refusal, nowMs - REFUSAL_EVENT_MS))) untold.push(refusal)
  return untold
}
