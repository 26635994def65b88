/** Claims: all files or none, for one holder of many agents, with what it has already. */

import { describe, expect, test } from "vitest"
import {
  areCovered,
  type Claimant,
  type ClaimedPath,
  claim,
  claimOf,
  findClaimConflicts,
  findHolders,
  findSharers,
} from "../../../src/operations/coordination/claims.ts"
import { findAgentById } from "../../../src/store/coordination/agents.ts"
import { findProjectById } from "../../../src/store/projects.ts"
import { findRepositoryById } from "../../../src/store/repositories.ts"
import { contextOf, heldIn, reserve } from "../../support/hook.ts"
import { agents, type TestAgent, world } from "../../support/world.ts"

const TERMS = { durationSeconds: 600, reason: null, keeps: true }

/** An agent as a claimant, alone or together with others of its session. */
async function claimantOf(agent: TestAgent, ...others: readonly TestAgent[]): Promise<Claimant> {
  const { db } = agent.session.app
  const [known, project] = [await findAgentById(db, agent.id), await findProjectById(db, agent.projectId)]
  if (known === undefined || project === undefined) throw new Error(`no agent ${agent.id}`)
  return { agent: known, project, ownAgentIds: new Set([agent, ...others].map(({ id }) => id)) }
}

async function pathsOf(
  agent: TestAgent,
  files: Record<string, "shared" | "exclusive">,
): Promise<ClaimedPath[]> {
  const repository = await findRepositoryById(agent.session.app.db, agent.repositoryId)
  if (repository === undefined) throw new Error("no repository")
  const { rootPath } = repository
  return Object.entries(files).map(([path, mode]) =>
    claimOf({ repository, rootPath, path }, mode === "exclusive"),
  )
}

async function claimAs(
  agent: TestAgent,
  files: Record<string, "shared" | "exclusive">,
  { others = [], terms = TERMS }: { others?: readonly TestAgent[]; terms?: Parameters<typeof claim>[4] } = {},
) {
  const { app } = agent.session
  const [claimant, paths] = [await claimantOf(agent, ...others), await pathsOf(agent, files)]
  const context = await contextOf(app)
  return app.db.transaction("repository:1", (tx) => claim(tx, context, claimant, paths, terms))
}

const patternsOf = (outcome: Awaited<ReturnType<typeof claimAs>>) =>
  "held" in outcome ? outcome.held.map(({ pathPattern }) => pathPattern) : undefined

