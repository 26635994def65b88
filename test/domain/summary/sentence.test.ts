/**
 * Owns the contract of readSentences: which passages of a Markdown body are statements, and where they end.
 * It refuses to test what a statement means.
 */

import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { readSentences } from "../../../src/domain/summary/markdown.ts"

const textsOf = (markdown: string): string[] => readSentences(markdown).map((sentence) => sentence.text)

describe("readSentences reads the blocks of a body", () => {
  it("tells headings, paragraphs, bullets and check boxes apart, in the order written", () => {
    const body =
      "# Plan\n\nWe start today.\n\n- first point\n2. second point\n- [ ] open task\n- [X] closed task"
    expect(readSentences(body)).toEqual([
      { kind: "heading", text: "Plan" },
      { kind: "paragraph", text: "We start today." },
      { kind: "bullet", text: "first point" },
      { kind: "bullet", text: "second point" },
      { kind: "checkbox", text: "open task", checked: false },
      { kind: "checkbox", text: "closed task", checked: true },
    ])
  })

  it("keeps the first sentence of a check box as the task and the rest as bullets", () => {
    expect(readSentences("- [ ] Drop the index. It is unused.")).toEqual([
      { kind: "checkbox", text: "Drop the index.", checked: false },
      { kind: "bullet", text: "It is unused." },
    ])
  })

  it("joins the wrapped lines of a paragraph and of a bullet", () => {
    expect(textsOf("The cache is\r\ncold after a deploy.\n\n- warm it\n  before the switch")).toEqual([
      "The cache is cold after a deploy.",
      "warm it before the switch",
    ])
  })

  it("reads a labelled line or a mention as a statement of its own", () => {
    expect(textsOf("Status: green\nTODO: write docs\n@BlueLake please review")).toEqual([
      "Status: green",
      "TODO: write docs",
      "@BlueLake please review",
    ])
  })

  it("reads underlined headings, but takes a rule below a sentence for a rule", () => {
    expect(readSentences("Plan\n====\n\nWe ship it.\n---\nNext part")).toEqual([
      { kind: "heading", text: "Plan" },
      { kind: "paragraph", text: "We ship it." },
      { kind: "paragraph", text: "Next part" },
    ])
  })

  it.each([
    ["fenced code", "Before.\n\n```ts\nTODO: nothing\n```\n\nAfter."],
    ["a fence in a list", "Before.\n- ```\n  TODO: nothing\n  ```\n\nAfter."],
    ["a fence of tildes that holds backticks", "Before.\n~~~\n```\nTODO: nothing\n~~~\nAfter."],
    ["quoted lines", "Before.\n> TODO: nothing\n>> older\n\nAfter."],
    ["a comment over several lines", "Before.\n<!-- TODO: nothing\nstill hidden -->\nAfter."],
    ["a table", "Before.\n\n| Task | Owner |\n|---|---|\n| TODO: nothing | me |\n\nAfter."],
    ["a table without outer pipes", "Before.\n\nTask | Owner\n--- | ---\nTODO: nothing | me\n\nAfter."],
    ["indented code", "Before.\n\n    TODO: nothing\n\nAfter."],
    ["a comment that is never closed", "Before.\n\nAfter.\n\n<!-- TODO: nothing\n\nno more"],
    ["a style", "Before.\n\n<style>\nTODO: nothing\n</style>\n\nAfter."],
    ["link definitions", "Before.\n\n[1]: https://example.test/x\n\nAfter."],
  ])("skips %s", (_what, body) => {
    expect(textsOf(body).join(" ")).toBe("Before. After.")
  })

  it("reads the answer right below a quote", () => {
    expect(textsOf("> Can you?\nYes, I can.")).toEqual(["Yes, I can."])
  })

  it("reads what stands between tags", () => {
    expect(textsOf("<details>\n<summary>Plan</summary>\n\nWe ship.\n\n</details>")).toEqual([
      "Plan",
      "We ship.",
    ])
  })

  it("reads what is like a list entry within a paragraph as one", () => {
    expect(readSentences("We do:\n• one\n2) two")).toEqual([
      { kind: "paragraph", text: "We do:" },
      { kind: "bullet", text: "one" },
      { kind: "bullet", text: "two" },
    ])
  })

  it("hides the rest of a body whose fence is never closed", () => {
    expect(textsOf("Before.\n```\nTODO: nothing")).toEqual(["Before."])
  })

  it("keeps a comment mark that stands in inline code", () => {
    expect(textsOf("Use `<!--` to hide. It works.")).toEqual(["Use `<!--` to hide.", "It works."])
  })
})

