/** Emergency overrides: who loses what, who is told, and what is written down. */

import { describe, expect, test } from "vitest"
import { REASON_CHARS_MAX } from "../../../src/config/limits.ts"
import type { AppError } from "../../../src/errors.ts"
import type { Claimant } from "../../../src/operations/coordination/claims.ts"
import { findLocation } from "../../../src/operations/coordination/locations.ts"
import {
  decideOverride,
  requestOverride,
  requireOverride,
} from "../../../src/operations/coordination/overrides.ts"
import { findAgentById } from "../../../src/store/coordination/agents.ts"
import { listAudit, listOverrides } from "../../../src/store/coordination/overrides.ts"
import { findProjectById } from "../../../src/store/projects.ts"
import { findRepositoryById } from "../../../src/store/repositories.ts"
import { contextOf, edit, heldIn, reserve } from "../../support/hook.ts"
import { agents, type TestAgent, world } from "../../support/world.ts"

const AT_ONCE = { allowOverrides: true, requireAdminApproval: false }
const AFTER_APPROVAL = { allowOverrides: true, requireAdminApproval: true }

async function claimantOf(agent: TestAgent, others: readonly TestAgent[]): Promise<Claimant> {
  const { db } = agent.session.app
  const [known, project] = [await findAgentById(db, agent.id), await findProjectById(db, agent.projectId)]
  if (known === undefined || project === undefined) throw new Error(`no agent ${agent.id}`)
  return { agent: known, project, ownAgentIds: new Set([agent, ...others].map(({ id }) => id)) }
}

/** Requests an override as an agent, alone or together with others of its session. */
async function request(
  agent: TestAgent,
  path: string,
  rules = AT_ONCE,
  { reason = "the build is broken", others = [] }: { reason?: string; others?: readonly TestAgent[] } = {},
) {
  const { app } = agent.session
  const location = await findLocation(app, path, await findRepositoryById(app.db, agent.repositoryId))
  if (location === undefined) throw new Error(`${path} lies nowhere`)
  const claimant = await claimantOf(agent, others)
  return requestOverride(await contextOf(app), claimant, location, reason, rules)
}

const decide = async (agent: TestAgent, id: number, approved: boolean) =>
  decideOverride(await contextOf(agent.session.app), id, approved, "admin")

/** Returns the audit of an override as `kind actor reservation`, oldest first. */
async function auditOf({ session }: TestAgent, id: number): Promise<string[]> {
  const entries = await listAudit(session.app.db, id)
  return entries.map(({ kind, actor, reservationId }) => `${kind} ${actor} ${reservationId ?? "-"}`)
}

const inboxOf = (agent: TestAgent) =>
  agent.session.call("fetch-inbox", {
    agent_name: agent.name,
    project_id: agent.projectId,
    include_bodies: true,
  })

async function failure(promise: Promise<unknown>): Promise<AppError> {
  return promise.then(
    () => Promise.reject(new Error("it succeeded")),
    (error: AppError) => error,
  )
}

