import { readFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { describe, expect, onTestFinished, test } from "vitest"
import { openSqlite, type SqliteDatabase } from "../../src/db/sqlite.ts"
import { FIELDS } from "../../src/domain/documentation/documentation.ts"
import { toInt8 } from "../../src/domain/embedding/quantise.ts"
import type { NumberedTerms, NumberedVector } from "../../src/search/index.ts"
import { documentSearchSchema, sqliteDocuments as index } from "../../src/search/sqlite-documents.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { cosine } from "../support/vectors.ts"

const REPOSITORY = 1
const SPACE = { repositoryId: REPOSITORY, modelId: 1 }
const DIMENSIONS = 64
const TABLES = ["document_postings", "document_bits", "document_vectors"] as const

interface Opened {
  db: SqliteDatabase
  path: string
  rows(table: (typeof TABLES)[number]): Promise<number>
}

async function opened(): Promise<Opened> {
  const path = join(temporaryFolder(), "index.db")
  const db = await openSqlite(path)
  onTestFinished(() => db.close())
  await db.exclusively((connection) => {
    connection.exec(documentSearchSchema)
  })
  const rows: Opened["rows"] = async (table) =>
    (await db.get<{ number: number }>(`SELECT count(*) AS number FROM ${table}`))?.number ?? Number.NaN
  return { db, path, rows }
}

/** A chunk that has each of the terms once in its body. */
function chunk(number: number, ...terms: string[]): NumberedTerms {
  return { number, terms: new Map(terms.map((term) => [term, Uint8Array.of(0, 0, 1, 0)])) }
}

type PlainPostings = Record<string, [number: number, ...counts: number[]][]>

async function plainPostings(db: SqliteDatabase, terms: readonly string[], repositoryId = REPOSITORY) {
  const found = await index.postings(db, repositoryId, terms)
  const plain: PlainPostings = {}
  for (const [term, { numbers, counts }] of found) {
    plain[term] = Array.from(numbers, (number, at) => [
      number,
      ...counts.subarray(at * FIELDS.length, (at + 1) * FIELDS.length),
    ])
  }
  return plain
}

function put(db: SqliteDatabase, chunks: readonly NumberedTerms[], repositoryId = REPOSITORY): Promise<void> {
  return db.transaction("documents", (tx) => index.putTerms(tx, repositoryId, chunks))
}

function remove(db: SqliteDatabase, chunks: readonly NumberedTerms[]): Promise<void> {
  return db.transaction("documents", (tx) => index.removeTerms(tx, REPOSITORY, chunks))
}

describe("words", () => {
  test("are found with their chunks and counts, by repository", async () => {
    const { db } = await opened()
    await put(db, [
      { number: 1, terms: new Map([["vue", Uint8Array.of(1, 2, 3, 4)]]) },
      { number: 5_000, terms: new Map([["vue", Uint8Array.of(0, 0, 255, 0)]]) },
      chunk(5_001, "redis"),
    ])
    await put(db, [chunk(1, "redis")], 2)
    expect(await plainPostings(db, ["vue", "redis", "react", "vue"])).toEqual({
      vue: [
        [1, 1, 2, 3, 4],
        [5_000, 0, 0, 255, 0],
      ],
      redis: [[5_001, 0, 0, 1, 0]],
    })
    expect(await plainPostings(db, ["vue", "redis"], 2)).toEqual({ redis: [[1, 0, 0, 1, 0]] })
    expect(await plainPostings(db, [])).toEqual({})
  })

  test("come in the order of their chunks, however these were given", async () => {
    const { db } = await opened()
    await put(db, [chunk(3, "a"), chunk(1, "a"), chunk(2, "a")])
    await put(db, [chunk(2_049, "a"), chunk(2_047, "a"), chunk(2_048, "a")])
    const { a } = await plainPostings(db, ["a"])
    expect(a?.map(([number]) => number)).toEqual([1, 2, 3, 2_047, 2_048, 2_049])
  })

  test("may be any text", async () => {
    const { db } = await opened()
    const terms = ["\0", "a\0b", "a", "'", "%", "📚", "文", "é", "e\u0301", "x".repeat(100), "\ufffd"]
    await put(db, [chunk(7, ...terms)])
    const found = await plainPostings(db, terms)
    expect(found).toEqual(Object.fromEntries(terms.map((term) => [term, [[7, 0, 0, 1, 0]]])))
  })

  test("with half a character are kept as one, and go again", async () => {
    const { db, rows } = await opened()
    const chunks = [chunk(1, "\ud800"), chunk(2, "\udfff"), chunk(3, "\ud800", "\udfff")]
    await put(db, chunks)
    const numbers = [
      [1, 0, 0, 1, 0],
      [2, 0, 0, 1, 0],
      [3, 0, 0, 2, 0],
    ]
    expect(await plainPostings(db, ["\ud800"])).toEqual({ "\ud800": numbers })
    await remove(db, chunks)
    expect(await rows("document_postings")).toBe(0)
  })

  test("of chunks that were never put in are taken out without harm", async () => {
    const { db } = await opened()
    await put(db, [chunk(1, "a"), chunk(3, "a")])
    await remove(db, [chunk(2, "a", "b"), chunk(9_000, "a")])
    expect(await plainPostings(db, ["a", "b"])).toEqual({
      a: [
        [1, 0, 0, 1, 0],
        [3, 0, 0, 1, 0],
      ],
    })
  })

  test("are what a list of all chunks holds, whatever was put in and taken out", async () => {
    const terms = ["a", "b", "c", "d"]
    const counts = fc.uint8Array({ minLength: FIELDS.length, maxLength: FIELDS.length, max: 7 })
    const steps = fc.array(
      fc.oneof(
        fc.record({ put: fc.array(fc.dictionary(fc.constantFrom(...terms), counts), { maxLength: 5 }) }),
        fc.record({ skip: fc.nat(3_000) }),
        fc.record({ remove: fc.array(fc.nat(), { maxLength: 4 }) }),
      ),
      { maxLength: 12 },
    )
    const { db, rows } = await opened()
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const model = new Map<number, NumberedTerms>()
        let next = 1
        for (const step of all) {
          if ("put" in step) {
            const chunks = step.put.map((each) => ({ number: next++, terms: new Map(Object.entries(each)) }))
            for (const each of chunks) model.set(each.number, each)
            await put(db, chunks)
          } else if ("skip" in step) next += step.skip
          else {
            const live = [...model.values()]
            const gone = new Set(step.remove.flatMap((at) => live[at % live.length] ?? []))
            for (const { number } of gone) model.delete(number)
            await remove(db, [...gone])
          }
        }
        expect(await plainPostings(db, terms)).toEqual(listed([...model.values()]))
        await remove(db, [...model.values()])
        expect(await rows("document_postings")).toBe(0)
      }),
    )
  })

  function listed(chunks: readonly NumberedTerms[]): PlainPostings {
    const plain: PlainPostings = {}
    for (const { number, terms } of chunks) {
      for (const [term, counts] of terms) {
        plain[term] ??= []
        plain[term].push([number, ...counts])
      }
    }
    return plain
  }

  test("that were taken out are in no byte of the file", async () => {
    const { db, path } = await opened()
    const many = (from: number, word: string) =>
      Array.from({ length: 40 }, (_, at) =>
        chunk(from + at, ...Array.from({ length: 30 }, (_, no) => `${word}${at % 7}x${no}`), "everywhere"),
      )
    await put(db, many(1, "stays"))
    await put(db, many(100, "zyzzyva"))
    await remove(db, many(100, "zyzzyva"))
    await db.exclusively((connection) => connection.pragma("wal_checkpoint(TRUNCATE)"))
    const bytes = readFileSync(path, "latin1")
    expect(bytes).toContain("stays3x7")
    expect(bytes).not.toContain("zyzzyva")
  })
})

