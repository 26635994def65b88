/**
 * The query language of message search, and the excerpts that show why a message was found. Every
 * text is a valid query: what has no special meaning is literal. Matching itself is the engine's.
 */

export interface QueryTerm {
  /** Words as the index holds them, to be found next to each other. */
  words: string[]
  /** The last word is only the beginning of one. */
  isPrefix: boolean
  /** Where to look; null for everywhere. */
  field: "subject" | "body" | null
}

/** A parsed query: all of `required`, none of `excluded`; `optional` terms rank, one must match if nothing is required. */
export interface MessageQuery {
  required: QueryTerm[]
  optional: QueryTerm[]
  excluded: QueryTerm[]
}

const TERM = /(?<minus>(?:-(?!-))?)(?:(?<field>subject|body):)?(?:"(?<phrase>[^"]*)"?|(?<word>[^\s"]+))/giu
const WORD = /[\p{L}\p{N}\p{Co}\p{M}]+/gu
/** Scripts written without spaces: each character is a word of its own, so that parts can be found. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u
const LATIN_MARKS = /([A-Za-z])[\u0300-\u036f]+/g

/**
 * Parses a query: plain words and `prefix*` are alternatives; `"phrases"` and `subject:` or `body:`
 * terms must match; `-term` must not. Never fails; terms without a letter or digit are dropped.
 */
export function parseQuery(text: string): MessageQuery {
  const query: MessageQuery = { required: [], optional: [], excluded: [] }
  for (const match of text.matchAll(TERM)) {
    const { minus, field, phrase, word } = match.groups ?? {}
    const literal = phrase ?? word ?? ""
    const words = wordsOf(literal).map((found) => found.text)
    if (words.length === 0) continue
    const term: QueryTerm = {
      words,
      isPrefix: phrase === undefined && literal.endsWith("*"),
      field: field === undefined ? null : (field.toLowerCase() as "subject" | "body"),
    }
    if (minus === "-") query.excluded.push(term)
    else if (phrase !== undefined || term.field !== null) query.required.push(term)
    else query.optional.push(term)
  }
  return query
}

/** Whether a query names anything to look for. */
export function hasWords(query: MessageQuery): boolean {
  return query.required.length + query.optional.length > 0
}

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
    // Behind the end the code is NaN, which ends a word as well.
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

/**
 * Returns the part of a Markdown text around what the query matched, on one line, with each match in
 * `**`; the beginning of the text when nothing in it matched. At most `charsMax` characters of the text.
 */
export function excerpt(
  text: string,
  query: MessageQuery,
  field: "subject" | "body",
  charsMax: number,
): string {
  const flat = text.replace(/\s+/gu, " ").trim()
  const terms = [...query.required, ...query.optional].filter(
    (term) => term.field === null || term.field === field,
  )
  const ranges = matchedRanges(flat, terms)
  const first = ranges[0] ?? { from: 0, to: 0 }
  const lead = Math.floor(charsMax / 3)
  const latestStart = Math.max(0, flat.length - charsMax)
  const start = startOfWord(flat, Math.min(Math.max(0, first.from - lead), latestStart))
  const to = wholeCharacter(flat, Math.min(flat.length, Math.max(start + charsMax, first.to)))
  const from = wholeCharacter(flat, Math.max(start, to - charsMax))
  const marked = markRanges(flat, ranges, from, to)
  return `${from > 0 ? "…" : ""}${marked}${to < flat.length ? "…" : ""}`
}

interface Word {
  text: string
  from: number
  to: number
}

interface Range {
  from: number
  to: number
}

/** The one word rule of index, query and excerpt: runs of letters, digits and marks, folded. */
function wordsOf(text: string): Word[] {
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

function matchedRanges(text: string, terms: readonly QueryTerm[]): Range[] {
  const words = wordsOf(text)
  const ranges: Range[] = []
  let index = 0
  while (index < words.length) {
    const length = Math.max(
      0,
      ...terms.filter((term) => matchesAt(words, index, term)).map((term) => term.words.length),
    )
    const [first, last] = [words[index], words[index + length - 1]]
    if (length > 0 && first !== undefined && last !== undefined)
      ranges.push({ from: first.from, to: last.to })
    index += Math.max(1, length)
  }
  return ranges
}

function matchesAt(words: readonly Word[], index: number, term: QueryTerm): boolean {
  return term.words.every((wanted, offset) => {
    const found = words[index + offset]?.text
    const isLast = offset === term.words.length - 1
    return term.isPrefix && isLast ? found?.startsWith(wanted) : found === wanted
  })
}

function markRanges(text: string, ranges: readonly Range[], from: number, to: number): string {
  let marked = ""
  let position = from
  for (const range of ranges) {
    if (range.from < position || range.to > to) continue
    marked += `${text.slice(position, range.from)}**${text.slice(range.from, range.to)}**`
    position = range.to
  }
  return marked + text.slice(position, to)
}

/** Moves a position off the middle of a surrogate pair. */
function wholeCharacter(text: string, position: number): number {
  const isMiddle =
    /[\udc00-\udfff]/.test(text.charAt(position)) && /[\ud800-\udbff]/.test(text.charAt(position - 1))
  return isMiddle ? position + 1 : position
}

function startOfWord(text: string, position: number): number {
  if (position === 0) return 0
  const space = text.lastIndexOf(" ", position)
  return space < 0 || position - space > 40 ? position : space + 1
}
