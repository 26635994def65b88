/** What is held, as far as a key may know. */

import { LISTING_ROWS_MAX } from "../../config/limits.ts"
import { permitsReservation } from "../../domain/api-key.ts"
import type { Reservation } from "../../domain/coordination/reservation.ts"
import { listReservationsIn } from "../../store/coordination/reservations.ts"
import { findProjectById } from "../../store/projects.ts"
import type { CallContext } from "../operation.ts"

/** Returns what is held in a repository, oldest first, of the projects and repositories that the key permits. */
export async function listHeld(context: CallContext, repositoryId: number): Promise<Reservation[]> {
  const { app } = context
  return visible(context, await listReservationsIn(app.db, repositoryId, app.now(), LISTING_ROWS_MAX))
}

/** Returns those reservations that the key may know of. */
export async function visible(
  context: CallContext,
  reservations: readonly Reservation[],
): Promise<Reservation[]> {
  const seen: Reservation[] = []
  for (const reservation of reservations) if (await isVisible(context, reservation)) seen.push(reservation)
  return seen
}

/** Whether the key may know of a reservation. */
export async function isVisible({ app, key }: CallContext, reservation: Reservation): Promise<boolean> {
  if (key.scopes.includes("*")) return true
  const project = await findProjectById(app.db, reservation.projectId)
  return project !== undefined && permitsReservation(key.scopes, project.key, reservation.repositoryId)
}
