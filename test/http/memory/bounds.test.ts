/** Every bound of what the memory API takes, on both sides, and how it says what is wrong. */

import { describe, expect, test } from "vitest"
import { expectError, withMemory, withoutChange } from "../../support/memories.ts"

const KIB = 1024
const list = (count: number, entry: (index: number) => unknown) => [...Array(count).keys()].map(entry)

/** Returns metadata whose JSON in UTF-8 takes this many bytes, of the given filling. */
function metadataOf(bytes: number, filling: string): Record<string, string> {
  const room = bytes - Buffer.byteLength('{"a":""}')
  const perPiece = Buffer.byteLength(JSON.stringify(filling)) - 2
  const pieces = Math.floor(room / perPiece)
  const made = { a: filling.repeat(pieces) + "x".repeat(room - pieces * perPiece) }
  expect(Buffer.byteLength(JSON.stringify(made))).toBe(bytes)
  return made
}

/** What a draft or a change may say of each field. */
const GOOD_FIELDS: [field: string, value: unknown][] = [
  ["content", "a"],
  ["content", "\u200b"],
  ["content", "x".repeat(32_768)],
  ["content", `${"word ".repeat(6_553)}end`],
  // A character is a code point, whatever it takes up.
  ["content", "😀".repeat(32_768)],
  ["tags", ["😀".repeat(64)]],
  ["source", "😀".repeat(512)],
  ["tags", []],
  ["tags", ["t"]],
  ["tags", list(32, (index) => `tag ${index}`)],
  ["tags", list(32, (index) => `${index}`.padEnd(64, "x"))],
  ["source", ""],
  ["source", " "],
  ["source", "s".repeat(512)],
  ["metadata", {}],
  ["metadata", metadataOf(16 * KIB, "x")],
  ["metadata", metadataOf(16 * KIB, "é")],
  ["metadata", metadataOf(16 * KIB, "\u0001")],
  ["metadata", metadataOf(16 * KIB, '"')],
  ["metadata", metadataOf(16 * KIB, "😀")],
]

/** What neither may say: the field, its value, and a word of the rule that it breaks. */
const BAD_FIELDS: [field: string, value: unknown, rule: RegExp][] = [
  ["content", "", /at least 1 character/],
  ["content", " ", /blank/],
  ["content", "\n\t\u00a0\u2003\ufeff", /blank/],
  ["content", "a\0b", /NUL/],
  ["content", "\0", /NUL/],
  ["content", "a \ud800 b", /Unicode/],
  ["content", "\udc00\ud800", /Unicode/],
  ["content", "x".repeat(32_769), /at most 32,768 characters \(got 32,769\)/],
  ["content", "😀".repeat(32_769), /at most 32,768 characters \(got 32,769\)/],
  ["tags", ["😀".repeat(65)], /at most 64 characters \(got 65\)/],
  ["source", "😀".repeat(513), /at most 512 characters \(got 513\)/],
  ["content", 1, /string/],
  ["content", true, /string/],
  ["content", ["x"], /string/],
  ["content", { text: "x" }, /string/],
  ["tags", list(33, (index) => `tag ${index}`), /at most 32 entries/],
  ["tags", [""], /at least 1 character/],
  ["tags", ["t", "x".repeat(65)], /at most 64 characters/],
  ["tags", [" "], /blank/],
  ["tags", ["a\0"], /NUL/],
  ["tags", ["\udfff"], /Unicode/],
  ["tags", "t", /array/],
  ["tags", { 0: "t" }, /array/],
  ["tags", [1], /string/],
  ["tags", [null], /string/],
  ["tags", [["t"]], /string/],
  ["source", "s".repeat(513), /at most 512 characters/],
  ["source", "a\0", /NUL/],
  ["source", "\ud83d", /Unicode/],
  ["source", 7, /string/],
  ["source", ["s"], /string/],
  ["metadata", metadataOf(16 * KIB + 1, "x"), /at most 16,384 bytes/],
  ["metadata", metadataOf(16 * KIB + 1, "é"), /at most 16,384 bytes/],
  ["metadata", metadataOf(16 * KIB + 1, "\u0001"), /at most 16,384 bytes/],
  ["metadata", metadataOf(16 * KIB + 1, "😀"), /at most 16,384 bytes/],
  ["metadata", [], /object/],
  ["metadata", [{ a: 1 }], /object/],
  ["metadata", "{}", /object/],
  ["metadata", 0, /object/],
  ["metadata", false, /object/],
]

