/** Reads plain text: paragraphs between blank lines, lists, and headings where they are clearly meant. */

import type { Outline } from "../outline.ts"
import { everyLine, isBlank, OutlineBuilder, splitLines } from "../outline-builder.ts"

const TITLE_CHARS_MAX = 80
/** Of a title with a line below it, and of that line. */
const LINE_CHARS_MAX = 1_000
const UNDERLINE = /^([=\-~*^_#+])\1{2,}\s*$/
const NUMBER = /^(\d{1,3}(?:\.\d{1,3})*)(\.?)\s+(?=\S)/
const ITEM = /^\s*(?:[-*+•o]|\(?\d{1,3}[.)]|\[\d{1,3}\])\s+\S/

/**
 * Reads plain text. Headings are lines with a line of `=`, `-` or the like below; short lines of capitals
 * with text below that is set off; and numbered lines between blank lines that are no list. Their levels
 * follow the order in which these forms first appear. Never throws; takes time in step with the length.
 */
export function readPlainText(text: string): Outline {
  const lines = splitLines(text)
  const builder = new OutlineBuilder(lines)
  const forms: string[] = []
  const levelOf = (form: string) => {
    if (!forms.includes(form)) forms.push(form)
    return forms.indexOf(form)
  }
  const numbered = findNumberedHeadings(lines)
  let at = 0
  while (at < lines.length) {
    if (isBlank(lines[at])) {
      at++
      continue
    }
    const heading = headingAt(lines, at, numbered)
    if (heading !== null) {
      builder.addHeading(levelOf(heading.form), heading.text, at, heading.to)
      at = heading.to
      continue
    }
    const to = stretchEnd(lines, at)
    addStretch(builder, lines, at, to)
    at = to
  }
  return builder.finish()
}

interface Heading {
  text: string
  /** What it looks like; headings of one form have one level. */
  form: string
  to: number
}

/** The heading that begins on a line that is the first, or has a blank line or a heading above. */
function headingAt(
  lines: readonly string[],
  at: number,
  numbered: ReadonlyMap<number, string>,
): Heading | null {
  const line = lines[at] ?? ""
  if (line.length > LINE_CHARS_MAX) return null
  const below = lines[at + 1]
  const over = UNDERLINE.exec(line)
  if (over !== null) {
    const isFramed = isTitle(below) && lines[at + 2]?.trimEnd() === line.trimEnd()
    return isFramed ? { text: (below ?? "").trim(), form: `over ${over[1]}`, to: at + 3 } : null
  }
  if (line.length > TITLE_CHARS_MAX || /^\s/.test(line)) return null
  const text = line.trim()
  const under = below === undefined || below.length > LINE_CHARS_MAX ? null : UNDERLINE.exec(below)
  if (under !== null && isTitle(line)) {
    const length = below?.trimEnd().length ?? 0
    const isAsWide = length * 2 >= text.length && length <= Math.max(text.length + 4, text.length * 2)
    if (isAsWide) return { text, form: `under ${under[1]}`, to: at + 2 }
  }
  const form = numbered.get(at)
  if (form !== undefined) return { text, form, to: at + 1 }
  const isSetOff = isBlank(below) ? lines[at + 1] !== undefined : /^\s/.test(below ?? "")
  return isSetOff && isCapitals(text) ? { text, form: "capitals", to: at + 1 } : null
}

function isTitle(line: string | undefined): boolean {
  return (
    line !== undefined && line.length <= TITLE_CHARS_MAX && /[\p{L}\p{N}]/u.test(line) && !ITEM.test(line)
  )
}

/** Capitals only, four letters at the least, and no end of a sentence. */
function isCapitals(text: string): boolean {
  if (text.length > 60 || /[.,;!\\]$/.test(text) || !/^[\p{Lu}\d]/u.test(text) || /\p{Ll}/u.test(text))
    return false
  const letters = text.match(/\p{Lu}/gu)?.length ?? 0
  return letters >= 4 && letters * 2 >= text.length
}

/**
 * Finds numbered lines between blank lines that are headings, with their form, in one pass. An item of a list
 * stands next to one of the same depth, with nothing in between; a heading has text that follows it.
 */
function findNumberedHeadings(lines: readonly string[]): Map<number, string> {
  const found = new Map<number, string>()
  let aboveAt = -1
  let aboveForm: string | null = null
  for (let at = 0; at < lines.length; at++) {
    if (isBlank(lines[at])) continue
    const form = numberedForm(lines, at)
    if (form !== null && form === aboveForm) found.delete(aboveAt)
    else if (form !== null) found.set(at, form)
    aboveAt = at
    aboveForm = form
  }
  return found
}

function numberedForm(lines: readonly string[], at: number): string | null {
  const line = lines[at] ?? ""
  if (line.length > TITLE_CHARS_MAX || !isBlank(lines[at - 1]) || !isBlank(lines[at + 1])) return null
  const [prefix, number = "", dot] = NUMBER.exec(line) ?? []
  if (prefix === undefined || /[.,;:!?]\s*$/.test(line) || !/^\p{Lu}/u.test(line.slice(prefix.length)))
    return null
  const depth = number.split(".").length
  // "3 Blind mice" is a sentence: a number alone needs its dot.
  return depth > 1 || dot === "." ? `numbered ${depth}` : null
}

/** The line after the ones that are not blank. */
function stretchEnd(lines: readonly string[], from: number): number {
  let to = from + 1
  while (to < lines.length && !isBlank(lines[to])) to++
  return to
}

function addStretch(builder: OutlineBuilder, lines: readonly string[], from: number, to: number): void {
  if (to === from + 1 && !/[\p{L}\p{N}]/u.test(lines[from] ?? "")) return
  if (!ITEM.test(lines[from] ?? "")) {
    builder.addBlock("paragraph", from, to)
    return
  }
  const items = everyLine(lines, from, to).filter((line) => ITEM.test(lines[line] ?? ""))
  builder.addBlock("list", from, to, items.length > 0 ? items : undefined)
}
