import { describe, expect, test } from "vitest"
import { type Place, place, ServerProcess } from "../support/server-process.ts"
import { numberAfter, textAfter } from "../support/world.ts"

const TOOLS = [
  "create-memory",
  "delete-memory",
  "get-memory",
  "get-memory-stats",
  "get-memory-waypoints",
  "list-memories",
  "prune-memories",
  "reinforce-memory",
  "search-memories",
  "update-memory",
]
const READING_TOOLS = ["get-memory-stats", "get-memory-waypoints", "list-memories", "search-memories"]
/** Any port: the default one may be a real listener's. */
const env = { SIGNALBOX_PORT: "0" }

const start = (where: Place, args: string[] = []) => ServerProcess.start(where, { env, args })

async function memoryTools(server: ServerProcess): Promise<string[]> {
  return (await server.toolNames()).filter((name) => /memor(y|ies)/.test(name)).sort()
}

async function create(server: ServerProcess, content: string, more: object = {}): Promise<string> {
  return textAfter(await server.call("create-memory", { content, ...more }), "Memory id")
}

describe("a stdio server", () => {
  test("offers the ten tools of memory", async () => {
    expect(await memoryTools(await start(place()))).toEqual(TOOLS)
  })

  test("offers none of them with the toolset coordination alone, and refuses them", async () => {
    const server = await start(place(), ["--toolsets", "coordination"])
    expect(await memoryTools(server)).toEqual([])
    expect(await server.toolNames()).toContain("send-message")
    await expect(server.tool("create-memory", { content: "Never stored." })).rejects.toThrow(
      "create-memory does not exist",
    )
  })

  test("offers nothing else with the toolset memory alone", async () => {
    const server = await start(place(), ["--toolsets", "memory"])
    expect((await server.toolNames()).sort()).toEqual(TOOLS)
  })

  test("offers only those that write nothing when it is read-only, and reads with them", async () => {
    const where = place()
    const id = await create(await start(where), "The cache is emptied every night at two.")
    const server = await start(where, ["--read-only"])
    expect(await memoryTools(server)).toEqual(READING_TOOLS)
    expect(await server.call("search-memories", { query: "When is the cache emptied?" })).toContain(id)
    await expect(server.tool("get-memory", { memory_id: id })).rejects.toThrow("get-memory does not exist")
  })
})

describe("a memory that one process has created", () => {
  test("is found by another at once, by its words and by its meaning", async () => {
    const where = place()
    const [one, other] = [await start(where), await start(where)]
    await other.call("get-memory-stats")
    const id = await create(one, "The database server crashed because the disk was full.")
    await create(one, "The logo has to be blue on a white background.")
    expect(await other.call("search-memories", { query: "disk full" })).toContain(id)
    const byMeaning = await other.call("search-memories", { query: "Postgres outage, missing storage space" })
    expect(byMeaning).toContain(id)
    expect(byMeaning).not.toContain("logo")
  })

  test("is read, changed, reinforced, listed, counted and deleted by another, with the same outcome in both", async () => {
    const where = place()
    const [one, other] = [await start(where), await start(where)]
    const id = await create(one, "We retry a payment three times.", {
      tags: ["payments"],
      sector: "semantic",
    })
    const near = await create(one, "A payment is retried three times before it fails.")
    expect(await other.call("get-memory", { memory_id: id })).toContain("> We retry a payment three times.")
    expect(await other.call("get-memory-waypoints", { memory_id: id, min_weight: 0.5 })).toContain(near)
    await other.call("update-memory", { memory_id: id, content: "We retry a payment five times." })
    expect(await one.call("search-memories", { query: "retry payment five" })).toContain("five times")
    expect(await other.call("reinforce-memory", { memory_id: id, profile: "emergency" })).toContain(id)
    expect(await one.call("list-memories", { tag: "payments" })).toContain(id)
    expect(numberAfter(await one.call("get-memory-stats"), "Memories")).toBe(2)
    for (const process of [one, other])
      expect(await process.call("prune-memories", { threshold: 1 })).toContain("Would be deleted: 0")
    await other.call("delete-memory", { memory_id: id })
    expect(await one.fail("get-memory", { memory_id: id })).toContain("was not found")
    expect(await one.call("get-memory-waypoints", { memory_id: near, min_weight: 0 })).not.toContain(id)
    expect(await one.call("search-memories", { query: "retry payment five" })).not.toContain(id)
  })

  test("outlives both processes, word for word", async () => {
    const where = place()
    const content = "Zero-width\u200b, emoji 👩‍🔧, a tab\t, and   spaces ¿?\n\n> a quote"
    const first = await start(where)
    const id = await create(first, content, { source: "a test", metadata: { deep: [{ er: null }] } })
    await first.kill()
    const text = await (await start(where)).call("get-memory", { memory_id: id })
    // What cannot be seen is shown as a sign; the text itself is kept, as over REST.
    expect(text).toContain(content.replace("\u200b", "\ufffd").replace(/^/gm, "> "))
    expect(text).toContain('Source: "a test"')
    expect(text).toContain('Metadata: {"deep":[{"er":null}]}')
  })
})
