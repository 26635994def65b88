/** The words that carry what a text is about: of a query those to search for, of sentences those to compare. */

import { SENTENCE_STOP_WORDS, STOP_WORDS } from "./stop-words.ts"
import { comparedForm } from "./word-forms.ts"
import { indexableWords, withPairs } from "./words.ts"

/**
 * Returns the words to search for, in order: those that are no stop words, or all of them when nothing
 * else is left, since "to be or not to be" is a question too.
 */
export function contentWords(words: readonly string[]): string[] {
  const content = words.filter((word) => !STOP_WORDS.has(word))
  return content.length > 0 ? content : [...words]
}

const BETWEEN_WORDS = /[^\p{L}\p{N}\p{Co}\p{M}]+/u

/**
 * Returns the words by which a sentence is compared with another, in the form in which words are compared, in order,
 * repeats kept; those of scripts without spaces as pairs of characters. Digits count, so `PR 41` is not `PR 42`.
 */
export function sentenceWords(text: string): string[] {
  return text
    .split(BETWEEN_WORDS)
    .flatMap((run) => withPairs(indexableWords(run)))
    .filter((word) => !SENTENCE_STOP_WORDS.has(word))
    .map(comparedForm)
}
