/** Owns what chunks are found by: words by their stems, identifiers whole and by their parts, in any script. */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  chunkTerms,
  embeddedText,
  indexTermsOf,
  pathTerms,
  queryTermsOf,
} from "../../../src/domain/documentation/terms.ts"

const NO_TEXT = { title: "", headings: [], text: "", context: "" }
const termsOf = (text: string) => chunkTerms({ ...NO_TEXT, text }).terms
/** Whether all that a query asks for stands in a text. */
const isFound = (query: string, text: string) => {
  const terms = termsOf(text)
  return queryTermsOf(query).every((asked) => asked.terms.some((term) => terms.has(term)))
}

const NAMES = [
  "get_user_name",
  "useState",
  "--dry-run",
  "ERR_REQUIRE_ESM",
  "app.config.globalProperties",
  "node.js",
  "C++",
  "1.0.21",
  "@scope/pkg",
  "v-model",
  ":has()",
]

describe("an identifier", () => {
  test.each(NAMES)("%s is found as it is spelled, whatever stands around it", (name) => {
    expect(isFound(name, `Call (\`${name}\`), then wait.`)).toBe(true)
    expect(queryTermsOf(name)[0]?.isIdentifier).toBe(true)
  })

  test.each([
    ["user name", "get_user_name"],
    ["state", "useState"],
    ["dry run", "--dry-run"],
    ["global properties", "app.config.globalProperties"],
    ["globalProperties", "app.config.globalProperties"],
    ["require", "ERR_REQUIRE_ESM"],
  ])("is found by its parts: %s in %s", (query, text) => {
    expect(isFound(query, text)).toBe(true)
  })

  test("is one in all its spellings", () => {
    const whole = "=getusername"
    for (const spelling of ["getUserName", "get_user_name", "get-user-name", "GET_USER_NAME"]) {
      expect([...termsOf(spelling).keys()]).toContain(whole)
    }
    expect(isFound("nodejs", "node.js")).toBe(true)
    expect(isFound("usestate", "useState")).toBe(true)
  })

  test("keeps the points between its digits, and its signs where there is little else", () => {
    expect(isFound("1.0.21", "10.21")).toBe(false)
    expect(termsOf("C").has("=c++")).toBe(false)
  })
})

describe("words", () => {
  test("are found in their other forms", () => {
    expect(isFound("connecting", "it connects")).toBe(true)
    expect(isFound("went", "we go")).toBe(true)
  })

  test("are counted by field, at most 255 times", () => {
    const { terms, length } = chunkTerms({
      title: "Cache",
      headings: ["Caches", "Use"],
      text: "cache ".repeat(300),
      context: "a head",
    })
    expect([...(terms.get("cach") ?? [])]).toEqual([1, 1, 255, 0])
    expect(length).toBe(302)
  })

  test("of a query are those that tell something, or all when none does", () => {
    expect(queryTermsOf("how do I use the cache").map(({ word }) => word)).toEqual(["use", "cache"])
    expect(queryTermsOf("to be or not to be").map(({ word }) => word)).toEqual(["not"])
    expect(queryTermsOf("what is it").map(({ word }) => word)).toEqual(["what", "is", "it"])
  })

  test("of a path are those of its folders and of its name, without its ending", () => {
    expect(pathTerms("docs/api/use-state.md")).toEqual(["doc", "api", "us", "state", "=usestate"])
  })
})

describe("a script without spaces", () => {
  test.each([
    ["日本語の検索", "検索"],
    ["ひらがなテスト", "テス"],
    ["ภาษาไทย", "ไทย"],
    ["中文", "中"],
  ])("lets any part of %s be found: %s", (text, part) => {
    expect(isFound(part, text)).toBe(true)
  })

  test("does not let others be found", () => {
    expect(isFound("索検", "日本語の検索")).toBe(false)
  })
})

test("the text that is embedded begins with what it is about, once", () => {
  const chunk = { ...NO_TEXT, title: "Guide", headings: ["Guide", "Use"], text: "Do it." }
  expect(embeddedText(chunk)).toBe("Guide > Use\nDo it.")
  expect(embeddedText({ ...chunk, headings: ["Use"], context: "| a |" })).toBe("Guide > Use\n| a |\nDo it.")
})

test("whatever a text is, its terms are few, short and never empty, and it finds itself", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 80 }), (text) => {
      const terms = termsOf(text)
      for (const [term, counts] of terms) {
        expect(term.length).toBeGreaterThan(0)
        expect(term.length).toBeLessThanOrEqual(101)
        expect(counts.some((count) => count > 0)).toBe(true)
      }
      const asked = queryTermsOf(text)
      expect(asked.length).toBeLessThanOrEqual(32)
      expect(indexTermsOf(asked).length).toBeLessThanOrEqual(64)
      expect(isFound(text, text)).toBe(true)
    }),
  )
})
