/** What plain text becomes: paragraphs, lists, and headings only where they are clearly meant. */

import { describe, expect, it } from "vitest"
import { readPlainText } from "../../../src/indexing/readers/plain-text.ts"

const textOf = (lines: string[]) => lines.join("\n")
const headingsOf = (...lines: string[]) =>
  readPlainText(textOf(lines)).sections.map(({ headings }) => headings)
/** Every block as its kind and the lines that it has. */
const blocksOf = (...lines: string[]) =>
  readPlainText(textOf(lines)).sections.flatMap(({ blocks }) =>
    blocks.map(({ kind, from, to }) => `${kind} ${lines.slice(from, to).join("/")}`),
  )

describe("headings", () => {
  it.each([
    ["a line below", ["Title", "=====", "text"], "Title"],
    ["lines above and below", ["*****", "Title", "*****", "text"], "Title"],
    ["capitals between blank lines", ["", "HOW TO BUILD", "", "text"], "HOW TO BUILD"],
    ["capitals above indented text, as in manuals", ["SYNOPSIS", "     git add [-n]"], "SYNOPSIS"],
    ["numbers", ["1. Introduction", "", "   Text."], "1. Introduction"],
    ["numbers of several parts", ["2.3 The header", "", "Text."], "2.3 The header"],
  ])("are told by %s", (_, lines, heading) => {
    expect(headingsOf(...lines).at(-1)).toEqual([heading])
  })

  it.each([
    ["a paragraph of capitals", ["THIS IS A LONG SENTENCE", "IN TWO LINES"]],
    ["a sentence in capitals", ["DO NOT DO THIS.", "", "text"]],
    ["a last line of capitals", ["text", "", "THE END"]],
    ["a short word", ["FOO", "", "text"]],
    ["a list whose items stand apart", ["1. First do this", "", "2. Then do that", "", "3. Rest"]],
    ["a sentence that begins with a number", ["3 Blind mice", "", "text"]],
    ["an item with a line below", ["- item", "------", "text"]],
    ["a line below a paragraph", ["one", "two", "===", "text"]],
    ["a line of another width", ["A much longer line of text", "---", "text"]],
    ["a line that separates", ["text", "", "-----", "", "text"]],
  ])("are not: %s", (_, lines) => {
    expect(headingsOf(...lines)).toEqual([[]])
  })

  it("have levels in the order in which their forms first appear", () => {
    const lines = ["Guide", "=====", "", "1. One", "", "a", "", "1.1 Part", "", "b", "", "2. Two", "", "c"]
    expect(headingsOf(...lines)).toEqual([
      ["Guide"],
      ["Guide", "1. One"],
      ["Guide", "1. One", "1.1 Part"],
      ["Guide", "2. Two"],
    ])
    expect(readPlainText(textOf(lines)).title).toBe("Guide")
  })

  it("are those of a log of changes", () => {
    expect(
      headingsOf("Changes", "=======", "", "1.2.0 (2020-01-01)", "------------------", "- one", "- two"),
    ).toEqual([["Changes"], ["Changes", "1.2.0 (2020-01-01)"]])
  })
})

describe("blocks", () => {
  it("stand between blank lines and keep their indentation", () => {
    expect(blocksOf("one", "two", "", "\f", "    three", "")).toEqual([
      "paragraph one/two",
      "paragraph     three",
    ])
  })

  it("are lists when they begin with an item, and break at items", () => {
    const { sections } = readPlainText("- one\n  more\n- two\n\ntext")
    expect(sections[0]?.blocks).toEqual([
      { kind: "list", from: 0, to: 3, breaks: [2] },
      { kind: "paragraph", from: 4, to: 5, breaks: [] },
    ])
  })

  it("may otherwise be cut at every line", () => {
    expect(readPlainText("a\nb\nc").sections[0]?.blocks[0]?.breaks).toEqual([1, 2])
  })

  it("are none in a text without words", () => {
    expect(readPlainText("\n \n")).toEqual({ title: null, lines: ["", " ", ""], sections: [] })
  })
})

it("lines are the file's own, without the ends of Windows", () => {
  expect(readPlainText("a\r\nb\rc").lines).toEqual(["a", "b\rc"])
})
