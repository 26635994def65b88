/**
 * Text that others supplied, inside of the Markdown that we write: one line within a line of ours, or a quote. It
 * stays as it was typed as long as it opens nothing there; else it becomes code, which shows every character as it is.
 */

import { visible, visibleLine } from "./visible.ts"

/** HTML and automatic links, and the joint of a link or an image. */
const OPENS_INLINE = /<[A-Za-z/!?]|<[^\s<>]*@|\]\(/
/** Headings, quotes, lists, rules, tables, fences and targets of links, which only the beginning of a line opens. */
const OPENS_BLOCK = /^(?:\[|#{1,6}(?: |$)|[>|=]|[-+*](?: |$)|\d{1,9}[.)](?: |$)|~~~|(?:[-*_] ?){3,}$)/
/** What reaches out of a quote: HTML that ends it or swallows what follows, and what names the target of links elsewhere. */
const REACHES_OUT = new RegExp(
  [
    "</?(?:blockquote|iframe|math|noembed|noframes|noscript|plaintext|script|select|style|svg|template|textarea|title|xmp)\\b",
    "<[!?]",
    "(?:^|\\u0085)[\\s>*+.)\\d-]*\\[(?:[^[\\]\\\\]|\\\\.){1,999}\\]:",
  ].join("|"),
  "ims",
)

/** Returns a text on one line, for the rest of a line that we began. */
export function oneLine(text: string): string {
  const line = visibleLine(text)
  return opensStructure(line) ? codeSpan(line) : line
}

/** Returns the same for a line, or an entry of a list, that begins with it. */
export function lineStart(text: string): string {
  const line = visibleLine(text)
  return opensStructure(line) || OPENS_BLOCK.test(line) ? codeSpan(line) : line
}

/** Returns a name, such as a path, within a sentence: as code where white space or a quote could hide where it ends. */
export function named(text: string): string {
  const line = visibleLine(text)
  return /[\s"]/.test(line) || opensStructure(line) || OPENS_BLOCK.test(line) ? codeSpan(line) : line
}

/** Returns a text between double quotes, or as code when it holds one or opens something. */
export function inQuotes(text: string): string {
  const line = visibleLine(text)
  return line.includes('"') || opensStructure(line) ? codeSpan(line) : `"${line}"`
}

/** What an error repeats of a value at most. */
const ECHOED_CHARS_MAX = 200

/** Returns what somebody gave, as an error repeats it: in quotes, on one line, cut at 200 characters. */
export function echoed(text: string): string {
  const characters = [...text.slice(0, 2 * ECHOED_CHARS_MAX + 2)]
  if (characters.length <= ECHOED_CHARS_MAX) return inQuotes(text)
  return inQuotes(`${characters.slice(0, ECHOED_CHARS_MAX).join("")}…`)
}

const LINE_END = /\r\n|[\n\r\u0085\u2028\u2029]/u

/**
 * Returns somebody's text as a Markdown quote, in which no line can pass for one of ours; as code in the quote when it
 * would reach out of it.
 */
export function quoted(text: string): string {
  const mark = quoteMark(text)
  return text
    .split(LINE_END)
    .map((line) => mark + visible(line))
    .join("\n")
}

/** Returns what stands before each line of a text when it is quoted. */
export function quoteMark(text: string): string {
  return REACHES_OUT.test(text) ? ">     " : "> "
}

function opensStructure(line: string): boolean {
  return OPENS_INLINE.test(line) || hasOpenBackticks(line)
}

/** Whether a backtick could close code that another text began, or begin what another closes. */
function hasOpenBackticks(line: string): boolean {
  if (line.includes("\\`")) return true
  let open = ""
  for (const [run] of line.matchAll(/`+/g)) {
    if (open === "") open = run
    else if (open === run) open = ""
  }
  return open !== ""
}

/** Returns a line without line breaks as code, whatever backticks it holds. */
export function codeSpan(line: string): string {
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = "`".repeat(longest + 1)
  const pad = /^`|`$/.test(line) ? " " : ""
  return fence + pad + line + pad + fence
}
