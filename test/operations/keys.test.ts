import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, statSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { allKeys, createKey, type KeyRequest, localKey, revokeKeyById } from "../../src/operations/keys.ts"
import { type Session, type TestAgent, type World, world } from "../support/world.ts"

const HOUR_MS = 3_600_000
const REFUSED = "tenant authentication required; a valid API token must be supplied"
const introduction = { project_key: "demo", program: "p", model: "m" }

async function makeKey(session: Session, scopes: string[], request: Partial<KeyRequest> = {}) {
  return createKey(session.app, {
    name: "test",
    environment: "live",
    scopes,
    plan: "starter",
    expiresAtMs: null,
    ...request,
  })
}

/** A world with one agent under the local key, and a way to open sessions under keys of given scopes. */
async function keyRoom() {
  const made = world()
  const local = await made.session({ name: "one" })
  const ada = await local.register("Ada")
  // Whatever the key, an agent acts in its own session only.
  const withScopes = async (...scopes: string[]) =>
    made.session({ name: "one", apiKey: (await makeKey(local, scopes)).text })
  return { made, local, ada, withScopes }
}

/** Connects a second repository; returns its id. */
async function secondRepository(made: World): Promise<number> {
  const root = join(made.folder, "second")
  execFileSync("git", ["init", "--quiet", root])
  return (
    await (await made.session({ workingFolder: root })).register("Elsewhere", { project_key: "second" })
  ).repositoryId
}

const reserveIn = (agent: TestAgent, repositoryId: number, args: Record<string, unknown> = {}) => ({
  agent_id: agent.id,
  repository_id: repositoryId,
  coordination_project_id: agent.projectId,
  path_pattern: "src/a.ts",
  ...args,
})

describe("the local key", () => {
  test("is made on first use, once for all sessions, with every scope and the plan enterprise", async () => {
    const made = world()
    const sessions = [await made.session(), await made.session(), await made.session()]
    const [first] = sessions
    expect(await allKeys((first as Session).app)).toEqual([])
    await Promise.all(sessions.map((session) => session.register("Ada")))
    const keys = await allKeys((first as Session).app)
    expect(keys).toHaveLength(1)
    expect(keys[0]).toMatchObject({ isLocal: true, scopes: ["*"], plan: "enterprise", environment: "live" })
  })

  test("stands beside the database in a file that only its owner may read", async () => {
    const { made, local } = await keyRoom()
    const file = made.databasePath.replace(/\.db$/, ".key")
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const text = readFileSync(file, "utf8")
    expect(text).toMatch(/^signalbox_live_sk_[0-9A-Za-z]{49}\n$/)
    const other = await made.session({ apiKey: text.trim() })
    await other.call("list-agents", { project_key: "demo" })
    expect(await allKeys(local.app)).toHaveLength(1)
  })

  test("is replaced by a new one after it was revoked", async () => {
    const { made, local } = await keyRoom()
    const file = made.databasePath.replace(/\.db$/, ".key")
    const before = readFileSync(file, "utf8")
    await revokeKeyById(local.app, (await localKey(local.app)).id)
    await local.call("list-agents", { project_key: "demo" })
    expect(readFileSync(file, "utf8")).not.toBe(before)
    const revoked = await made.session({ apiKey: before.trim() })
    expect(await revoked.fail("list-agents", { project_key: "demo" })).toContain(REFUSED)
  })

  test("does not stand in for a configured key", async () => {
    const { made } = await keyRoom()
    const session = await made.session({ apiKey: "" })
    expect(await session.fail("list-agents", { project_key: "demo" })).toContain(REFUSED)
  })
})

