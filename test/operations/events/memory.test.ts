/** What is told of memories: each change once, with it or not at all, by its id and never by what it says. */

import { readFileSync } from "node:fs"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { WAYPOINTS_PER_MEMORY } from "../../../src/config/limits.ts"
import { emptyLog } from "../../../src/db/reclaim.ts"
import { embedWaiting } from "../../../src/operations/embedding/models.ts"
import { importMemories } from "../../../src/operations/memory/transfer.ts"
import { roomWithOne } from "../../support/angle-models.ts"
import { eventsIn, toldIn } from "../../support/events.ts"
import { DAY_MS, idsOf, memoryRoom, NO_ID, secondTenant } from "../../support/memories.ts"
import { create } from "../../support/memory-tools.ts"
import { world } from "../../support/world.ts"
import { all, beside, chunked, exported, filled, imported, place } from "../memory/transfer-place.ts"

describe("each change of a memory", () => {
  test("is told once through the tools, in order, as it happened", async () => {
    const made = world()
    const session = await made.session()
    const id = await create(session, "first run the build", { sector: "procedural" })
    made.advance(1_000)
    await session.call("get-memory", { memory_id: id })
    await session.call("reinforce-memory", { memory_id: id })
    await session.call("update-memory", { memory_id: id, tags: ["build"] })
    await session.call("list-memories", {})
    await session.call("search-memories", { query: "build" })
    await session.call("delete-memory", { memory_id: id })
    const events = await eventsIn(session.app.db, "memory.", "waypoint.")
    expect(events.map(({ kind }) => kind)).toEqual([
      "memory.created",
      "memory.accessed",
      "memory.reinforced",
      "memory.updated",
      "memory.deleted",
    ])
    for (const event of events)
      expect(event).toMatchObject({
        repositoryId: 1,
        actor: "local",
        data: { memory_id: id, sector: "procedural" },
      })
    expect(events.map(({ createdAtMs }) => made.nowMs - createdAtMs)).toEqual([1_000, 0, 0, 0, 0])
  })

  test("is told through REST, each in its own repository; a look is no access", async () => {
    const room = await memoryRoom()
    const other = await secondTenant(room)
    const { id } = await other.create({ content: "x", sector: "semantic" })
    await other.ask("HEAD", `/${id}`)
    expect(await toldIn(room.session.app.db, "memory.accessed")).toEqual([])
    await other.read(id)
    await other.reinforce(id)
    await other.change(id, { source: null })
    await other.remove(id)
    const events = await eventsIn(room.session.app.db, "memory.")
    expect(events.map(({ kind, repositoryId }) => `${kind} ${repositoryId}`)).toEqual(
      ["created", "accessed", "reinforced", "updated", "deleted"].map((name) => `memory.${name} 2`),
    )
  })

  test("that is refused or changes nothing is not told", async () => {
    const { api, session } = await memoryRoom()
    const { id } = await api.create({ content: "x" })
    await api.change(id, {})
    await api.ask("GET", `/${NO_ID}`)
    await api.ask("DELETE", `/${NO_ID}`)
    await api.ask("POST", `/${NO_ID}/reinforce`, {})
    await api.prune({ dry_run: true, threshold: 1 })
    await api.prune({ threshold: 0 })
    expect(await toldIn(session.app.db, "memory.")).toEqual([
      ["memory.created", { memory_id: id, sector: expect.any(String) }],
    ])
  })

  test("is not told when its transaction fails", async () => {
    const where = await place()
    const { app } = where.context()
    const text = await exported(await filledElsewhere())
    const put = vi.spyOn(app.memories, "putVectors").mockRejectedValue(new Error("no"))
    onTestFinished(() => put.mockRestore())
    await expect(imported(where, text)).rejects.toThrow("no")
    expect(await toldIn(app.db, "memory.", "waypoint.")).toEqual([])
    expect(await all(where)).toEqual([])
  })
})

async function filledElsewhere() {
  const where = await place()
  await filled(where)
  return where
}

describe("pruning", () => {
  test("is told once for all that go together, with their ids", async () => {
    const { api, made, session } = await memoryRoom()
    const going: string[] = []
    for (let number = 0; number < 51; number += 1)
      going.push((await api.create({ content: `note ${number}`, sector: "episodic" })).id)
    made.advance(1_000 * DAY_MS)
    const { id: kept } = await api.create({ content: "kept", sector: "episodic" })
    await api.prune({ threshold: 0.3, sector: "episodic" })
    const told = await toldIn(session.app.db, "memory.pruned", "memory.deleted")
    expect(told.map(([kind, { count }]) => [kind, count])).toEqual([
      ["memory.pruned", 50],
      ["memory.pruned", 1],
    ])
    for (const [, data] of told) expect(data).toMatchObject({ threshold: 0.3, sector: "episodic" })
    expect(told.flatMap(([, data]) => data.memory_ids).sort()).toEqual(going.sort())
    expect(idsOf(await api.list())).toEqual([kept])
    const actors = (await eventsIn(session.app.db, "memory.")).map(({ actor }) => actor)
    expect(new Set(actors)).toEqual(new Set(["local"]))
  })
})

