/**
 * Our table in a TOML file: appended as text below a comment, and cut out again by its header, because
 * clients write tables of their own anywhere around it. The library only reads: it decides whether a text
 * is valid and whether an edit changed what it should and nothing else.
 */

import { isDeepStrictEqual } from "node:util"
import { parse, TomlError } from "smol-toml"
import { type AppError, invalid } from "../errors.ts"
import type { TomlSettings } from "./client.ts"
import type { Addition, Edit, Removal, Traces } from "./edit.ts"
import { foreignEntry, startOf, startsOurServer } from "./shapes.ts"

const MARK = "# Added by `signalbox install`, removed by `signalbox uninstall`."

/** TOML's integers have 64 bits; those that a number cannot hold are none of our business, and no error. */
const BIG = { integersAsBigInt: "asNeeded" } as const

type Table = Record<string, unknown>

/** Returns the edit of a TOML file: one table, with everything below it. */
export function tomlEdit(file: TomlSettings): Edit {
  return { add: (text) => addTable(file, text), remove: (text, traces) => removeTable(file, text, traces) }
}

function addTable(file: TomlSettings, text: string): Addition {
  if (file.isFurtherOnly === true) return { text, leftAlone: [], containers: [] }
  const before = parseToml(text, file.path)
  const present = valueAt(before, file.table)
  const header = headerOf(file)
  const lines = [MARK, header, ...file.lines]
  if (present !== undefined) return { ...updateStart(file, text, present), containers: [] }
  const lineBreak = text.includes("\r\n") ? "\r\n" : "\n"
  const gap = text === "" ? "" : text.endsWith("\n") ? lineBreak : lineBreak + lineBreak
  const edited = text + gap + lines.map((line) => line + lineBreak).join("")
  if (!isSameBut(file, before, edited, wantedOf(file))) {
    throw invalid(
      `${file.path}:${lineOf(text, file)}`,
      `has no place for ${header}: ${file.table[0]} is written in a form that cannot be extended`,
      `Write ${file.table[0]} as tables, or add ours by hand: ${file.lines.join("; ")}`,
    )
  }
  return { text: edited, leftAlone: [], containers: [] }
}

/** Starts our server as it is wanted now, if the table starts ours; whatever else is in the table stays. */
function updateStart(file: TomlSettings, text: string, present: unknown): Removal & { text: string } {
  const wanted = wantedOf(file)
  if (!startsOurServer(present, wanted)) {
    return { text, leftAlone: [foreignEntry(headerOf(file))] }
  }
  if (isDeepStrictEqual(startOf(present), startOf(wanted))) return { text, leftAlone: [] }
  const start =
    findHeaders(text).find(({ path }) => isDeepStrictEqual(path, file.table))?.start ?? text.length
  const lines = file.lines.filter((line) => /^(?:command|args) =/.test(line))
  const section = lines.reduce((rest, line) => {
    const name = line.slice(0, line.indexOf(" "))
    return rest.replace(new RegExp(`^[ \\t]*${name}[ \\t]*=[^\\r\\n]*`, "m"), () => line)
  }, text.slice(start))
  const edited = text.slice(0, start) + section
  if (isSameBut(file, parseToml(text, file.path), edited, { ...(present as Table), ...startOf(wanted) })) {
    return { text: edited, leftAlone: [] }
  }
  throw formError(file, text, "changed", `Make these lines of it so by hand: ${lines.join("; ")}`)
}

function removeTable(file: TomlSettings, whole: string, traces: Traces): Removal {
  const text = withoutFurther(file, whole)
  const gone = traces.isCreated && text.trim() === "" ? undefined : text
  if (file.isFurtherOnly === true) return { text: gone, leftAlone: [] }
  const before = parseToml(text, file.path)
  const present = valueAt(before, file.table)
  if (present === undefined) return { text: gone, leftAlone: [] }
  if (!startsOurServer(present, wantedOf(file))) {
    return { text, leftAlone: [foreignEntry(headerOf(file))] }
  }
  const edited = cutTable(text, file.table)
  if (!isSameBut(file, before, edited, undefined)) {
    throw formError(file, text, "cut out", "Take it out by hand.")
  }
  return { text: traces.isCreated && edited.trim() === "" ? undefined : edited, leftAlone: [] }
}

/** Cuts out what the client has added on account of ours; what is written in another form than tables stays. */
function withoutFurther(file: TomlSettings, text: string): string {
  return (file.further ?? []).reduce((rest, table) => {
    const before = parseToml(rest, file.path)
    if (valueAt(before, table) === undefined) return rest
    const cut = cutTable(rest, table, startWithGap)
    const around = table.slice(0, -1)
    const isLast = isDeepStrictEqual(plain(valueAt(parseToml(cut, file.path), around)), {})
    const edited = isLast ? cutTable(cut, around, startWithGap) : cut
    return isSameBut({ ...file, table }, before, edited, undefined) ? edited : rest
  }, text)
}

function headerOf(file: TomlSettings): string {
  return `[${file.table.join(".")}]`
}

function wantedOf(file: TomlSettings): unknown {
  return parse(file.lines.join("\n"))
}

