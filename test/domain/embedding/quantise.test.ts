/** Vectors in few bytes: what is kept of their direction, and how near the cosines stay. */

import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { differingBits, toBits, toInt8 } from "../../../src/domain/embedding/quantise.ts"
import { cosine } from "../../support/vectors.ts"

const component = fc.float({ min: -1, max: 1, noNaN: true })
const vector = (length: number) =>
  fc.float32Array({ minLength: length, maxLength: length, min: -1, max: 1, noNaN: true })

/** Vectors that are not nearly zero, so that their direction is a fact. */
const direction = vector(64).filter((x) => x.some((value) => Math.abs(value) > 1e-3))

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

describe("the cosine of two vectors in whole numbers", () => {
  it("stays within 0.08 of that of the vectors, whatever these are", () => {
    // Rounding 64 components by half a step moves a vector by 4 steps of the 127 or more it is long: 0.0315.
    fc.assert(
      fc.property(direction, direction, (x, y) => {
        expect(Math.abs(cosine(toInt8(x), toInt8(y)) - cosine(x, y))).toBeLessThan(0.08)
      }),
    )
  })
})

it("counts the signs in which two differ, from any place on", () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(0xffffffff), { minLength: 2, maxLength: 8 }),
      fc.nat(0xffffffff),
      (words, other) => {
        const ones = (value: number) => value.toString(2).replaceAll("0", "").length
        const expected = ones(((words[1] ?? 0) ^ other) >>> 0)
        expect(differingBits(Uint32Array.from(words), 1, Uint32Array.of(other))).toBe(expected)
      },
    ),
  )
})
