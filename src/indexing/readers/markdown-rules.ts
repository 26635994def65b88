/**
 * How the blocks of Markdown are told apart where markdown-it's own rules do not serve: quotes and lists as
 * wholes, containers, and what MDX adds. Each rule takes time in step with the lines that it takes.
 */

import type { StateBlock } from "markdown-it"

/** A rule of markdown-it: whether a block begins on a line; unless `isSilent`, its token is pushed. */
type BlockRule = (state: StateBlock, from: number, end: number, isSilent: boolean) => boolean

/** An indent of this many columns makes code of what would be another block. */
const CODE_INDENT = 4

const FENCE = /^(?:`{3,}(?=[^`]*$)|~{3,})/
const RULE = /^(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/
const ITEM = /^(?:[-+*]|(\d{1,9})[.)])(?=[ \t]|$)/
/** What may stand before the text of a line within a quote or an item. */
const INNER_MARKS = /^(?:(?:>|[-+*]|\d{1,9}[.)])(?:[ \t]+|$)|>)+/

function indentOf(state: StateBlock, line: number): number {
  return state.sCount[line] ?? 0
}

/** The text of a line without its indent. */
function textOf(state: StateBlock, line: number): string {
  return state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line])
}

function isFirstCharacter(state: StateBlock, line: number, code: number): boolean {
  return state.src.charCodeAt((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0)) === code
}

function pushBlock(state: StateBlock, type: string, from: number, to: number): void {
  state.push(type, "", 0).map = [from, to]
  state.line = to
}

/** Whether a line begins a block of its own although the paragraph of a quote or item could go on in it. */
function interrupts(state: StateBlock, line: number, end: number): boolean {
  if (indentOf(state, line) >= CODE_INDENT) return false
  return state.md.block.ruler.getRules("paragraph").some((rule) => rule(state, line, end, true))
}

/** Follows the lines of a quote or an item, as far as it takes to know whether the next line belongs to it. */
class InnerLines {
  /** Whether the last line was text that goes on in the next one, whatever the indent of that. */
  isParagraph = false
  #fence: string | null = null
  /** The indents at which the texts of the open items begin, ascending. */
  readonly #indents: number[] = []

  get isInFence(): boolean {
    return this.#fence !== null
  }

