/** Who may use the memory tools on which memories, and how often. */

import { execFileSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import type { Plan } from "../../../src/domain/api-key.ts"
import { createKey } from "../../../src/operations/keys.ts"
import { create, NO_ID, ON_MANY, ON_ONE, toolsOn } from "../../support/memory-tools.ts"
import { type Session, textAfter, type World, world } from "../../support/world.ts"

const MINUTE_MS = 60_000
async function keyOf(session: Session, scopes: string[], plan: Plan = "starter"): Promise<string> {
  const request = { name: "test", environment: "live", plan, expiresAtMs: null, scopes } as const
  return (await createKey(session.app, request)).text
}

/** Two repositories, each with a server in it and a memory; "there" is repository 2. */
async function twoTenants() {
  const made = world()
  const here = await made.session()
  const folder = join(made.folder, "elsewhere")
  mkdirSync(folder)
  execFileSync("git", ["init", "--quiet", folder])
  const there = await made.session({ workingFolder: folder })
  expect([here.caller.homeRepository?.id, there.caller.homeRepository?.id]).toEqual([1, 2])
  const own = await create(here, "the secret plan")
  const foreign = await create(there, "the secret plan")
  const foreignState = async () =>
    [await there.call("list-memories", { full: true }), await there.call("get-memory-stats", {})].join("\n")
  return { made, here, there, own, foreign, foreignState }
}

async function withScopes(made: World, session: Session, ...scopes: string[]): Promise<Session> {
  return made.session({ apiKey: await keyOf(session, scopes) })
}

describe("a memory of another repository", () => {
  test.each(ON_ONE)("is as unknown to %s as one that does not exist", async (tool, args) => {
    const { here, foreign, foreignState } = await twoTenants()
    const before = await foreignState()
    const missing = await here.fail(tool, { ...args, memory_id: NO_ID })
    for (const memory_id of [foreign, foreign.toUpperCase()])
      expect(await here.fail(tool, { ...args, memory_id })).toBe(missing.replace(NO_ID, memory_id))
    expect(await foreignState()).toBe(before)
  })

  test("is in nothing that the other tools say, and is not pruned", async () => {
    const { made, here, own, foreign, foreignState } = await twoTenants()
    const before = await foreignState()
    const alike = await here.call("create-memory", { content: "the secret plan" })
    expect(textAfter(alike, "Much like")).toMatch(new RegExp(`^${own} `))
    const ids = [own, textAfter(alike, "Memory id")]
    for (const [tool, args] of [
      ["search-memories", { query: "secret plan" }],
      ["list-memories", {}],
      ["get-memory-waypoints", { memory_id: own, min_weight: 0 }],
    ] as const) {
      const text = await here.call(tool, args)
      expect(text, tool).toContain(ids[1])
      expect(text, tool).not.toContain(foreign)
    }
    expect(textAfter(await here.call("get-memory-stats", {}), "Memories")).toBe("2")
    expect(await foreignState()).toBe(before)
    made.advance(365 * 86_400_000)
    expect(textAfter(await here.call("prune-memories", { threshold: 1, dry_run: false }), "Deleted")).toBe(
      "2",
    )
    expect(await foreignState()).toContain(foreign)
  })

  test("is reached by every tool that names its repository", async () => {
    const { here, own, foreign } = await twoTenants()
    for (const [tool, args] of toolsOn(foreign)) await here.call(tool, { ...args, repository_id: 2 })
    expect(await here.call("list-memories", { repository_id: 2 })).not.toContain(foreign)
    expect(await here.call("list-memories", {})).toContain(own)
  })
})

describe("a key", () => {
  test.each(ON_MANY)(
    "for the memories of a repository permits %s there and nowhere else",
    async (tool, args) => {
      const { made, here, foreignState } = await twoTenants()
      const before = await foreignState()
      const bound = await withScopes(made, here, "repo:1:memory")
      await bound.call(tool, args)
      await bound.call(tool, { ...args, repository_id: 1 })
      const refused = await bound.fail(tool, { ...args, repository_id: 2 })
      expect(refused).toContain(
        "insufficient permissions; required scope: repo:2:memory (this key has repo:1:memory)",
      )
      const unknown = await bound.fail(tool, { ...args, repository_id: 99 })
      expect(unknown.replace("repo:99:", "repo:2:")).toBe(refused)
      expect(await foreignState()).toBe(before)
    },
  )

  test("for memories permits no tool of coordination", async () => {
    const { made, here } = await twoTenants()
    const bound = await withScopes(made, here, "repo:1:memory")
    expect(await bound.fail("list-agents", { project_key: "demo" })).toContain("insufficient permissions")
  })

  test.each([["repo:1:coordination"], ["project:demo:coordination"], ["repo:1:documentation"], ["admin"]])(
    "with no more than %s permits no memory tool",
    async (scope) => {
      const { made, here, own } = await twoTenants()
      const bound = await withScopes(made, here, scope)
      for (const [tool, args] of toolsOn(own)) {
        expect(await bound.fail(tool, args)).toMatch(
          new RegExp(
            `^Failed to ${tool.replaceAll("-", " ")}: insufficient permissions; required scope: repo:\\{repository_id\\}:memory\\. `,
          ),
        )
      }
      expect(textAfter(await here.call("get-memory-stats", {}), "Memories")).toBe("1")
    },
  )

  test("of several scopes permits each of their repositories, and one of all scopes every one", async () => {
    const { made, here } = await twoTenants()
    for (const scopes of [["repo:1:coordination", "repo:1:memory", "repo:2:memory"], ["*"]]) {
      const bound = await withScopes(made, here, ...scopes)
      for (const repository_id of [1, 2]) await create(bound, "x", { repository_id })
    }
  })

  test("that is unknown is refused by every tool", async () => {
    const made = world()
    const session = await made.session({ apiKey: "signalbox_live_sk_x" })
    for (const [tool, args] of toolsOn(NO_ID))
      expect(await session.fail(tool, args)).toContain("tenant authentication required")
  })
})

describe("rates", () => {
  const refusal =
    /^Failed to get memory stats: rate limit exceeded: memory requests, \d+ per minute per API key\. Try again in/

  test("each memory tool takes one of the plan's requests a minute, failed ones too", async () => {
    const made = world({ limits: true })
    const session = await made.session({ apiKey: await keyOf(await made.session(), ["*"]) })
    const id = await create(session, "x")
    let taken = 1
    for (const [tool, args] of toolsOn(id).filter(([name]) => name !== "prune-memories")) {
      await session.call(tool, args)
      taken += 1
    }
    await session.fail("create-memory", {})
    await session.fail("get-memory", { memory_id: NO_ID })
    for (taken += 2; taken < 60; taken += 1) await session.call("get-memory-stats", {})
    made.advance(15_000)
    for (const [tool, args] of toolsOn(id))
      expect(await session.fail(tool, args)).toMatch(/60 per minute per API key\. Try again in 45 s\.$/)
    expect(await session.fail("get-memory-stats", {})).toMatch(refusal)
    made.advance(MINUTE_MS - 15_000)
    await session.call("get-memory-stats", {})
  })

  test.each<[Plan, number]>([
    ["pro", 300],
    ["enterprise", 1_000],
  ])("of plan %s are %d a minute and not one more", async (plan, figure) => {
    const made = world({ limits: true })
    const session = await made.session({ apiKey: await keyOf(await made.session(), ["*"], plan) })
    for (let count = 0; count < figure; count += 1) await session.call("get-memory-stats", {})
    expect(await session.fail("get-memory-stats", {})).toMatch(refusal)
  })

  test("of memories and of tool calls do not count against each other", async () => {
    const made = world({ limits: true })
    const session = await made.session({ apiKey: await keyOf(await made.session(), ["*"]) })
    await session.register("Ada")
    for (let count = 0; count < 60; count += 1) await session.call("search-memories", { query: "x" })
    expect(await session.fail("get-memory-stats", {})).toMatch(refusal)
    for (let count = 1; count < 60; count += 1) await session.call("list-agents", { project_key: "demo" })
    expect(await session.fail("list-agents", { project_key: "demo" })).toContain("60 tool calls per minute")
    made.advance(MINUTE_MS)
    for (let count = 0; count < 60; count += 1) await session.call("list-agents", { project_key: "demo" })
    await session.call("get-memory-stats", {})
  })
})
