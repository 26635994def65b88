import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  clearDense,
  DENSE_BLOCK_SLOTS,
  type DenseBlock,
  denseBlockOf,
  emptyDenseBlock,
  isEmptyDense,
  nearestDense,
  putDense,
} from "../../src/search/dense-bits.ts"

interface Numbered {
  number: number
  bits: Uint8Array
}

const NUMBER_MAX = 3 * DENSE_BLOCK_SLOTS

const numbered = (bytes: number) =>
  fc.uniqueArray(
    fc.record({
      number: fc.integer({ min: 1, max: NUMBER_MAX }),
      bits: fc.uint8Array({ minLength: bytes, maxLength: bytes }),
    }),
    { selector: ({ number }) => number, maxLength: 40 },
  )

function blocksOf(all: readonly Numbered[], bytes: number): DenseBlock[] {
  const blocks = new Map<number, Uint8Array>()
  for (const { number, bits } of all) {
    const block = blocks.get(denseBlockOf(number)) ?? emptyDenseBlock(bytes)
    blocks.set(denseBlockOf(number), block)
    putDense(block, number, bits)
  }
  return Array.from(blocks, ([blockNo, bits]) => ({ blockNo, bits }))
}

/** Bits that are all zeros are kept as ones with the lowest set. */
function kept(bits: Uint8Array): Uint8Array {
  return bits.every((byte) => byte === 0) ? bits.with(0, 1) : bits
}

function distance(one: Uint8Array, other: Uint8Array): number {
  return one.reduce(
    (sum, byte, at) => sum + (byte ^ (other[at] ?? 0)).toString(2).replaceAll("0", "").length,
    0,
  )
}

/** What sorting all gives. */
function sorted(all: readonly Numbered[], bits: Uint8Array, limit: number): number[] {
  return [...all]
    .sort(
      (one, other) =>
        distance(kept(one.bits), bits) - distance(kept(other.bits), bits) || other.number - one.number,
    )
    .slice(0, limit)
    .map(({ number }) => number)
}

const ascending = (numbers: readonly number[]) => [...numbers].sort((one, other) => one - other)
const everything = new Uint8Array(NUMBER_MAX + 1).fill(1)

describe("the nearest numbers of dense blocks", () => {
  test.each([3, 4, 32])("with %i bytes each are those that sorting all gives", (bytes) => {
    const query = fc.uint8Array({ minLength: bytes, maxLength: bytes })
    fc.assert(
      fc.property(numbered(bytes), query, fc.integer({ min: 1, max: 50 }), (all, bits, limit) => {
        const found = nearestDense(blocksOf(all, bytes), bits, everything, limit)
        expect(ascending(found)).toEqual(ascending(sorted(all, bits, limit)))
      }),
    )
  })

  test("are those that are wanted, and none beyond the end of what says so", () => {
    const end = fc.integer({ min: 0, max: NUMBER_MAX })
    fc.assert(
      fc.property(numbered(4), end, fc.integer({ min: 1, max: 3 }), (all, length, step) => {
        const isWanted = Uint8Array.from({ length }, (_, number) => (number % step === 0 ? 1 : 0))
        const bits = Uint8Array.of(1, 2, 3, 4)
        const those = all.filter(({ number }) => isWanted[number] === 1)
        const found = nearestDense(blocksOf(all, 4), bits, isWanted, 5)
        expect(ascending(found)).toEqual(ascending(sorted(those, bits, 5)))
      }),
    )
  })

  test("are found in blocks that begin anywhere in the memory", () => {
    const [block] = blocksOf([{ number: 7, bits: Uint8Array.of(1, 2, 3, 4) }], 4)
    if (block === undefined) throw new Error("there is a block")
    const room = new Uint8Array(block.bits.length + 1)
    room.set(block.bits, 1)
    const shifted = [{ blockNo: 0, bits: room.subarray(1) }]
    expect(nearestDense(shifted, Uint8Array.of(1, 2, 3, 4), everything, 5)).toEqual([7])
  })
})

describe("a dense block", () => {
  test("has a slot for each number, and the next number is in the next block", () => {
    const block = emptyDenseBlock(4)
    for (let number = 0; number < DENSE_BLOCK_SLOTS; number += 1) {
      expect(denseBlockOf(number)).toBe(0)
      putDense(block, number, Uint8Array.of(number, number >> 8, 0, 0))
    }
    expect(denseBlockOf(DENSE_BLOCK_SLOTS)).toBe(1)
    const found = nearestDense([{ blockNo: 0, bits: block }], new Uint8Array(4), everything, NUMBER_MAX)
    expect(found).toHaveLength(DENSE_BLOCK_SLOTS)
  })

  test("keeps the last bits of a number", () => {
    const block = emptyDenseBlock(4)
    putDense(block, 3, Uint8Array.of(255, 255, 255, 255))
    putDense(block, 3, Uint8Array.of(0, 0, 1, 0))
    expect([...block.subarray(12, 16)]).toEqual([0, 0, 1, 0])
  })

  test("holds nothing of numbers that were cleared, and is empty after the last", () => {
    fc.assert(
      fc.property(numbered(8), fc.nat(), (all, chosen) => {
        const inBlock = all.filter(({ number }) => denseBlockOf(number) === 0)
        fc.pre(inBlock.length > 0)
        const gone = inBlock[chosen % inBlock.length]
        if (gone === undefined) throw new Error("there is one")
        const left = inBlock.filter((each) => each !== gone)
        const block = blocksOf(inBlock, 8)[0]?.bits ?? new Uint8Array()
        clearDense(block, gone.number)
        const others = blocksOf(left, 8)[0]?.bits ?? emptyDenseBlock(8)
        expect(Buffer.compare(block, others)).toBe(0)
        expect(isEmptyDense(block)).toBe(left.length === 0)
      }),
    )
  })

  test("refuses the bits of vectors of another length", () => {
    expect(() => putDense(emptyDenseBlock(8), 1, new Uint8Array(12))).toThrow(RangeError)
    expect(() => putDense(emptyDenseBlock(8), 1, new Uint8Array(4))).toThrow(RangeError)
  })
})
