/**
 * The one word rule, of index, query, excerpt and ranking: what is a word, how it is folded, and where identifiers
 * and scripts without spaces are cut.
 */

/** A word as it is compared, and where it stands. */
export interface Word {
  text: string
  /** UTF-16 offsets. */
  from: number
  to: number
}

const WORD = /[\p{L}\p{N}\p{Co}\p{M}]+/gu
/** Scripts written without spaces: each character is a word of its own, so that parts can be found. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u
const LATIN_MARKS = /([A-Za-z])[\u0300-\u036f]+/g
/** Between `get` and `User`, and between `HTTP` and `Server`; what follows is looked at first, as it is rare. */
const CAMEL_CASE_BOUNDARY = /(?=\p{Lu})(?:(?<=[\p{Ll}\p{N}])|(?<=\p{Lu})(?=\p{Lu}\p{Ll}))/gu
/** Between `get` and `User` alone. */
const CAPITAL_BOUNDARY = /(?=\p{Lu})(?<=[\p{Ll}\p{N}])/gu

/** Returns a text as the index takes it: its words, folded, with single spaces between them. */
export function indexableText(text: string): string {
  return indexableWords(text).join(" ")
}

/** What a character is to a word, as bits that add up over a run of them. */
const SEPARATOR = 0
const LOWER_OR_DIGIT = 1
const UPPER = 2
const NOT_ASCII = 4
const ASCII_KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  if (/[a-z0-9]/.test(character)) return LOWER_OR_DIGIT
  return /[A-Z]/.test(character) ? UPPER : SEPARATOR
})

/**
 * Returns the words of a text as the index takes them, folded and in order. Runs of ASCII letters and digits,
 * which nearly all text is made of, are cut out in one pass; what has other characters goes by `wordsOf`.
 */
export function indexableWords(text: string): string[] {
  const words: string[] = []
  let from = 0
  let kinds = SEPARATOR
  for (let at = 0; at <= text.length; at++) {
    const code = text.charCodeAt(at)
    // After the end the code is NaN, which ends a word as well.
    const kind = code >= 128 ? NOT_ASCII : (ASCII_KINDS[code] ?? SEPARATOR)
    if (kind !== SEPARATOR) {
      if (kinds === SEPARATOR) from = at
      kinds |= kind
    } else if (kinds !== SEPARATOR) {
      const run = text.slice(from, at)
      if (kinds >= NOT_ASCII) for (const word of wordsOf(run)) words.push(word.text)
      else words.push(kinds >= UPPER ? run.toLowerCase() : run)
      kinds = SEPARATOR
    }
  }
  return words
}

/** Returns the words of a text in order: runs of letters, digits and marks, folded. */
export function wordsOf(text: string): Word[] {
  const words: Word[] = []
  for (const match of text.matchAll(WORD)) {
    for (const part of splitUnspaced(match[0])) {
      const from = match.index + part.offset
      words.push({ text: folded(part.text), from, to: from + part.text.length })
    }
  }
  return words
}

const ASCII_ONLY = /^[\0-\x7f]*$/

/** Case counts nothing, and accents nothing on the letters a to z; elsewhere they make another letter. */
function folded(text: string): string {
  if (ASCII_ONLY.test(text)) return text.toLowerCase()
  return text.normalize("NFD").replace(LATIN_MARKS, "$1").normalize("NFC").toLowerCase()
}

function splitUnspaced(run: string): { text: string; offset: number }[] {
  if (!UNSPACED.test(run)) return [{ text: run, offset: 0 }]
  const parts: { text: string; offset: number }[] = []
  let pending = ""
  let offset = 0
  for (const character of run) {
    if (!UNSPACED.test(character)) {
      pending += character
    } else {
      if (pending !== "") parts.push({ text: pending, offset: offset - pending.length })
      pending = ""
      parts.push({ text: character, offset })
    }
    offset += character.length
  }
  if (pending !== "") parts.push({ text: pending, offset: offset - pending.length })
  return parts
}

/** Returns a text with a space at each boundary of camel case: `getUserName` gives `get User Name`. */
export function splitCamelCase(text: string): string {
  return text.replace(CAMEL_CASE_BOUNDARY, " ")
}

/**
 * The same without a space after capitals: `HTTPServer` stays one word. For words whose vectors are compared, as the
 * built-in model does not cut there either; to cut puts one answer in three hundred further down.
 */
export function splitAtCapitals(text: string): string {
  return text.replace(CAPITAL_BOUNDARY, " ")
}

/**
 * Returns words with the characters of scripts without spaces in pairs of neighbours, after the others: such
 * characters stand nearly everywhere. One that has no neighbour goes, but if no word has.
 */
export function withPairs(words: readonly string[]): readonly string[] {
  const pairs = characterPairs(words)
  return pairs.length === 0 ? words : [...words.filter((word) => !isCharacter(word)), ...pairs]
}

/** Returns the pairs of neighbours in a script without spaces, whose words are single characters. */
export function characterPairs(words: readonly string[]): string[] {
  return words.slice(1).flatMap((word, index) => {
    const before = words[index] ?? ""
    return isCharacter(before) && isCharacter(word) ? [before + word] : []
  })
}

const CHARACTER = /^[^\0-\u0dff]$/u

function isCharacter(word: string): boolean {
  return CHARACTER.test(word)
}
