/**
 * The query language of message search, and the excerpts that show why a message was found. Every
 * text is a valid query: what has no special meaning is literal. Matching itself is the engine's.
 */

import { isWithinCharacter } from "./characters.ts"
import { type Word, wordsOf } from "./words.ts"

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

/**
 * Returns the part of a Markdown text around what the query matched, on one line and freed of its own emphasis, with
 * each match in `**`; the beginning of the text when nothing in it matched. At most `charsMax` characters of the text.
 */
export function excerpt(
  text: string,
  query: MessageQuery,
  field: "subject" | "body",
  charsMax: number,
): string {
  const flat = withoutEmphasis(text.replace(/\s+/gu, " ").trim())
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

/** Code, which shows its characters as they are. */
const CODE = /(`+)(?!`)[^`](?:.*?[^`])?\1(?!`)/gu
/** Marks around words, of one kind on both sides; not those within words, paths and patterns. */
const EMPHASIS =
  /(?<![\p{L}\p{N}*_~/\\])(?<mark>\*{1,3}|_|~~)(?=[^\s*_~/.])(?<inner>[^*_~]*?[^\s*_~/\\])\k<mark>(?![\p{L}\p{N}*_~/.](?!\s|$))/gu

/** Returns a line of Markdown without the marks of emphasis, in which a highlight would end or begin another. */
function withoutEmphasis(line: string): string {
  if (!/[*_~]/.test(line)) return line
  let freed = ""
  let position = 0
  for (const code of line.matchAll(CODE)) {
    freed += freeOfEmphasis(line.slice(position, code.index)) + code[0]
    position = code.index + code[0].length
  }
  return freed + freeOfEmphasis(line.slice(position))
}

/** Emphasis may stand in emphasis: the inner one goes first, three deep. */
function freeOfEmphasis(text: string): string {
  let freed = text
  for (let depth = 0; depth < 3; depth += 1) freed = freed.replace(EMPHASIS, "$<inner>")
  return freed
}

interface Range {
  from: number
  to: number
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
  return isWithinCharacter(text, position) ? position + 1 : position
}

function startOfWord(text: string, position: number): number {
  if (position === 0) return 0
  const space = text.lastIndexOf(" ", position)
  return space < 0 || position - space > 40 ? position : space + 1
}
