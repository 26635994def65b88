/** Whether two agents know each other by their work, so that `auto` lets them write to each other. */

import type { Queries } from "../../db/database.ts"
import type { Agent } from "../../domain/coordination/agent.ts"
import { anyOverlap } from "../../domain/coordination/reservation.ts"
import { listHeldByAgent } from "../../store/coordination/reservations.ts"
import { shareThread } from "../../store/coordination/threads.ts"
import { findRepositoryById } from "../../store/repositories.ts"

/**
 * Whether `auto` lets two agents write to each other unasked: they work in the same repository or one
 * of them in none, share a thread, or hold overlapping reservations.
 */
export async function areAcquainted(tx: Queries, one: Agent, other: Agent, nowMs: number): Promise<boolean> {
  if (one.repositoryId === null || other.repositoryId === null || one.repositoryId === other.repositoryId)
    return true
  return (await shareThread(tx, one.id, other.id)) || (await holdOverlapping(tx, one, other, nowMs))
}

async function holdOverlapping(tx: Queries, one: Agent, other: Agent, nowMs: number): Promise<boolean> {
  const [ours, theirs] = [
    await listHeldByAgent(tx, one.id, nowMs),
    await listHeldByAgent(tx, other.id, nowMs),
  ]
  for (const repositoryId of new Set(ours.map((reservation) => reservation.repositoryId))) {
    const patterns = (held: typeof ours) =>
      held
        .filter((reservation) => reservation.repositoryId === repositoryId)
        .map((reservation) => reservation.pathPattern)
    const ignoreCase = (await findRepositoryById(tx, repositoryId))?.ignoreCase ?? false
    if (anyOverlap(patterns(ours), patterns(theirs), ignoreCase)) return true
  }
  return false
}
