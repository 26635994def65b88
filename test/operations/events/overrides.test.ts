/** What is told of overrides, with what they release. */

import { expect, test } from "vitest"
import { findLocation } from "../../../src/operations/coordination/locations.ts"
import { decideOverride, requestOverride } from "../../../src/operations/coordination/overrides.ts"
import { findAgentById } from "../../../src/store/coordination/agents.ts"
import { findProjectById } from "../../../src/store/projects.ts"
import { findRepositoryById } from "../../../src/store/repositories.ts"
import { eventsDuring } from "../../support/events.ts"
import { contextOf, reserve } from "../../support/hook.ts"
import { agents, type TestAgent } from "../../support/world.ts"

async function request(agent: TestAgent, path: string, requireAdminApproval: boolean) {
  const { app } = agent.session
  const location = await findLocation(app, path, await findRepositoryById(app.db, agent.repositoryId))
  const known = await findAgentById(app.db, agent.id)
  const project = await findProjectById(app.db, agent.projectId)
  if (location === undefined || known === undefined || project === undefined) throw new Error("not there")
  const claimant = { agent: known, project, ownAgentIds: new Set([agent.id]) }
  const rules = { allowOverrides: true, requireAdminApproval }
  return requestOverride(await contextOf(app), claimant, location, "the build is broken", rules)
}

test("what settings approve at once is told as asked, approved and released", async () => {
  const [, ada, bob, cid] = await agents("Ada", "Bob", "Cid")
  await reserve(ada, "src/**", { exclusive: false })
  await reserve(cid, "src/*.ts", { exclusive: false })
  const events = await eventsDuring(bob.session.app, () => request(bob, "src/a.ts", false))
  const holders = ["Ada", "Cid"]
  const told = { agentId: bob.id, partyId: ada.id, projectId: bob.projectId, repositoryId: 1 }
  const data = { path: "src/a.ts", reason: "the build is broken", holders }
  expect(events).toMatchObject([
    { ...told, kind: "override.requested", data },
    { ...told, kind: "override.approved", data: { ...data, decided_by: "settings" } },
    { kind: "reservation.released", agentId: ada.id },
    { kind: "reservation.released", agentId: cid.id },
  ])
  expect(events[0]?.subjectId).toBe(events[1]?.subjectId)
})

test.each([
  [true, ["override.approved", "reservation.released"]],
  [false, ["override.denied"]],
])("what waits is told when it is decided: approved %s", async (approved, kinds) => {
  const [, ada, bob] = await agents("Ada", "Bob")
  const { app } = bob.session
  await reserve(ada, "src/**")
  const { override } = await request(bob, "src/a.ts", true)
  const context = await contextOf(app)
  const decide = () => decideOverride(context, override.id, approved, "eve")
  const events = await eventsDuring(app, decide)
  expect(events.map(({ kind }) => kind)).toEqual(kinds)
  expect(events[0]).toMatchObject({
    agentId: bob.id,
    partyId: ada.id,
    subjectId: override.id,
    data: { override_id: override.id, holders: ["Ada"], decided_by: "eve" },
  })
  expect(await eventsDuring(app, () => decide().catch(() => undefined))).toEqual([])
})

test("a request that finds nobody in its way tells nothing", async () => {
  const [, bob] = await agents("Bob")
  const events = await eventsDuring(bob.session.app, () =>
    request(bob, "src/a.ts", false).catch(() => undefined),
  )
  expect(events).toEqual([])
})