const SECTOR_LIST = /episodic.*semantic.*procedural.*emotional.*reflective/
const BAD_SECTORS = ["", "Semantic", "SEMANTIC", " semantic", "other", 1, ["semantic"], {}, true]

/** Bodies that are JSON and no object, or no JSON at all. */
const NO_OBJECTS = ["[]", "null", "1", '"content"', "true", '[{"content":"x"}]']
const MALFORMED: (string | Buffer)[] = [
  "{",
  '{"content":"x"',
  "{'content':'x'}",
  '{"content":"x",}',
  '{"content":"x"} x',
  '{"content":"\u0001"}',
  "undefined",
  "NaN",
  " ",
  Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
]

const named = ([field, value]: [string, unknown, ...unknown[]]) =>
  `${field} ${(JSON.stringify(value) ?? "").slice(0, 60)}`

describe("creating and changing", () => {
  test("takes every field up to its bound, and gives it back", async () => {
    const { api, id } = await withMemory()
    for (const [field, value] of GOOD_FIELDS) {
      const created = await api.create({ content: "x", [field]: value })
      expect(created, named([field, value])).toMatchObject({ [field]: value })
      await api.change(id, { [field]: value })
      expect(await api.read(id), named([field, value])).toMatchObject({ [field]: value })
    }
  })

  test("refuses what is beyond with 422, names the field and the rule, and stores nothing", async () => {
    const room = await withMemory()
    await withoutChange(room, async () => {
      for (const [field, value, rule] of BAD_FIELDS) {
        const body = JSON.stringify({ content: "x", [field]: value })
        for (const reply of [
          await room.api.ask("POST", "", body),
          await room.api.ask("PATCH", `/${room.id}`, body),
        ]) {
          const { message, errors } = expectError(reply, 422, [field])
          expect(message, named([field, value])).toMatch(rule)
          expect(errors?.[field]?.join(), named([field, value])).toMatch(rule)
        }
      }
    })
  })

  test("refuses another sector with 422 and lists the five", async () => {
    const room = await withMemory()
    await withoutChange(room, async () => {
      for (const sector of BAD_SECTORS) {
        const reply = await room.api.ask("POST", "", { content: "x", sector })
        const { message, errors } = expectError(reply, 422, ["sector"])
        expect(message).toMatch(SECTOR_LIST)
        expect(errors?.sector).toEqual([expect.stringMatching(SECTOR_LIST)])
      }
    })
  })

  test("refuses any sector in a change with 422, the memory's own too", async () => {
    const room = await withMemory()
    await withoutChange(room, async () => {
      for (const sector of ["semantic", "episodic", null, ...BAD_SECTORS])
        expectError(await room.api.ask("PATCH", `/${room.id}`, { content: "y", sector }), 422, ["sector"])
    })
  })

  test("takes null for an optional field of a new memory as not given", async () => {
    const { api } = await withMemory()
    const nothing = { sector: null, tags: null, source: null, metadata: null }
    const created = await api.create({ content: "Nothing but a content.", ...nothing })
    expect(created).toMatchObject({ tags: [], source: null, metadata: {}, sector_inferred: true })
  })

  test("takes away with null what an optional field of a memory held, and leaves the others", async () => {
    const { api, id } = await withMemory()
    const full = { tags: ["t"], source: "s", metadata: { a: 1 } }
    for (const [field, empty] of [
      ["tags", []],
      ["source", null],
      ["metadata", {}],
    ] as const) {
      await api.change(id, full)
      await api.change(id, { [field]: null })
      expect(await api.read(id)).toMatchObject({ content: "kept", ...full, [field]: empty })
    }
  })

  test("refuses to take a content away with 422", async () => {
    const room = await withMemory()
    await withoutChange(room, async () => {
      expectError(await room.api.ask("POST", "", { content: null }), 422, ["content"])
      expectError(await room.api.ask("PATCH", `/${room.id}`, { content: null }), 422, ["content"])
    })
  })

  test("names every field at fault at once", async () => {
    const room = await withMemory()
    await withoutChange(room, async () => {
      const body = { content: "", tags: [1, " "], source: 1, metadata: [], sector: "no" }
      const fields = ["content", "metadata", "sector", "source", "tags"]
      const { errors } = expectError(await room.api.ask("POST", "", body), 422, fields)
      expect(errors?.tags).toHaveLength(2)
      expectError(await room.api.ask("PATCH", `/${room.id}`, body), 422, fields)
    })
  })

  test("needs a content in a new memory", async () => {
    const room = await withMemory()
    await withoutChange(room, async () => {
      for (const body of [undefined, "", "{}", '{"sector":"semantic"}']) {
        const { message } = expectError(await room.api.ask("POST", "", body), 422, ["content"])
        expect(message).toContain("required")
      }
    })
  })
})

