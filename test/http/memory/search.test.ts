/** Searching memories over HTTP: what is found, in what order, within which filters, and that looking changes nothing. */

import Database from "better-sqlite3"
import { describe, expect, test } from "vitest"
import {
  createMany,
  DAY_MS,
  type Found,
  idsOf,
  type MemoryRoom,
  memoryRoom,
  searched,
  secondTenant,
} from "../../support/memories.ts"

const DEPLOYMENT = "The deployment script restarts the billing service after the database migration."
const CAKE = "Grandmother bakes an apple cake with cinnamon every Sunday afternoon."

/** Returns every row of every table of the database, as text. */
function dump({ made }: MemoryRoom): string {
  const database = new Database(made.databasePath, { readonly: true })
  try {
    const names = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all()
    return JSON.stringify(
      names.map((name) => {
        const rows = database.prepare(`SELECT * FROM "${name}"`).raw().all()
        return [name, rows.map((row) => (row as unknown[]).map(hexOf))]
      }),
    )
  } finally {
    database.close()
  }
}

const hexOf = (value: unknown) => (Buffer.isBuffer(value) ? value.toString("hex") : value)

describe("an answer", () => {
  test("has the whole memories with their scores, and what was done", async () => {
    const { api } = await memoryRoom()
    const { sector_inferred: _, ...created } = await api.create({
      content: DEPLOYMENT,
      tags: ["t"],
      source: "s",
      metadata: { a: 1 },
    })
    const reply = await api.ask("POST", "/search", { query: "billing migration" })
    expect(reply.status).toBe(200)
    expect(reply.json).toEqual({
      data: [{ ...created, score: expect.any(Number) }],
      meta: { total: 1, search_time_ms: expect.any(Number), waypoints_expanded: true },
    })
    const { search_time_ms: took } = (reply.json as Found).meta
    expect(Number.isInteger(took) && took >= 0).toBe(true)
  })

  test("explains each score only when asked", async () => {
    const { api } = await memoryRoom()
    await api.create({ content: DEPLOYMENT })
    const [plain] = (await api.search({ query: "billing", explain: false })).data
    expect(plain).not.toHaveProperty("explain")
    const [explained] = (await api.search({ query: "billing", explain: true })).data
    expect(explained).toEqual({ ...plain, explain: expect.any(Object) })
    expect(Object.keys(explained?.explain ?? {}).length).toBeGreaterThan(0)
  })

  test("is empty where nothing is stored, or nothing has to do with the query", async () => {
    const { api } = await memoryRoom()
    const nothing = { data: [], meta: { total: 0 } }
    expect(await api.search({ query: "billing" })).toMatchObject(nothing)
    await api.create({ content: CAKE })
    expect(await api.search({ query: "xyzzyplugh" })).toMatchObject(nothing)
    expect(await api.search({ query: "?!" })).toMatchObject(nothing)
  })

  test("is the same to the same question, however often, and at any limit", async () => {
    const { api } = await memoryRoom()
    await createMany(api, 60, (number) => ({ content: `${DEPLOYMENT} ${number % 3 === 0 ? CAKE : ""}` }))
    for (const query of ["billing cake", "the", "restart the services of accounting", "apple"]) {
      const all = await searched(api, { query, limit: 100, expand_waypoints: false })
      const again = await searched(api, { query, limit: 100, expand_waypoints: false })
      expect(again.data).toEqual(all.data)
      expect(again.meta.total).toBe(all.meta.total)
      for (const limit of [1, 10, 37]) {
        const some = await searched(api, { query, limit, expand_waypoints: false })
        expect(idsOf(some)).toEqual(idsOf(all).slice(0, limit))
        expect(some.data).toEqual(all.data.slice(0, limit))
        expect(some.meta.total).toBe(all.meta.total)
      }
      const expanded = await searched(api, { query, limit: 20 })
      expect((await searched(api, { query, limit: 20 })).data).toEqual(expanded.data)
    }
  })

  test("has a total of all matches before the limit, never less than it shows", async () => {
    const { api } = await memoryRoom()
    await createMany(api, 130, (number) => ({ content: `quokka number ${number}` }))
    await createMany(api, 5, (number) => ({ content: `${CAKE} ${number}` }))
    for (const limit of [1, 10, 100]) {
      const { data, meta } = await searched(api, { query: "quokka", limit })
      expect(data).toHaveLength(limit)
      expect(meta.total).toBe(130)
    }
    for (const query of ["quokka", "cake", "number", "grandmother quokka", "billing"]) {
      for (const expand_waypoints of [true, false]) {
        const { data, meta } = await searched(api, { query, limit: 100, expand_waypoints })
        expect(meta.total, `${query} ${expand_waypoints}`).toBeGreaterThanOrEqual(data.length)
      }
    }
  })
})