describe("a claim", () => {
  test("of free files reserves each, with the reason, for as long as is asked", async () => {
    const [, ada] = await agents("Ada")
    const terms = { durationSeconds: 60, reason: "tidy up", keeps: true }
    const outcome = await claimAs(ada, { "a.ts": "shared", "b.ts": "exclusive" }, { terms })
    expect(outcome).toMatchObject({ hasNew: true, conflicts: [] })
    expect("held" in outcome && outcome.held.map(({ reason }) => reason)).toEqual(["tidy up", "tidy up"])
    expect(await heldIn(ada.session.app)).toEqual(["a.ts shared 60", "b.ts exclusive 60"])
  })

  test("with one file that is not free reserves none, and names file and holder", async () => {
    const [, ada, bob] = await agents("Ada", "Bob")
    await reserve(bob, "b.ts")
    const outcome = await claimAs(ada, { "a.ts": "shared", "b.ts": "shared", "c.ts": "shared" })
    expect(outcome).not.toHaveProperty("held")
    expect(outcome.conflicts).toHaveLength(1)
    expect(outcome.conflicts[0]).toMatchObject({
      claimed: { path: "b.ts" },
      reservation: { agentName: "Bob" },
      witness: "b.ts",
    })
    expect(await heldIn(ada.session.app)).toEqual(["b.ts exclusive 3600"])
  })

  test("names every conflict of every file", async () => {
    const [, ada, bob, eve] = await agents("Ada", "Bob", "Eve")
    await reserve(bob, "src/**", { exclusive: false })
    await reserve(eve, "src/a.ts", { exclusive: false })
    const { conflicts } = await claimAs(ada, { "src/a.ts": "exclusive", "src/b.ts": "exclusive" })
    const named = conflicts.map(({ claimed, reservation }) => `${claimed.path} ${reservation.agentName}`)
    expect(named.sort()).toEqual(["src/a.ts Bob", "src/a.ts Eve", "src/b.ts Bob"])
  })

  test.each([
    ["shared", "shared", false],
    ["shared", "exclusive", true],
    ["exclusive", "shared", true],
    ["exclusive", "exclusive", true],
  ] as const)("of a file held %s, wanted %s: conflict %s", async (held, wanted, isConflict) => {
    const [, ada, bob] = await agents("Ada", "Bob")
    await claimAs(bob, { "a.ts": held })
    expect((await claimAs(ada, { "a.ts": wanted })).conflicts.length > 0).toBe(isConflict)
  })

  test("again is no new one, and gives the later expiry", async () => {
    const [made, ada] = await agents("Ada")
    await claimAs(ada, { "a.ts": "shared" })
    made.advance(1_000)
    expect(await claimAs(ada, { "a.ts": "shared" })).toMatchObject({ hasNew: false })
    expect(await heldIn(ada.session.app)).toEqual(["a.ts shared 600"])
    const terms = { ...TERMS, durationSeconds: 1 }
    await claimAs(ada, { "a.ts": "shared" }, { terms })
    expect(await heldIn(ada.session.app)).toEqual(["a.ts shared 600"])
  })

  test("beside a new one is new", async () => {
    const [, ada] = await agents("Ada")
    await claimAs(ada, { "a.ts": "shared" })
    expect(await claimAs(ada, { "a.ts": "shared", "b.ts": "shared" })).toMatchObject({ hasNew: true })
  })

  test("of what a wider reservation covers is that one, while a minute of it remains", async () => {
    const [made, ada] = await agents("Ada")
    await reserve(ada, "src/**", { duration_seconds: 120 })
    made.advance(60_000)
    expect(patternsOf(await claimAs(ada, { "src/a.ts": "shared" }))).toEqual(["src/**"])
    made.advance(1)
    expect(patternsOf(await claimAs(ada, { "src/a.ts": "shared" }))).toEqual(["src/a.ts"])
  })

  test("for one alone is not covered by what is only shared", async () => {
    const [, ada] = await agents("Ada")
    await reserve(ada, "src/**", { exclusive: false })
    expect(patternsOf(await claimAs(ada, { "src/a.ts": "exclusive" }))).toEqual(["src/a.ts"])
    expect(await heldIn(ada.session.app)).toEqual(["src/** shared 3600", "src/a.ts exclusive 600"])
  })

  test.each([
    ["that is about to run out", 59],
    ["that is not", 3_600],
  ])("never makes an exclusive reservation %s shared, whatever else is held", async (_, seconds) => {
    const [, ada] = await agents("Ada")
    await reserve(ada, "**", { exclusive: false, duration_seconds: 59 })
    await reserve(ada, "src/a.ts", { duration_seconds: seconds })
    await claimAs(ada, { "src/a.ts": "shared" })
    expect(
      (await heldIn(ada.session.app)).filter((line) => line.startsWith("src/a.ts exclusive")),
    ).toHaveLength(1)
  })

  test("is one of all the session's agents, and of no other's", async () => {
    const [, ada, bob, eve] = await agents("Ada", "Bob", "Eve")
    await reserve(bob, "src/**")
    const together = await claimAs(ada, { "src/a.ts": "exclusive" }, { others: [bob] })
    expect(patternsOf(together)).toEqual(["src/**"])
    expect((await claimAs(eve, { "src/a.ts": "shared" }, { others: [ada] })).conflicts).toHaveLength(1)
  })

  test("of a file that another agent of the session reserved by name is no second reservation", async () => {
    const [, ada, bob] = await agents("Ada", "Bob")
    await reserve(bob, "src/a.ts")
    expect(await claimAs(ada, { "src/a.ts": "shared" }, { others: [bob] })).toMatchObject({ hasNew: false })
    expect(await heldIn(ada.session.app)).toHaveLength(1)
  })

  test("closes with a reservation that has run out and is followed by another's", async () => {
    const [made, ada, bob] = await agents("Ada", "Bob")
    await claimAs(ada, { "a.ts": "exclusive" })
    made.advance(599_999)
    expect((await claimAs(bob, { "a.ts": "exclusive" })).conflicts).toHaveLength(1)
    made.advance(1)
    expect(patternsOf(await claimAs(bob, { "a.ts": "exclusive" }))).toEqual(["a.ts"])
    expect(await heldIn(ada.session.app)).toEqual(["a.ts exclusive 600"])
  })

  test("is granted to one only of many that come at the same time", async () => {
    const made = world()
    const all: TestAgent[] = []
    for (const name of ["Ada", "Bob", "Eve", "Joe"])
      all.push(await (await made.session({ name })).register(name))
    const files = { "a.ts": "exclusive", "b.ts": "exclusive" } as const
    const outcomes = await Promise.all(all.map((agent) => claimAs(agent, files)))
    expect(outcomes.filter((outcome) => "held" in outcome)).toHaveLength(1)
  })
})

