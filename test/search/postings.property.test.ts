import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { FIELDS } from "../../src/domain/documentation/documentation.ts"
import {
  decodePostings,
  encodePostings,
  POSTINGS_BLOCK_CHUNKS,
  type Posting,
  type PostingsBlock,
  postingsBlockOf,
  withoutChunks,
} from "../../src/search/postings.ts"

const count = fc.oneof({ weight: 3, arbitrary: fc.nat(2) }, fc.nat(12), fc.nat(255))
const counts = fc.tuple(...FIELDS.map(() => count)).map((all) => Uint8Array.from(all))
const number = fc.oneof(fc.integer({ min: 1, max: 3 * POSTINGS_BLOCK_CHUNKS }), fc.nat(2 ** 31 - 1))

/** Postings of a term, numbers ascending. */
const postings = fc
  .uniqueArray(fc.record({ number, counts }), { selector: (posting) => posting.number, maxLength: 60 })
  .map((all) => all.sort((one, other) => one.number - other.number))

function decoded(blocks: readonly PostingsBlock[]): Posting[] {
  const { numbers, counts } = decodePostings(blocks)
  expect(counts).toHaveLength(numbers.length * FIELDS.length)
  return Array.from(numbers, (each, at) => ({
    number: each,
    counts: counts.slice(at * FIELDS.length, (at + 1) * FIELDS.length),
  }))
}

/** The blocks of postings that were added one after the other, joined as the index joins them. */
function joined(parts: readonly (readonly PostingsBlock[])[]): PostingsBlock[] {
  const bytes = new Map<number, number[]>()
  for (const { blockNo, data } of parts.flat()) bytes.set(blockNo, [...(bytes.get(blockNo) ?? []), ...data])
  return Array.from(bytes, ([blockNo, data]) => ({ blockNo, data: Uint8Array.from(data) }))
}

describe("postings", () => {
  test("are the same after they were stored", () => {
    fc.assert(
      fc.property(postings, (all) => {
        expect(decoded(encodePostings(all))).toEqual(all)
      }),
    )
  })

  test("have every combination of small counts, and of large ones", () => {
    const values = [0, 1, 2, 3, 4, 5, 6, 9, 10, 255]
    const all = values
      .flatMap((a) => values.flatMap((b) => values.flatMap((c) => values.map((d) => [a, b, c, d]))))
      .map((each, at): Posting => ({ number: at + 1, counts: Uint8Array.from(each) }))
    expect(decoded(encodePostings(all))).toEqual(all)
  })

  test("lie in the blocks of their numbers, each block once, in order", () => {
    fc.assert(
      fc.property(postings, (all) => {
        const blocks = encodePostings(all)
        const numbers = [...new Set(all.map((posting) => postingsBlockOf(posting.number)))]
        expect(blocks.map(({ blockNo }) => blockNo)).toEqual(numbers)
        for (const block of blocks)
          for (const posting of decoded([block])) expect(postingsBlockOf(posting.number)).toBe(block.blockNo)
      }),
    )
  })

  test("may be added to by putting bytes behind bytes", () => {
    fc.assert(
      fc.property(postings, fc.nat(60), (all, at) => {
        const parts = [encodePostings(all.slice(0, at)), encodePostings(all.slice(at))]
        expect(joined(parts)).toEqual(encodePostings(all))
      }),
    )
  })

  test("take 2 bytes with the most usual counts", () => {
    const usual = [
      [0, 0, 1, 0],
      [0, 0, 2, 0],
      [0, 0, 0, 1],
      [1, 1, 3, 0],
      [0, 1, 0, 0],
    ].map((each, at): Posting => ({ number: at + 1, counts: Uint8Array.from(each) }))
    expect(encodePostings(usual).map(({ data }) => data.length)).toEqual([2 * usual.length])
  })

  test("are read wherever their bytes begin", () => {
    const all: Posting[] = [1, 2, 2_047].map((each) => ({ number: each, counts: Uint8Array.of(7, 8, 9, 10) }))
    const blocks = encodePostings(all).map(({ blockNo, data }) => {
      const room = new Uint8Array(data.length + 1)
      room.set(data, 1)
      return { blockNo, data: room.subarray(1) }
    })
    expect(decoded(blocks)).toEqual(all)
  })

  test("of no blocks are none", () => {
    expect(decoded([])).toEqual([])
    expect(encodePostings([])).toEqual([])
  })
})

describe("a block without some chunks", () => {
  test("is that of the others", () => {
    fc.assert(
      fc.property(postings, fc.array(number), fc.nat(4), (all, strangers, step) => {
        const chosen = all.filter((_, at) => at % (step + 1) === 0).map((posting) => posting.number)
        const gone = new Set([...chosen, ...strangers])
        const ascending = [...gone].sort((one, other) => one - other)
        const left = all.filter((posting) => !gone.has(posting.number))
        const blocks = encodePostings(all)
          .map((block) => ({ blockNo: block.blockNo, data: withoutChunks(block, ascending) }))
          .filter(({ data }) => data.length > 0)
        expect(blocks).toEqual(encodePostings(left))
      }),
    )
  })

  test("is left alone itself", () => {
    const [block] = encodePostings([{ number: 5, counts: Uint8Array.of(0, 0, 1, 0) }])
    if (block === undefined) throw new Error("there is a block")
    const before = block.data.slice()
    expect(withoutChunks(block, [5])).toHaveLength(0)
    expect(block.data).toEqual(before)
  })
})
