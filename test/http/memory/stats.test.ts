/** The statistics of the memory API: each figure, and what moves it. */

import { describe, expect, test } from "vitest"
import { DAY_MS, memoryRoom, secondTenant } from "../../support/memories.ts"

const NOTHING = {
  total_memories: 0,
  by_sector: { episodic: 0, semantic: 0, procedural: 0, emotional: 0, reflective: 0 },
  avg_salience: 0,
  hot_memories: 0,
  total_waypoints: 0,
  embeddings_today: 0,
  storage_used_mb: 0,
}
const LONG = "The deployment of the billing service needs a migration of the database first. ".repeat(300)

describe("statistics", () => {
  test("of a tenant without memories are zeros, all of them there", async () => {
    const { api } = await memoryRoom()
    const reply = await api.ask("GET", "/stats")
    expect(reply).toMatchObject({ status: 200 })
    expect(reply.json).toEqual({ data: NOTHING })
  })

  test("count memories in all and by sector, and follow every deletion", async () => {
    const { api, made } = await memoryRoom()
    const { id } = await api.create({ content: "a", sector: "episodic" })
    await api.create({ content: "b", sector: "episodic" })
    await api.create({ content: "c", sector: "reflective" })
    expect(await api.stats()).toMatchObject({
      total_memories: 3,
      by_sector: { episodic: 2, semantic: 0, procedural: 0, emotional: 0, reflective: 1 },
    })
    await api.remove(id)
    expect(await api.stats()).toMatchObject({ total_memories: 2, by_sector: { episodic: 1 } })
    made.advance(45 * DAY_MS)
    await api.prune({ threshold: 0.51 })
    expect(await api.stats()).toMatchObject({
      total_memories: 1,
      by_sector: { episodic: 0, reflective: 1 },
    })
  })

  test("average the salience as it is now, with four decimals", async () => {
    const { api, made } = await memoryRoom()
    await api.create({ content: "a", sector: "semantic" })
    made.advance(140 * DAY_MS)
    await api.create({ content: "b", sector: "episodic" })
    expect(await api.stats()).toMatchObject({ avg_salience: 0.75 })
    made.advance(45 * DAY_MS)
    const expected = (2 ** (-185 / 140) + 0.5) / 2
    expect((await api.stats()).avg_salience).toBe(Math.round(expected * 10_000) / 10_000)
  })

  test("call hot what has a salience of 0.7 or more now", async () => {
    const { api, made } = await memoryRoom()
    const { id } = await api.create({ content: "a", sector: "episodic" })
    await api.create({ content: "b", sector: "reflective" })
    // Below 0.69995 it is shown as 0.6999.
    const untilMs = -Math.log2(0.69995) * 45 * DAY_MS
    made.advance(Math.floor(untilMs))
    expect((await api.stats()).hot_memories).toBe(2)
    made.advance(1)
    expect((await api.stats()).hot_memories).toBe(1)
    await api.reinforce(id, { profile: "quick_refresh" })
    expect((await api.stats()).hot_memories).toBe(2)
  })

  test("count the pairs that are connected", async () => {
    const { api } = await memoryRoom()
    const content = "The cache is invalidated by the deployment script."
    const { id } = await api.create({ content })
    expect((await api.stats()).total_waypoints).toBe(0)
    await api.create({ content })
    expect((await api.stats()).total_waypoints).toBe(1)
    await api.create({ content })
    expect((await api.stats()).total_waypoints).toBe(3)
    await api.remove(id)
    expect((await api.stats()).total_waypoints).toBe(1)
  })
})

describe("embeddings_today", () => {
  test("counts the vectors that were made, of new and of changed contents only", async () => {
    const { api } = await memoryRoom()
    const today = async () => (await api.stats()).embeddings_today
    const { id } = await api.create({ content: "The first words." })
    expect(await today()).toBe(1)
    await api.change(id, { content: "Other words." })
    expect(await today()).toBe(2)
    await api.change(id, { tags: ["t"], source: "s", metadata: { a: 1 } })
    await api.change(id, { content: "Other words." })
    await api.read(id)
    await api.reinforce(id)
    await api.search({ query: "words" })
    expect(await today()).toBe(2)
    await api.remove(id)
    expect(await today()).toBe(2)
    await api.create({ content: LONG })
    expect(await today()).toBeGreaterThan(10)
  })

  test("begins anew at midnight UTC", async () => {
    const { api, made } = await memoryRoom()
    made.nowMs = Date.parse("2026-03-10T23:59:59.999Z")
    await api.create({ content: "The last words of the day." })
    expect((await api.stats()).embeddings_today).toBe(1)
    made.advance(1)
    expect((await api.stats()).embeddings_today).toBe(0)
    await api.create({ content: "The first words of the day." })
    expect((await api.stats()).embeddings_today).toBe(1)
    made.advance(DAY_MS - 1)
    expect((await api.stats()).embeddings_today).toBe(1)
    made.advance(1)
    expect((await api.stats()).embeddings_today).toBe(0)
  })

  test("is each tenant's own", async () => {
    const room = await memoryRoom()
    const other = await secondTenant(room)
    await other.create({ content: "Some words." })
    expect([await room.api.stats(), await other.stats()]).toMatchObject([
      { embeddings_today: 0, storage_used_mb: 0, total_memories: 0 },
      { embeddings_today: 1, total_memories: 1 },
    ])
  })
})

describe("storage_used_mb", () => {
  test("grows with what is stored and shrinks back to nothing", async () => {
    const { api } = await memoryRoom()
    const used = async () => (await api.stats()).storage_used_mb
    const ids: string[] = []
    let before = 0
    for (let count = 0; count < 4; count += 1) {
      const metadata = { a: "m".repeat(8_000) }
      ids.push((await api.create({ content: `${count} ${LONG}`, metadata, tags: ["t"] })).id)
      const after = await used()
      // Content and metadata are 32 kB, and the words stand in the index once more.
      expect(after - before).toBeGreaterThan(0.05)
      expect(after - before).toBeLessThan(0.5)
      before = after
    }
    for (const id of ids) {
      await api.remove(id)
      const after = await used()
      expect(after).toBeLessThan(before)
      before = after
    }
    expect(before).toBe(0)
  })

  test("follows a change there and back", async () => {
    const { api } = await memoryRoom()
    const { id } = await api.create({ content: "short", metadata: { a: 1 } })
    const used = async () => (await api.stats()).storage_used_mb
    const before = await used()
    await api.change(id, { content: LONG })
    expect(await used()).toBeGreaterThan(before + 0.04)
    await api.change(id, { metadata: { a: "m".repeat(16_000) }, source: "s".repeat(500) })
    expect(await used()).toBeGreaterThan(before + 0.055)
    await api.change(id, { content: "short", metadata: { a: 1 }, source: "" })
    expect(await used()).toBe(before)
  })
})
