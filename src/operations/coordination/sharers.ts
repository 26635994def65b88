/** Who else holds files that were granted to be shared. That is told to whoever joins them, and decides nothing. */

import { SHARERS_STEPS_MAX } from "../../config/limits.ts"
import type { Queries } from "../../db/database.ts"
import { findConflicts, type Reservation } from "../../domain/coordination/reservation.ts"
import { GlobError } from "../../domain/glob/glob.ts"
import { Work } from "../../domain/glob/work.ts"
import type { Repository } from "../../domain/project.ts"
import { holderWithId, nameList } from "../markdown.ts"
import { candidatesFor, inFull } from "./grants.ts"

/** By the id of a shared reservation one of each other holder; null where it takes too much to find them. */
export type Sharers = ReadonlyMap<number, readonly Reservation[] | null>

/**
 * Returns the other holders, of the first 100 reservations found, of what was granted shared in a repository. `own` are
 * all agents that count as the one whom it was granted, where that is a whole session; by default it alone.
 */
export async function findSharersOf(
  db: Queries,
  repository: Repository,
  granted: readonly Reservation[],
  nowMs: number,
  own?: ReadonlySet<number>,
): Promise<Sharers> {
  const look = { work: new Work(SHARERS_STEPS_MAX), known: new Map() }
  const sharers = new Map<number, Reservation[] | null>()
  for (const { id, agentId, pathPattern, exclusive } of granted) {
    if (exclusive) continue
    // What would stand in the way of an exclusive one shares with this one.
    const asked = { repository, agentId, pathPattern, exclusive: true }
    const candidates = await candidatesFor(db, asked, nowMs, look.known)
    const terms = { ignoreCase: repository.ignoreCase, nowMs, work: look.work, ownAgentIds: own }
    try {
      const found = findConflicts(asked, candidates, terms)
      const byHolder = new Map(found.map((one) => [one.reservation.agentId, one]))
      const holders = await inFull(db, [...byHolder.values()])
      const oldestFirst = holders
        .map(({ reservation }) => reservation)
        .sort((one, other) => one.id - other.id)
      sharers.set(id, oldestFirst)
    } catch (error) {
      if (!(error instanceof GlobError)) throw error
      sharers.set(id, null)
    }
  }
  return sharers
}

/** Returns the line that names the other holders of a reservation, or null where there are none. */
export function sharersLine(sharers: Sharers, { id }: Reservation): string | null {
  const found = sharers.get(id)
  if (found === null) return "Shared with: too many to compare; list-file-reservations shows who holds what."
  if (found === undefined || found.length === 0) return null
  return `Shared with: ${nameList(found.map(holderWithId))}`
}
