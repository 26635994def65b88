/** The end of a reservation, before its time or at it: its row, what is told of it, and whoever waits for it. */

import type { Queries } from "../../db/database.ts"
import type { Reservation } from "../../domain/coordination/reservation.ts"
import { endExpiredReservations, endReservation } from "../../store/coordination/reservations.ts"
import { grantToWaiters } from "./queue.ts"
import { type RecordedReservation, recordReservation } from "./recording.ts"

/** Ends a held reservation; must run in a transaction. */
export async function endHeld(tx: Queries, reservation: Reservation, nowMs: number): Promise<void> {
  await endReservation(tx, reservation.id, nowMs)
  await recordReservation(tx, "reservation.released", reservation, nowMs)
  await grantToWaiters(tx, reservation.repositoryId, nowMs)
}

/**
 * Closes the reservations that have run out and were not closed before, and returns them, those that ran out first
 * first; must run in a transaction.
 */
export async function endExpired(tx: Queries, nowMs: number): Promise<RecordedReservation[]> {
  const expired = await endExpiredReservations(tx, nowMs)
  for (const reservation of expired) await recordReservation(tx, "reservation.expired", reservation, nowMs)
  for (const repositoryId of new Set(expired.map((one) => one.repositoryId)))
    await grantToWaiters(tx, repositoryId, nowMs)
  return expired
}
