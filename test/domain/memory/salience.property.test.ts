/** Holds salience to its laws for any state, sector, configuration, profile and time. */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { STABILITY_MAX } from "../../../src/config/limits.ts"
import {
  type HalfLives,
  REINFORCE_BOOSTS,
  REINFORCE_PROFILES,
  type SalienceState,
  SECTORS,
} from "../../../src/domain/memory/memory.ts"
import { reinforce, salienceAt, shownSalience } from "../../../src/domain/memory/salience.ts"

const DAY_MS = 24 * 3_600_000
const TOLERANCE = 1e-9

const unit = fc.double({ min: 0, max: 1, noNaN: true })
const timeMs = fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) })
/** Spans of all sizes, from a second to some three years. */
const spanMs = fc.oneof(
  fc.integer({ min: 0, max: 60_000 }),
  fc.integer({ min: 0, max: 90 * DAY_MS }),
  fc.integer({ min: 0, max: 1_000 * DAY_MS }),
)
const sector = fc.constantFrom(...SECTORS)
const profile = fc.constantFrom(...REINFORCE_PROFILES)
const days = fc.double({ min: 0.1, max: 3_650, noNaN: true })
const halfLives: fc.Arbitrary<HalfLives> = fc.record({
  episodic: days,
  semantic: days,
  procedural: days,
  emotional: days,
  reflective: days,
})
const state: fc.Arbitrary<SalienceState> = fc.record({
  base: unit,
  anchorMs: timeMs,
  stability: fc.double({ min: 1, max: STABILITY_MAX, noNaN: true }),
})

describe("fading", () => {
  test("salience is never outside 0 to 1, at any time before or after the anchor", () => {
    fc.assert(
      fc.property(state, sector, halfLives, timeMs, (memory, kind, lives, atMs) => {
        const salience = salienceAt(memory, kind, lives, atMs)
        expect(salience).toBeGreaterThanOrEqual(0)
        expect(salience).toBeLessThanOrEqual(1)
      }),
    )
  })

  test("waiting never raises it", () => {
    fc.assert(
      fc.property(state, sector, halfLives, timeMs, spanMs, (memory, kind, lives, atMs, waitMs) => {
        const later = salienceAt(memory, kind, lives, atMs + waitMs)
        expect(later).toBeLessThanOrEqual(salienceAt(memory, kind, lives, atMs))
      }),
    )
  })

  test("it is memoryless: stopping in between and going on from there changes nothing", () => {
    fc.assert(
      fc.property(state, sector, halfLives, spanMs, spanMs, (memory, kind, lives, firstMs, secondMs) => {
        const stopMs = memory.anchorMs + firstMs
        const stopped = { ...memory, base: salienceAt(memory, kind, lives, stopMs), anchorMs: stopMs }
        const inTwo = salienceAt(stopped, kind, lives, stopMs + secondMs)
        const atOnce = salienceAt(memory, kind, lives, stopMs + secondMs)
        expect(Math.abs(inTwo - atOnce)).toBeLessThanOrEqual(TOLERANCE)
      }),
    )
  })

  test("each stretched half-life halves it", () => {
    fc.assert(
      fc.property(state, sector, halfLives, fc.integer({ min: 0, max: 20 }), (memory, kind, lives, times) => {
        const atMs = memory.anchorMs + times * lives[kind] * memory.stability * DAY_MS
        const expected = memory.base * 0.5 ** times
        expect(Math.abs(salienceAt(memory, kind, lives, atMs) - expected)).toBeLessThanOrEqual(TOLERANCE)
      }),
    )
  })
})

