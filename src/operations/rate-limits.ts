/**
 * Counts calls against the limits of their key, in the database, so that all processes that ever serve a key
 * share the count; and tells what is left.
 */

import { RATES_DEFAULT } from "../config/limits.ts"
import type { Queries } from "../db/database.ts"
import type { ApiKey } from "../domain/api-key.ts"
import {
  type Counted,
  perMinuteOf,
  type RateState,
  type RateWindow,
  rateState,
  takeFromWindows,
  windowsOf,
} from "../domain/plan-limits.ts"
import type { Bucket } from "../domain/rate-limit.ts"
import { DAY_MS } from "../domain/time-units.ts"
import { AppError } from "../errors.ts"
import { findBucket, putBucket, removeStaleBuckets } from "../store/rate-limits.ts"
import type { App } from "./app.ts"

/**
 * Counts a call as each of the kinds given, or as none of them: fails with `rate_limited` at the first that has no
 * room, which takes nothing.
 */
export async function countCall(app: App, key: ApiKey, kinds: readonly Counted[]): Promise<void> {
  const limits = kinds.map((kind) => windowsOf(app.config.rates, kind, key.plan))
  const inForce = limits.filter((windows) => windows.length > 0)
  if (inForce.length === 0) return
  const subject = subjectOf(app, key)
  await app.db.transaction(`rate:${subject}`, async (tx) => {
    const nowMs = app.now()
    for (const windows of inForce) {
      const known = await bucketsOf(tx, subject, windows)
      // No window is longer than a day, and by then the bucket of a minute has long been refilled.
      if (known.includes(undefined)) await removeStaleBuckets(tx, nowMs - DAY_MS)
      const verdict = takeFromWindows(windows, known, nowMs)
      if (!verdict.allowed)
        throw rateLimited(`${verdict.refusing.text} per API key`, verdict.retryAfterSeconds)
      for (const [index, bucket] of verdict.buckets.entries())
        await putBucket(tx, subject, windows[index]?.name ?? "", bucket)
    }
  })
}

/**
 * Returns what is left for a key of a kind of calls, without counting anything. Without a valid key it is what
 * plan starter begins with; a rate that is switched off shows its default, always full.
 */
export async function rateStateOf(app: App, key: ApiKey | undefined, kind: Counted): Promise<RateState> {
  const { rates } = app.config
  const plan = key?.plan ?? "starter"
  const limit = perMinuteOf(rates, kind, plan) || perMinuteOf(RATES_DEFAULT, kind, plan)
  if (key === undefined) return rateState(limit, [], [], app.now())
  const windows = windowsOf(rates, kind, plan)
  const buckets = await bucketsOf(app.db, subjectOf(app, key), windows)
  return rateState(limit, windows, buckets, app.now())
}

/** All clients on this machine share the local key, so a runaway server would starve all others. */
function subjectOf(app: App, key: ApiKey): string {
  return key.isLocal ? `local:${app.processName}` : `key:${key.id}`
}

function bucketsOf(
  db: Queries,
  subject: string,
  windows: readonly RateWindow[],
): Promise<(Bucket | undefined)[]> {
  return Promise.all(windows.map(({ name }) => findBucket(db, subject, name)))
}

/** Returns the error of a caller that calls too often. */
export function rateLimited(limit: string, retryAfterSeconds: number): AppError {
  return new AppError("rate_limited", `rate limit exceeded: ${limit}`, {
    hint: `Try again in ${retryAfterSeconds} s.`,
    retryAfterSeconds,
  })
}
