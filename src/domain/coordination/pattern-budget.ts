/**
 * What open patterns cost, and how much of it a session may hold. Every edit is compared with all patterns that are open
 * in its repository, so the sum of their costs bounds what anybody waits for others.
 */

import {
  BRACE_EXPANSIONS_MAX,
  BRACKET_GROUP_COST,
  NAMED_CLASS_COST,
  PATTERN_COST_BASE,
  REPOSITORY_PATTERN_COST_MAX,
  SESSION_PATTERN_SHARE,
} from "../../config/limits.ts"
import { expandBraces } from "../glob/braces.ts"
import { GlobError } from "../glob/glob.ts"
import { literalPath } from "../glob/literal.ts"

/**
 * Returns what a normalised pattern costs while it is open, read off its text.
 *
 * 0 for a plain path, else at least the pattern's `positions`, by which the steps of asking it for a path are bounded.
 */
export function patternCost(pattern: string): number {
  if (literalPath(pattern) !== null) return 0
  let cost = PATTERN_COST_BASE
  for (const expansion of expandBraces(pattern, BRACE_EXPANSIONS_MAX) ?? []) {
    const groups = occurrences(expansion, "[")
    const readings = groups > 0 ? 2 : 1
    const aroundText = 3
    cost += readings * (expansion.length + aroundText)
    cost += groups * BRACKET_GROUP_COST + occurrences(expansion, "[:") * NAMED_CLASS_COST
  }
  return cost
}

function occurrences(text: string, part: string): number {
  return text.split(part).length - 1
}

/**
 * Throws GlobError, about the pattern wanted, when it does not fit beside what is open in its repository: a session
 * may hold at most an eighth of what the others leave of 200,000.
 */
export function requireWithinBudget(cost: number, open: { own: number; others: number }): void {
  const share = Math.floor(Math.max(0, REPOSITORY_PATTERN_COST_MAX - open.others) * SESSION_PATTERN_SHARE)
  if (open.own + cost <= share) return
  throw new GlobError(
    `is too complex beside what is open in this repository: it costs ${cost}, your session's open patterns ` +
      `cost ${open.own}, and beside those of others at most ${share} are yours. Reserve fewer wildcards, or name ` +
      "folders and files, which cost nothing.",
  )
}