  /** Leaves the items that a line of this indent is not part of, and with them a fence that they hold. */
  enter(indent: number): void {
    while ((this.#indents.at(-1) ?? 0) > indent) {
      this.#indents.pop()
      this.#fence = null
    }
  }

  /** Takes in an item; `indent` is where its text begins. */
  open(indent: number): void {
    this.#indents.push(indent)
  }

  /** Takes in the text of a line, without its indent. */
  read(line: string): void {
    if (this.#fence !== null) {
      if (closesFence(line, this.#fence)) this.#fence = null
      return
    }
    const text = line.replace(INNER_MARKS, "")
    this.#fence = FENCE.exec(text)?.[0] ?? null
    this.isParagraph =
      this.#fence === null && text !== "" && !/^#{1,6}(?:[ \t]|$)/.test(text) && !RULE.test(text)
  }

  /** Takes in a blank line. */
  readBlank(): void {
    this.isParagraph = false
  }
}

function closesFence(line: string, fence: string): boolean {
  const text = line.trimEnd()
  return text.length >= fence.length && text === fence.charAt(0).repeat(text.length)
}

/**
 * A quote is taken whole, so that depth costs nothing and a quote that ends early is not read again: on
 * lines of "> ```" and "a" in turn the rule of markdown-it takes four times as long for twice the text,
 * 8.5 s for 50 kB.
 */
export const readQuote: BlockRule = (state, from, end, isSilent) => {
  const isQuoted = (line: number) => indentOf(state, line) < CODE_INDENT && isFirstCharacter(state, line, 62)
  if (!isQuoted(from)) return false
  if (isSilent) return true
  const inner = new InnerLines()
  let to = from
  for (; to < end && !state.isEmpty(to); to++) {
    if (isQuoted(to)) {
      const text = textOf(state, to).replace(/^(?:>[ \t]*)+/, "")
      if (text === "") inner.readBlank()
      else inner.read(text)
    } else if (inner.isInFence || !inner.isParagraph || interrupts(state, to, end)) break
  }
  pushBlock(state, "quote", from, to)
  return true
}

interface Item {
  /** The last character of its mark; items of one list have the same. */
  mark: string
  number: string | undefined
  /** Where its text begins, in columns: lines of at least this indent belong to it. */
  indent: number
  text: string
}

function itemAt(state: StateBlock, line: number): Item | null {
  const text = textOf(state, line)
  const found = ITEM.exec(text)
  if (found === null || RULE.test(text)) return null
  const [mark, number] = found
  const behindMark = indentOf(state, line) + mark.length
  let column = behindMark
  let at = mark.length
  for (; text[at] === " " || text[at] === "\t"; at++) {
    column += text[at] === "\t" ? CODE_INDENT - (column % CODE_INDENT) : 1
  }
  const isCode = column - behindMark > CODE_INDENT
  const indent = at === text.length || isCode ? behindMark + 1 : column
  return { mark: mark.slice(-1), number, indent, text: text.slice(at) }
}

/**
 * A list is taken whole, nested lists too: of each item the rule of markdown-it makes five tokens, which for
 * 16 MB of items takes 52 s and 4 GB of memory, and this 5 s and 0.6 GB. The token's `meta.breaks` are the
 * lines on which its items after the first, and the paragraphs and other blocks within items, begin.
 */
export const readList: BlockRule = (state, from, end, isSilent) => {
  if (indentOf(state, from) >= CODE_INDENT) return false
  let item = itemAt(state, from)
  if (item === null) return false
  // CommonMark 0.31, "List items": what else begins like an item may be a sentence with a number.
  if (isSilent && state.parentType === "paragraph") return item.text !== "" && Number(item.number ?? 1) === 1
  if (isSilent) return true
  const breaks: number[] = []
  let inner = new InnerLines()
  inner.open(item.indent)
  inner.read(item.text)
  let to = from + 1
  for (let line = to; line < end; line++) {
    if (state.isEmpty(line)) {
      inner.readBlank()
      continue
    }
    const isAfterBlank = line > to
    if (indentOf(state, line) >= item.indent) {
      if (readWithinItem(state, line, inner) || (isAfterBlank && !inner.isInFence)) breaks.push(line)
      inner.read(textOf(state, line))
    } else {
      const next = indentOf(state, line) < CODE_INDENT ? itemAt(state, line) : null
      if (next !== null && next.mark === item.mark) {
        item = next
        breaks.push(line)
        inner = new InnerLines()
        inner.open(item.indent)
        inner.read(item.text)
      } else if (inner.isInFence || !inner.isParagraph || interrupts(state, line, end)) break
    }
    to = line + 1
  }
  pushBlock(state, "list", from, to)
  const token = state.tokens.at(-1)
  if (token !== undefined) token.meta = { breaks }
  return true
}

/** Finds a line's place within an item; returns whether a nested item begins on it. */
function readWithinItem(state: StateBlock, line: number, inner: InnerLines): boolean {
  inner.enter(indentOf(state, line))
  const nested = inner.isInFence ? null : itemAt(state, line)
  if (nested !== null) inner.open(nested.indent)
  return nested !== null
}

const CONTAINER = /^(?::{3,}|\/{3,})(?![:/])[ \t]*(.*)$/

/**
 * A line that begins or ends a container, such as `:::tip Title` and `:::` of VitePress, Docusaurus and
 * Pandoc, or `/// note` and `///` of Python-Markdown; the token's `info` is what follows the marks.
 */
export const readContainerMark: BlockRule = (state, from, _end, isSilent) => {
  if (!isFirstCharacter(state, from, 58) && !isFirstCharacter(state, from, 47)) return false
  const mark = CONTAINER.exec(textOf(state, from))
  if (mark === null || mark[1]?.endsWith(":::")) return false
  if (isSilent) return true
  pushBlock(state, "container", from, from + 1)
  const token = state.tokens.at(-1)
  if (token !== undefined) token.info = mark[1]?.trim() ?? ""
  return true
}

const IMPORT_LINE = /^import\s+(?:[\w$*{},\s]+\s+from\s+)?["'][^"']+["'];?\s*$/

/** Lines that import something, as in JavaScript: documents of VitePress and Docusaurus have them although they are no MDX. */
export const readImports: BlockRule = (state, from, end, isSilent) => {
  const isImport = (line: number) =>
    isFirstCharacter(state, line, 105) && IMPORT_LINE.test(textOf(state, line))
  if (isSilent || indentOf(state, from) > 0 || !isImport(from)) return false
  let to = from + 1
  while (to < end && isImport(to)) to++
  pushBlock(state, "unread", from, to)
  return true
}

const STATEMENT =
  /^(?:import\s*(?:["'{*]|[\w$]+\s*,|[\w$]+\s+from\b)|export\s+(?:default|const|let|var|function|async|class|type|interface|\{|\*))/

/** Statements of MDX, up to a blank line outside of brackets. */
export const readStatements: BlockRule = (state, from, end, isSilent) => {
  if (isSilent || indentOf(state, from) > 0 || !STATEMENT.test(textOf(state, from))) return false
  let depth = 0
  let firstBlank = end
  let to = from
  for (; to < end; to++) {
    if (state.isEmpty(to)) {
      firstBlank = Math.min(firstBlank, to)
      // Brackets that never close are looked for once only, else many of them would take too long.
      if (depth <= 0 || state.env.hasOpenBrackets === true) break
    }
    for (const bracket of textOf(state, to).match(/[()[\]{}]/g) ?? [])
      depth += "([{".includes(bracket) ? 1 : -1
  }
  if (depth > 0) state.env.hasOpenBrackets = true
  pushBlock(state, "unread", from, depth > 0 ? firstBlank : to)
  return true
}

/** A comment of MDX that stands alone: `{/*` to `*` `/}`. */
export const readBraceComment: BlockRule = (state, from, end, isSilent) => {
  if (!isFirstCharacter(state, from, 123) || !textOf(state, from).startsWith("{/*")) return false
  // A comment that never ends is looked for once only, else many of them would take too long.
  const close = state.env.hasOpenComment === true ? -1 : state.src.indexOf("*/}", state.bMarks[from])
  if (close < 0) {
    state.env.hasOpenComment = true
    return false
  }
  if (/\S/.test(state.src.slice(close + 3, state.eMarks[from]))) return false
  if (isSilent) return true
  let to = from
  while (to + 1 < end && (state.eMarks[to] ?? 0) < close) to++
  pushBlock(state, "unread", from, to + 1)
  return true
}

/** A fence of MDX, which has no indented code, at any indent that is too deep for one of Markdown. */
export const readDeepFence: BlockRule = (state, from, end, isSilent) => {
  if (indentOf(state, from) < CODE_INDENT) return false
  const fence = FENCE.exec(textOf(state, from))?.[0]
  if (fence === undefined) return false
  if (isSilent) return true
  let to = from + 1
  while (to < end && !closesFence(textOf(state, to), fence)) to++
  pushBlock(state, "fence", from, Math.min(to + 1, end))
  return true
}

/**
 * A tag of MDX that begins a line and ends one, or an element that fills a line; what stands between tags is
 * Markdown again. A tag may have many lines, none of them blank.
 */
export const readTag: BlockRule = (state, from, end, isSilent) => {
  if (!isFirstCharacter(state, from, 60) || !/^<[A-Za-z/>]/.test(textOf(state, from))) return false
  // What begins above and takes this line for a part of itself is no tag, so nothing that begins here is.
  if (typeof state.env.noTagBefore === "number" && from < state.env.noTagBefore) return false
  const { line, rest } = findTagEnd(state, from, end)
  if (rest === null || (rest !== "" && !rest.endsWith(">"))) {
    state.env.noTagBefore = line
    return false
  }
  if (!isSilent) pushBlock(state, "html_block", from, line + 1)
  return true
}

/**
 * The line on which a tag ends and what follows it there; no rest when it does not end before a blank line,
 * which is then the line. Quoted texts and braces are skipped.
 */
function findTagEnd(state: StateBlock, from: number, end: number): { line: number; rest: string | null } {
  let depth = 0
  let quote = ""
  let line = from
  for (; line < end && !state.isEmpty(line); line++) {
    const text = textOf(state, line)
    for (let at = 0; at < text.length; at++) {
      const character = text.charAt(at)
      if (quote !== "") {
        if (character === quote) quote = ""
      } else if (character === '"' || character === "'" || character === "`") quote = character
      else if (character === "{") depth++
      else if (character === "}") depth--
      else if (character === ">" && depth <= 0) return { line, rest: text.slice(at + 1).trimEnd() }
    }
  }
  return { line, rest: null }
}
