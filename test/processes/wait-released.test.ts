/** Ten processes that wait for one file: each gets it in its turn, and nobody else in between. */

import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { expect, onTestFinished, test } from "vitest"
import { openAppAlone } from "../../src/app.ts"
import { readConfig } from "../../src/config/config.ts"
import type { App } from "../../src/operations/app.ts"
import { releaseAllOf } from "../../src/operations/coordination/reservations.ts"
import { findAgentById } from "../../src/store/coordination/agents.ts"
import {
  BINARY,
  environment,
  type Place,
  place,
  type RegisteredAgent,
  ServerProcess,
} from "../support/server-process.ts"

const WAITERS = 10
const KILLED = 3
const SERVER_ENV = { SIGNALBOX_LIMITS: "off" }

interface Waiting {
  child: ChildProcess
  /** Its exit code and what it printed. */
  ended: Promise<{ code: number | null; out: string; err: string }>
}

/** Starts `wait --released` in a session of its own; returns it once it stands in the queue or has ended. */
async function waitFor(where: Place, session: string, ...args: string[]): Promise<Waiting> {
  const env = environment(where, { SIGNALBOX_SESSION: session, SIGNALBOX_LOG: "info", ...SERVER_ENV })
  const command = [BINARY, "wait", "--mode", "exclusive", "--json", "--released", ...args]
  const child = spawn(process.execPath, command, {
    cwd: where.repository,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  })
  onTestFinished(() => void child.kill("SIGKILL"))
  let [out, err] = ["", ""]
  child.stdout.on("data", (text) => {
    out += text
  })
  const ended = once(child, "close").then(([code]) => ({ code: code as number | null, out, err }))
  const queued = new Promise<void>((resolve) => {
    createInterface({ input: child.stderr }).on("line", (line) => {
      err += `${line}\n`
      if (line.includes("waiting for")) resolve()
    })
  })
  await Promise.race([queued, ended])
  return { child, ended }
}

function reserve(server: ServerProcess, agent: RegisteredAgent, pattern: string) {
  return server.tool("reserve-file-paths", {
    agent_id: agent.id,
    repository_id: agent.repositoryId,
    coordination_project_id: agent.projectId,
    path_pattern: pattern,
  })
}

/** Releases what an agent holds, on nobody's behalf. */
async function releaseAll(app: App, agentId: number): Promise<void> {
  const agent = await findAgentById(app.db, agentId)
  expect(agent && (await releaseAllOf(app, agent))).toBe(1)
}

test(`${WAITERS} processes get a file in the order in which they came, but for one that was killed`, async () => {
  const where = place()
  const server = await ServerProcess.start(where, { env: { ...SERVER_ENV, SIGNALBOX_SESSION: "holder" } })
  const holder = await server.register("Holder")
  await reserve(server, holder, "a.ts")
  const app = await openAppAlone(
    readConfig({
      env: { SIGNALBOX_DB: where.databasePath, SIGNALBOX_LOG: "silent" },
      workingFolder: where.repository,
    }),
  )
  onTestFinished(() => app.close())
  const waiters: Waiting[] = []
  for (let index = 0; index < WAITERS; index += 1)
    waiters.push(await waitFor(where, `waiter-${index}`, "a.ts"))
  waiters[KILLED]?.child.kill("SIGKILL")
  await waiters[KILLED]?.ended
  const barger = await ServerProcess.start(where, { env: { ...SERVER_ENV, SIGNALBOX_SESSION: "barger" } })
  const bargers = await barger.register("Barger")
  const releasing = { agent_id: holder.id, coordination_project_id: holder.projectId }
  const [, first] = await Promise.all([
    server.call("release-file-reservations", releasing),
    reserve(barger, bargers, "a.ts"),
  ])
  expect(first.isError).toBe(true)
  for (const [index, { ended }] of waiters.entries()) {
    if (index === KILLED) continue
    const { code, out, err } = await ended
    expect([code, err]).toEqual([0, expect.stringContaining("waiting for")])
    const { reservation, lapses_unless_used } = JSON.parse(out)
    expect([reservation.path_pattern, lapses_unless_used]).toEqual(["a.ts", true])
    expect((await reserve(barger, bargers, "a.ts")).text).toContain(reservation.agent_name)
    const [, attempt] = await Promise.all([
      releaseAll(app, reservation.agent_id),
      reserve(barger, bargers, "a.ts"),
    ])
    if (index < WAITERS - 1) expect(attempt.isError).toBe(true)
  }
  expect((await reserve(barger, bargers, "a.ts")).isError).toBe(false)
}, 60_000)

test("a wait ends with 4 when its time is over and with 3 where it would never end, and forgets itself at a signal", async () => {
  const where = place()
  const server = await ServerProcess.start(where, { env: { ...SERVER_ENV, SIGNALBOX_SESSION: "holder" } })
  const holder = await server.register("Holder")
  await reserve(server, holder, "a.ts")
  const late = await (await waitFor(where, "late", "a.ts", "--timeout", "1s")).ended
  expect([late.code, late.err]).toEqual([4, expect.stringContaining("was not released within")])

  const own = environment(where, { SIGNALBOX_SESSION: "other", ...SERVER_ENV })
  const reserving = spawn(process.execPath, [BINARY, "reserve", "b.ts", "--mode", "exclusive"], {
    cwd: where.repository,
    env: own,
  })
  await once(reserving, "close")
  const other = await waitFor(where, "other", "a.ts")
  const circle = await (await waitFor(where, "holder", "b.ts")).ended
  expect([circle.code, circle.err]).toEqual([3, expect.stringContaining("Holder would wait for")])

  other.child.kill("SIGINT")
  expect((await other.ended).code).toBe(1)
  const again = await waitFor(where, "holder", "b.ts", "--timeout", "1s")
  expect((await again.ended).code).toBe(4)
}, 60_000)
