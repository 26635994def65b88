/**
 * Reads Markdown and MDX into an outline: CommonMark with tables, front matter, containers and HTML headings.
 * Only the blocks are read, and only where they begin and end; what stands in them stays as it is.
 */

import MarkdownIt, { type Env, type MarkdownIt as Parser, type Token } from "markdown-it"
import type { Outline } from "../outline.ts"
import { isBlank } from "../outline-builder.ts"
import { readFrontMatter } from "./front-matter.ts"
import {
  readBraceComment,
  readContainerMark,
  readDeepFence,
  readImports,
  readList,
  readQuote,
  readStatements,
  readTag,
} from "./markdown-rules.ts"
import { SectionBuilder } from "./markdown-sections.ts"
import { plainHeading, plainMarkup } from "./markdown-text.ts"

/** Longer lines are data; they are not searched for marks. */
const LINE_CHARS_MAX = 20_000
/** How many lines a heading in HTML may take. */
const HEADING_LINES_MAX = 5

const markdown = createParser(false)
const mdx = createParser(true)

function createParser(isMdx: boolean): Parser {
  const parser = new MarkdownIt("commonmark").enable("table")
  // What a reference leads to is never asked for, and to check it takes longer than all else.
  parser.normalizeLink = (url) => url
  parser.validateLink = () => true
  const { ruler } = parser.block
  ruler.at("blockquote", readQuote, { alt: ["paragraph", "reference", "blockquote", "list"] })
  ruler.at("list", readList, { alt: ["paragraph", "reference", "blockquote"] })
  const ends = { alt: ["paragraph", "reference", "blockquote", "list"] }
  ruler.before("table", "container", readContainerMark, ends)
  if (!isMdx) {
    ruler.before("table", "imports", readImports)
    return parser
  }
  ruler.disable("code")
  ruler.before("table", "statements", readStatements)
  ruler.before("table", "brace_comment", readBraceComment, ends)
  ruler.before("table", "deep_fence", readDeepFence, ends)
  ruler.before("table", "tag", readTag, ends)
  return parser
}

/**
 * Reads Markdown into its outline; `lines` are the text's own. Never throws; time grows with the text.
 *
 * Headings are those of CommonMark 0.31 outside of quotes and lists, and `<h1>` to `<h6>` that begin a line.
 * The title is the front matter's, else the first heading of level 1, else the first. Not in any block are
 * front matter but for its description, comments, rules, link references, tags without words, and the
 * statements of MDX. With `isMdx` there is no indented code, and what stands between tags is Markdown.
 */
export function readMarkdown(text: string, { isMdx }: { isMdx: boolean }): Outline {
  const lines = text.replace(/^\ufeff/, "").split("\n")
  if (text.includes("\r"))
    lines.forEach((line, at) => {
      if (line.endsWith("\r")) lines[at] = line.slice(0, -1)
    })
  const frontMatter = readFrontMatter(lines)
  const builder = new SectionBuilder(lines)
  for (const { from, to } of frontMatter?.descriptions ?? []) {
    builder.add({ kind: "paragraph", from, to, breaks: between(from, to) })
  }
  const env: Env = {}
  const tokens: Token[] = []
  const parser = isMdx ? mdx : markdown
  const read = lines.map((line, at) => (at < (frontMatter?.to ?? 0) ? "" : shortened(line)))
  parser.block.parse(read.join("\n"), parser, env, tokens)
  tokens.forEach((token, at) => {
    if (token.level === 0 && token.map !== null) addToken(token, tokens[at + 1], { lines, env, builder })
  })
  const { headings, sections } = builder
  const heading = headings.find(({ level }) => level === 1) ?? headings[0]
  return { title: frontMatter?.title ?? heading?.text ?? null, lines, sections }
}

/** What the parser sees of a line: of one that is too long, what says whether it goes on with a list or quote. */
function shortened(line: string): string {
  if (line.length <= LINE_CHARS_MAX) return line
  const start = line.slice(0, 200)
  // Images that some editors put at the end of a document.
  if (/^ {0,3}\[[^\]]+\]:\s*<?data:/.test(start)) return ""
  return `${/^[ \t]*(?:(?:>|[-+*]|\d{1,9}[.)])[ \t])?/.exec(start)?.[0] ?? ""}x`
}

interface Target {
  lines: readonly string[]
  env: Env
  builder: SectionBuilder
}

