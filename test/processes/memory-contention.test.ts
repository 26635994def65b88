import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { seeded } from "../support/contested-work.ts"
import { MemoryRows } from "../support/memory-rows.ts"
import { MemoryJournal, MemoryWorker } from "../support/memory-work.ts"
import { place, ServerProcess } from "../support/server-process.ts"

const SERVERS = 3
const STEPS = 100

describe(`${SERVERS} servers on one file whose memories all of them use, ${STEPS} steps each`, () => {
  const ends: (() => Promise<void> | void)[] = []
  const journal = new MemoryJournal()
  let rows: MemoryRows

  beforeAll(async () => {
    const where = place((work) => ends.push(work))
    const env = { SIGNALBOX_LIMITS: "off", SIGNALBOX_PORT: "0" }
    const servers = await Promise.all(
      Array.from({ length: SERVERS }, () => ServerProcess.start(where, { env })),
    )
    const workers = servers.map((server, index) => new MemoryWorker(server, servers, journal, seeded(index)))
    await Promise.all(
      workers.map(async (worker) => {
        while (worker.stepsDone < STEPS) await worker.step()
      }),
    )
    await Promise.all(workers.map((worker) => worker.findAll()))
    rows = new MemoryRows(where.databasePath)
    ends.push(() => rows.close())
  }, 180_000)

  afterAll(async () => {
    for (const end of ends.reverse()) await end()
  })

  test("no call fails, and none finds what was deleted or replaced, or misses what was acknowledged", () => {
    expect(journal.failures).toEqual([])
  })

  test("there was enough of everything", () => {
    const known = [...journal.memories.values()]
    expect(journal.alive().length).toBeGreaterThan(SERVERS * 5)
    expect(known.filter(({ isDeleted }) => isDeleted).length).toBeGreaterThan(SERVERS * 5)
    expect(known.filter(({ writings }) => writings.length > 1).length).toBeGreaterThan(SERVERS * 5)
    expect(known.filter(({ reads }) => reads > 1).length).toBeGreaterThan(0)
    expect(rows.waypointCount()).toBeGreaterThan(SERVERS * 5)
  })

  test("the file holds exactly the memories that were acknowledged, as they were last", () => {
    expect(rows.differences(journal)).toEqual([])
  })

  test("words, vectors, tags and waypoints are those of the memories, and no others", () => {
    expect(rows.contradictions()).toEqual([])
  })

  test("SQLite finds nothing wrong with the file and the index of words", () => {
    expect(rows.damage()).toEqual([])
  })
})
