/** Reservations that run out while nobody asks for any: closed soon after, by the process that listens. */

import { TELLING_WAIT_MS_MAX } from "../../config/event-limits.ts"
import { hasExpiredReservation } from "../../store/coordination/reservations.ts"
import type { App } from "../app.ts"
import { endExpired } from "./endings.ts"

/** What has run out is told of within a second. */
const LOOK_INTERVAL_MS = 500

/**
 * Closes what has run out; returns how many reservations that were. Where there are none, nothing is locked; otherwise
 * other processes are waited for as long as is told.
 */
export async function closeExpired(
  { db, now }: Pick<App, "db" | "now">,
  waiting?: { waitMs: number },
): Promise<number> {
  if (!(await hasExpiredReservation(db, now()))) return 0
  return db.transaction("reservations", async (tx) => (await endExpired(tx, now())).length, waiting)
}

/** Looks twice a second for what has run out, in the process that listens. */
export function startExpiryWatch(app: Pick<App, "db" | "now" | "log">): { close(): Promise<void> } {
  let looking: Promise<void> | undefined
  const look = async () => {
    try {
      await closeExpired(app, { waitMs: TELLING_WAIT_MS_MAX })
    } catch (error) {
      // While another process holds the lock for long, the next look comes soon enough.
      app.log.debug("reservations that have run out could not be closed", { error })
    }
    looking = undefined
  }
  // A look that waits for the lock is not overtaken by others.
  const timer = setInterval(() => {
    looking ??= look()
  }, LOOK_INTERVAL_MS).unref()
  return {
    async close() {
      clearInterval(timer)
      await looking
    },
  }
}