describe("a search", () => {
  test("changes no byte of any table", async () => {
    const room = await memoryRoom()
    const { api, made } = room
    await createMany(api, 30, (number) => ({ content: `${DEPLOYMENT} ${number}`, tags: ["t"] }))
    await api.create({ content: CAKE })
    made.advance(DAY_MS)
    await api.search({ query: "a first one, so that the key has been used today" })
    const before = dump(room)
    for (const body of [
      { query: "billing" },
      { query: "services that restart", max_hops: 5, limit: 100, explain: true },
      { query: "cake", tags: ["t"], sector: "semantic", min_salience: 0.2 },
      { query: "xyzzyplugh" },
    ])
      for (let count = 0; count < 5; count += 1) await api.search(body)
    expect(dump(room)).toBe(before)
  })

  test("finds what was just stored or changed, and no longer what was there before", async () => {
    const { api } = await memoryRoom()
    await createMany(api, 20, (number) => ({ content: `${CAKE} ${number}` }))
    const { id } = await api.create({ content: "The wombat sleeps." })
    expect(idsOf(await searched(api, { query: "wombats" }))[0]).toBe(id)
    await api.change(id, { content: "The platypus sleeps." })
    expect(idsOf(await searched(api, { query: "platypus" }))[0]).toBe(id)
    expect(idsOf(await searched(api, { query: "wombats" }))).not.toContain(id)
    await api.remove(id)
    expect(idsOf(await searched(api, { query: "platypus" }))).not.toContain(id)
  })

  test("finds a word in any place of the longest content, and names by their parts", async () => {
    const { api } = await memoryRoom()
    const filler = "word ".repeat(3_200)
    const { id } = await api.create({ content: `${filler} getWombatName ${filler}` })
    await createMany(api, 5, (number) => ({ content: `${CAKE} ${number}` }))
    for (const query of ["getWombatName", "wombat", "getwombatname", "name of the wombat"])
      expect(idsOf(await searched(api, { query }))[0], query).toBe(id)
  })

  test("takes any text for words", async () => {
    const { api } = await memoryRoom()
    await api.create({ content: "wombat a x b constructor" })
    const queries = [
      '"',
      '""',
      "'",
      "a AND",
      "AND",
      "OR",
      "NOT x",
      "NEAR(a b)",
      "a NEAR/3 b",
      "content:x",
      "x*",
      "*",
      "^x",
      "(",
      ")",
      "{a}: b",
      "-",
      "--",
      "-wombat",
      "+wombat",
      "a\\",
      "%",
      "_",
      "\u0001",
      "\ud800",
      "😀",
      "é",
      "日本語",
      "; DROP TABLE memories",
      "-".repeat(2_000),
      '"'.repeat(2_000),
      "a ".repeat(1_000),
      "* ".repeat(1_000),
      "\u202Eabc",
      "constructor",
      "__proto__",
    ]
    for (const query of queries) {
      const reply = await api.ask("POST", "/search", { query })
      expect(reply.status, `${JSON.stringify(query).slice(0, 40)}: ${reply.text}`).toBe(200)
    }
    expect((await api.stats()).total_memories).toBe(1)
  })

  test("prefers what answers to what is fresh: salience and age never win over relevance", async () => {
    const { api, made } = await memoryRoom()
    const exact = await api.create({ content: "The quokka migration plan.", sector: "episodic" })
    made.advance(2_000 * DAY_MS)
    await createMany(api, 30, (number) => ({ content: `A plan for day ${number}.`, sector: "reflective" }))
    expect(idsOf(await searched(api, { query: "quokka migration plan" }))[0]).toBe(exact.id)
  })

  test("scores what answers in full higher than what answers in part, between queries too", async () => {
    const { api } = await memoryRoom()
    await createMany(api, 10, (number) => ({ content: `${CAKE} ${number}` }))
    await api.create({ content: "The quokka migration plan." })
    const best = async (query: string) => (await searched(api, { query })).data[0]?.score ?? 0
    expect(await best("quokka migration plan")).toBeGreaterThan(await best("quokka drinks beer in Berlin"))
  })

  test("stays within the tenant", async () => {
    const room = await memoryRoom()
    const other = await secondTenant(room)
    await createMany(other, 30, () => ({ content: DEPLOYMENT }))
    const mine = await room.api.create({ content: `${CAKE} billing` })
    expect(idsOf(await searched(room.api, { query: DEPLOYMENT, limit: 100 }))).toEqual([mine.id])
    expect((await searched(room.api, { query: DEPLOYMENT, limit: 100 })).meta.total).toBe(1)
    expect((await searched(other, { query: "cake", limit: 100 })).data).toEqual([])
  })
})

