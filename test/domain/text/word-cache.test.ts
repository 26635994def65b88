/** Owns what a cache of words keeps, what it drops, and that nobody can tell but by the work it saves. */

import fc from "fast-check"
import { expect, test } from "vitest"
import { WordCache } from "../../../src/domain/text/word-cache.ts"

/** Asks for words in turn and returns those for which an answer had to be made. */
function made(cache: WordCache<string | null>, words: readonly string[]): string[] {
  const asked: string[] = []
  for (const word of words) {
    cache.get(word, (own) => {
      asked.push(own)
      return null
    })
  }
  return asked
}

test("a word is answered once while it is remembered, by null as well", () => {
  expect(made(new WordCache(4), ["a", "b", "a", "b", "a"])).toEqual(["a", "b"])
})

test("a word that comes up again and again outlives any number of others", () => {
  const others = Array.from({ length: 100 }, (_, index) => `word${index}`)
  const cache = new WordCache<null>(10)
  expect(
    made(
      cache,
      others.flatMap((word) => [word, "again"]),
    ).filter((word) => word === "again"),
  ).toHaveLength(1)
})

test("a word that was not asked for while as many others were as there is room for is forgotten", () => {
  const cache = new WordCache<null>(4)
  made(cache, ["a", "b", "c", "d", "e"])
  expect(made(cache, ["e", "d", "c"])).toEqual([])
  expect(made(cache, ["a"])).toEqual(["a"])
})

test("every answer is that for its very word, long ones included", () => {
  const word = fc.string({ unit: "binary", maxLength: 20 })
  fc.assert(
    fc.property(fc.array(word, { maxLength: 50 }), fc.integer({ min: 0, max: 8 }), (words, wordsMax) => {
      const cache = new WordCache<string>(wordsMax)
      for (const word of [...words, ...words]) expect(cache.get(word, (own) => `<${own}>`)).toBe(`<${word}>`)
    }),
  )
})
