import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { COMMON_WORD, Journal, seeded, Worker } from "../support/contested-work.ts"
import { RecordedHistory, shareByEngine, shareByMinimatch } from "../support/recorded-history.ts"
import {
  type Place,
  place,
  type RegisteredAgent,
  ServerGone,
  ServerProcess,
} from "../support/server-process.ts"

const SERVERS = 8
const KILLS = 20
/** A server is killed whenever this many more steps were done, by all together. */
const STEPS_PER_KILL = 25
const ENV = { SIGNALBOX_LIMITS: "off" }

/** Kills one worker's server after the other, in the middle of what it is doing. */
class Killer {
  kills = 0
  #steps = 0
  readonly #random = seeded(4711)

  get isDone(): boolean {
    return this.kills === KILLS
  }

  afterStep(workers: readonly Worker[]): void {
    this.#steps += 1
    if (this.isDone || this.#steps % STEPS_PER_KILL !== 0) return
    const alive = workers.map((worker) => worker.server.child).filter((child) => !child.killed)
    if (alive[Math.floor(this.#random() * alive.length)]?.kill("SIGKILL")) this.kills += 1
  }
}

describe(`${SERVERS} servers on one file while ${KILLS} of them are killed and replaced`, () => {
  const ends: (() => Promise<void> | void)[] = []
  const journal = new Journal()
  const killer = new Killer()
  const workers: Worker[] = []
  const resumed: [before: RegisteredAgent, after: RegisteredAgent][] = []
  let where: Place
  let history: RecordedHistory

  async function replace(worker: Worker): Promise<void> {
    await worker.server.ended
    worker.server = await ServerProcess.start(where, { env: ENV })
    resumed.push([worker.agent, await worker.server.register(worker.agent.name)])
    await worker.releaseAll()
  }

  async function work(worker: Worker): Promise<void> {
    const others = workers.filter((other) => other !== worker).map((other) => other.agent)
    let mustBeReplaced = false
    while (!killer.isDone || mustBeReplaced) {
      try {
        if (mustBeReplaced) await replace(worker)
        mustBeReplaced = false
        await worker.step(others)
        killer.afterStep(workers)
      } catch (error) {
        if (!(error instanceof ServerGone)) throw error
        mustBeReplaced = true
      }
    }
  }

  beforeAll(async () => {
    where = place((end) => ends.push(end))
    const servers = await Promise.all(
      Array.from({ length: SERVERS }, () => ServerProcess.start(where, { env: ENV })),
    )
    for (const [index, server] of servers.entries())
      workers.push(new Worker(server, await server.register(`Agent${index}`), journal, seeded(index)))
    await Promise.all(workers.map(work))
    history = new RecordedHistory(where.databasePath)
    ends.push(() => history.close())
  }, 180_000)

  afterAll(async () => {
    for (const end of ends.reverse()) await end()
  })

  test(`${KILLS} servers were killed while they worked`, () => {
    expect(killer.kills).toBe(KILLS)
    expect(journal.messages.length).toBeGreaterThan(KILLS)
    expect(journal.reservations.length).toBeGreaterThan(KILLS)
  })

  test("every replacement is the same agent again", () => {
    expect(resumed.length).toBeGreaterThanOrEqual(KILLS / 2)
    for (const [before, after] of resumed) expect(after).toEqual(before)
  })

  test("no call fails with anything but a reservation conflict", () => {
    expect(journal.failures).toEqual([])
  })

  test("no acknowledged message is lost", () => {
    const stored = new Map(history.messages().map((message) => [message.id, message]))
    for (const { recipientIds, ...sent } of journal.messages)
      expect(stored.get(sent.id)).toEqual({ ...sent, recipientIds: [...recipientIds].sort((a, b) => a - b) })
  })

  test("no acknowledged reservation and no acknowledged release is lost", () => {
    const stored = new Map(history.reservations().map((row) => [row.id, row]))
    for (const { id, agentId, pattern, exclusive } of journal.reservations) {
      const expected = { agent_id: agentId, path_pattern: pattern, exclusive: exclusive ? 1 : 0 }
      expect(stored.get(id)).toMatchObject(expected)
    }
    for (const id of journal.releasedIds) expect(stored.get(id)?.ended_at_ms).toEqual(expect.any(Number))
  })

  test("at no instant two agents hold conflicting reservations, by the overlap engine", () => {
    expect(history.doubleHoldings(shareByEngine)).toEqual([])
  })

  test("at no instant two agents hold conflicting reservations, by minimatch on concrete paths", () => {
    expect(history.doubleHoldings(shareByMinimatch)).toEqual([])
  })

  test("SQLite finds nothing wrong with the file", () => {
    expect(history.damage()).toEqual([])
  })

  test("the full-text index finds every message, also of those who died before they could tell", () => {
    expect(history.idsFoundBy(COMMON_WORD)).toEqual(history.messages().map((message) => message.id))
  })

  test("a thread counts exactly the messages that are in it", () => {
    expect(history.miscountedThreads()).toEqual([])
  })

  test("once a living server looks, the table of processes names exactly those that live", async () => {
    const alive = workers.filter((worker) => !worker.server.child.killed)
    for (const worker of alive) await worker.server.register(worker.agent.name)
    expect(history.pids()).toEqual(alive.map((worker) => worker.server.pid).sort((a, b) => a - b))
  })
})

describe("the table of live servers", () => {
  function pidsIn(where: Place): number[] {
    const history = new RecordedHistory(where.databasePath)
    try {
      return history.pids()
    } finally {
      history.close()
    }
  }

  test("a dead process disappears when a server that lives registers an agent", async () => {
    const where = place()
    const [dying, living] = [await ServerProcess.start(where), await ServerProcess.start(where)]
    await dying.register("Ada")
    await living.register("Bob")
    await dying.kill()
    expect(pidsIn(where)).toEqual([dying.pid, living.pid].sort((a, b) => a - b))
    await living.register("Bob")
    expect(pidsIn(where)).toEqual([living.pid])
  })

  test("a dead process disappears when a new server opens the file", async () => {
    const where = place()
    const dying = await ServerProcess.start(where)
    await dying.register("Ada")
    await dying.kill()
    const next = await ServerProcess.start(where)
    await next.request("resources/read", { uri: "signalbox://coordination/tools" })
    expect(pidsIn(where)).toEqual([next.pid])
  })

  test("a reservation of a dead process holds until it is released or expires", async () => {
    const where = place()
    const [dying, living] = [await ServerProcess.start(where), await ServerProcess.start(where)]
    const [ada, bob] = [await dying.register("Ada"), await living.register("Bob")]
    const reserve = (server: ServerProcess, agent: RegisteredAgent) =>
      server.tool("reserve-file-paths", {
        agent_id: agent.id,
        repository_id: agent.repositoryId,
        coordination_project_id: agent.projectId,
        path_pattern: "src/**",
      })
    expect((await reserve(dying, ada)).isError).toBe(false)
    await dying.kill()
    expect((await reserve(living, bob)).text).toContain("Conflicting agent: Ada")
  })
})