describe("readSentences reduces inline marks", () => {
  it.each([
    ["**Bold** and *italic* and ~~old~~ text", "Bold and italic and old text"],
    ["see [the plan](https://a.test/p_(1)) and ![a chart](c.png)", "see the plan and a chart"],
    ["see <https://a.test/x_y_z>", "see https://a.test/x_y_z"],
    ["run `npm  test` in **`src`**", "run `npm test` in `src`"],
    ["[`parse`](src/parse.ts) moved", "`parse` moved"],
    ["not \\*bold\\* at all", "not *bold* at all"],
    ["这是**重点**内容", "这是重点内容"],
    ["see [the plan][1] &amp; go\n\n[1]: /plan", "see the plan & go"],
    ["press <kbd>x</kbd> in <file>", "press x in <file>"],
    ["take `` ` `` out", "take `` ` `` out"],
  ])("%s", (markdown, plain) => {
    expect(textsOf(markdown)).toEqual([plain])
  })

  it.each([
    "snake_case_name stays",
    "lint src/*.ts and test/*.ts now",
    "edit __init__.py first",
    "2*3*4 is 24",
    "skip docs/** and **/dist",
    "items[0] (the old one) wins",
    "Map<string, number> is fine",
  ])("leaves marks that belong to a name: %s", (text) => {
    expect(textsOf(text)).toEqual([text])
  })
})

describe("readSentences finds the end of a sentence", () => {
  it("but not in inline code", () => {
    expect(textsOf("Run `a. B. c` first. Then push.")).toEqual(["Run `a. B. c` first.", "Then push."])
  })
})

describe("readSentences is bounded", () => {
  const SEEDS = [
    "`",
    "`` ` ",
    ".",
    ". ",
    "[](",
    "](",
    "*",
    "**a",
    "_a_ ",
    "<!--",
    "<!-- --> ",
    "`a` <!-- ",
    "<br ",
    "[",
    "![",
    "**a",
    "~~a",
    "[a][",
    "- a\n ",
    "a | b\n-|-\n",
  ]
  const MORE_SEEDS = [
    "|",
    "| a |\n",
    "# ",
    "- ",
    "- [ ] ",
    "> ",
    "(",
    ")",
    " ",
    "\t",
    "\\",
    "<https://a",
    "。",
    "A. ",
  ]

  it.each([...SEEDS, ...MORE_SEEDS])("reads 20,000 characters of %j", (seed) => {
    const body = `${seed.repeat(Math.ceil(20_000 / seed.length)).slice(0, 20_000)}x`
    const length = textsOf(body).join("").length
    expect(length).toBeLessThanOrEqual(body.length)
  })

  it("never throws and never invents an empty unit", () => {
    const markdown = fc.array(fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom(...SEEDS, "\n", "```")))
    fc.assert(
      fc.property(markdown, (parts) => {
        for (const text of textsOf(parts.join(""))) expect(text).toMatch(/\S/)
      }),
    )
  })

  it("keeps every word of plain prose, in order", () => {
    const word = fc.stringMatching(/^[a-z]{2,9}$/)
    const prose = fc.array(fc.tuple(word, fc.constantFrom(" ", ". ", "! ", ", ", "? ")), { maxLength: 60 })
    fc.assert(
      fc.property(prose, (parts) => {
        const body = parts.flat().join("").trim()
        expect(textsOf(body).join(" ")).toBe(body)
      }),
    )
  })
})
