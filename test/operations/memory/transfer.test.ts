import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { listMemoryWaypoints } from "../../../src/operations/memory/listing.ts"
import {
  changeMemory,
  createMemory,
  deleteMemory,
  readMemory,
} from "../../../src/operations/memory/memories.ts"
import { type exportMemories, idFrom } from "../../../src/operations/memory/transfer.ts"
import { memoryStatistics } from "../../../src/operations/memory/upkeep.ts"
import { all, beside, exported, filled, imported, lineOf, place, record, uuidOf } from "./transfer-place.ts"

describe("export and import", () => {
  test("give the same memories in an empty database: ids, order, times, saliences and all", async () => {
    const from = await place()
    const memories = await filled(from)
    expect(memories).toHaveLength(3)
    const to = await place()
    to.made.nowMs = from.made.nowMs
    const outcome = await imported(to, await exported(from))
    expect(outcome).toMatchObject({ lines: 3, added: 3, skipped: 0, bad: 0, renamed: 0, isStopped: false })
    expect((await all(to)).map(record)).toEqual(memories.map(record))
    expect(await exported(to)).toBe(await exported(from))
    const { avg_salience, by_sector } = await memoryStatistics(from.context())
    expect(await memoryStatistics(to.context())).toMatchObject({ avg_salience, by_sector })
  })

  test("keep the order of memories that were created in the same millisecond", async () => {
    const from = await place()
    for (let number = 0; number < 230; number += 1)
      await createMemory(from.context(), { content: `note ${number}`, sector: "semantic" })
    const to = await place()
    expect(await imported(to, await exported(from))).toMatchObject({ added: 230 })
    expect((await all(to)).map(({ uuid }) => uuid)).toEqual((await all(from)).map(({ uuid }) => uuid))
    expect(await exported(to)).toBe(await exported(from))
  })

  test("write one memory a line with just these fields, the oldest first, times in milliseconds", async () => {
    const from = await place()
    const memories = await filled(from)
    const text = await exported(from)
    expect(text.endsWith("\n")).toBe(true)
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(lines.map(({ id }) => id)).toEqual(memories.map(({ uuid }) => uuid).reverse())
    expect(lines[1]).toEqual({
      id: memories[1]?.uuid,
      content: "Decision: Postgres as the database,\r\nfor row security policies. \u2028 é 😀 \u0007",
      sector: "reflective",
      salience: { base: 1, anchor: "2026-03-13T12:00:00.001Z", stability: expect.closeTo(1.0754, 3) },
      access_count: 1,
      tags: ["db", "ünï code", "db"],
      source: "adr-7",
      metadata: { b: [1, { a: null }], a: 1e21, "": "x" },
      created_at: "2026-03-10T12:00:00.000Z",
      updated_at: "2026-03-13T12:00:01.235Z",
      last_accessed_at: "2026-03-13T12:00:00.001Z",
    })
  })

  test("take a sector or a tag alone when they are asked to", async () => {
    const from = await place()
    await filled(from)
    const contents = async (filter: Parameters<typeof exportMemories>[1]) =>
      (await exported(from, filter))
        .split("\n")
        .flatMap((line) => (line === "" ? [] : [JSON.parse(line).sector]))
    expect(await contents({ tag: "db" })).toEqual(["reflective", "emotional"])
    expect(await contents({ tag: "db", sector: "emotional" })).toEqual(["emotional"])
    expect(await contents({ tag: "d" })).toEqual([])
  })

  test("make words, vectors and waypoints anew", async () => {
    const from = await place()
    await filled(from)
    const to = await place()
    await imported(to, await exported(from))
    const context = to.context()
    const postgres = (await all(to)).find(({ sector }) => sector === "reflective")
    expect(postgres?.embeddingStatus).toBe("completed")
    const words = await context.app.memories.findByWords(
      context.app.db,
      ["policies"],
      {
        repositoryId: context.repository.id,
        sector: null,
        tags: [],
        salienceMin: 0,
        halfLives: context.app.config.halfLives,
        nowMs: context.nowMs,
      },
      10,
    )
    expect(words.map(({ id }) => id)).toEqual([postgres?.id])
    const near = await listMemoryWaypoints(context, postgres?.uuid ?? "", { limit: 9, min_weight: 0.5 })
    expect(near.total).toBe(1)
    expect(near.waypoints[0]?.memory.content).toContain("PostgreSQL")
    expect(await memoryStatistics(context)).toMatchObject({
      total_memories: 3,
      total_waypoints: 1,
      embeddings_today: 3,
    })
  })
})

