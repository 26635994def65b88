/** What HTML becomes: the text that is read, where it stands in the source, and the blocks of it. */

import { describe, expect, it, test } from "vitest"
import { readHtml } from "../../../src/indexing/readers/html.ts"

/** Every block as its kind and its lines. */
const blocksOf = (html: string) => {
  const { lines, sections } = readHtml(html)
  return sections.flatMap(({ blocks }) =>
    blocks.map(({ kind, from, to }) => `${kind} ${lines.slice(from, to).join("/")}`),
  )
}
const headingsOf = (html: string) => readHtml(html).sections.map(({ headings }) => headings)
const onlyBlock = (html: string) => {
  const blocks = readHtml(html).sections.flatMap((section) => section.blocks)
  expect(blocks).toHaveLength(1)
  return blocks[0]
}

describe("lines", () => {
  it("are those of the source, with white space as browsers show it", () => {
    const { lines, lineNumbers } = readHtml(
      "<body>\n<p>One  <b>bold</b>\n   two&nbsp;&amp;<i> three</i></p>\n\n<p>four",
    )
    expect(lines).toEqual(["One bold", "two & three", "", "four"])
    expect([...(lineNumbers ?? [])]).toEqual([2, 3, 3, 5])
  })

  it("are several where one line of the source has several blocks", () => {
    const { lines, lineNumbers } = readHtml("<h1>A</h1><p>b<br>c<div>d</div>")
    expect(lines).toEqual(["A", "", "b", "c", "", "d"])
    expect(new Set(lineNumbers)).toEqual(new Set([1]))
  })

  it("keep words apart, and together, as their elements do", () => {
    expect(blocksOf("<p>a<b>b</b>c <i> d</i></p>")).toEqual(["paragraph abc d"])
  })

  it("lose what nobody sees", () => {
    expect(blocksOf("<p>zero\u200bwidth so\u00adft</p>")).toEqual(["paragraph zerowidth soft"])
  })
})

describe("what is left out", () => {
  it.each([
    "<nav>x</nav>",
    "<header><h1>x</h1></header>",
    "<footer>x</footer>",
    "<aside>x</aside>",
    "<script>if (a < b) x</script>",
    "<style>x</style>",
    "<template>x</template>",
    "<svg><title>x</title></svg>",
    "<noscript>x</noscript>",
    "<div hidden><div>x</div>x</div>",
    '<div style="display: none">x</div>',
    '<div role="navigation"><ul><li>x</ul></div>',
    '<span aria-hidden="true">x</span>',
    "<!-- x -->",
  ])("%s", (html) => {
    expect(blocksOf(`${html}<p>text</p>`)).toEqual(["paragraph text"])
  })

  it("is not what is found by searching, nor the head of an article", () => {
    expect(blocksOf('<p hidden="until-found">a</p>')).toEqual(["paragraph a"])
    expect(headingsOf("<p>x<article><header><h1>A</h1></header>b</article>")).toEqual([["A"]])
  })

  it.each([
    ["<p>x</p><main><p>text</p></main><p>x</p>", ["paragraph text"]],
    ["<p>x</p><article><p>text</p></article>", ["paragraph text"]],
    ['<p>x</p><div role="main"><p>text</p></div>', ["paragraph text"]],
    ["<main><p>a</p></main><main><p>b</p></main>", ["paragraph a", "paragraph b"]],
    ["<article>x</article><main><p>text</p></main>", ["paragraph text"]],
  ])("is what stands outside of the one main element: %s", (html, blocks) => {
    expect(blocksOf(html)).toEqual(blocks)
  })
})

describe("headings", () => {
  it("make sections by their levels", () => {
    expect(headingsOf("<p>a<h1>A</h1><h3>B</h3><p>b<h2>C</h2>")).toEqual([[], ["A"], ["A", "B"], ["A", "C"]])
  })

  it.each([
    '<h2>Name<a class="headerlink" href="#a">¶</a></h2>',
    '<h2><a class="header-anchor" href="#a">#</a> Name</h2>',
    "<h2>Name ¶</h2>",
    "<h2>Name\u200b</h2>",
    '<h2><a class="header" href="#a"><code>Name</code></a></h2>',
    "<h2>§ Name</h2>",
  ])("lose the sign that links to them: %s", (html) => {
    expect(headingsOf(html)).toEqual([["Name"]])
  })

  it("keep signs that belong to them", () => {
    expect(headingsOf("<h2>C#</h2>")).toEqual([["C#"]])
  })

  it("may take several lines, and be empty", () => {
    expect(headingsOf("<h2>A\n<i>b</i></h2>")).toEqual([["A b"]])
    expect(headingsOf("<h2> </h2><p>a")).toEqual([[]])
  })

  it.each([
    ["<title> A\n B </title><h1>C</h1>", "A B"],
    ["<title></title><h2>B</h2><h1>C</h1>", "C"],
    ["<h2>B</h2>", "B"],
    ["<p>a", null],
  ])("and the title: %s", (html, title) => {
    expect(readHtml(html).title).toBe(title)
  })
})

