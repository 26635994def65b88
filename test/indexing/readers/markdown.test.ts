/** What is read of Markdown and MDX: titles, headings, blocks and where they may be cut. */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { readMarkdown } from "../../../src/indexing/readers/markdown.ts"

const read = (...lines: string[]) => readMarkdown(lines.join("\n"), { isMdx: false })
const readMdx = (...lines: string[]) => readMarkdown(lines.join("\n"), { isMdx: true })
type Read = ReturnType<typeof read>
const blocksOf = (outline: Read) => outline.sections.flatMap(({ blocks }) => blocks)
/** Kinds with the lines from the first one to behind the last. */
const spansOf = (outline: Read) => blocksOf(outline).map(({ kind, from, to }) => `${kind} ${from}-${to}`)
const pathsOf = (outline: Read) => outline.sections.map(({ headings }) => headings.join(" > "))
const headingOf = (line: string) => read(line).sections[0]?.headings[0]

describe("front matter", () => {
  test.each([
    ["a plain title", ["---", "title: Redis: an overview # note", "---"], "Redis: an overview"],
    ["a title in double quotes", ["---", 'title: "Say \\"hi\\""', "---"], 'Say "hi"'],
    ["a title in single quotes", ["---", "title: 'It''s'", "---"], "It's"],
    ["a folded title", ["---", "title: >-", "  Two", "  lines", "---"], "Two lines"],
    ["linkTitle where there is no title", ["---", "linkTitle: Short", "---"], "Short"],
    ["title before linkTitle", ["---", "linkTitle: Short", "title: Long", "..."], "Long"],
    ["TOML", ["+++", 'title = "From TOML"', "[extra]", 'title = "not this"', "+++"], "From TOML"],
    ["a nested title, which is none", ["---", "hero:", "  title: Nested", "---"], "Heading"],
  ])("gives %s", (_, lines, title) => {
    const outline = read(...lines, "# Heading")
    expect(outline.title).toBe(title)
    expect(spansOf(outline)).toEqual([`heading ${lines.length}-${lines.length + 1}`])
  })

  test("is read for its description, over all its lines", () => {
    const outline = read("---", "title: T", "description: >", "  One", "  two.", "weight: 1", "---", "# H")
    expect(spansOf(outline)).toEqual(["paragraph 2-5", "heading 7-8"])
    expect(pathsOf(outline)).toEqual(["", "H"])
  })

  test.each([
    ["text between two rules", ["---", "Some words.", "---"]],
    ["what is never closed", ["---", "title: T", ""]],
    ["what does not begin the file", ["", "---", "title: T", "---"]],
  ])("is not %s", (_, lines) => {
    expect(read(...lines).title).not.toBe("T")
    expect(blocksOf(read(...lines)).length).toBeGreaterThan(0)
  })
})

describe("the title", () => {
  test("is the first heading of level 1, else the first heading, else null", () => {
    expect(read("## A", "# B", "# C").title).toBe("B")
    expect(read("### A", "## B").title).toBe("A")
    expect(read("text").title).toBeNull()
  })
})

