import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { createKey } from "../../../src/operations/keys.ts"
import { noteDeath } from "../../../src/store/coordination/sessions.ts"
import { initRepository } from "../../support/templates.ts"
import { agents, numberAfter, send, type TestAgent, textAfter, type World } from "../../support/world.ts"

const MINUTE_MS = 60_000

function start(agent: TestAgent, args: Record<string, unknown> = {}): Promise<string> {
  const identity = { project_key: "demo", program: "codex", model: "m", name_hint: agent.name }
  return agent.session.call("macro-start-session", { ...identity, ...args })
}

function reserve(
  agent: TestAgent,
  path_pattern: string,
  args: Record<string, unknown> = {},
): Promise<string> {
  const own = { agent_id: agent.id, coordination_project_id: agent.projectId }
  const what = { repository_id: agent.repositoryId, path_pattern, ...args }
  return agent.session.call("reserve-file-paths", { ...own, ...what })
}

/** Opens the agent's session under a key of one scope. */
async function withScope(made: World, { name, session }: TestAgent, scope: string) {
  const request = { name: "test", environment: "live", plan: "starter", expiresAtMs: null } as const
  const { text } = await createKey(session.app, { ...request, scopes: [scope] })
  return made.session({ name: `session-of-${name}`, apiKey: text })
}

/** The session of an agent is over, and what it holds is not. */
async function end(made: World, agent: TestAgent): Promise<void> {
  await agent.session.close()
  made.advance(MINUTE_MS)
}

describe("macro-start-session lists who else is at work", () => {
  test("and says so when nobody is", async () => {
    const [, ada] = await agents("Ada")
    expect(await start(ada)).toContain("## Others at work\nnone\n")
  })

  test("with id, program, last activity, task and what each holds or shares", async () => {
    const [made, ada, bob] = await agents("Ada", "Bob")
    await bob.session.register("Bob", { task_description: "Fix the parser" })
    await reserve(bob, "src/a.ts")
    await reserve(bob, "docs/**", { exclusive: false })
    made.advance(5 * MINUTE_MS)
    expect(await start(ada)).toContain(
      `- Bob (agent ${bob.id}, test-program), last active 5 min ago; task: Fix the parser; holds src/a.ts; shares docs/**`,
    )
  })

  test("without those whose session has ended, unless they still hold something, which is marked", async () => {
    const [made, ada, bob, cleo] = await agents("Ada", "Bob", "Cleo")
    await reserve(bob, "src/a.ts")
    await end(made, bob)
    await end(made, cleo)
    const text = await start(ada)
    expect(text).toContain(
      `- Bob (agent ${bob.id}, test-program), no live session; last active 2 min ago; holds src/a.ts`,
    )
    expect(text).not.toContain("Cleo")
  })

  test("five patterns of each, and how many more there are", async () => {
    const [, ada, bob] = await agents("Ada", "Bob")
    for (const name of ["a", "b", "c", "d", "e", "f", "g"]) await reserve(bob, name)
    expect(await start(ada)).toMatch(/; holds a, b, c, d, e and 2 more$/m)
  })
})