describe("vectors", () => {
  test("are exactly the nearest while few are wanted, among however many", async () => {
    const { db, stored, random } = await withVectors(3_000)
    const query = vectorFrom(random)
    const isWanted = Uint8Array.from({ length: 3_001 }, (_, number) => (number % 4 === 1 ? 1 : 0))
    const found = await index.findNearest(db, SPACE, query, isWanted, 50)
    expect(numbersOf(found)).toEqual(nearestByBruteForce(stored, query, isWanted, 50))
    for (const { number, cosine: found1 } of found)
      expect(found1).toBeCloseTo(cosineTo(query, stored[number - 1]?.vector), 5)
  })

  test("are nearly all found among many, and only wanted ones", async () => {
    const { db, stored, random } = await withVectors(3_000)
    // What lies beyond the end is not wanted either.
    const isWanted = Uint8Array.from({ length: 2_500 }, (_, number) => (number % 3 === 0 ? 0 : 1))
    let hits = 0
    for (let round = 0; round < 10; round += 1) {
      const query = vectorFrom(random)
      const found = numbersOf(await index.findNearest(db, SPACE, query, isWanted, 10))
      const nearest = new Set(nearestByBruteForce(stored, query, isWanted, 10))
      expect(found).toHaveLength(10)
      expect(found.every((number) => isWanted[number] === 1)).toBe(true)
      hits += found.filter((number) => nearest.has(number)).length
    }
    expect(hits).toBeGreaterThanOrEqual(80)
  })

  test("of other repositories and other models are never found", async () => {
    const { db, stored, random } = await withVectors(10)
    const query = vectorFrom(random)
    const isWanted = new Uint8Array(20).fill(1)
    for (const space of [
      { repositoryId: REPOSITORY, modelId: 2 },
      { repositoryId: 2, modelId: 1 },
    ]) {
      expect(await index.findNearest(db, space, query, isWanted, 5)).toEqual([])
      expect(await index.cosines(db, space, query, [1, 2])).toEqual(new Map())
    }
    const found = await index.findNearest(db, SPACE, query, isWanted, 50)
    expect(found).toHaveLength(stored.length)
    expect(await index.findNearest(db, SPACE, query, new Uint8Array(), 5)).toEqual([])
  })

  test("take the place of those that a chunk had", async () => {
    const { db, random } = await withVectors(2_000)
    const vector = vectorFrom(random)
    await putVectors(db, [
      { number: 5, vector: vectorFrom(random) },
      { number: 5, vector },
    ])
    for (const end of [10, 2_001]) {
      const isWanted = new Uint8Array(end).fill(1)
      const [best] = await index.findNearest(db, SPACE, vector, isWanted, 3)
      expect(best).toEqual({ number: 5, cosine: expect.closeTo(1, 5) })
    }
  })

  test("of zeros are found like any, with the cosine 0", async () => {
    const { db } = await withVectors(1_500)
    const zeros = new Float32Array(DIMENSIONS)
    const negative = zeros.map(() => -1)
    await putVectors(db, [
      { number: 7, vector: zeros },
      { number: 8, vector: negative },
    ])
    expect(await index.cosines(db, SPACE, negative, [7, 8])).toEqual(
      new Map([
        [7, 0],
        [8, expect.closeTo(1, 5)],
      ]),
    )
    const isWanted = new Uint8Array(1_501).fill(1)
    const found = await index.findNearest(db, SPACE, negative, isWanted, 2_000)
    expect(found).toHaveLength(1_500)
    expect(found[0]?.number).toBe(8)
  })

  test("have cosines, but for chunks that have none", async () => {
    const { db, stored, random } = await withVectors(30)
    const query = vectorFrom(random)
    const cosines = await index.cosines(db, SPACE, query, [3, 31, 17, 3])
    expect([...cosines.keys()].sort((one, other) => one - other)).toEqual([3, 17])
    for (const [number, found] of cosines)
      expect(found).toBeCloseTo(cosineTo(query, stored[number - 1]?.vector), 5)
    expect(await index.cosines(db, SPACE, query, [])).toEqual(new Map())
  })

  test("that were taken away are gone, those of all models", async () => {
    const { db, rows, stored, random } = await withVectors(1_300)
    await putVectors(db, stored.slice(0, 20), { repositoryId: REPOSITORY, modelId: 2 })
    await putVectors(db, stored.slice(0, 20), { repositoryId: 2, modelId: 1 })
    const query = vectorFrom(random)
    const isWanted = new Uint8Array(1_301).fill(1)
    await removeVectors(db, [1, 2, 1_100, 5_000])
    const found = numbersOf(await index.findNearest(db, SPACE, query, isWanted, 2_000))
    const left = stored.map(({ number }) => number).filter((number) => ![1, 2, 1_100].includes(number))
    expect(found.sort((one, other) => one - other)).toEqual(left)
    expect(await rows("document_vectors")).toBe(1_297 + 18 + 20)
    await removeVectors(db, left)
    expect(await rows("document_vectors")).toBe(20)
    expect(await rows("document_bits")).toBe(1)
  })

  test("of a model go with it, in every repository", async () => {
    const { db, rows, stored } = await withVectors(10)
    await putVectors(db, stored, { repositoryId: 2, modelId: 1 })
    await putVectors(db, stored.slice(0, 3), { repositoryId: 2, modelId: 2 })
    await db.transaction("documents", (tx) => index.removeModel(tx, 1))
    expect([await rows("document_vectors"), await rows("document_bits")]).toEqual([3, 1])
    await db.transaction("documents", (tx) => index.removeModel(tx, 2))
    expect([await rows("document_vectors"), await rows("document_bits")]).toEqual([0, 0])
  })

  test("of another length than those of their model are refused, and nothing is stored", async () => {
    const { db, rows } = await withVectors(3)
    const short = [{ number: 4, vector: new Float32Array(DIMENSIONS / 2).fill(1) }]
    await expect(putVectors(db, short)).rejects.toThrow(RangeError)
    expect(await rows("document_vectors")).toBe(3)
  })

  async function withVectors(count: number) {
    const database = await opened()
    const random = seeded(count)
    const stored = Array.from({ length: count }, (_, at) => ({ number: at + 1, vector: vectorFrom(random) }))
    await putVectors(database.db, stored)
    return { ...database, stored, random }
  }
})

