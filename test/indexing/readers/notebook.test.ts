/** What notebooks become: one document of their text and their code, with the lines of the file. */

import { describe, expect, it } from "vitest"
import { readNotebook } from "../../../src/indexing/readers/notebook.ts"

const markdown = (...source: string[]) => ({ cell_type: "markdown", metadata: {}, source })
const code = (...source: string[]) => ({ cell_type: "code", outputs: [{ text: ['"cells": ["'] }], source })
const notebook = (...cells: object[]) => ({
  cells,
  metadata: { language_info: { name: "python" } },
  nbformat: 4,
})
const read = (content: unknown, space = 1) => readNotebook(JSON.stringify(content, null, space))

describe("the cells of a notebook", () => {
  it("make one document, with code below the nearest heading", () => {
    const outline = read(
      notebook(markdown("# Guide\n", "Text."), code("a = 1\n", "b"), markdown("## Next"), code("c")),
    )
    expect(outline.lines).toEqual([
      "# Guide",
      "Text.",
      "",
      "```python",
      "a = 1",
      "b",
      "```",
      "",
      "## Next",
      "",
      "```python",
      "c",
      "```",
    ])
    expect(outline.title).toBe("Guide")
    expect(
      outline.sections.map(({ headings, blocks }) => [headings, blocks.map(({ kind }) => kind)]),
    ).toEqual([
      [["Guide"], ["heading", "paragraph", "code"]],
      [
        ["Guide", "Next"],
        ["heading", "code"],
      ],
    ])
  })

  it("stand on the lines on which their strings begin", () => {
    const text = JSON.stringify(notebook(code("a = 1\n", "b"), markdown("One\n", "\n", "two")), null, 1)
    const { lines, lineNumbers } = readNotebook(text)
    const sourceLines = text.split("\n")
    const at = (line: string) => sourceLines[(lineNumbers?.[lines.indexOf(line)] ?? 0) - 1]?.trim()
    expect(at("a = 1")).toBe('"a = 1\\n",')
    expect(at("b")).toBe('"b"')
    expect(at("```python")).toBe('"a = 1\\n",')
    expect(at("```")).toBe('"b"')
    expect(at("One")).toBe('"One\\n",')
    expect(at("two")).toBe('"two"')
  })

  it("may be one string each, which stands on one line", () => {
    const text =
      '{"cells":[\n{"source": "# A\\n\\ntext \\"q\\" \\u00e9",\n"cell_type":"markdown"}], "nbformat": 4}'
    const { lines, lineNumbers } = readNotebook(text)
    expect(lines).toEqual(["# A", "", 'text "q" é'])
    expect([...(lineNumbers ?? [])]).toEqual([2, 2, 2])
  })

  it("may have strings that are parts of lines", () => {
    expect(read(notebook(markdown("one ", "line\n", "two\nthree"))).lines).toEqual([
      "one line",
      "two",
      "three",
    ])
  })

  it("are left out when they are raw or blank, as all outputs are", () => {
    const raw = { cell_type: "raw", source: ["hidden"] }
    expect(read(notebook(raw, markdown(" \n"), code(), markdown("text"))).lines).toEqual(["text"])
  })

  it("do not run into each other when one leaves a fence open", () => {
    const { sections } = read(notebook(markdown("```\n", "a"), markdown("# Title")))
    expect(sections.map(({ headings }) => headings)).toEqual([[], ["Title"]])
  })

  it("have fences longer than those in the code", () => {
    const { sections } = read(notebook(code('"""\n', "````\n", '"""'), markdown("# Title")))
    expect(sections.map(({ blocks }) => blocks.map(({ kind }) => kind))).toEqual([["code"], ["heading"]])
  })

  it("stand in worksheets in the format 3, which also has heading cells", () => {
    const cells = [
      { cell_type: "heading", level: 2, source: ["A title"] },
      { cell_type: "code", input: ["a = 1"], outputs: [] },
    ]
    const { lines } = read({
      worksheets: [{ cells }],
      nbformat: 3,
      metadata: { kernelspec: { language: "R" } },
    })
    expect(lines).toEqual(["## A title", "", "```R", "a = 1", "```"])
  })
})

describe("nesting", () => {
  const nested = (levels: number) =>
    `{"cells":[{"cell_type":"markdown","source":"words","outputs":${"[".repeat(levels)}${"]".repeat(levels)}}]}`

  it("as deep as outputs have it hides nothing", () => {
    expect(readNotebook(nested(400)).lines).toEqual(["words"])
  })

  it.each([
    ["lists", nested(100_000)],
    ["lists that are never closed", "[".repeat(100_000)],
    ["objects", `{"cells":[${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}]}`],
  ])("of 100,000 %s is no notebook", (_, text) => {
    expect(readNotebook(text).sections).toEqual([])
  })
})

it("what lies beside the cells' own texts is no part of them", () => {
  const cell = { source: { source: "no" }, cell_type: "markdown", metadata: { source: ["no"] } }
  const text = JSON.stringify({ metadata: { cells: [markdown("no")] }, cells: ["no", cell, markdown("yes")] })
  expect(readNotebook(text).lines).toEqual(["yes"])
})

it.each([
  "",
  "{",
  "[1, 2",
  '{"cells": [{"source": "a}',
  "null",
  "3",
  '"cells"',
  "[]",
  "{}",
  '{"cells": 3}',
  "{} // no",
  "{} {}",
])("what is no notebook has nothing in it: %s", (text) => {
  const { title, lines, sections } = readNotebook(text)
  expect({ title, text: lines.join(""), sections }).toEqual({ title: null, text: "", sections: [] })
})
