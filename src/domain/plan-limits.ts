/**
 * What a key may call how often: one bucket per key and API, which holds the plan's burst, or a minute's figure where
 * it names none, and gets that figure back each minute; beside it hours and days as windows. All must have room.
 */

import type { Rates } from "../config/limits.ts"
import type { Plan } from "./api-key.ts"
import { type Bucket, type BucketRule, secondsUntil, takeFromBucket } from "./rate-limit.ts"
import { DAY_MS, HOUR_MS, MINUTE_MS } from "./time-units.ts"

/** The APIs of the listener; requests to coordination are not counted by plan. */
export type ApiName = "coordination" | "memory" | "documentation"

/** What a call may count as: for every plan alike, or as a request to an API, by the key's plan. */
export type Counted = keyof typeof CALLS | Exclude<ApiName, "coordination">

/** The calls that are limited for all plans alike, with the words that a refusal uses. */
const CALLS = {
  tool_calls: { rate: "tool_calls_per_minute", unit: "tool calls" },
  resource_reads: { rate: "resource_reads_per_minute", unit: "resource reads" },
  searches: { rate: "searches_per_minute", unit: "searches" },
  reservations: { rate: "reservations_per_minute", unit: "requests on reservations and events" },
} as const satisfies Record<string, { rate: keyof Rates; unit: string }>

export interface RateWindow extends BucketRule {
  /** The bucket's name in the store. */
  name: string
  /** The limit in words, for refusals. */
  text: string
}

type WindowsVerdict =
  | { allowed: true; buckets: Bucket[] }
  | { allowed: false; refusing: RateWindow; retryAfterSeconds: number }

/** What a response's headers tell. */
export interface RateState {
  /** Requests per minute. */
  limit: number
  /** Requests that would be allowed now, at most `limit`. */
  remaining: number
  /** When that grows again, milliseconds since 1970. */
  resetMs: number
}

/** Returns the bucket that calls of a kind are counted in, and the windows after it; those at 0 are off. */
export function windowsOf(rates: Rates, kind: Counted, plan: Plan): RateWindow[] {
  if (kind === "memory" || kind === "documentation") return planWindows(rates, kind, plan)
  const { rate, unit } = CALLS[kind]
  const capacity = rates[rate]
  return inForce([
    { name: kind, ...whole(capacity), windowMs: MINUTE_MS, text: `${capacity} ${unit} per minute` },
  ])
}

function planWindows(rates: Rates, api: "memory" | "documentation", plan: Plan): RateWindow[] {
  const perMinute = perMinuteOf(rates, api, plan)
  const minute = { name: `${api}:minute`, windowMs: MINUTE_MS }
  const requests = (limit: string) => `${api} requests, ${limit}`
  if (api === "memory")
    return inForce([{ ...minute, ...whole(perMinute), text: requests(`${perMinute} per minute`) }])
  const burst = rates[`documentation_${plan}_burst`]
  const perHour = rates[`documentation_${plan}_per_hour`]
  const perDay = rates[`documentation_${plan}_per_day`]
  return inForce([
    {
      ...minute,
      capacity: perMinute === 0 || burst === 0 ? perMinute : burst,
      refill: perMinute,
      text: requests(`${perMinute} per minute${burst === 0 ? "" : `, ${burst} at once`}`),
    },
    { name: `${api}:hour`, windowMs: HOUR_MS, ...whole(perHour), text: requests(`${perHour} per hour`) },
    { name: `${api}:day`, windowMs: DAY_MS, ...whole(perDay), text: requests(`${perDay} per day`) },
  ])
}

/** A bucket that is refilled whole. */
function whole(capacity: number): Pick<BucketRule, "capacity" | "refill"> {
  return { capacity, refill: capacity }
}

/** Returns the figure per minute that responses name as the limit; 0 when it is off. */
export function perMinuteOf(rates: Rates, kind: Counted, plan: Plan): number {
  return kind === "memory" || kind === "documentation"
    ? rates[`${kind}_${plan}_per_minute`]
    : rates[CALLS[kind].rate]
}

/**
 * Takes one request out of every window, or out of none when one of them is used up; then the one that
 * refuses longest says when to try again. `buckets` stand in the order of `windows`.
 */
export function takeFromWindows(
  windows: readonly RateWindow[],
  buckets: readonly (Bucket | undefined)[],
  nowMs: number,
): WindowsVerdict {
  const taken: Bucket[] = []
  let refusal: Extract<WindowsVerdict, { allowed: false }> | undefined
  for (const [index, window] of windows.entries()) {
    const verdict = takeFromBucket(buckets[index], window, nowMs)
    if (verdict.allowed) taken.push(verdict.bucket)
    else if (refusal === undefined || verdict.retryAfterSeconds > refusal.retryAfterSeconds)
      refusal = { allowed: false, refusing: window, retryAfterSeconds: verdict.retryAfterSeconds }
  }
  return refusal ?? { allowed: true, buckets: taken }
}

/**
 * Returns what is left of an API's windows. The reset is the shortest window's next refill, unless a longer
 * one is used up: then that one's, since nothing is allowed before.
 */
export function rateState(
  limit: number,
  windows: readonly RateWindow[],
  buckets: readonly (Bucket | undefined)[],
  nowMs: number,
): RateState {
  let remaining = limit
  let resetMs = nowMs + (windows[0]?.windowMs ?? MINUTE_MS)
  for (const [index, window] of windows.entries()) {
    const verdict = takeFromBucket(buckets[index], window, nowMs)
    if (!verdict.allowed) {
      const refillMs = nowMs + 1_000 * verdict.retryAfterSeconds
      resetMs = remaining === 0 ? Math.max(resetMs, refillMs) : refillMs
      remaining = 0
      continue
    }
    remaining = Math.min(remaining, window.capacity - verdict.bucket.used + 1)
    if (index === 0) resetMs = verdict.bucket.windowStartedAtMs + window.windowMs
  }
  return { limit, remaining, resetMs }
}

/** Returns the whole epoch second at which a state resets, never one that has passed. */
export function resetSecond(state: RateState, nowMs: number): number {
  return Math.floor(nowMs / 1_000) + secondsUntil(state.resetMs, nowMs)
}

function inForce(windows: RateWindow[]): RateWindow[] {
  return windows.filter(({ capacity }) => capacity > 0)
}
