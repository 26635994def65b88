/**
 * Reads reStructuredText, as docutils describes it (Markup Specification), as far as an outline needs it:
 * where sections begin, and which lines belong together. Nothing is expanded, and no directive is carried
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
  wordSet,
} from "../outline-builder.ts"

interface Source {
  lines: readonly string[]
  /** Columns before the first character; -1 for blank lines. */
  indents: Int32Array
  builder: OutlineBuilder
  /** The forms of titles, the outermost first. */
  titleForms: string[]
}

/** Deeper content is taken as it stands, so that no file can exhaust the stack. */
const NESTING_MAX = 12

/**
 * Reads reStructuredText. Lines are the file's own; comments, targets, substitutions and settings are in no
 * block. A directive stays whole when it is short, else its first line goes with the first block inside.
 * Never throws; takes time in step with the length.
 */
export function readRestructuredText(text: string): Outline {
  const lines = splitLines(text)
  const indents = Int32Array.from(lines, indentOf)
  const source = { lines, indents, builder: new OutlineBuilder(lines), titleForms: [] }
  readBody(source, 0, lines.length, 0)
  return source.builder.finish()
}

function indentOf(line: string): number {
  let column = 0
  for (let at = 0; at < line.length; at++) {
    const character = line.charCodeAt(at)
    if (character === 0x09) column += 8 - (column % 8)
    else if (character === 0x20) column++
    else return /\s/.test(line.charAt(at)) && isBlank(line) ? -1 : column
  }
  return -1
}

const RUN = /^([!-/:-@[-`{-~])\1*\s*$/
const EXPLICIT = /^\.\.(?:\s|$)/
const GRID_BORDER = /^\+(?:[-=]+\+)+\s*$/
const SIMPLE_BORDER = /^=+(?: +=+)+\s*$/
const BULLET = /^[-*+•‣⁃](?:\s|$)/
const ENUMERATOR = /^\(?(?:\d{1,4}|[a-zA-Z]|#|[ivxlcdm]{1,6}|[IVXLCDM]{1,6})[.)]\s+\S/
const FIELD = /^:(?![: ])(?:[^:\\]|\\.|:(?![ `]|$))*:(?:\s|$)/
const OPTION = /^(?:--?\w[\w-]*|\/[A-Z])(?:[ =]\S+)?(?:, --?\w[\w-]*(?:[ =]\S+)?)*(?:\s{2,}\S|$)/
/** Fields that only steer the build of a page. */
const PAGE_SETTING = /^:(?:orphan|tocdepth|nocomments|nosearch|no-search|html_theme[\w.-]*|allow_comments):/

/** Reads the blocks of one level of indentation; what is indented further is read by their readers. */
function readBody(source: Source, from: number, to: number, depth: number): void {
  let at = from
  while (at < to) {
    const indent = indentAt(source, at)
    if (indent < 0) at++
    else at = readBlock(source, at, to, indent, depth)
  }
}

/** Reads the block that begins on a line that is not blank, and returns the line after it. */
function readBlock(source: Source, at: number, to: number, indent: number, depth: number): number {
  const { builder } = source
  const text = textAt(source, at)
  if (depth === 0) {
    const after = readTitle(source, at)
    if (after !== null) return after
  }
  if (indent > 0 && depth === 0) {
    const end = bodyEnd(source, at, to, 0)
    addContainer(source, "quote", { from: at, contentFrom: at, to: end }, depth)
    return end
  }
  if (EXPLICIT.test(text)) return readExplicit(source, at, to, indent, depth)
  if (/^__(?:\s|$)/.test(text)) return at + 1
  if (GRID_BORDER.test(text)) return readGridTable(source, at, to)
  if (SIMPLE_BORDER.test(text)) return readSimpleTable(source, at, to)
  if (text.length >= 4 && RUN.test(text)) return at + 1
  if (/^(?:>>>|\|)(?:\s|$)/.test(text)) {
    const end = stretchEnd(source, at, to)
    builder.addBlock(text.startsWith(">") ? "code" : "paragraph", at, end)
    return end
  }
  const form = itemForm(source, at, to, indent)
  return form === null ? readParagraph(source, at, to, indent) : readList(source, at, to, indent, form, depth)
}

function indentAt(source: Source, at: number): number {
  return source.indents[at] ?? -1
}