describe("blocks", () => {
  it("of preformatted text keep their lines and their numbers", () => {
    const { lines, lineNumbers, sections } = readHtml("<pre>\n<b>if</b> a:\n\n    b &lt; c\n</pre><p>text")
    expect(lines).toEqual(["if a:", "", "    b < c", "", "text"])
    expect([...(lineNumbers ?? [])]).toEqual([2, 3, 4, 4, 5])
    expect(sections[0]?.blocks[0]).toEqual({ kind: "code", from: 0, to: 3, breaks: [2] })
  })

  it("of lists have a line for each item, and break there", () => {
    expect(blocksOf("<p>a<ul><li>one<li>two<ol><li>inner</ol></ul><p>b")).toEqual([
      "paragraph a",
      "list - one/- two/  - inner",
      "paragraph b",
    ])
    expect(onlyBlock("<ul><li><p>one</p><p>more</p></li><li>two</li></ul>")).toEqual({
      kind: "list",
      from: 0,
      to: 3,
      breaks: [1, 2],
    })
  })

  it("of lists give way to code inside", () => {
    expect(blocksOf("<ul><li>one<pre>a</pre>more<li>two</ul>")).toEqual([
      "list - one",
      "code a",
      "list   more/- two",
    ])
  })

  it("of terms keep these with the first paragraph below", () => {
    expect(blocksOf("<dl><dt>-a<dt>--all<dd><p>All.</p><p>More.</p><dt>-b<dd>B.</dl>c")).toEqual([
      "list -a/--all/All.",
      "paragraph More.",
      "list -b/B.",
      "paragraph c",
    ])
  })

  it("of quotes are quotes", () => {
    expect(blocksOf("<blockquote><p>a</p></blockquote>b")).toEqual(["quote a", "paragraph b"])
  })
})

describe("tables", () => {
  const row = (...cells: string[]) => `<tr>\n${cells.map((cell) => `<td>${cell}</td>`).join("\n")}\n</tr>\n`

  it("have a line for each row, which stands where its text begins", () => {
    const { lines, lineNumbers } = readHtml(
      `<table>\n${row("a", "<p>b\nc</p>")}${row("", "d")}${row("", "")}</table>`,
    )
    expect(lines).toEqual(["a | b c", " | d"])
    expect([...(lineNumbers ?? [])]).toEqual([3, 9])
  })

  it.each([
    ["in its element", `<thead><tr><th>A<th>B</thead><tbody>${row("1", "2")}${row("3", "4")}</tbody>`],
    ["of heading cells", `<tr><th>A</th><th>B</th></tr>${row("1", "2")}${row("3", "4")}`],
  ])("have their header %s", (_, rows) => {
    expect(onlyBlock(`<table>${rows}</table>`)).toEqual({
      kind: "table",
      from: 0,
      to: 3,
      breaks: [1, 2],
      headerTo: 1,
    })
  })

  it("have no header when cells of the first row are data", () => {
    expect(onlyBlock(`<table><tr><th>A<td>1</tr>${row("B", "2")}</table>`)).not.toHaveProperty("headerTo")
  })

  it("begin with their caption", () => {
    expect(blocksOf(`<table><caption>Sizes</caption>${row("a")}</table>`)).toEqual(["table Sizes/a"])
  })

  it("that only place things are no tables", () => {
    expect(blocksOf("<table><tr><td><h2>A</h2><p>b</p><td><pre>c\nd</pre></table>")).toEqual([
      "heading A",
      "paragraph b",
      "code c/d",
    ])
    expect(blocksOf(`<table><tr><td>x<table>${row("a", "b")}</table></table>`)).toEqual([
      "paragraph x",
      "table a | b",
    ])
  })
})

describe("what is not well formed", () => {
  it.each([
    ["<p>a<p>b</i></p></div>c", ["paragraph a", "paragraph b", "paragraph c"]],
    ["a < b & c &unknown; &#x41;", ["paragraph a < b & c &unknown; A"]],
    ["<ul><li>a", ["list - a"]],
    ["<pre>a", ["code a"]],
    ["<table><tr><td>a", ["table a"]],
    ["<table><tr><td>a<b><td>b\nc</table>", ["table a | b c"]],
    ["<table><td>\n<thead>\na</table>", ["table a"]],
    ["<p>a<img src=x><input>b", ["paragraph ab"]],
    ['<?xml version="1.0"?><div/><p>a</p>', ["paragraph a"]],
  ])("is read all the same: %s", (html, blocks) => {
    expect(blocksOf(html)).toEqual(blocks)
  })

  test("elements nested too deep make it plain text without tags", () => {
    const { lines, lineNumbers, sections } = readHtml(`${"<b>".repeat(600)}\na<i>b</i>`)
    expect(lines.at(-1)?.trim().split(/\s+/)).toEqual(["a", "b"])
    expect(lineNumbers).toBeUndefined()
    expect(sections[0]?.blocks).toMatchObject([{ kind: "paragraph", from: 1 }])
    expect(blocksOf(`${"<b>".repeat(500)}a`)).toEqual(["paragraph a"])
  })
})
