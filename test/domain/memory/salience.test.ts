/** Owns the figures of salience: what users are told about half-lives, boosts and thresholds, in examples. */

import { describe, expect, test } from "vitest"
import { HALF_LIFE_DAYS_DEFAULT } from "../../../src/config/limits.ts"
import {
  REINFORCE_BOOSTS,
  REINFORCE_PROFILES,
  SECTORS,
  type Sector,
} from "../../../src/domain/memory/memory.ts"
import { freshSalience, reinforce, salienceAt, shownSalience } from "../../../src/domain/memory/salience.ts"

const DAY_MS = 24 * 3_600_000
const CREATED_MS = Date.UTC(2026, 0, 1)

/** Salience of a memory that many days after its creation. */
function salienceAfter(days: number, sector: Sector): number {
  return salienceAt(freshSalience(CREATED_MS), sector, HALF_LIFE_DAYS_DEFAULT, CREATED_MS + days * DAY_MS)
}

describe("fading", () => {
  test("a new memory has salience 1, whatever its sector", () => {
    expect(SECTORS.map((sector) => salienceAfter(0, sector))).toEqual([1, 1, 1, 1, 1])
  })

  test.each([
    ["episodic", 45],
    ["semantic", 140],
    ["procedural", 90],
    ["emotional", 60],
    ["reflective", 700],
  ] as const)("an %s memory has halved after %d days", (sector, days) => {
    expect(salienceAfter(days, sector)).toBeCloseTo(0.5, 12)
    expect(salienceAfter(2 * days, sector)).toBeCloseTo(0.25, 12)
  })

  test("half-lives are those of the configuration", () => {
    const halfLives = { ...HALF_LIFE_DAYS_DEFAULT, episodic: 2 }
    expect(salienceAt(freshSalience(0), "episodic", halfLives, 2 * DAY_MS)).toBeCloseTo(0.5, 12)
  })

  test("stability stretches the half-life", () => {
    const state = { base: 0.8, anchorMs: 0, stability: 2 }
    expect(salienceAt(state, "episodic", HALF_LIFE_DAYS_DEFAULT, 90 * DAY_MS)).toBeCloseTo(0.4, 12)
  })

  test("a time before the anchor counts as the anchor", () => {
    expect(salienceAfter(-30, "episodic")).toBe(1)
  })

  test("the longest time fades to 0 and not to something that is no number", () => {
    expect(salienceAfter(1e8, "episodic")).toBe(0)
  })
})

describe("reinforcing", () => {
  const halved = { base: 0.5, anchorMs: CREATED_MS, stability: 1 }

  test.each(REINFORCE_PROFILES)("%s adds its boost and says so", (profile) => {
    const result = reinforce(halved, "semantic", HALF_LIFE_DAYS_DEFAULT, profile, CREATED_MS)
    const boost = REINFORCE_BOOSTS[profile]
    expect(result.before).toBe(0.5)
    expect(result.after).toBeCloseTo(0.5 + boost, 12)
    expect(shownSalience(result.boostApplied)).toBe(boost)
    expect(result.state).toEqual({ base: result.after, anchorMs: CREATED_MS, stability: 1 + boost })
  })

  test("never goes beyond 1, and tells how much of the boost was applied", () => {
    const state = { base: 0.9, anchorMs: CREATED_MS, stability: 1 }
    const result = reinforce(state, "semantic", HALF_LIFE_DAYS_DEFAULT, "emergency", CREATED_MS)
    expect(result.after).toBe(1)
    expect(shownSalience(result.boostApplied)).toBe(0.1)
  })

  test("starts from the faded salience, at that time", () => {
    const result = reinforce(
      freshSalience(CREATED_MS),
      "episodic",
      HALF_LIFE_DAYS_DEFAULT,
      "maintenance",
      CREATED_MS + 45 * DAY_MS,
    )
    expect(result.before).toBeCloseTo(0.5, 12)
    expect(result.state.base).toBeCloseTo(0.6, 12)
    expect(result.state.anchorMs).toBe(CREATED_MS + 45 * DAY_MS)
    expect(result.state.stability).toBeCloseTo(1.1, 12)
  })

  test.each([
    ["quick_refresh", 1.025],
    ["emergency", 1.125],
  ] as const)("%s right after creation changes no salience, but slows its fading", (profile, stability) => {
    const fresh = freshSalience(CREATED_MS)
    const result = reinforce(fresh, "semantic", HALF_LIFE_DAYS_DEFAULT, profile, CREATED_MS)
    expect(result).toMatchObject({ before: 1, after: 1, boostApplied: 0 })
    expect(result.state.stability).toBeCloseTo(stability, 12)
  })

  test("a boost at salience 0 lengthens the half-life three times as much as one at salience 1", () => {
    const gain = (base: number) =>
      reinforce({ ...halved, base }, "semantic", HALF_LIFE_DAYS_DEFAULT, "maintenance", CREATED_MS).state
        .stability - 1
    expect(gain(0)).toBeCloseTo(3 * gain(1), 12)
  })

  test("the half-life ends at eight times its length", () => {
    const state = { base: 0.1, anchorMs: CREATED_MS, stability: 7.9 }
    const result = reinforce(state, "semantic", HALF_LIFE_DAYS_DEFAULT, "emergency", CREATED_MS)
    expect(result.state.stability).toBe(8)
  })

  test("a clock that was set back does not age the memory", () => {
    const result = reinforce(halved, "semantic", HALF_LIFE_DAYS_DEFAULT, "maintenance", CREATED_MS - DAY_MS)
    expect(result.state.anchorMs).toBe(CREATED_MS)
  })
})

describe("what is shown", () => {
  test("shown are four decimals", () => {
    expect([0.123449, 0.12345, 0.99996, 0.00004, 1].map(shownSalience)).toEqual([0.1234, 0.1235, 1, 0, 1])
  })
})
