/**
 * Rate limits as fixed windows: a bucket of `capacity` calls is refilled in one step each time
 * `windowMs` has passed since its first use.
 */

export interface Bucket {
  windowStartedAtMs: number
  used: number
}

type BucketVerdict = { allowed: true; bucket: Bucket } | { allowed: false; retryAfterSeconds: number }

/** Takes one call out of a bucket; `bucket` is undefined before its first use. A refused call takes nothing. */
export function takeFromBucket(
  bucket: Bucket | undefined,
  capacity: number,
  windowMs: number,
  nowMs: number,
): BucketVerdict {
  const current =
    bucket === undefined ? { windowStartedAtMs: nowMs, used: 0 } : refilled(bucket, windowMs, nowMs)
  if (current.used >= capacity) {
    return { allowed: false, retryAfterSeconds: secondsUntil(current.windowStartedAtMs + windowMs, nowMs) }
  }
  return { allowed: true, bucket: { windowStartedAtMs: current.windowStartedAtMs, used: current.used + 1 } }
}

/** Returns whole seconds until a time, at least 1. */
export function secondsUntil(timeMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((timeMs - nowMs) / 1_000))
}

function refilled(bucket: Bucket, windowMs: number, nowMs: number): Bucket {
  const windowsPassed = Math.floor((nowMs - bucket.windowStartedAtMs) / windowMs)
  // A clock that was set back must not lock anybody out until it has caught up.
  if (windowsPassed < 0) return { windowStartedAtMs: nowMs, used: 0 }
  if (windowsPassed === 0) return bucket
  return { windowStartedAtMs: bucket.windowStartedAtMs + windowsPassed * windowMs, used: 0 }
}
