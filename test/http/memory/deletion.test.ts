/** Deleting over HTTP is for good: nothing of a memory is left, neither in what the API shows nor in the file. */

import { readFileSync } from "node:fs"
import Database from "better-sqlite3"
import { describe, expect, test } from "vitest"
import { DAY_MS, expectError, type MemoryRoom, memoryRoom } from "../../support/memories.ts"

const DRAFT = {
  content: "The zyzzyva weevil eats getWeevilName leaves in the quokkaland.",
  tags: ["zyzzyvatag", "kept"],
  source: "zyzzyvasource",
  metadata: { zyzzyvaname: "zyzzyvavalue" },
  sector: "episodic",
}

type Table = Record<string, unknown>[]

/** Returns every row of every table of the database whose name begins with `memor`, the index's own included. */
function tablesOf({ made }: MemoryRoom): Record<string, Table> {
  const database = new Database(made.databasePath, { readonly: true })
  try {
    const names = database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'memor%' ORDER BY name")
      .pluck()
      .all() as string[]
    return Object.fromEntries(
      names.map((name) => [name, database.prepare(`SELECT * FROM "${name}"`).all() as Table]),
    )
  } finally {
    database.close()
  }
}

/** Returns the words that the index of words still finds memories by. */
function wordsOf({ made }: MemoryRoom): string[] {
  const database = new Database(made.databasePath)
  try {
    const found = ["zyzzyva", "weevil", "quokkaland", "zyzzyvatag", "getweevilname", "name", "leav"]
    const statement = database.prepare("SELECT count(*) FROM memory_index WHERE memory_index MATCH ?").pluck()
    return found.filter((word) => Number(statement.get(`"${word}"`)) > 0)
  } finally {
    database.close()
  }
}

const rowsIn = (tables: Record<string, Table>, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, tables[name]?.length]))

const OWN_TABLES = [
  "memories",
  "memory_tags",
  "memory_embeddings",
  "memory_waypoints",
  "memory_vectors",
  "memory_vector_blocks",
  "memory_index",
  "memory_index_docsize",
]

/** Ways in which a memory goes. */
const WAYS: [name: string, go: (room: MemoryRoom, id: string) => Promise<void>][] = [
  ["deleting", ({ api }, id) => api.remove(id)],
  [
    "pruning",
    async ({ api, made }) => {
      made.advance(90 * DAY_MS)
      expect((await api.prune({ threshold: 0.3, sector: "episodic" })).memories_pruned).toBe(1)
    },
  ],
]

