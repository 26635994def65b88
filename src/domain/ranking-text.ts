/** What the ranking reads of a memory's text: its words, and which of them only ask. */

import { indexableWords } from "./query-text.ts"

/** Sentences next to each other, or a single one: their words, folded, in order. */
export interface Passage {
  words: readonly string[]
  /** Whether it is a question. */
  asks: boolean
}

/** Where a sentence ends: behind its last mark and the space after it, or at the end of a line. */
const SENTENCE_END = /[.!?]["')\]]*\s+|\n/g
const IS_QUESTION = /\?[.!?]*["')\]]*\s*$/

/**
 * Returns the words of the first `charsMax` UTF-16 units of a text by the word rule of the index, in passages
 * that ask or do not; their order is that of the text.
 *
 * A sentence ends at `.`, `!` or `?` before white space, and at the end of a line, so that addresses and version
 * numbers do not end one.
 */
export function readPassages(text: string, charsMax: number): Passage[] {
  const read = text.slice(0, charsMax)
  if (!read.includes("?")) return [{ words: indexableWords(read), asks: false }]
  const passages: Passage[] = []
  let from = 0
  for (const { index, 0: end } of read.matchAll(SENTENCE_END)) {
    passages.push(sentence(read.slice(from, index + end.length)))
    from = index + end.length
  }
  passages.push(sentence(read.slice(from)))
  return passages
}

function sentence(text: string): Passage {
  return { words: indexableWords(text), asks: IS_QUESTION.test(text) }
}
