/** Owns the law of the ranking: what makes a memory relevant, and what may move it from there. */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  builtinCosine,
  compareRanked,
  inverseFrequency,
  prepareRanking,
  queryWeight,
  RANKING_TEXT_CHARS_MAX,
  type RankingCandidate,
  recencyAt,
  relevanceOf,
  scoreOf,
  type WordVector,
} from "../../../src/domain/memory/ranking.ts"

const RARE = new Set(["redis", "cache", "went", "invoice"])
const COUNTS = {
  memories: 1_000,
  wordsMean: 20,
  memoriesWith: (word: string) => (RARE.has(word) ? 10 : 300),
}
/** A model that knows that a cache is much like a buffer, and nothing else. */
const KIN = new Map([
  ["cache", vector(1, 0)],
  ["buffer", vector(0.8, 0.6)],
])
const vectorOf = (word: string) => KIN.get(word) ?? null

function vector(x: number, y: number): WordVector {
  return {
    unit: () => Float64Array.of(x, y),
    bits: () => new Uint32Array(1),
    cosine: ([otherX = 0, otherY = 0]) => x * otherX + y * otherY,
  }
}

function judge(words: string, text: string, rest: Partial<RankingCandidate> = {}) {
  const query = prepareRanking(words.split(" "), COUNTS, vectorOf)
  return relevanceOf(query, { text, cosine: 0, indexScore: 0, ...rest })
}
const lexical = (words: string, text: string) => judge(words, text).lexical

describe("words", () => {
  test("make a memory the more relevant the rarer they are", () => {
    expect(lexical("redis server", "redis is slow")).toBeGreaterThan(
      lexical("redis server", "server is slow"),
    )
  })

  test("count in all their forms, the very word most", () => {
    const [same, other, none] = ["we went home", "we go home", "we run home"].map((text) =>
      lexical("went", text),
    )
    expect(same).toBeGreaterThan(other ?? 1)
    expect(other).toBeGreaterThan(0)
    expect(none).toBe(0)
  })

  test("that are akin count less than the word, and only when it is missing", () => {
    const akin = lexical("cache", "the buffer is full")
    expect(akin).toBeGreaterThan(0)
    expect(akin).toBeLessThan(lexical("cache", "the cache is full"))
    expect(lexical("cache", "cache and buffer here")).toBe(lexical("cache", "cache and folder here"))
  })

  test("that are akin count by the nearest of them, as (cosine - 0.2) / 0.8 of an occurrence", () => {
    const words = new Map([
      ["cache", vector(1, 0)],
      ["store", vector(0.6, 0.8)],
      ["buffer", vector(0.9, 0.4)],
      ["fire", vector(0.15, 0.9)],
    ])
    const lexicalOf = (text: string) => {
      const query = prepareRanking(["cache"], COUNTS, (word) => words.get(word) ?? null)
      return relevanceOf(query, { text, cosine: null, indexScore: 0 }).lexical
    }
    const norm = 0.6 * (0.5 + (0.5 * 3) / COUNTS.wordsMean)
    const count = (0.9 - 0.2) / 0.8
    expect(lexicalOf("store fire buffer")).toBeCloseTo(count / (count + norm), 12)
    expect(lexicalOf("fire fire fire")).toBe(0)
  })

  test("that only bind others are no similarity of any term", () => {
    const query = prepareRanking(["cache"], COUNTS, () => vector(1, 0))
    expect(relevanceOf(query, { text: "what about them", cosine: null, indexScore: 0 }).lexical).toBe(0)
  })

  test("are compared with a term only where it is missing, and once in a query", () => {
    const compared: string[] = []
    const query = prepareRanking(["redis", "cache"], COUNTS, (word) => ({
      unit: () => Float64Array.of(1),
      bits: () => new Uint32Array(1),
      cosine: () => {
        compared.push(word)
        return 0.5
      },
    }))
    const read = (text: string) => relevanceOf(query, { text, cosine: null, indexScore: 0 })
    read("redis is the cache of folders")
    expect(compared).toEqual([])
    read("a cache of folders, folders, folders")
    expect(compared).toEqual(["cache", "folders"])
    read("folders in front of the cache")
    expect(compared).toEqual(["cache", "folders", "front"])
    read("folders of redis")
    expect(compared).toEqual(["cache", "folders", "front", "folders", "redis"])
  })

  test("of a question tell less than those of a statement", () => {
    expect(lexical("redis", "Do we use redis?")).toBeLessThan(lexical("redis", "Do we use redis."))
    expect(lexical("redis", "Do we use redis?")).toBeGreaterThan(0)
  })

  test("that stand in the text are named", () => {
    expect(judge("when did redis go away", "Redis went").words).toEqual(["redis", "go"])
  })

  test("that are stop words count only when there are no others", () => {
    expect(lexical("the redis", "the redis")).toBe(lexical("redis", "the redis"))
    expect(lexical("who are you", "you are it")).toBeGreaterThan(0)
  })
})