/** A line without its indentation; of a very long one its two ends, which is all that tells its form. */
function textAt({ lines }: Source, at: number): string {
  const line = lines[at] ?? ""
  return (line.length > 4_000 ? `${line.slice(0, 2_000)} ${line.slice(-1_000)}` : line).trim()
}

/** The line after the ones that are not blank. */
function stretchEnd(source: Source, from: number, to: number): number {
  let end = from + 1
  while (end < to && indentAt(source, end) >= 0) end++
  return end
}

/** The line after what is indented further than `indent`, without the blank lines at its end. */
function bodyEnd(source: Source, from: number, to: number, indent: number): number {
  let end = from
  for (let at = from; at < to; at++) {
    const own = indentAt(source, at)
    if (own < 0) continue
    if (own <= indent) break
    end = at + 1
  }
  return end
}

function skipBlank(source: Source, from: number, to: number): number {
  let at = from
  while (at < to && indentAt(source, at) < 0) at++
  return at
}

/** Reads a title with a line below, or above and below, and returns the line after it; null for no title. */
function readTitle(source: Source, at: number): number | null {
  const { builder, titleForms } = source
  const text = textAt(source, at)
  const below = textAt(source, at + 1)
  const run = RUN.exec(text)
  let found: { title: string; form: string; to: number } | null = null
  if (run !== null && below !== "" && textAt(source, at + 2) === text) {
    if (!RUN.test(below)) found = { title: below, form: `over ${run[1]}`, to: at + 3 }
  } else if (run === null && indentAt(source, at) === 0) {
    const under = RUN.exec(below)
    if (under !== null) found = { title: text, form: `under ${under[1]}`, to: at + 2 }
  }
  if (found === null) return null
  const underline = textAt(source, found.to - 1)
  if (underline === "::" || underline === "..") return null
  if (underline.length < Math.min(4, found.title.length)) return null
  const heading = plainTitle(found.title)
  if (heading === "") return null
  if (!titleForms.includes(found.form)) titleForms.push(found.form)
  builder.addHeading(titleForms.indexOf(found.form), heading, at, found.to)
  return found.to
}

