/** The words that say nothing about what is asked for or told. */

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
 * The same and what else counts nothing when sentences are compared, single letters among it: a query keeps `not`
 * and `before`, which change what it asks for, but sentences that share only those have nothing in common.
 */
export const SENTENCE_STOP_WORDS: ReadonlySet<string> = new Set([
  ...STOP_WORDS,
  ..."abcdefghijklmnopqrstuvwxyz",
  ...(
    "after again all aren because before both couldn didn doesn don done down each either else even every few " +
    "further get gets got hadn hasn haven here isn itself just let like made make makes many may might more most " +
    "much must neither no nor not now off ok okay once one only other out over own per please quite rather really " +
    "same shouldn since some soon still such than through till todo too under unless until up upon use used using " +
    "very via wasn well weren whether within without won wouldn yes yet"
  ).split(" "),
])
