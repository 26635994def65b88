import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  type BitBlock,
  BLOCK_SLOTS,
  clearSlot,
  emptyBlock,
  nearestInBlocks,
  putIntoBlock,
} from "../../src/search/bit-blocks.ts"

interface Window {
  id: number
  bits: Uint8Array
}

const windows = (bytes: number, max = 40) =>
  fc.array(
    fc.record({
      id: fc.integer({ min: 1, max: 2 ** 32 - 1 }),
      bits: fc.uint8Array({ minLength: bytes, maxLength: bytes }),
    }),
    { maxLength: max },
  )

function blocksOf(all: readonly Window[], bytes: number): BitBlock[] {
  const blocks: BitBlock[] = []
  for (const { id, bits } of all) {
    let block = blocks.at(-1)
    if (block === undefined || putIntoBlock(block, id, bits) === undefined) {
      block = emptyBlock(bytes)
      blocks.push(block)
      putIntoBlock(block, id, bits)
    }
  }
  return blocks
}

function distance(one: Uint8Array, other: Uint8Array): number {
  return one.reduce((sum, byte, at) => {
    const differing = (byte ^ (other[at] ?? 0)).toString(2).replaceAll("0", "")
    return sum + differing.length
  }, 0)
}

/** What sorting all windows gives. */
function sorted(all: readonly Window[], bits: Uint8Array, limit: number): number[] {
  const order = [...all].sort(
    (one, other) => distance(one.bits, bits) - distance(other.bits, bits) || other.id - one.id,
  )
  return [...new Set(order.slice(0, limit).map(({ id }) => id))]
}

const ascending = (ids: readonly number[]) => [...ids].sort((one, other) => one - other)

describe("the nearest windows of blocks", () => {
  test.each([4, 32, 48, 128])("of %i bytes are those that sorting all of them gives", (bytes) => {
    const query = fc.uint8Array({ minLength: bytes, maxLength: bytes })
    fc.assert(
      fc.property(windows(bytes), query, fc.integer({ min: 1, max: 50 }), (all, bits, limit) => {
        const found = nearestInBlocks(blocksOf(all, bytes), bits, limit)
        expect(ascending(found)).toEqual(ascending(sorted(all, bits, limit)))
      }),
    )
  })

  test("may be kept to some memories", () => {
    fc.assert(
      fc.property(windows(4), fc.uint8Array({ minLength: 4, maxLength: 4 }), (all, bits) => {
        const allowed = new Set(all.filter((_, at) => at % 2 === 0).map(({ id }) => id))
        const found = nearestInBlocks(blocksOf(all, 4), bits, 5, allowed)
        const those = all.filter(({ id }) => allowed.has(id))
        expect(ascending(found)).toEqual(ascending(sorted(those, bits, 5)))
      }),
    )
  })

  test("are found in blocks that begin anywhere in the memory", () => {
    const all = [{ id: 7, bits: Uint8Array.of(1, 2, 3, 4) }]
    const shifted = blocksOf(all, 4).map(({ ids, bits }) => ({ ids: moved(ids), bits: moved(bits) }))
    expect(nearestInBlocks(shifted, Uint8Array.of(1, 2, 3, 4), 1)).toEqual([7])
  })

  function moved(bytes: Uint8Array): Uint8Array {
    const room = new Uint8Array(bytes.length + 1)
    room.set(bytes, 1)
    return room.subarray(1)
  }
})

describe("a block", () => {
  test("takes 256 windows and no more", () => {
    const block = emptyBlock(4)
    for (let at = 0; at < BLOCK_SLOTS; at += 1)
      expect(putIntoBlock(block, at + 1, Uint8Array.of(at, 0, 0, 0))).toBe(at)
    expect(putIntoBlock(block, 999, new Uint8Array(4))).toBeUndefined()
    expect(nearestInBlocks([block], new Uint8Array(4), 1_000)).toHaveLength(BLOCK_SLOTS)
  })

  test("keeps nothing of a window that was taken out, and gives its slot to the next", () => {
    fc.assert(
      fc.property(windows(8, 20), fc.nat(), (all, chosen) => {
        fc.pre(all.length > 0)
        const [block] = blocksOf(all, 8)
        const slot = chosen % all.length
        if (block === undefined) throw new Error("there is a block")
        expect(clearSlot(block, slot)).toBe(all.length === 1)
        expect([...block.bits.subarray(slot * 8, slot * 8 + 8)]).toEqual(Array(8).fill(0))
        const left = all.filter((_, at) => at !== slot)
        const found = nearestInBlocks([block], new Uint8Array(8), 1_000)
        expect(ascending(found)).toEqual(ascending([...new Set(left.map(({ id }) => id))]))
        expect(putIntoBlock(block, 5, new Uint8Array(8))).toBe(slot)
      }),
    )
  })

  test("refuses bits that its slots have no room for", () => {
    expect(() => putIntoBlock(emptyBlock(4), 1, new Uint8Array(8))).toThrow(RangeError)
  })
})
