/**
 * Owns the reduction of one Markdown block to plain text: links become their text, emphasis marks go,
 * inline code stays with its backticks. It refuses to know blocks (lists, fences, tables) and it is
 * deliberately more cautious than CommonMark: a mark that could belong to a glob or a file name stays as
 * written.
 */

/** A half-open range of UTF-16 offsets. */
export interface TextSpan {
  start: number
  end: number
}

/**
 * Finds the inline code of a text, backticks included.
 * A run of n backticks is closed by the next run of exactly n (CommonMark 0.31, "Code spans"). Linear time.
 */
export function findCodeSpans(text: string): TextSpan[] {
  if (!text.includes("`")) return []
  const runs = [...text.matchAll(/`+/g)].map((run) => ({ start: run.index, end: run.index + run[0].length }))
  // Pairing is read backwards so that a run with no partner costs one look-up, not one scan of the rest.
  const nextOfLength = new Map<number, TextSpan>()
  const partners = new Map<TextSpan, TextSpan>()
  for (const run of runs.toReversed()) {
    const length = run.end - run.start
    const partner = nextOfLength.get(length)
    if (partner) partners.set(run, partner)
    nextOfLength.set(length, run)
  }
  const spans: TextSpan[] = []
  let readUpTo = 0
  for (const run of runs) {
    const partner = partners.get(run)
    if (run.start < readUpTo || !partner) continue
    spans.push({ start: run.start, end: partner.end })
    readUpTo = partner.end
  }
  return spans
}

/** Answers which inline code an offset lies in; asked with ascending offsets, all answers cost one pass. */
export class CodeSpanCursor {
  readonly #spans: TextSpan[]
  #next = 0

  constructor(text: string) {
    this.#spans = findCodeSpans(text)
  }

  spanAt(offset: number): TextSpan | null {
    let span = this.#spans[this.#next]
    while (span && span.end <= offset) {
      this.#next += 1
      span = this.#spans[this.#next]
    }
    return span && span.start <= offset ? span : null
  }
}

/** Blanks inline code with backticks, so that no cue matches inside it; offsets stay the same. */
export function maskCode(text: string): string {
  const spans = findCodeSpans(text)
  if (spans.length === 0) return text
  let masked = ""
  let from = 0
  for (const { start, end } of spans) {
    masked += text.slice(from, start) + "`".repeat(end - start)
    from = end
  }
  return masked + text.slice(from)
}

/**
 * Reduces the inline Markdown of one block to plain text with single spaces.
 * Linear in the length of the block, whatever it holds.
 */
export function plainText(markdown: string): string {
  const reduced = /[\\`![\]<*_~]/.test(markdown) ? new InlineReduction(markdown).read() : markdown
  return reduced.replace(/\s+/g, " ").trim()
}

const PLAIN_RUN = /[^\\`[\]!<*_~]+/y
const BACKTICK_RUN = /`+/y
const MARK_RUN = /([*_~])\1*/y
const ESCAPE = /\\[!-/:-@[-`{-~]/y
const AUTOLINK = /<((?:https?:\/\/|mailto:)[^<>\s]+)>/y
const TAG = /<\/?(?:br|p|div|span|b|i|u|em|strong|sub|sup|kbd|small|details|summary|hr)(?:\s[^<>]*)?\/?>/iy

class InlineReduction {
  readonly #text: string
  readonly #codeEnds: Map<number, number>
  readonly #parenEnds: Map<number, number>
  readonly #output: string[] = []
  readonly #openBrackets: number[] = []
  readonly #openMarks = new Map<string, number[]>()
  #at = 0
  #nextSpace = 0

  constructor(text: string) {
    this.#text = text
    this.#codeEnds = new Map(findCodeSpans(text).map(({ start, end }) => [start, end]))
    this.#parenEnds = text.includes("](") ? pairParentheses(text) : new Map()
  }

  read(): string {
    while (this.#at < this.#text.length) this.#readNext()
    return this.#output.join("")
  }

  #readNext(): void {
    const run = this.#match(PLAIN_RUN)
    const next = this.#text[this.#at] ?? ""
    if (run) this.#copy(run[0].length)
    else if (next === "`") this.#readCode()
    else if (next === "\\") this.#readEscape()
    else if (next === "[" || next === "!") this.#readBracket()
    else if (next === "]") this.#readBracketEnd()
    else if (next === "<") this.#readAngle()
    else this.#readMark()
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    return pattern.exec(this.#text)
  }

  #copy(length: number): void {
    this.#output.push(this.#text.slice(this.#at, this.#at + length))
    this.#at += length
  }

  #readCode(): void {
    const end = this.#codeEnds.get(this.#at) ?? this.#unclosedRunEnd()
    this.#copy(end - this.#at)
  }

  #unclosedRunEnd(): number {
    return this.#at + (this.#match(BACKTICK_RUN)?.[0].length ?? 1)
  }

  #readEscape(): void {
    if (this.#match(ESCAPE)) this.#at += 1
    this.#copy(1)
  }

  #readBracket(): void {
    const opening = this.#text.startsWith("![", this.#at) ? "![" : (this.#text[this.#at] ?? "")
    if (opening !== "!") this.#openBrackets.push(this.#output.length)
    this.#copy(opening.length)
  }

  #readBracketEnd(): void {
    const opening = this.#openBrackets.pop()
    const end = opening === undefined ? undefined : this.#destinationEnd(this.#at + 1)
    if (opening === undefined || end === undefined) {
      this.#copy(1)
      return
    }
    this.#output[opening] = ""
    this.#at = end
  }

  /** The offset after `(url)` or `(url "title")`; words in plain parentheses after a bracket are no link. */
  #destinationEnd(from: number): number | undefined {
    const close = this.#parenEnds.get(from)
    if (close === undefined) return undefined
    const space = this.#spaceFrom(from)
    const isDestination = space >= close || /["'(]/.test(this.#text[space + 1] ?? "")
    return isDestination ? close + 1 : undefined
  }

  // The cursor only moves forward, as the reader does: all look-ups together cost one pass over the text.
  #spaceFrom(from: number): number {
    this.#nextSpace = Math.max(this.#nextSpace, from)
    while (this.#nextSpace < this.#text.length && !isSpace(this.#text[this.#nextSpace])) this.#nextSpace += 1
    return this.#nextSpace
  }

  #readAngle(): void {
    const angled = this.#match(AUTOLINK) ?? this.#match(TAG)
    if (angled === null) {
      this.#copy(1)
      return
    }
    const [whole, address = " "] = angled
    this.#output.push(address)
    this.#at += whole.length
  }

  #readMark(): void {
    const mark = this.#match(MARK_RUN)?.[0] ?? ""
    const opened = this.#openMarks.get(mark) ?? []
    const before = this.#text[this.#at - 1] ?? " "
    const after = this.#text.slice(this.#at + mark.length, this.#at + mark.length + 2)
    if (opened.length > 0 && closesEmphasis(mark, before, after)) {
      this.#output[opened.pop() ?? 0] = ""
      this.#at += mark.length
      return
    }
    if (opensEmphasis(mark, before, after)) {
      opened.push(this.#output.length)
      this.#openMarks.set(mark, opened)
    }
    this.#copy(Math.max(1, mark.length))
  }
}

