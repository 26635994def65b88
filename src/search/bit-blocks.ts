/**
 * Blocks of sign bits: the coarse form of many vectors, packed so that a search reads long runs of bytes in the
 * place of a row for each. A block holds 256 windows; each has a slot with the number of its memory and its
 * bits, and a slot with the number 0 is free.
 */

import { differingBits } from "../domain/embedding/quantise.ts"

/** Windows of one block. */
export const BLOCK_SLOTS = 256
/** Numbers of memories are 32 bits wide, in the byte order of the machine: a database stays on one. */
const ID_BYTES = 4
const WORD_BITS = 32

/** A block as it is stored. */
export interface BitBlock {
  /** The numbers of the memories, 4 bytes a slot. */
  ids: Uint8Array
  /** The sign bits, a whole number of 4-byte words a slot. */
  bits: Uint8Array
}

/** Returns a block with no window in it, for vectors of so many bits in bytes. */
export function emptyBlock(windowBytes: number): BitBlock {
  const wordBytes = WORD_BITS / 8
  const slotBytes = Math.ceil(windowBytes / wordBytes) * wordBytes
  return { ids: new Uint8Array(BLOCK_SLOTS * ID_BYTES), bits: new Uint8Array(BLOCK_SLOTS * slotBytes) }
}

/** Puts a window into the first free slot; returns the slot, or undefined when the block is full. */
export function putIntoBlock(block: BitBlock, id: number, bits: Uint8Array): number | undefined {
  const ids = wordsIn(block.ids)
  const slot = ids.indexOf(0)
  if (slot < 0) return undefined
  block.ids.set(new Uint8Array(Uint32Array.of(id).buffer), slot * ID_BYTES)
  const slotBytes = block.bits.length / BLOCK_SLOTS
  if (bits.length > slotBytes) throw new RangeError(`${bits.length} bytes do not fit a slot of ${slotBytes}`)
  block.bits.set(bits, slot * slotBytes)
  return slot
}

/** Frees a slot and wipes what was in it; returns whether the block is empty now. */
export function clearSlot(block: BitBlock, slot: number): boolean {
  const slotBytes = block.bits.length / BLOCK_SLOTS
  block.ids.fill(0, slot * ID_BYTES, (slot + 1) * ID_BYTES)
  block.bits.fill(0, slot * slotBytes, (slot + 1) * slotBytes)
  return block.ids.every((byte) => byte === 0)
}

/**
 * Returns the memories of the windows that are nearest to some bits by Hamming distance, at most `limit`
 * windows, each memory once. Of equally near ones the newer is kept. With `allowed` only those memories count.
 */
export function nearestInBlocks(
  blocks: readonly BitBlock[],
  bits: Uint8Array,
  limit: number,
  allowed?: ReadonlySet<number>,
): number[] {
  const found = new Uint32Array(blocks.length * BLOCK_SLOTS)
  const distances = new Uint16Array(found.length)
  let count = 0
  for (const block of blocks) {
    const ids = wordsIn(block.ids)
    const words = wordsIn(block.bits)
    const width = words.length / BLOCK_SLOTS
    const query = wordsOf(bits, width)
    for (let slot = 0; slot < BLOCK_SLOTS; slot++) {
      const id = ids[slot] ?? 0
      if (id === 0 || (allowed !== undefined && !allowed.has(id))) continue
      found[count] = id
      distances[count] = differingBits(words, slot * width, query)
      count++
    }
  }
  return nearestOf(found.subarray(0, count), distances.subarray(0, count), limit)
}

/**
 * Returns the `limit` ids whose distances are the smallest, each once, in no order; of equally near ones the
 * higher. Distances are small whole numbers, so counting them finds the last that is wanted without sorting.
 */
export function nearestOf(ids: Uint32Array, distances: Uint16Array, limit: number): number[] {
  const counts: number[] = []
  for (const distance of distances) counts[distance] = (counts[distance] ?? 0) + 1
  let last = 0
  for (let sum = 0; last < counts.length; last++) {
    sum += counts[last] ?? 0
    if (sum >= limit) break
  }
  const nearer: number[] = []
  const asNear: number[] = []
  for (let at = 0; at < ids.length; at++) {
    const distance = distances[at] ?? 0
    if (distance < last) nearer.push(ids[at] ?? 0)
    else if (distance === last) asNear.push(ids[at] ?? 0)
  }
  asNear.sort((one, other) => other - one)
  return [...new Set([...nearer, ...asNear.slice(0, Math.max(0, limit - nearer.length))])]
}

/** Returns bits as so many words, filled up with zeros. */
export function wordsOf(bits: Uint8Array, width: number): Uint32Array {
  const words = new Uint32Array(width)
  new Uint8Array(words.buffer).set(bits.subarray(0, words.byteLength))
  return words
}

/**
 * Returns the words in bytes, to be read only: what comes from a database may begin anywhere in its memory, and is
 * copied where it does not begin at a multiple of four.
 */
export function wordsIn(bytes: Uint8Array): Uint32Array {
  const { buffer, byteOffset, byteLength } = bytes.byteOffset % (WORD_BITS / 8) === 0 ? bytes : bytes.slice()
  return new Uint32Array(buffer, byteOffset, byteLength / (WORD_BITS / 8))
}
