/** How memories fade over time, what reinforcing does about it, and what pruning takes. */

import { describe, expect, test } from "vitest"
import { SECTORS } from "../../../src/domain/memory/memory.ts"
import { DAY_MS, type MemoryCaller, memoryRoom } from "../../support/memories.ts"
import { START_MS } from "../../support/world.ts"

const HALF_LIFE_DAYS = { episodic: 45, semantic: 140, procedural: 90, emotional: 60, reflective: 700 }
const BOOSTS = { quick_refresh: 0.05, maintenance: 0.1, deep_learning: 0.15, emergency: 0.25 }
const rounded = (value: number) => Math.round(value * 10_000) / 10_000

async function salienceOf(api: MemoryCaller, id: string): Promise<number | undefined> {
  return (await api.look(id))?.salience
}

describe("salience", () => {
  test.each(SECTORS)("of %s halves with each of its half-lives, shown with four decimals", async (sector) => {
    const { api, made } = await memoryRoom()
    const { id, salience } = await api.create({ content: "x", sector })
    expect(salience).toBe(1)
    const halfLifeMs = HALF_LIFE_DAYS[sector] * DAY_MS
    for (const lives of [0, 0.001, 0.1, 0.5, 1, 1.5, 2, 3, 10, 13, 14, 20, 1_000]) {
      made.nowMs = START_MS + Math.round(lives * halfLifeMs)
      expect(await salienceOf(api, id), `after ${lives}`).toBe(rounded(2 ** -lives))
    }
    made.nowMs = START_MS + 2 * halfLifeMs
    expect((await api.read(id)).salience).toBe(0.25)
    expect(await api.reinforce(id)).toMatchObject({ old_salience: 0.25 })
  })

  test("does not fade faster or slower because somebody looks", async () => {
    const { api, made } = await memoryRoom()
    const { id } = await api.create({ content: "a word", sector: "episodic" })
    for (let day = 1; day <= 45; day += 1) {
      made.advance(DAY_MS)
      await api.read(id)
      await api.search({ query: "word" })
      await api.list()
      await api.stats()
    }
    expect(await api.read(id)).toMatchObject({ salience: 0.5, access_count: 46 })
  })
})

describe("reinforcing", () => {
  test.each(Object.entries(BOOSTS))("with %s adds %d", async (profile, boost) => {
    const { api, made } = await memoryRoom()
    const { id } = await api.create({ content: "x", sector: "semantic" })
    made.advance(140 * DAY_MS)
    const before = await api.look(id)
    const answered = await api.reinforce(id, { profile })
    expect(answered).toEqual({
      id,
      old_salience: 0.5,
      new_salience: rounded(0.5 + boost),
      profile_used: profile,
      boost_applied: boost,
    })
    expect(await api.look(id)).toEqual({ ...before, salience: rounded(0.5 + boost) })
    // Stability has grown by boost * (0.5 + 0.5), which stretches the next half-life.
    made.advance(Math.round(140 * (1 + boost) * DAY_MS))
    expect(await salienceOf(api, id)).toBe(rounded((0.5 + boost) / 2))
  })

  test("is maintenance when nobody says how much, with a body and without", async () => {
    const { api, made } = await memoryRoom()
    for (const body of [undefined, {}]) {
      const { id } = await api.create({ content: "x", sector: "semantic" })
      made.advance(140 * DAY_MS)
      const answered = await api.reinforce(id, body)
      expect(answered).toMatchObject({ profile_used: "maintenance", boost_applied: 0.1, new_salience: 0.6 })
    }
  })

  test("never exceeds 1, says how much was applied, and still slows what follows", async () => {
    const { api, made } = await memoryRoom()
    const { id } = await api.create({ content: "x", sector: "episodic" })
    expect(await api.reinforce(id, { profile: "emergency" })).toMatchObject({
      old_salience: 1,
      new_salience: 1,
      boost_applied: 0,
    })
    made.advance(Math.round(45 * 1.125 * DAY_MS))
    expect(await salienceOf(api, id)).toBe(0.5)
    const again = await api.create({ content: "y", sector: "episodic" })
    made.advance(4.5 * DAY_MS)
    const before = 2 ** -0.1
    expect(await api.reinforce(again.id, { profile: "deep_learning" })).toMatchObject({
      old_salience: rounded(before),
      new_salience: 1,
      boost_applied: rounded(1 - before),
    })
  })

  test("stretches the half-life at most eightfold", async () => {
    const { api, made } = await memoryRoom()
    const { id } = await api.create({ content: "x", sector: "episodic" })
    for (let count = 0; count < 60; count += 1) await api.reinforce(id, { profile: "emergency" })
    made.advance(8 * 45 * DAY_MS)
    expect(await salienceOf(api, id)).toBe(0.5)
  })

  test("from many sides at once counts every time", async () => {
    const { api, made } = await memoryRoom()
    const { id } = await api.create({ content: "x", sector: "semantic" })
    made.advance(3 * 140 * DAY_MS)
    await Promise.all([...Array(8)].map(() => api.reinforce(id, { profile: "quick_refresh" })))
    expect(await salienceOf(api, id)).toBe(rounded(0.125 + 8 * 0.05))
  })

  test("touches neither the count of accesses nor the time of change", async () => {
    const { api, made } = await memoryRoom()
    const { id, updated_at } = await api.create({ content: "x" })
    made.advance(DAY_MS)
    await api.reinforce(id)
    expect(await api.look(id)).toMatchObject({ access_count: 0, last_accessed_at: null, updated_at })
  })
})