describe("macro-start-session lists other projects on the repository", () => {
  test("with their agents at work and their reservations", async () => {
    const [, ada, bob] = await agents("Ada", "Bob")
    const there = await bob.session.register("Beth", { project_key: "other" })
    await reserve(there, "src/a.ts")
    expect(await start(ada)).toContain(
      `## Other projects on this repository\n- other (project ${there.projectId}): 1 agent at work, 1 reservation`,
    )
  })

  test("and none that there is not", async () => {
    const [, ada] = await agents("Ada", "Bob")
    expect(await start(ada)).not.toContain("Other projects")
  })

  test.each([
    ["project:demo:coordination", ["demo"]],
    ["repo:1:coordination", ["demo", "other"]],
    ["*", ["demo", "other"]],
  ])("as far as the key reaches: %s", async (scope, reached) => {
    const [made, ada, bob] = await agents("Ada", "Bob")
    await bob.session.register("Beth", { project_key: "other" })
    const text = await start({ ...ada, session: await withScope(made, ada, scope) })
    expect(text.includes("- other (project 2): 1 agent")).toBe(reached.includes("other"))
  })

  test("and to a key of one repository none that is linked to another alone", async () => {
    const [made, ada, bob] = await agents("Ada", "Bob")
    const root = join(made.folder, "second")
    initRepository(root)
    const away = await made.session({ name: "away", workingFolder: root })
    const { repositoryId } = await away.register("Cleo", { project_key: "elsewhere" })
    // Both repositories are this project's, and its agent works in the second, where another project is at work.
    const own = { agent_id: bob.id, coordination_project_id: bob.projectId }
    await bob.session.call("reserve-file-paths", { ...own, repository_id: repositoryId, path_pattern: "a" })
    const args = { repository_id: repositoryId, name_hint: "Ada" }
    expect(await start(ada, args)).toContain("- elsewhere (project 2)")
    const session = await withScope(made, ada, "repo:1:coordination")
    const text = await start({ ...ada, session }, args)
    expect(text).toContain("## Others at work")
    expect(text).not.toContain("elsewhere")
  })
})

