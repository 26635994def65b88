/**
 * Counts requests to the HTTP APIs against the plan of their key, in the database, so that all listeners
 * that ever serve a key share the count; and tells what is left.
 */

import type { Queries } from "../db/database.ts"
import type { ApiKey } from "../domain/api-key.ts"
import {
  type ApiName,
  perMinuteOf,
  planWindows,
  type RateState,
  type RateWindow,
  rateState,
  takeFromWindows,
} from "../domain/plan-limits.ts"
import type { Bucket } from "../domain/rate-limit.ts"
import { RATES_DEFAULT } from "../limits.ts"
import { findBucket, putBucket } from "../store/rate-limits.ts"
import { rateLimited } from "./admission.ts"
import type { App } from "./app.ts"

const MINUTE_MS = 60_000
/** The bucket that admission counts tool calls in: what the coordination API tells of. */
const TOOL_CALLS = "tool_calls"

/** Takes one request out of a key's windows for an API; fails with `rate_limited`, which takes nothing. */
export async function countRequest(app: App, key: ApiKey, api: ApiName): Promise<void> {
  const windows = planWindows(app.config.rates, api, key.plan)
  if (windows.length === 0) return
  const subject = subjectOf(app, key)
  await app.db.transaction(`rate:${subject}`, async (tx) => {
    const verdict = takeFromWindows(windows, await bucketsOf(tx, subject, windows), app.now())
    if (!verdict.allowed)
      throw rateLimited(`${api} requests, ${verdict.refusing.text} per API key`, verdict.retryAfterSeconds)
    for (const [index, bucket] of verdict.buckets.entries())
      await putBucket(tx, subject, windows[index]?.name ?? "", bucket)
  })
}

/**
 * Returns what is left for a key at an API, without counting anything. Without a valid key it is what
 * plan starter begins with; a rate that is switched off shows its default, always full.
 */
export async function rateStateOf(app: App, key: ApiKey | undefined, api: ApiName): Promise<RateState> {
  const { rates } = app.config
  const plan = key?.plan ?? "starter"
  const limit = perMinuteOf(rates, api, plan) || perMinuteOf(RATES_DEFAULT, api, plan)
  if (key === undefined) return rateState(limit, [], [], app.now())
  const windows =
    api === "coordination" ? toolCallWindow(rates.tool_calls_per_minute) : planWindows(rates, api, plan)
  const buckets = await bucketsOf(app.db, subjectOf(app, key), windows)
  return rateState(limit, windows, buckets, app.now())
}

function toolCallWindow(capacity: number): RateWindow[] {
  return capacity === 0 ? [] : [{ name: TOOL_CALLS, capacity, windowMs: MINUTE_MS, text: "" }]
}

/** Everybody on this machine shares the local key, so each server process has windows of its own. */
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
