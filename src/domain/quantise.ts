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

/** Returns the cosine of two stored vectors, -1 to 1; 0 where one is all zeros. Throws RangeError for two lengths. */
export function cosineInt8(a: Int8Array, b: Int8Array): number {
  return cosine(a, b)
}

/** Returns the cosine of a vector, of whatever length, and a stored one, as `cosineInt8` does. */
export function cosineOf(query: Float32Array, stored: Int8Array): number {
  return cosine(query, stored)
}

function cosine(a: Float32Array | Int8Array, b: Int8Array): number {
  if (a.length !== b.length) {
    throw new RangeError(`vectors of ${a.length} and ${b.length} dimensions have no cosine`)
  }
  let dot = 0
  let squaresA = 0
  let squaresB = 0
  for (let i = 0; i < a.length; i++) {
    const x = a[i] ?? 0
    const y = b[i] ?? 0
    dot += x * y
    squaresA += x * x
    squaresB += y * y
  }
  if (squaresA === 0 || squaresB === 0) return 0
  return Math.max(-1, Math.min(1, dot / Math.sqrt(squaresA * squaresB)))
}
