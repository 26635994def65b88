/**
 * Owns what "word boundary" means for cues: no letter, digit, `_` or `-` on either side, in any script.
 * It refuses to hold cues; the modules that know their meaning do.
 */

const BEFORE_WORD = "(?<![\\p{L}\\p{N}_-])"
const AFTER_WORD = "(?![\\p{L}\\p{N}_-])"

/**
 * The source of a pattern for any of the given cues as whole words, for use with the `u` flag.
 * Each argument may hold several alternatives, separated by `|`: "action" is not found in "transaction", nor
 * "merged" in "un-merged".
 */
export function wholeWords(...alternatives: readonly string[]): string {
  return `${BEFORE_WORD}(?:${alternatives.join("|")})${AFTER_WORD}`
}

/** The pattern that finds any of the given cues as whole words, in any case. */
export function cues(...alternatives: readonly string[]): RegExp {
  return new RegExp(wholeWords(...alternatives), "iu")
}

/** The same at the beginning of a text only. */
export function openings(...alternatives: readonly string[]): RegExp {
  return new RegExp(`^(?:${alternatives.join("|")})${AFTER_WORD}`, "iu")
}
