/** What the ranking reads of a memory's text: its words, and which of them only ask. */

import { isQuestion, splitSentences } from "./sentences.ts"
import { indexableWords } from "./words.ts"

/** Sentences next to each other, or a single one: their words, folded, in order. */
export interface Passage {
  words: readonly string[]
  /** Whether it is a question. */
  asks: boolean
}

/**
 * Returns the words of the first `charsMax` UTF-16 units of a text by the word rule of the index, in passages
 * that ask or do not; their order is that of the text.
 */
export function readPassages(text: string, charsMax: number): Passage[] {
  const read = text.slice(0, charsMax)
  // Most texts ask nothing, and to look for a character is faster than for a class of them.
  if (!read.includes("?") && !read.includes("？")) return [{ words: indexableWords(read), asks: false }]
  return splitSentences(read).map((sentence) => ({
    words: indexableWords(sentence),
    asks: isQuestion(sentence),
  }))
}
