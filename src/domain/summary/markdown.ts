/**
 * Reads a Markdown body as the text units that its author wrote in prose: paragraphs, list entries, check boxes and
 * headings. What is no prose is left out: code, quotes, tables, comments, link definitions.
 */

import MarkdownIt, {
  type Env,
  type MarkdownIt as Parser,
  type StateBlock,
  type StateInline,
  type Token,
} from "markdown-it"

/** One unit in plain text with single spaces; inline code keeps its backticks. */
export type TextUnit =
  | { kind: "paragraph" | "bullet" | "heading"; text: string }
  | { kind: "checkbox"; text: string; checked: boolean }

const markdown = createParser()

function createParser(): Parser {
  const parser = new MarkdownIt("commonmark").enable(["table", "strikethrough"])
  parser.normalizeLink = (url) => url
  parser.normalizeLinkText = (text) => text
  parser.validateLink = () => true
  parser.block.ruler.at("blockquote", skipQuote, { alt: ["paragraph", "reference", "blockquote", "list"] })
  parser.inline.ruler.before("strikethrough", "name_marks", readNameMarks)
  return parser
}

/**
 * Returns the units of a Markdown body, in the order written, none of them empty: blocks as CommonMark 0.31 and
 * tables have them. A line is a unit of its own when it begins with a label or a mention, or follows a hard break, a
 * colon or a salutation. Never throws; near linear in the length of the body.
 */
export function readUnits(body: string): TextUnit[] {
  const env: Env = {}
  const tokens: Token[] = []
  markdown.block.parse(body.replace(/\r\n?/g, "\n"), markdown, env, tokens)
  const units: TextUnit[] = []
  tokens.forEach((token, at) => {
    if (token.type === "inline") {
      const [item, block] = [tokens[at - 2], tokens[at - 1]]
      if (block?.type === "heading_open" && isHeading(block, token)) {
        const text = linesOf(token.content, env).map((line) => line.text)
        addUnit(units, "heading", text.join(" "))
      } else if (block?.type === "heading_open" || block?.type === "paragraph_open") {
        const kind = item?.type === "list_item_open" ? "bullet" : "paragraph"
        addLines(units, kind, linesOf(token.content, env))
      }
    } else if (token.type === "html_block" && !HIDDEN.test(token.content)) {
      addLines(units, "paragraph", linesOf(token.content, env))
    }
  })
  return units
}

/** Blocks of HTML that show nothing, or nothing that is prose; a comment only if it has no end. */
const HIDDEN = /^\s*<(?:script|style|pre|textarea|\?|!(?!--.*?-->))/is

/** Who draws a line below a sentence means a rule. */
function isHeading({ markup }: Token, { content }: Token): boolean {
  return markup.startsWith("#") || !/\n|[.!?;:,]$/.test(content)
}

interface Line {
  text: string
  /** Whether the author broke the line here on purpose. */
  isBroken: boolean
}

/** Returns the lines of a block in plain text. */
function linesOf(source: string, env: Env): Line[] {
  const tokens: Token[] = []
  markdown.inline.parse(source, markdown, env, tokens)
  const lines: Line[] = []
  let text = ""
  for (const token of tokens) {
    if (token.type === "softbreak" || token.type === "hardbreak") {
      lines.push({ text: collapsed(text), isBroken: token.type === "hardbreak" })
      text = ""
    } else text += textOf(token)
  }
  lines.push({ text: collapsed(text), isBroken: false })
  return lines
}

const SHOWN_AS_SPACE =
  /^<(?:!--|\/?(?:br|p|div|span|b|i|u|em|strong|sub|sup|kbd|small|details|summary|hr)(?:[\s/>]))/i

function textOf({ type, content, markup, children }: Token): string {
  if (type === "image") return (children ?? []).map(textOf).join("")
  if (type === "html_inline") return SHOWN_AS_SPACE.test(content) ? " " : content
  if (type !== "code_inline") return content
  const pad = /^`|`$/.test(content) ? " " : ""
  return markup + pad + content + pad + markup
}

function collapsed(text: string): string {
  return text.replace(/\s+/g, " ").trim()
}

const ENTRY = /^(?:•|\d{1,9}[.)])\s+(.*)$/
const TASK = /^\[([ xX])\]\s+(.*)$/

/** Adds the units of a paragraph or of the first paragraph of a list entry. */
function addLines(units: TextUnit[], kind: "paragraph" | "bullet", lines: readonly Line[]): void {
  let texts: string[] = []
  let unitKind = kind
  let isOver = false
  const close = () => {
    if (texts.length === 0) return
    addUnit(units, unitKind, texts.join(" "))
    texts = []
    unitKind = "paragraph"
  }
  for (const { text, isBroken } of lines) {
    const entry = ENTRY.exec(text)?.[1]
    if (isOver || entry !== undefined || TASK.test(text) || startsUnit(text)) close()
    if (entry !== undefined) unitKind = "bullet"
    texts.push(entry ?? text)
    isOver = isBroken || endsUnit(text)
  }
  close()
}

function addUnit(units: TextUnit[], kind: "paragraph" | "bullet" | "heading", joined: string): void {
  const text = collapsed(joined)
  const [, state, task] = (kind === "heading" ? null : TASK.exec(text)) ?? []
  if (task !== undefined) units.push({ kind: "checkbox", text: task, checked: state !== " " })
  else if (text !== "") units.push({ kind, text })
}

/** Agents write one statement per line without blank lines. */
function startsUnit(line: string): boolean {
  return /^(?:@[\p{L}\p{N}]|\p{Lu}[\p{L} -]{0,30}:(?:\s|$))/u.test(line)
}

function endsUnit(line: string): boolean {
  return line.endsWith(":") || (line.length < 60 && SALUTATION.test(line))
}

const SALUTATION = /^(?:hi|hello|hey|dear|thanks|thank you)\b.*[,!]$/i

const CODE_INDENT = 4
const GREATER_THAN = 62

/** A quote ends with its marks: the line below it is the author's answer, blank line or not. */
function skipQuote(state: StateBlock, from: number, end: number, isSilent: boolean): boolean {
  const isQuoted = (line: number) => {
    const indent = (state.sCount[line] ?? 0) - state.blkIndent
    const at = (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0)
    return indent >= 0 && indent < CODE_INDENT && state.src.charCodeAt(at) === GREATER_THAN
  }
  if (!isQuoted(from)) return false
  if (isSilent) return true
  let to = from + 1
  while (to < end && isQuoted(to)) to++
  state.line = to
  return true
}

const EMPHASIS_MARKS = /[*_]+/y
const WORD_CHARACTER = /[A-Za-z0-9]/

/** The marks in `src/*.ts`, `__init__.py`, `docs/**` and `2*3*4` are letters of a name, whatever CommonMark says. */
function readNameMarks(state: StateInline, isSilent: boolean): boolean {
  const { src, pos } = state
  EMPHASIS_MARKS.lastIndex = pos
  const [marks] = EMPHASIS_MARKS.exec(src) ?? []
  if (marks === undefined) return false
  const before = src.charAt(pos - 1)
  const after = src.slice(pos + marks.length, pos + marks.length + 2)
  const isInPath = before === "/" || /^(?:[/\\]|\.[A-Za-z0-9])/.test(after)
  const isInWord = marks.length === 1 && WORD_CHARACTER.test(before) && WORD_CHARACTER.test(after.charAt(0))
  if (!isInPath && !isInWord) return false
  if (!isSilent) state.pending += marks
  state.pos += marks.length
  return true
}
