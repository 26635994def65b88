import { type ChildProcess, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { describe, expect, test, vi } from "vitest"
import { DEATHS, type EmbeddingWork } from "../support/memory-embedding-process.ts"
import { MemoryRows } from "../support/memory-rows.ts"
import { type Ending, type Place, place, ServerProcess } from "../support/server-process.ts"
import { textAfter } from "../support/world.ts"

const SCRIPT = fileURLToPath(new URL("../support/memory-embedding-process.ts", import.meta.url))
const MEMORIES = 40
/** More than one batch, and not all. */
const DONE_BEFORE_DEATH = 20
const WAITING = "an embedding is not completed"
/** Any port: the default one may be a real listener's. */
const env = { SIGNALBOX_LIMITS: "off", SIGNALBOX_PORT: "0" }

/** Makes a file with memories, and returns the ids; no process has it open in the end. */
async function remember(where: Place): Promise<string[]> {
  const server = await ServerProcess.start(where, { env })
  const ids: string[] = []
  for (let index = 0; index < MEMORIES; index += 1) {
    const content = `The ${index % 2 === 0 ? "invoice service" : "login page"} fails after release ${index}.`
    ids.push(textAfter(await server.call("create-memory", { content }), "Memory id"))
  }
  await server.stop()
  return ids
}

function rowsOf(where: Place): MemoryRows {
  const rows = new MemoryRows(where.databasePath)
  where.atEnd(() => rows.close())
  return rows
}

/** Starts a process that embeds what waits, and resolves when it has ended. */
function embed(where: Place, work: Omit<EmbeddingWork, "databasePath" | "home">): Promise<Ending> {
  const whole: EmbeddingWork = { ...work, databasePath: where.databasePath, home: where.home }
  const args = ["--import", "tsx", SCRIPT, JSON.stringify(whole)]
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] })
  where.atEnd(() => {
    child.kill("SIGKILL")
  })
  return endOf(child)
}

function endOf(child: ChildProcess): Promise<Ending> {
  return new Promise((resolve) => child.once("close", (code, signal) => resolve({ code, signal })))
}

const ENDED_WELL: Ending = { code: 0, signal: null }
const KILLED: Ending = { code: null, signal: "SIGKILL" }

/** Resolves when all memories are embedded with the active model. */
function allCompleted(rows: MemoryRows): Promise<void> {
  return vi.waitFor(() => expect(rows.statuses()).toEqual({ completed: MEMORIES }), {
    timeout: 20_000,
    interval: 20,
  })
}

describe("memories that wait for their vectors", () => {
  test.each(DEATHS)("are completed by the next server when a process was killed %s", async (death) => {
    const where = place()
    await remember(where)
    const rows = rowsOf(where)
    rows.forgetEmbeddings()
    expect(await embed(where, { death: { after: DONE_BEFORE_DEATH, where: death } })).toEqual(KILLED)

    const { completed = 0, pending = 0 } = rows.statuses()
    expect(completed).toBeGreaterThan(0)
    expect([pending > 0, completed + pending]).toEqual([true, MEMORIES])
    expect(rows.contradictions(WAITING)).toEqual([])
    expect(rows.damage()).toEqual([])

    const server = await ServerProcess.start(where, { env })
    await server.call("get-memory-stats")
    await allCompleted(rows)
    expect(rows.contradictions()).toEqual([])
    expect(rows.waypointCount()).toBeGreaterThan(MEMORIES)
    expect(rows.damage()).toEqual([])
  })

  test("are completed by `signalbox serve` when one before was killed as soon as it began", async () => {
    const where = place()
    const [id = ""] = await remember(where)
    const rows = rowsOf(where)
    rows.forgetEmbeddings()
    const first = ServerProcess.spawn(where, { env, args: ["serve"] })
    await vi.waitFor(() => expect(rows.statuses().completed).toBeGreaterThan(0), {
      timeout: 20_000,
      interval: 1,
    })
    await first.kill()
    expect(rows.contradictions(WAITING)).toEqual([])

    ServerProcess.spawn(where, { env, args: ["serve"] })
    await allCompleted(rows)
    expect(rows.contradictions()).toEqual([])
    expect(rows.damage()).toEqual([])
    const reader = await ServerProcess.start(where, { env })
    expect(await reader.call("get-memory", { memory_id: id })).toContain("Embedding: completed")
  })

  test("are found by their words all the while", async () => {
    const where = place()
    const [id = ""] = await remember(where)
    rowsOf(where).forgetEmbeddings()
    expect(await embed(where, { death: { after: 0, where: "while texts are embedded" } })).toEqual(KILLED)
    const server = await ServerProcess.start(where, { env })
    expect(await server.call("search-memories", { query: "invoice service release 0" })).toContain(id)
  })

  test("are embedded once each by several processes that begin at the same time", async () => {
    const where = place()
    await remember(where)
    const rows = rowsOf(where)
    rows.forgetEmbeddings()
    const countedBefore = rows.vectorsCounted()
    const endings = await Promise.all([embed(where, {}), embed(where, {}), embed(where, {})])
    expect(endings).toEqual([ENDED_WELL, ENDED_WELL, ENDED_WELL])
    expect(rows.statuses()).toEqual({ completed: MEMORIES })
    expect(rows.vectorsCounted() - countedBefore).toBe(MEMORIES)
    expect(rows.contradictions()).toEqual([])
  })
})

describe("memories that are embedded with another model", () => {
  const model = "digest-1"

  test.each(DEATHS)("keep the old one's vectors when the process was killed %s", async (death) => {
    const where = place()
    await remember(where)
    const rows = rowsOf(where)
    const waypoints = rows.waypointCount()
    expect(await embed(where, { model, death: { after: DONE_BEFORE_DEATH, where: death } })).toEqual(KILLED)
    expect(rows.models()).toEqual([
      { name: "builtin-1", state: "active" },
      { name: model, state: "building" },
    ])
    expect(rows.statuses()).toEqual({ completed: MEMORIES })
    expect(rows.waypointCount()).toBeGreaterThan(waypoints)
    expect(rows.contradictions()).toEqual([])

    expect(await embed(where, { model })).toEqual(ENDED_WELL)
    expect(rows.models()).toEqual([
      { name: "builtin-1", state: "retired" },
      { name: model, state: "active" },
    ])
    expect(rows.statuses()).toEqual({ completed: MEMORIES })
    expect(rows.contradictions()).toEqual([])
    expect(rows.damage()).toEqual([])
  })
})
