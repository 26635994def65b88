/** What AsciiDoc becomes: sections, and blocks that belong together. */

import { describe, expect, it } from "vitest"
import { readAsciidoc } from "../../../src/indexing/readers/asciidoc.ts"

const textOf = (lines: string[]) => lines.join("\n")
const headingsOf = (...lines: string[]) =>
  readAsciidoc(textOf(lines)).sections.map(({ headings }) => headings)
/** Every block as its kind and the lines that it has. */
const blocksOf = (...lines: string[]) =>
  readAsciidoc(textOf(lines)).sections.flatMap(({ blocks }) =>
    blocks.map(({ kind, from, to }) => `${kind} ${lines.slice(from, to).join("/")}`),
  )
const onlyBlock = (...lines: string[]) => {
  const blocks = readAsciidoc(textOf(lines)).sections.flatMap((section) => section.blocks)
  expect(blocks).toHaveLength(1)
  return blocks[0]
}

describe("titles", () => {
  it("have the level of their signs", () => {
    const lines = ["= Book", "", "== One", "", "=== A ===", "", "== Two", "", "# Markdown"]
    expect(headingsOf(...lines)).toEqual([
      ["Book"],
      ["Book", "One"],
      ["Book", "One", "A"],
      ["Book", "Two"],
      ["Markdown"],
    ])
    expect(readAsciidoc(textOf(lines)).title).toBe("Book")
  })

  it("may have a line of the same width below", () => {
    expect(headingsOf("git-add(1)", "==========", "", "NAME", "----", "text", "Deep", "~~~~")).toEqual([
      ["git-add(1)"],
      ["git-add(1)", "NAME"],
    ])
    expect(headingsOf("A paragraph above code", "----", "code", "----")).toEqual([[]])
  })

  it("have the anchors above them", () => {
    expect(blocksOf("[[id]]", "[.lead]", "== Title")).toEqual(["heading [[id]]/[.lead]/== Title"])
  })

  it.each([
    ["The `git add` *command*", "The git add command"],
    ["See <<id,the guide>> and link:a.html[more]", "See the guide and more"],
    ["https://a.example/#x[#chat] on A", "#chat on A"],
    ["[[id]]Title [.x]#marked#", "Title marked"],
    ["{product} {unknown}", "Acme {unknown}"],
    ["snake_case_name 2 * 3 * 4", "snake_case_name 2 * 3 * 4"],
  ])("lose their markup: %s", (title, plain) => {
    expect(headingsOf(":product: Acme", "", `== ${title}`)).toEqual([[plain]])
  })

  it("are followed by an author who is no text", () => {
    expect(blocksOf("= Book", "Ada L <ada@a.example>", "v1.0, 2020-01-01", ":toc:", "", "text")).toEqual([
      "heading = Book",
      "paragraph text",
    ])
  })
})

describe("what is left out", () => {
  it.each([
    ["an attribute entry", [":name: value \\", "  and more"]],
    ["a comment", ["// hidden"]],
    ["a comment of several lines", ["////", "== hidden", "", "////"]],
    ["a condition", ["ifdef::a[]", "", "endif::a[]"]],
    ["a break", ["'''", "", "<<<"]],
  ])("%s", (_, lines) => {
    expect(blocksOf(...lines, "", "text")).toEqual(["paragraph text"])
  })
})

