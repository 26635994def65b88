/** What the readers of lines build their outlines with, and what they have to know of lines. */

import type { Block, BlockKind, Outline } from "./outline.ts"

/** What is no longer than this many lines is best shown whole, whatever it is made of. */
export const WHOLE_LINES_MAX = 20

/** Takes headings and blocks in the order of the file and makes an outline of them. */
export class OutlineBuilder {
  /** What the document calls itself in another way than by its first heading. */
  title: string | null = null
  readonly #lines: readonly string[]
  readonly #sections: { headings: string[]; blocks: Block[] }[] = []
  readonly #path: { level: number; text: string }[] = []
  #glueFrom: number | null = null

  /** `lines` are those of the outline; they may still grow. */
  constructor(lines: readonly string[]) {
    this.#lines = lines
  }

  /** Starts a section; a smaller `level` stands above a larger one. `text` must not be empty. */
  addHeading(level: number, text: string, from: number, to: number): void {
    while ((this.#path.at(-1)?.level ?? -1) >= level) this.#path.pop()
    this.#path.push({ level, text })
    const [start, end] = this.#take(from, to)
    const headings = this.#path.map((heading) => heading.text)
    this.#sections.push({ headings, blocks: [{ kind: "heading", from: start, to: end, breaks: [] }] })
  }

  /**
   * Adds a block, without the blank lines at its ends; nothing when all of its lines are blank. Unless
   * `breaks` are given it may be cut at every line.
   */
  addBlock(kind: BlockKind, from: number, to: number, breaks?: readonly number[], headerTo = 0): void {
    const [start, end] = this.#take(from, to)
    if (start === end) return
    const places = breaks ?? everyLine(this.#lines, from, to)
    const inner = places.filter((line) => line > start && line < end && line >= headerTo)
    const block: Block = { kind, from: start, to: end, breaks: inner }
    if (headerTo > start && headerTo < end) block.headerTo = headerTo
    const section = this.#sections.at(-1)
    if (section === undefined) this.#sections.push({ headings: [], blocks: [block] })
    else section.blocks.push(block)
  }

  /** The lines of a block with those that waited for it, and without the blank ones at its ends. */
  #take(from: number, to: number): [start: number, end: number] {
    let start = this.#glueFrom ?? from
    let end = to
    while (end > start && isBlank(this.#lines[end - 1])) end--
    while (start < end && isBlank(this.#lines[start])) start++
    if (start < end) this.#glueFrom = null
    return [start, end]
  }

  /** Lets the next block or heading begin at this line, which only makes sense together with it. */
  glue(from: number): void {
    this.#glueFrom ??= from
  }

  /** Makes a block of its own of lines that still wait for theirs, up to `to`. */
  unglue(kind: BlockKind, to: number): void {
    if (this.#glueFrom !== null) this.addBlock(kind, this.#glueFrom, to)
    this.#glueFrom = null
  }

  /** Lets the last block also have the lines up to `to`, as for the line that closes what it is in. */
  extend(to: number): void {
    const block = this.#sections.at(-1)?.blocks.at(-1)
    if (block !== undefined && block.to < to) block.to = to
  }

  finish(lineNumbers?: Int32Array): Outline {
    const title = this.title ?? this.#sections.find(({ headings }) => headings.length > 0)?.headings.at(-1)
    const outline: Outline = { title: title ?? null, lines: this.#lines, sections: this.#sections }
    if (lineNumbers !== undefined) outline.lineNumbers = lineNumbers
    return outline
  }
}

/** Returns the lines of a text as git counts them, without the `\r` of line ends. */
export function splitLines(text: string): string[] {
  const lines = text.split("\n")
  if (!text.includes("\r\n")) return lines
  return lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line))
}

/** Returns what finds the line, from 1, that an offset lies on; asked for offsets in ascending order only. */
export function lineFinder(source: string): (offset: number) => number {
  let line = 1
  let end = source.indexOf("\n")
  return (offset) => {
    while (end >= 0 && end < offset) {
      line++
      end = source.indexOf("\n", end + 1)
    }
    return line
  }
}

/** White space as browsers show it, and without the characters that nobody sees. */
export function collapse(text: string): string {
  return text.replace(/[\u00ad\u200b\u2060\ufeff]/g, "").replace(/[ \t\n\r\f\u00a0]+/g, " ")
}

/** Returns the words of a text as a set. */
export function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.trim().split(/\s+/))
}

/** Whether a line has nothing to see; also true of a line that is not there. */
export function isBlank(line: string | undefined): boolean {
  return line === undefined || !/\S/.test(line)
}

/** Returns the lines that are not blank, all but the first: where text can be cut if it has to be. */
export function everyLine(lines: readonly string[], from: number, to: number): number[] {
  const breaks: number[] = []
  for (let at = from + 1; at < to; at++) if (!isBlank(lines[at])) breaks.push(at)
  return breaks
}

/** Returns the lines after blank lines, the better places, or every line when these are too far apart. */
export function softBreaks(lines: readonly string[], from: number, to: number): number[] {
  const breaks: number[] = []
  let previous = from
  let widest = 0
  for (let at = from + 1; at < to; at++) {
    if (isBlank(lines[at]) || !isBlank(lines[at - 1])) continue
    breaks.push(at)
    widest = Math.max(widest, at - previous)
    previous = at
  }
  return Math.max(widest, to - previous) > WHOLE_LINES_MAX || breaks.length === 0
    ? everyLine(lines, from, to)
    : breaks
}
