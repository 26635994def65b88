/** Owns what a word is, how it is folded, and where identifiers and scripts without spaces are cut. */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  characterPairs,
  indexableText,
  indexableWords,
  splitAtCapitals,
  splitCamelCase,
  withPairs,
  wordsOf,
} from "../../../src/domain/text/words.ts"

const PIECE = fc
  .constantFrom("a", "Q7", "we", "IT", "é", "İ", "ß", "e\u0301", "東京", "の", "ก", "\ud83d", "🚂", "\u0000")
  .chain((piece) => fc.constantFrom(piece, `${piece} `, `${piece}. `, `${piece}'`, `${piece}_`, `${piece}’`))
const TEXT = fc.oneof(
  fc.array(PIECE, { maxLength: 30 }).map((pieces) => pieces.join("")),
  fc.string(),
  fc.string({ unit: "binary" }),
)

describe("words", () => {
  test("are folded runs of letters, digits and marks, and characters of scripts without spaces", () => {
    expect(indexableWords("Café-Müller: 東京 is HOT...!? \n\n. ok v2版")).toEqual(
      "cafe muller 東 京 is hot ok v2 版".split(" "),
    )
  })

  test("of ASCII are those runs in lower case, and others as if they stood alone", () => {
    fc.assert(
      fc.property(TEXT, (text) => {
        const runs = text.match(/[\p{L}\p{N}\p{Co}\p{M}]+/gu) ?? []
        const expected = runs.flatMap((run) =>
          /^[A-Za-z0-9]+$/.test(run) ? [run.toLowerCase()] : indexableText(run).split(" "),
        )
        expect(indexableWords(text)).toEqual(expected)
      }),
    )
  })

  test("are the same with the places where they stand", () => {
    fc.assert(
      fc.property(TEXT, (text) => {
        const words = wordsOf(text)
        expect(words.map((word) => word.text)).toEqual(indexableWords(text))
        for (const { text: word, from, to } of words) expect(indexableText(text.slice(from, to))).toBe(word)
      }),
    )
  })

  test("stay as they are when they are read again", () => {
    fc.assert(
      fc.property(TEXT, (text) => {
        const once = indexableText(text)
        expect(indexableText(once)).toBe(once)
      }),
    )
  })
})

describe("camel case", () => {
  test.each([
    ["getUserName", "get User Name"],
    ["HTTPServer", "HTTP Server"],
    ["v2Beta", "v2 Beta"],
    ["straßeÜber", "straße Über"],
    ["snake_case HTTP Word iOS", "snake_case HTTP Word i OS"],
  ])("of %s is split into %s", (text, parts) => {
    expect(splitCamelCase(text)).toBe(parts)
  })

  test("of words that are compared by vectors is not split behind capitals", () => {
    expect(splitAtCapitals("getUserName HTTPServer v2Beta")).toBe("get User Name HTTPServer v2 Beta")
  })

  test("is split once: nothing is lost, and no boundary is left", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "B", "É", "é", "1", "_", " ", "東") })
    fc.assert(
      fc.property(letters, (text) => {
        for (const split of [splitCamelCase, splitAtCapitals]) {
          const parts = split(text)
          expect(parts.replaceAll(" ", "")).toBe(text.replaceAll(" ", ""))
          expect(split(parts)).toBe(parts)
        }
      }),
    )
  })
})

describe("scripts without spaces", () => {
  test("give pairs of neighbours, in place of the characters where there are any", () => {
    const words = indexableWords("v2検索 ok")
    expect(characterPairs(words)).toEqual(["検索"])
    expect(withPairs(words)).toEqual(["v2", "ok", "検索"])
    expect(withPairs(["検", "v2"])).toEqual(["検", "v2"])
    expect(characterPairs(["é", "é"])).toEqual([])
  })
})
