import fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { Memory } from "../../src/domain/memory.ts"
import { SECTORS } from "../../src/domain/memory.ts"
import { AppError } from "../../src/errors.ts"
import { MEMORY_LINE_BYTES_MAX } from "../../src/limits.ts"
import { connectFolder } from "../../src/operations/connect.ts"
import { localKey } from "../../src/operations/keys.ts"
import {
  changeMemory,
  createMemory,
  deleteMemory,
  readMemory,
  reinforceMemory,
} from "../../src/operations/memories.ts"
import {
  type MemoryRecord,
  memoryLine,
  readMemoryLine,
  splitLines,
} from "../../src/operations/memory-lines.ts"
import { listMemories, listMemoryWaypoints } from "../../src/operations/memory-listing.ts"
import {
  exportMemories,
  type ImportOptions,
  type ImportOutcome,
  idFrom,
  importMemories,
} from "../../src/operations/memory-transfer.ts"
import { memoryStatistics } from "../../src/operations/memory-upkeep.ts"
import type { TenantContext } from "../../src/operations/operation.ts"
import { type World, world } from "../support/world.ts"

const DAY_MS = 86_400_000

/** A repository whose memories are imported and exported; the time of each call is the world's. */
interface Place {
  made: World
  context(): TenantContext
}

async function place(made = world()): Promise<Place> {
  const { app } = await made.session()
  const key = await localKey(app)
  const repository = app.homeRepository
  if (repository === undefined) throw new Error("the world has a repository")
  return { made, context: () => ({ app, key, nowMs: made.nowMs, repository }) }
}

/** Another repository of the same database. */
async function beside({ made, context }: Place): Promise<Place> {
  const { app, key } = context()
  const repository = await connectFolder(app.db, made.folder, made.nowMs)
  return { made, context: () => ({ app, key, nowMs: made.nowMs, repository }) }
}

async function exported(
  { context }: Place,
  filter: Parameters<typeof exportMemories>[1] = {},
): Promise<string> {
  let text = ""
  for await (const page of exportMemories(context(), filter)) text += page.text
  return text
}

async function* chunked(content: string | Uint8Array, bytes = 64 * 1024): AsyncGenerator<Uint8Array> {
  const all = Buffer.from(content)
  for (let from = 0; from < all.length; from += bytes) yield all.subarray(from, from + bytes)
}

function imported(
  { context }: Place,
  content: string | Uint8Array,
  options: Partial<ImportOptions> = {},
): Promise<ImportOutcome> {
  return importMemories(context(), chunked(content), { replaces: false, dryRun: false, ...options })
}

async function all({ context }: Place): Promise<Memory[]> {
  return (await listMemories(context(), { limit: 100 })).memories
}

/** Fills a place with memories of every kind, with a past. */
async function filled(where: Place): Promise<Memory[]> {
  const { made, context } = where
  await createMemory(context(), { content: "We chose PostgreSQL because of its row level security." })
  const { memory } = await createMemory(context(), {
    content: "Decision: Postgres as the database,\r\nfor row security policies. \u2028 é 😀 \u0007",
    sector: "reflective",
    tags: ["db", "ünï code", "db"],
    source: "",
    metadata: { b: [1, { a: null }], a: 1e21, "": "x" },
  })
  made.advance(3 * DAY_MS + 1)
  await reinforceMemory(context(), memory.uuid, "deep_learning")
  await readMemory(context(), memory.uuid)
  made.advance(1_234)
  await changeMemory(context(), memory.uuid, { source: "adr-7" })
  await createMemory(context(), {
    content: "Images are resized in a queue.",
    sector: "emotional",
    tags: ["db"],
  })
  made.advance(DAY_MS)
  return all(where)
}

/** A memory without what belongs to its database alone. */
function record({ id: _, repositoryId: __, contentVersion: ___, embeddingStatus: ____, ...rest }: Memory) {
  return rest satisfies MemoryRecord
}

