/**
 * The laws of salience: how it fades by itself and what reinforcing does. Owns the formulas and the two
 * thresholds' meaning; it refuses to know when anything is read or stored. Fading is computed whenever a
 * salience is needed and never written back, so that reading often does not fade a memory faster.
 */

import { STABILITY_MAX } from "../../config/limits.ts"
import { DAY_MS } from "../time-units.ts"
import {
  type HalfLives,
  REINFORCE_BOOSTS,
  type ReinforceProfile,
  type SalienceState,
  type Sector,
} from "./memory.ts"

/** What is shown has four decimals. */
const SHOWN_STEPS = 10_000

/** What reinforcing did: the new state, and the salience before and after at that moment, unrounded. */
interface Reinforcement {
  state: SalienceState
  before: number
  after: number
  /** `after - before`: less than the profile's boost where that would exceed 1. */
  boostApplied: number
}

/** Returns the salience of a memory that was created at a time: full, and not yet stretched. */
export function freshSalience(atMs: number): SalienceState {
  return { base: 1, anchorMs: atMs, stability: 1 }
}

/**
 * Returns the salience at a time, 0 to 1, unrounded: it halves each `halfLives[sector] * stability` days.
 *
 * base * 2^(-(t - anchor) / (half-life * stability)). Memoryless: fading for two spans one after the other
 * is fading for both together. Times before the anchor, as after a clock was set back, count as the anchor.
 */
export function salienceAt(state: SalienceState, sector: Sector, halfLives: HalfLives, atMs: number): number {
  const ageDays = Math.max(0, atMs - state.anchorMs) / DAY_MS
  return state.base * 2 ** (-ageDays / (halfLives[sector] * state.stability))
}

/**
 * Reinforces a memory: adds the profile's boost to its salience, at most to 1, and makes it fade more slowly.
 *
 * The stability grows by boost * (0.5 + (1 - salience)), at most to `STABILITY_MAX`: a boost that comes late
 * counts up to three times as much as one that comes early (the spacing effect), and one that finds the
 * salience at 1 is not lost. At no later time is the salience lower than it would have been without. With a
 * time before the anchor the anchor stays where it is.
 */
export function reinforce(
  state: SalienceState,
  sector: Sector,
  halfLives: HalfLives,
  profile: ReinforceProfile,
  atMs: number,
): Reinforcement {
  const boost = REINFORCE_BOOSTS[profile]
  const before = salienceAt(state, sector, halfLives, atMs)
  const after = Math.min(1, before + boost)
  const stability = Math.min(STABILITY_MAX, state.stability * (1 + boost * (0.5 + (1 - before))))
  return {
    state: { base: after, anchorMs: Math.max(state.anchorMs, atMs), stability },
    before,
    after,
    boostApplied: after - before,
  }
}

/**
 * Returns a salience, or a difference of two, as it is shown: with four decimals. Filters and thresholds decide by what
 * is shown, the laws of fading and reinforcing by the salience itself.
 */
export function shownSalience(value: number): number {
  return Math.round(value * SHOWN_STEPS) / SHOWN_STEPS
}
