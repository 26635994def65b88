/** The words of memories and of queries for them: folded as everywhere, and identifiers also by their parts. */

import { indexableText, splitCamelCase } from "../text/words.ts"

const IDENTIFIER = /[\p{L}\p{N}]+/gu

/**
 * Returns a text as the index takes it: its words with single spaces between them, and after them the parts of
 * words such as `getUserName`, so that they are found whole and by their parts.
 */
export function indexableMemoryText(text: string): string {
  const parts = [...text.matchAll(IDENTIFIER)].flatMap(([word]) => partsOf(word))
  return parts.length === 0 ? indexableText(text) : `${indexableText(text)} ${parts.join(" ")}`
}

/** A memory as the index of words takes it: the words of its content and of its tags. */
export interface IndexEntry {
  content: string
  tags: string
}

/** Returns the entry of a memory. */
export function indexEntryOf({ content, tags }: { content: string; tags: readonly string[] }): IndexEntry {
  return { content: indexableMemoryText(content), tags: indexableMemoryText(tags.join(" ")) }
}

/** Returns the different words of a query, those of its identifiers' parts included, in order. */
export function queryWords(query: string): string[] {
  return [...new Set(indexableMemoryText(query).split(" "))].filter((word) => word !== "")
}

/** The parts of a word in camel case, folded; none of any other word. */
function partsOf(word: string): string[] {
  const split = splitCamelCase(word)
  return split === word ? [] : [indexableText(split)]
}
