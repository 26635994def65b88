/**
 * Blocks of sign bits of things that are numbered densely: the slot of a number follows from the number, so that
 * nothing but the bits is stored, and a search looks up in an array whether a number is wanted. A block holds the
 * bits of 1,024 numbers; a slot of zeros is empty.
 */

import { differingBits } from "../domain/embedding/quantise.ts"
import { nearestOf, wordsIn, wordsOf } from "./bit-blocks.ts"

const SLOT_BITS = 10
/** Numbers of one block. */
export const DENSE_BLOCK_SLOTS = 1 << SLOT_BITS
const WORD_BYTES = 4

/** The bits of successive numbers. */
export interface DenseBlock {
  /** Its numbers begin at `blockNo * DENSE_BLOCK_SLOTS`. */
  blockNo: number
  /** A whole number of 4-byte words a slot. */
  bits: Uint8Array
}

/** Returns the number of the block that holds a number's bits. */
export function denseBlockOf(number: number): number {
  return number >>> SLOT_BITS
}

/** Returns the bits of an empty block, for vectors of so many bits in bytes. */
export function emptyDenseBlock(vectorBytes: number): Uint8Array {
  return new Uint8Array(DENSE_BLOCK_SLOTS * slotBytesOf(vectorBytes))
}

/**
 * Puts bits into the slot of a number; bits that are all zeros get their lowest set, because they would stand for
 * none. Throws RangeError when the block is one of vectors of another length.
 */
export function putDense(block: Uint8Array, number: number, bits: Uint8Array): void {
  const slotBytes = block.length / DENSE_BLOCK_SLOTS
  if (slotBytesOf(bits.length) !== slotBytes)
    throw new RangeError(`${bits.length} bytes do not fit a slot of ${slotBytes}`)
  const at = slotOf(number) * slotBytes
  block.set(bits, at)
  if (bits.every((byte) => byte === 0)) block[at] = 1
}

/** Empties the slot of a number. */
export function clearDense(block: Uint8Array, number: number): void {
  const slotBytes = block.length / DENSE_BLOCK_SLOTS
  const at = slotOf(number) * slotBytes
  block.fill(0, at, at + slotBytes)
}

/** Returns whether nothing is left in a block. */
export function isEmptyDense(block: Uint8Array): boolean {
  return block.every((byte) => byte === 0)
}

/**
 * Returns those `limit` of the wanted numbers in blocks whose bits are nearest to others by Hamming distance, in no
 * order; of equally near ones the higher. A number is wanted where `isWanted` is 1; beyond its end none is.
 */
export function nearestDense(
  blocks: readonly DenseBlock[],
  bits: Uint8Array,
  isWanted: Uint8Array,
  limit: number,
): number[] {
  const found = new Uint32Array(blocks.length * DENSE_BLOCK_SLOTS)
  const distances = new Uint16Array(found.length)
  let count = 0
  for (const { blockNo, bits: stored } of blocks) {
    const words = wordsIn(stored)
    const width = words.length / DENSE_BLOCK_SLOTS
    const query = wordsOf(bits, width)
    const first = blockNo * DENSE_BLOCK_SLOTS
    const end = Math.min(first + DENSE_BLOCK_SLOTS, isWanted.length)
    for (let number = first; number < end; number++) {
      if (isWanted[number] !== 1) continue
      const at = (number - first) * width
      if (isEmptyAt(words, at, width)) continue
      found[count] = number
      distances[count] = differingBits(words, at, query)
      count++
    }
  }
  return nearestOf(found.subarray(0, count), distances.subarray(0, count), limit)
}

function isEmptyAt(words: Uint32Array, from: number, width: number): boolean {
  for (let at = from; at < from + width; at++) if (words[at] !== 0) return false
  return true
}

function slotOf(number: number): number {
  return number & (DENSE_BLOCK_SLOTS - 1)
}

function slotBytesOf(vectorBytes: number): number {
  return Math.ceil(vectorBytes / WORD_BYTES) * WORD_BYTES
}
