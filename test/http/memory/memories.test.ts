/** Single memories over HTTP: what is stored comes back as it was given, and changes only when somebody changes it. */

import { describe, expect, test } from "vitest"
import { DAY_MS, expectError, type MemoryRoom, memoryRoom, NO_ID } from "../../support/memories.ts"
import { START_MS } from "../../support/world.ts"

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const MEMORY_FIELDS = [
  "access_count",
  "content",
  "created_at",
  "embedding_status",
  "id",
  "last_accessed_at",
  "metadata",
  "salience",
  "sector",
  "source",
  "tags",
  "updated_at",
]

/** Texts that something on the way could change. */
const TRICKY_TEXTS = [
  "  leading and trailing blanks \t\n",
  "\uFEFFa byte order mark",
  "line one\r\nline two\rline three\nline four\u2028five\u2029six\u0085seven",
  "emoji 👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 and 𝒳 beyond the first plane",
  `control ${[...Array(31).keys()].map((code) => String.fromCharCode(code + 1)).join("")}\u007f\u009f`,
  '{"content":"JSON","tags":["x"],"n":1e3,"q":"\\"\\\\u0041"}',
  "Robert'); DROP TABLE memories;-- \" ' ` % _ \\ ? ?1 :name $1 @x",
  "عربي \u202Eoverride\u202C עברית \u200Fmark",
  "e\u0301 and \u00e9, Å and Å, ﬁ, İ, ß, Ａ, ①",
  'NEAR(a b) "quoted" AND OR NOT -word prefix* column: ^ ( ) { } +',
  "<script>alert(1)</script>&amp;&#65;%41%00+",
  "日本語のテキスト、한국어, ไทย",
  "\uFFFD\uFFFE\uFFFF\uFDD0 noncharacters and a private one \uE000",
  "null",
  "__proto__",
]

/** Metadata that something on the way could change. */
const TRICKY_METADATA: Record<string, unknown> = {
  "": "an empty name",
  "a.b": { "c d": [1, -1.5, 1e-7, 1e21, 0.1, true, false, null, [], {}] },
  constructor: { prototype: "x" },
  toString: 1,
  length: 3,
  id: "not the id",
  content: "not the content",
  "\u0000name": "\u0000value \ud800 half",
  "naïve 🎉": TRICKY_TEXTS,
  deep: [[[[[[[[[["ten"]]]]]]]]]],
}

describe("creating", () => {
  test("answers 201 with the whole memory, at its defaults, and nothing else", async () => {
    const { api, made } = await memoryRoom()
    made.advance(123)
    const reply = await api.ask("POST", "", { content: "The moon is far away." })
    expect(reply.status).toBe(201)
    expect(Object.keys(reply.json as object)).toEqual(["data"])
    const { data } = reply.json as { data: Record<string, unknown> }
    expect(Object.keys(data).sort()).toEqual([...MEMORY_FIELDS, "sector_inferred"].sort())
    expect(data).toEqual({
      id: expect.stringMatching(UUID),
      content: "The moon is far away.",
      sector: "semantic",
      sector_inferred: true,
      salience: 1,
      access_count: 0,
      tags: [],
      source: null,
      metadata: {},
      embedding_status: "completed",
      created_at: "2026-03-10T12:00:00.123Z",
      updated_at: "2026-03-10T12:00:00.123Z",
      last_accessed_at: null,
    })
  })

  test("takes everything that is given", async () => {
    const { api } = await memoryRoom()
    const draft = {
      content: "Run the migrations first.",
      sector: "emotional",
      tags: ["b", "a", "Ä"],
      source: "a talk",
      metadata: { n: 1 },
    }
    const created = await api.create(draft)
    expect(created).toMatchObject({ ...draft, sector_inferred: false })
    const { sector_inferred: _, ...rest } = created
    expect(await api.look(created.id)).toEqual(rest)
  })

  test.each(["episodic", "semantic", "procedural", "emotional", "reflective"])(
    "in the sector %s keeps that sector, whatever the words say",
    async (sector) => {
      const { api } = await memoryRoom()
      const created = await api.create({ content: "Yesterday I was so happy about the steps.", sector })
      expect(created).toMatchObject({ sector, sector_inferred: false })
    },
  )

  test("the same content twice makes two memories", async () => {
    const { api } = await memoryRoom()
    const [one, other] = [await api.create({ content: "same" }), await api.create({ content: "same" })]
    expect(one.id).not.toBe(other.id)
    expect((await api.stats()).total_memories).toBe(2)
    await api.remove(one.id)
    expect((await api.list()).data.map(({ id }) => id)).toEqual([other.id])
  })

  test("many at once loses none and mixes none up", async () => {
    const { api } = await memoryRoom()
    const numbers = [...Array(40).keys()]
    const created = await Promise.all(
      numbers.map((number) => api.create({ content: `memory ${number}`, tags: [`tag ${number}`] })),
    )
    expect(created.map(({ content, tags }) => [content, tags])).toEqual(
      numbers.map((number) => [`memory ${number}`, [`tag ${number}`]]),
    )
    const listed = (await api.list({ limit: "100" })).data
    expect(new Set(listed.map(({ id }) => id))).toEqual(new Set(created.map(({ id }) => id)))
  })
})