describe("a configured key that does not count", () => {
  const typo = (text: string) => `${text.slice(0, -1)}${text.endsWith("0") ? "1" : "0"}`
  const cases: [string, (session: Session, made: World) => Promise<string>][] = [
    ["empty", async () => ""],
    ["malformed", async () => "signalbox_live_sk_short"],
    ["of another kind", async () => "sk-ant-api03-0000"],
    ["mistyped", async (session) => typo((await makeKey(session, ["*"])).text)],
    [
      "unknown",
      async () => {
        const elsewhere = await world().session()
        return (await makeKey(elsewhere, ["*"])).text
      },
    ],
    [
      "revoked",
      async (session) => {
        const { key, text } = await makeKey(session, ["*"])
        await revokeKeyById(session.app, key.id)
        return text
      },
    ],
    [
      "expired",
      async (session, made) => {
        const { text } = await makeKey(session, ["*"], { expiresAtMs: made.nowMs + HOUR_MS })
        made.advance(HOUR_MS)
        return text
      },
    ],
  ]

  test.each(cases)("%s: tools and resources still list, and every call answers the same", async (_, make) => {
    const { made, local, ada } = await keyRoom()
    const session = await made.session({ apiKey: await make(local, made) })
    expect((await session.client.listTools()).tools).toHaveLength(41)
    expect((await session.client.listResourceTemplates()).resourceTemplates).toHaveLength(10)
    const text = await session.fail("send-message", { sender_name: "Ada", project_id: ada.projectId })
    expect(text).toMatch(new RegExp(`^Failed to send message: ${REFUSED}`))
    expect(await session.fail("macro-start-session", introduction)).toContain(
      `Failed to start session: ${REFUSED}`,
    )
    await expect(session.read("agents", { project_key: "demo" })).rejects.toThrow(REFUSED)
    await expect(session.read("tools")).rejects.toThrow(REFUSED)
  })

  test("expires when its time is reached, and not before", async () => {
    const { made, local } = await keyRoom()
    const { text } = await makeKey(local, ["*"], { expiresAtMs: made.nowMs + HOUR_MS })
    const session = await made.session({ apiKey: text })
    made.advance(HOUR_MS - 1)
    await session.call("list-agents", { project_key: "demo" })
    made.advance(1)
    expect(await session.fail("list-agents", { project_key: "demo" })).toContain(REFUSED)
  })

  test("is revoked for sessions that run already", async () => {
    const { made, local } = await keyRoom()
    const { key, text } = await makeKey(local, ["*"])
    const session = await made.session({ apiKey: text })
    await session.call("list-agents", { project_key: "demo" })
    await revokeKeyById(local.app, key.id)
    expect(await session.fail("list-agents", { project_key: "demo" })).toContain(REFUSED)
  })

  test("for another environment is refused", async () => {
    const { made, local } = await keyRoom()
    const { text } = await makeKey(local, ["*"], { environment: "test" })
    const session = await made.session({ apiKey: text })
    await session.call("list-agents", { project_key: "demo" })
    session.app.config.environment = "live"
    expect(await session.fail("list-agents", { project_key: "demo" })).toContain(REFUSED)
  })
})

