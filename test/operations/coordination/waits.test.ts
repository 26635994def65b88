import { describe, expect, onTestFinished, test } from "vitest"
import { WAIT_GRANT_MS, WAITS_MAX } from "../../../src/config/limits.ts"
import type { Reservation } from "../../../src/domain/coordination/reservation.ts"
import { ASKS, admit } from "../../../src/operations/admission.ts"
import { tendDeadSessions } from "../../../src/operations/coordination/dead-sessions.ts"
import { closeExpired } from "../../../src/operations/coordination/expiry.ts"
import { requestOverride } from "../../../src/operations/coordination/overrides.ts"
import { ownAgentIdsOf } from "../../../src/operations/coordination/sessions.ts"
import { waitForFiles } from "../../../src/operations/coordination/waits.ts"
import { findAgentById } from "../../../src/store/coordination/agents.ts"
import { listReservationsIn } from "../../../src/store/coordination/reservations.ts"
import { insertWait, listWaits } from "../../../src/store/coordination/waits.ts"
import { findProjectById } from "../../../src/store/projects.ts"
import { findRepositoryById } from "../../../src/store/repositories.ts"
import { ALLOWED, clientProcess, configure, edit, sessionEvent } from "../../support/hook.ts"
import { agents, type TestAgent, World } from "../../support/world.ts"

interface WaitOptions {
  exclusive?: boolean
  durationSeconds?: number
  timeoutSeconds?: number
}

async function claimantOf({ session: { app }, id }: TestAgent) {
  const agent = await findAgentById(app.db, id)
  const project = agent && (await findProjectById(app.db, agent.projectId))
  if (agent === undefined || project === undefined) throw new Error("no such agent")
  return { agent, project, ownAgentIds: await ownAgentIdsOf(app.db, agent) }
}

/** Begins to wait; returns, once it is in the queue or done, how it goes on. */
async function wait(agent: TestAgent, pathPattern: string, options: WaitOptions = {}) {
  const { app, caller } = agent.session
  const context = await admit({ app, caller }, ASKS.toolCall)
  const repository = await findRepositoryById(app.db, agent.repositoryId)
  if (repository === undefined) throw new Error("no repository")
  const { exclusive = true, durationSeconds = 1_800, timeoutSeconds = 3_600 } = options
  const stop = new AbortController()
  let isQueued = false
  const claimant = await claimantOf(agent)
  let outcome: Promise<{ reservation: Reservation; wasFree: boolean }> | undefined
  await new Promise<void>((queued, failed) => {
    outcome = waitForFiles(
      context,
      claimant,
      { repository, pathPattern, exclusive, durationSeconds, timeoutSeconds },
      {
        stop: stop.signal,
        onQueued: () => {
          isQueued = true
          queued()
        },
      },
    )
    outcome.then(() => queued(), failed)
  })
  outcome?.catch(() => {})
  onTestFinished(async () => {
    stop.abort()
    await outcome?.catch(() => {})
  })
  if (outcome === undefined) throw new Error("it waits")
  return { isQueued, outcome, stop: () => stop.abort() }
}

/** What is stored of an agent's wait for an hour, under this process. */
function waitOf({ nowMs }: World, { session, id, repositoryId }: TestAgent) {
  const waiting = { pid: process.pid, identityMark: session.app.processMark }
  const times = { durationSeconds: 60, createdAtMs: nowMs, untilMs: nowMs + 3_600_000 }
  return { repositoryId, agentId: id, ...waiting, ...times }
}

function reserve(agent: TestAgent, pattern: string, args: Record<string, unknown> = {}) {
  const { id, repositoryId, projectId } = agent
  const where = { agent_id: id, repository_id: repositoryId, coordination_project_id: projectId }
  return agent.session.call("reserve-file-paths", { ...where, path_pattern: pattern, ...args })
}

function release(agent: TestAgent) {
  return agent.session.call("release-file-reservations", {
    agent_id: agent.id,
    coordination_project_id: agent.projectId,
  })
}

async function holders(where: World, agent: TestAgent): Promise<[string, string][]> {
  const all = await listReservationsIn(agent.session.app.db, agent.repositoryId, where.nowMs, 100)
  return all.map(({ agentName, pathPattern }) => [agentName, pathPattern])
}

