/** What is told of reservations: each change once, in the transaction that makes it. */

import { expect, test } from "vitest"
import type { App } from "../../../src/operations/app.ts"
import { closeExpired } from "../../../src/operations/coordination/expiry.ts"
import { cleanUp } from "../../../src/operations/coordination/typed-paths.ts"
import { eventsIn } from "../../support/events.ts"
import { agents, numberAfter, type TestAgent } from "../../support/world.ts"

function reserve(agent: TestAgent, pathPattern: string, args: Record<string, unknown> = {}): Promise<string> {
  return agent.session.call("reserve-file-paths", {
    agent_id: agent.id,
    repository_id: agent.repositoryId,
    coordination_project_id: agent.projectId,
    path_pattern: pathPattern,
    duration_seconds: 60,
    ...args,
  })
}

test("what is granted, renewed and released is told with its pattern, mode, expiry and reason", async () => {
  const [world, ada] = await agents("Ada")
  const { app } = ada.session
  const id = numberAfter(await reserve(ada, "src/a.ts", { reason: "login" }), "Reservation id")
  world.advance(1_000)
  await reserve(ada, "src/a.ts", { exclusive: false })
  const args = { agent_id: ada.id, coordination_project_id: ada.projectId, reservation_ids: [id] }
  await ada.session.call("release-file-reservations", args)
  // The same again changes nothing.
  await ada.session.call("release-file-reservations", args)
  const facts = { reservation_id: id, path_pattern: "src/a.ts", reason: "login" }
  const first = { ...facts, mode: "exclusive", expires_at: "2026-03-10T12:01:00.000Z" }
  const then = { ...facts, mode: "shared", expires_at: "2026-03-10T12:01:01.000Z" }
  const of = { projectId: ada.projectId, repositoryId: ada.repositoryId, agentId: ada.id, subjectId: id }
  expect(await eventsIn(app.db, "reservation.")).toMatchObject([
    { ...of, kind: "reservation.granted", data: first },
    { ...of, kind: "reservation.renewed", data: then },
    { ...of, kind: "reservation.released", data: then },
  ])
})

const CLOSERS: [string, (agent: TestAgent) => Promise<unknown>][] = [
  ["the watch of who listens", ({ session }) => closeExpired(session.app)],
  ["the next grant", (agent) => reserve(agent, "docs/x.md")],
  ["cleaning up", ({ session }) => cleanUp(session.app)],
]

test.each(CLOSERS)("%s tells once of each reservation that has run out", async (_, close) => {
  const [world, ada] = await agents("Ada")
  const { app } = ada.session
  const late = numberAfter(await reserve(ada, "src/a.ts", { duration_seconds: 90 }), "Reservation id")
  const early = numberAfter(await reserve(ada, "src/**"), "Reservation id")
  world.advance(89_999)
  await close(ada)
  expect((await eventsIn(app.db, "reservation.expired")).map(({ subjectId }) => subjectId)).toEqual([early])
  world.advance(1)
  await close(ada)
  for (const [, again] of CLOSERS) await again(ada)
  expect(await eventsIn(app.db, "reservation.expired")).toMatchObject([
    { subjectId: early, agentId: ada.id, data: { expires_at: "2026-03-10T12:01:00.000Z" } },
    { subjectId: late, agentId: ada.id, data: { path_pattern: "src/a.ts", mode: "exclusive", reason: null } },
  ])
})

test("where nothing has run out the watch takes no lock", async () => {
  const [, ada] = await agents("Ada")
  const { db, now } = ada.session.app
  await reserve(ada, "src/a.ts")
  let transactions = 0
  const counting = {
    ...db,
    get: db.get.bind(db),
    transaction: () => {
      transactions += 1
      return Promise.resolve(0)
    },
  }
  expect(await closeExpired({ db: counting as unknown as App["db"], now })).toBe(0)
  expect(transactions).toBe(0)
  await closeExpired({ db: counting as unknown as App["db"], now: () => now() + 60_000 })
  expect(transactions).toBe(1)
})
