/** Owns the law of documentation search: which chunks are read, and what makes one answer better than another. */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { Postings } from "../../../src/domain/documentation/documentation.ts"
import {
  type BranchView,
  chooseCandidates,
  type Features,
  prepareQuery,
  queryWeightOf,
  rerank,
  scoreChunks,
  scoreOf,
} from "../../../src/domain/documentation/ranking.ts"
import { chunkTerms, pathTerms, queryTermsOf } from "../../../src/domain/documentation/terms.ts"
import type { WordVector } from "../../../src/domain/memory/ranking.ts"

/** A model that knows that a cache is much like a buffer, and nothing else. */
const KIN = new Map([
  ["cache", vector(1, 0)],
  ["buffer", vector(0.5, Math.sqrt(0.75))],
])

function vector(x: number, y: number): WordVector {
  return {
    unit: () => Float64Array.of(x, y),
    bits: () => new Uint32Array(1),
    cosine: ([u = 0, v = 0]) => x * u + y * v,
  }
}

interface Library {
  view: BranchView
  postings: Map<string, Postings>
  texts: string[]
}

/** A branch of files with the texts of their chunks. */
function library(files: Record<string, string[]>, dead: readonly number[] = []): Library {
  const paths = Object.keys(files)
  const texts = Object.values(files).flat()
  const fileOf = Uint32Array.from(Object.values(files).flatMap((own, file) => own.map(() => file)))
  const read = texts.map((text) => chunkTerms({ title: "", headings: [], context: "", text }))
  const lists = new Map<string, { numbers: number[]; counts: number[] }>()
  for (const [number, { terms }] of read.entries()) {
    for (const [term, counts] of terms) {
      const list = lists.get(term) ?? { numbers: [], counts: [] }
      lists.set(term, list)
      list.numbers.push(number)
      list.counts.push(...counts)
    }
  }
  const isLive = Uint8Array.from(texts, (_, number) => (dead.includes(number) ? 0 : 1))
  const live = read.filter((_, number) => isLive[number] === 1)
  return {
    texts,
    postings: new Map(
      [...lists].map(([term, { numbers, counts }]) => [
        term,
        { numbers: Uint32Array.from(numbers), counts: Uint8Array.from(counts) },
      ]),
    ),
    view: {
      isLive,
      lengths: Uint16Array.from(read, ({ length }) => length),
      fileOf,
      chunks: live.length,
      lengthMean: live.reduce((sum, { length }) => sum + length, 0) / Math.max(1, live.length),
      paths,
      filesWith: (term) => [...paths.keys()].filter((file) => pathTerms(paths[file] ?? "").includes(term)),
    },
  }
}

function prepared(question: string, { postings, view }: Library) {
  return prepareQuery(queryTermsOf(question), postings, view, (word) => KIN.get(word) ?? null)
}

function ask(question: string, own: Library, cosines: readonly (number | null)[] = []) {
  const query = prepared(question, own)
  const scores = scoreChunks(query, own.view)
  const nearest = cosines.flatMap((cosine, number) => (cosine === null ? [] : [{ number, cosine }]))
  const candidates = chooseCandidates(scores, nearest).map((candidate) => ({
    ...candidate,
    path: own.view.paths[candidate.file] ?? "",
    title: "",
    headings: [],
    text: own.texts[candidate.number] ?? "",
  }))
  return { query, scores, candidates, reranked: rerank(query, candidates) }
}
const order = (question: string, files: Record<string, string[]>, cosines?: (number | null)[]) =>
  ask(question, library(files), cosines).reranked.map(({ number }) => number)

describe("a chunk comes first", () => {
  test("that has the rarer word", () => {
    expect(
      order("redis server", { "a.md": ["server one", "server two", "redis one", "server three"] })[0],
    ).toBe(2)
  })

  test("that has more of the words, rather than one of them often", () => {
    expect(order("red fish", { "a.md": ["red red red red", "red fish", "fish fish fish fish"] })[0]).toBe(1)
  })

  test("that is shorter, of two with the same words", () => {
    expect(order("fish", { "a.md": ["a fish in a pond and much else beside it", "a fish"] })[0]).toBe(1)
  })

  test("that is nearer, of two with the same words", () => {
    expect(order("fish", { "a.md": ["one fish", "two fish"] }, [0.1, 0.5])).toEqual([1, 0])
  })

  test("whose file is named after the question", () => {
    expect(order("fish", { "bird.md": ["one fish"], "fish.md": ["two fish"] })).toEqual([1, 0])
  })

  test("whose words are akin to those that it lacks", () => {
    const files = { "a.md": ["fish tank"], "b.md": ["fish buffer"], "c.md": ["no cache"] }
    const reranked = ask("fish cache", library(files)).reranked
    const similar = new Map(reranked.map(({ number, features }) => [number, features.similar]))
    expect(similar.get(1)).toBeGreaterThan(0)
    expect(similar.get(0)).toBe(0)
  })

  test("that has the words close together, of two with the same words", () => {
    const apart = `fish ${"word ".repeat(60)} tank`
    const together = `fish tank ${"word ".repeat(60)}`
    expect(order("fish tank", { "a.md": [apart], "b.md": [together] })[0]).toBe(1)
  })

  test("whose file is named after what is akin to the question", () => {
    expect(order("fish cache", { "bird.md": ["one fish"], "buffer.md": ["two fish"] })[0]).toBe(1)
  })

  test("whose file is called what the question asks for", () => {
    const { query, candidates } = ask("fish", library({ "a.md": ["one fish"], "b.md": ["two fish"] }))
    const titled = candidates.map((own) => ({ ...own, title: own.file === 1 ? "About fish" : "Other" }))
    expect(rerank(query, titled)[0]?.number).toBe(1)
  })

  test("around which all is near as well, also what is no candidate", () => {
    const own = library({ "a.md": ["one fish", "a bird"], "b.md": ["two fish", "a bird"] })
    const { query, candidates } = ask("fish", own)
    const cosines = new Map([
      [1, 0],
      [3, 0.6],
    ])
    expect(rerank(query, candidates, cosines).map(({ number }) => number)).toEqual([2, 0])
  })

  test("whose file has fewer chunks, of two where nothing else differs", () => {
    const files = { "a.md": ["one fish", "a", "b", "c"], "b.md": ["two fish", "a"] }
    expect(order("fish", files)).toEqual([4, 0])
  })
})

