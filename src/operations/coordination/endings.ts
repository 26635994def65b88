/** The end of a reservation, before its time or at it: its row, what is told of it, and whoever waits for it. */

import type { Queries } from "../../db/database.ts"
import type { Reservation } from "../../domain/coordination/reservation.ts"
import {
  endExpiredReservations,
  endReservation,
  hasExpiredReservation,
} from "../../store/coordination/reservations.ts"
import { grantToWaiters } from "./queue.ts"
import { type RecordedReservation, recordReservation } from "./recording.ts"

/** Ends held reservations, all before anybody gets any of them; must run in a transaction. */
export async function endHeld(
  tx: Queries,
  reservations: readonly Reservation[],
  nowMs: number,
): Promise<void> {
  for (const reservation of reservations) {
    await endReservation(tx, reservation.id, nowMs)
    await recordReservation(tx, "reservation.released", reservation, nowMs)
  }
  await grantOnceIn(tx, reservations, nowMs)
}

/**
 * Closes the reservations that have run out and were not closed before, and returns them, those that ran out first
 * first; must run in a transaction.
 */
export async function endExpired(tx: Queries, nowMs: number): Promise<RecordedReservation[]> {
  // A look takes less than a change of nothing, and whoever reserves comes by here.
  if (!(await hasExpiredReservation(tx, nowMs))) return []
  const expired = await endExpiredReservations(tx, nowMs)
  for (const reservation of expired) await recordReservation(tx, "reservation.expired", reservation, nowMs)
  await grantOnceIn(tx, expired, nowMs)
  return expired
}

/** The queue of a repository is gone through once, however much ended there. */
async function grantOnceIn(
  tx: Queries,
  ended: readonly { repositoryId: number }[],
  nowMs: number,
): Promise<void> {
  for (const repositoryId of new Set(ended.map((one) => one.repositoryId)))
    await grantToWaiters(tx, repositoryId, nowMs)
}