describe("filters", () => {
  /** Many memories that answer better, and one that answers and passes. */
  const BETTER = 220
  const cases: [name: string, hidden: object, shown: object, filter: object][] = [
    ["sector", { sector: "semantic" }, { sector: "emotional" }, { sector: "emotional" }],
    ["tag", { tags: ["a"] }, { tags: ["a", "b"] }, { tags: ["b"] }],
    ["all tags", { tags: ["a", "c"] }, { tags: ["a", "b", "c"] }, { tags: ["c", "b"] }],
    [
      "everything",
      { sector: "semantic" },
      { sector: "emotional", tags: ["b"] },
      {
        sector: "emotional",
        tags: ["b"],
        min_salience: 0.9,
      },
    ],
  ]
  test.each(cases)(
    "by %s apply before the cut, to words and to meaning",
    async (_, hidden, shown, filter) => {
      const { api } = await memoryRoom()
      const { id } = await api.create({ content: `${CAKE} Nobody speaks of billing here.`, ...shown })
      const meant = await api.create({
        content: "A database was migrated and then services had to be restarted.",
        ...shown,
      })
      await createMany(api, BETTER, () => ({ content: DEPLOYMENT, ...hidden }))
      const words = await searched(api, { query: "billing", limit: 1, ...filter })
      expect(idsOf(words)).toEqual([id])
      const meaning = await searched(api, { query: DEPLOYMENT, limit: 5, ...filter })
      expect(idsOf(meaning)[0]).toBe(meant.id)
      for (const memory of meaning.data) expect([id, meant.id]).toContain(memory.id)
    },
  )

  test("by salience apply before the cut, to what it is now", async () => {
    const { api, made } = await memoryRoom()
    await createMany(api, BETTER, () => ({ content: DEPLOYMENT, sector: "episodic" }))
    made.advance(45 * DAY_MS)
    const { id } = await api.create({ content: `${CAKE} Nobody speaks of billing here.` })
    const found = await searched(api, { query: "billing", min_salience: 0.51, limit: 3 })
    expect(idsOf(found)).toEqual([id])
    expect(found.meta.total).toBe(1)
    expect((await searched(api, { query: "billing", min_salience: 0.5, limit: 3 })).meta.total).toBe(
      BETTER + 1,
    )
    expect(idsOf(await searched(api, { query: "billing", min_salience: 1 }))).toEqual([id])
    made.advance(DAY_MS)
    expect((await searched(api, { query: "billing", min_salience: 1 })).data).toEqual([])
    expect((await searched(api, { query: "billing", min_salience: 0 })).meta.total).toBe(BETTER + 1)
  })

  test("let pass just what they say", async () => {
    const { api } = await memoryRoom()
    for (const tags of [[], ["a"], ["b"], ["a", "b"], ["a", "b", "c"], ["ab"], ["A"]])
      await api.create({
        content: `wombat ${tags.join("-")}`,
        tags,
        sector: tags.length > 1 ? "episodic" : "semantic",
      })
    const tagsOf = async (filter: object) =>
      (await searched(api, { query: "wombat", ...filter })).data.map(({ tags }) => tags.join()).sort()
    expect(await tagsOf({ tags: ["a"] })).toEqual(["a", "a,b", "a,b,c"])
    expect(await tagsOf({ tags: ["b", "a"] })).toEqual(["a,b", "a,b,c"])
    expect(await tagsOf({ tags: ["a", "a"] })).toEqual(["a", "a,b", "a,b,c"])
    expect(await tagsOf({ tags: ["a", "nowhere"] })).toEqual([])
    expect(await tagsOf({ tags: [] })).toHaveLength(7)
    expect(await tagsOf({ sector: "episodic" })).toEqual(["a,b", "a,b,c"])
    expect(await tagsOf({ sector: "semantic", tags: ["b"] })).toEqual(["b"])
    expect(await tagsOf({ sector: "reflective" })).toEqual([])
  })
})
