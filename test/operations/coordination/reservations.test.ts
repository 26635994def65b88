import { describe, expect, test } from "vitest"
import { numberAfter, type TestAgent, textAfter, type World, world } from "../../support/world.ts"

const SECOND_MS = 1_000
const HOUR_MS = 3_600_000

async function room(): Promise<{ made: World; ada: TestAgent; bob: TestAgent }> {
  const made = world()
  const ada = await (await made.session()).register("Ada")
  const bob = await (await made.session()).register("Bob")
  return { made, ada, bob }
}

function reservation(agent: TestAgent, pattern: string, args: Record<string, unknown>) {
  return {
    agent_id: agent.id,
    repository_id: agent.repositoryId,
    coordination_project_id: agent.projectId,
    path_pattern: pattern,
    ...args,
  }
}

const reserve = (agent: TestAgent, pattern: string, args: Record<string, unknown> = {}) =>
  agent.session.call("reserve-file-paths", reservation(agent, pattern, args))
const refused = (agent: TestAgent, pattern: string, args: Record<string, unknown> = {}) =>
  agent.session.fail("reserve-file-paths", reservation(agent, pattern, args))
const reserveId = async (agent: TestAgent, pattern: string, args: Record<string, unknown> = {}) =>
  numberAfter(await reserve(agent, pattern, args), "Reservation id")
const list = (agent: TestAgent, args: Record<string, unknown> = {}) =>
  agent.session.call("list-file-reservations", { coordination_project_id: agent.projectId, ...args })
const release = (agent: TestAgent, args: Record<string, unknown> = {}) =>
  agent.session.call("release-file-reservations", {
    agent_id: agent.id,
    coordination_project_id: agent.projectId,
    ...args,
  })
