/**
 * Reads AsciiDoc, as the AsciiDoc language documentation and Asciidoctor have it, as far as an outline needs
 * it: where sections begin, and which lines belong together. Nothing is included, and no macro is carried
 * out.
 */

import type { BlockKind, Outline } from "../outline.ts"
import {
  everyLine,
  isBlank,
  OutlineBuilder,
  softBreaks,
  splitLines,
  WHOLE_LINES_MAX,
} from "../outline-builder.ts"

interface Source {
  lines: readonly string[]
  builder: OutlineBuilder
  /** The lines on which each delimiter stands, ascending. */
  delimiters: Map<string, number[]>
  /** What the document defines, for its titles. */
  attributes: Map<string, string>
  /** What stands in brackets before the block that comes next. */
  style: string
}

/** Deeper content is taken as it stands, so that no file can exhaust the stack. */
const NESTING_MAX = 12

const DELIMITER = /^(?:-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|\/{4,}|~{4,}|--|`{3,}\S*|[|,:!]={3,})$/
const ATTRIBUTE = /^:(!?\w[\w-]*!?):(?:\s+(.*))?$/
const CONDITION = /^(?:ifdef|ifndef|ifeval|endif)::\S*\[.*\]$/
const MACRO = /^[a-zA-Z]\w*::\S*\[.*\]$/
const BREAK = /^(?:'{3,}|<{3,}|-{3}|\*{3}|- - -|\* \* \*)$/
const BLOCK_TITLE = /^\.\.?[^\s.]/
const BRACKETS = /^\[(?:[\p{L}\p{N}_.#%{,"'].*|\[.*\])?\]$/u
const SECTION = /^(={1,6}|#{1,6})\s+(\S.*)$/
const UNDERLINE = /^(?:={2,}|-{2,}|~{2,}|\^{2,}|\+{2,})$/
const ITEM = /^(?:\*{1,5}|-|\.{1,5}|\d{1,3}\.|[a-zA-Z]\.|<(?:\d{1,3}|\.)>|•)\s+\S/
const TERM = /^\S.{0,300}?(?::{2,4}|;;)(?:\s|$)/
const BARE_TERM = /(?::{2,4}|;;)$/

/**
 * Reads AsciiDoc. Lines are the file's own; comments, attribute entries and conditions are in no block.
 * Anchors, attributes in brackets and block titles belong to the block that follows. Never throws; takes time
 * in step with the length.
 */
export function readAsciidoc(text: string): Outline {
  const lines = splitLines(text)
  const delimiters = new Map<string, number[]>()
  const builder = new OutlineBuilder(lines)
  const source: Source = { lines, builder, delimiters, attributes: new Map(), style: "" }
  lines.forEach((line, at) => {
    const key = delimiterOf(line)
    if (key === null) return
    const places = delimiters.get(key)
    if (places === undefined) delimiters.set(key, [at])
    else places.push(at)
  })
  readBody(source, 0, lines.length, 0)
  return builder.finish()
}

/** The delimiter that a line consists of, as the line that ends its block has it. */
function delimiterOf(line: string): string | null {
  if (line.length > 1_000 || !/^[-.=*_+/~`|,:!]/.test(line)) return null
  const text = line.trimEnd()
  if (!DELIMITER.test(text)) return null
  return text.startsWith("`") ? text.replace(/[^`]+$/, "") : text
}

/** The line that closes the block opened on `at`, or null when it is never closed before `to`. */
function closerOf({ lines, delimiters }: Source, at: number, to: number): number | null {
  const key = delimiterOf(lines[at] ?? "")
  const places = key === null ? undefined : delimiters.get(key)
  if (places === undefined) return null
  let low = 0
  let high = places.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((places[middle] ?? 0) <= at) low = middle + 1
    else high = middle
  }
  const closer = places[low]
  return closer !== undefined && closer < to ? closer : null
}

/** A line without its indentation; of a very long one its two ends, which is all that tells its form. */
function textAt({ lines }: Source, at: number): string {
  const line = lines[at] ?? ""
  return (line.length > 4_000 ? `${line.slice(0, 2_000)} ${line.slice(-1_000)}` : line).trim()
}

function isBlankAt({ lines }: Source, at: number): boolean {
  return isBlank(lines[at])
}

function readBody(source: Source, from: number, to: number, depth: number): void {
  let at = from
  while (at < to) at = isBlankAt(source, at) ? at + 1 : readLine(source, at, to, depth)
  source.builder.unglue("markup", to)
  source.style = ""
}

/** Reads what stands between blocks, or else the block that begins here; returns the line after it. */
function readLine(source: Source, at: number, to: number, depth: number): number {
  const { lines, builder, attributes } = source
  const text = textAt(source, at)
  if (/^\/\/(?!\/)/.test(text) || CONDITION.test(text)) return at + 1
  const [, name, value = ""] = ATTRIBUTE.exec(text) ?? []
  if (name !== undefined) {
    attributes.set(name, value)
    let end = at + 1
    while (end < to && /\s[\\+]$/.test(textAt(source, end - 1))) end++
    return end
  }
  const isDelimiter = delimiterOf(lines[at] ?? "") !== null
  if (!isDelimiter && (BRACKETS.test(text) || BLOCK_TITLE.test(text))) {
    if (BRACKETS.test(text)) source.style += text
    builder.glue(at)
    return at + 1
  }
  const end =
    (depth === 0 ? readTitle(source, at) : null) ??
    (isDelimiter ? readDelimited(source, at, to, depth) : null) ??
    readOpen(source, at, to, depth)
  source.style = ""
  return end
}

/** Reads what needs no delimiters: breaks, macros, lists, paragraphs. */
function readOpen(source: Source, at: number, to: number, depth: number): number {
  const { lines, builder } = source
  const text = textAt(source, at)
  if (BREAK.test(text) || (delimiterOf(lines[at] ?? "") !== null && !isItem(source, at))) return at + 1
  if (MACRO.test(text)) {
    builder.addBlock("markup", at, at + 1)
    return at + 1
  }
  if (isItem(source, at)) return readList(source, at, to, depth)
  let end = at + 1
  while (end < to && !endsParagraph(source, end, to)) end++
  const isLiteral = /^\s/.test(lines[at] ?? "") || /\[(?:source|listing|literal)\b/.test(source.style)
  builder.addBlock(isLiteral ? "code" : "paragraph", at, end)
  return end
}

function endsParagraph(source: Source, at: number, to: number): boolean {
  if (isBlankAt(source, at)) return true
  const text = textAt(source, at)
  return closerOf(source, at, to) !== null || BRACKETS.test(text) || CONDITION.test(text)
}

/** Reads a section title with `=` before it or a line below it, and returns the line after it. */
function readTitle(source: Source, at: number): number | null {
  const { lines, builder } = source
  const text = textAt(source, at)
  if (/^\s/.test(lines[at] ?? "")) return null
  let [, mark = "", title = ""] = SECTION.exec(text) ?? []
  let level = mark.length - 1
  let end = at + 1
  if (title.endsWith(` ${mark}`)) title = title.slice(0, -mark.length - 1)
  if (mark === "") {
    const below = (lines[at + 1] ?? "").trimEnd()
    if (below.length > 1_000 || !UNDERLINE.test(below) || Math.abs(text.length - below.length) > 1)
      return null
    if (!/[\p{L}\p{N}]/u.test(text) || isItem(source, at)) return null
    title = text
    level = "=-~^+".indexOf(below.charAt(0))
    end = at + 2
  }
  const heading = plainTitle(title, source.attributes)
  if (heading === "") return null
  const isFirst = level === 0 && !isBlankAt(source, end)
  builder.addHeading(level, heading, at, end)
  // The author's line is no text of the document, nor is the line of the revision below it.
  if (isFirst && /^[^\s:[=].*<\S+@\S+>$/.test(textAt(source, end))) {
    return /^v?\d[\w.]*(?:,|$)/.test(textAt(source, end + 1)) ? end + 2 : end + 1
  }
  return end
}

/**
 * Takes the markup from a title: anchors, links, references, formatting; names of attributes become values.
 */
function plainTitle(title: string, attributes: ReadonlyMap<string, string>): string {
  return title
    .replace(/<<[^<>,]*,([^<>]*)>>|<<([^<>]*)>>/g, (_, text?: string, id = "") => (text ?? id).trim())
    .replace(/(?:\w[\w+.-]*:)?\/\/[^\s[\]]*\[([^\]]*)\]/g, "$1")
    .replace(/\b(?:link|xref|kbd|btn|menu|mailto|footnote):[^\s[\]]*\[([^\]]*)\]/g, "$1")
    .replace(/\[\[[^\]]*\]\]|\[#[^\]]*\]/g, "")
    .replace(/\{([\w-]+)\}/g, (whole, name: string) => attributes.get(name) ?? whole)
    .replace(/\[[\w.#%"= -]*\](?=[#*_`])/g, "")
    .replace(
      /(^|[^\p{L}\p{N}])(\*{1,2}|_{1,2}|`{1,2}|\+{1,3}|#{1,2})(\S|\S[^\n]*?\S)\2(?![\p{L}\p{N}])/gu,
      "$1$3",
    )
    .replace(/(?<=\p{L})``|``(?=\p{L})/gu, "")
    .trim()
}

/** Reads a block between two delimiters; null when there is no second one. */
function readDelimited(source: Source, at: number, to: number, depth: number): number | null {
  const { lines, builder } = source
  const closer = closerOf(source, at, to)
  if (closer === null) return null
  const end = closer + 1
  const text = textAt(source, at)
  const character = text.charAt(0)
  if (text.startsWith("////")) return end
  if (text.endsWith("===") && "|,:!".includes(character)) addTable(source, at, end)
  else if (character === "+") builder.addBlock("markup", at, end, softBreaks(lines, at, end))
  else if (
    ".`".includes(character) ||
    text.startsWith("----") ||
    /\[(?:source|listing)\b/.test(source.style)
  ) {
    builder.addBlock("code", at, end, softBreaks(lines, at, end))
  } else {
    const kind = character === "_" ? "quote" : "paragraph"
    addContainer(source, kind, at, end, depth)
  }
  return end
}

/** Adds a block that has blocks inside: as one when it is short, else block by block. */
function addContainer(source: Source, kind: BlockKind, from: number, to: number, depth: number): void {
  const { lines, builder } = source
  if (to - from <= WHOLE_LINES_MAX || depth === NESTING_MAX) {
    builder.addBlock(kind, from, to, softBreaks(lines, from, to))
    return
  }
  builder.glue(from)
  source.style = ""
  readBody(source, from + 1, to - 1, depth + 1)
  builder.extend(to)
}

function addTable(source: Source, from: number, to: number): void {
  const { lines, builder, style } = source
  const isCell = (line: number) => /^[\w.+*<>^]{0,9}[|!]/.test(textAt(source, line))
  const inner = everyLine(lines, from, to - 1)
  const first = inner[0] ?? from + 1
  const isAsked = /%header|options?=[^\]]*\bheader|opts=[^\]]*\bheader/.test(style) && !/noheader/.test(style)
  // Without being asked for, a first line with nothing before it and a blank line after it is a header.
  const isGiven =
    first === from + 1 && isBlankAt(source, first + 1) && first + 1 < to && !/noheader/.test(style)
  const afterBlank = inner.filter((line) => line > first && isBlankAt(source, line - 1))
  const hasOneLine = isGiven || /\S.*[|!,]/.test(textAt(source, first))
  const bodyFrom = hasOneLine ? inner[1] : afterBlank[0]
  const headerTo = isAsked || isGiven ? bodyFrom : undefined
  const isCsv = !textAt(source, from).startsWith("|") && !textAt(source, from).startsWith("!")
  const cells = isCsv ? inner : inner.filter(isCell)
  // Rows of several lines are told apart by the blank lines between them.
  const rows = afterBlank.length > 1 ? afterBlank : cells
  const body = (rows.length > 0 ? rows : inner).filter((line) => line >= (headerTo ?? from + 1))
  builder.addBlock("table", from, to, body, headerTo)
}