function putVectors(db: SqliteDatabase, vectors: readonly NumberedVector[], space = SPACE): Promise<void> {
  return db.transaction("documents", (tx) => index.putVectors(tx, space, vectors))
}

function removeVectors(db: SqliteDatabase, numbers: readonly number[]): Promise<void> {
  return db.transaction("documents", (tx) => index.removeVectors(tx, REPOSITORY, numbers))
}

/** Numbers in -1..1, the same ones for the same seed (Mulberry32). */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 31 - 1
  }
}

function vectorFrom(random: () => number): Float32Array {
  return Float32Array.from({ length: DIMENSIONS }, random)
}

function cosineTo(query: Float32Array, vector: Float32Array | undefined): number {
  return vector === undefined ? Number.NaN : cosine(toInt8(query), toInt8(vector))
}

function nearestByBruteForce(
  stored: readonly NumberedVector[],
  query: Float32Array,
  isWanted: Uint8Array,
  limit: number,
): number[] {
  return stored
    .filter(({ number }) => isWanted[number] === 1)
    .map(({ number, vector }) => ({ number, cosine: cosineTo(query, vector) }))
    .sort((one, other) => other.cosine - one.cosine)
    .slice(0, limit)
    .map(({ number }) => number)
}

function numbersOf(found: readonly { number: number }[]): number[] {
  return found.map(({ number }) => number)
}
