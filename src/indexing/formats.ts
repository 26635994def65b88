/** Which files are documentation, in which format each is, and which reader it has. */

import type { Outline } from "./outline.ts"
import { readAsciidoc } from "./readers/asciidoc.ts"
import { readHtml } from "./readers/html.ts"
import { readMarkdown } from "./readers/markdown.ts"
import { readNotebook } from "./readers/notebook.ts"
import { readPlainText } from "./readers/plain-text.ts"
import { readRestructuredText } from "./readers/restructuredtext.ts"

export type Format = "markdown" | "mdx" | "restructuredtext" | "asciidoc" | "html" | "notebook" | "text"

const FORMATS: Readonly<Record<string, Format>> = {
  md: "markdown",
  markdown: "markdown",
  mdown: "markdown",
  mkd: "markdown",
  mkdn: "markdown",
  mdx: "mdx",
  rst: "restructuredtext",
  rest: "restructuredtext",
  adoc: "asciidoc",
  asciidoc: "asciidoc",
  asc: "asciidoc",
  html: "html",
  htm: "html",
  xhtml: "html",
  ipynb: "notebook",
  txt: "text",
  text: "text",
}

/** Names of documents that need no extension. */
const NAMES = /^(?:readme|changelog|contributing|install|news|authors?|hacking|todo)$/
const LICENCE =
  /^(?:(?:un)?licen[cs]e|copying)(?:[-_.](?:mit|apache|bsd|[al]?gpl|lesser|mpl|epl|isc|cc|zlib|boost|\d).*)?(?:\.\w{2,8})?$/
/** Lists for programs. `lock` counts as a word only: `locking.txt` and `block.txt` are documents. */
const DATA =
  /^(?:(?:dev|tests?|docs?|build|lint|ci|prod)[-_.])?requirements.*\.txt$|^(?:constraints.*|cmakelists|meson_options|robots)\.txt$|(?:^|[-_.])lock(?:[-_.].*)?\.txt$/

/**
 * Returns the format of a file by its path, whose segments `/` joins; null for what is no documentation, such
 * as licences and lists of requirements. Case does not count.
 */
export function formatOf(path: string): Format | null {
  const lower = path.toLowerCase()
  const name = lower.slice(lower.lastIndexOf("/") + 1)
  if (LICENCE.test(name) || DATA.test(name) || /(?:^|\/)requirements\/[^/]+\.txt$/.test(lower)) return null
  const dot = name.lastIndexOf(".")
  if (dot < 0) return NAMES.test(name) ? "text" : null
  // Sphinx publishes its sources under such names.
  if (name.endsWith(".rst.txt")) return "restructuredtext"
  const extension = name.slice(dot + 1)
  return dot > 0 && Object.hasOwn(FORMATS, extension) ? (FORMATS[extension] ?? null) : null
}

/**
 * Reads a text into its outline. What is called plain text but is clearly written in a markup is read as
 * that. Never throws; takes time in step with the length.
 */
export function readOutline(format: Format, text: string): Outline {
  switch (format) {
    case "markdown":
      return readMarkdown(text, { isMdx: false })
    case "mdx":
      return readMarkdown(text, { isMdx: true })
    case "restructuredtext":
      return readRestructuredText(text)
    case "asciidoc":
      return readAsciidoc(text)
    case "html":
      return readHtml(text)
    case "notebook":
      return readNotebook(text)
    case "text": {
      const markup = markupOf(text)
      return markup === "text" ? readPlainText(text) : readOutline(markup, text)
    }
  }
}

/** The markup that a plain text is written in, by what only that markup has, near its beginning. */
function markupOf(text: string): Format {
  const start = text.slice(0, 20_000)
  const directives = start.match(/^ {0,8}\.\. (?:_[^\n:]+:|[a-z][\w:-]*::)/gm)?.length ?? 0
  if (directives >= 2) return "restructuredtext"
  const headings = start.match(/^#{1,4} \S/gm)?.length ?? 0
  const links = start.match(/\]\(\S{1,500}\)|^```/gm)?.length ?? 0
  return /^\s*# \S/.test(start) && headings + links >= 3 && links > 0 ? "markdown" : "text"
}

const MARKED_CHARS_MIN = 200_000
const DENSE_CHARS_MIN = 50_000
const LINE_CHARS_MEAN_MAX = 5_000
const ENCODED_RUN_CHARS_MIN = 60

/**
 * Whether a text is made by a program for programs: large and marked as generated in its first five lines,
 * large and without line breaks, or data in base64 with next to nothing around it. Notebooks never are: their
 * lines hold pictures.
 */
export function isGenerated(text: string): boolean {
  if (text.length < DENSE_CHARS_MIN) return false
  if (/^\s*\{/.test(text) && text.includes('"nbformat"')) return false
  const lines = countLines(text)
  const isMarked = /@generated\b|\bDO NOT EDIT\b/.test(text.split("\n", 5).join("\n"))
  if (isMarked && text.length > MARKED_CHARS_MIN) return true
  const wordChars = Math.max(0, text.length - countEncoded(text))
  if (wordChars < 2_000 && wordChars * 10 < text.length) return true
  // What is left must be dense by itself: a picture within a document is a long line too.
  return wordChars > DENSE_CHARS_MIN && wordChars > lines * LINE_CHARS_MEAN_MAX
}

/** The characters in runs of base64 longer than any word, each with what ends it: MIME does so after 76. */
function countEncoded(text: string): number {
  let encoded = 0
  let from = 0
  for (let at = 0; at <= text.length; at++) {
    const code = at < text.length ? text.charCodeAt(at) : 0
    const isLetter = (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)
    if (isLetter || (code >= 0x2f && code <= 0x39) || code === 0x2b || code === 0x3d) continue
    if (at - from >= ENCODED_RUN_CHARS_MIN) encoded += at + 1 - from
    from = at + 1
  }
  return encoded
}

function countLines(text: string): number {
  let lines = 1
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++
  return lines
}
