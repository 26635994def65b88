import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { compilePattern, overlap } from "../../src/domain/glob/glob.ts"
import { COMMON_WORD, covers, Journal, PATHS, PATTERNS, seeded, Worker } from "../support/contested-work.ts"
import { RecordedHistory, shareByEngine, shareByMinimatch } from "../support/recorded-history.ts"
import { place, type RegisteredAgent, ServerProcess } from "../support/server-process.ts"

const SERVERS = 16
const STEPS = 200

test("the concrete paths tell overlapping patterns apart as the overlap engine does", () => {
  for (const one of PATTERNS) {
    for (const other of PATTERNS) {
      const byPaths = PATHS.some((path) => covers(one, path) && covers(other, path))
      const byEngine = overlap(compilePattern(one), compilePattern(other)).overlaps
      expect([one, other, byPaths]).toEqual([one, other, byEngine])
    }
  }
})

describe(`${SERVERS} servers that meet on one cold file, ${STEPS} steps each`, () => {
  const ends: (() => Promise<void> | void)[] = []
  const journal = new Journal()
  let agents: RegisteredAgent[] = []
  let history: RecordedHistory

  beforeAll(async () => {
    const where = place((work) => ends.push(work))
    const env = { SIGNALBOX_LIMITS: "off" }
    const servers = await Promise.all(
      Array.from({ length: SERVERS }, () => ServerProcess.start(where, { env })),
    )
    // Nothing is on disk yet: these are the first calls, and they all leave at once.
    agents = await Promise.all(servers.map((server, index) => server.register(`Agent${index}`)))
    await Promise.all(
      servers.map(async (server, index) => {
        const agent = agents[index]
        if (agent === undefined) throw new Error("a server has no agent")
        const worker = new Worker(server, agent, journal, seeded(index))
        const others = agents.filter((other) => other !== agent)
        while (worker.stepsDone < STEPS) await worker.step(others)
      }),
    )
    history = new RecordedHistory(where.databasePath)
    ends.push(() => history.close())
  }, 180_000)

  afterAll(async () => {
    for (const end of ends.reverse()) await end()
  })

  test("each is an agent of its own in one project", () => {
    expect(new Set(agents.map((agent) => agent.id)).size).toBe(SERVERS)
    expect(agents.map((agent) => agent.name)).toEqual(agents.map((_, index) => `Agent${index}`))
    expect(new Set(agents.map((agent) => `${agent.projectId}/${agent.repositoryId}`)).size).toBe(1)
  })

  test("no call fails with anything but a reservation conflict, and there were many", () => {
    expect(journal.failures).toEqual([])
    expect(journal.conflicts).toBeGreaterThan(SERVERS * 10)
    expect(journal.reservations.length).toBeGreaterThan(SERVERS * 10)
  })

  test("every acknowledged message is in the file as it was sent, and no other", () => {
    const sent = journal.messages.map((one) => ({
      ...one,
      recipientIds: [...one.recipientIds].sort((a, b) => a - b),
    }))
    expect(history.messages()).toEqual(sent.sort((a, b) => a.id - b.id))
  })

  test("every acknowledged reservation is in the file as it was granted, and no other", () => {
    const rows = history.reservations()
    const granted = rows.map((row) => ({
      id: row.id,
      agentId: row.agent_id,
      pattern: row.path_pattern,
      exclusive: row.exclusive === 1,
    }))
    expect(granted).toEqual([...journal.reservations].sort((a, b) => a.id - b.id))
  })

  test("exactly the acknowledged releases have ended a reservation", () => {
    const ended = history.reservations().filter((row) => row.ended_at_ms !== null)
    expect(ended.map((row) => row.id)).toEqual([...journal.releasedIds].sort((a, b) => a - b))
  })

  test("at no instant two agents hold conflicting reservations, by the overlap engine", () => {
    expect(history.doubleHoldings(shareByEngine)).toEqual([])
  })

  test("at no instant two agents hold conflicting reservations, by minimatch on concrete paths", () => {
    expect(history.doubleHoldings(shareByMinimatch)).toEqual([])
  })

  test("the recorded times of conflicting reservations do not overlap", () => {
    expect(history.overlapsInTime(shareByEngine)).toEqual([])
  })

  test("SQLite finds nothing wrong with the file", () => {
    expect(history.damage()).toEqual([])
  })

  test("the full-text index finds every message", () => {
    expect(history.idsFoundBy(COMMON_WORD)).toEqual(history.messages().map((message) => message.id))
    expect(history.messages().length).toBeGreaterThan(SERVERS * 10)
  })
})
