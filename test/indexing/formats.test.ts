/** Which files are documentation, and the laws of every reader, whatever the text. */

import fc from "fast-check"
import { describe, expect, it, test } from "vitest"
import { type Format, formatOf, isGenerated, readOutline } from "../../src/indexing/formats.ts"
import type { Outline } from "../../src/indexing/outline.ts"

const FORMATS: Format[] = ["markdown", "mdx", "restructuredtext", "asciidoc", "html", "notebook", "text"]

describe("the format of a file", () => {
  it.each<[string, Format | null]>([
    ["README.md", "markdown"],
    ["docs/Guide.MARKDOWN", "markdown"],
    ["docs/page.mdx", "mdx"],
    ["docs/index.rst", "restructuredtext"],
    ["_sources/library/os.rst.txt", "restructuredtext"],
    ["book/ch1.adoc", "asciidoc"],
    ["book/ch1.asc", "asciidoc"],
    ["site/a.html", "html"],
    ["site/a.xhtml", "html"],
    ["notes/a.ipynb", "notebook"],
    ["doc/usage.txt", "text"],
    ["README", "text"],
    ["pkg/CHANGELOG", "text"],
    ["Documentation/locking/spinlocks.txt", "text"],
    ["doc/block.txt", "text"],
    ["src/main.ts", null],
    ["main", null],
    ["requirements.txt", null],
    ["dev-requirements.txt", null],
    ["requirements-dev.txt", null],
    ["requirements/base.txt", null],
    ["constraints.txt", null],
    ["src/CMakeLists.txt", null],
    ["static/robots.txt", null],
    ["requirements.lock.txt", null],
    ["conda-lock.txt", null],
    ["LICENSE", null],
    ["LICENSE.md", null],
    ["LICENSE-MIT.txt", null],
    ["COPYING.LESSER", null],
    ["docs/licensing.md", "markdown"],
    [".md", null],
    ["a.constructor", null],
    ["", null],
  ])("of %j is %j", (path, format) => {
    expect(formatOf(path)).toBe(format)
  })
})

describe("plain text in a markup", () => {
  const headingsOf = (text: string) => readOutline("text", text).sections.map((section) => section.headings)

  it("is read as reStructuredText when it has directives", () => {
    const text = "A title of x\n============\n\n.. _ref:\n\n.. note:: Mind this.\n"
    expect(readOutline("text", text).sections[0]?.blocks.map(({ kind }) => kind)).toEqual([
      "heading",
      "paragraph",
    ])
  })

  it("is read as Markdown when it begins with a heading and has links", () => {
    expect(headingsOf("# Acme\n\n## Docs\n\n- [Guide](https://a.example/guide)\n")).toEqual([
      ["Acme"],
      ["Acme", "Docs"],
    ])
  })

  it("stays plain with a mere comment of a shell script", () => {
    expect(headingsOf("# not a heading\n\nSome text.\n")).toEqual([[]])
  })
})

describe("what is made by a program", () => {
  const prose = "A sentence of a manual that people read.\n"
  const encoded = "QUJDREVGR0hJSktM".repeat(20_000)

  it.each([
    ["a large text without line breaks", "some words, ".repeat(10_000), true],
    ["a large text marked as generated", `// @generated\n${prose.repeat(6_000)}`, true],
    ["data in base64", `data\n${encoded}`, true],
    ["data in base64, broken as MIME does", `x\n${`${"QUJD".repeat(19)}\n`.repeat(2_000)}`, true],
    ["a short text marked as generated", "<!-- @generated, DO NOT EDIT -->\n# API\n", false],
    ["a long text that mentions the mark later", `${prose.repeat(9_000)}\n@generated\n`, false],
    [
      "a document with a picture in it",
      `${prose.repeat(100)}![a](data:image/png;base64,${encoded})\n`,
      false,
    ],
    ["a notebook on one line", `{"nbformat": 4, "cells": ["${encoded}"]}`, false],
    ["nothing", "", false],
  ])("%s: %#", (_, text, expected) => {
    expect(isGenerated(text)).toBe(expected)
  })
})