describe("looking at claims", () => {
  test("nobody's claim meets everybody, one's own nobody of one's own", async () => {
    const [made, ada, bob] = await agents("Ada", "Bob")
    await reserve(bob, "a.ts")
    const { db } = ada.session.app
    const paths = await pathsOf(ada, { "a.ts": "shared" })
    expect(await findClaimConflicts(db, undefined, paths, made.nowMs)).toHaveLength(1)
    expect(await findClaimConflicts(db, await claimantOf(bob), paths, made.nowMs)).toEqual([])
    expect(await findClaimConflicts(db, await claimantOf(ada, bob), paths, made.nowMs)).toEqual([])
  })

  test("sharers are all others that hold a file, holders are all", async () => {
    const [made, ada, bob] = await agents("Ada", "Bob")
    await reserve(ada, "**", { exclusive: false })
    await reserve(bob, "src/*", { exclusive: false })
    const { db } = ada.session.app
    const [file] = await pathsOf(ada, { "src/a.ts": "shared" })
    if (file === undefined) throw new Error("no file")
    const sharers = await findSharers(db, await claimantOf(ada), file, made.nowMs)
    expect(sharers.map(({ agentName }) => agentName)).toEqual(["Bob"])
    const holders = await findHolders(db, file, made.nowMs)
    expect(holders.map(({ agentName }) => agentName).sort()).toEqual(["Ada", "Bob"])
  })

  test("files are covered when all of them are, in the mode and for the minute that are needed", async () => {
    const [made, ada, bob] = await agents("Ada", "Bob")
    await reserve(ada, "src/**", { exclusive: false, duration_seconds: 60 })
    await reserve(ada, "docs/**", { duration_seconds: 60 })
    const { db } = ada.session.app
    const covered = async (files: Record<string, "shared" | "exclusive">, agent = ada) =>
      areCovered(db, await claimantOf(agent), await pathsOf(ada, files), made.nowMs, new Map())
    expect(await covered({ "src/a.ts": "shared", "docs/a.md": "exclusive" })).toBe(true)
    expect(await covered({ "src/a.ts": "exclusive" })).toBe(false)
    expect(await covered({ "src/a.ts": "shared", "b.ts": "shared" })).toBe(false)
    expect(await covered({ "src/a.ts": "shared" }, bob)).toBe(false)
    made.advance(1)
    expect(await covered({ "src/a.ts": "shared" })).toBe(false)
  })
})
