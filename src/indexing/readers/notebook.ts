/**
 * Reads Jupyter notebooks: the text cells, and the code cells as code between them. Outputs are left out. The
 * file is JSON; each line of the outline knows the line of the file on which it stands there.
 */

import { type JSONPath, type JSONVisitor, printParseErrorCode, visit } from "jsonc-parser"
import type { Outline } from "../outline.ts"
import { lineFinder } from "../outline-builder.ts"
import { readMarkdown } from "./markdown.ts"

const EMPTY: Outline = { title: null, lines: [], lineNumbers: new Int32Array(0), sections: [] }

/** A text in the file: one string, or one of the several that a text is stored as. */
interface Piece {
  text: string
  /** The line of the file, from 1, on which it begins. */
  number: number
}

/** Format 3 has its cells in worksheets. */
const CELL = /^(?:worksheets\.)?cells$/
const CELL_KEY = /^(?:worksheets\.)?cells\.(cell_type|level|source|input)$/
/** The first one that is there counts. */
const LANGUAGE_KEYS = ["metadata.language_info.name", "metadata.kernelspec.language"]

interface Cell {
  type: string
  /** Of a heading cell, which format 3 has. */
  level: number
  source: Piece[]
}

/** Levels of objects and lists: the parser takes stack for each, and notebooks have a tenth of them. */
const DEPTH_MAX = 500

/**
 * Reads a notebook of the format 3 or 4 (nbformat). Its cells make one Markdown document, code in fences that
 * name the notebook's language. What is no JSON or has more than `DEPTH_MAX` levels gives an empty outline.
 * Never throws; takes time in step with the length.
 */
export function readNotebook(text: string): Outline {
  const notebook = parseNotebook(text)
  if (notebook === null) return EMPTY
  const lines: Piece[] = []
  for (const cell of notebook.cells) addCell(lines, cell, notebook.language)
  const outline = readMarkdown(lines.map((line) => line.text).join("\n"), { isMdx: false })
  return { ...outline, lineNumbers: Int32Array.from(outline.lines, (_, at) => lines[at]?.number ?? 1) }
}

/** Walks over the JSON once; null when it is none. Only an exception ends the parser early. */
function parseNotebook(text: string): { cells: Cell[]; language: string } | null {
  const lineAt = lineFinder(text)
  const cells: Cell[] = []
  const languages = new Map<string, string>()
  let depth = 0
  const enter = () => {
    depth++
    if (depth > DEPTH_MAX) throw new Error("nested too deep")
  }
  const leave = () => {
    depth--
  }
  const visitor: JSONVisitor = {
    onObjectBegin: (_offset, _length, _line, _character, pathOf) => {
      enter()
      if (CELL.test(keysOf(pathOf()))) cells.push({ type: "", level: 1, source: [] })
    },
    onObjectEnd: leave,
    onArrayBegin: enter,
    onArrayEnd: leave,
    onError: (code) => {
      throw new Error(printParseErrorCode(code))
    },
    onLiteralValue: (value: unknown, offset, _length, _line, _character, pathOf) => {
      const keys = keysOf(pathOf())
      if (typeof value === "string" && LANGUAGE_KEYS.includes(keys)) languages.set(keys, value)
      const cell = cells.at(-1)
      const key = CELL_KEY.exec(keys)?.[1]
      if (cell === undefined || key === undefined) return
      if (key === "level") cell.level = Number(value) || 1
      else if (typeof value !== "string") return
      else if (key === "cell_type") cell.type = value
      else cell.source.push({ text: value, number: lineAt(offset) })
    },
  }
  try {
    visit(text, visitor, { disallowComments: true })
  } catch {
    return null
  }
  const names = LANGUAGE_KEYS.map((keys) => languages.get(keys) ?? "")
  return { cells, language: names.find((name) => /^[\w+#.-]{1,40}$/.test(name)) ?? "" }
}

/** Where a value stands, without the places in lists. */
function keysOf(path: JSONPath): string {
  return path.filter((key) => typeof key === "string").join(".")
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

/** The fence that is still open after the last line; empty when none is. */
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