describe("relevance", () => {
  test("is seven parts words and three parts meaning", () => {
    const { lexical: words, vector, relevance } = judge("redis", "redis is slow", { cosine: 0.5 })
    expect(vector).toBe(0.5)
    expect(relevance).toBeCloseTo(0.7 * words + 0.15, 12)
  })

  test("is of words alone where there is no vector", () => {
    const found = judge("redis", "redis is slow", { cosine: null })
    expect(found.vector).toBeNull()
    expect(found.relevance).toBe(found.lexical)
  })

  test("is nothing for a query without words, and for a text without any in common", () => {
    expect(judge("", "redis").relevance).toBe(0)
    expect(judge("redis", "").relevance).toBe(0)
  })

  test("of a long text takes the index's word for the rest at a first look, and never when it is read whole", () => {
    const query = prepareRanking(["redis"], COUNTS, () => null)
    const text = `${"word ".repeat(RANKING_TEXT_CHARS_MAX / 5)}redis`
    const lexicalOf = (indexScore: number, isWhole: boolean, read = text) =>
      relevanceOf(query, { text: read, cosine: null, indexScore }, isWhole).lexical
    expect(lexicalOf(0, false)).toBe(0)
    expect(lexicalOf(3, false)).toBeGreaterThan(0)
    expect(lexicalOf(3, false, "short")).toBe(0)
    expect(lexicalOf(0, true)).toBeGreaterThan(0)
    expect(lexicalOf(3, true)).toBe(lexicalOf(0, true))
  })

  test("counts what is akin only when a text is read whole", () => {
    const query = prepareRanking(["cache"], COUNTS, vectorOf)
    const candidate = { text: "buffer", cosine: null, indexScore: 0 }
    expect(relevanceOf(query, candidate, false).lexical).toBe(0)
    expect(relevanceOf(query, candidate).lexical).toBeGreaterThan(0)
  })

  test("does not depend on what was judged before", () => {
    const query = prepareRanking(["redis", "cache"], COUNTS, vectorOf)
    const candidate = { text: "buffer of redis", cosine: 0.3, indexScore: 2 }
    const first = relevanceOf(query, candidate)
    for (const text of ["cache", "redis?", "buffer buffer"]) relevanceOf(query, { ...candidate, text })
    expect(relevanceOf(query, candidate)).toEqual(first)
  })

  test("stays in 0..1 for every text", () => {
    const text = fc
      .array(fc.constantFrom("redis", "cache", "buffer", "why?", "down.", "the", "日本", "\n"), {
        maxLength: 60,
      })
      .map((words) => words.join(" "))
    const cosine = fc.oneof(fc.constant(null), fc.double({ min: -1, max: 1, noNaN: true }))
    fc.assert(
      fc.property(text, cosine, fc.double({ min: 0, max: 100, noNaN: true }), (text, cosine, indexScore) => {
        const found = judge("redis cache server", text, { cosine, indexScore })
        for (const value of [found.lexical, found.vector ?? 0, found.relevance]) {
          expect(value).toBeGreaterThanOrEqual(0)
          expect(value).toBeLessThanOrEqual(1)
        }
      }),
    )
  })

  test("never falls when another word of the text becomes a term", () => {
    const filler = fc.array(fc.constantFrom<string>("plain", "server", "folder", "buffer"), {
      minLength: 1,
      maxLength: 30,
    })
    fc.assert(
      fc.property(filler, fc.nat(29), (words, place) => {
        const named = words.with(place % words.length, "redis")
        const before = words.with(place % words.length, "plain")
        expect(lexical("redis server", named.join(" "))).toBeGreaterThan(
          lexical("redis server", before.join(" ")),
        )
      }),
    )
  })
})