describe("waiting for a file", () => {
  test("that nobody holds reserves it at once, for as long as was asked", async () => {
    const [where, ann] = await agents("Ann")
    const { outcome, isQueued } = await wait(ann, "src/a.ts", { durationSeconds: 600 })
    expect(isQueued).toBe(false)
    const { reservation, wasFree } = await outcome
    expect([wasFree, reservation.expiresAtMs]).toEqual([true, where.nowMs + 600_000])
    expect(await listWaits(ann.session.app.db)).toEqual([])
  })

  test("ends in the very transaction of its release, for who has waited longest, and nobody barges in", async () => {
    const [where, ann, ben, cid] = await agents("Ann", "Ben", "Cid")
    await reserve(ann, "src/**")
    const first = await wait(ben, "src/a.ts")
    const second = await wait(cid, "src/a.ts")
    await release(ann)
    expect(await holders(where, ann)).toEqual([["Ben", "src/a.ts"]])
    const refused = await ann.session.fail("reserve-file-paths", {
      agent_id: ann.id,
      repository_id: ann.repositoryId,
      coordination_project_id: ann.projectId,
      path_pattern: "src/a.ts",
    })
    expect(refused).toContain("Ben")
    expect((await first.outcome).reservation.agentName).toBe("Ben")
    await release(ben)
    expect((await second.outcome).reservation.agentName).toBe("Cid")
  })

  test("gives a minute, after which the next one gets it", async () => {
    const [where, ann, ben, cid] = await agents("Ann", "Ben", "Cid")
    await reserve(ann, "a")
    const first = await wait(ben, "a")
    await wait(cid, "a")
    await release(ann)
    expect((await first.outcome).reservation.expiresAtMs).toBe(where.nowMs + WAIT_GRANT_MS)
    where.advance(WAIT_GRANT_MS - 1)
    await closeExpired(ann.session.app)
    expect(await holders(where, ann)).toEqual([["Ben", "a"]])
    where.advance(1)
    await closeExpired(ann.session.app)
    expect(await holders(where, ann)).toEqual([["Cid", "a"]])
  })

  test("lasts as asked once any of it is reserved", async () => {
    const [where, ann, ben] = await agents("Ann", "Ben")
    await reserve(ann, "src/a.ts")
    const { outcome } = await wait(ben, "src/**", { durationSeconds: 1_800 })
    await release(ann)
    const { id } = (await outcome).reservation
    await reserve(ben, "src/b.ts", { duration_seconds: 30 })
    const all = await listReservationsIn(ben.session.app.db, ben.repositoryId, where.nowMs, 10)
    expect(all.find((one) => one.id === id)?.expiresAtMs).toBe(where.nowMs + 1_800_000)
  })

  test("lasts as asked once any of it is edited", async () => {
    const [where, ann, ben] = await agents("Ann", "Ben")
    await reserve(ann, "src/a.ts")
    const { outcome } = await wait(ben, "src/**", { durationSeconds: 1_800 })
    await release(ann)
    const { id } = (await outcome).reservation
    where.advance(WAIT_GRANT_MS - 1)
    expect(await edit(where, ben.session.app, "src/b.ts", { session: "session-of-Ben" })).toEqual(ALLOWED)
    const all = await listReservationsIn(ben.session.app.db, ben.repositoryId, where.nowMs, 10)
    expect(all.find((one) => one.id === id)?.expiresAtMs).toBe(where.nowMs + 1_800_000)
  })

  test("lasts as asked once it is edited where edits reserve nothing", async () => {
    const [where, ann, ben] = await agents("Ann", "Ben")
    configure(where, { autoReserve: false })
    await reserve(ann, "src/a.ts")
    const { outcome } = await wait(ben, "src/**", { durationSeconds: 1_800 })
    await release(ann)
    await outcome
    expect(await edit(where, ben.session.app, "src/b.ts", { session: "session-of-Ben" })).toEqual(ALLOWED)
    where.advance(WAIT_GRANT_MS)
    await closeExpired(ann.session.app)
    expect(await holders(where, ann)).toEqual([["Ben", "src/**"]])
  })

  test("lasts as asked once a macro reserves it", async () => {
    const [where, ann, ben] = await agents("Ann", "Ben")
    await reserve(ann, "src/a.ts")
    const { outcome } = await wait(ben, "src/a.ts", { durationSeconds: 1_800 })
    await release(ann)
    await outcome
    await ben.session.call("macro-start-session", {
      name_hint: "Ben",
      project_key: "demo",
      program: "test-program",
      model: "test-model",
      file_paths: ["src/a.ts"],
      reservation_ttl: 30,
    })
    where.advance(WAIT_GRANT_MS)
    await closeExpired(ann.session.app)
    expect(await holders(where, ann)).toEqual([["Ben", "src/a.ts"]])
  })

  test("leaves what its holder shared before as it was when it lapses", async () => {
    const [where, ann, ben] = await agents("Ann", "Ben")
    await reserve(ann, "a", { exclusive: false, duration_seconds: 600 })
    await reserve(ben, "a", { exclusive: false })
    const { outcome } = await wait(ann, "a")
    await release(ben)
    expect((await outcome).reservation).toMatchObject({
      exclusive: true,
      expiresAtMs: where.nowMs + WAIT_GRANT_MS,
    })
    where.advance(WAIT_GRANT_MS)
    await closeExpired(ann.session.app)
    const left = await listReservationsIn(ann.session.app.db, ann.repositoryId, where.nowMs, 10)
    expect(left).toMatchObject([{ exclusive: false, expiresAtMs: where.nowMs - WAIT_GRANT_MS + 600_000 }])
  })

  test("lasts as asked once its holder edits what it shared before", async () => {
    const [where, ann, ben] = await agents("Ann", "Ben")
    await reserve(ann, "a", { exclusive: false })
    await reserve(ben, "a", { exclusive: false })
    const { outcome } = await wait(ann, "a", { durationSeconds: 900 })
    await release(ben)
    const { id } = (await outcome).reservation
    await edit(where, ann.session.app, "a", { session: "session-of-Ann" })
    const all = await listReservationsIn(ann.session.app.db, ann.repositoryId, where.nowMs, 10)
    expect(all.find((one) => one.id === id)?.expiresAtMs).toBe(where.nowMs + 900_000)
  })

  test("ends for all who share at the head of the queue together", async () => {
    const [where, ann, ben, cid, dee] = await agents("Ann", "Ben", "Cid", "Dee")
    await reserve(ann, "a")
    await wait(ben, "a", { exclusive: false })
    await wait(cid, "a", { exclusive: false })
    await wait(dee, "a")
    await release(ann)
    expect(await holders(where, ann)).toEqual([
      ["Ben", "a"],
      ["Cid", "a"],
    ])
  })

  test("goes on, at its place, while others still hold some of it", async () => {
    const [where, ann, ben, cid, dee] = await agents("Ann", "Ben", "Cid", "Dee")
    await reserve(ann, "src/a")
    await reserve(ben, "src/b")
    await wait(cid, "src/**")
    await wait(dee, "src/a")
    await release(ann)
    expect(await holders(where, ann)).toEqual([["Ben", "src/b"]])
    await release(ben)
    expect(await holders(where, ann)).toEqual([["Cid", "src/**"]])
  })

  test("fails when its time is over, and leaves nothing behind", async () => {
    const [where, ann, ben] = await agents("Ann", "Ben")
    await reserve(ann, "a")
    const { outcome } = await wait(ben, "a", { timeoutSeconds: 30 })
    where.advance(30_000)
    await expect(outcome).rejects.toMatchObject({ code: "timed_out" })
    expect(await listWaits(ann.session.app.db)).toEqual([])
  })

  test("that is broken off lets in who was behind it", async () => {
    const [, ann, ben, cid] = await agents("Ann", "Ben", "Cid")
    await reserve(ann, "src/b")
    const first = await wait(ben, "src/**")
    const second = await wait(cid, "src/a")
    first.stop()
    await expect(first.outcome).rejects.toMatchObject({ code: "refused" })
    expect((await second.outcome).reservation.agentName).toBe("Cid")
  })

  test("is for so many at a time, and for no more", async () => {
    const [where, ann, ben, cid] = await agents("Ann", "Ben", "Cid")
    const { app } = ann.session
    await reserve(ann, "src/**")
    const other = { ...waitOf(where, ben), pathPattern: "src/b", exclusive: false }
    await app.db.transaction("reservations", async (tx) => {
      for (let count = 1; count < WAITS_MAX; count += 1) await insertWait(tx, other)
    })
    expect((await wait(ben, "src/a")).isQueued).toBe(true)
    await app.db.transaction("reservations", (tx) => insertWait(tx, other))
    await expect(wait(cid, "src/a")).rejects.toMatchObject({ code: "unavailable" })
  })
})

