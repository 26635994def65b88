/**
 * The stored form of postings: where a term stands, in blocks of chunks with successive numbers.
 *
 * A posting is a word of 16 bits, the lower byte first. Its lower 11 bits are the place of the chunk in its block;
 * the upper 5 name its counts if they are usual ones, else they are 0 and the counts follow, a byte for each field.
 * No posting depends on the one before it, so a block grows by appending bytes and nothing of it is read for that.
 */

import { FIELDS, type Postings } from "../domain/documentation/documentation.ts"

const PLACE_BITS = 11
/** Chunks of one block. */
export const POSTINGS_BLOCK_CHUNKS = 1 << PLACE_BITS
const PLACE_MASK = POSTINGS_BLOCK_CHUNKS - 1
const WORD_BYTES = 2
/** A byte for each field; they are handled as one whole number of 32 bits. */
const COUNTS_BYTES = 4

/**
 * The usual counts by their code, packed as by `packed`: 24 of up to 1 in the title, 1 in the headings and 5 in
 * the body, then up to 4 identifiers alone and 6 to 9 in the body alone. Of two real documentations they
 * cover 97 %. The first are no counts at all, whose code therefore means any others.
 */
const USUAL_COUNTS = Uint32Array.from([
  ...Array.from({ length: 24 }, (_, code) => packed([code & 1, (code >> 1) & 1, code >> 2, 0])),
  ...[1, 2, 3, 4].map((count) => packed([0, 0, 0, count])),
  ...[6, 7, 8, 9].map((count) => packed([0, 0, count, 0])),
])
const CODES = new Map(Array.from(USUAL_COUNTS, (counts, code) => [counts, code]))
const OTHER_COUNTS = 0

/** Where a term stands in the chunks of a block. */
export interface PostingsBlock {
  /** Its chunks are numbered from `blockNo * POSTINGS_BLOCK_CHUNKS` on. */
  blockNo: number
  data: Uint8Array
}

/** How often a chunk has a term in each field. */
export interface Posting {
  number: number
  counts: Uint8Array
}

/** Returns the number of the block that a chunk belongs to. */
export function postingsBlockOf(number: number): number {
  return number >>> PLACE_BITS
}

/** Returns the blocks of postings, whose numbers ascend; what stands in a block already is to stand before. */
export function encodePostings(postings: readonly Posting[]): PostingsBlock[] {
  const blocks: PostingsBlock[] = []
  let bytes: number[] = []
  let blockNo = -1
  for (const { number, counts } of postings) {
    if (postingsBlockOf(number) !== blockNo) {
      if (bytes.length > 0) blocks.push({ blockNo, data: Uint8Array.from(bytes) })
      blockNo = postingsBlockOf(number)
      bytes = []
    }
    const code = CODES.get(packed(counts)) ?? OTHER_COUNTS
    const word = (number & PLACE_MASK) | (code << PLACE_BITS)
    bytes.push(word & 0xff, word >> 8)
    if (code === OTHER_COUNTS) bytes.push(...counts)
  }
  if (bytes.length > 0) blocks.push({ blockNo, data: Uint8Array.from(bytes) })
  return blocks
}

/** Returns the postings of the blocks of one term, which are given in the order of their numbers. */
export function decodePostings(blocks: readonly PostingsBlock[]): Postings {
  const room = blocks.reduce((sum, { data }) => sum + data.length / WORD_BYTES, 0)
  const numbers = new Uint32Array(room)
  const counts = new Uint32Array(room)
  let count = 0
  for (const block of blocks) count = decodeBlock(block, numbers, counts, count)
  return {
    numbers: numbers.subarray(0, count),
    counts: new Uint8Array(counts.buffer, 0, count * FIELDS.length),
  }
}

/** Writes the postings of a block after the first `count`; returns how many there are then. */
function decodeBlock(
  { blockNo, data }: PostingsBlock,
  numbers: Uint32Array,
  counts: Uint32Array,
  count: number,
): number {
  const first = blockNo * POSTINGS_BLOCK_CHUNKS
  let next = count
  for (let at = 0; at < data.length; next++) {
    const word = wordAt(data, at)
    at += WORD_BYTES
    numbers[next] = first + (word & PLACE_MASK)
    const code = word >> PLACE_BITS
    if (code === OTHER_COUNTS) {
      counts[next] = wordAt(data, at) | (wordAt(data, at + WORD_BYTES) << 16)
      at += COUNTS_BYTES
    } else counts[next] = USUAL_COUNTS[code] ?? 0
  }
  return next
}

/** Returns what is left of a block's data without some of its chunks, whose numbers ascend. */
export function withoutChunks({ blockNo, data }: PostingsBlock, numbers: readonly number[]): Uint8Array {
  const first = blockNo * POSTINGS_BLOCK_CHUNKS
  const left = new Uint8Array(data.length)
  let length = 0
  let next = 0
  for (let at = 0; at < data.length; ) {
    const word = wordAt(data, at)
    const end = at + WORD_BYTES + (word >> PLACE_BITS === OTHER_COUNTS ? COUNTS_BYTES : 0)
    const number = first + (word & PLACE_MASK)
    while (next < numbers.length && (numbers[next] ?? 0) < number) next++
    if (numbers[next] === number) at = end
    else while (at < end) left[length++] = data[at++] ?? 0
  }
  return left.subarray(0, length)
}

function wordAt(data: Uint8Array, at: number): number {
  return (data[at] ?? 0) | ((data[at + 1] ?? 0) << 8)
}

/** Returns the counts of all fields as one whole number of 32 bits, the first field in its lowest byte. */
function packed(counts: ArrayLike<number>): number {
  return (
    ((counts[0] ?? 0) | ((counts[1] ?? 0) << 8) | ((counts[2] ?? 0) << 16) | ((counts[3] ?? 0) << 24)) >>> 0
  )
}
