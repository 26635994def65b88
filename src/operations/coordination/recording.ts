/** What coordination writes down of what happened: which facts an event of each sort has. Bodies never stand in one. */

import type { Queries } from "../../db/database.ts"
import { modeOf, type Reservation } from "../../domain/coordination/reservation.ts"
import type { EventKind } from "../../domain/events/kinds.ts"
import { recordEvent } from "../../store/events.ts"

/** What an event tells of a reservation. */
export type RecordedReservation = Pick<
  Reservation,
  "id" | "projectId" | "repositoryId" | "agentId" | "pathPattern" | "exclusive" | "reason" | "expiresAtMs"
>

/** Records what became of a reservation, under its holder's name; must run in the transaction of the change. */
export function recordReservation(
  tx: Queries,
  kind: Extract<EventKind, `reservation.${string}`>,
  reservation: RecordedReservation,
  nowMs: number,
): Promise<void> {
  const { id, projectId, repositoryId, agentId, pathPattern, reason } = reservation
  const data = {
    reservation_id: id,
    path_pattern: pathPattern,
    mode: modeOf(reservation),
    expires_at: new Date(reservation.expiresAtMs).toISOString(),
    reason,
  }
  return recordEvent(tx, { kind, projectId, repositoryId, agentId, subjectId: id, data }, nowMs)
}