describe("what is waited for is granted in the transaction of", () => {
  test("its expiry", async () => {
    const [where, ann, ben] = await agents("Ann", "Ben")
    await reserve(ann, "a", { duration_seconds: 60 })
    await wait(ben, "a")
    where.advance(60_000)
    await closeExpired(ann.session.app)
    expect(await holders(where, ann)).toEqual([["Ben", "a"]])
  })

  test("its expiry that the next who asks finds, who is refused", async () => {
    const [where, ann, ben, cid] = await agents("Ann", "Ben", "Cid")
    await reserve(ann, "a", { duration_seconds: 60 })
    const wanted = { ...waitOf(where, ben), pathPattern: "a", exclusive: true }
    await ann.session.app.db.transaction("reservations", (tx) => insertWait(tx, wanted))
    where.advance(60_000)
    const { id, repositoryId, projectId } = cid
    const asked = { agent_id: id, repository_id: repositoryId, coordination_project_id: projectId }
    const refused = await cid.session.fail("reserve-file-paths", { ...asked, path_pattern: "a" })
    const [granted] = await listReservationsIn(ann.session.app.db, repositoryId, where.nowMs, 10)
    expect(granted?.agentName).toBe("Ben")
    expect(refused).toContain(`Reservation id: ${granted?.id}`)
  })

  test("an override, to who waited and not to who asked for it", async () => {
    const [where, ann, ben, cid] = await agents("Ann", "Ben", "Cid")
    await reserve(ann, "a")
    await wait(ben, "a")
    const { app, caller } = cid.session
    const repository = await findRepositoryById(app.db, cid.repositoryId)
    if (repository === undefined) throw new Error("no repository")
    await requestOverride(
      await admit({ app, caller }, ASKS.toolCall),
      await claimantOf(cid),
      { repository, rootPath: repository.rootPath, path: "a" },
      "it burns",
      { allowOverrides: true, requireAdminApproval: false },
    )
    expect(await holders(where, ann)).toEqual([["Ben", "a"]])
  })

  test("the end of its session, as its client tells it", async () => {
    const [where, ann, ben] = await agents("Ann", "Ben")
    await edit(where, ann.session.app, "src/a.ts", { session: "session-of-Ann" })
    const { outcome } = await wait(ben, "src/**")
    await sessionEvent(where, ann.session.app, "session-end", { session: "session-of-Ann" })
    expect(await holders(where, ben)).toEqual([["Ben", "src/**"]])
    expect((await outcome).reservation.agentName).toBe("Ben")
  })

  test("the death of its session", async () => {
    const made = new World({})
    onTestFinished(() => made.close())
    const other = await (await made.session({ name: "other" })).register("Other")
    const { pid } = await clientProcess("codex")
    await edit(made, other.session.app, "src/a.ts", { client: "codex", parentPid: pid })
    const { outcome } = await wait(other, "src/**")
    const markOf = (seen: number) => (seen === pid ? undefined : other.session.app.markOf(seen))
    await tendDeadSessions({ ...other.session.app, markOf }, { withoutGrace: true })
    expect((await outcome).reservation.agentName).toBe("Other")
  })
})

describe("a wait that would never end is refused, naming the circle", () => {
  test("of two", async () => {
    const [, ann, ben] = await agents("Ann", "Ben")
    await reserve(ann, "a")
    await reserve(ben, "b")
    await wait(ann, "b")
    await expect(wait(ben, "a")).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("Ben would wait for Ann, Ann would wait for Ben"),
    })
    expect(await listWaits(ann.session.app.db)).toHaveLength(1)
  })

  test("of three, one of whom waits for another's place in the queue alone", async () => {
    const [, ann, ben, cid, dee] = await agents("Ann", "Ben", "Cid", "Dee")
    await reserve(ann, "src/a")
    await reserve(cid, "c")
    await reserve(dee, "d")
    await wait(ben, "src/**")
    await wait(cid, "src/b")
    await expect(wait(ann, "c")).rejects.toMatchObject({
      message: expect.stringContaining(
        "Ann would wait for Cid, Cid would wait for Ben, Ben would wait for Ann",
      ),
    })
    expect((await wait(ann, "d")).isQueued).toBe(true)
  })
})
