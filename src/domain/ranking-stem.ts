/** The stemmer of the full-text index, so that the ranking sees the same words as the index found. */

const CONSONANTS = "[^aeiou][^aeiouy]*"
const VOWELS = "[aeiouy][aeiou]*"
/** The measure of Porter's paper: how often vowels are followed by consonants. */
const MEASURE_OVER_0 = new RegExp(`^(?:${CONSONANTS})?${VOWELS}${CONSONANTS}`)
const MEASURE_IS_1 = new RegExp(`^(?:${CONSONANTS})?${VOWELS}${CONSONANTS}(?:${VOWELS})?$`)
const MEASURE_OVER_1 = new RegExp(`^(?:${CONSONANTS})?${VOWELS}${CONSONANTS}${VOWELS}${CONSONANTS}`)
const HAS_VOWEL = new RegExp(`^(?:${CONSONANTS})?[aeiouy]`)
const SHORT_END = new RegExp(`^${CONSONANTS}[aeiouy][^aeiouwxy]$`)

const STEP_2: readonly (readonly [string, string])[] = [
  ["ational", "ate"],
  ["ization", "ize"],
  ["iveness", "ive"],
  ["fulness", "ful"],
  ["ousness", "ous"],
  ["tional", "tion"],
  ["biliti", "ble"],
  ["entli", "ent"],
  ["ousli", "ous"],
  ["ation", "ate"],
  ["alism", "al"],
  ["aliti", "al"],
  ["iviti", "ive"],
  ["enci", "ence"],
  ["anci", "ance"],
  ["izer", "ize"],
  ["logi", "log"],
  ["alli", "al"],
  ["ator", "ate"],
  ["bli", "ble"],
  ["eli", "e"],
]
const STEP_3: readonly (readonly [string, string])[] = [
  ["icate", "ic"],
  ["ative", ""],
  ["alize", "al"],
  ["iciti", "ic"],
  ["ical", "ic"],
  ["ness", ""],
  ["ful", ""],
]
const STEP_4 = "ement ance ence able ible ment ant ent ion ism ate iti ous ive ize al er ic ou".split(" ")

const PLAIN_WORD = /^[a-z0-9]{3,64}$/

/**
 * Returns the stem of a folded word: Porter's algorithm of 1980 as SQLite's FTS5 has it. Words of one or two
 * letters, of more than 64, and those with other letters than a to z stay as they are.
 * Source: https://tartarus.org/martin/PorterStemmer/def.txt, https://www.sqlite.org/fts5.html#porter_tokenizer
 */
export function porterStem(word: string): string {
  if (!PLAIN_WORD.test(word)) return word
  let stem = withoutPlural(word)
  stem = withoutEdOrIng(stem)
  if (stem.endsWith("y") && HAS_VOWEL.test(stem.slice(0, -1))) stem = `${stem.slice(0, -1)}i`
  stem = replaceEnding(stem, STEP_2)
  stem = replaceEnding(stem, STEP_3)
  stem = withoutSuffix(stem)
  return withoutFinalE(stem)
}

function withoutPlural(word: string): string {
  if (word.endsWith("sses") || word.endsWith("ies")) return word.slice(0, -2)
  return word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word
}

function withoutEdOrIng(word: string): string {
  if (word.endsWith("eed")) return MEASURE_OVER_0.test(word.slice(0, -3)) ? word.slice(0, -1) : word
  const cut = word.endsWith("ed") ? 2 : word.endsWith("ing") ? 3 : 0
  const stem = word.slice(0, word.length - cut)
  if (cut === 0 || !HAS_VOWEL.test(stem)) return word
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`
  if (/([^aeiouylsz])\1$/.test(stem)) return stem.slice(0, -1)
  return SHORT_END.test(stem) ? `${stem}e` : stem
}

function replaceEnding(word: string, endings: readonly (readonly [string, string])[]): string {
  const found = endings.find(([ending]) => word.endsWith(ending))
  if (found === undefined) return word
  const stem = word.slice(0, -found[0].length)
  return MEASURE_OVER_0.test(stem) ? stem + found[1] : word
}

function withoutSuffix(word: string): string {
  const suffix = STEP_4.find((ending) => word.endsWith(ending))
  if (suffix === undefined) return word
  const stem = word.slice(0, -suffix.length)
  if (suffix === "ion" && !/[st]$/.test(stem)) return word
  return MEASURE_OVER_1.test(stem) ? stem : word
}

function withoutFinalE(word: string): string {
  let stem = word
  if (stem.endsWith("e")) {
    const rest = stem.slice(0, -1)
    if (MEASURE_OVER_1.test(rest) || (MEASURE_IS_1.test(rest) && !SHORT_END.test(rest))) stem = rest
  }
  return stem.endsWith("ll") && MEASURE_OVER_1.test(stem) ? stem.slice(0, -1) : stem
}
