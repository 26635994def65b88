/** What reStructuredText becomes: sections, and blocks that belong together. */

import { describe, expect, it } from "vitest"
import { readRestructuredText } from "../../../src/indexing/readers/restructuredtext.ts"

const textOf = (lines: string[]) => lines.join("\n")
const headingsOf = (...lines: string[]) =>
  readRestructuredText(textOf(lines)).sections.map(({ headings }) => headings)
/** Every block as its kind and the lines that it has. */
const blocksOf = (...lines: string[]) =>
  readRestructuredText(textOf(lines)).sections.flatMap(({ blocks }) =>
    blocks.map(({ kind, from, to }) => `${kind} ${lines.slice(from, to).join("/")}`),
  )
const onlyBlock = (...lines: string[]) => {
  const blocks = readRestructuredText(textOf(lines)).sections.flatMap((section) => section.blocks)
  expect(blocks).toHaveLength(1)
  return blocks[0]
}

describe("titles", () => {
  it("have levels in the order in which their forms first appear", () => {
    const lines = ["====", "Book", "====", "", "One", "----", "", "A", "~~~~", "", "Two", "----", "text"]
    expect(headingsOf(...lines)).toEqual([["Book"], ["Book", "One"], ["Book", "One", "A"], ["Book", "Two"]])
    expect(readRestructuredText(textOf(lines)).title).toBe("Book")
  })

  it("tell a line below from lines above and below", () => {
    expect(headingsOf("====", "Book", "====", "", "One", "====")).toEqual([["Book"], ["Book", "One"]])
  })

  it.each([
    [":mod:`os` --- Operating systems", "os --- Operating systems"],
    ["The :func:`~os.path.join` function", "The join function"],
    ["See :ref:`the guide <guide>`", "See the guide"],
    ["``--dry-run`` and *more* **still**", "--dry-run and more still"],
    ["`Home <https://a.example>`_ page", "Home page"],
    ["A \\* star", "A * star"],
    ["snake_case names", "snake_case names"],
  ])("lose their markup: %s", (title, plain) => {
    expect(headingsOf(title, "=".repeat(title.length))).toEqual([[plain]])
  })

  it("may have a short line below when it has four signs, and a wide script has", () => {
    expect(headingsOf("Some long title", "====")).toEqual([["Some long title"]])
    expect(headingsOf("漢字", "====")).toEqual([["漢字"]])
  })

  it.each([
    ["a line of signs with fewer than four", ["Some words", "..."]],
    ["a transition", ["text", "", "-----", "", "text"]],
    ["an underlined line in a paragraph", ["text", "Title", "====="]],
    ["an indented line", ["text", "", "  Title", "  ====="]],
  ])("are not: %s", (_, lines) => {
    expect(headingsOf(...lines)).toEqual([[]])
  })
})

describe("what is left out", () => {
  it.each([
    ["a comment", [".. TODO: rewrite this", "   and this", "", "   and that"]],
    ["a target", [".. _here:"]],
    ["a target with an address", [".. _here: https://a.example"]],
    ["an anonymous target", ["__ https://a.example"]],
    ["a substitution", [".. |name| replace:: value"]],
    ["a setting", [".. highlight:: c"]],
    ["a setting of the page", [":orphan:"]],
    ["a transition", ["----------"]],
  ])("%s", (_, lines) => {
    expect(blocksOf(...lines, "", "text")).toEqual(["paragraph text"])
  })

  it("is not what follows an empty comment", () => {
    expect(blocksOf("..", "", "   quoted")).toEqual(["quote    quoted"])
  })
})

describe("directives", () => {
  it("of code stay whole with their code", () => {
    const lines = [".. code-block:: python", "   :linenos:", "", "   a = 1", "", "   b = 2", "", "text"]
    expect(blocksOf(...lines)).toEqual([`code ${lines.slice(0, 6).join("/")}`, "paragraph text"])
  })

  it("stay whole when they are short", () => {
    expect(blocksOf(".. note:: Mind", "   this.", "", "   - and", "   - that")).toEqual([
      "paragraph .. note:: Mind/   this.//   - and/   - that",
    ])
  })

  it("go with the first block inside when they are long", () => {
    const code = Array.from({ length: 30 }, (_, at) => `      line ${at}`)
    const lines = [
      ".. function:: run(a)",
      "   :async:",
      "",
      "   Runs a.",
      "",
      "   Like this::",
      "",
      ...code,
      "",
      "   End.",
    ]
    expect(blocksOf(...lines)).toEqual([
      "paragraph .. function:: run(a)/   :async://   Runs a.",
      "paragraph    Like this::",
      `code ${code.join("/")}`,
      "paragraph    End.",
    ])
  })

  it("keep comments inside of long ones out", () => {
    const rest = Array.from({ length: 20 }, () => "   More.")
    expect(blocksOf(".. note::", "", "   .. hidden", "", "   Shown.", "", ...rest)[0]).toBe(
      "paragraph .. note:://   .. hidden//   Shown.",
    )
  })

  it.each([".. image:: a.png", ".. toctree::", ".. automodule:: a.b"])(
    "are markup without prose: %s",
    (line) => {
      expect(onlyBlock(line, "   :option: 1")).toMatchObject({ kind: "markup", from: 0, to: 2 })
    },
  )
})

