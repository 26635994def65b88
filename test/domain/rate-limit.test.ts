/** Owns the law of buckets: how many calls fit, when they are there again, and what a refusal says. */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { type Bucket, secondsUntil, takeFromBucket } from "../../src/domain/rate-limit.ts"

const MINUTE_MS = 60_000
const START_MS = 1_000_000

/** Takes calls at the given times; returns for each whether it was allowed. */
function takeAt(times: readonly number[], capacity: number, refill = capacity): boolean[] {
  let bucket: Bucket | undefined
  return times.map((nowMs) => {
    const verdict = takeFromBucket(bucket, { capacity, refill, windowMs: MINUTE_MS }, nowMs)
    if (verdict.allowed) bucket = verdict.bucket
    return verdict.allowed
  })
}

/** A bucket that is refilled whole each minute. */
const whole = (capacity: number) => ({ capacity, refill: capacity, windowMs: MINUTE_MS })

describe("a bucket", () => {
  test("gives its capacity and no more", () => {
    expect(takeAt([START_MS, START_MS, START_MS], 2)).toEqual([true, true, false])
  })

  test("is full again one window after its first use, in one step", () => {
    const end = START_MS + MINUTE_MS
    expect(takeAt([START_MS, end - 1, end - 1, end, end, end], 2)).toEqual([
      true,
      true,
      false,
      true,
      true,
      false,
    ])
  })

  test("that holds more than a step adds gets that step each window, up to its capacity", () => {
    const at = (minutes: number) => START_MS + minutes * MINUTE_MS
    const rule = { capacity: 5, refill: 2, windowMs: MINUTE_MS }
    const leftAfter = (used: number, minutes: number) => {
      const verdict = takeFromBucket({ windowStartedAtMs: START_MS, used }, rule, at(minutes))
      return verdict.allowed ? rule.capacity - verdict.bucket.used + 1 : 0
    }
    expect([0, 1, 2, 3, 4].map((minutes) => leftAfter(5, minutes))).toEqual([0, 2, 4, 5, 5])
    expect(leftAfter(1, 1)).toBe(5)
    expect(takeAt([at(0), at(0), at(0), at(0), at(0), at(0)], 5, 2)).toEqual([...Array(5).fill(true), false])
    expect(takeAt([...Array(5).fill(at(0)), at(1) - 1, at(1), at(1), at(1)], 5, 2).slice(5)).toEqual([
      ...[false, true, true, false],
    ])
  })

  test("that settings made smaller is full, not beyond", () => {
    const rule = { capacity: 2, refill: 2, windowMs: MINUTE_MS }
    const full = { windowStartedAtMs: START_MS, used: 100 }
    expect(takeFromBucket(full, rule, START_MS).allowed).toBe(false)
    expect(takeFromBucket(full, rule, START_MS + MINUTE_MS).allowed).toBe(true)
  })

  test("counts its windows from its first use, after a pause too", () => {
    const later = START_MS + 10 * MINUTE_MS + 30_000
    const verdict = takeFromBucket({ windowStartedAtMs: START_MS, used: 2 }, whole(2), later)
    expect(verdict).toEqual({
      allowed: true,
      bucket: { windowStartedAtMs: START_MS + 10 * MINUTE_MS, used: 1 },
    })
  })

  test("tells the seconds until it is full again, rounded up, at least one", () => {
    const full = { windowStartedAtMs: START_MS, used: 1 }
    const retry = (passedMs: number) => takeFromBucket(full, whole(1), START_MS + passedMs)
    expect(retry(0)).toEqual({ allowed: false, retryAfterSeconds: 60 })
    expect(retry(1)).toEqual({ allowed: false, retryAfterSeconds: 60 })
    expect(retry(1_000)).toEqual({ allowed: false, retryAfterSeconds: 59 })
    expect(retry(59_999)).toEqual({ allowed: false, retryAfterSeconds: 1 })
    expect(secondsUntil(START_MS, START_MS)).toBe(1)
  })

  test("does not lock anybody out when the clock is set back", () => {
    const verdict = takeFromBucket(
      { windowStartedAtMs: START_MS, used: 1 },
      whole(1),
      START_MS - MINUTE_MS * 60,
    )
    expect(verdict.allowed).toBe(true)
  })

  test("never gives more than its capacity in any window, and nothing is lost by asking", () => {
    const steps = fc.array(fc.nat({ max: 30_000 }), { maxLength: 100 })
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 5 }), (gaps, capacity) => {
        let nowMs = START_MS
        const times = gaps.map((gap, index) => (nowMs += index === 0 ? 0 : gap))
        const allowed = takeAt(times, capacity)
        const window = (time: number) => Math.floor((time - START_MS) / MINUTE_MS)
        const asked = new Map<number, number>()
        const expected = times.map((time) => {
          const before = asked.get(window(time)) ?? 0
          asked.set(window(time), before + 1)
          return before < capacity
        })
        expect(allowed).toEqual(expected)
      }),
    )
  })
})