/** Takes the markup from a title: roles, references, emphasis, literals, escapes. */
function plainTitle(title: string): string {
  return title
    .replace(/:[\w:+.-]+:`([^`]*)`/g, (_, content: string) => roleText(content))
    .replace(
      /``([^`]+)``|`([^`]+)`_{0,2}/g,
      (_, literal?: string, phrase = "") => literal ?? roleText(phrase),
    )
    .replace(/\*{1,2}([^*\s](?:[^*]*[^*\s])?)\*{1,2}/g, "$1")
    .replace(/(?<=\w)__?(?=[\s.,;:!?)]|$)/g, "")
    .replace(/\\(.)/g, "$1")
    .trim()
}

/** What a role or a reference shows: `text <target>` its text, `~a.b.c` the last part. */
function roleText(content: string): string {
  const angle = content.endsWith(">") ? content.lastIndexOf("<") : -1
  if (angle > 0) return content.slice(0, angle).trim()
  if (content.startsWith("~")) return content.slice(content.lastIndexOf(".") + 1).replace(/^~/, "")
  return content.replace(/^!/, "")
}

const SILENT = wordSet(`
  contents highlight highlightlang currentmodule default-domain tabularcolumns meta rst-class cssclass role
  default-role sectnum section-numbering sectionauthor moduleauthor codeauthor`)
const MARKUP = wordSet("toctree image include literalinclude index raw autosummary")
const CODE = wordSet(`
  code code-block sourcecode parsed-literal prompt ipython doctest testcode testoutput testsetup testcleanup
  math graphviz productionlist console`)

/** Reads what begins with `..`: a directive, a footnote, or what is left out. */
function readExplicit(source: Source, at: number, to: number, indent: number, depth: number): number {
  const { lines, builder } = source
  const rest = textAt(source, at).slice(2).trim()
  // Two dots alone end what is before them and take nothing from what comes after a blank line.
  if (rest === "" && indentAt(source, at + 1) <= indent) return at + 1
  const end = Math.max(at + 1, bodyEnd(source, at + 1, to, indent))
  if (/^\[[^\]]+\](?:\s|$)/.test(rest)) {
    builder.addBlock("paragraph", at, end)
    return end
  }
  const name = /^[\p{L}\d][\w:+.-]*?(?= ?::(?:\s|$))/u.exec(rest)?.[0]
  if (name === undefined) return end
  const kind = name.slice(name.lastIndexOf(":") + 1).toLowerCase()
  if (SILENT.has(kind)) return end
  if (CODE.has(kind)) builder.addBlock("code", at, end, softBreaks(lines, at, end))
  else if (MARKUP.has(kind) || kind.startsWith("auto")) {
    builder.addBlock("markup", at, end)
  } else if (kind === "list-table" || kind === "csv-table") readDirectiveTable(source, at, end, kind)
  else {
    const contentFrom = optionsEnd(source, at + 1, end)
    if (kind === "table") readNested(source, { from: at, contentFrom, to: end }, depth)
    else addContainer(source, "paragraph", { from: at, contentFrom, to: end }, depth)
  }
  return end
}

/** The line after the options of a directive, each a field and what is indented below it. */
function optionsEnd(source: Source, from: number, to: number): number {
  let at = from
  while (at < to && FIELD.test(textAt(source, at))) {
    at = Math.max(at + 1, bodyEnd(source, at + 1, to, indentAt(source, at)))
  }
  return at
}

interface Container {
  from: number
  /** Where what is inside begins. */
  contentFrom: number
  to: number
}

/** Adds what has blocks inside: as one when it is short, else block by block. */
function addContainer(source: Source, kind: BlockKind, container: Container, depth: number): void {
  const { from, to } = container
  if (to - from <= WHOLE_LINES_MAX || depth === NESTING_MAX) {
    source.builder.addBlock(kind, from, to, softBreaks(source.lines, from, to))
  } else {
    readNested(source, container, depth)
  }
}

function readNested(source: Source, { from, contentFrom, to }: Container, depth: number): void {
  const { builder } = source
  if (from < contentFrom) builder.glue(from)
  readBody(source, contentFrom, to, depth + 1)
  builder.unglue("paragraph", Math.max(contentFrom, from + 1))
}

function readDirectiveTable(source: Source, at: number, to: number, kind: string): void {
  const { lines, builder } = source
  const contentFrom = skipBlank(source, optionsEnd(source, at + 1, to), to)
  const options = lines.slice(at + 1, contentFrom).join("\n")
  const headerRows = Number(/:header-rows:\s*(\d{1,3})/.exec(options)?.[1] ?? 0)
  const indent = indentAt(source, contentFrom)
  const rows = everyLine(lines, contentFrom - 1, to).filter(
    (line) =>
      kind === "csv-table" || (indentAt(source, line) === indent && BULLET.test(textAt(source, line))),
  )
  const hasHeader = headerRows > 0 || /^\s*:header:/m.test(options)
  builder.addBlock("table", at, to, rows, hasHeader ? rows[headerRows] : undefined)
}

/** Reads a table drawn with `+`, `-` and `|`; parts may begin below the lines between its rows. */
function readGridTable(source: Source, at: number, to: number): number {
  const { builder } = source
  let end = at + 1
  const rows: number[] = []
  let headerTo: number | undefined
  while (end < to && /^[+|]/.test(textAt(source, end))) {
    const text = textAt(source, end++)
    if (!GRID_BORDER.test(text)) continue
    if (text.includes("=")) headerTo ??= end
    rows.push(end)
  }
  const bodyRows = rows.filter((row) => row >= (headerTo ?? 0))
  builder.addBlock("table", at, end, bodyRows.length > 1 ? bodyRows : undefined, headerTo)
  return end
}

/** Reads a table with columns under `====  ====`; what has nothing in its first column goes on with a row. */
function readSimpleTable(source: Source, at: number, to: number): number {
  const { lines, builder } = source
  const indent = indentAt(source, at)
  const isBorder = (line: number) => SIMPLE_BORDER.test(textAt(source, line))
  const borders: number[] = []
  let end = at + 1
  for (let line = at + 1; line < to && borders.length < 2; line++) {
    const own = indentAt(source, line)
    if (own >= 0 && own < indent) break
    if (!isBorder(line)) continue
    borders.push(line)
    end = line + 1
    if (line + 1 >= to || indentAt(source, line + 1) < 0) break
  }
  // Without its last border it is what stands together.
  if (borders.length === 0) end = stretchEnd(source, at, to)
  const headerTo = borders.length > 1 ? (borders[0] ?? at) + 1 : undefined
  const rows = everyLine(lines, at, end).filter(
    (line) => line >= (headerTo ?? at + 1) && indentAt(source, line) === indent && !isBorder(line),
  )
  builder.addBlock("table", at, end, rows, headerTo)
  return end
}

type ItemForm = "bullet" | "enumerator" | "field" | "option" | "definition"

/** Which kind of list has an item that begins here; null where none has. */
function itemForm(source: Source, at: number, to: number, indent: number): ItemForm | null {
  const text = textAt(source, at)
  const next = at + 1 < to ? indentAt(source, at + 1) : -1
  if (BULLET.test(text)) return "bullet"
  // "A. Smith" at the start of a paragraph is no item: the text goes on below the letter.
  if (ENUMERATOR.test(text)) {
    return next === indent && !ENUMERATOR.test(textAt(source, at + 1)) ? null : "enumerator"
  }
  if (FIELD.test(text)) return "field"
  if (OPTION.test(text)) return "option"
  return next > indent && !EXPLICIT.test(text) ? "definition" : null
}

/**
 * Adds the items from here on: short ones together, long ones block by block. Returns the line after them.
 */
function readList(
  source: Source,
  at: number,
  to: number,
  indent: number,
  form: ItemForm,
  depth: number,
): number {
  let groupFrom = -1
  let end = at
  const endGroup = () => {
    if (groupFrom >= 0) source.builder.addBlock("list", groupFrom, end, itemBreaks(source, groupFrom, end))
    groupFrom = -1
  }
  let next = at
  while (next < to && indentAt(source, next) === indent && itemForm(source, next, to, indent) === form) {
    const itemEnd = Math.max(next + 1, bodyEnd(source, next + 1, to, indent))
    const isSetting = form === "field" && depth === 0 && PAGE_SETTING.test(textAt(source, next))
    const isLong = itemEnd - next > WHOLE_LINES_MAX && depth < NESTING_MAX
    if (isSetting || isLong) endGroup()
    else if (groupFrom < 0) groupFrom = next
    if (isLong && !isSetting) readLongItem(source, next, itemEnd, depth)
    end = itemEnd
    next = skipBlank(source, end, to)
  }
  endGroup()
  return end
}

/** Where items begin, also those inside of others, and what follows a blank line. */
function itemBreaks(source: Source, from: number, to: number): number[] {
  const { lines } = source
  const isBetter = (line: number) => {
    const text = textAt(source, line)
    return isBlank(lines[line - 1]) || BULLET.test(text) || ENUMERATOR.test(text) || FIELD.test(text)
  }
  const all = everyLine(lines, from, to)
  const indent = indentAt(source, from)
  const better = all.filter((line) => indentAt(source, line) <= indent || isBetter(line))
  return better.length > 0 ? better : all
}

/** Adds the first paragraph of an item, and then what it has below, block by block. */
function readLongItem(source: Source, from: number, to: number, depth: number): void {
  const { builder } = source
  const end = stretchEnd(source, from, to)
  builder.addBlock("list", from, end)
  readBody(source, readLiteral(source, end, to, indentAt(source, from)), to, depth + 1)
}

function readParagraph(source: Source, at: number, to: number, indent: number): number {
  const { builder } = source
  let end = at + 1
  while (end < to && indentAt(source, end) >= indent) end++
  if (end === at + 1 && textAt(source, at) === "::") builder.glue(at)
  else builder.addBlock("paragraph", at, end)
  const after = readLiteral(source, end, to, indent)
  builder.unglue("paragraph", end)
  return after
}

/** Reads the literal block that `::` at the end of the line before announces; returns the line after it. */
function readLiteral(source: Source, at: number, to: number, indent: number): number {
  const { lines, builder } = source
  if (!textAt(source, at - 1).endsWith("::")) return at
  const from = skipBlank(source, at, to)
  const isQuoted = indentAt(source, from) === indent && textAt(source, from).startsWith(">")
  const end = isQuoted ? stretchEnd(source, from, to) : bodyEnd(source, from, to, indent)
  if (from >= to || end <= from) return at
  builder.addBlock("code", from, end, softBreaks(lines, from, end))
  return end
}