describe("reinforcing", () => {
  test("never lowers, never exceeds 1, and tells before, after and the difference as they are", () => {
    fc.assert(
      fc.property(state, sector, halfLives, profile, timeMs, (memory, kind, lives, how, atMs) => {
        const { before, after, boostApplied, state: next } = reinforce(memory, kind, lives, how, atMs)
        expect(before).toBe(salienceAt(memory, kind, lives, atMs))
        expect(after).toBe(salienceAt(next, kind, lives, atMs))
        expect(after).toBeGreaterThanOrEqual(before)
        expect(after).toBeLessThanOrEqual(1)
        expect(boostApplied).toBe(after - before)
        expect(boostApplied).toBeLessThanOrEqual(REINFORCE_BOOSTS[how] + TOLERANCE)
      }),
    )
  })

  test("stability never falls and stays within 1 to 8", () => {
    fc.assert(
      fc.property(state, sector, halfLives, profile, timeMs, (memory, kind, lives, how, atMs) => {
        const { stability } = reinforce(memory, kind, lives, how, atMs).state
        expect(stability).toBeGreaterThanOrEqual(memory.stability)
        expect(stability).toBeLessThanOrEqual(STABILITY_MAX)
      }),
    )
  })

  test("helps at every later time: never is the salience lower than without", () => {
    fc.assert(
      fc.property(
        fc.tuple(state, sector, halfLives),
        profile,
        timeMs,
        spanMs,
        ([memory, kind, lives], how, atMs, laterMs) => {
          const reinforced = reinforce(memory, kind, lives, how, atMs).state
          const whenMs = atMs + laterMs
          const without = salienceAt(memory, kind, lives, whenMs)
          expect(salienceAt(reinforced, kind, lives, whenMs)).toBeGreaterThanOrEqual(without - TOLERANCE)
        },
      ),
    )
  })

  test("a stronger profile never gives less, at once or later", () => {
    const ranked = [...REINFORCE_PROFILES].sort((a, b) => REINFORCE_BOOSTS[a] - REINFORCE_BOOSTS[b])
    fc.assert(
      fc.property(state, sector, halfLives, timeMs, spanMs, (memory, kind, lives, atMs, laterMs) => {
        const saliences = ranked.map((how) =>
          salienceAt(reinforce(memory, kind, lives, how, atMs).state, kind, lives, atMs + laterMs),
        )
        expect(saliences).toEqual(saliences.toSorted((a, b) => a - b))
      }),
    )
  })

  test("the later a boost comes, the more it stretches the half-life", () => {
    fc.assert(
      fc.property(
        fc.tuple(state, sector, halfLives),
        profile,
        spanMs,
        spanMs,
        ([memory, kind, lives], how, earlyMs, extraMs) => {
          const stretchAt = (atMs: number) => reinforce(memory, kind, lives, how, atMs).state.stability
          const early = stretchAt(memory.anchorMs + earlyMs)
          expect(stretchAt(memory.anchorMs + earlyMs + extraMs)).toBeGreaterThanOrEqual(early)
        },
      ),
    )
  })

  test("boosts spread out stretch more than the same boosts at once", () => {
    fc.assert(
      fc.property(sector, halfLives, profile, fc.integer({ min: 2, max: 6 }), (kind, lives, how, times) => {
        const stretched = (pauseMs: number) => {
          let memory: SalienceState = { base: 1, anchorMs: 0, stability: 1 }
          for (let turn = 1; turn <= times; turn++) {
            memory = reinforce(memory, kind, lives, how, turn * pauseMs).state
          }
          return memory.stability
        }
        expect(stretched(lives[kind] * DAY_MS)).toBeGreaterThan(stretched(0))
      }),
    )
  })

  test("however often and whenever, the state stays one that can be stored", () => {
    const steps = fc.array(fc.tuple(profile, timeMs), { maxLength: 40 })
    fc.assert(
      fc.property(state, sector, halfLives, steps, (memory, kind, lives, reinforcements) => {
        let current = memory
        for (const [how, atMs] of reinforcements) current = reinforce(current, kind, lives, how, atMs).state
        expect(current.base).toBeGreaterThanOrEqual(0)
        expect(current.base).toBeLessThanOrEqual(1)
        expect(current.stability).toBeGreaterThanOrEqual(1)
        expect(current.stability).toBeLessThanOrEqual(STABILITY_MAX)
        expect(current.anchorMs).toBe(Math.max(memory.anchorMs, ...reinforcements.map(([, atMs]) => atMs)))
      }),
    )
  })
})

describe("what is shown and decided", () => {
  test("the shown value has at most four decimals, stays in 0 to 1 and is off by half a step at most", () => {
    fc.assert(
      fc.property(unit, (salience) => {
        const shown = shownSalience(salience)
        expect(Number(shown.toFixed(4))).toBe(shown)
        expect(shown).toBeGreaterThanOrEqual(0)
        expect(shown).toBeLessThanOrEqual(1)
        expect(Math.abs(shown - salience)).toBeLessThanOrEqual(0.00005 + TOLERANCE)
      }),
    )
  })

  test("showing keeps the order", () => {
    fc.assert(
      fc.property(unit, unit, (one, other) => {
        const [low, high] = one <= other ? [one, other] : [other, one]
        expect(shownSalience(low)).toBeLessThanOrEqual(shownSalience(high))
      }),
    )
  })
})