describe("literal blocks", () => {
  it("are code below a paragraph that ends with two colons", () => {
    expect(blocksOf("Like this::", "", "   a", "", "     b", "", "text")).toEqual([
      "paragraph Like this::",
      "code    a//     b",
      "paragraph text",
    ])
  })

  it("take in the two colons that stand alone", () => {
    expect(blocksOf("::", "", "   a")).toEqual(["code :://   a"])
  })

  it("may be quoted, or a session", () => {
    expect(blocksOf("Said::", "", "> a", "> b")).toEqual(["paragraph Said::", "code > a/> b"])
    expect(blocksOf(">>> 1 + 1", "2", "", "text")).toEqual(["code >>> 1 + 1/2", "paragraph text"])
  })
})

describe("lists", () => {
  it("break at items, also inside of others", () => {
    expect(onlyBlock("- one", "  more", "", "  - inner", "- two", "")).toMatchObject({
      kind: "list",
      to: 5,
      breaks: [3, 4],
    })
  })

  it.each([
    ["numbers", ["1. one", "2. two"]],
    ["letters", ["a) one", "b) two"]],
    ["fields", [":Author: A", ":Date: B"]],
    ["options", ["-a, --all  All.", "--long=X   Long."]],
    ["definitions", ["term", "   What it is."]],
  ])("are %s", (_, lines) => {
    expect(onlyBlock(...lines)).toMatchObject({ kind: "list", from: 0, to: 2, breaks: [1] })
  })

  it("are no paragraphs that begin with an initial", () => {
    expect(onlyBlock("A. Smith wrote", "this text.")).toMatchObject({ kind: "paragraph" })
  })

  it("let long items fall into their blocks", () => {
    const code = Array.from({ length: 30 }, (_, at) => `     line ${at}`)
    expect(blocksOf("- one", "- two::", "", ...code, "", "- three")).toEqual([
      "list - one",
      "list - two::",
      `code ${code.join("/")}`,
      "list - three",
    ])
  })
})

describe("tables", () => {
  it("drawn as a grid break between rows, below their header", () => {
    const lines = ["+---+---+", "| a | b |", "+===+===+", "| 1 | 2 |", "+---+---+", "| 3 | 4 |", "+---+---+"]
    expect(onlyBlock(...lines)).toEqual({ kind: "table", from: 0, to: 7, breaks: [3, 5], headerTo: 3 })
  })

  it("under columns break where the first has something", () => {
    const lines = ["=== ===", "a   b", "=== ===", "1   2", "    more", "", "3   4", "=== ===", "", "text"]
    const { sections } = readRestructuredText(textOf(lines))
    expect(sections[0]?.blocks[0]).toEqual({ kind: "table", from: 0, to: 8, breaks: [3, 6], headerTo: 3 })
    expect(sections[0]?.blocks[1]).toMatchObject({ kind: "paragraph", from: 9 })
  })

  it("written as lists break at rows", () => {
    const lines = [
      ".. list-table:: T",
      "   :header-rows: 1",
      "",
      "   * - a",
      "     - b",
      "   * - 1",
      "     - 2",
      "   * - 3",
      "     - 4",
    ]
    expect(onlyBlock(...lines)).toEqual({ kind: "table", from: 0, to: 9, breaks: [5, 7], headerTo: 5 })
  })

  it("of comma-separated values break at lines", () => {
    expect(onlyBlock(".. csv-table:: T", "   :header: a, b", "", "   1, 2", "   3, 4")).toEqual({
      kind: "table",
      from: 0,
      to: 5,
      breaks: [3, 4],
      headerTo: 3,
    })
  })
})

it("lines are the file's own, without the ends of Windows", () => {
  const { lines, lineNumbers } = readRestructuredText("a\r\nb\rc\n")
  expect(lines).toEqual(["a", "b\rc", ""])
  expect(lineNumbers).toBeUndefined()
})
