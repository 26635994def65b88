/**
 * Vectors in few bytes: whole numbers of one byte, whose cosine is nearly that of the vector, and single
 * bits, of which the number that differ sorts out what is far away. Scale is lost; only direction counts.
 */

const INT8_MAX = 127

/**
 * Returns a vector as whole numbers from -127 to 127, the largest component in size being 127 or -127; zeros
 * for a vector of zeros. Components are expected to be finite.
 */
export function toInt8(vector: Float32Array): Int8Array {
  const largest = vector.reduce((max, x) => Math.max(max, Math.abs(x)), 0)
  if (largest === 0) return new Int8Array(vector.length)
  return new Int8Array(vector.map((x) => Math.round((x / largest) * INT8_MAX)))
}

/**
 * Returns the signs of a vector: bit `i & 7`, counted from the lowest, of byte `i >> 3` is 1 where component
 * `i` is above 0. A last byte that is not full ends in zero bits.
 */
export function toBits(vector: Float32Array): Uint8Array {
  const bits = new Uint8Array(Math.ceil(vector.length / 8))
  for (let i = 0; i < vector.length; i++) {
    if ((vector[i] ?? 0) > 0) bits[i >> 3] = (bits[i >> 3] ?? 0) | (1 << (i & 7))
  }
  return bits
}

/** Counts the bits in which numbers from a place on differ from others, 32 at a time. */
export function differingBits(words: Uint32Array, from: number, others: Uint32Array): number {
  let distance = 0
  for (let at = 0; at < others.length; at++) {
    let bits = (words[from + at] ?? 0) ^ (others[at] ?? 0)
    bits -= (bits >>> 1) & 0x55555555
    bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
    distance += Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
  }
  return distance
}