describe("delimited blocks", () => {
  it.each([
    ["code", "----"],
    ["code", "...."],
    ["markup", "++++"],
    ["quote", "____"],
    ["paragraph", "===="],
    ["paragraph", "****"],
    ["paragraph", "--"],
  ])("are %s between %s", (kind, mark) => {
    expect(blocksOf(mark, "a", "", "b", mark, "text")).toEqual([
      `${kind} ${mark}/a//b/${mark}`,
      "paragraph text",
    ])
  })

  it("are code in fences and in open blocks of source", () => {
    expect(blocksOf("```ruby", "== a", "```")).toEqual(["code ```ruby/== a/```"])
    expect(blocksOf("[source]", "--", "a", "--")).toEqual(["code [source]/--/a/--"])
  })

  it("have the attributes, anchors and titles above them", () => {
    expect(blocksOf(".Listing", "[source,ruby]", "----", "a", "----")).toEqual([
      "code .Listing/[source,ruby]/----/a/----",
    ])
  })

  it("fall into their blocks when they are long", () => {
    const code = ["----", ...Array.from({ length: 30 }, (_, at) => `line ${at}`), "----"]
    expect(blocksOf("[NOTE]", "====", "First.", "", ...code, "", "Last.", "====")).toEqual([
      "paragraph [NOTE]/====/First.",
      `code ${code.join("/")}`,
      "paragraph Last./====",
    ])
  })

  it("that are never closed take nothing with them", () => {
    expect(headingsOf("----", "", "== Title")).toEqual([["Title"]])
  })
})

describe("paragraphs", () => {
  it("are literal when they are indented or said to be source", () => {
    expect(onlyBlock("  a", "  b")).toMatchObject({ kind: "code", breaks: [1] })
    expect(onlyBlock("[source]", "a")).toMatchObject({ kind: "code", from: 0 })
  })

  it("may have brackets in them", () => {
    expect(onlyBlock("[verse]", "git commit [-a]", "  [--dry-run] [<path>]", "[--all]")).toMatchObject({
      to: 4,
    })
  })
})

describe("lists", () => {
  it("break at items", () => {
    expect(onlyBlock("* one", "more", "** inner", "", "* two")).toMatchObject({
      kind: "list",
      breaks: [2, 4],
    })
    expect(onlyBlock(". one", ". two")).toMatchObject({ kind: "list", breaks: [1] })
  })

  it("have terms, of which several may share a text", () => {
    expect(onlyBlock("-a::", "--all::", "\tAll.", "", "term:: Text.")).toMatchObject({
      kind: "list",
      breaks: [4],
    })
  })

  it("have the text below a term, and what is attached", () => {
    expect(blocksOf("term::", "", "Text.", "+", "----", "a", "", "b", "----", "", "After.")).toEqual([
      "list term:://Text./+/----/a//b/----",
      "paragraph After.",
    ])
  })

  it("let long items fall into their parts", () => {
    const code = ["----", ...Array.from({ length: 30 }, (_, at) => `line ${at}`), "----"]
    expect(blocksOf("* one", "* two", "+", "[source]", ...code, "* three")).toEqual([
      "list * one",
      "list * two",
      `code +/[source]/${code.join("/")}`,
      "list * three",
    ])
  })
})

describe("tables", () => {
  it("have a header when a first line stands alone", () => {
    expect(onlyBlock("|===", "|a |b", "", "|1 |2", "|3 |4", "|===")).toEqual({
      kind: "table",
      from: 0,
      to: 6,
      breaks: [3, 4],
      headerTo: 3,
    })
  })

  it("have a header when it is asked for", () => {
    expect(onlyBlock('[options="header"]', "|===", "|a |b", "|1 |2", "|===")).toMatchObject({
      headerTo: 3,
      breaks: [3],
    })
    expect(
      onlyBlock("[%header,cols=2*]", "|===", "|a", "|b", "", "|1", "|2", "", "|3", "|4", "|==="),
    ).toMatchObject({
      headerTo: 5,
      breaks: [5, 8],
    })
  })

  it("have none otherwise, and break at rows", () => {
    expect(onlyBlock("|===", "|a |b", "|c |d", "|===")).toEqual({
      kind: "table",
      from: 0,
      to: 4,
      breaks: [1, 2],
    })
  })

  it("may be of comma-separated values", () => {
    expect(onlyBlock("[%header]", ",===", "a,b", "1,2", ",===")).toMatchObject({ headerTo: 3, breaks: [3] })
  })
})

it("macros of blocks are markup", () => {
  expect(onlyBlock("image::a.png[A picture]")).toMatchObject({ kind: "markup" })
})
