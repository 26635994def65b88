/** Owns the query language and the excerpts. What the engine makes of a query is tested with search-messages. */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { excerpt, hasWords, type MessageQuery, parseQuery } from "../../../src/domain/text/query-text.ts"

/** A term as short text: `subject:a b*` is two words, the second a prefix, in the subject. */
const shortOf = (query: MessageQuery) => {
  const all = (terms: MessageQuery["optional"]) =>
    terms.map(
      (term) =>
        `${term.field === null ? "" : `${term.field}:`}${term.words.join(" ")}${term.isPrefix ? "*" : ""}`,
    )
  return { required: all(query.required), optional: all(query.optional), excluded: all(query.excluded) }
}
const parsed = (text: string) => {
  const { required, optional, excluded } = shortOf(parseQuery(text))
  return [...required.map((term) => `+${term}`), ...optional, ...excluded.map((term) => `-${term}`)]
}

describe("a query", () => {
  test.each([
    ["one two", ["one", "two"]],
    ['"one two" three', ["+one two", "three"]],
    ['"one two', ["+one two"]],
    ['one"two"', ["+two", "one"]],
    ["-one two", ["two", "-one"]],
    ['-"one two" three', ["three", "-one two"]],
    ["one*", ["one*"]],
    ["subject:one body:two", ["+subject:one", "+body:two"]],
    ["SUBJECT:One", ["+subject:one"]],
    ['subject:"one two"', ["+subject:one two"]],
    ["-subject:one", ["-subject:one"]],
    ["author:one", ["author one"]],
    ["snake_case-name", ["snake case name"]],
    ["CAFÉ", ["cafe"]],
    ["one AND two OR NOT three", ["one", "and", "two", "or", "not", "three"]],
    ["NEAR(a b)", ["near a", "b"]],
    ["-", []],
    ['"" "-" -* ^ ( ) *', []],
    ["subject: x", ["subject", "x"]],
    ["   ", []],
    ["", []],
  ])("%j means %j", (text, terms) => {
    expect(parsed(text)).toEqual(terms)
  })

  test("needs words of scripts without spaces to stand next to each other", () => {
    expect(parsed("搜索")).toEqual(["搜 索"])
    expect(parsed("v2版")).toEqual(["v2 版"])
  })

  test("names something to look for only when a word is not excluded", () => {
    expect(hasWords(parseQuery("one"))).toBe(true)
    expect(hasWords(parseQuery('"one"'))).toBe(true)
    expect(hasWords(parseQuery("-one"))).toBe(false)
    expect(hasWords(parseQuery("!?"))).toBe(false)
  })

  test("is read without failing, into words of letters and digits only, whatever the text is", () => {
    const anyUnit = fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit))
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: anyUnit }),
      fc.string({ unit: "grapheme-ascii" }),
    )
    fc.assert(
      fc.property(text, (given) => {
        const { required, optional, excluded } = parseQuery(given)
        for (const term of [...required, ...optional, ...excluded]) {
          expect(term.words.length).toBeGreaterThan(0)
          for (const word of term.words) expect(word).toMatch(/^[\p{L}\p{N}\p{Co}\p{M}]+$/u)
        }
      }),
      { numRuns: 1_000 },
    )
  })
})

describe("an excerpt is freed of its own emphasis", () => {
  const shown = (text: string) => excerpt(text, parseQuery("parser"), "body", 200)

  test.each([
    ["the **whole parser** here", "the whole **parser** here"],
    ["**the *inner* parser**", "the inner **parser**"],
    ["_old parser_, ~~gone~~, ***all***.", "old **parser**, gone, all."],
    ["(**parser**)", "(**parser**)"],
    ["**parser**", "**parser**"],
  ])("%s", (text, expected) => expect(shown(text)).toBe(expected))

  test.each([
    ["a_parser_b and 2 * 3 * 4", "a_**parser**_b and 2 * 3 * 4"],
    ["src/**/x.ts and lib/**/parser", "src/**/x.ts and lib/**/**parser**"],
    ["*.ts and *.js of the parser", "*.ts and *.js of the **parser**"],
    ["`a **b** c` of the parser", "`a **b** c` of the **parser**"],
    ["__init__ of the parser", "__init__ of the **parser**"],
  ])("and not of what is none: %s", (text, expected) => {
    const words = (line: string) => line.replaceAll("**parser**", "parser")
    expect(words(shown(text))).toBe(words(expected))
  })
})

describe("an excerpt", () => {
  const of = (text: string, query: string, charsMax = 100) =>
    excerpt(text, parseQuery(query), "body", charsMax)

  test.each([
    ["a word in any case", "The Cache is stale", "cache", "The **Cache** is stale"],
    ["a word with accents", "un café noir", "cafe", "un **café** noir"],
    ["every match", "a cache of caches: cache", "cache", "a **cache** of caches: **cache**"],
    ["the beginning of words", "cache caches", "cach*", "**cache** **caches**"],
    ["a phrase as one", "back off, back-off", '"back off"', "**back off**, **back-off**"],
    ["no part of a phrase", "back then off", '"back off"', "back then off"],
    ["nothing that is excluded", "old cache", "cache -old", "old **cache**"],
    ["nothing that was asked for in the subject", "cache", "subject:cache", "cache"],
    ["characters of scripts without spaces", "中文搜索功能", "搜索", "中文**搜索**功能"],
    ["text over several lines on one", "one\n\n  two\tthree", "two", "one **two** three"],
  ])("marks %s", (_, text, query, expected) => {
    expect(of(text, query)).toBe(expected)
  })

  test("of a long text stands around the first match, with dots where it was cut", () => {
    const long = `${"lorem ".repeat(100)}needle ${"ipsum ".repeat(100)}`
    expect(of(long, "needle")).toMatch(/^…lorem (lorem )*\*\*needle\*\* (ipsum )+\S*…$/)
    expect(of(long, "nothing")).toMatch(/^lorem .*…$/)
  })

  test("shows the match when it stands at the very end of a long text", () => {
    for (let extra = 0; extra < 6; extra += 1) {
      const text = `${"lorem ".repeat(100)}${"x".repeat(extra)} needle`
      expect(of(text, "needle")).toMatch(/^….*\*\*needle\*\*$/)
    }
  })

  test("is a piece of the text, no longer than asked for, with marks added", () => {
    const word = fc.constantFrom("cache", "stale", "lorem", "日本", "x".repeat(50), "é")
    fc.assert(
      fc.property(
        fc.array(word, { maxLength: 60 }),
        fc.constantFrom("cache", "日", "nothing", "st*"),
        (words, query) => {
          const text = words.join(" ")
          const plain = of(text, query).replaceAll("**", "").replace(/^…|…$/g, "")
          expect(text).toContain(plain)
          expect(plain.length).toBeLessThanOrEqual(100)
        },
      ),
    )
  })

  test("never cuts a character in two", () => {
    const emoji = fc
      .integer({ min: 0, max: 120 })
      .map((before) => `${"a".repeat(before)}${"😀".repeat(120)} needle ${"😀".repeat(120)}`)
    fc.assert(
      fc.property(emoji, (text) => {
        for (const query of ["needle", "nothing"]) expect(of(text, query)).not.toMatch(/\p{Surrogate}/u)
      }),
    )
  })
})

describe("a word that begins with two dashes", () => {
  test("is an option of a command and no exclusion", () => {
    const { optional, excluded } = parseQuery("--dry-run")
    expect(optional.map((term) => term.words)).toEqual([["dry", "run"]])
    expect(excluded).toEqual([])
  })
})