describe("an import", () => {
  test("tells of what it adds and replaces, and not of what it passes over or only tries", async () => {
    const from = await filledElsewhere()
    const text = await exported(from)
    const to = await place()
    const { app } = to.context()
    await importMemories(to.context(), chunked(text), { replaces: false, dryRun: true })
    expect(await toldIn(app.db, "memory.")).toEqual([])
    await imported(to, text)
    const ids = (await all(to)).map(({ uuid }) => uuid).reverse()
    const created = await toldIn(app.db, "memory.")
    expect(created.map(([kind, { memory_id: id }]) => [kind, id])).toEqual(
      ids.map((id) => ["memory.created", id]),
    )
    const other = text.replace("row level security", "speed")
    await imported(to, other)
    expect(await toldIn(app.db, "memory.")).toHaveLength(3)
    await imported(to, other, { replaces: true })
    expect((await toldIn(app.db, "memory.")).slice(3)).toEqual([
      ["memory.updated", { memory_id: ids[0], sector: expect.any(String) }],
    ])
  })

  test("tells the id that a memory got here, where another repository has the one in the file", async () => {
    const one = await filledElsewhere()
    const other = await beside(one)
    await imported(other, await exported(one))
    const events = await eventsIn(one.context().app.db, "memory.created")
    const here = events.filter(({ repositoryId }) => repositoryId === other.context().repository.id)
    expect(here.map(({ data }) => data.memory_id).sort()).toEqual(
      (await all(other)).map(({ uuid }) => uuid).sort(),
    )
  })
})

describe("waypoints", () => {
  test("are told once for each memory that is linked, with all that it is linked with", async () => {
    const { app, create: add } = await bound(2)
    const links = await toldIn(app.db, "waypoint.")
    expect(links).toHaveLength(1)
    const third = await add("third 1°")
    const [, [kind, { from, to }] = ["", {}]] = await toldIn(app.db, "waypoint.")
    expect([kind, from]).toEqual(["waypoint.created", third.uuid])
    expect(to).toHaveLength(2)
    for (const link of to as { memory_id: string; weight: number }[]) {
      expect(link.memory_id).toMatch(/^[0-9a-f-]{36}$/)
      expect(link.weight).toBeGreaterThan(0.5)
      expect(link.weight).toBeLessThanOrEqual(1)
    }
    await add("elsewhere 90°")
    expect(await toldIn(app.db, "waypoint.")).toHaveLength(2)
  })

  test("are as many as a memory may have at most", async () => {
    const { app } = await bound(WAYPOINTS_PER_MEMORY + 2)
    const events = await toldIn(app.db, "waypoint.")
    expect(events).toHaveLength(WAYPOINTS_PER_MEMORY + 1)
    expect(events.at(-1)?.[1].to).toHaveLength(WAYPOINTS_PER_MEMORY)
  })

  test("are told when a memory that waited gets its vector, and not of a model that is not used yet", async () => {
    const { where, app, create: add } = await bound(2)
    const before = await toldIn(app.db, "waypoint.")
    where.one.isThere = false
    const waiting = await add("waiting 0°")
    expect(await toldIn(app.db, "waypoint.")).toEqual(before)
    where.one.isThere = true
    await embedWaiting(app)
    const told = await toldIn(app.db, "waypoint.")
    expect(told.slice(before.length).map(([, { from }]) => from)).toEqual([waiting.uuid])
    await where.use(where.two)
    expect(await toldIn(app.db, "waypoint.")).toEqual(told)
  })
})

/** Memories that are all about the same, by models that texts name the vectors of. */
async function bound(count: number) {
  const where = await roomWithOne(0)
  for (let number = 0; number < count; number += 1) await where.create(`note ${number} 0° 0°`)
  return { where, app: where.app, create: (text: string) => where.create(text) }
}

test("of what was deleted or pruned nothing it said stays in the file", async () => {
  const { api, made, session } = await memoryRoom()
  const secret = (number: number) => ({
    content: `Passphrase xylophone${number} quetzal.`,
    tags: [`marzipan${number}`],
    source: `zeppelin${number}`,
    metadata: { gondola: `kumquat${number}` },
    sector: "episodic",
  })
  const { id } = await api.create(secret(1))
  await api.create(secret(2))
  await api.change(id, { content: "Passphrase xylophone3 quetzal." })
  await api.read(id)
  await api.remove(id)
  made.advance(1_000 * DAY_MS)
  await api.prune({ threshold: 1 })
  expect((await eventsIn(session.app.db, "memory.")).length).toBeGreaterThan(4)
  expect(readFileSync(`${made.databasePath}-wal`).includes("xylophone")).toBe(true)
  await emptyLog(session.app.db)
  const bytes = readFileSync(made.databasePath)
  expect(bytes.includes(id)).toBe(true)
  for (const word of ["xylophone", "quetzal", "marzipan", "zeppelin", "gondola", "kumquat"])
    expect(bytes.includes(word), word).toBe(false)
})
