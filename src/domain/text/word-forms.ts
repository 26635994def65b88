/** The one form by which words are compared: `went`, `going` and `goes` are one word. */

import { stemmer } from "stemmer"
import { baseForm } from "./irregular-forms.ts"
import { WordCache } from "./word-cache.ts"

/** Of other and of longer words SQLite's stemmer and this one would not make the same. */
const STEMMED_WORD = /^[a-z0-9]{3,64}$/

/** Some 2 MB when full. */
const rememberedForms = new WordCache<string>(20_000)

/**
 * Returns the form in which words are compared: the stem of the base form of a folded word, as the porter
 * tokenizer of SQLite's FTS5 makes it. Words of one or two letters, of more than 64, and those with other letters
 * than a to z stay as they are.
 * Source: https://tartarus.org/martin/PorterStemmer/def.txt, https://www.sqlite.org/fts5.html#porter_tokenizer
 */
export function comparedForm(word: string): string {
  return rememberedForms.get(word, formOf)
}

function formOf(word: string): string {
  const base = baseForm(word)
  return STEMMED_WORD.test(base) ? stemmer(base) : base
}