/** The operations that take a body: what they need to be content with it, and the status of a bad one. */
const BODIES: [name: string, method: string, path: (id: string) => string, good: object, status: number][] = [
  ["create", "POST", () => "", { content: "x" }, 422],
  ["search", "POST", () => "/search", { query: "kept" }, 400],
  ["update", "PATCH", (id) => `/${id}`, {}, 422],
  ["reinforce", "POST", (id) => `/${id}/reinforce`, {}, 422],
  ["prune", "POST", () => "/prune", { dry_run: true }, 422],
]

describe.each(BODIES)("the body of %s", (_, method, path, good, status) => {
  test("has no fields but its own; each that is unknown is named", async () => {
    const room = await withMemory()
    await withoutChange(room, async () => {
      for (const [body, fields] of [
        [{ ...good, colour: "red" }, ["colour"]],
        [{ ...good, colour: null, id: room.id }, ["colour", "id"]],
        [{ ...good, constructor: 1, toString: 2 }, ["constructor", "toString"]],
        [{ ...good, "": 1 }, [""]],
        [
          { ...good, salience: 0.5, access_count: 3, created_at: "2020-01-01T00:00:00Z" },
          ["access_count", "created_at", "salience"],
        ],
      ] as [object, string[]][]) {
        const { message } = expectError(await room.api.ask(method, path(room.id), body), status, fields)
        for (const field of fields) expect(message).toContain(`"${field}"`)
      }
    })
  })

  test("does not let __proto__ pass as if it were nothing", async () => {
    const room = await withMemory()
    await withoutChange(room, async () => {
      const body = `{"__proto__":{"content":"y"},${JSON.stringify({ ...good, zzz: 1 }).slice(1)}`
      expectError(await room.api.ask(method, path(room.id), body), status, ["__proto__", "zzz"])
    })
  })

  test("is an object, else refused", async () => {
    const room = await withMemory()
    await withoutChange(room, async () => {
      for (const body of NO_OBJECTS) {
        const { message } = expectError(await room.api.ask(method, path(room.id), body), status)
        expect(message).toContain("object")
      }
    })
  })

  test("is JSON in UTF-8 of bounded depth and size, else 400, 413 or 415", async () => {
    const room = await withMemory()
    await withoutChange(room, async () => {
      const ask = (body: string | Buffer) => room.api.ask(method, path(room.id), body)
      for (const body of MALFORMED) {
        const { message } = expectError(await ask(body), 400)
        expect(message).toContain("JSON")
      }
      const deep = `{"metadata":{"a":${"[".repeat(5_000)}${"]".repeat(5_000)}}}`
      expect(expectError(await ask(deep), 400).message).toContain("100 levels")
      expectError(await ask(`{"content":"${"x".repeat(1_100_000)}"}`), 413)
      const typed = await room.http.send(`/api/v1/memories${path(room.id)}`, {
        method,
        body: "{}",
        headers: { "content-type": "text/plain", "x-tenant-id": "1" },
      })
      expectError(typed, 415)
    })
  })
})