describe("headings", () => {
  test("lead to a section by their levels, setext and skipped levels too", () => {
    const outline = read("Before", "", "One", "===", "#### Deep", "Two", "---", "text", "# Three")
    expect(pathsOf(outline)).toEqual(["", "One", "One > Deep", "One > Two", "Three"])
    expect(spansOf(outline)).toContain("heading 2-4")
  })

  test.each([
    ["# Use `code` and **bold**", "Use code and bold"],
    ["# [A link](https://x.y/z) and ![an image](a.png)", "A link and an image"],
    ["# Anchors {#anchors}", "Anchors"],
    ["# Classes {.new .wide}", "Classes"],
    ["# Kramdown {: #id}", "Kramdown"],
    ["# Comment {/* #id */}", "Comment"],
    ["# GET /users/{id}", "GET /users/{id}"],
    ['# New <sup class="vt-badge" data-text="3.5+" />', "New"],
    ["# A &amp; B \\*", "A & B *"],
    ["# Map<K, V> of <T>", "Map<K, V> of <T>"],
    ["# repair --fix <filename>", "repair --fix <filename>"],
    ["# <Badge>Beta</Badge> API", "Beta API"],
    ["# One<br>two ##", "One two"],
    ["# snake_case_name", "snake_case_name"],
    ['<h2 align="center">Logo &amp; <b>name</b></h2>', "Logo & name"],
    ['<h1><img src="a.png" alt="Product"></h1>', "Product"],
  ])("%s reads as %s", (line, text) => {
    expect(headingOf(line)).toBe(text)
  })

  test("that show no text begin no section", () => {
    expect(pathsOf(read("# A", "## ", "text"))).toEqual(["A"])
  })

  test("know the references of the document", () => {
    expect(pathsOf(read("# [Unreleased]", "", "[unreleased]: https://x.y"))).toEqual(["Unreleased"])
  })

  test("in fences, quotes and lists begin no section", () => {
    const outline = read("```", "# a", "```", "> # b", "", "- # c", "", "  ## d")
    expect(spansOf(outline)).toEqual(["code 0-3", "quote 3-4", "list 5-8"])
  })

  test("in HTML cut the markup that they stand in, over some lines too", () => {
    const outline = read("<p>Badges</p>", "<h1>", "  Name", "</h1>", "<p>Words</p>", "", "text")
    expect(spansOf(outline)).toEqual(["markup 0-1", "heading 1-4", "markup 4-5", "paragraph 6-7"])
    expect(outline.title).toBe("Name")
  })

  test("in preformatted HTML are none", () => {
    expect(pathsOf(read("<pre>", "<h1>x</h1>", "</pre>"))).toEqual([""])
  })
})

describe("blocks", () => {
  test("have the kinds of Markdown, with rules and references left out", () => {
    const outline = read("text", "more", "", "> q", "", "---", "* a", "", "| a |", "|---|", "| b |")
    expect(spansOf(outline)).toEqual(["paragraph 0-2", "quote 3-4", "list 6-7", "table 8-11"])
    expect(spansOf(read("    code", "", "[a]: b", "", "[^1]: word"))).toEqual(["code 0-1", "paragraph 4-5"])
  })

  test("a table's header goes up to its first row, and its rows are breaks", () => {
    const [table] = blocksOf(read("| a | b |", "|---|---|", "| 1 | 2 |", "| 3 | 4 |", "", "text"))
    expect(table).toEqual({ kind: "table", from: 0, to: 4, headerTo: 2, breaks: [2, 3] })
  })

  test("a list breaks at its items, nested ones and what follows a blank line, but not within a fence", () => {
    const [list] = blocksOf(
      read(
        "- a",
        "  - b",
        "- c",
        "  ```",
        "  - no",
        "",
        "  - no",
        "  ```",
        "",
        "  text",
        "lazy",
        "- d",
        "",
        "no",
      ),
    )
    expect(list).toEqual({ kind: "list", from: 0, to: 12, breaks: [1, 2, 9, 11] })
  })

  test("a list ends at another mark, a fence, a heading and text behind a blank line", () => {
    expect(spansOf(read("- a", "* b", "1. c", "2) d"))).toEqual([
      "list 0-1",
      "list 1-2",
      "list 2-3",
      "list 3-4",
    ])
    expect(spansOf(read("- a", "```", "x", "```"))).toEqual(["list 0-1", "code 1-4"])
    expect(spansOf(read("- a", "# b"))).toEqual(["list 0-1", "heading 1-2"])
    expect(spansOf(read("- a", "", "b"))).toEqual(["list 0-1", "paragraph 2-3"])
  })

  test("a number within a paragraph begins no list", () => {
    expect(spansOf(read("The year was", "1986. A great year", "- but this does"))).toEqual([
      "paragraph 0-2",
      "list 2-3",
    ])
  })

  test("a quote goes on in lines without a mark as long as it is a paragraph", () => {
    expect(spansOf(read("> a", "b", "", "c"))).toEqual(["quote 0-2", "paragraph 3-4"])
    expect(spansOf(read("> ```", "> x", "b"))).toEqual(["quote 0-2", "paragraph 2-3"])
    expect(spansOf(read("> # a", "b"))).toEqual(["quote 0-1", "paragraph 1-2"])
    expect(spansOf(read("> a", "- b"))).toEqual(["quote 0-1", "list 1-2"])
  })

  test("a fence breaks at its inner lines, and ends with the text when it is not closed", () => {
    expect(blocksOf(read("```js", "a", "b", "c", "```"))[0]?.breaks).toEqual([2, 3])
    expect(spansOf(read("```", "# a", "", "b"))).toEqual(["code 0-4"])
  })

  test("paragraphs, quotes and indented code break at every line", () => {
    expect(blocksOf(read("a", "b", "c"))[0]?.breaks).toEqual([1, 2])
    expect(blocksOf(read("> a", "> b"))[0]?.breaks).toEqual([1])
    expect(blocksOf(read("    a", "    b"))[0]?.breaks).toEqual([1])
  })

  test.each([
    ["comments", ["<!-- a", "b -->"]],
    ["comments after comments", ["<!-- a --> <!-- b -->"]],
    ["scripts", ["<script setup>", "import A from 'a'", "</script>"]],
    ["styles", ["<style>", ".a { color: red }", "</style>"]],
    ["tags without words", ['<div class="options-api">']],
    ["imports", ["import Tabs from '@theme/Tabs';", "import 'x.css'"]],
  ])("leave out %s", (_, lines) => {
    expect(spansOf(read(...lines, "", "text"))).toEqual([`paragraph ${lines.length + 1}-${lines.length + 2}`])
  })

  test.each([
    ["<p>words</p>"],
    ['<img alt="A diagram">'],
    ['<Card title="Install" />'],
    ["<!-- a --> words"],
  ])("keep %s as markup", (line) => {
    expect(spansOf(read(line))).toEqual(["markup 0-1"])
  })
})

