/** Vectors in few bytes: what is kept of their direction, and how near the cosines stay. */

import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { cosineInt8, cosineOf, toBits, toInt8 } from "../../src/domain/quantise.ts"

const component = fc.float({ min: -1, max: 1, noNaN: true })
const vector = (length: number) =>
  fc.float32Array({ minLength: length, maxLength: length, min: -1, max: 1, noNaN: true })

/** Vectors that are not nearly zero, so that their direction is a fact. */
const direction = vector(64).filter((x) => x.some((value) => Math.abs(value) > 1e-3))

function exactCosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const product = (x: ArrayLike<number>, y: ArrayLike<number>) =>
    Array.from(x).reduce((sum, value, i) => sum + value * (y[i] ?? Number.NaN), 0)
  return product(a, b) / Math.sqrt(product(a, a) * product(b, b))
}

describe("whole numbers of one byte", () => {
  it("reach 127 at the component largest in size, and are rounded", () => {
    expect(toInt8(Float32Array.of(0.5, -0.25, 0, 0.001))).toEqual(Int8Array.of(127, -63, 0, 0))
    expect(toInt8(Float32Array.of(-2, 1.1))).toEqual(Int8Array.of(-127, 70))
  })

  it("are zeros for zeros, and none for none", () => {
    expect(toInt8(new Float32Array(3))).toEqual(new Int8Array(3))
    expect(toInt8(new Float32Array())).toEqual(new Int8Array())
  })

  it("differ from the scaled vector by half a step at most", () => {
    fc.assert(
      fc.property(direction, (x) => {
        const step = x.reduce((max, value) => Math.max(max, Math.abs(value)), 0) / 127
        for (const [i, whole] of toInt8(x).entries()) {
          expect(Math.abs(whole - (x[i] ?? Number.NaN) / step)).toBeLessThanOrEqual(0.5001)
        }
      }),
    )
  })

  it("do not depend on the length of the vector", () => {
    fc.assert(
      fc.property(direction, (x) => {
        expect(toInt8(x.map((value) => value * 4))).toEqual(toInt8(x))
      }),
    )
  })
})

describe("bits", () => {
  it("are 1 above 0, lowest first, eight to a byte", () => {
    expect(toBits(Float32Array.of(1, -1, 0, 0.1, -0, 0, 0, 5, 0.2))).toEqual(Uint8Array.of(0b1000_1001, 1))
  })

  it("of a vector are those of its components, and zeros behind the last", () => {
    fc.assert(
      fc.property(fc.array(component, { maxLength: 40 }), (components) => {
        const bits = toBits(Float32Array.from(components))
        expect(bits).toHaveLength(Math.ceil(components.length / 8))
        for (let i = 0; i < bits.length * 8; i++) {
          expect(((bits[i >> 3] ?? 0) >> (i & 7)) & 1).toBe((components[i] ?? 0) > 0 ? 1 : 0)
        }
      }),
    )
  })
})

describe("the cosine", () => {
  it("is that of what is stored, exactly", () => {
    fc.assert(
      fc.property(direction, direction, (x, y) => {
        const [a, b] = [toInt8(x), toInt8(y)]
        expect(cosineInt8(a, b)).toBeCloseTo(exactCosine(a, b), 12)
        expect(cosineOf(x, b)).toBeCloseTo(exactCosine(x, b), 12)
      }),
    )
  })

  it("of two stored vectors is the same both ways, and 1 with itself and -1 with the opposite", () => {
    fc.assert(
      fc.property(direction, direction, (x, y) => {
        const [a, b] = [toInt8(x), toInt8(y)]
        expect(cosineInt8(a, b)).toBe(cosineInt8(b, a))
        expect(cosineInt8(a, a)).toBeCloseTo(1, 12)
        expect(
          cosineInt8(
            a,
            a.map((value) => -value),
          ),
        ).toBeCloseTo(-1, 12)
      }),
    )
  })

  it("stays within 0.08 of that of the vectors, whatever these are", () => {
    // Rounding 64 components by half a step moves a vector by 4 steps of the 127 or more it is long: 0.0315.
    fc.assert(
      fc.property(direction, direction, (x, y) => {
        expect(Math.abs(cosineInt8(toInt8(x), toInt8(y)) - exactCosine(x, y))).toBeLessThan(0.08)
        expect(Math.abs(cosineOf(x, toInt8(y)) - exactCosine(x, y))).toBeLessThan(0.04)
      }),
    )
  })

  it("does not depend on how long the query is", () => {
    expect(cosineOf(Float32Array.of(3, 4), Int8Array.of(30, 40))).toBeCloseTo(1, 12)
    expect(cosineOf(Float32Array.of(0.03, 0.04), Int8Array.of(-40, 30))).toBe(0)
  })

  it("never leaves -1 to 1, and is 0 with zeros", () => {
    fc.assert(
      fc.property(vector(16), vector(16), (x, y) => {
        for (const cosine of [cosineInt8(toInt8(x), toInt8(y)), cosineOf(x, toInt8(y))]) {
          expect(Math.abs(cosine)).toBeLessThanOrEqual(1)
        }
      }),
    )
    expect(cosineInt8(new Int8Array(2), Int8Array.of(1, 2))).toBe(0)
    expect(cosineOf(new Float32Array(2), Int8Array.of(1, 2))).toBe(0)
  })

  it("is refused for vectors of two lengths", () => {
    expect(() => cosineInt8(new Int8Array(2), new Int8Array(3))).toThrow("vectors of 2 and 3 dimensions")
    expect(() => cosineOf(new Float32Array(3), new Int8Array(2))).toThrow(RangeError)
  })
})
