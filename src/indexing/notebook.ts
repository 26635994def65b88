/**
 * Reads Jupyter notebooks: the text cells, and the code cells as code between them. Outputs are left out. The
 * file is JSON; each line of the outline knows the line of the file on which it stands there.
 */

import { readMarkdown } from "./markdown.ts"
import type { Outline } from "./outline.ts"
import { lineFinder } from "./outline-builder.ts"

const EMPTY: Outline = { title: null, lines: [], lineNumbers: new Int32Array(0), sections: [] }

/** A text in the file: one string, or one of the several that a text is stored as. */
interface Piece {
  text: string
  /** The line of the file, from 1, on which it begins. */
  number: number
}

interface Cell {
  type: string
  /** Of a heading cell, which format 3 has. */
  level: number
  source: Piece[]
}

/**
 * Reads a notebook of the format 3 or 4 (nbformat). Its cells make one Markdown document, code in fences that
 * name the notebook's language. What is no notebook gives an empty outline. Never throws; takes time in step
 * with the length.
 */
export function readNotebook(text: string): Outline {
  let language: string
  try {
    language = languageOf(JSON.parse(text))
  } catch {
    return EMPTY
  }
  const lines: Piece[] = []
  for (const cell of new CellScanner(text).cells()) addCell(lines, cell, language)
  const outline = readMarkdown(lines.map((line) => line.text).join("\n"), { isMdx: false })
  return { ...outline, lineNumbers: Int32Array.from(outline.lines, (_, at) => lines[at]?.number ?? 1) }
}

