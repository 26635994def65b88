/** Where a run of parts, each with a size, is best cut so that no piece is too large and none is tiny. */

interface Cuttable {
  /** How many parts there are; they are numbered from 0. */
  count: number
  /** The size of the parts from `from` up to before `to` as one piece; grows with `to`. */
  sizeOf(from: number, to: number): number
  /** The penalty for beginning a piece with a part: from 0 to 1, or infinity where that must not be. */
  penaltyOf(part: number): number
}

/**
 * Returns the parts that begin the pieces after the first one, ascending.
 *
 * What fits `max` stays one piece. Else pieces are at most `target` large where that is possible, and each is
 * as near as it can be to an equal share of what remains: a cut of penalty 1 is as bad as one that is off by
 * all of that share. A piece is larger than `max` only if the first place to cut it is after that. The time
 * grows with the parts, when each has a size of at least 1.
 */
export function bestCuts(parts: Cuttable, target: number, max: number): number[] {
  const cuts: number[] = []
  let from = 0
  while (from < parts.count && parts.sizeOf(from, parts.count) > max) {
    const cut = nextCut(parts, from, target, max)
    if (cut === parts.count) break
    cuts.push(cut)
    from = cut
  }
  return cuts
}

function nextCut(parts: Cuttable, from: number, target: number, max: number): number {
  const remaining = parts.sizeOf(from, parts.count)
  const share = remaining / Math.ceil(remaining / target)
  let best = parts.count
  let bestScore = Number.POSITIVE_INFINITY
  for (let cut = from + 1; cut < parts.count; cut++) {
    const size = parts.sizeOf(from, cut)
    const isTooLarge = size > target
    if (isTooLarge && best < parts.count) break
    const penalty = parts.penaltyOf(cut)
    if (penalty === Number.POSITIVE_INFINITY) continue
    // The first place to cut at is taken, however far it is.
    if (size > max) return cut
    const score = Math.abs(size - share) / share + penalty
    if (score >= bestScore) continue
    best = cut
    bestScore = score
  }
  return best
}
