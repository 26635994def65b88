/** Owns what of a memory's text is read, and what counts as asking. */

import fc from "fast-check"
import { expect, test } from "vitest"
import { readPassages } from "../../../src/domain/text/ranking-text.ts"
import { indexableWords } from "../../../src/domain/text/words.ts"

const asking = (text: string) =>
  readPassages(text, 4_000)
    .filter((passage) => passage.asks)
    .flatMap((passage) => passage.words)
const words = (text: string, charsMax = 4_000) =>
  readPassages(text, charsMax).flatMap((passage) => passage.words)

test("words of questions ask, those of other sentences do not", () => {
  expect(asking("We use Redis. Why not Valkey? Nobody knows!")).toEqual(["why", "not", "valkey"])
  expect(asking("Is it up?\nIt is")).toEqual(["is", "it", "up"])
})

test("addresses and versions neither end a sentence nor ask", () => {
  expect(asking("See https://example.org/find?q=cache for 3.5 or so.")).toEqual([])
  expect(asking("Does v3.5 work with a?b=c now?")).toEqual(words("Does v3.5 work with a?b=c now?"))
})

test("only the beginning of a long text is read", () => {
  expect(words("alpha beta gamma", 10)).toEqual(["alpha", "beta"])
  expect(words("")).toEqual([])
})

test("a question ends with its mark, whatever closes behind it", () => {
  expect(asking('She asked "why us?" and left. (Who knows?)\nNobody?! Well')).toEqual([
    "who",
    "knows",
    "nobody",
  ])
  expect(asking("why? because\nso what\nand where?  ")).toEqual(["why", "and", "where"])
})

const TEXT = fc
  .array(
    fc
      .constantFrom(
        "a",
        "Q7",
        "we",
        "IT",
        "é",
        "İ",
        "ß",
        "e\u0301",
        "東京",
        "の",
        "ก",
        "\ud83d",
        "🚂",
        "\u0000",
      )
      .chain((part) =>
        fc.constantFrom(part, `${part} `, `${part}. `, `${part}?\n`, `${part}'`, `${part}_`, `${part}’`),
      ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(""))

test("all words of a text are read, in order, wherever its sentences end", () => {
  fc.assert(
    fc.property(TEXT, (text) => {
      expect(words(text)).toEqual(indexableWords(text))
    }),
  )
})
