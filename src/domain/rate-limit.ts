/**
 * Rate limits as buckets that are refilled in steps: of a bucket's `capacity` calls `refill` come back each time
 * `windowMs` has passed since its first use. Where it is refilled whole, the steps are windows.
 */

export interface Bucket {
  /** When it was refilled last, or first used. */
  windowStartedAtMs: number
  /** Of its capacity. */
  used: number
}

export interface BucketRule {
  capacity: number
  /** Calls that come back in one step. */
  refill: number
  windowMs: number
}

type BucketVerdict = { allowed: true; bucket: Bucket } | { allowed: false; retryAfterSeconds: number }

/** Takes one call out of a bucket; `bucket` is undefined before its first use. A refused call takes nothing. */
export function takeFromBucket(bucket: Bucket | undefined, rule: BucketRule, nowMs: number): BucketVerdict {
  const { capacity, windowMs } = rule
  const current = bucket === undefined ? { windowStartedAtMs: nowMs, used: 0 } : refilled(bucket, rule, nowMs)
  if (current.used >= capacity) {
    return { allowed: false, retryAfterSeconds: secondsUntil(current.windowStartedAtMs + windowMs, nowMs) }
  }
  return { allowed: true, bucket: { windowStartedAtMs: current.windowStartedAtMs, used: current.used + 1 } }
}

/** Returns whole seconds until a time, at least 1. */
export function secondsUntil(timeMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((timeMs - nowMs) / 1_000))
}

function refilled(bucket: Bucket, { capacity, refill, windowMs }: BucketRule, nowMs: number): Bucket {
  const windowsPassed = Math.floor((nowMs - bucket.windowStartedAtMs) / windowMs)
  // A clock that was set back must not lock anybody out until it has caught up.
  if (windowsPassed < 0) return { windowStartedAtMs: nowMs, used: 0 }
  if (windowsPassed === 0) return bucket
  return {
    windowStartedAtMs: bucket.windowStartedAtMs + windowsPassed * windowMs,
    // Settings may have made the bucket smaller since.
    used: Math.max(0, Math.min(capacity, bucket.used) - windowsPassed * refill),
  }
}
