/** Owns what of a memory's text is read, and what counts as asking. */

import fc from "fast-check"
import { expect, test } from "vitest"
import { indexableText, indexableWords } from "../../src/domain/query-text.ts"
import { readPassages } from "../../src/domain/ranking-text.ts"

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

test("words are folded as in the index, and nothing is lost", () => {
  expect(words("Café-Müller: 東京 is HOT...!? \n\n. ok")).toEqual([
    "cafe",
    "muller",
    "東",
    "京",
    "is",
    "hot",
    "ok",
  ])
})

test("only the beginning of a long text is read", () => {
  expect(words("alpha beta gamma", 10)).toEqual(["alpha", "beta"])
  expect(words("")).toEqual([])
})

test("a question ends with its mark, whatever closes behind it", () => {
  expect(asking('She asked "why us?" and left. (Who knows?)\nNobody?! Well')).toEqual([
    "she",
    "asked",
    "why",
    "us",
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

test("words are runs of letters, digits and marks; those of ASCII in lower case, the others as if they stood alone", () => {
  fc.assert(
    fc.property(fc.oneof(TEXT, fc.string(), fc.string({ unit: "binary" })), (text) => {
      const runs = text.match(/[\p{L}\p{N}\p{Co}\p{M}]+/gu) ?? []
      const expected = runs.flatMap((run) =>
        /^[A-Za-z0-9]+$/.test(run) ? [run.toLowerCase()] : indexableText(run).split(" "),
      )
      expect(indexableWords(text)).toEqual(expected)
    }),
  )
})
