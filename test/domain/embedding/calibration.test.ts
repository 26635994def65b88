/** Owns the law of calibration: where unrelated, related and equal texts come out, whatever the model. */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { calibrate, quantile } from "../../../src/domain/embedding/calibration.ts"
import { similarityOf } from "../../../src/domain/embedding/similarity.ts"

const cosine = fc.double({ min: -1, max: 1, noNaN: true })
const cosines = fc.array(cosine, { minLength: 1, maxLength: 60 })

const topOf = (unrelated: readonly number[]) => quantile(unrelated, 0.99) ?? Number.NaN
const middleOf = (related: readonly number[]) => quantile(related, 0.5) ?? Number.NaN

describe("a calibration", () => {
  test("of a model that spreads its cosines puts unrelated, related and equal texts where they belong", () => {
    const calibration = calibrate([-0.05, 0, 0.1, 0.2, 0.3], [0.5, 0.6, 0.7])
    expect(similarityOf(0.3, calibration)).toBeLessThan(0.5)
    expect(similarityOf(0.6, calibration)).toBeGreaterThanOrEqual(0.75 - 1e-9)
    expect(similarityOf(0.6, calibration)).toBeLessThan(0.85)
    expect(similarityOf(1, calibration)).toBeGreaterThanOrEqual(0.98)
  })

  test("of a model that gives everything high cosines does so too", () => {
    const calibration = calibrate([0.7, 0.72, 0.75, 0.78], [0.85, 0.87, 0.9])
    expect(similarityOf(0.77, calibration)).toBeLessThan(0.5)
    expect(similarityOf(0.87, calibration)).toBeCloseTo(0.75, 1)
    expect(similarityOf(1, calibration)).toBeGreaterThanOrEqual(0.98)
  })

  test("keeps the 99th percentile of unrelated pairs below 0.5, related ones or not", () => {
    fc.assert(
      fc.property(cosines, cosines, (unrelated, related) => {
        fc.pre(topOf(unrelated) < 0.99)
        expect(similarityOf(topOf(unrelated), calibrate(unrelated, related))).toBeLessThan(0.5)
      }),
    )
  })

  test("takes the median of related pairs to at least 0.75 when it stands clear of the unrelated", () => {
    const between = (min: number, max: number) =>
      fc.array(fc.double({ min, max, noNaN: true }), { minLength: 1, maxLength: 60 })
    fc.assert(
      fc.property(between(-1, 0.5), between(0.55, 1), (unrelated, related) => {
        const similarity = similarityOf(middleOf(related), calibrate(unrelated, related))
        expect(similarity).toBeGreaterThanOrEqual(0.75 - 1e-9)
      }),
    )
  })

  test("takes cosine 1 to at least 0.98 and is bounded, whatever it is given", () => {
    const anything = fc.array(fc.double(), { maxLength: 30 })
    fc.assert(
      fc.property(anything, anything, (unrelated, related) => {
        const calibration = calibrate(unrelated, related)
        expect(similarityOf(1, calibration)).toBeGreaterThanOrEqual(0.98 - 1e-9)
        expect(calibration.midpoint).toBeGreaterThan(-1)
        expect(calibration.midpoint).toBeLessThan(1)
        expect(calibration.slope).toBeGreaterThan(1)
        expect(calibration.slope).toBeLessThanOrEqual(2_200)
      }),
      {
        examples: [
          [[1], [1]],
          [[1, 1], [-1]],
          [[-1], [1]],
          [[Number.NaN], [0.5]],
        ],
      },
    )
  })

  test("does not depend on the order of the pairs", () => {
    fc.assert(
      fc.property(cosines, cosines, (unrelated, related) => {
        const turned = calibrate(unrelated.toReversed(), related.toReversed())
        expect(turned).toEqual(calibrate(unrelated, related))
      }),
    )
  })

  test("of nothing at all is a moderate one", () => {
    const calibration = calibrate([], [])
    expect(similarityOf(0.5, calibration)).toBe(0.5)
    expect(calibrate([0.3], [])).toEqual(calibration)
    expect(calibrate([], [0.3])).toEqual(calibration)
  })
})

describe("a quantile", () => {
  test("lies between two values by proportion", () => {
    expect(quantile([0.4, 0, 0.2], 0.5)).toBe(0.2)
    expect(quantile([0, 0.2], 0.25)).toBeCloseTo(0.05)
    expect(quantile([0.1], 0.99)).toBe(0.1)
    expect(quantile([], 0.5)).toBeNull()
  })
})