describe("candidates", () => {
  test("are live, and are counted exactly over what is live", () => {
    const files = { "a.md": ["red fish", "blue fish", "a fish"] }
    const own = ask("fish", library(files, [1]))
    expect(own.candidates.map(({ number }) => number).sort()).toEqual([0, 2])
    expect(own.scores.matches).toBe(2)
    expect([...(own.query.terms[0]?.numbers ?? [])]).toEqual([0, 2])
  })

  test("are the best 60 by words and all that are near, with what is around them in the file", () => {
    const texts = Array.from({ length: 100 }, (_, at) => `fish ${"word ".repeat(at)}`)
    const { candidates } = ask("fish", library({ "a.md": [...texts, "bird", "end"], "b.md": ["other"] }), [
      ...Array(100).fill(null),
      0.4,
    ])
    expect(candidates).toHaveLength(61)
    expect(candidates.slice(0, 60).map(({ number }) => number)).toEqual([...texts.keys()].slice(0, 60))
    expect(candidates.at(-1)).toMatchObject({
      number: 100,
      lexical: 0,
      around: [92, 93, 94, 95, 96, 97, 98, 99, 101],
      cosine: 0.4,
      fileChunks: 102,
    })
  })
})

test("an identifier that stands nowhere leaves its parts to be found", () => {
  const { query } = ask("fish-tank", library({ "a.md": ["tank of fish"] }))
  expect(query.terms.map(({ word }) => word)).toEqual(["fish", "tank"])
})

test("words weigh the more in a query's vector the rarer they are, stop words nothing", () => {
  const texts = Array.from({ length: 100 }, (_, at) => (at === 0 ? "redis server" : "server"))
  const weightOf = queryWeightOf(prepared("the redis server", library({ "a.md": texts })))
  expect(weightOf("redis")).toBe(1)
  expect(weightOf("server")).toBeLessThan(0.1)
  expect(weightOf("the")).toBe(0)
  expect(queryWeightOf(prepared("?", library({ "a.md": texts })))("any")).toBe(1)
})

test("an unknown cosine is neither good nor bad", () => {
  const scoreWith = (cosine: number | null) => {
    const { query, candidates } = ask("fish", library({ "a.md": ["fish"] }))
    return rerank(
      query,
      candidates.map((candidate) => ({ ...candidate, cosine })),
    )[0]?.score
  }
  expect(scoreWith(null)).toBeGreaterThan(scoreWith(0) ?? 1)
  expect(scoreWith(null)).toBeLessThan(scoreWith(0.5) ?? 0)
})

test("a score lies within 0 and 1 and rises with all that speaks for a chunk", () => {
  const share = fc.double({ min: 0, max: 0.9, noNaN: true })
  const names: (keyof Features)[] = [
    "lexical",
    "cover",
    "similar",
    "dense",
    "named",
    "cosine",
    "around",
    "small",
  ]
  const features = fc.record({
    lexical: share,
    cover: share,
    similar: share,
    dense: share,
    named: share,
    cosine: share,
    around: share,
    small: share,
  })
  fc.assert(
    fc.property(features, fc.constantFrom(...names), (own, name) => {
      expect(scoreOf(own)).toBeGreaterThan(0)
      expect(scoreOf({ ...own, [name]: own[name] + 0.1 })).toBeGreaterThan(scoreOf(own))
      expect(scoreOf(own)).toBeLessThan(1)
    }),
  )
})

test("an answer does not depend on the other candidates, but for those around it", () => {
  const word = fc.constantFrom("red", "fish", "cache", "buffer", "pond")
  const texts = fc.array(fc.array(word, { minLength: 1, maxLength: 6 }), { minLength: 2, maxLength: 12 })
  fc.assert(
    fc.property(texts, (all) => {
      const files = Object.fromEntries(all.map((words, at) => [`${at}.md`, [words.join(" ")]]))
      const { query, candidates, reranked } = ask("red fish cache", library(files))
      for (const { number, score } of reranked) {
        const alone = rerank(
          query,
          candidates.filter((candidate) => candidate.number === number),
        )
        expect(alone[0]?.score).toBe(score)
      }
    }),
  )
})
