/** What is held, as far as a key may know. */

import { LISTING_ROWS_MAX } from "../../config/limits.ts"
import { permitsReservation } from "../../domain/api-key.ts"
import type { Reservation } from "../../domain/coordination/reservation.ts"
import { listReservationsIn } from "../../store/coordination/reservations.ts"
import { listWaitsIn, type Wait } from "../../store/coordination/waits.ts"
import { findProjectById } from "../../store/projects.ts"
import type { CallContext } from "../operation.ts"
import { isGone } from "./queue.ts"

/** Returns what is held in a repository, oldest first, of the projects and repositories that the key permits. */
export async function listHeld(context: CallContext, repositoryId: number): Promise<Reservation[]> {
  const { app } = context
  return visible(context, await listReservationsIn(app.db, repositoryId, app.now(), LISTING_ROWS_MAX))
}

/** Returns who waits for files of a repository, the longest first, of the projects that the key permits. */
export async function listWaiting(context: CallContext, repositoryId: number): Promise<Wait[]> {
  const { app } = context
  const waiting: Wait[] = []
  for (const wait of await listWaitsIn(app.db, repositoryId)) {
    const isWaiting = wait.reservationId === null && !isGone(wait, app.now())
    if (isWaiting && (await isVisible(context, wait))) waiting.push(wait)
  }
  return waiting
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
export async function isVisible(
  { app, key }: CallContext,
  reservation: Pick<Reservation, "projectId" | "repositoryId">,
): Promise<boolean> {
  if (key.scopes.includes("*")) return true
  const project = await findProjectById(app.db, reservation.projectId)
  return project !== undefined && permitsReservation(key.scopes, project.key, reservation.repositoryId)
}
