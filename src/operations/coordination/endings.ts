/** The end of a reservation before its time: its row, what is told of it, and whoever waits for it. */

import type { Queries } from "../../db/database.ts"
import type { Reservation } from "../../domain/coordination/reservation.ts"
import { endReservation } from "../../store/coordination/reservations.ts"
import { recordEvent } from "../../store/events.ts"

/** Ends a held reservation; must run in a transaction. */
export async function endHeld(tx: Queries, reservation: Reservation, nowMs: number): Promise<void> {
  await endReservation(tx, reservation.id, nowMs)
  await recordEvent(
    tx,
    {
      kind: "reservation.released",
      projectId: reservation.projectId,
      repositoryId: reservation.repositoryId,
      agentId: reservation.agentId,
      subjectId: reservation.id,
      data: {},
    },
    nowMs,
  )
}
