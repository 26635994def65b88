/**
 * Finds what the cosines of a model mean, from pairs of texts of which it is known whether they are about
 * the same. Owns the curve; knows nothing of models and texts.
 */

import type { Calibration } from "./similarity.ts"

/** The similarity that a typical related pair reaches, and two equal texts. */
const RELATED_SIMILARITY = 0.75
const SAME_SIMILARITY = 0.98
/** Of unrelated pairs, this share falls below 0.5. */
const UNRELATED_SHARE = 0.99
/** Above this cosine nothing can be told apart any more; it bounds the slope. */
const UNRELATED_COSINE_MAX = 0.99
/** The least gap between unrelated and related, as a share of what is left above unrelated pairs. */
const GAP_SHARE_MIN = 0.1

/** For a model of which nothing is known. */
const CALIBRATION_DEFAULT: Calibration = { midpoint: 0.5, slope: 8 }

/**
 * Returns the curve for a model that gave these cosines to unrelated and to related pairs of texts.
 *
 * The midpoint lies halfway between the 99th percentile of the unrelated and the median of the related, so
 * that the first falls below 0.5; the slope is the least that takes the second to 0.75 and cosine 1 to 0.98.
 * Where the two overlap or nearly touch, unrelated pairs still stay below 0.5 and the related come out where
 * they may: a model that cannot tell them apart must not link everything. The slope is at most 2,200. What is
 * not a finite number is left out; with nothing left on one side the curve is a moderate one.
 */
export function calibrate(unrelated: readonly number[], related: readonly number[]): Calibration {
  const unrelatedTop = quantile(unrelated, UNRELATED_SHARE)
  const relatedMiddle = quantile(related, 0.5)
  if (unrelatedTop === null || relatedMiddle === null) return CALIBRATION_DEFAULT
  const low = Math.min(unrelatedTop, UNRELATED_COSINE_MAX)
  const high = Math.max(relatedMiddle, low + GAP_SHARE_MIN * (1 - low))
  const midpoint = (low + high) / 2
  const slope = Math.max(
    logOdds(RELATED_SIMILARITY) / (high - midpoint),
    logOdds(SAME_SIMILARITY) / (1 - midpoint),
  )
  return { midpoint, slope }
}

/** Returns the value below which a share of the cosines lie, between two of them by proportion; null for none. */
export function quantile(cosines: readonly number[], share: number): number | null {
  const sorted = cosines
    .filter(Number.isFinite)
    .map((cosine) => Math.min(1, Math.max(-1, cosine)))
    .sort((a, b) => a - b)
  const position = (sorted.length - 1) * share
  const below = sorted[Math.floor(position)]
  const above = sorted[Math.ceil(position)]
  if (below === undefined || above === undefined) return null
  return below + (above - below) * (position - Math.floor(position))
}

function logOdds(similarity: number): number {
  return Math.log(similarity / (1 - similarity))
}
