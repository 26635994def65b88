/** Budgets where agents meet them: tools, the hook's decision, several sessions and agents of one session. */

import { describe, expect, test } from "vitest"
import { numberAfter, type TestAgent, type World, world } from "../../support/world.ts"

const reserve = (agent: TestAgent, pattern: string, exclusive = true) => ({
  agent_id: agent.id,
  repository_id: agent.repositoryId,
  coordination_project_id: agent.projectId,
  path_pattern: pattern,
  exclusive,
})
const granted = (agent: TestAgent, pattern: string, exclusive?: boolean) =>
  agent.session.call("reserve-file-paths", reserve(agent, pattern, exclusive))
const refused = (agent: TestAgent, pattern: string, exclusive?: boolean) =>
  agent.session.fail("reserve-file-paths", reserve(agent, pattern, exclusive))

/** Costs 19,950 or so of the 25,000 that a first session may hold. */
const LARGE = `{a,b}{a,b,c,d,e}{a,b,c,d,e}${"a".repeat(390)}`

async function room(): Promise<{ made: World; ada: TestAgent; bob: TestAgent }> {
  const made = world()
  const ada = await (await made.session()).register("Ada")
  const bob = await (await made.session()).register("Bob")
  return { made, ada, bob }
}

describe("beside a session that holds what it may", () => {
  test("its next pattern is refused by name, with the figures and the way out", async () => {
    const { ada } = await room()
    await granted(ada, `${LARGE}*`)
    const text = await refused(ada, `${LARGE}/*`)
    expect(text).toMatch(
      /^Failed to reserve file paths: "\{a,b\}.*" is too complex beside what is open in this/,
    )
    expect(text).toMatch(
      /it costs \d+, your session's open patterns cost \d+, and .* at most 25000 are yours/,
    )
    expect(text).toMatch(/Reserve fewer wildcards, or name folders and files, which cost nothing/)
  })

  test("all agents of the session share the budget, and renewing and plain paths cost nothing", async () => {
    const { ada } = await room()
    const second = await ada.session.register("Second")
    await granted(ada, `${LARGE}*`)
    await refused(second, `z${LARGE}*`)
    const id = numberAfter(await granted(ada, `${LARGE}*`), "Reservation id")
    await granted(second, "src/app.ts")
    await ada.session.call("release-file-reservations", {
      agent_id: ada.id,
      coordination_project_id: ada.projectId,
      reservation_ids: [id],
    })
    await granted(second, `z${LARGE}*`)
  })

  test("another session's plain path and pattern are granted, and what is held is refused", async () => {
    const { ada, bob } = await room()
    await granted(ada, `${LARGE}*`)
    await granted(bob, "src/app.ts")
    await granted(bob, "docs/**/*a*/*.md")
    expect(await refused(bob, `${"aaa"}${"a".repeat(390)}x`)).toContain("conflicts with 1 reservation")
  })
})

describe("a path beside very many patterns", () => {
  test("is compared with each of them, also where one has the mark that separates their texts", async () => {
    const { ada, bob } = await room()
    for (let nth = 0; nth < 30; nth++) await granted(ada, `*a${nth}*/*b*/*c`)
    expect(await refused(bob, "xa7x/b/c")).toContain("conflicts with 1 reservation")
    await granted(ada, "{a//q,d}*/e")
    expect(await refused(bob, "xa8x/b/c")).toContain("conflicts with 1 reservation")
    expect(await refused(bob, "dx/e")).toContain("conflicts with 1 reservation")
    await granted(ada, "**/z*")
    expect(await refused(bob, "z/a1/b/c")).toContain("conflicts with 1 reservation")
    expect(await refused(bob, "xa9x/b", false)).toContain("conflicts with 2 reservations")
  })

  test("finds all where most of them meet it", async () => {
    const { ada, bob } = await room()
    for (let nth = 0; nth < 25; nth++) await granted(ada, `*a*/${nth}*`)
    expect(await refused(bob, "ba")).toContain("conflicts with 25 reservations")
    await granted(bob, "bb")
  })
})

describe("a pattern that takes too long to compare", () => {
  const HELD = `{a,b}{a,b,c,d}{a,b,c,d}${"/a".repeat(190)}*`
  const ASKED = `${"**/a/".repeat(90)}{w,x,y,z}`

  test("is refused by name, and shared beside shared is granted without having been compared to the end", async () => {
    const { ada, bob } = await room()
    await granted(ada, HELD, false)
    expect(await granted(bob, ASKED, false)).toContain("\nShared with: too many to compare; list-file-")
    expect(await refused(bob, `${ASKED}1`)).toMatch(
      /"\*\*.*" is too complex beside what is open in this repository: comparing it with 1 reservation/,
    )
  })
})
