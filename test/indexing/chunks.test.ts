/** How documents are cut into chunks; pieces are words here. */

import { describe, expect, test } from "vitest"
import { CHUNK_PIECES, chunkOutline } from "../../src/indexing/chunks.ts"
import { readMarkdown } from "../../src/indexing/readers/markdown.ts"

const countWords = (text: string) => text.match(/\S+/g)?.length ?? 0
const outlineOf = (lines: readonly string[]) => readMarkdown(lines.join("\n"), { isMdx: false })
const chunk = (lines: readonly string[]) => chunkOutline(outlineOf(lines), countWords)
const spans = (...args: Parameters<typeof chunk>) =>
  chunk(...args).map(({ lineStart, lineEnd }) => [lineStart, lineEnd])
const words = (count: number) => Array(count).fill("w").join(" ")
const costOf = ({ text, context }: { text: string; context: string }) =>
  countWords(text) + countWords(context)

describe("sections", () => {
  test("of ordinary size are chunks of their own, with the headings that lead to them", () => {
    const lines = ["# A", words(150), "## B", words(150)]
    expect(chunk(lines)).toEqual([
      { lineStart: 1, lineEnd: 2, headings: ["A"], text: `# A\n${words(150)}`, context: "", gap: null },
      { lineStart: 3, lineEnd: 4, headings: ["A", "B"], text: `## B\n${words(150)}`, context: "", gap: 1 },
    ])
  })

  test("are never joined, however small they are", () => {
    const lines = [
      "# A",
      words(20),
      "## B",
      words(20),
      "### C",
      words(20),
      "## D",
      words(70),
      "## E",
      words(20),
    ]
    expect(spans(lines)).toEqual([1, 3, 5, 7, 9].map((line) => [line, line + 1]))
  })

  test("of no text but a heading go with what is below them, however large that is", () => {
    const chunks = chunk(["# A", "## B", words(200), "", words(200)])
    expect(chunks.map(({ lineStart, lineEnd }) => [lineStart, lineEnd])).toEqual([
      [1, 3],
      [5, 5],
    ])
    expect(chunks[0]?.headings).toEqual(["A", "B"])
  })

  test("without text give no chunk, and one of only a heading gives one", () => {
    expect(chunk(["", "<!-- a -->", ""])).toEqual([])
    expect(spans(["# A"])).toEqual([[1, 1]])
  })
})

describe("blocks", () => {
  test("are packed up to 240 pieces, or 256 when the section ends there", () => {
    expect(spans([words(120), "", words(120), "", words(16)])).toEqual([[1, 5]])
    expect(spans([words(120), "", words(120), "", words(17)])).toHaveLength(2)
  })

  test("are kept whole up to 256 pieces, and cut above into equal parts", () => {
    const code = (lines: number) => ["```", ...Array(lines).fill("a b"), "```"]
    expect(spans(code(127))).toEqual([[1, 129]])
    const parts = chunk(code(200)).map(costOf)
    expect(parts).toHaveLength(2)
    expect(Math.abs((parts[0] ?? 0) - (parts[1] ?? 0))).toBeLessThan(8)
  })

  test("of code are best cut behind a blank line and at the smallest indent", () => {
    const body = Array(60).fill("  a b")
    const lines = [
      "```",
      "one {",
      ...body,
      "}",
      "",
      "two {",
      ...body,
      "}",
      "",
      "three {",
      ...body,
      "}",
      "```",
    ]
    expect(spans(lines)).toEqual([
      [1, 63],
      [65, 190],
    ])
  })

  test("of tables give their later parts the header", () => {
    const rows = Array.from({ length: 100 }, (_, row) => `| ${row} | x |`)
    const chunks = chunk(["| a | b |", "|---|---|", ...rows])
    expect(chunks.length).toBeGreaterThan(2)
    expect(chunks.map(({ context }) => context)).toEqual(
      chunks.map((_, at) => (at === 0 ? "" : "| a | b |\n|---|---|")),
    )
    expect(Math.max(...chunks.map(costOf))).toBeLessThanOrEqual(CHUNK_PIECES.max)
  })

  test("of lists are cut between the outer items rather than within them", () => {
    const item = [`- ${words(30)}`, `  - ${words(30)}`]
    const chunks = chunk([...item, ...item, ...item, ...item, ...item])
    expect(chunks.map(({ text }) => text.startsWith("- "))).toEqual([true, true])
  })

  test("that follow a heading are never parted from it", () => {
    const chunks = chunk([words(100), "", "# A", "", words(255), "", words(100)])
    expect(chunks.filter(({ text }) => text.endsWith("# A"))).toEqual([])
    expect(Math.max(...chunks.map(costOf))).toBeLessThanOrEqual(CHUNK_PIECES.max)
  })

  test("are parted by long comments, which no chunk shows", () => {
    const lines = [words(50), "", `<!-- ${words(50)} -->`, "", words(50)]
    expect(spans(lines)).toEqual([
      [1, 1],
      [5, 5],
    ])
  })
})