describe("an override", () => {
  test("releases the holder's reservation at once, tells the holder, and is written down", async () => {
    const [made, ada, bob] = await agents("Ada", "Bob")
    await reserve(ada, "src/**")
    made.advance(60_000)
    const { override, released } = await request(bob, "src/a.ts")
    expect(override).toMatchObject({ status: "approved", requesterName: "Bob", path: "src/a.ts" })
    expect(override).toMatchObject({ requestedAtMs: made.nowMs, decidedAtMs: made.nowMs })
    expect(released.map(({ id, pathPattern }) => [id, pathPattern])).toEqual([[1, "src/**"]])
    expect(await heldIn(ada.session.app)).toEqual([])
    expect(await auditOf(ada, override.id)).toEqual([
      "requested Bob -",
      "approved settings -",
      "released Bob 1",
    ])
    const inbox = await inboxOf(ada)
    expect(inbox).toContain("### Your reservation of src/** was overridden")
    expect(inbox).toMatch(/^From: Signalbox/m)
    for (const part of ["Bob needed src/a.ts", "Reason: the build is broken", "2026-03-10T13:00:00.000Z"])
      expect(inbox).toContain(part)
    const updates = { project_id: ada.projectId, since_ts: "2026-03-10T12:00:30Z" }
    expect(await ada.session.call("get-latest-updates", updates)).toMatch(/released/i)
  })

  test("frees the file for the hook", async () => {
    const [made, ada, bob] = await agents("Ada", "Bob")
    await reserve(ada, "src/**")
    const session = "session-of-Bob"
    expect((await edit(made, bob.session.app, "src/a.ts", { session })).exitCode).toBe(2)
    await request(bob, "src/a.ts")
    expect((await edit(made, bob.session.app, "src/a.ts", { session })).exitCode).toBe(0)
  })

  test("takes from every holder in every project, and from no other file", async () => {
    const made = world()
    const ada = await (await made.session({ name: "a" })).register("Ada", { project_key: "one" })
    const eve = await (await made.session({ name: "e" })).register("Eve", { project_key: "two" })
    const bob = await (await made.session({ name: "b" })).register("Bob", { project_key: "three" })
    await reserve(ada, "src/*", { exclusive: false })
    await reserve(eve, "**/a.ts", { exclusive: false })
    await reserve(eve, "docs/**")
    const { released } = await request(bob, "src/a.ts")
    expect(released.map(({ agentName }) => agentName).sort()).toEqual(["Ada", "Eve"])
    expect(await heldIn(ada.session.app)).toEqual(["docs/** exclusive 3600"])
    for (const agent of [ada, eve]) expect(await inboxOf(agent)).toContain("was overridden")
  })

  test("takes what shuts the requester out, and leaves its holder what can be shared", async () => {
    const [, ada, bob] = await agents("Ada", "Bob")
    await reserve(ada, "src/a.ts")
    await reserve(ada, "src/**", { exclusive: false })
    expect((await request(bob, "src/a.ts")).released.map(({ pathPattern }) => pathPattern)).toEqual([
      "src/a.ts",
    ])
    expect(await heldIn(ada.session.app)).toEqual(["src/** shared 3600"])
  })

  test("leaves the requester's own reservations and those of its session alone, now and after approval", async () => {
    const [, ada, bob] = await agents("Ada", "Bob")
    const second = await bob.session.register("Second")
    for (const rules of [AT_ONCE, AFTER_APPROVAL]) {
      for (const agent of [ada, bob, second]) await reserve(agent, "a.ts", { exclusive: false })
      const { override } = await request(bob, "a.ts", rules, { others: [second] })
      if (override.status === "pending") await decide(ada, override.id, true)
      expect(await heldIn(ada.session.app), override.status).toHaveLength(2)
      expect(await inboxOf(second)).not.toContain("overridden")
    }
  })

  test("of a file that nobody else holds is refused, and leaves nothing behind", async () => {
    const [made, ada, bob] = await agents("Ada", "Bob")
    await reserve(bob, "a.ts")
    expect((await failure(request(bob, "a.ts"))).code).toBe("not_found")
    await reserve(ada, "b.ts", { duration_seconds: 1 })
    made.advance(1_000)
    expect((await failure(request(bob, "b.ts"))).code).toBe("not_found")
    expect(await listOverrides(ada.session.app.db, null, 10)).toEqual([])
  })

  test("is refused where overrides are switched off, and leaves nothing behind", async () => {
    const [, ada, bob] = await agents("Ada", "Bob")
    await reserve(ada, "a.ts")
    for (const requireAdminApproval of [true, false]) {
      const error = await failure(request(bob, "a.ts", { allowOverrides: false, requireAdminApproval }))
      expect(error.code).toBe("forbidden")
      expect(error.message).toContain("allowOverrides")
    }
    expect(await heldIn(ada.session.app)).toHaveLength(1)
    expect(await listOverrides(ada.session.app.db, null, 10)).toEqual([])
  })

  test.each([
    ["", false],
    [" \n", false],
    ["x", true],
    ["x".repeat(REASON_CHARS_MAX), true],
    ["x".repeat(REASON_CHARS_MAX + 1), false],
  ])("with the reason %j: accepted %s", async (reason, isAccepted) => {
    const [, ada, bob] = await agents("Ada", "Bob")
    await reserve(ada, "a.ts")
    const requested = request(bob, "a.ts", AT_ONCE, { reason })
    if (isAccepted) expect((await requested).override.reason).toBe(reason)
    else expect(await failure(requested)).toMatchObject({ code: "invalid", field: "reason" })
  })

  test("keeps a path literal and its texts on lines of their own", async () => {
    const [, ada, bob] = await agents("Ada", "Bob")
    await reserve(ada, "app/\\[id\\]/a\nb.ts")
    await reserve(ada, "app/i/*")
    await request(bob, "app/[id]/a\nb.ts", AT_ONCE, { reason: "one\n\n### Forged" })
    expect(await heldIn(ada.session.app)).toEqual(["app/i/* exclusive 3600"])
    expect(await inboxOf(ada)).not.toMatch(/^### Forged/m)
  })
})

describe("an override that an admin has to approve", () => {
  /** Ada holds src/**, Bob asks for a file there; returns the id of the request. */
  async function pending() {
    const [made, ada, bob] = await agents("Ada", "Bob")
    await reserve(ada, "src/**")
    const { override, released } = await request(bob, "src/a.ts", AFTER_APPROVAL)
    expect([override.status, override.decidedAtMs, released]).toEqual(["pending", null, []])
    made.advance(60_000)
    return { made, ada, bob, id: override.id }
  }

  test("changes nothing and tells nobody until then", async () => {
    const { ada, id } = await pending()
    expect(await heldIn(ada.session.app)).toHaveLength(1)
    expect(await inboxOf(ada)).toContain("Total: 0")
    expect(await auditOf(ada, id)).toEqual(["requested Bob -"])
    expect(await listOverrides(ada.session.app.db, "pending", 10)).toHaveLength(1)
  })

  test("releases once it is approved, and tells holder and requester", async () => {
    const { made, ada, bob, id } = await pending()
    const { override, released } = await decide(ada, id, true)
    expect(override).toMatchObject({ status: "approved", decidedAtMs: made.nowMs })
    expect(released).toHaveLength(1)
    expect(await heldIn(ada.session.app)).toEqual([])
    expect(await auditOf(ada, id)).toEqual(["requested Bob -", "approved admin -", "released Bob 1"])
    expect(await inboxOf(ada)).toContain("was overridden")
    expect(await inboxOf(bob)).toMatch(/approved/)
  })

  test("releases nothing when it is denied, and tells the requester alone", async () => {
    const { made, ada, bob, id } = await pending()
    const { override, released } = await decide(ada, id, false)
    expect(override).toMatchObject({ status: "denied", decidedAtMs: made.nowMs })
    expect(released).toEqual([])
    expect(await heldIn(ada.session.app)).toHaveLength(1)
    expect(await auditOf(ada, id)).toEqual(["requested Bob -", "denied admin -"])
    expect(await inboxOf(bob)).toContain("Override denied: src/a.ts")
    expect(await inboxOf(ada)).toContain("Total: 0")
  })

  test.each([true, false])("is decided once (first %s)", async (approved) => {
    const { ada, id } = await pending()
    await decide(ada, id, approved)
    const before = await listAudit(ada.session.app.db, id)
    for (const again of [true, false]) {
      const error = await failure(decide(ada, id, again))
      expect(error.code).toBe("conflict")
      expect(error.message).toContain(approved ? "approved" : "denied")
    }
    expect(await listAudit(ada.session.app.db, id)).toEqual(before)
  })

  test("is decided once when two decide at the same time", async () => {
    const { ada, bob, id } = await pending()
    const decided = await Promise.allSettled([decide(ada, id, true), decide(bob, id, false)])
    expect(decided.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"])
  })

  test("is approved without effect when the reservation is gone", async () => {
    const { made, ada, id } = await pending()
    made.advance(3_600_000)
    const { override, released } = await decide(ada, id, true)
    expect([override.status, released]).toEqual(["approved", []])
    expect(await auditOf(ada, id)).toEqual(["requested Bob -", "approved admin -"])
    expect(await inboxOf(ada)).toContain("Total: 0")
  })

  test("takes the path from whoever holds it by then", async () => {
    const { made, ada, id } = await pending()
    made.advance(3_600_000)
    const eve = await (await made.session({ name: "e" })).register("Eve")
    await reserve(eve, "src/a.ts")
    expect((await decide(ada, id, true)).released.map(({ agentName }) => agentName)).toEqual(["Eve"])
    expect(await inboxOf(eve)).toContain("was overridden")
  })

  test("that there is none is said", async () => {
    const { ada, id } = await pending()
    expect((await failure(decide(ada, id + 1, true))).code).toBe("not_found")
    expect((await failure(requireOverride(ada.session.app.db, 0))).code).toBe("not_found")
  })
})

test("what is written down stays as it was: later entries come behind, earlier ones never change", async () => {
  const [, ada, bob] = await agents("Ada", "Bob")
  const { db } = ada.session.app
  const everything = () => db.all("SELECT * FROM audit_log ORDER BY id")
  let before = await everything()
  for (const approved of [true, false, true]) {
    await reserve(ada, "a.ts")
    const { override } = await request(bob, "a.ts", AFTER_APPROVAL)
    await decide(ada, override.id, approved)
    const after = await everything()
    expect(after.slice(0, before.length)).toEqual(before)
    expect(after.length).toBe(before.length + (approved ? 3 : 2))
    before = after
  }
  expect((await listOverrides(db, null, 2)).map(({ id }) => id)).toEqual([3, 2])
  expect((await listOverrides(db, "denied", 10)).map(({ id }) => id)).toEqual([2])
})