function languageOf(notebook: unknown): string {
  const metadata = property(notebook, "metadata")
  const names = [
    property(property(metadata, "language_info"), "name"),
    property(property(metadata, "kernelspec"), "language"),
  ]
  return names.find((name): name is string => typeof name === "string" && /^[\w+#.-]{1,40}$/.test(name)) ?? ""
}

function property(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

/** Adds the lines of a cell, and a blank one before them. */
function addCell(lines: Piece[], { type, level, source }: Cell, language: string): void {
  if (type !== "markdown" && type !== "code" && type !== "heading") return
  const own = linesOf(source)
  const first = own[0]
  const last = own.at(-1)
  if (first === undefined || last === undefined || own.every(({ text }) => text.trim() === "")) return
  const before = lines.at(-1)
  if (before !== undefined) lines.push({ text: "", number: before.number })
  if (type === "heading") {
    const text = own.map((line) => line.text.trim()).join(" ")
    lines.push({ text: `${"#".repeat(Math.min(6, Math.max(1, level)))} ${text}`, number: first.number })
    return
  }
  const fence = type === "code" ? fenceFor(own) : openFence(own)
  if (type === "code") lines.push({ text: fence + language, number: first.number })
  for (const line of own) lines.push(line)
  // A fence that a cell leaves open ends with the cell, and does not take the next ones in.
  if (fence !== "") lines.push({ text: fence, number: last.number })
}

/**
 * Puts the pieces together and cuts them into lines; a line stands where the piece that it begins in stands.
 */
function linesOf(source: readonly Piece[]): Piece[] {
  const lines: Piece[] = []
  let open: { parts: string[]; number: number } | null = null
  for (const { text, number } of source) {
    const parts = text.replaceAll("\r", "").split("\n")
    parts.forEach((part, at) => {
      const isLast = at === parts.length - 1
      if (isLast && part === "") return
      if (open === null) open = { parts: [], number }
      open.parts.push(part)
      if (isLast) return
      lines.push({ text: open.parts.join(""), number: open.number })
      open = null
    })
  }
  const rest = open as { parts: string[]; number: number } | null
  const text = rest?.parts.join("") ?? ""
  if (rest !== null && text !== "") lines.push({ text, number: rest.number })
  return lines
}

function fenceFor(lines: readonly Piece[]): string {
  let longest = 2
  for (const { text } of lines) {
    const run = /^\s*(`{3,})/.exec(text.slice(0, 1_000))?.[1] ?? ""
    longest = Math.max(longest, run.length)
  }
  return "`".repeat(longest + 1)
}

/** The fence that is still open behind the last line; empty when none is. */
function openFence(lines: readonly Piece[]): string {
  let open = ""
  for (const { text } of lines) {
    const [, fence = "", rest = ""] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(text) ?? []
    if (fence === "") continue
    if (open === "") open = rest.includes("`") && fence.startsWith("`") ? "" : fence
    else if (fence.startsWith(open) && rest.trim() === "") open = ""
  }
  return open
}

/** Finds the cells of a notebook in valid JSON, in one pass and without recursion. */
class CellScanner {
  readonly #text: string
  readonly #lineAt: (offset: number) => number
  #at = 0

  constructor(text: string) {
    this.#text = text
    this.#lineAt = lineFinder(text)
  }

  cells(): Cell[] {
    const cells: Cell[] = []
    this.#members((name) => {
      if (name === "cells") this.#items(() => cells.push(this.#cell()))
      else if (name === "worksheets") {
        this.#items(() =>
          this.#members((inner) => {
            if (inner === "cells") this.#items(() => cells.push(this.#cell()))
          }),
        )
      }
    })
    return cells
  }

  #cell(): Cell {
    const cell: Cell = { type: "", level: 1, source: [] }
    this.#members((name) => {
      if (name === "cell_type") cell.type = this.#strings()[0]?.text ?? ""
      else if (name === "source" || name === "input") cell.source = this.#strings()
      else if (name === "level")
        cell.level = Number(/\d*/.exec(this.#text.slice(this.#at, this.#at + 1))?.[0] || 1)
    })
    return cell
  }

  /**
   * Calls `read` before the value of each member of the object that begins here; what it leaves is skipped.
   */
  #members(read: (name: string) => void): void {
    this.#entries("{", () => {
      const name = this.#string()
      this.#skipSpace()
      this.#at++
      this.#skipSpace()
      read(name)
    })
  }

  #items(read: () => void): void {
    this.#entries("[", read)
  }

  /** Walks over the object or list that begins here; does nothing when something else does. */
  #entries(bracket: "{" | "[", read: () => void): void {
    this.#skipSpace()
    if (this.#text[this.#at] !== bracket) return
    this.#at++
    this.#skipSpace()
    while (this.#at < this.#text.length && !this.#isAtEnd()) {
      read()
      this.#skipToComma()
      if (this.#text[this.#at] !== ",") break
      this.#at++
      this.#skipSpace()
    }
    this.#at++
  }

  #isAtEnd(): boolean {
    return this.#text[this.#at] === "}" || this.#text[this.#at] === "]"
  }

  /** Goes to the comma or bracket that ends the value it stands in or before. */
  #skipToComma(): void {
    let depth = 0
    for (; this.#at < this.#text.length; this.#at++) {
      const character = this.#text[this.#at]
      if (character === '"') this.#skipString()
      else if (character === "{" || character === "[") depth++
      else if (depth === 0 && (character === "," || character === "}" || character === "]")) return
      else if (character === "}" || character === "]") depth--
    }
  }

  /** The string that begins here, or the strings of the list that does. */
  #strings(): Piece[] {
    this.#skipSpace()
    const pieces: Piece[] = []
    const read = () => {
      if (this.#text[this.#at] !== '"') return
      const number = this.#lineAt(this.#at)
      pieces.push({ text: this.#string(), number })
    }
    if (this.#text[this.#at] === "[") this.#items(read)
    else read()
    return pieces
  }

  #string(): string {
    const from = this.#at
    this.#skipString()
    this.#at++
    return String(JSON.parse(this.#text.slice(from, this.#at)))
  }

  /** Goes from the quote that begins a string to the one that ends it. */
  #skipString(): void {
    const ends = /["\\]/g
    ends.lastIndex = this.#at + 1
    for (let found = ends.exec(this.#text); found !== null; found = ends.exec(this.#text)) {
      this.#at = found.index
      if (found[0] === '"') return
      ends.lastIndex = found.index + 2
    }
    this.#at = this.#text.length
  }

  #skipSpace(): void {
    while (/\s/.test(this.#text[this.#at] ?? "")) this.#at++
  }
}
