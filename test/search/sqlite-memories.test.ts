import BetterSqlite3 from "better-sqlite3"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { HALF_LIFE_DAYS_DEFAULT } from "../../src/config/limits.ts"
import { addSlowVectorFunctions, addVectorFunctions } from "../../src/db/vector-functions.ts"
import { toInt8 } from "../../src/domain/embedding/quantise.ts"
import type { MemoryFilter } from "../../src/search/index.ts"
import { sqliteMemories as index } from "../../src/search/sqlite-memories.ts"
import { insertMemory } from "../../src/store/memory/memories.ts"
import { cosine } from "../support/vectors.ts"
import { type Session, START_MS, world } from "../support/world.ts"

const DIMENSIONS = 64
const MODEL_ID = 1

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
  const vector = Float32Array.from({ length: DIMENSIONS }, random)
  const length = Math.hypot(...vector)
  return vector.map((value) => value / length)
}

async function store(session: Session, count: number, random: () => number, repositoryId = 1) {
  const stored: { id: number; vector: Float32Array }[] = []
  await session.app.db.transaction("memories", async (tx) => {
    for (let at = 0; at < count; at += 1) {
      const id = await insertMemory(tx, {
        uuid: crypto.randomUUID(),
        repositoryId,
        content: `memory ${at}`,
        sector: at % 2 === 0 ? "semantic" : "episodic",
        salience: { base: 1, anchorMs: START_MS, stability: 1 },
        accessCount: 0,
        tags: at % 50 === 0 ? ["rare", "even"] : ["common"],
        source: null,
        metadata: {},
        createdAtMs: START_MS,
        updatedAtMs: START_MS,
        lastAccessedAtMs: null,
        storedBytes: 0,
        wordCount: 2,
      })
      const vector = vectorFrom(random)
      await index.putVectors(tx, { repositoryId, modelId: MODEL_ID }, id, [vector])
      stored.push({ id, vector })
    }
  })
  return stored
}

function everything(filter: Partial<MemoryFilter> = {}): MemoryFilter {
  return {
    repositoryId: 1,
    sector: null,
    tags: [],
    salienceMin: 0,
    halfLives: HALF_LIFE_DAYS_DEFAULT,
    nowMs: START_MS,
    ...filter,
  }
}

function nearestByBruteForce(
  stored: { id: number; vector: Float32Array }[],
  to: Float32Array,
  limit: number,
) {
  return stored
    .map(({ id, vector }) => ({ id, cosine: cosine(toInt8(to), toInt8(vector)) }))
    .sort((one, other) => other.cosine - one.cosine)
    .slice(0, limit)
    .map(({ id }) => id)
}

const idsOf = (found: readonly { id: number }[]) => found.map(({ id }) => id)

describe("the nearest vectors", () => {
  test("are exactly the nearest while there are few", async () => {
    const { session, stored, random } = await sessionWith(250)
    const query = vectorFrom(random)
    const found = await index.findNearest(session.app.db, MODEL_ID, query, everything(), 50)
    expect(idsOf(found)).toEqual(nearestByBruteForce(stored, query, 50))
  })

  test("are nearly all found when there are many more", async () => {
    const { session, stored, random } = await sessionWith(3_000)
    let hits = 0
    for (let round = 0; round < 10; round += 1) {
      const query = vectorFrom(random)
      const found = await index.findNearest(session.app.db, MODEL_ID, query, everything(), 10)
      const nearest = new Set(nearestByBruteForce(stored, query, 10))
      hits += found.filter(({ id }) => nearest.has(id)).length
    }
    expect(hits).toBeGreaterThanOrEqual(80)
  })

  test("pass the filters before anything is cut off", async () => {
    const { session, stored, random } = await sessionWith(3_000)
    const query = vectorFrom(random)
    const rare = stored.filter((_, at) => at % 50 === 0)
    for (const filter of [{ tags: ["rare"] }, { tags: ["even", "rare"] }]) {
      const found = await index.findNearest(session.app.db, MODEL_ID, query, everything(filter), 20)
      expect(idsOf(found)).toEqual(nearestByBruteForce(rare, query, 20))
    }
    const mixed = everything({ tags: ["rare"], sector: "episodic" })
    expect(await index.findNearest(session.app.db, MODEL_ID, query, mixed, 20)).toEqual([])
    const odd = new Set(stored.filter((_, at) => at % 2 === 1).map(({ id }) => id))
    const episodic = everything({ sector: "episodic" })
    const found = await index.findNearest(session.app.db, MODEL_ID, query, episodic, 20)
    expect(found).toHaveLength(20)
    expect(found.every(({ id }) => odd.has(id))).toBe(true)
  })

  test("of other repositories and other models are never found", async () => {
    const { session, random } = await sessionWith(10)
    const query = vectorFrom(random)
    const { db } = session.app
    expect(await index.findNearest(db, MODEL_ID + 1, query, everything(), 5)).toEqual([])
    expect(await index.findNearest(db, MODEL_ID, query, everything({ repositoryId: 2 }), 5)).toEqual([])
  })

  test("are those of the nearest window of a memory", async () => {
    const { session, stored, random } = await sessionWith(5)
    const [first] = stored
    const other = vectorFrom(random)
    const { db } = session.app
    await db.transaction("memories", async (tx) => {
      await index.removeVectors(tx, first?.id ?? 0)
      const windows = [vectorFrom(random), other, vectorFrom(random)]
      await index.putVectors(tx, { repositoryId: 1, modelId: MODEL_ID }, first?.id ?? 0, windows)
    })
    const [best] = await index.findNearest(db, MODEL_ID, other, everything(), 5)
    expect(best?.id).toBe(first?.id)
    expect(best?.cosine).toBeCloseTo(1, 3)
  })

  async function sessionWith(count: number) {
    const session = await (await world()).session()
    const random = seeded(count)
    return { session, random, stored: await store(session, count, random) }
  }
})

describe("where sqlite-vec has no library for the platform", () => {
  test("the functions of our own give the same distances", () => {
    const [fast, slow] = [new BetterSqlite3(":memory:"), new BetterSqlite3(":memory:")]
    addVectorFunctions(fast)
    addSlowVectorFunctions(slow)
    const sql = "SELECT vec_distance_cosine(vec_int8(?), vec_int8(?)) AS distance"
    const int8s = fc
      .uint8Array({ minLength: 32, maxLength: 32 })
      .filter((bytes) => bytes.some((byte) => byte !== 0))
    fc.assert(
      fc.property(int8s, int8s, (one, other) => {
        const [ours, theirs] = [slow, fast].map(
          (db) => db.prepare<unknown[], { distance: number }>(sql).get(one, other)?.distance,
        )
        expect(ours).toBeCloseTo(theirs ?? Number.NaN, 6)
      }),
    )
    fast.close()
    slow.close()
  })
})