/** What is wrong with an outline; nothing when it keeps all the promises of its type. */
function faultsOf({ title, lines, lineNumbers, sections }: Outline, text: string): string[] {
  const faults: string[] = []
  const demand = (holds: boolean, fault: string) => {
    if (!holds) faults.push(fault)
  }
  const sourceLines = text.split("\n").length
  demand(title === null || title.trim() !== "", "a blank title")
  demand(!lines.some((line) => line.includes("\n")), "a line with a line break")
  if (lineNumbers === undefined) demand(lines.length === sourceLines, "lines that are not the file's")
  else {
    demand(lineNumbers.length === lines.length, "lines without numbers")
    demand(
      lineNumbers.every((number, at) => number >= (lineNumbers[at - 1] ?? 1) && number <= sourceLines),
      "numbers that descend or do not exist",
    )
  }
  let end = 0
  sections.forEach(({ headings, blocks }, index) => {
    demand(headings.length > 0 || index === 0, "a later section without a heading")
    demand(
      headings.every((heading) => heading.trim() !== ""),
      "a blank heading",
    )
    demand(blocks.length > 0, "an empty section")
    blocks.forEach(({ kind, from, to, breaks, headerTo = from + 1 }, at) => {
      demand((kind === "heading") === (at === 0 && headings.length > 0), "a heading out of place")
      demand(from >= end && to > from && to <= lines.length, `a block at ${from} to ${to} behind ${end}`)
      const hasText = (line: number) => /[^ \t\r]/.test(lines[line] ?? "")
      // Fences keep the blank lines that they are left open with.
      demand(hasText(from) && (kind === "code" || hasText(to - 1)), `blank ends at ${from} to ${to}`)
      demand(
        breaks.every((line, place) => line > (breaks[place - 1] ?? from) && line < to),
        "wrong breaks",
      )
      demand(headerTo > from && headerTo <= to && breaks.every((line) => line >= headerTo), "a wrong header")
      end = to
    })
  })
  return faults
}

describe("every reader, whatever the text", () => {
  const marks =
    "= == ==== ===== - -- ---- ~~~~ .. ... .... :: * ** # ## + ++++ ____ |=== |a |b| +--+--+ +==+==+ | >>> > " +
    "[a] [[a]] [source] .Title :a: :a:b _a: note:: code:: list-table:: table:: a:: // //// term:: 1. 1.2 A) " +
    "TITLE Title text words <p> <div> </div> <h1> </h1> <h2> <ul> <li> </ul> <table> <tr> <td> <th> </table> " +
    "<thead> <pre> </pre> <br> <dl> <dt> <dd> <main> </main> <title> </title> <!-- --> &amp; &lt <script> " +
    "</script> <b hidden> <header> <blockquote> </blockquote> ``` ~~~ ` ¶ 漢字 é \u{1f600} \ud800"
  const word = fc.constantFrom(...marks.split(" "), "\r", "\t", "\f", "\u00a0")
  const indent = fc.constantFrom("", "", "", "  ", "   ", "\t", "      ")
  const line = fc
    .tuple(indent, fc.array(word, { maxLength: 4 }))
    .map(([space, words]) => space + words.join(" "))
  const marked = fc.array(line, { maxLength: 60 }).map((lines) => lines.join("\n"))
  const cell = fc.record({
    cell_type: fc.constantFrom("markdown", "code", "raw"),
    source: fc.oneof(marked, fc.array(marked, { maxLength: 4 })),
    outputs: fc.constant([{ data: '"cells": [{"\\\\"' }]),
  })
  const notebook = fc
    .tuple(fc.array(cell, { maxLength: 5 }), fc.constantFrom(undefined, 1))
    .map(([cells, space]) => JSON.stringify({ cells, nbformat: 4 }, null, space))
  const text = fc.oneof(marked, notebook, fc.string({ maxLength: 200 }))

  test.each(FORMATS.filter((format) => format !== "markdown" && format !== "mdx"))(
    "%s gives lines that exist and blocks that stand in order",
    (format) => {
      fc.assert(
        fc.property(text, (source) => {
          expect(faultsOf(readOutline(format, source), source)).toEqual([])
        }),
        { numRuns: 1_000 },
      )
    },
  )

  test("a fault would be found", () => {
    const block = { kind: "heading" as const, from: 0, to: 3, breaks: [5] }
    const outline = { title: " ", lines: ["a"], sections: [{ headings: [], blocks: [block] }] }
    expect(faultsOf(outline, "a")).toHaveLength(5)
  })

  /** Some MB each, which only takes long when time grows faster than the text. */
  const LONG: [string, string][] = [
    ["a line of 10 MB", "word ".repeat(2_000_000)],
    ["a line of 10 MB without an end", "=".repeat(10_000_000)],
    ["100,000 nested elements", `${"<div>".repeat(100_000)}x${"</div>".repeat(100_000)}`],
    ["100,000 unclosed blocks", "====\n----\n....\n".repeat(33_333)],
    ["deep indentation", Array.from({ length: 2_000 }, (_, at) => `${" ".repeat(at)}- a`).join("\n")],
    [
      "nested directives",
      Array.from({ length: 1_000 }, (_, at) => `${"   ".repeat(at)}.. note::\n`).join("\n"),
    ],
    ["tables that are never closed", "== ==\na b\n\n\n".repeat(50_000)],
    ["a deep list in JSON", `{"cells":[${"[".repeat(500_000)}${"]".repeat(500_000)}]}`],
  ]
  test.each(LONG)("%s is read", (_, source) => {
    for (const format of ["restructuredtext", "asciidoc", "html", "notebook", "text"] as const) {
      expect(faultsOf(readOutline(format, source), source)).toEqual([])
    }
  })
})
