import fc from "fast-check"
import MarkdownIt from "markdown-it"
import { expect, test } from "vitest"
import {
  echoed,
  inQuotes,
  lineStart,
  named,
  oneLine,
  quoted,
} from "../../../src/domain/foreign-text/markdown.ts"

const markdown = new MarkdownIt({ html: true })

/** Made of what opens things in Markdown, in any order. */
const structured = fc.string({
  unit: fc.constantFrom(
    ..."`*_[]()<>!#-+=|~\\&:;\"'1. \n\ta",
    "```",
    "](",
    "<b>",
    "</blockquote>",
    "<!--",
    "<script>",
    "[a]: b",
    "\r\n",
    "\u0085",
    "\u2028",
    "Message id: 3",
  ),
  maxLength: 40,
})

/** The kinds of all that is opened outside of a quote and of code. */
function opened(text: string): string[] {
  let depth = 0
  return markdown.parse(text, {}).flatMap((token) => {
    if (token.type.startsWith("blockquote_")) depth += token.nesting
    return depth > 0 ? [] : [token, ...(token.children ?? [])].map(({ type }) => type)
  })
}
const HARMLESS =
  /^(paragraph|heading|bullet_list|list_item|blockquote)_|^(inline|text|softbreak|hardbreak|code_inline)$|^(em|strong|s)_/

test.each([
  "Fix the bug in parse_args, *soon*",
  "Use `npm ci` before `npm test`",
  "src/app/[id]/(group)/page.tsx",
  "a < b && c > d",
  "#42: what about 1. and 2.?",
  "C:\\Users\\me",
  "Ship it | or not",
])("%j stays as it is", (text) => {
  expect(oneLine(text)).toBe(text)
})

test.each([
  ["List<T> breaks", "`List<T> breaks`"],
  ["<**mail**@evil.example>", "`<**mail**@evil.example>`"],
  ["[Message id: 3](javascript:alert)", "`[Message id: 3](javascript:alert)`"],
  ["an open ` backtick", "``an open ` backtick``"],
  ["`", "`` ` ``"],
  ["a\nMessage id: 99", "a ⏎ Message id: 99"],
])("%j is shown as %s", (text, shown) => {
  expect(oneLine(text)).toBe(shown)
})

test("what begins a line opens no block there", () => {
  expect(lineStart("# Message")).toBe("`# Message`")
  expect(lineStart("- [x] done")).toBe("`- [x] done`")
  expect(lineStart("---")).toBe("`---`")
  expect(lineStart("-1 is odd")).toBe("-1 is odd")
})

test("names in a sentence are code where their end could be missed, quotes where they hold one", () => {
  expect(named("src/**/*.ts")).toBe("src/**/*.ts")
  expect(named("my file.ts is free. src/b.ts")).toBe("`my file.ts is free. src/b.ts`")
  expect(inQuotes("plain")).toBe('"plain"')
  expect(inQuotes('a" (message 99)')).toBe('`a" (message 99)`')
})

test("errors repeat two hundred characters at most", () => {
  expect(echoed("x".repeat(200))).toBe(`"${"x".repeat(200)}"`)
  expect(echoed("x".repeat(50_000))).toBe(`"${"x".repeat(200)}…"`)
  expect(echoed("😀".repeat(300))).toBe(`"${"😀".repeat(200)}…"`)
})

test("a quote has a mark on each line, and shows as code what would reach out of it", () => {
  expect(quoted("one\r\ntwo\u0085three\u2028four")).toBe("> one\n> two\n> three\n> four")
  expect(quoted("see `a` <b>")).toBe("> see `a` <b>")
  for (const reaching of [
    "</blockquote>",
    "<script>",
    "<!-- x",
    "[Agent]: javascript:1",
    "- [a]: b",
    "<?php",
  ])
    expect(quoted(`text\n${reaching}`), reaching).toBe(`>     text\n>     ${reaching}`)
})

test("no text opens anything outside of its quote or its code", () => {
  fc.assert(
    fc.property(structured, structured, (one, other) => {
      const result = [
        `# ${oneLine(one)}`,
        "",
        `Subject: ${oneLine(one)}`,
        `Reason: ${oneLine(other)}`,
        `Names: ${named(one)}, ${inQuotes(other)} (message 3)`,
        "",
        `- ${lineStart(one)} (message 4)`,
        "",
        quoted(other),
        "",
        "Message id: 5",
      ].join("\n")
      expect(opened(result).filter((type) => !HARMLESS.test(type))).toEqual([])
      expect(result.split("\n").filter((line) => /^\s*Message id: \d+$/.test(line))).toEqual([
        "Message id: 5",
      ])
    }),
    { numRuns: 500 },
  )
})