test("markup that is never closed ends with its last words", () => {
  expect(spansOf(read("<pre>", "", "words", "", ""))).toEqual(["markup 0-3"])
})

describe("containers", () => {
  test("are one block with their marks while they are short", () => {
    const outline = read(":::tip Title", "text", "", "- a", "- b", ":::", "after")
    expect(blocksOf(outline)).toEqual([
      { kind: "quote", from: 0, to: 6, breaks: [3, 4] },
      { kind: "paragraph", from: 6, to: 7, breaks: [] },
    ])
    expect(spansOf(read("/// note", "text", "///"))).toEqual(["paragraph 0-3"])
  })

  test("give their marks to the first and last of their blocks when they are long", () => {
    const long = "word ".repeat(200)
    expect(spansOf(read("::: details", long, "", long, ":::"))).toEqual(["paragraph 0-2", "paragraph 3-5"])
  })

  test("may hold containers, headings and nothing", () => {
    expect(spansOf(read("::::a", ":::b", "x", ":::", "y", "::::"))).toEqual(["quote 0-6"])
    expect(spansOf(read(":::a", "x", "## H", "y", ":::", "z"))).toEqual([
      "paragraph 0-2",
      "heading 2-3",
      "paragraph 3-5",
      "paragraph 5-6",
    ])
    expect(spansOf(read(":::tip Only a title", ":::", ":::"))).toEqual(["paragraph 0-2"])
  })
})

describe("MDX", () => {
  test("leaves out statements, also those with blank lines in brackets, and comments", () => {
    const outline = readMdx("import A from 'a'", "export const b = {", "", "}", "", "{/* c", "d */}", "text")
    expect(spansOf(outline)).toEqual(["paragraph 7-8"])
    expect(spansOf(readMdx("export const a = [", "", "text"))).toEqual(["paragraph 2-3"])
  })

  test("has Markdown between tags, and headings", () => {
    const outline = readMdx("<Tabs>", '<Tab title="npm">', "# H", "text", "</Tab>", "more", "</Tabs>")
    expect(spansOf(outline)).toEqual(["markup 1-2", "heading 2-3", "paragraph 3-4", "paragraph 5-6"])
  })

  test("has tags of many lines, and text that begins with a tag", () => {
    expect(spansOf(readMdx("<Card", '  title="A > b"', "  on={() => 1}", "/>", "text"))).toEqual([
      "markup 0-4",
      "paragraph 4-5",
    ])
    expect(spansOf(readMdx("<kbd>A</kbd> is a key"))).toEqual(["paragraph 0-1"])
    expect(spansOf(readMdx("<Note>Words.</Note>"))).toEqual(["markup 0-1"])
  })

  test("has no indented code, but fences at any indent", () => {
    expect(spansOf(readMdx("    text", "", "      ```js", "      # a", "", "      ```"))).toEqual([
      "paragraph 0-1",
      "code 2-6",
    ])
  })
})

