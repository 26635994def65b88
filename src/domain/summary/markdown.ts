/** Reads a Markdown body as the sentences its author wrote in prose, not code, quotes, tables, comments, definitions. */

import MarkdownIt, { type Env, type StateInline, type Token } from "markdown-it"
import { maskCode } from "../text/code-spans.ts"
import { splitSentences } from "../text/sentences.ts"

/** One sentence in plain text with single spaces; inline code keeps its backticks. */
export type Sentence =
  | { kind: "paragraph" | "bullet" | "heading"; text: string }
  | { kind: "checkbox"; text: string; checked: boolean }

const markdown = new MarkdownIt("commonmark").enable(["table", "strikethrough"])
Object.assign(markdown, { normalizeLink: String, normalizeLinkText: String, validateLink: () => true })
markdown.inline.ruler.before("strikethrough", "name_marks", readNameMarks)

/** A quote ends with its marks: the line below it is the author's answer, blank line or not. */
const QUOTED_LINE = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?>.*$/gm

/**
 * Returns the sentences of a Markdown body, in the order written, none of them empty: blocks as CommonMark 0.31 and
 * tables have them. A line begins a sentence when it begins with a label or a mention, or follows a hard break, a
 * colon or a salutation. Of a check box the first sentence is the task, the others are bullets; a heading stays whole.
 * Never throws; near linear in the length of the body.
 */
export function readSentences(body: string): Sentence[] {
  const env: Env = {}
  const tokens: Token[] = []
  markdown.block.parse(body.replace(/\r\n?/g, "\n").replace(QUOTED_LINE, ""), markdown, env, tokens)
  return tokens.flatMap((token, at): Sentence[] => {
    const [item, block] = [tokens[at - 2], tokens[at - 1]]
    if (token.type === "html_block" && !HIDDEN.test(token.content))
      return sentencesOf("paragraph", token, env)
    if (token.type !== "inline" || !/^(?:heading|paragraph)_open$/.test(block?.type ?? "")) return []
    // Who draws a line below a sentence means a rule.
    const isRule = /^[-=]/.test(block?.markup ?? "") && /\n|[.!?;:,]$/.test(token.content)
    if (block?.type !== "heading_open" || isRule)
      return sentencesOf(item?.type === "list_item_open" ? "bullet" : "paragraph", token, env)
    const text = collapsed(linesOf(token, env).join(" "))
    return text === "" ? [] : [{ kind: "heading", text }]
  })
}

/** Blocks of HTML that show nothing, or nothing that is prose; a comment only if it has no end. */
const HIDDEN = /^\s*<(?:script|style|pre|textarea|\?|!(?!--.*?-->))/is
const SHOWN_AS_SPACE =
  /^<(?:!--|\/?(?:br|p|div|span|b|i|u|em|strong|sub|sup|kbd|small|details|summary|hr)(?:[\s/>]))/i
const ENTRY = /^(?:•|\d{1,9}[.)])\s+(.*)$/
const TASK = /^\[([ xX])\]\s+(.*)$/
/** Agents write one statement per line without blank lines. */
const BEGINS = /^(?:@[\p{L}\p{N}]|\[[ xX]\]\s|\p{Lu}[\p{L} -]{0,30}(?:\([^()]{1,40}\))?:(?:\s|$))/u
const SALUTATION = /^(?:hi|hello|hey|dear|thanks|thank you)\b.{0,55}[,!]$/i

/** Returns the lines of a block in plain text; an empty one stands where the author broke a line on purpose. */
function linesOf({ content }: Token, env: Env): string[] {
  const tokens: Token[] = []
  markdown.inline.parse(content, markdown, env, tokens)
  return tokens.map(textOf).join("").split("\n").map(collapsed)
}

function textOf({ type, content, markup, children }: Token): string {
  if (type === "softbreak") return "\n"
  if (type === "hardbreak") return "\n\n"
  if (type === "image") return (children ?? []).map(textOf).join("")
  if (type === "html_inline") return SHOWN_AS_SPACE.test(content) ? " " : collapsed(content)
  if (type !== "code_inline") return content
  const pad = /^`|`$/.test(content) ? " " : ""
  return markup + pad + content + pad + markup
}

function collapsed(text: string): string {
  return text.replace(/\s+/g, " ").trim()
}

/** Returns the sentences of a paragraph or of the first paragraph of a list entry. */
function sentencesOf(first: "paragraph" | "bullet", token: Token, env: Env): Sentence[] {
  const units: { kind: "paragraph" | "bullet"; lines: string[] }[] = []
  let isOver = true
  for (const line of linesOf(token, env)) {
    const entry = ENTRY.exec(line)?.[1]
    const kind = entry !== undefined ? "bullet" : units.length === 0 ? first : "paragraph"
    if (isOver || entry !== undefined || BEGINS.test(line)) units.push({ kind, lines: [] })
    units.at(-1)?.lines.push(entry ?? line)
    isOver = line === "" || line.endsWith(":") || SALUTATION.test(line)
  }
  return units.flatMap(({ kind, lines }) => {
    const text = collapsed(lines.join(" "))
    const [, state, task] = TASK.exec(text) ?? []
    return cutSentences(task ?? text).map((one, at): Sentence => {
      if (task !== undefined && at === 0) return { kind: "checkbox", text: one, checked: state !== " " }
      return { kind: task === undefined ? kind : "bullet", text: one }
    })
  })
}

/** A full stop within code ends no sentence. */
function cutSentences(text: string): string[] {
  let to = 0
  return splitSentences(maskCode(text)).map(({ length }) => {
    to += length
    return text.slice(to - length, to).trim()
  })
}

/** The marks in `src/*.ts`, `__init__.py`, `docs/**` and `2*3*4` are letters of a name, whatever CommonMark says. */
const NAME_MARKS = /(?<=[A-Za-z0-9])[*_](?=[A-Za-z0-9])|(?<=\/)[*_]{1,9}|[*_]{1,9}(?=[/\\]|\.[A-Za-z0-9])/y

function readNameMarks(state: StateInline, isSilent: boolean): boolean {
  NAME_MARKS.lastIndex = state.pos
  const [marks] = NAME_MARKS.exec(state.src) ?? []
  if (marks === undefined) return false
  if (!isSilent) state.pending += marks
  state.pos += marks.length
  return true
}