describe("what was stored", () => {
  test("comes back as it was given, in every field and from every operation", async () => {
    const { api } = await memoryRoom()
    for (const content of TRICKY_TEXTS) {
      const shown = JSON.stringify(content)
      const tag = content.slice(0, 64)
      const draft = { content, source: content, tags: [tag], metadata: { text: content } }
      const { id, ...created } = await api.create(draft)
      expect(created, shown).toMatchObject(draft)
      expect(await api.read(id), shown).toMatchObject(draft)
      expect((await api.list({ tag })).data, shown).toMatchObject([{ id, ...draft }])
      await api.remove(id)
      const changed = await api.create({ content: "before" })
      expect(await api.change(changed.id, draft), shown).toMatchObject({ content, tags: [tag] })
      expect(await api.read(changed.id), shown).toMatchObject(draft)
      expect((await api.list({ tag })).data, shown).toMatchObject([{ id: changed.id }])
    }
  })

  test("comes back with just the metadata that was given", async () => {
    const { api } = await memoryRoom()
    const written = JSON.stringify(TRICKY_METADATA)
    const { id, metadata } = await api.create({ content: "x", metadata: TRICKY_METADATA })
    expect(JSON.stringify(metadata)).toBe(written)
    expect(JSON.stringify((await api.read(id)).metadata)).toBe(written)
    expect(JSON.stringify((await api.list()).data[0]?.metadata)).toBe(written)
    const other = await api.create({ content: "y" })
    await api.change(other.id, { metadata: TRICKY_METADATA })
    expect(JSON.stringify((await api.read(other.id)).metadata)).toBe(written)
  })

  test("keeps metadata named __proto__, at the top and below", async () => {
    const { api } = await memoryRoom()
    const metadata = '{"__proto__":{"a":1},"below":{"__proto__":2}}'
    const reply = await api.ask("POST", "", `{"content":"x","metadata":${metadata}}`)
    expect(reply.status, reply.text).toBe(201)
    expect(reply.text).toContain(metadata)
    expect((await api.ask("GET")).text).toContain(metadata)
    const { id } = await api.create({ content: "y" })
    await api.ask("PATCH", `/${id}`, `{"metadata":${metadata}}`)
    expect((await api.ask("GET", `/${id}`)).text).toContain(metadata)
  })

  test("keeps the tags in their order, with repeats, whatever they look like", async () => {
    const { api } = await memoryRoom()
    const tags = ["b", "a", "b", " a", "a ", "A", "á", "a\u0301", '"', "[]", "%", "_", "a,b", "😀"]
    const { id } = await api.create({ content: "x", tags })
    expect((await api.read(id)).tags).toEqual(tags)
    for (const tag of tags)
      expect(
        (await api.list({ tag })).data.map((memory) => memory.id),
        tag,
      ).toEqual([id])
    for (const tag of ["B", "a  ", "à", "%%"]) expect((await api.list({ tag })).data, tag).toEqual([])
  })
})

