import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { MEMORY_LINE_BYTES_MAX } from "../../../src/config/limits.ts"
import { SECTORS } from "../../../src/domain/memory/memory.ts"
import { AppError } from "../../../src/errors.ts"
import {
  type MemoryRecord,
  memoryLine,
  readMemoryLine,
  splitLines,
} from "../../../src/operations/memory/lines.ts"
import { importMemories } from "../../../src/operations/memory/transfer.ts"
import { all, chunked, exported, filled, imported, lineOf, place, uuidOf } from "./transfer-place.ts"

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