describe("lines that are too long", () => {
  const sentence = `${words(29)} end.`

  test("are cut between sentences, and all parts have the line's number", () => {
    const chunks = chunk(["text", "", Array(20).fill(sentence).join(" ")])
    expect(chunks.slice(1).map(({ lineStart, lineEnd }) => [lineStart, lineEnd])).toEqual(
      Array(3).fill([3, 3]),
    )
    expect(chunks.slice(1).every(({ text }) => text.startsWith("w") && text.trimEnd().endsWith("end."))).toBe(
      true,
    )
  })

  test("are their parts side by side, blanks and all, and stand beside nothing else", () => {
    const line = `${Array(10).fill(sentence).join("  ")} ${Array(10).fill(sentence).join("\t")}`
    const chunks = chunk(["text", "", line, "", "more text"])
    expect(chunks.map(({ gap }) => gap)).toEqual([null, null, 0, 0, null])
    const parts = chunks.slice(1, -1).map(({ text }) => text)
    expect(parts.join("")).toBe(line)
  })

  test("are cut between words where there are no sentences, and anywhere where there are no words", () => {
    expect(chunk([words(1_000)]).map(costOf)).toEqual([200, 200, 200, 200, 200])
    const characters = (text: string) => Array.from(text).length
    const chinese = chunkOutline(outlineOf(["汉字😀".repeat(300)]), characters)
    expect(chinese.map(({ text }) => text).join("")).toBe("汉字😀".repeat(300))
    expect(Math.max(...chinese.map(({ text }) => characters(text)))).toBeLessThanOrEqual(CHUNK_PIECES.max)
  })

  test("take the heading above them into their first part", () => {
    const [first, second] = chunk(["# A", "", words(400)])
    expect(first).toMatchObject({ lineStart: 1, lineEnd: 3 })
    expect(first?.text.startsWith("# A\n\nw w")).toBe(true)
    expect(second).toMatchObject({ lineStart: 3, lineEnd: 3 })
  })

  test("of data are shown whole, and fill no chunks with it", () => {
    const url = `https://play.example/#${"eNp9UkFu".repeat(1_000)}`
    const [only, ...others] = chunk([`Try [it](${url}) now`, "or later"])
    expect(others).toEqual([])
    expect(only?.text).toBe(`Try [it](${url}) now\nor later`)
    const json = `{${'"name":"value",'.repeat(1_000)}}`
    expect(
      chunk([json])
        .map(({ text }) => text)
        .join(""),
    ).toBe(json)
  })
})

test("line numbers are the file's where the outline has other lines", () => {
  const lines = ["a", "b"]
  const block = { kind: "paragraph", from: 0, to: 2, breaks: [1] } as const
  const sections = [{ headings: [], blocks: [block] }]
  const chunks = chunkOutline({ title: null, lines, lineNumbers: Int32Array.of(7, 9), sections }, countWords)
  expect(chunks).toEqual([{ lineStart: 7, lineEnd: 9, headings: [], text: "a\nb", context: "", gap: null }])
})

test("says how many line breaks lie between neighbours, and nothing where more than blank lines does", () => {
  const part = (word: string) => `${word} `.repeat(150).trim()
  const text = `${part("one")}\n\n\n${part("two")}\n<!-- ${part("left out")} -->\n${part("three")}\n`
  const chunks = chunkOutline(
    readMarkdown(text, { isMdx: false }),
    (line) => line.split(/\s+/).filter(Boolean).length,
  )
  expect(chunks.map(({ lineStart, gap }) => ({ lineStart, gap }))).toEqual([
    { lineStart: 1, gap: null },
    { lineStart: 4, gap: 3 },
    { lineStart: 6, gap: null },
  ])
})
