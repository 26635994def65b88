/** Vectors in tests: what the product computes in SQL, computed again. */

/** Returns the cosine of two vectors of the same length that are not all zeros. */
export function cosine(one: ArrayLike<number>, other: ArrayLike<number>): number {
  const product = (a: ArrayLike<number>, b: ArrayLike<number>) =>
    Array.from(a).reduce((sum, value, at) => sum + value * (b[at] ?? Number.NaN), 0)
  return product(one, other) / Math.sqrt(product(one, one) * product(other, other))
}