function lineOf(change: Record<string, unknown> = {}): string {
  const line = {
    id: "3d4f8d3c-6c5b-4d3e-9b1a-0123456789ab",
    content: "one",
    sector: "semantic",
    salience: { base: 1, anchor: "2026-01-01T00:00:00.000Z", stability: 1 },
    access_count: 0,
    tags: [],
    source: null,
    metadata: {},
    created_at: "2026-01-01T00:00:00.000Z",
    updated_at: "2026-01-01T00:00:00.000Z",
    last_accessed_at: null,
    ...change,
  }
  return `${JSON.stringify(line)}\n`
}

const uuidOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`

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
    const { averageSalience, bySector } = await memoryStatistics(from.context())
    expect(await memoryStatistics(to.context())).toMatchObject({ averageSalience, bySector })
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
    const near = await listMemoryWaypoints(context, postgres?.uuid ?? "", { limit: 9, weightMin: 0.5 })
    expect(near.total).toBe(1)
    expect(near.waypoints[0]?.memory.content).toContain("PostgreSQL")
    expect(await memoryStatistics(context)).toMatchObject({ total: 3, waypoints: 1, vectorsToday: 3 })
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
    expect(await memoryStatistics(where.context())).toMatchObject({ total: 3 })
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

describe("a bad line", () => {
  test("is named with its number, field and rule; the good ones around it are stored", async () => {
    const where = await place()
    const good = (number: number) => lineOf({ id: uuidOf(number), content: `good ${number}` })
    const outcome = await imported(
      where,
      `${good(1)}{"id": 1\n\n${lineOf({ content: " " })}${good(2)}${lineOf({ colour: "red" })}${good(3)}`,
    )
    expect(outcome).toMatchObject({ lines: 6, added: 3, bad: 3 })
    expect(outcome.notes).toEqual([
      { kind: "bad", line: 2, id: null, field: null, text: "is not valid JSON" },
      {
        kind: "bad",
        line: 4,
        id: "3d4f8d3c-6c5b-4d3e-9b1a-0123456789ab",
        field: "content",
        text: "content must not be blank",
      },
      expect.objectContaining({ line: 6, field: "colour", text: expect.stringContaining('"colour"') }),
    ])
    expect((await all(where)).map(({ content }) => content).sort()).toEqual(["good 1", "good 2", "good 3"])
  })

  const BAD: [field: string | null, rule: RegExp, change: Record<string, unknown>][] = [
    ["id", /UUID/, { id: "7" }],
    ["id", /required/, { id: undefined }],
    ["content", /at most 32,768/, { content: "x".repeat(32_769) }],
    ["content", /NUL/, { content: "a\0b" }],
    ["content", /Unicode/, { content: "\ud800" }],
    ["sector", /episodic, semantic, procedural, emotional, reflective/, { sector: "other" }],
    ["salience", /required/, { salience: undefined }],
    ["salience.base", /at most 1/, { salience: { base: 1.01, anchor: "2026-01-01", stability: 1 } }],
    ["salience.base", /at least 0/, { salience: { base: -0.01, anchor: "2026-01-01", stability: 1 } }],
    ["salience.stability", /at most 8/, { salience: { base: 1, anchor: "2026-01-01", stability: 8.01 } }],
    ["salience.stability", /at least 1/, { salience: { base: 1, anchor: "2026-01-01", stability: 0.99 } }],
    ["salience.anchor", /ISO 8601/, { salience: { base: 1, anchor: "yesterday", stability: 1 } }],
    [
      "salience.half",
      /"half"; allowed are: base, anchor, stability/,
      { salience: { base: 1, anchor: "2026-01-01", stability: 1, half: 1 } },
    ],
    ["access_count", /at least 0/, { access_count: -1 }],
    ["access_count", /integer/, { access_count: 1.5 }],
    ["tags", /at most 32/, { tags: Array.from({ length: 33 }, String) }],
    ["tags.0", /at most 64/, { tags: ["x".repeat(65)] }],
    ["source", /at most 512/, { source: "x".repeat(513) }],
    ["source", /required/, { source: undefined }],
    ["metadata", /object/, { metadata: [] }],
    ["metadata", /16,384 bytes/, { metadata: { x: "x".repeat(16_384) } }],
    ["created_at", /ISO 8601/, { created_at: "2026-02-30T00:00:00Z" }],
    ["updated_at", /string/, { updated_at: 1 }],
    ["last_accessed_at", /required/, { last_accessed_at: undefined }],
    ["embedding_status", /"embedding_status"/, { embedding_status: "completed" }],
  ]
  test.each(BAD)("breaks a rule for %s: %s", (field, rule, change) => {
    const read = readMemoryLine(lineOf(change))
    expect(read).toMatchObject({ problem: { field, text: expect.stringMatching(rule) } })
  })

  test.each([["[]"], ["null"], ['"text"'], ["7"]])("is no object: %s", (line) => {
    expect(readMemoryLine(line)).toEqual({ problem: { field: null, text: "must be a JSON object" } })
  })

  test("is nested more than 100 levels deep", () => {
    const nested = (depth: number) => JSON.parse("[".repeat(depth) + "]".repeat(depth)) as unknown
    expect(readMemoryLine(lineOf({ metadata: { deep: nested(98) } }))).toHaveProperty("record")
    expect(readMemoryLine(lineOf({ metadata: { deep: nested(99) } }))).toHaveProperty("problem")
  })

  test("is longer than a line may be, and is never held whole", async () => {
    const where = await place()
    const long = (bytes: number) => lineOf().trimEnd().padEnd(bytes, " ")
    const text = `${long(MEMORY_LINE_BYTES_MAX + 1)}\n${lineOf({ id: uuidOf(2) })}${long(MEMORY_LINE_BYTES_MAX)}`
    const outcome = await imported(where, text)
    expect(outcome).toMatchObject({ lines: 3, added: 2, bad: 1 })
    expect(outcome.notes).toMatchObject([{ line: 1, text: "must have at most 1,048,576 bytes" }])
  })

  test("is no UTF-8", async () => {
    const where = await place()
    const text = Buffer.concat([
      Buffer.from(lineOf()),
      Buffer.from([0xc3, 0x28, 0x0a]),
      Buffer.from(lineOf({ id: uuidOf(2) })),
    ])
    const outcome = await imported(where, text)
    expect(outcome).toMatchObject({ added: 2, bad: 1, notes: [{ line: 2, text: "is not valid UTF-8" }] })
  })

  test("is counted when a hundred others were named before", async () => {
    const where = await place()
    const outcome = await imported(where, "x\n".repeat(130))
    expect(outcome).toMatchObject({ lines: 130, bad: 130 })
    expect(outcome.notes.map(({ line }) => line)).toEqual(
      Array.from({ length: 100 }, (_, index) => index + 1),
    )
  })
})

describe("a file", () => {
  test("may have Windows line ends, a byte-order mark, empty lines and no end of its last line", async () => {
    const from = await place()
    await filled(from)
    const text = await exported(from)
    const to = await place()
    const windows = `\ufeff\r\n${text.replaceAll("\n", "\r\n\r\n").trimEnd()}`
    expect(await imported(to, windows)).toMatchObject({ lines: 3, added: 3, bad: 0 })
    expect(await exported(to)).toBe(text)
  })

  test("may name ids in capitals and times with a zone", async () => {
    const where = await place()
    const text = lineOf({ id: uuidOf(7).toUpperCase(), created_at: "2026-01-01T02:00:00+02:00" })
    expect(await imported(where, text)).toMatchObject({ added: 1 })
    expect(await all(where)).toMatchObject([
      { uuid: uuidOf(7), createdAtMs: Date.parse("2026-01-01T00:00:00Z") },
    ])
  })

  test("in UTF-16 is refused with what to do", async () => {
    const where = await place()
    const failure = await imported(where, Buffer.from(`\ufeff${lineOf()}`, "utf16le")).catch((error) => error)
    expect(failure).toBeInstanceOf(AppError)
    expect(failure).toMatchObject({ code: "invalid", text: expect.stringContaining("memory export <file>") })
  })

  test("with nothing in it is no error", async () => {
    expect(await imported(await place(), "\n \n")).toMatchObject({ lines: 0, added: 0, bad: 0 })
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
  expect((await memoryStatistics(where.context())).total).toBe(outcome.added)
  const rest = await imported(where, text.join(""))
  expect(rest).toMatchObject({ added: 350 - outcome.added, skipped: outcome.added, isStopped: false })
  expect((await exported(where)).split("\n")).toHaveLength(351)
})

test("an import that cannot be read to its end says so", async () => {
  const where = await place()
  const { context } = where
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(lineOf())
    throw new Error("the disk is gone")
  }
  const work = importMemories(context(), broken(), { replaces: false, dryRun: false })
  await expect(work).rejects.toThrow("the disk is gone")
})

const timeMs = fc.integer({
  min: Date.parse("0001-01-01T00:00:00Z"),
  max: Date.parse("9999-12-31T00:00:00Z"),
})
const wellFormed = (charsMax: number) =>
  fc.string({ unit: "binary", maxLength: charsMax }).map((text) => text.replaceAll("\0", ""))

const anyRecord: fc.Arbitrary<MemoryRecord> = fc.record({
  uuid: fc.uuid(),
  content: wellFormed(200).map((text) => `x${text}`),
  sector: fc.constantFrom(...SECTORS),
  salience: fc.record({
    base: fc.double({ min: 0, max: 1, noNaN: true }).map((value) => value + 0),
    anchorMs: timeMs,
    stability: fc.double({ min: 1, max: 8, noNaN: true }),
  }),
  accessCount: fc.nat(),
  tags: fc.array(
    wellFormed(20).map((text) => `x${text}`),
    { maxLength: 5 },
  ),
  source: fc.option(wellFormed(50)),
  metadata: fc.dictionary(
    fc.string({ maxLength: 5 }).filter((key) => key !== "__proto__"),
    fc
      .jsonValue({ maxDepth: 3 })
      .map((value) => JSON.parse(JSON.stringify(value).replaceAll('"__proto__"', '"p"'))),
    { noNullPrototype: true, maxKeys: 4 },
  ),
  createdAtMs: timeMs,
  updatedAtMs: timeMs,
  lastAccessedAtMs: fc.option(timeMs),
})

test("any memory reads back from its line as it was", () => {
  fc.assert(
    fc.property(anyRecord, (one) => {
      const line = memoryLine(one)
      expect(line.indexOf("\n")).toBe(line.length - 1)
      expect(readMemoryLine(line)).toEqual({ record: one })
    }),
  )
})

test("lines are the same however the bytes come in", async () => {
  const content = fc.string({ unit: fc.constantFrom("a", "é", "\n", "\r", "\u2028", "😀"), maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(content, fc.integer({ min: 1, max: 9 }), async (text, chunkBytes) => {
      const lines: string[] = []
      let bytesRead = 0
      for await (const line of splitLines(chunked(text, chunkBytes), 1_000)) {
        lines.push(Buffer.from(line.bytes ?? []).toString())
        expect(line.number).toBe(lines.length)
        expect(line.bytesRead).toBeGreaterThan(bytesRead)
        bytesRead = line.bytesRead
      }
      const expected = text.split("\n")
      if (expected.at(-1) === "") expected.pop()
      expect(lines).toEqual(expected)
      expect(bytesRead).toBe(Buffer.byteLength(text))
    }),
  )
})