describe("scopes", () => {
  test("without any for coordination permit nothing, and the text names what is needed", async () => {
    const { withScopes } = await keyRoom()
    for (const scopes of [["repo:1:memory"], ["repo:1:documentation", "admin"]]) {
      const session = await withScopes(...scopes)
      const text = await session.fail("list-agents", { project_key: "demo" })
      expect(text).toMatch(/^Failed to list agents: insufficient permissions; /)
      expect(text).toContain("repo:{repository_id}:coordination")
      expect(text).toContain("project:{project_key}:coordination")
      await expect(session.read("tools")).rejects.toThrow("insufficient permissions")
    }
  })

  test("* permits every project and links repositories", async () => {
    const { made, ada, withScopes } = await keyRoom()
    const other = await secondRepository(made)
    const session = await withScopes("*")
    await session.register("Bob", { project_key: "new" })
    await session.call("reserve-file-paths", reserveIn(ada, other))
  })

  test("of a project permit that project and no other, and name what another needs", async () => {
    const { made, withScopes } = await keyRoom()
    await secondRepository(made)
    const session = await withScopes("project:demo:coordination")
    await session.call("list-agents", { project_key: "demo" })
    await session.register("Bob")
    const text = await session.fail("list-agents", { project_key: "second" })
    expect(text).toContain(
      "insufficient permissions; required scope: project:second:coordination or repo:2:coordination",
    )
    await expect(session.read("agents", { project_key: "second" })).rejects.toThrow(
      "project:second:coordination",
    )
    await session.read("agents", { project_key: "demo" })
  })

  test("are refused without a word of the folders and the names that they may not see", async () => {
    const { made, local, withScopes } = await keyRoom()
    const folder = await local.register("Ann", { project_key: made.repositoryPath })
    const named = await local.register("Abe", { project_key: "secret" })
    const session = await withScopes("project:other:coordination")
    const texts = [await session.fail("list-agents", { project_key: made.repositoryPath })]
    for (const agent of [folder, named]) {
      texts.push(await session.fail("fetch-inbox", { project_id: agent.projectId, agent_name: agent.name }))
      texts.push(await session.fail("reserve-file-paths", reserveIn(agent, agent.repositoryId)))
    }
    for (const text of texts) {
      expect(text).toContain(
        `required scope: project:{project_key}:coordination or repo:${folder.repositoryId}`,
      )
      expect(text).not.toMatch(/secret|Ann|Abe|\/repository/)
    }
  })

  test("of a project permit it by whatever path they name it: a symbolic link, a folder below", async () => {
    const { made, local, withScopes } = await keyRoom()
    await local.register("Ann", { project_key: made.repositoryPath })
    const [link, below] = [join(made.folder, "link"), join(made.repositoryPath, "below")]
    symlinkSync(made.repositoryPath, link)
    mkdirSync(below)
    for (const path of [link, below]) {
      const session = await withScopes(`project:${path}:coordination`)
      await session.call("list-agents", { project_key: made.repositoryPath })
      await session.call("list-agents", { project_key: path })
    }
  })

  test("of a project create that project only", async () => {
    const made = world()
    const { text } = await makeKey(await made.session(), ["project:mine:coordination"])
    const session = await made.session({ apiKey: text })
    await session.register("Ada", { project_key: "mine" })
    for (const tool of ["register-agent", "macro-start-session"])
      expect(await session.fail(tool, introduction)).toContain("required scope: project:demo:coordination")
  })

  test("of a project do not link a repository that is not the project's", async () => {
    const { made, ada, withScopes } = await keyRoom()
    const other = await secondRepository(made)
    const session = await withScopes("project:demo:coordination")
    const needed = `insufficient permissions; required scope: repo:${other}:coordination`
    for (const tool of ["register-agent", "macro-start-session"])
      expect(await session.fail(tool, { ...introduction, repository_id: other })).toContain(needed)
    expect(await session.fail("reserve-file-paths", reserveIn(ada, other))).toContain(needed)
    await session.call("reserve-file-paths", reserveIn(ada, ada.repositoryId))
  })

  test("of a repository permit every tool in projects that are linked to it, and in no others", async () => {
    const { made, ada, withScopes } = await keyRoom()
    await secondRepository(made)
    const session = await withScopes("repo:1:coordination")
    await session.call("fetch-inbox", { agent_name: "Ada", project_id: ada.projectId })
    await session.call("reserve-file-paths", reserveIn(ada, 1))
    await session.register("Bob", { project_key: "new in repository 1" })
    expect(await session.fail("list-agents", { project_key: "second" })).toContain("repo:2:coordination")
  })

  test.each(["reserve-file-paths", "macro-claim-cycle", "macro-start-session"])(
    "of a repository reserve there only, even in a project with another repository: %s",
    async (tool) => {
      const { made, local, ada, withScopes } = await keyRoom()
      const other = await secondRepository(made)
      await local.call("reserve-file-paths", reserveIn(ada, other, { path_pattern: "links/both" }))
      const session = await withScopes("repo:1:coordination")
      const args = {
        "reserve-file-paths": reserveIn(ada, other),
        "macro-claim-cycle": {
          agent_name: "Ada",
          project_id: ada.projectId,
          repository_id: other,
          file_paths: ["src/a.ts"],
        },
        "macro-start-session": { ...introduction, repository_id: other, file_paths: ["src/a.ts"] },
      }[tool] as Record<string, unknown>
      expect(await session.fail(tool, args)).toContain(`repo:${other}:coordination`)
      const listed = await local.call("list-file-reservations", { coordination_project_id: ada.projectId })
      expect(listed).not.toContain("src/a.ts")
    },
  )

  test("are checked before anything is told of a project", async () => {
    const { ada, withScopes } = await keyRoom()
    const session = await withScopes("project:mine:coordination")
    const text = await session.fail("whois", { project_key: "demo", agent_name: "Nobody" })
    expect(text).toContain("insufficient permissions")
    expect(text).not.toContain("not found")
    expect(
      await session.fail("read-message", { agent_name: "Ada", project_id: ada.projectId, message_id: 1 }),
    ).toContain("insufficient permissions")
  })
})

describe("making keys", () => {
  test("returns a text of the documented form, of which only the last four characters are kept", async () => {
    const session = await world().session()
    const { key, text } = await makeKey(session, ["*"])
    expect(text).toMatch(/^signalbox_live_sk_[0-9A-Za-z]{49}$/)
    expect(JSON.stringify(await allKeys(session.app))).not.toContain(text)
    expect(key.lastFour).toBe(text.slice(-4))
    const { text: forTests } = await makeKey(session, ["*"], { environment: "test" })
    expect(forTests).toMatch(/^signalbox_test_sk_/)
  })

  test.each([
    [{ name: "" }, /name must have 1 to 100 characters/],
    [{ name: "n".repeat(101) }, /name must have 1 to 100 characters/],
    [{ scopes: [] }, /scope must be given at least once/],
    [{ scopes: ["everything"] }, /scope "everything" has none of the forms/],
    [{ expiresAtMs: Date.parse("2026-03-10T12:00:00Z") }, /expires must lie in the future/],
  ])("refuses %j", async (request, rule) => {
    const session = await world().session()
    await expect(makeKey(session, ["*"], request)).rejects.toThrow(rule)
    expect(await allKeys(session.app)).toEqual([])
  })

  test("tells when a key was last used", async () => {
    const { made, local } = await keyRoom()
    const { key, text } = await makeKey(local, ["*"])
    const used = async () => (await allKeys(local.app)).find((one) => one.id === key.id)?.lastUsedAtMs
    expect(await used()).toBeNull()
    made.advance(HOUR_MS)
    await (await made.session({ apiKey: text })).call("list-agents", { project_key: "demo" })
    expect(await used()).toBe(made.nowMs)
  })
})