describe.each(WAYS)("%s", (_, go) => {
  test("a lone memory leaves no row, vector, tag or word of it in the database", async () => {
    const room = await memoryRoom()
    const empty = rowsIn(tablesOf(room), OWN_TABLES)
    for (const rows of Object.values(empty)) expect(rows).toBe(0)
    const { id } = await room.api.create(DRAFT)
    await room.api.read(id)
    await room.api.reinforce(id)
    await room.api.change(id, { content: `${DRAFT.content} More.` })
    const stored = rowsIn(tablesOf(room), OWN_TABLES)
    for (const name of OWN_TABLES.filter((one) => one !== "memory_waypoints"))
      expect(stored[name], name).toBeGreaterThan(0)
    expect(wordsOf(room)).not.toEqual([])
    await go(room, id)
    expect(rowsIn(tablesOf(room), OWN_TABLES)).toEqual(empty)
    expect(wordsOf(room)).toEqual([])
  })

  test("leaves the neighbours as they were, without their connection", async () => {
    const room = await memoryRoom()
    const { api } = room
    const draft = { ...DRAFT, sector: "reflective" }
    const { id: before } = await api.create(draft)
    const { id } = await api.create(DRAFT)
    const { id: after } = await api.create(draft)
    await go(room, id)
    const listed = (await api.list()).data
    expect(listed.map((memory) => memory.id)).toEqual([after, before])
    for (const memory of listed) expect(memory).toMatchObject(draft)
    expect((await api.list({ tag: "zyzzyvatag" })).data).toHaveLength(2)
    expect((await api.search({ query: "zyzzyva" })).data.map((memory) => memory.id).sort()).toEqual(
      [before, after].sort(),
    )
    expect((await api.waypoints(before, "?min_weight=0")).data.map((one) => one.connected_memory_id)).toEqual(
      [after],
    )
    const tables = tablesOf(room)
    expect(
      rowsIn(tables, ["memories", "memory_embeddings", "memory_waypoints", "memory_index_docsize"]),
    ).toEqual({
      memories: 2,
      memory_embeddings: 2,
      memory_waypoints: 2,
      memory_index_docsize: 2,
    })
    expect(JSON.stringify(Object.values(rowsIn(tables, ["memory_tags", "memory_vectors"])))).toBe("[4,2]")
  })

  test("a memory hides it from everything that the API shows", async () => {
    const room = await memoryRoom()
    const { api } = room
    const { id } = await api.create(DRAFT)
    const other = await api.create({ ...DRAFT, sector: "reflective", content: `${DRAFT.content} Too.` })
    await go(room, id)
    expectError(await api.ask("GET", `/${id}`), 404)
    expectError(await api.ask("PATCH", `/${id}`, { content: "x" }), 404)
    expectError(await api.ask("POST", `/${id}/reinforce`), 404)
    expectError(await api.ask("GET", `/${id}/waypoints`), 404)
    expectError(await api.ask("DELETE", `/${id}`), 404)
    expect((await api.list()).data.map((memory) => memory.id)).toEqual([other.id])
    expect((await api.list({ tag: "zyzzyvatag", sector: "episodic" })).data).toEqual([])
    const found = await api.search({ query: "zyzzyva weevil", limit: 100 })
    expect(found.data.map((memory) => memory.id)).not.toContain(id)
    expect((await api.waypoints(other.id, "?min_weight=0")).data).toEqual([])
  })
})

test("what was deleted is in no byte of the database file", async () => {
  const room = await memoryRoom()
  const { id } = await room.api.create(DRAFT)
  await room.api.create({ content: "Something else stays." })
  await room.api.remove(id)
  const database = new Database(room.made.databasePath)
  database.pragma("wal_checkpoint(TRUNCATE)")
  database.close()
  const bytes = readFileSync(room.made.databasePath, "latin1")
  expect(bytes).toContain("Something else stays.")
  for (const word of ["zyzzyva", "weevil", "quokkaland"]) expect(bytes).not.toContain(word)
})

describe("a change of content", () => {
  test("leaves nothing of the old words and vectors", async () => {
    const room = await memoryRoom()
    const { id } = await room.api.create({ ...DRAFT, content: `${DRAFT.content} `.repeat(300) })
    expect(tablesOf(room).memory_vectors?.length).toBeGreaterThan(5)
    await room.api.change(id, { content: "A short one.", tags: ["short"], source: "s", metadata: {} })
    expect(wordsOf(room)).toEqual([])
    const tables = tablesOf(room)
    expect(
      rowsIn(tables, ["memory_vectors", "memory_vector_blocks", "memory_tags", "memory_index_docsize"]),
    ).toEqual({
      memory_vectors: 1,
      memory_vector_blocks: 1,
      memory_tags: 1,
      memory_index_docsize: 1,
    })
    expect(JSON.stringify([tables.memories, tables.memory_tags])).not.toContain("zyzzyva")
    expect((await room.api.search({ query: "zyzzyva" })).data).toEqual([])
  })
})

test("deleting twice, also at once, is done once", async () => {
  const { api } = await memoryRoom()
  const { id } = await api.create(DRAFT)
  const replies = await Promise.all([1, 2, 3].map(() => api.ask("DELETE", `/${id}`)))
  expect(replies.map(({ status }) => status).sort()).toEqual([204, 404, 404])
})