describe("the score", () => {
  const unit = fc.double({ min: 0, max: 1, noNaN: true })

  test("of a stronger match never loses to popularity or freshness", () => {
    fc.assert(
      fc.property(unit, unit, unit, unit, (stronger, weaker, salience, recency) => {
        fc.pre(0.9 * stronger > weaker + 1e-12)
        expect(scoreOf(stronger, 0, 0)).toBeGreaterThan(scoreOf(weaker, salience, recency))
      }),
    )
  })

  test("lies between nine tenths of the relevance and all of it, and rises with salience and recency", () => {
    fc.assert(
      fc.property(unit, unit, unit, unit, (relevance, salience, lower, recency) => {
        const score = scoreOf(relevance, salience, recency)
        expect(score).toBeLessThanOrEqual(relevance)
        expect(score).toBeGreaterThanOrEqual(0.9 * relevance - 1e-12)
        if (lower <= salience) expect(scoreOf(relevance, lower, recency)).toBeLessThanOrEqual(score)
        if (lower <= recency) expect(scoreOf(relevance, salience, lower)).toBeLessThanOrEqual(score)
      }),
    )
    expect(scoreOf(1, 1, 1)).toBe(1)
  })

  test("orders memories the same whatever order they come in, the newest first among equals", () => {
    const hit = fc.record({ id: fc.integer({ min: 1, max: 50 }), score: fc.constantFrom(0, 0.25, 0.5, 1) })
    fc.assert(
      fc.property(fc.uniqueArray(hit, { selector: ({ id }) => id }), (hits) => {
        const sorted = [...hits].sort(compareRanked)
        expect([...hits].reverse().sort(compareRanked)).toEqual(sorted)
        expect([...sorted].reverse().sort(compareRanked)).toEqual(sorted)
      }),
    )
    expect(
      [
        { id: 1, score: 0.5 },
        { id: 2, score: 0.5 },
      ]
        .sort(compareRanked)
        .map(({ id }) => id),
    ).toEqual([2, 1])
  })

  test("counts recency from 1 when new, halved each 30 days, and the future as now", () => {
    const nowMs = 100 * 86_400_000
    expect(recencyAt(nowMs, nowMs)).toBe(1)
    expect(recencyAt(nowMs + 1, nowMs)).toBe(1)
    expect(recencyAt(nowMs - 60 * 86_400_000, nowMs)).toBeCloseTo(0.25, 12)
  })
})

describe("what the counts of a store give", () => {
  test("a word in one of twenty memories weighs fully in a query's vector, a name in half of them little", () => {
    expect(queryWeight(1_000, 40)).toBe(1)
    expect(queryWeight(1_000, 500)).toBeLessThan(0.25)
    expect(queryWeight(1_000, 500)).toBeGreaterThan(0)
  })

  test("an inverse frequency that is never negative and falls with frequency, for odd counts too", () => {
    fc.assert(
      fc.property(fc.nat(10_000), fc.integer({ min: -5, max: 20_000 }), (memories, found) => {
        const frequency = inverseFrequency(memories, found)
        expect(frequency).toBeGreaterThanOrEqual(0)
        expect(inverseFrequency(memories, found + 1)).toBeLessThanOrEqual(frequency)
      }),
    )
  })

  test("the cosine of another model on the scale of the built-in one", () => {
    const builtin = { midpoint: 0.4, slope: 10 }
    expect(builtinCosine(0.3, builtin, builtin)).toBeCloseTo(0.3, 12)
    expect(builtinCosine(0.7, { midpoint: 0.7, slope: 20 }, builtin)).toBeCloseTo(0.4, 12)
    expect(builtinCosine(1, { midpoint: 0.7, slope: 20 }, builtin)).toBe(1)
  })
})
