/** The words of a question that say nothing about what is asked for. */

/**
 * English function words, folded as the index folds them, with the pieces that apostrophes leave behind.
 * Measured on conversations: without them in the query recall@10 rises by five to six points.
 */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    "a about also am an and any are as at be been being but by can could d did do does doing for from had has " +
    "have having he her hers him his how i if in into is it its ll m me my of on or our ours re s shall she " +
    "should so t than that the their theirs them then there these they this those to us ve was we were what " +
    "when where which while who whom whose why will with would you your yours"
  ).split(" "),
)

/**
 * Returns the words to search for, in order: those that are no stop words, or all of them when nothing
 * else is left, since "to be or not to be" is a question too.
 */
export function contentWords(words: readonly string[]): string[] {
  const content = words.filter((word) => !STOP_WORDS.has(word))
  return content.length > 0 ? content : [...words]
}
