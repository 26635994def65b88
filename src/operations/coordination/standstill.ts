/** Where agents stand in each other's way: what was blocked in the last hour, and who waits for files. */

import { LISTING_ROWS_MAX } from "../../config/limits.ts"
import { HOUR_MS } from "../../domain/time-units.ts"
import { type BlockedEvent, listBlockedSince } from "../../store/coordination/blocked.ts"
import { listWaits, type Wait } from "../../store/coordination/waits.ts"
import type { App } from "../app.ts"
import { isGone } from "./queue.ts"

/** What one agent was kept from, as often as it was told: at most once a minute. */
export interface Blocked extends Omit<BlockedEvent, "atMs"> {
  times: number
  latestMs: number
}

export interface Standstill {
  /** The latest first. */
  blocked: readonly Blocked[]
  /** The longest first. */
  waiting: readonly Wait[]
}

/** Returns what was blocked in the last hour, of the latest 1,000 times, and who waits for files now. */
export async function standstillNow({ db, now }: App): Promise<Standstill> {
  const nowMs = now()
  const blocked = new Map<string, Blocked>()
  // The latest comes first, so it says who stood in the way last.
  for (const { atMs, ...event } of await listBlockedSince(db, nowMs - HOUR_MS, LISTING_ROWS_MAX)) {
    const key = JSON.stringify([event.isEdit, event.who, event.repository, event.path])
    const known = blocked.get(key)
    if (known === undefined) blocked.set(key, { ...event, times: 1, latestMs: atMs })
    else known.times += 1
  }
  const waiting = (await listWaits(db)).filter((wait) => wait.reservationId === null && !isGone(wait, nowMs))
  return { blocked: [...blocked.values()], waiting }
}