/** Adds what a token of the outermost level stands for; `next` holds the text of a heading. */
function addToken(token: Token, next: Token | undefined, { lines, env, builder }: Target): void {
  const [from = 0, to = 0] = token.map ?? []
  switch (token.type) {
    case "heading_open": {
      const text = plainHeading(next?.content ?? "", env)
      if (text !== "") builder.addHeading(Number(token.tag.slice(1)), text, from, to)
      break
    }
    case "paragraph_open":
      builder.add({ kind: "paragraph", from, to, breaks: between(from, to) })
      break
    case "quote":
      builder.add({ kind: "quote", from, to, breaks: between(from, to) })
      break
    case "list":
      builder.add({ kind: "list", from, to, breaks: (token.meta?.breaks ?? []) as number[] })
      break
    case "table_open":
      builder.add({ kind: "table", from, to, breaks: between(from + 1, to), headerTo: from + 2 })
      break
    case "code_block":
      builder.add({ kind: "code", from, to, breaks: between(from, to) })
      break
    case "fence":
      // Neither the first line nor the last one of a fence says anything alone.
      builder.add({ kind: "code", from, to, breaks: between(from + 1, to - 1) })
      break
    case "container":
      if (token.info === "") builder.closeContainer(from)
      else builder.openContainer(from)
      break
    case "html_block":
      addMarkup(lines, from, to, builder)
      break
    case "reference_definition":
      // `[^1]: word` is a footnote.
      if (String(token.meta?.label).startsWith("^")) builder.add({ kind: "paragraph", from, to, breaks: [] })
  }
}

/** The lines between the first one and the end. */
function between(from: number, to: number): number[] {
  const lines: number[] = []
  for (let line = from + 1; line < to; line++) lines.push(line)
  return lines
}

const HEADING_START = /^\s*<h([1-6])(?:\s[^<>]*)?>/i
const NO_MARKUP_WITHIN = /^\s*<(?:pre|textarea)\b/i

/** Adds a run of HTML or JSX, cut at its headings; what shows no words is left out. */
function addMarkup(lines: readonly string[], from: number, to: number, builder: SectionBuilder): void {
  let start = from
  const addUpTo = (end: number) => {
    // What is never closed goes on to the end of the text.
    let last = end
    while (last > start && isBlank(lines[last - 1])) last--
    if (hasWords(lines.slice(start, last).join("\n"))) {
      builder.add({ kind: "markup", from: start, to: last, breaks: between(start, last) })
    }
  }
  const isVerbatim =
    NO_MARKUP_WITHIN.test(lines[from] ?? "") || /^\s*<(?:!--|script\b|style\b)/i.test(lines[from] ?? "")
  for (let line = from; line < to && !isVerbatim; line++) {
    const heading = markupHeading(lines, line, to)
    if (heading === null) continue
    addUpTo(line)
    builder.addHeading(heading.level, heading.text, line, heading.to)
    start = heading.to
    line = heading.to - 1
  }
  addUpTo(to)
}

function markupHeading(
  lines: readonly string[],
  from: number,
  end: number,
): { level: number; text: string; to: number } | null {
  const [start, level] = HEADING_START.exec(lines[from] ?? "") ?? []
  if (start === undefined) return null
  const close = new RegExp(`</h${level}\\s*>(?:\\s*</?[^<>]*>)*\\s*$`, "i")
  const last = Math.min(end, from + HEADING_LINES_MAX)
  for (let to = from; to < last; to++) {
    if (!close.test(lines[to] ?? "")) continue
    const text = plainMarkup(lines.slice(from, to + 1).join(" "))
    return text === "" ? null : { level: Number(level), text, to: to + 1 }
  }
  return null
}

/** Attributes that say something to a reader. */
const WORDY =
  /\b(?:alt|aria-label|caption|description|label|summary|title)\s*=\s*(?:\{\s*)?["'`][^"'`]*[\p{L}\p{N}]/iu
const WORD = /[\p{L}\p{N}]/u

/** Whether a run of HTML or JSX shows words: no comment, no script or style, more than tags. */
function hasWords(html: string): boolean {
  if (/^\s*<(?:script|style)\b/i.test(html)) return false
  const shown = withoutComments(html).slice(0, LINE_CHARS_MAX)
  return WORDY.test(shown) || WORD.test(shown.replace(/<[^<>]*>/g, ""))
}

function withoutComments(html: string): string {
  let shown = ""
  let from = 0
  for (let at = html.indexOf("<!--"); at >= 0; at = html.indexOf("<!--", from)) {
    shown += html.slice(from, at)
    const close = html.indexOf("-->", at)
    if (close < 0) return shown
    from = close + 3
  }
  return shown + html.slice(from)
}
