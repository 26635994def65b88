/** Holds the cutting of documents to its laws, for any Markdown and the tokenizer that is shipped. */

import { readFileSync } from "node:fs"
import fc from "fast-check"
import { expect, test } from "vitest"
import { withoutData } from "../../src/domain/documentation/encoded-data.ts"
import { createWordpiece } from "../../src/embed/wordpiece.ts"
import { CHUNK_PIECES, chunkOutline } from "../../src/indexing/chunks.ts"
import { readMarkdown } from "../../src/indexing/readers/markdown.ts"

const wordpiece = createWordpiece(
  readFileSync(new URL("../../model/tokenizer.json", import.meta.url), "utf8"),
)
const countPieces = (text: string) => wordpiece.idsOf(text).length

const word = fc.constantFrom(
  "the",
  "getUserName",
  "ERR_REQUIRE_ESM",
  "a.",
  "日本語",
  "한국어",
  "é",
  "--dry-run",
  "😀",
)
const text = fc
  .tuple(fc.array(word, { minLength: 1, maxLength: 12 }), fc.integer({ min: 1, max: 12 }))
  .map(([words, times]) => Array(times).fill(words.join(" ")).join(" "))
/** Some lines are far too long for a chunk, with and without spaces. */
const line = fc.oneof(
  { weight: 12, arbitrary: text },
  { weight: 1, arbitrary: text.map((part) => part.repeat(20)) },
  { weight: 1, arbitrary: text.map((part) => part.replaceAll(" ", ".").repeat(20)) },
)
const lines = fc.array(line, { minLength: 1, maxLength: 12 })
const block = fc.oneof(
  lines.map((texts) => texts.join("\n")),
  lines.map((texts) => texts.map((item) => `- ${item}`).join("\n")),
  lines.map((texts) => texts.map((item) => `> ${item}`).join("\n")),
  lines.map((texts) => ["```", ...texts.flatMap((code) => [code, ""]), "```"].join("\n")),
  lines.map((texts) => ["| a | b |", "|---|---|", ...texts.map((cell) => `| ${cell} | x |`)].join("\n")),
  fc.constantFrom("<!-- left out -->", ":::tip\ntext\n:::", "---"),
)
const heading = fc
  .tuple(fc.integer({ min: 1, max: 4 }), word)
  .map(([level, name]) => `${"#".repeat(level)} ${name}`)
const markdown = fc
  .array(fc.oneof({ weight: 3, arbitrary: block }, { weight: 2, arbitrary: heading }), { maxLength: 15 })
  .map((parts) => parts.join("\n\n"))
const cases = fc.record({ markdown })

function cut({ markdown }: { markdown: string }) {
  const outline = readMarkdown(markdown, { isMdx: false })
  return { outline, chunks: chunkOutline(outline, countPieces) }
}

test("no chunk has more than 256 pieces with its context, or 4,096 characters, or is empty", () => {
  fc.assert(
    fc.property(cases, (given) => {
      for (const { text, context } of cut(given).chunks) {
        expect(countPieces(withoutData(text)) + countPieces(context)).toBeLessThanOrEqual(CHUNK_PIECES.max)
        expect(text.length).toBeLessThanOrEqual(4_096)
        expect(text).toMatch(/\S/)
      }
    }),
  )
})

test("every line of a block is in exactly one chunk, or in parts in the chunks of its own, in order", () => {
  fc.assert(
    fc.property(cases, (given) => {
      const { outline, chunks } = cut(given)
      const shown = new Map<number, string[]>()
      let behind = 0
      for (const { text, lineStart, lineEnd } of chunks) {
        expect(lineStart).toBeGreaterThanOrEqual(behind)
        behind = lineEnd
        const texts = text.split("\n")
        expect(texts).toHaveLength(lineEnd - lineStart + 1)
        texts.forEach((part, at) => {
          shown.set(lineStart + at, [...(shown.get(lineStart + at) ?? []), part])
        })
      }
      for (const { from, to } of outline.sections.flatMap(({ blocks }) => blocks)) {
        for (let at = from; at < to; at++) {
          const whole = outline.lines[at] ?? ""
          const parts = shown.get(at + 1) ?? []
          if (whole.trim() === "") continue
          if (parts.length === 1) expect(parts[0]).toBe(whole)
          else expect(parts.join("").replace(/\s/g, "")).toBe(whole.replace(/\s/g, ""))
          if (countPieces(whole) <= CHUNK_PIECES.target / 2) expect(parts).toHaveLength(1)
        }
      }
    }),
  )
})

test("no chunk begins or ends with a blank line, and none ends with a heading that has a text", () => {
  fc.assert(
    fc.property(cases, (given) => {
      const { outline, chunks } = cut(given)
      const alone = outline.sections
        .filter(({ blocks }) => blocks.length === 1)
        .map(({ blocks }) => blocks[0]?.to)
      for (const { text, lineEnd } of chunks) {
        const texts = text.split("\n")
        expect(texts[0]).toMatch(/\S/)
        expect(texts.at(-1)).toMatch(/\S/)
        const heading = outline.sections.find(
          ({ blocks }) => blocks[0]?.kind === "heading" && blocks[0].to === lineEnd,
        )
        if (heading !== undefined) expect(alone).toContain(lineEnd)
      }
    }),
  )
})

test("a chunk's headings lead to every section that it has lines of", () => {
  fc.assert(
    fc.property(cases, (given) => {
      const { outline, chunks } = cut(given)
      for (const { headings, lineStart, lineEnd } of chunks) {
        const sections = outline.sections.filter(({ blocks }) =>
          blocks.some(({ from, to }) => from < lineEnd && to >= lineStart),
        )
        const withText = sections.filter(({ blocks }) => blocks.length > 1)
        for (const section of withText) expect(section.headings.slice(0, headings.length)).toEqual(headings)
        expect(withText.length).toBeLessThanOrEqual(1)
      }
    }),
  )
})

test("the same document gives the same chunks", () => {
  fc.assert(
    fc.property(cases, (given) => {
      expect(cut(given)).toEqual(cut(given))
    }),
  )
})