describe("reading", () => {
  test("of an id that is no UUID finds nothing, and the answer says what an id is", async () => {
    const { api } = await memoryRoom()
    const { message } = expectError(await api.ask("GET", "/not-a-uuid"), 404)
    expect(message).toContain("id must be the id of a memory, a UUID")
  })

  test("counts the access, shows it, and changes nothing else", async () => {
    const { api, made } = await memoryRoom()
    const { sector_inferred: _, ...created } = await api.create({ content: "x", tags: ["t"] })
    made.advance(1_000)
    const first = await api.read(created.id)
    expect(first).toEqual({ ...created, access_count: 1, last_accessed_at: "2026-03-10T12:00:01.000Z" })
    expect(Object.keys(first).sort()).toEqual(MEMORY_FIELDS)
    made.advance(1_000)
    expect(await api.read(created.id)).toEqual({
      ...created,
      access_count: 2,
      last_accessed_at: "2026-03-10T12:00:02.000Z",
    })
  })

  test("is the only thing that counts as an access", async () => {
    const { api } = await memoryRoom()
    const { id } = await api.create({ content: "a word", tags: ["t"] })
    const other = await api.create({ content: "a word too" })
    await api.list()
    await api.list({ tag: "t" })
    await api.search({ query: "word" })
    await api.waypoints(other.id, "?min_weight=0")
    await api.change(id, { tags: ["u"] })
    await api.change(id, {})
    await api.reinforce(id)
    await api.stats()
    await api.prune({ dry_run: true })
    const head = await api.ask("HEAD", `/${id}`)
    expect([head.status, head.text]).toEqual([200, ""])
    expect((await api.ask("HEAD", `/${NO_ID}`)).status).toBe(404)
    expect(await api.look(id)).toMatchObject({ access_count: 0, last_accessed_at: null })
  })

  test("fifty times at once counts fifty accesses", async () => {
    const { api } = await memoryRoom()
    const { id } = await api.create({ content: "x" })
    const counts = await Promise.all([...Array(50)].map(async () => (await api.read(id)).access_count))
    expect(counts.sort((one, other) => one - other)).toEqual([...Array(50).keys()].map((index) => index + 1))
  })

  test("finds an id in upper case", async () => {
    const { api } = await memoryRoom()
    const { id } = await api.create({ content: "x" })
    const upper = id.toUpperCase()
    expect((await api.read(upper)).id).toBe(id)
    expect((await api.change(upper, { source: "s" })).id).toBe(id)
    expect((await api.reinforce(upper)).id).toBe(id)
    expect((await api.waypoints(upper)).data).toEqual([])
    await api.remove(upper)
    expect((await api.list()).data).toEqual([])
  })
})

describe("changing", () => {
  async function stored(): Promise<MemoryRoom & { id: string }> {
    const room = await memoryRoom()
    const draft = { content: "before", tags: ["a", "b"], source: "s", metadata: { a: 1 } }
    const { id } = await room.api.create(draft)
    room.made.advance(60_000)
    return { ...room, id }
  }

  test.each([
    ["content", "after"],
    ["tags", ["c"]],
    ["tags", []],
    ["source", "t"],
    ["source", ""],
    ["metadata", { b: { c: 2 } }],
    ["metadata", {}],
  ])("%s alone replaces it with %j and leaves the rest", async (field, value) => {
    const { api, id } = await stored()
    const before = await api.look(id)
    const answered = await api.change(id, { [field]: value })
    expect(Object.keys(answered).sort()).toEqual(["content", "id", "tags", "updated_at"])
    expect(answered.updated_at).toBe("2026-03-10T12:01:00.000Z")
    expect(await api.look(id)).toEqual({ ...before, [field]: value, updated_at: answered.updated_at })
  })

  test("nothing changes nothing", async () => {
    const { api, id } = await stored()
    const before = await api.look(id)
    expect(await api.change(id, {})).toMatchObject({ updated_at: before?.updated_at })
    expect((await api.ask("PATCH", `/${id}`)).status).toBe(200)
    expect(await api.look(id)).toEqual(before)
  })

  test("takes the place of the old tags in the filter, too", async () => {
    const { api, id } = await stored()
    await api.change(id, { tags: ["b", "c"] })
    const idsWith = async (tag: string) => (await api.list({ tag })).data.map((memory) => memory.id)
    expect([await idsWith("a"), await idsWith("b"), await idsWith("c")]).toEqual([[], [id], [id]])
  })

  test("leaves neither salience nor the count of accesses touched", async () => {
    const { api, made, id } = await stored()
    await api.read(id)
    made.advance(140 * DAY_MS - 60_000)
    await api.change(id, { content: "wholly new", tags: ["x"], source: "y", metadata: {} })
    expect(await api.look(id)).toMatchObject({ salience: 0.5, access_count: 1, sector: "semantic" })
  })

  test("at once from many sides leaves one whole change", async () => {
    const { api, id } = await stored()
    const numbers = [...Array(20).keys()]
    await Promise.all(
      numbers.map((number) => api.change(id, { content: `content ${number}`, tags: [`tag ${number}`] })),
    )
    const { content, tags } = await api.read(id)
    const [kept] = numbers.filter((number) => content === `content ${number}`)
    expect(tags).toEqual([`tag ${kept}`])
    for (const number of numbers)
      expect((await api.list({ tag: `tag ${number}` })).data.length, `tag ${number}`).toBe(
        number === kept ? 1 : 0,
      )
  })
})

describe("times", () => {
  test("are of the moment, even when the clock was set back", async () => {
    const { api, made } = await memoryRoom()
    const { id } = await api.create({ content: "x" })
    made.nowMs = START_MS - DAY_MS
    expect(await api.read(id)).toMatchObject({ salience: 1, last_accessed_at: "2026-03-09T12:00:00.000Z" })
    expect(await api.reinforce(id)).toMatchObject({ old_salience: 1, new_salience: 1, boost_applied: 0 })
    expect((await api.ask("GET", `/${NO_ID}`)).status).toBe(404)
  })
})
