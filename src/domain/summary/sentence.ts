/** Owns the reading of a Markdown body as an ordered list of sentences, each with the kind of unit it stands in. */

import { maskCode } from "../text/code-spans.ts"
import { splitSentences } from "../text/sentences.ts"
import { readUnits, type TextUnit } from "./markdown.ts"

/** One sentence in plain text; inline code keeps its backticks. */
export type Sentence = TextUnit

/**
 * Reads a Markdown body as its sentences, in the order written. A unit of several sentences gives several: the first
 * carries the unit's kind, the further sentences of a check box are bullets; a heading stays whole. Never throws.
 */
export function readSentences(markdown: string): Sentence[] {
  return readUnits(markdown).flatMap(sentencesOf)
}

function sentencesOf(unit: TextUnit): Sentence[] {
  if (unit.kind === "heading") return [unit]
  let from = 0
  const texts = splitSentences(maskCode(unit.text)).map(({ length }) => {
    const text = unit.text.slice(from, from + length).trim()
    from += length
    return text
  })
  return texts.map((text, index) => {
    if (unit.kind !== "checkbox") return { kind: unit.kind, text }
    return index === 0 ? { ...unit, text } : { kind: "bullet", text }
  })
}
