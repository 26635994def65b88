/** Events that are older than the user wants to keep go, by the process that listens, in the way of nobody. */

import { DAY_MS } from "../../domain/time-units.ts"
import { lastOldEvent, removeEventsUpTo } from "../../store/events.ts"
import type { App } from "../app.ts"

/** Events that go in one transaction, which takes a few milliseconds. */
const PRUNED_AT_ONCE = 500
/** Between two of them, so that whoever waits for the lock gets it. */
const PAUSE_MS = 100
/** Servers that are started to be probed live for a moment, and are not to begin anything. */
const FIRST_LOOK_MS = 30_000
const LOOK_INTERVAL_MS = 600_000

type Pruned = Pick<App, "db" | "now"> & { config: Pick<App["config"], "eventKeepDays"> }

/**
 * Deletes the oldest events that are too old; returns whether there may be more of them. An event that is dated later
 * than those after it, by a clock that was wrong, goes with them.
 */
export async function pruneSomeEvents({ db, config, now }: Pruned): Promise<boolean> {
  const beforeMs = now() - config.eventKeepDays * DAY_MS
  // Most looks find nothing, and take no lock.
  if ((await lastOldEvent(db, beforeMs, PRUNED_AT_ONCE)) === undefined) return false
  return db.transaction("events", async (tx) => {
    const last = await lastOldEvent(tx, beforeMs, PRUNED_AT_ONCE)
    if (last === undefined) return false
    return (await removeEventsUpTo(tx, last)) === PRUNED_AT_ONCE
  })
}

/** Looks every ten minutes for events that are too old. */
export function startEventPruning(app: Pruned & Pick<App, "log">): { close(): Promise<void> } {
  let isClosed = false
  let working = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  const later = (ms: number) => {
    if (isClosed) return
    timer = setTimeout(() => {
      working = work()
    }, ms).unref()
  }
  const work = async () => {
    try {
      later((await pruneSomeEvents(app)) ? PAUSE_MS : LOOK_INTERVAL_MS)
    } catch (error) {
      app.log.warn("old events could not be deleted", { error })
      later(LOOK_INTERVAL_MS)
    }
  }
  later(FIRST_LOOK_MS)
  return {
    async close() {
      isClosed = true
      clearTimeout(timer)
      await working
    },
  }
}