function isItem(source: Source, at: number): boolean {
  const text = textAt(source, at)
  return ITEM.test(text) || (TERM.test(text) && !/^\/\//.test(text))
}

/** A part of a list: the text of an item, or a block that is attached to it. */
interface Part {
  from: number
  to: number
  beginsItem: boolean
  /** Where the delimiter of an attached block stands. */
  delimiterAt: number | null
}

/** Adds the items from here on: short ones together, long ones part by part. Returns the line after them. */
function readList(source: Source, at: number, to: number, depth: number): number {
  const { lines, builder } = source
  const parts = listParts(source, at, to)
  let group: Part[] = []
  const endGroup = () => {
    const from = group[0]?.from ?? at
    const groupTo = group.at(-1)?.to ?? from
    const breaks = group.length > 1 ? group.map((part) => part.from) : softBreaks(lines, from, groupTo)
    if (group.length > 0) builder.addBlock("list", from, groupTo, breaks)
    group = []
  }
  for (let first = 0; first < parts.length; ) {
    let after = first + 1
    while (parts[after]?.beginsItem === false) after++
    const item = parts.slice(first, after)
    first = after
    if ((item.at(-1)?.to ?? at) - (item[0]?.from ?? at) <= WHOLE_LINES_MAX || depth === NESTING_MAX) {
      for (const part of item) group.push(part)
      continue
    }
    endGroup()
    addLongItem(source, item, depth)
  }
  endGroup()
  return parts.at(-1)?.to ?? at + 1
}

function addLongItem(source: Source, parts: readonly Part[], depth: number): void {
  const { lines, builder } = source
  for (const { from, to, delimiterAt } of parts) {
    source.style = delimiterAt === null ? "" : lines.slice(from, delimiterAt).join("")
    if (delimiterAt === null) builder.addBlock("list", from, to)
    else {
      builder.glue(from)
      readDelimited(source, delimiterAt, to, depth + 1)
      // A comment that is attached has no text.
      builder.unglue("markup", from + 1)
    }
  }
}

/** Takes a list apart, from its first item to the last line that belongs to it. */
function listParts(source: Source, at: number, to: number): Part[] {
  const { lines } = source
  const parts: Part[] = []
  let line = at
  let isAttached = false
  let previous = ""
  while (line < to) {
    const text = textAt(source, line)
    const isAfterBlank = line > at && isBlankAt(source, line - 1)
    const last = parts.at(-1)
    if (text === "") {
      line++
      continue
    }
    const beginsItem = isItem(source, line) && !isAttached
    const closer = closerOf(source, line, to)
    if (closer !== null && !beginsItem) {
      if (!isAttached || last === undefined) break
      parts[parts.length - 1] = { ...last, to: closer + 1, delimiterAt: line }
      line = closer + 1
      isAttached = false
      continue
    }
    const isInside = beginsItem || isAttached || text === "+" || !isAfterBlank
    const goesOn = isInside || /^\s/.test(lines[line] ?? "") || BARE_TERM.test(previous)
    if (!goesOn || (BRACKETS.test(text) && !isAttached) || CONDITION.test(text)) break
    if (text === "+") isAttached = true
    else if (!(BRACKETS.test(text) || BLOCK_TITLE.test(text))) isAttached = false
    if (last === undefined || beginsItem || text === "+" || (isAfterBlank && !isAttached)) {
      // Terms above each other have one text.
      const isOneMore = last !== undefined && BARE_TERM.test(previous) && !isAfterBlank && !ITEM.test(text)
      if (last !== undefined && isOneMore) last.to = line + 1
      else parts.push({ from: line, to: line + 1, beginsItem, delimiterAt: null })
    } else last.to = line + 1
    previous = text
    line++
  }
  return parts
}