describe("lines", () => {
  test("are those of the text, without the marks of Windows and of the file's encoding", () => {
    const outline = readMarkdown("\ufeff# A\r\n\r\ntext\r\n", { isMdx: false })
    expect(outline.lines).toEqual(["# A", "", "text", ""])
    expect(outline.lineNumbers).toBeUndefined()
    expect(spansOf(outline)).toEqual(["heading 0-1", "paragraph 2-3"])
  })

  test("that are very long are read for nothing but the list or quote that they belong to", () => {
    const long = "[".repeat(100_000)
    expect(spansOf(read(`# ${long}`, "", "- a", `- ${long}`, "- b"))).toEqual(["paragraph 0-1", "list 2-5"])
    expect(spansOf(read("text", "", `[image1]: <data:image/png;base64,${"A".repeat(30_000)}>`))).toEqual([
      "paragraph 0-1",
    ])
  })
})

test("quotes and items that leave fences open are read once each", () => {
  const { sections } = readMarkdown(`${"> ```\na\n".repeat(20_000)}\n# H`, { isMdx: false })
  expect(sections.map(({ headings }) => headings)).toEqual([[], ["H"]])
  expect(spansOf(readMarkdown("- a\n".repeat(200_000), { isMdx: false }))).toEqual(["list 0-200000"])
})

describe("any text", () => {
  const piece = fc.constantFrom(
    ..."# |## |### a|===|---|- a|  - b|1. c|> q|```|~~~|    x|\t|<div>|</div>|<A b={|/>|<!--|-->|<h2>h</h2>".split(
      "|",
    ),
    ...":::|:::tip T|///|{/*|*/}|[a]: b|[^1]: c|import a from 'b'|export const x = [|]|text|**b** `c`".split(
      "|",
    ),
    "| a | b |",
    "|---|---|",
    "+++",
    "title: T",
    "description: d",
    "",
    "",
  )
  const markdown = fc.oneof(
    fc.array(piece, { maxLength: 30 }).map((lines) => lines.join("\n")),
    fc.string({ unit: "binary", maxLength: 200 }),
  )

  test("gives blocks that lie within the text, in order and apart, with breaks within", () => {
    fc.assert(
      fc.property(markdown, fc.boolean(), (text, isMdx) => {
        const outline = readMarkdown(text, { isMdx })
        let behind = 0
        for (const { from, to, breaks, headerTo = from + 1 } of blocksOf(outline)) {
          expect(from).toBeGreaterThanOrEqual(behind)
          expect(to).toBeGreaterThan(from)
          expect(headerTo).toBeLessThanOrEqual(to)
          let last = from
          for (const line of breaks) {
            expect(line).toBeGreaterThan(last)
            last = line
          }
          expect(last).toBeLessThan(to)
          behind = to
        }
        expect(behind).toBeLessThanOrEqual(outline.lines.length)
      }),
      { numRuns: 1_000 },
    )
  })

  test("gives sections that begin with their heading, but for the first", () => {
    fc.assert(
      fc.property(markdown, fc.boolean(), (text, isMdx) => {
        const { sections } = readMarkdown(text, { isMdx })
        expect(sections.every(({ blocks }) => blocks.length > 0)).toBe(true)
        for (const [at, { headings, blocks }] of sections.entries()) {
          const kinds = blocks.map(({ kind }) => kind === "heading")
          expect(kinds.indexOf(true)).toBe(headings.length === 0 ? -1 : 0)
          expect(kinds.lastIndexOf(true)).toBeLessThanOrEqual(0)
          if (at > 0) expect(headings.length).toBeGreaterThan(0)
        }
      }),
      { numRuns: 1_000 },
    )
  })
})
