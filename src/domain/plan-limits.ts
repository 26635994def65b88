/**
 * What a plan allows of each HTTP API: windows of requests, all of which must have room. The shortest one
 * is the bucket that responses tell of; its capacity is the plan's burst where it names one.
 */

import type { Rates } from "../limits.ts"
import type { Plan } from "./api-key.ts"
import { type Bucket, secondsUntil, takeFromBucket } from "./rate-limit.ts"

/** The APIs of the listener; coordination is not counted by plan. */
export type ApiName = "coordination" | "memory" | "documentation"

export interface RateWindow {
  /** The bucket's name in the store. */
  name: string
  /** Requests in one window. */
  capacity: number
  windowMs: number
  /** The limit in words, for refusals. */
  text: string
}

export type WindowsVerdict =
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

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/** Returns the windows that a plan's requests to an API are counted in, the shortest first; those at 0 are off. */
export function planWindows(rates: Rates, api: ApiName, plan: Plan): RateWindow[] {
  if (api === "coordination") return []
  const perMinute = perMinuteOf(rates, api, plan)
  const minute = { name: `${api}:minute`, windowMs: MINUTE_MS }
  if (api === "memory") return inForce([{ ...minute, capacity: perMinute, text: `${perMinute} per minute` }])
  const burst = rates[`documentation_${plan}_burst`]
  const perHour = rates[`documentation_${plan}_per_hour`]
  const perDay = rates[`documentation_${plan}_per_day`]
  return inForce([
    {
      ...minute,
      capacity: perMinute === 0 || burst === 0 ? perMinute : burst,
      text: `${perMinute} per minute${burst === 0 ? "" : `, ${burst} at once`}`,
    },
    { name: `${api}:hour`, windowMs: HOUR_MS, capacity: perHour, text: `${perHour} per hour` },
    { name: `${api}:day`, windowMs: DAY_MS, capacity: perDay, text: `${perDay} per day` },
  ])
}

/** Returns the figure per minute that responses name as the limit; 0 when it is off. */
export function perMinuteOf(rates: Rates, api: ApiName, plan: Plan): number {
  return api === "coordination" ? rates.tool_calls_per_minute : rates[`${api}_${plan}_per_minute`]
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
    const verdict = takeFromBucket(buckets[index], window.capacity, window.windowMs, nowMs)
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
    const verdict = takeFromBucket(buckets[index], window.capacity, window.windowMs, nowMs)
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