function isSpace(character: string | undefined): boolean {
  return character !== undefined && /\s/.test(character)
}

function opensEmphasis(mark: string, before: string, after: string): boolean {
  if (mark.length > 3 || (mark.startsWith("~") && mark.length !== 2)) return false
  // `src/*.ts`, `2*3` and `snake_case` hold marks that are letters of a name.
  const startsWord = !/[A-Za-z0-9/.\\]/.test(before)
  const refused = mark.length === 1 ? /^(?:$|[\s./,;:)\]])/ : /^(?:$|[\s/,;:)\]])/
  return startsWord && !refused.test(after)
}

function closesEmphasis(mark: string, before: string, after: string): boolean {
  if (/[\s/]/.test(before)) return false
  // `__init__.py` ends in a file extension, not in the end of a bold word.
  if (/^\.[A-Za-z0-9]/.test(after) || /^[/\\]/.test(after)) return false
  return mark.startsWith("**") || !/^[A-Za-z0-9]/.test(after)
}

function pairParentheses(text: string): Map<number, number> {
  const ends = new Map<number, number>()
  const open: number[] = []
  for (const { 0: character, index } of text.matchAll(/[()]/g)) {
    if (character === "(") open.push(index)
    else {
      const start = open.pop()
      if (start !== undefined) ends.set(start, index)
    }
  }
  return ends
}