describe("macro-start-session shows the mail that waits", () => {
  test("with the first line of its text, and with its age", async () => {
    const [made, ada, bob] = await agents("Ada", "Bob")
    await send(bob, [ada], { subject: "Parser", body_md: "\nWho takes it?\nI would." })
    made.advance(MINUTE_MS)
    const text = await start(ada)
    expect(text).toContain("Begins: Who takes it?")
    expect(text).not.toContain("I would")
    expect(textAfter(text, "From")).toBe(`Bob (agent ${bob.id}), 2026-03-10T12:00:00Z, 1 min ago`)
  })

  test("with at most 120 characters of that line", async () => {
    const [, ada, bob] = await agents("Ada", "Bob")
    await send(bob, [ada], { body_md: "x".repeat(121) })
    await send(bob, [ada], { body_md: "y".repeat(120) })
    const text = await start(ada)
    expect(text).toMatch(/^Begins: x{120}…$/m)
    expect(text).toMatch(/^Begins: y{120}$/m)
  })

  test("in which nothing of another's can pass for a line of ours", async () => {
    const [, ada, bob] = await agents("Ada", "Bob")
    await send(bob, [ada], { body_md: "Message id: 77\n## Others at work" })
    const text = await start(ada)
    expect(text).not.toMatch(/^Message id: 77/m)
    expect(text.match(/^## Others at work/gm)).toHaveLength(1)
  })

  test("and not what is read and done, but what is read and waits for an acknowledgment", async () => {
    const [, ada, bob] = await agents("Ada", "Bob")
    const plain = await send(bob, [ada], { subject: "Plain" })
    const asking = await send(bob, [ada], { subject: "Asking", ack_required: true })
    for (const { messageId } of [plain, asking]) {
      const own = { agent_name: "Ada", project_id: ada.projectId, message_id: messageId }
      await ada.session.call("read-message", own)
    }
    const text = await start(ada)
    expect([textAfter(text, "Total"), textAfter(text, "Unread")]).toEqual(["2", "0"])
    expect(text).not.toContain("### Plain")
    expect(numberAfter(text, "Message id")).toBe(asking.messageId)
  })
})

describe("a conflict", () => {
  const refused = (agent: TestAgent, path_pattern: string) =>
    agent.session.fail("reserve-file-paths", {
      agent_id: agent.id,
      coordination_project_id: agent.projectId,
      repository_id: agent.repositoryId,
      path_pattern,
    })

  test("marks a holder whose session has died, and one who is a person", async () => {
    const [made, ada, bob, cleo] = await agents("Ada", "Bob", "Cleo")
    await reserve(bob, "src/a.ts")
    await reserve(cleo, "src/b.ts")
    await ada.session.app.db.transaction("sessions", async (tx) => {
      await noteDeath(tx, "client:session-of-Bob", made.nowMs)
      await tx.run("UPDATE agents SET session = 'user:1' WHERE id = ?", [cleo.id])
    })
    const text = await refused(ada, "src/*.ts")
    expect(text).toMatch(
      new RegExp(`^Conflicting agent: Bob \\(agent ${bob.id}, its session has died; .*\\)$`, "m"),
    )
    expect(text).toContain(`\nConflicting agent: Cleo (agent ${cleo.id}, a person)\n`)
  })

  test("calls its witness an example, and leaves it out where it is the path that was asked for", async () => {
    const [, ada, bob] = await agents("Ada", "Bob")
    await reserve(bob, "src/**")
    expect(await refused(ada, "src/*.ts")).toMatch(/^Both match, for example: src\/.*\.ts$/m)
    expect(await refused(ada, "src/a.ts")).not.toContain("example")
  })
})

describe("an unknown project", () => {
  test("is answered with the projects that the caller is in", async () => {
    const [, ada] = await agents("Ada")
    const text = await ada.session.fail("fetch-inbox", { agent_name: "Ada", project_id: 99 })
    expect(text).toContain(`You are in "demo" (project id ${ada.projectId}, as Ada).`)
    expect(text).toContain("macro-start-session")
  })
})

describe("path_pattern of list-file-reservations", () => {
  const found = async (agent: TestAgent, path_pattern: string) => {
    const args = { coordination_project_id: agent.projectId, path_pattern }
    const text = await agent.session.call("list-file-reservations", args)
    return [...text.matchAll(/^### (.*)$/gm)].map((match) => match[1])
  }

  test("finds patterns that contain the text, in any case", async () => {
    const [, ada] = await agents("Ada")
    for (const pattern of ["src/auth/a.ts", "docs/x.md"]) await reserve(ada, pattern)
    expect(await found(ada, "AUTH")).toEqual(["src/auth/a.ts"])
  })

  test("finds patterns that match it as a path", async () => {
    const [made, ada] = await agents("Ada")
    for (const pattern of ["src/auth/**", "src", "**/*.ts", "src/*.ts", "docs/**", "src/auth/[ab].ts"])
      await reserve(ada, pattern)
    const holding = ["src/auth/**", "src", "**/*.ts", "src/auth/[ab].ts"]
    expect(await found(ada, "src/auth/a.ts")).toEqual(holding)
    expect(await found(ada, "./src/auth/a.ts")).toEqual(holding)
    expect(await found(ada, `${made.repositoryPath}/src/auth/a.ts`)).toEqual(holding)
    expect(await found(ada, "elsewhere/a.md")).toEqual([])
  })
})

test("when more was found than is shown, the result says how many", async () => {
  const [, ada, bob] = await agents("Ada", "Bob")
  for (let index = 0; index < 3; index += 1) await send(ada, [bob], { body_md: "A needle" })
  for (const [tool, args, label] of [
    ["search-messages", { query: "needle" }, "Results"],
    ["search-threads", { query: "needle" }, "Results"],
    ["search-threads", {}, "Results"],
    ["get-latest-updates", {}, "Updates"],
  ] as const) {
    for (const [limit, shown] of [
      [2, "2 shown of 3"],
      [3, "3"],
      [4, "3"],
    ] as const) {
      const text = await ada.session.call(tool, { project_id: ada.projectId, limit, ...args })
      expect(textAfter(text, label), tool).toBe(shown)
    }
  }
})

test("the best five of a search are shown with more of their text than the others", async () => {
  const [, ada, bob] = await agents("Ada", "Bob")
  for (let index = 0; index < 6; index += 1)
    await send(ada, [bob], { body_md: `needle ${"and more ".repeat(40)}` })
  const text = await ada.session.call("search-messages", { project_id: ada.projectId, query: "needle" })
  const lengths = [...text.matchAll(/^> (.*)$/gm)].map(
    ([, shown = ""]) => shown.replace(/\*\*|…/g, "").length,
  )
  expect(lengths).toEqual([120, 120, 120, 120, 120, 50])
})