describe("import again", () => {
  test("passes over what is there, also what was used since, and adds the rest", async () => {
    const where = await place()
    const [latest] = await filled(where)
    const text = await exported(where)
    expect(await imported(where, text)).toMatchObject({ lines: 3, added: 0, skipped: 3, usedSince: 0 })
    await readMemory(where.context(), latest?.uuid ?? "")
    expect(await imported(where, text)).toMatchObject({ skipped: 3, usedSince: 1, differing: 0, notes: [] })
    await deleteMemory(where.context(), latest?.uuid ?? "")
    expect(await imported(where, text)).toMatchObject({ added: 1, skipped: 2 })
    expect(await exported(where)).toBe(text)
  })

  test("leaves alone what differs and names its fields, unless it is to be replaced", async () => {
    const where = await place()
    const [latest] = await filled(where)
    const uuid = latest?.uuid ?? ""
    const text = await exported(where)
    await changeMemory(where.context(), uuid, { content: "Pictures are scaled at once.", tags: [] })
    const changed = await exported(where)
    const outcome = await imported(where, text)
    expect(outcome).toMatchObject({ added: 0, replaced: 0, skipped: 2, differing: 1 })
    expect(outcome.notes).toEqual([
      {
        kind: "differs",
        line: 3,
        id: uuid,
        field: "content",
        text: expect.stringContaining("content, tags"),
      },
    ])
    expect(await exported(where)).toBe(changed)
    expect(await imported(where, text, { replaces: true })).toMatchObject({
      replaced: 1,
      skipped: 2,
      notes: [],
    })
    expect(await exported(where)).toBe(text)
    expect(await memoryStatistics(where.context())).toMatchObject({ total_memories: 3 })
  })

  test("takes the first of two lines with one id", async () => {
    const where = await place()
    const outcome = await imported(where, lineOf() + lineOf() + lineOf({ content: "two" }))
    expect(outcome).toMatchObject({ lines: 3, added: 1, skipped: 1, differing: 1 })
    expect((await all(where)).map(({ content }) => content)).toEqual(["one"])
  })

  test("does not mind the order of keys in metadata", async () => {
    const where = await place()
    await imported(where, lineOf({ metadata: { a: 1, b: { c: 2, d: 3 } } }))
    expect(await imported(where, lineOf({ metadata: { b: { d: 3, c: 2 }, a: 1 } }))).toMatchObject({
      skipped: 1,
    })
    expect(await imported(where, lineOf({ metadata: { b: { d: 3, c: 4 }, a: 1 } }))).toMatchObject({
      differing: 1,
    })
  })
})

describe("an id that another repository has", () => {
  test("gets a new one, which is said, and the same one every time", async () => {
    const from = await place()
    const memories = await filled(from)
    const text = await exported(from)
    const to = await beside(from)
    const outcome = await imported(to, text)
    expect(outcome).toMatchObject({ added: 3, renamed: 3, skipped: 0 })
    const ids = (await all(to)).map(({ uuid }) => uuid)
    expect(ids).toEqual(memories.map(({ uuid }) => idFrom(uuid, to.context().repository.id)))
    for (const [index, { uuid }] of [...memories].reverse().entries()) {
      const note = outcome.notes[index]
      expect(note).toMatchObject({ kind: "renamed", line: index + 1, id: uuid })
      expect(note?.text).toContain(idFrom(uuid, to.context().repository.id))
    }
    expect(await imported(to, text)).toMatchObject({ added: 0, renamed: 3, skipped: 3 })
    expect(await exported(from)).toBe(text)
  })

  test("keeps the new one when the other repository's memory is gone", async () => {
    const from = await place()
    const memories = await filled(from)
    const text = await exported(from)
    const to = await beside(from)
    await imported(to, text)
    for (const { uuid } of memories) await deleteMemory(from.context(), uuid)
    expect(await imported(to, text)).toMatchObject({ added: 0, skipped: 3 })
  })

  test("is a UUID of version 5 that differs by repository", () => {
    fc.assert(
      fc.property(fc.uuid(), fc.integer({ min: 1, max: 1_000 }), (uuid, repositoryId) => {
        const made = idFrom(uuid, repositoryId)
        expect(made).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
        expect(idFrom(uuid, repositoryId)).toBe(made)
        expect(idFrom(uuid, repositoryId + 1)).not.toBe(made)
      }),
    )
  })
})

test("a dry run says what would happen and stores nothing", async () => {
  const from = await place()
  const [latest] = await filled(from)
  const text = await exported(from)
  await changeMemory(from.context(), latest?.uuid ?? "", { tags: ["other"] })
  const before = await exported(from)
  const file = `${text}x\n${lineOf()}`
  const options = { dryRun: true }
  expect(await imported(from, file, options)).toMatchObject({ added: 1, skipped: 2, differing: 1, bad: 1 })
  expect(await imported(from, file, { ...options, replaces: true })).toMatchObject({
    replaced: 1,
    differing: 0,
  })
  expect(await exported(from)).toBe(before)
})

test("an import that is stopped keeps what it has stored, and goes on when it is started again", async () => {
  const where = await place()
  const text = Array.from({ length: 350 }, (_, number) =>
    lineOf({ id: uuidOf(number), content: `note ${number}` }),
  )
  const stop = new AbortController()
  const outcome = await imported(where, text.join(""), {
    signal: stop.signal,
    onProgress: ({ lines }) => {
      if (lines >= 200) stop.abort()
    },
  })
  expect(outcome.isStopped).toBe(true)
  expect(outcome.added).toBeGreaterThanOrEqual(200)
  expect(outcome.added).toBeLessThan(350)
  expect(outcome.lines).toBe(outcome.added)
  expect((await memoryStatistics(where.context())).total_memories).toBe(outcome.added)
  const rest = await imported(where, text.join(""))
  expect(rest).toMatchObject({ added: 350 - outcome.added, skipped: outcome.added, isStopped: false })
  expect((await exported(where)).split("\n")).toHaveLength(351)
})
