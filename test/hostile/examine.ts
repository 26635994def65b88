/** What must hold of every text that others can put something into, whatever that is. */

import MarkdownIt from "markdown-it"
import { expect } from "vitest"

const RESULT_CHARS_MAX = 25_000

/** Controls but for new lines and tabs, and what is not seen: a list of its own, so that no rule of the product is its own proof. */
const ACTING = new RegExp(
  [
    "(?![\\n\\t])\\p{Cc}",
    "[\\p{Cs}\\xad\\u061c\\u115f\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb]",
    "\\u034f",
    "[\\u{e0000}-\\u{e0fff}]",
    "(?<!\\p{Extended_Pictographic}[\\ufe0f\\u{1f3fb}-\\u{1f3ff}]?|[\\p{Script=Arabic}\\p{Script=Devanagari}])[\\u200c\\u200d]",
    "(?<!\\p{Emoji})[\\ufe00-\\ufe0f]",
  ].join("|"),
  "u",
)

const BREAKS = ["\n", "\r", "\v", "\f", "\u001c", "\u001d", "\u001e", "\u0085", "\u2028", "\u2029"]
const ANY_BREAK = new RegExp(`[${BREAKS.join("")}]`, "u")
const FORGED_ID = /^\s*(?:> )?[A-Z][\w ]*\bid: (?:thr_)?990\d{4}\b/

const markdown = new MarkdownIt({ html: true })
/** What our own results are made of, outside of quotes. */
const OURS =
  /^(?:paragraph|heading|bullet_list|list_item|blockquote)_(?:open|close)$|^(?:inline|text|text_special|softbreak|hardbreak|code_inline)$|^(?:em|strong|s)_(?:open|close)$/

/** Fails when a text would act on a terminal, or hide something. */
export function expectVisible(text: string, what: string): void {
  const found = ACTING.exec(text)
  const around =
    found === null ? "" : JSON.stringify(text.slice(Math.max(0, found.index - 30), found.index + 30))
  expect(around, `${what}: a character that acts or is not seen`).toBe("")
}

/** Fails when a result of a tool holds what opens something outside of a quote, or passes for a line of ours. */
export function expectContained(result: string, foreign: string | readonly string[], what: string): void {
  expectVisible(result, what)
  expect(result.length, what).toBeLessThanOrEqual(RESULT_CHARS_MAX)
  const outside = result.split("\n").filter((line) => !line.startsWith("> "))
  expect(
    outside.filter((line) => FORGED_ID.test(line)),
    `${what}: forged ids in ${result}`,
  ).toEqual([])
  const begun = outside.map((line) => line.trimStart())
  const texts = [foreign].flat()
  for (const line of texts.flatMap((text) => text.split(ANY_BREAK)).map((one) => one.trim())) {
    // What is a name may stand at the beginning of a sentence, and what begins with a dash is cited in lists.
    if (line.length < 3 || /^[\w-]+$|^- /.test(line)) continue
    const posing = begun.filter((one) => one.startsWith(line))
    expect(posing, `${what}: lines that begin as a foreign one in ${result}`).toEqual([])
  }
  expect(openedOutside(result), `${what}: opened in ${result}`).toEqual([])
}

/** The kinds of what is opened outside of quotes and is none of ours. */
function openedOutside(result: string): string[] {
  let depth = 0
  const types = markdown.parse(result, {}).flatMap((token) => {
    if (token.type.startsWith("blockquote_")) depth += token.nesting
    return depth > 0 ? [] : [token, ...(token.children ?? [])].map(({ type }) => type)
  })
  return types.filter((type) => !OURS.test(type))
}

/** Counts the lines outside of quotes that give an id under a label. */
export function countIds(result: string, label: string): number {
  return result.split("\n").filter((line) => new RegExp(`^${label}: \\d+$`).test(line)).length
}
