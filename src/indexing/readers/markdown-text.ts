/** What a reader sees of a heading: its text without the marks of Markdown and HTML. */

import MarkdownIt, { type Env, type Token } from "markdown-it"

/** What is read of a heading; nobody needs more, and reading marks may take the square of the length. */
const HEADING_CHARS_MAX = 300

const inline = new MarkdownIt("commonmark").enable("strikethrough")

/** `{#anchor}`, `{.class}`, `{: #anchor}` of VitePress and kramdown, and the comment form of MDX. */
const ATTRIBUTES = /\{(?:[#.:][^{}]*|\/\*[^{}]*\*\/)\}$/
const MARKS = /[\\`*_~[\]!<&]/
const TAG = /<[^<>]*>/g
const ALT = /\balt\s*=\s*(?:"([^"]*)"|'([^']*)')/i
const NAMES = new Set(
  (
    "a abbr b bdi bdo big br button center cite code data del details dfn div em font h1 h2 h3 h4 h5 h6 hr i " +
    "img input ins kbd label li mark meter ol p picture q s samp small source span strike strong sub summary " +
    "sup svg table tbody td th thead time tr tt u ul var video wbr"
  ).split(" "),
)

/**
 * Returns the plain text of a heading's Markdown, spaces collapsed: of links and code their text, of images
 * what describes them; anchors at the end are left out, and tags are, but not what names a type or a gap to
 * fill, as in `Map<K>` and `--fix <file>`. `env` holds the link references of the document. Reads 300
 * characters.
 */
export function plainHeading(markdown: string, env: Env): string {
  const text = markdown.slice(0, HEADING_CHARS_MAX).trim().replace(ATTRIBUTES, "")
  if (!MARKS.test(text)) return collapse(text)
  const tokens = inline.parseInline(text, env).flatMap(({ children }) => children ?? [])
  return collapse(textOf(tokens))
}

/** Returns the plain text of HTML that stands in a heading, spaces collapsed. Reads 300 characters. */
export function plainMarkup(html: string): string {
  const text = html.slice(0, HEADING_CHARS_MAX).replace(TAG, (tag) => tagText(tag))
  return collapse(text.includes("&") ? inline.utils.unescapeAll(text.replaceAll("\\", "\\\\")) : text)
}

function textOf(tokens: readonly Token[]): string {
  const closed = new Set(
    tokens.flatMap(({ type, content }) => (type === "html_inline" ? endName(content) : [])),
  )
  return tokens
    .map(({ type, content, children }) => {
      if (type === "image") return textOf(children ?? [])
      if (type === "softbreak" || type === "hardbreak") return " "
      if (type !== "html_inline") return content
      const name = /^<([A-Za-z][\w-]*)>$/.exec(content)?.[1]
      const isWord = name !== undefined && !NAMES.has(name.toLowerCase()) && !closed.has(name)
      return isWord ? content : tagText(content)
    })
    .join("")
}

function endName(tag: string): string[] {
  return /^<\/([A-Za-z][\w-]*)/.exec(tag)?.slice(1) ?? []
}

function tagText(tag: string): string {
  const [, double, single] = /^<img\b/i.test(tag) ? (ALT.exec(tag) ?? []) : []
  return /^<br\b/i.test(tag) ? " " : (double ?? single ?? "")
}

function collapse(text: string): string {
  return text.replace(/\s+/g, " ").trim()
}
