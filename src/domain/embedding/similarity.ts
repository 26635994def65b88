/** What a cosine means: each model spreads its cosines differently, so they are mapped to a common scale. */

/** A logistic curve: `midpoint` is the cosine that maps to 0.5, `slope` how steeply it rises there. */
export interface Calibration {
  midpoint: number
  slope: number
}

/**
 * Maps a cosine to a similarity in 0..1 that means the same for every model: unrelated texts fall below
 * 0.5, clearly related ones reach 0.75, near-duplicates come close to 1.
 */
export function similarityOf(cosine: number, { midpoint, slope }: Calibration): number {
  return 1 / (1 + Math.exp(-slope * (cosine - midpoint)))
}

/** Returns the cosine that maps to a similarity strictly between 0 and 1: the inverse of `similarityOf`. */
export function cosineAt(similarity: number, { midpoint, slope }: Calibration): number {
  return midpoint + Math.log(similarity / (1 - similarity)) / slope
}