const patternsIn = (text: string) => [...text.matchAll(/^### (.*)$/gm)].map((match) => match[1])

describe("reserve-file-paths", () => {
  test("returns pattern, mode, agent, expiry and reservation id, each on its own line", async () => {
    const { ada } = await room()
    const text = await reserve(ada, "src/**/*.ts", {
      exclusive: false,
      duration_seconds: 90,
      reason: "Refactoring",
    })
    expect(text).toMatch(/^Path pattern: src\/\*\*\/\*\.ts$/m)
    expect(text).toMatch(/^Mode: shared$/m)
    expect(text).toMatch(/^Agent: Ada$/m)
    expect(text).toMatch(/^Expires: 2026-03-10T12:01:30Z, in 1 min 30 s$/m)
    expect(text).toMatch(/^Reservation id: 1$/m)
  })

  test("is exclusive and lasts an hour when nothing else is asked for", async () => {
    const { ada } = await room()
    const text = await reserve(ada, "src/app.ts")
    expect(textAfter(text, "Mode")).toBe("exclusive")
    expect(textAfter(text, "Expires")).toContain("2026-03-10T13:00:00Z")
  })

  test.each([
    [1, "2026-03-10T12:00:01Z"],
    [28_800, "2026-03-10T20:00:00Z"],
  ])("lasts %i s when that is asked for", async (seconds, expiry) => {
    const { ada } = await room()
    expect(textAfter(await reserve(ada, "a", { duration_seconds: seconds }), "Expires")).toContain(expiry)
  })

  test.each([
    [0, /duration_seconds must be at least 1\b/],
    [28_801, /duration_seconds must be at most 28,800 \(got 28801\)/],
    [1.5, /duration_seconds must be an integer/],
  ])("refuses a duration of %d s", async (seconds, rule) => {
    const { ada } = await room()
    const text = await refused(ada, "a", { duration_seconds: seconds })
    expect(text).toMatch(/^Failed to reserve file paths: /)
    expect(text).toMatch(rule)
    expect(await list(ada)).toMatch(/^Total: 0$/m)
  })

  test("takes a reason of 1,000 characters and refuses one of 1,001 or a blank one", async () => {
    const { ada } = await room()
    await reserve(ada, "a", { reason: "r".repeat(1_000) })
    expect(await refused(ada, "a", { reason: "r".repeat(1_001) })).toContain("reason must have at most 1,000")
    expect(await refused(ada, "a", { reason: " " })).toContain("reason must not be blank")
  })

  test.each([
    ["exclusive", "exclusive", true],
    ["exclusive", "shared", true],
    ["shared", "exclusive", true],
    ["shared", "shared", false],
  ])(
    "with an overlapping %s reservation of another agent, %s conflicts: %s",
    async (held, wanted, conflicts) => {
      const { ada, bob } = await room()
      await reserve(ada, "src/**", { exclusive: held === "exclusive" })
      const wish = { exclusive: wanted === "exclusive" }
      if (conflicts) expect(await refused(bob, "src/app.ts", wish)).toContain("conflicts with 1 reservation")
      else await reserve(bob, "src/app.ts", wish)
      expect(await list(bob, { agent_id: bob.id })).toMatch(conflicts ? /^Total: 0$/m : /^Total: 1$/m)
    },
  )

  test("does not conflict where no path is matched by both patterns", async () => {
    const { ada, bob } = await room()
    await reserve(ada, "src/*.ts")
    await reserve(bob, "src/*.tsx")
    await reserve(bob, "src/deep/app.ts")
  })

  test("reports the holder, its mode, pattern, expiry and id, and a path that both match", async () => {
    const { made, ada, bob } = await room()
    const id = await reserveId(ada, "src/a*.ts", { duration_seconds: 600 })
    made.advance(60 * SECOND_MS)
    const text = await refused(bob, "src/*b.ts")
    expect(text).toMatch(
      /^Failed to reserve file paths: src\/\*b\.ts \(exclusive\) conflicts with 1 reservation/,
    )
    expect(text).toMatch(new RegExp(`^Conflicting agent: Ada \\(agent ${ada.id}\\)$`, "m"))
    expect(text).toMatch(/^Mode: exclusive$/m)
    expect(text).toMatch(/^Path pattern: src\/a\*\.ts$/m)
    expect(text).toMatch(/^Both match, for example: src\/a[^/]*b\.ts$/m)
    expect(text).toMatch(/^Expires: 2026-03-10T12:10:00Z, in 9 min$/m)
    expect(text).toMatch(new RegExp(`^Reservation id: ${id}$`, "m"))
  })

  test("suggests to check the reservations, and shared mode where all holders share", async () => {
    const { ada, bob } = await room()
    await reserve(ada, "shared.ts", { exclusive: false })
    await reserve(ada, "exclusive.ts")
    const shared = await refused(bob, "shared.ts")
    expect(shared).toContain("list-file-reservations")
    expect(shared).toContain("exclusive false")
    const exclusive = await refused(bob, "exclusive.ts")
    expect(exclusive).toContain("list-file-reservations")
    expect(exclusive).not.toContain("exclusive false")
  })

  test("reports every holder that stands in the way", async () => {
    const { made, ada, bob } = await room()
    const cleo = await (await made.session()).register("Cleo")
    await reserve(ada, "src/a.ts", { exclusive: false })
    await reserve(bob, "src/b.ts", { exclusive: false })
    const text = await refused(cleo, "src")
    expect(text).toMatch(/^Conflicting agent: Ada /m)
    expect(text).toMatch(/^Conflicting agent: Bob /m)
  })

  test("an agent's own reservations never conflict", async () => {
    const { ada } = await room()
    await reserve(ada, "src/**")
    await reserve(ada, "src/app.ts")
    await reserve(ada, "src/app.*", { exclusive: false })
    expect(await list(ada)).toMatch(/^Total: 3$/m)
  })

  test("agents of two projects conflict in the same repository", async () => {
    const { made, ada } = await room()
    const eve = await (await made.session()).register("Eve", { project_key: "other" })
    expect(eve.repositoryId).toBe(ada.repositoryId)
    await reserve(ada, "src/app.ts")
    expect(await refused(eve, "src")).toMatch(/^Conflicting agent: Ada /m)
  })

  test("two agents that ask at once never both get it", async () => {
    const { ada, bob } = await room()
    const ask = (agent: TestAgent) =>
      agent.session.client.callTool({
        name: "reserve-file-paths",
        arguments: reservation(agent, "src/app.ts", {}),
      })
    const results = await Promise.all([ask(ada), ask(bob)])
    expect(results.filter((result) => result.isError === true)).toHaveLength(1)
    expect(await list(ada)).toMatch(/^Total: 1$/m)
  })

  test("holds until its expiry is reached, and not a moment longer", async () => {
    const { made, ada, bob } = await room()
    await reserve(ada, "src/app.ts", { duration_seconds: 10 })
    made.advance(10 * SECOND_MS - 1)
    await refused(bob, "src/app.ts")
    expect(await list(bob)).toMatch(/^Total: 1$/m)
    made.advance(1)
    expect(await list(bob)).toMatch(/^Total: 0$/m)
    await reserve(bob, "src/app.ts")
  })
})

describe("renewing a reservation", () => {
  test("keeps its id and takes the later expiry", async () => {
    const { made, ada } = await room()
    const id = await reserveId(ada, "src/app.ts", { duration_seconds: 600 })
    made.advance(60 * SECOND_MS)
    const longer = await reserve(ada, "src/app.ts", { duration_seconds: 600 })
    expect(numberAfter(longer, "Reservation id")).toBe(id)
    expect(textAfter(longer, "Expires")).toContain("2026-03-10T12:11:00Z")
    expect(await list(ada)).toMatch(/^Total: 1$/m)
  })

  test("never shortens it", async () => {
    const { ada } = await room()
    await reserve(ada, "src/app.ts", { duration_seconds: 600 })
    const shorter = await reserve(ada, "src/app.ts", { duration_seconds: 1 })
    expect(textAfter(shorter, "Expires")).toContain("2026-03-10T12:10:00Z")
  })

  test("happens for another spelling of the same pattern", async () => {
    const { ada } = await room()
    const id = await reserveId(ada, "src/café.ts")
    expect(await reserveId(ada, "./src//x/../cafe\u0301.ts")).toBe(id)
  })

  test("does not happen through an overlapping pattern, nor through another agent", async () => {
    const { made, ada, bob } = await room()
    await reserve(ada, "src/app.ts", { exclusive: false, duration_seconds: 60 })
    made.advance(SECOND_MS)
    await reserve(ada, "src/**", { exclusive: false })
    await reserve(bob, "src/app.ts", { exclusive: false })
    const text = await list(ada, { agent_id: ada.id, path_pattern: "app.ts" })
    expect(textAfter(text, "Expires")).toContain("2026-03-10T12:01:00Z")
  })

  test("is over when the reservation has expired: a new one is made", async () => {
    const { made, ada } = await room()
    const id = await reserveId(ada, "src/app.ts", { duration_seconds: 1 })
    made.advance(SECOND_MS)
    expect(await reserveId(ada, "src/app.ts")).not.toBe(id)
  })

  test("upgrades a shared reservation when nobody else shares the files", async () => {
    const { ada, bob } = await room()
    const id = await reserveId(ada, "src/app.ts", { exclusive: false })
    const text = await reserve(ada, "src/app.ts")
    expect(numberAfter(text, "Reservation id")).toBe(id)
    expect(textAfter(text, "Mode")).toBe("exclusive")
    await refused(bob, "src/app.ts", { exclusive: false })
  })

  test("does not upgrade while another shares the files, and leaves the shared one as it was", async () => {
    const { ada, bob } = await room()
    await reserve(ada, "src/app.ts", { exclusive: false, duration_seconds: 60 })
    await reserve(bob, "src/app.ts", { exclusive: false })
    await refused(ada, "src/app.ts", { duration_seconds: 600 })
    const own = await list(ada, { agent_id: ada.id })
    expect(textAfter(own, "Mode")).toBe("shared")
    expect(textAfter(own, "Expires")).toContain("2026-03-10T12:01:00Z")
  })

  test("downgrades an exclusive reservation, so that others may share", async () => {
    const { ada, bob } = await room()
    await reserve(ada, "src/app.ts")
    await refused(bob, "src/app.ts", { exclusive: false })
    expect(textAfter(await reserve(ada, "src/app.ts", { exclusive: false }), "Mode")).toBe("shared")
    await reserve(bob, "src/app.ts", { exclusive: false })
  })
})

describe("list-file-reservations", () => {
  test("shows pattern, id, agent, mode, reason, creation and expiry of each", async () => {
    const { made, ada } = await room()
    await reserve(ada, "src/**", { reason: "Moving files" })
    made.advance(HOUR_MS / 2)
    const text = await list(ada)
    expect(text).toMatch(/^Total: 1$/m)
    expect(text).toMatch(/^### src\/\*\*$/m)
    expect(text).toMatch(/^Reservation id: 1$/m)
    expect(text).toMatch(new RegExp(`^Agent: Ada \\(agent ${ada.id}\\)$`, "m"))
    expect(text).toMatch(/^Mode: exclusive$/m)
    expect(text).toMatch(/^Reason: Moving files$/m)
    expect(text).toMatch(/^Created: 2026-03-10T12:00Z, 30 min ago$/m)
    expect(text).toMatch(/^Expires: 2026-03-10T13:00:00Z, in 30 min$/m)
  })

  test("filters by agent and by a part of the pattern, in which nothing is a wildcard", async () => {
    const { ada, bob } = await room()
    for (const pattern of ["src/a_b.ts", "src/axb.ts", "src/100%.ts"]) await reserve(ada, pattern)
    await reserve(bob, "docs/!note.md")
    expect(patternsIn(await list(ada, { agent_id: bob.id }))).toEqual(["docs/!note.md"])
    expect(patternsIn(await list(ada, { path_pattern: "a_b" }))).toEqual(["src/a_b.ts"])
    expect(patternsIn(await list(ada, { path_pattern: "%" }))).toEqual(["src/100%.ts"])
    expect(patternsIn(await list(ada, { path_pattern: "s/!n" }))).toEqual(["docs/!note.md"])
    expect(patternsIn(await list(ada, { path_pattern: "src/", agent_id: bob.id }))).toEqual([])
  })

  test("filters by repository, and names the way to connect one that is not known", async () => {
    const { ada } = await room()
    await reserve(ada, "src/app.ts")
    expect(patternsIn(await list(ada, { repository_id: ada.repositoryId }))).toEqual(["src/app.ts"])
    const text = await ada.session.fail("list-file-reservations", {
      coordination_project_id: 1,
      repository_id: 99,
    })
    expect(text).toMatch(/^Failed to list file reservations: repository 99 was not found/)
    expect(text).toMatch(/Call list-repositories .* connect-repository/)
  })

  test("shows one project's reservations only", async () => {
    const { made, ada } = await room()
    const eve = await (await made.session()).register("Eve", { project_key: "other" })
    await reserve(ada, "a")
    await reserve(eve, "b")
    expect(patternsIn(await list(ada))).toEqual(["a"])
    expect(patternsIn(await list(eve))).toEqual(["b"])
  })

  test("takes a part of 512 characters, and refuses one of 513", async () => {
    const { ada } = await room()
    const ask = { coordination_project_id: ada.projectId }
    await list(ada, { path_pattern: "x".repeat(512) })
    const long = await ada.session.fail("list-file-reservations", { ...ask, path_pattern: "x".repeat(513) })
    expect(long).toContain("path_pattern must have at most 512 characters (got 513)")
  })
})

describe("a grant beside other shared holders names them", () => {
  const sharedWith = async (agent: TestAgent, pattern: string) =>
    textAfter(await reserve(agent, pattern, { exclusive: false }), "Shared with")

  test("each once, whether their pattern is the same, wider or narrower", async () => {
    const { made, ada, bob } = await room()
    const cleo = await (await made.session()).register("Cleo")
    await reserve(ada, "src/a.ts", { exclusive: false })
    await reserve(bob, "src", { exclusive: false })
    await reserve(bob, "src/*.ts", { exclusive: false })
    for (const pattern of ["src/a.ts", "src/**", "{src,docs}/?.ts"])
      expect(await sharedWith(cleo, pattern)).toBe(`Ada (agent ${ada.id}), Bob (agent ${bob.id})`)
    expect(await sharedWith(ada, "src/a.ts")).toBe(`Bob (agent ${bob.id}), Cleo (agent ${cleo.id})`)
  })

  test("and nobody where none shares a path with it, or what did is over", async () => {
    const { made, ada, bob } = await room()
    await reserve(ada, "docs/**", { exclusive: false })
    await reserve(ada, "src/b.ts", { exclusive: false, duration_seconds: 1 })
    made.advance(SECOND_MS)
    expect(await reserve(bob, "src/**", { exclusive: false })).not.toContain("Shared with")
    expect(await reserve(ada, "own/**")).not.toContain("Shared with")
  })
})

describe("release-file-reservations", () => {
  test.each([{}, { reservation_ids: [] }])("releases all of the agent's own with %o", async (args) => {
    const { ada, bob } = await room()
    await reserve(ada, "a")
    await reserve(ada, "b")
    await reserve(bob, "c")
    const text = await release(ada, args)
    expect(text).toMatch(/^Released: 2$/m)
    expect(patternsIn(text)).toEqual(["a", "b"])
    expect(patternsIn(await list(ada))).toEqual(["c"])
  })

  test("releases the listed ones, once each, and tells mode and time given up", async () => {
    const { made, ada, bob } = await room()
    const id = await reserveId(ada, "a", { exclusive: false })
    await reserve(ada, "b")
    made.advance(15 * 60 * SECOND_MS)
    const text = await release(ada, { reservation_ids: [id, id] })
    expect(text).toMatch(/^Released: 1$/m)
    expect(text).toMatch(/^### a$/m)
    expect(text).toMatch(new RegExp(`^Reservation id: ${id}$`, "m"))
    expect(text).toMatch(/^Mode: shared$/m)
    expect(text).toMatch(/^Released early by: 45 min$/m)
    expect(text).not.toContain("Not released")
    expect(patternsIn(await list(ada))).toEqual(["b"])
    await reserve(bob, "a")
  })

  test("reports ids that are not the agent's, unknown, expired or released before", async () => {
    const { made, ada, bob } = await room()
    const expired = await reserveId(ada, "expired", { duration_seconds: 1 })
    made.advance(SECOND_MS)
    const before = await reserveId(ada, "before")
    await release(ada)
    const own = await reserveId(ada, "own")
    const foreign = await reserveId(bob, "foreign")
    const text = await release(ada, { reservation_ids: [expired, before, foreign, 999, own] })
    expect(text).toMatch(/^Released: 1$/m)
    expect(text).toMatch(new RegExp(`^- Reservation id ${foreign}: .*Bob`, "m"))
    for (const id of [expired, before, 999])
      expect(text).toMatch(new RegExp(`^- Reservation id ${id}: `, "m"))
    expect(text).not.toMatch(new RegExp(`^- Reservation id ${own}: `, "m"))
    expect(patternsIn(await list(bob))).toEqual(["foreign"])
  })

  test("does not tell who holds what in another project", async () => {
    const { ada, bob } = await room()
    const there = await bob.session.register("Beth", { project_key: "other" })
    const foreign = await reserveId(there, "foreign")
    const text = await release(ada, { reservation_ids: [foreign, 999] })
    expect(text).toMatch(
      new RegExp(`^- Reservation id ${foreign}: there is no such reservation in this`, "m"),
    )
    expect(text).not.toContain("Beth")
    expect(patternsIn(await list(there))).toEqual(["foreign"])
  })

  test("takes 1,000 ids and refuses 1,001", async () => {
    const { ada } = await room()
    const ids = Array.from({ length: 1_000 }, (_, index) => index + 1)
    expect(await release(ada, { reservation_ids: ids })).toMatch(/^Released: 0$/m)
    const text = await ada.session.fail("release-file-reservations", {
      agent_id: ada.id,
      coordination_project_id: ada.projectId,
      reservation_ids: [...ids, 1_001],
    })
    expect(text).toContain("reservation_ids must have at most 1,000 entries")
  })
})