/** Whether an edited text is valid, has `wanted` in our place and everything else as before. */
function isSameBut(file: TomlSettings, before: Table, edited: string, wanted: unknown): boolean {
  try {
    const after = parse(edited, BIG)
    return (
      isDeepStrictEqual(plain(valueAt(after, file.table)), plain(wanted)) &&
      isDeepStrictEqual(plain(without(after, file.table)), plain(without(before, file.table)))
    )
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    return false
  }
}

/** What to say of a text whose form we do not take apart. */
function formError(file: TomlSettings, text: string, what: string, hint: string): AppError {
  const line = lineOf(text, file)
  return invalid(`${file.path}:${line}`, `holds ${headerOf(file)} in a form that cannot be ${what}`, hint)
}

/** Returns the number of the line where the outermost of our tables is first written, from 1. */
function lineOf(text: string, file: TomlSettings): number {
  const name = new RegExp(`^[ \\t]*(?:\\[{1,2}[ \\t]*)?["']?${file.table[0]}\\b`, "m")
  return text.slice(0, name.exec(text)?.index ?? 0).split("\n").length
}

function cutTable(text: string, table: readonly string[], startAt = startWithMark): string {
  const headers = findHeaders(text)
  const isOurs = (header: Header | undefined) =>
    header !== undefined && table.every((name, depth) => header.path[depth] === name)
  const cuts = headers.flatMap((header, index): [number, number][] => {
    if (!isOurs(header)) return []
    const following = headers[index + 1]
    const next = following?.start ?? text.length
    const remarks = trailingRemarks(text.slice(header.start, next))
    const isWithin = isOurs(following) && remarks.trim() === ""
    return [[startAt(text, header.start), isWithin ? next : next - remarks.length]]
  })
  return cuts.reduceRight((rest, [from, to]) => rest.slice(0, from) + rest.slice(to), text)
}

/** Returns the blank lines and comments at the end of a section: those belong to what comes next. */
function trailingRemarks(section: string): string {
  return /(?<=\n)(?:[ \t\r]*(?:#[^\n]*)?(?:\n|$))*$/.exec(section)?.[0] ?? ""
}

/** Returns where a table begins when our comment above it, and the blank line that set it apart, are counted in. */
function startWithMark(text: string, start: number): number {
  const above = text.slice(0, start)
  const line = new RegExp(`(?:(?<=\\n)\\r?\\n)?${MARK.replace(/[.`]/g, "\\$&")}\\r?\\n$`).exec(above)
  return line === null ? start : line.index
}

/** Returns where a table of the client's own begins when the blank line that sets it apart is counted in. */
function startWithGap(text: string, start: number): number {
  return start - (/(?<=\n)\r?\n$/.exec(text.slice(0, start))?.[0].length ?? 0)
}

interface Header {
  path: string[]
  /** Offset of its line. */
  start: number
}

const TOKEN =
  /"""(?:\\[\s\S]|[^\\])*?"""+|'''[\s\S]*?'''+|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#[^\n]*|\n[ \t]*|[[\]{}]/g

/** Finds the table headers of a valid text: a bracket that begins a line outside of any value. */
function findHeaders(text: string): Header[] {
  const headers: Header[] = []
  let depth = 0
  let headerEnd = 0
  // A line break before the first line makes all lines alike; offsets are one too high until returned.
  const padded = `\n${text}`
  for (const token of padded.matchAll(TOKEN)) {
    const end = token.index + token[0].length
    if (token.index < headerEnd) continue
    if (token[0].startsWith("\n")) {
      if (depth > 0 || padded[end] !== "[") continue
      const line = /^[^\n]*/.exec(padded.slice(end))?.[0] ?? ""
      headers.push({ path: pathOf(parse(line.trim())), start: token.index })
      headerEnd = end + line.length
    } else if (/^[[{]$/.test(token[0])) depth += 1
    else if (/^[\]}]$/.test(token[0])) depth -= 1
  }
  return headers
}

/** Returns the names in a header, from what the header alone parses to. */
function pathOf(table: unknown): string[] {
  const inner = Array.isArray(table) ? table[0] : table
  const [entry] = Object.entries((inner ?? {}) as Table)
  return entry === undefined ? [] : [entry[0], ...pathOf(entry[1])]
}

function parseToml(text: string, file: string): Table {
  try {
    return parse(text, BIG)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const reason = error.message.split("\n")[0]?.replace(/^Invalid TOML document: /, "")
    throw invalid(
      `${file}:${error.line}`,
      `is no valid TOML (${reason})`,
      "Correct the file, then run the command again.",
    )
  }
}

function valueAt(table: Table, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (value as Table | undefined)?.[name], table)
}

/** Returns a table without what stands at a path, and without tables that are empty then. */
function without(table: Table, [name = "", ...rest]: readonly string[]): Table {
  const { [name]: inner, ...others } = table
  if (rest.length === 0 || typeof inner !== "object" || inner === null) return others
  const left = without(inner as Table, rest)
  return Object.keys(left).length === 0 ? others : { ...others, [name]: left }
}

/** Returns a value whose tables can be compared: the parser makes them without a prototype. */
function plain(value: unknown): unknown {
  return structuredClone(value)
}