describe("pruning", () => {
  test("takes what is strictly below the threshold, and nothing at it", async () => {
    const { api, made } = await memoryRoom()
    const faded = await api.create({ content: "older", sector: "semantic" })
    made.advance(DAY_MS)
    const atIt = await api.create({ content: "just at it", sector: "semantic" })
    made.advance(140 * DAY_MS)
    const fresh = await api.create({ content: "new" })
    expect(await salienceOf(api, faded.id)).toBe(0.4975)
    expect(await salienceOf(api, atIt.id)).toBe(0.5)
    expect(await api.prune({ threshold: 0.5 })).toEqual({
      memories_pruned: 1,
      threshold_used: 0.5,
      sector_filter: null,
      dry_run: false,
    })
    expect((await api.list()).data.map(({ id }) => id)).toEqual([fresh.id, atIt.id])
    expect((await api.ask("GET", `/${faded.id}`)).status).toBe(404)
    made.advance(DAY_MS)
    expect((await api.prune({ threshold: 0.5 })).memories_pruned).toBe(1)
  })

  test("and searching go by the salience that is shown: 0.5000 is not below 0.5", async () => {
    const { api, made } = await memoryRoom()
    const { id } = await api.create({ content: "a word", sector: "semantic" })
    const found = async () => (await api.search({ query: "word", min_salience: 0.5 })).data.length
    // At 0.49995 four decimals turn from 0.5000 to 0.4999.
    const untilMs = Math.floor(-Math.log2(0.49995) * 140 * DAY_MS)
    made.advance(untilMs)
    expect(await salienceOf(api, id)).toBe(0.5)
    expect(await found()).toBe(1)
    expect((await api.prune({ threshold: 0.5 })).memories_pruned).toBe(0)
    made.advance(1)
    expect(await salienceOf(api, id)).toBe(0.4999)
    expect(await found()).toBe(0)
    expect((await api.prune({ threshold: 0.5 })).memories_pruned).toBe(1)
  })

  test("at 0 takes nothing however old, and at 1 spares only what is full", async () => {
    const { api, made } = await memoryRoom()
    const old = await api.create({ content: "old", sector: "episodic" })
    made.advance(100_000 * DAY_MS)
    await api.create({ content: "new" })
    expect(await salienceOf(api, old.id)).toBe(0)
    expect((await api.prune({ threshold: 0 })).memories_pruned).toBe(0)
    expect((await api.prune({ threshold: 1 })).memories_pruned).toBe(1)
    expect((await api.list()).data.map(({ content }) => content)).toEqual(["new"])
  })

  test("without a body takes what is below 0.1, of all sectors", async () => {
    const { api, made } = await memoryRoom()
    for (const sector of SECTORS) await api.create({ content: sector, sector })
    made.advance(90 * 3.4 * DAY_MS)
    const kept = SECTORS.filter((sector) => 2 ** (-306 / HALF_LIFE_DAYS[sector]) >= 0.1)
    expect(kept).toEqual(["semantic", "reflective"])
    expect(await api.prune()).toEqual({
      memories_pruned: 3,
      threshold_used: 0.1,
      sector_filter: null,
      dry_run: false,
    })
    expect((await api.list()).data.map(({ sector }) => sector).reverse()).toEqual(kept)
  })

  test("of one sector leaves the others", async () => {
    const { api, made } = await memoryRoom()
    for (const sector of SECTORS) await api.create({ content: sector, sector })
    made.advance(10_000 * DAY_MS)
    expect(await api.prune({ threshold: 1, sector: "procedural" })).toEqual({
      memories_pruned: 1,
      threshold_used: 1,
      sector_filter: "procedural",
      dry_run: false,
    })
    const left = (await api.list()).data.map(({ sector }) => sector)
    expect(left.sort()).toEqual(["emotional", "episodic", "reflective", "semantic"])
  })

  test("dry counts just what it would take, and takes nothing", async () => {
    const { api, made } = await memoryRoom()
    for (const sector of SECTORS) {
      for (let count = 0; count < 6; count += 1) {
        await api.create({ content: `${sector} ${count}`, sector, tags: ["t"] })
        made.advance(20 * DAY_MS)
      }
    }
    const before = (await api.list({ limit: "100" })).data
    for (const sector of [undefined, ...SECTORS]) {
      for (const threshold of [0, 0.1, 0.3, 0.5, 0.9, 1]) {
        const fading = before.filter(
          (one) => one.salience < threshold && (sector ?? one.sector) === one.sector,
        )
        const counted = await api.prune({ threshold, dry_run: true, ...(sector && { sector }) })
        expect(counted).toEqual({
          memories_pruned: fading.length,
          threshold_used: threshold,
          sector_filter: sector ?? null,
          dry_run: true,
        })
      }
    }
    expect((await api.list({ limit: "100" })).data).toEqual(before)
    for (const threshold of [0.1, 0.3, 0.9]) {
      const { memories_pruned: counted } = await api.prune({ threshold, dry_run: true, sector: "episodic" })
      const { memories_pruned: pruned } = await api.prune({ threshold, sector: "episodic" })
      expect(pruned).toBe(counted)
      expect((await api.prune({ threshold, sector: "episodic" })).memories_pruned).toBe(0)
    }
    const all = await api.prune({ threshold: 0.9, dry_run: true })
    expect((await api.prune({ threshold: 0.9 })).memories_pruned).toBe(all.memories_pruned)
  })

  test("counts what a reinforcement has saved as saved", async () => {
    const { api, made } = await memoryRoom()
    const { id } = await api.create({ content: "x", sector: "episodic" })
    await api.create({ content: "y", sector: "episodic" })
    made.advance(45 * 4 * DAY_MS)
    await api.reinforce(id)
    expect((await api.prune()).memories_pruned).toBe(1)
    expect((await api.list()).data.map((memory) => memory.id)).toEqual([id])
  })

  test("takes hundreds, from many sides at once, and counts each only once", async () => {
    const { api, made } = await memoryRoom()
    for (let batch = 0; batch < 26; batch += 1)
      await Promise.all([...Array(20).keys()].map((number) => api.create({ content: `${batch} ${number}` })))
    made.advance(10_000 * DAY_MS)
    await api.create({ content: "new" })
    const pruned = await Promise.all([1, 2, 3].map(() => api.prune({ threshold: 0.9 })))
    expect(pruned.reduce((sum, { memories_pruned }) => sum + memories_pruned, 0)).toBe(520)
    expect(await api.stats()).toMatchObject({ total_memories: 1, total_waypoints: 0 })
  })
})
