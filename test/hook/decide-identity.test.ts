/** Who edits: which calls of the hook and which servers are one session, and which are not. */

import { describe, expect, test } from "vitest"
import {
  ALLOWED,
  type ClientProcess,
  clientProcess,
  configure,
  edit,
  heldIn,
  introducedBy,
  reserve,
  serverBelow,
  sessionEvent,
} from "../support/hook.ts"
import { type TestAgent, type World, world } from "../support/world.ts"

const onPosix = test.skipIf(process.platform === "win32")

/** A world in which every edit of a file shuts out the other sessions. */
function exclusiveWorld(): World {
  const made = world()
  configure(made, { defaultMode: "exclusive" })
  return made
}

/** A server that was told no session id, below a client process, and the agent that registered there. */
async function registeredBelow(made: World, above: ClientProcess, name = "Ada"): Promise<TestAgent> {
  const server = await serverBelow(made, above.anchors)
  return server.register(name)
}

describe("calls with the same client session id", () => {
  test("are one session, whatever sub-agent made them and whatever process", async () => {
    const made = exclusiveWorld()
    const { app } = await made.session({ name: "server" })
    expect(await edit(made, app, "src/a.ts", { fields: { agent_id: "one" } })).toEqual(ALLOWED)
    const again = { fields: { agent_id: "two", agent_type: "explorer" }, parentPid: process.pid }
    expect(await edit(made, app, "src/a.ts", again)).toEqual(ALLOWED)
    const inherited = { session: null, sessionId: "b", sessionClient: "claude-code" }
    expect(await edit(made, app, "src/a.ts", inherited)).toEqual(ALLOWED)
    expect((await edit(made, app, "src/a.ts", { session: "B" })).exitCode).toBe(2)
    expect(await heldIn(app)).toHaveLength(1)
  })

  test("are not one by what another client told in the environment", async () => {
    const made = exclusiveWorld()
    const { app } = await made.session({ name: "server" })
    expect(await edit(made, app, "src/a.ts")).toEqual(ALLOWED)
    for (const sessionClient of ["gemini", undefined]) {
      const inherited = { session: null, sessionId: "b", sessionClient }
      expect((await edit(made, app, "src/a.ts", inherited)).exitCode, sessionClient).toBe(2)
    }
  })

  test("are told apart by the payload's id, where the environment tells another", async () => {
    const made = exclusiveWorld()
    const { app } = await made.session({ name: "server" })
    expect(await edit(made, app, "src/a.ts", { session: "b", sessionId: "x" })).toEqual(ALLOWED)
    expect(await edit(made, app, "src/a.ts", { session: "b", sessionId: "y" })).toEqual(ALLOWED)
    expect((await edit(made, app, "src/a.ts", { session: "c", sessionId: "x" })).exitCode).toBe(2)
  })

  test("go by SIGNALBOX_SESSION before all else, as servers do", async () => {
    const made = exclusiveWorld()
    const { app } = await made.session({ name: "server" })
    expect(await edit(made, app, "src/a.ts", { namedSession: "mine" })).toEqual(ALLOWED)
    expect(await edit(made, app, "src/a.ts", { session: "other", namedSession: "mine" })).toEqual(ALLOWED)
    expect((await edit(made, app, "src/a.ts")).exitCode).toBe(2)
  })

  test("are one with the server that was told the same id", async () => {
    const made = exclusiveWorld()
    const server = await made.session({ name: "b" })
    const ada = await server.register("Ada")
    await reserve(ada, "src/**")
    expect(await edit(made, server.app, "src/a.ts")).toEqual(ALLOWED)
    expect((await edit(made, server.app, "src/a.ts", { session: "c" })).exitCode).toBe(2)
  })

  test("make one agent even when the first of them come at the same time", async () => {
    const made = exclusiveWorld()
    const { app } = await made.session({ name: "server" })
    const files = ["a.ts", "b.ts", "c.ts", "a.ts", "b.ts", "c.ts"]
    const answers = await Promise.all(files.map((file) => edit(made, app, file)))
    expect(answers).toEqual(files.map(() => ALLOWED))
    expect(await heldIn(app)).toHaveLength(3)
    expect(await edit(made, app, files)).toEqual(ALLOWED)
    const one = introducedBy(await sessionEvent(made, app, "session-start"))
    const other = introducedBy(await sessionEvent(made, app, "session-start", { session: "c" }))
    expect(other.id).toBe(one.id + 1)
  })
})

describe("calls with two client session ids", () => {
  onPosix("are two sessions, even under one client process", async () => {
    const made = exclusiveWorld()
    const above = await clientProcess("codex")
    const { app } = await made.session({ name: "server" })
    const request = { client: "codex", parentPid: above.pid }
    expect(await edit(made, app, "src/a.ts", { ...request, session: "b" })).toEqual(ALLOWED)
    expect((await edit(made, app, "src/a.ts", { ...request, session: "c" })).exitCode).toBe(2)
  })

  onPosix.each(["clear", "resume", "compact", "fork"])(
    "are one conversation after a start by %s in the same process of a client that tells servers its session",
    async (source) => {
      const made = exclusiveWorld()
      const above = await clientProcess("claude")
      const server = await serverBelow(made, above.anchors, "before")
      const ada = await server.register("Ada")
      await reserve(ada, "src/**")
      const later = { session: "after", parentPid: above.pid }
      await sessionEvent(made, server.app, "session-start", { ...later, fields: { source } })
      expect(await edit(made, server.app, "src/a.ts", later)).toEqual(ALLOWED)
      await edit(made, server.app, "docs/b.md", later)
      expect(await edit(made, server.app, "docs/b.md", { session: "before" })).toEqual(ALLOWED)
      const again = { session: "last", parentPid: above.pid }
      await sessionEvent(made, server.app, "session-start", { ...again, fields: { source } })
      expect(await edit(made, server.app, "src/a.ts", again)).toEqual(ALLOWED)
    },
  )

  onPosix("go on as one when the later began outside of any repository", async () => {
    const made = exclusiveWorld()
    const above = await clientProcess("claude")
    const server = await serverBelow(made, above.anchors, "before")
    await reserve(await server.register("Ada"), "src/**")
    const later = { session: "after", parentPid: above.pid }
    const fields = { source: "clear" }
    await sessionEvent(made, server.app, "session-start", { ...later, fields, folder: made.folder })
    const file = `${made.repositoryPath}/src/a.ts`
    expect(await edit(made, server.app, file, { ...later, folder: made.folder })).toEqual(ALLOWED)
  })

  onPosix("stay two after a start of another source, and in a client of many conversations", async () => {
    const made = exclusiveWorld()
    const { app } = await made.session({ name: "server" })
    for (const [client, source] of [
      ["claude-code", "startup"],
      ["codex", "clear"],
      ["codex", "resume"],
    ] as const) {
      const above = await clientProcess(client === "codex" ? "codex" : "claude")
      const first = { client, session: `${client}-${source}-1`, parentPid: above.pid }
      const second = { client, session: `${client}-${source}-2`, parentPid: above.pid }
      const file = `${client}-${source}.ts`
      expect(await edit(made, app, file, first)).toEqual(ALLOWED)
      await sessionEvent(made, app, "session-start", { ...second, fields: { source } })
      expect((await edit(made, app, file, second)).exitCode, `${client} ${source}`).toBe(2)
    }
  })

  onPosix("stay two after a clear in another process of the same client", async () => {
    const made = exclusiveWorld()
    const [one, other] = [await clientProcess("claude"), await clientProcess("claude")]
    const { app } = await made.session({ name: "server" })
    expect(await edit(made, app, "src/a.ts", { session: "b", parentPid: one.pid })).toEqual(ALLOWED)
    const cleared = { session: "c", parentPid: other.pid }
    await sessionEvent(made, app, "session-start", { ...cleared, fields: { source: "clear" } })
    expect((await edit(made, app, "src/a.ts", cleared)).exitCode).toBe(2)
  })
})

describe("a server that was told no session id", () => {
  onPosix("is one with the hooks below the same client process", async () => {
    const made = exclusiveWorld()
    const above = await clientProcess("codex")
    const ada = await registeredBelow(made, above)
    await reserve(ada, "src/**")
    const { app } = ada.session
    const codex = { client: "codex", parentPid: above.pid, session: "thread" }
    expect(await edit(made, app, "src/a.ts", codex)).toEqual(ALLOWED)
    expect(await edit(made, app, "src/a.ts", { ...codex, session: null })).toEqual(ALLOWED)
    const stranger = await clientProcess("codex")
    expect(
      (await edit(made, app, "src/a.ts", { ...codex, session: "x", parentPid: stranger.pid })).exitCode,
    ).toBe(2)
  })

  onPosix("is one with them in whichever order they come", async () => {
    const made = exclusiveWorld()
    const above = await clientProcess("codex")
    const { app } = await made.session({ name: "listener" })
    const codex = { client: "codex", parentPid: above.pid, session: "thread" }
    expect(await edit(made, app, "src/a.ts", codex)).toEqual(ALLOWED)
    const ada = await registeredBelow(made, above)
    await reserve(ada, "docs/**")
    expect(await edit(made, app, ["src/a.ts", "docs/b.md"], codex)).toEqual(ALLOWED)
  })

  onPosix("is none with a client of another name that runs in the same process tree", async () => {
    const made = exclusiveWorld()
    const above = await clientProcess("codex")
    const ada = await registeredBelow(made, above)
    await reserve(ada, "src/**")
    const gemini = { client: "gemini", parentPid: above.pid, session: "other" }
    expect((await edit(made, ada.session.app, "src/a.ts", gemini)).exitCode).toBe(2)
  })

  onPosix("is one with a session that is resumed in its process after one in another", async () => {
    const made = exclusiveWorld()
    const { app } = await made.session({ name: "listener" })
    const before = await clientProcess("codex")
    const codex = { client: "codex", session: "thread" }
    await sessionEvent(made, app, "session-start", { ...codex, parentPid: before.pid })
    const above = await clientProcess("codex")
    const ada = await registeredBelow(made, above)
    await reserve(ada, "src/**")
    const resumed = { ...codex, parentPid: above.pid }
    await sessionEvent(made, app, "session-start", { ...resumed, fields: { source: "resume" } })
    expect(await edit(made, app, "src/a.ts", resumed)).toEqual(ALLOWED)
  })
})

describe("a call without a session id", () => {
  onPosix("is known by its client process", async () => {
    const made = exclusiveWorld()
    const [one, other] = [await clientProcess("kiro"), await clientProcess("kiro")]
    const { app } = await made.session({ name: "listener" })
    const kiro = { client: "kiro", session: null }
    expect(await edit(made, app, "src/a.ts", { ...kiro, parentPid: one.pid })).toEqual(ALLOWED)
    expect(await edit(made, app, "src/a.ts", { ...kiro, parentPid: one.pid })).toEqual(ALLOWED)
    expect((await edit(made, app, "src/a.ts", { ...kiro, parentPid: other.pid })).exitCode).toBe(2)
  })

  test("and without a process only checks: it reserves nothing and is blocked as a stranger", async () => {
    const made = exclusiveWorld()
    const server = await made.session({ name: "a" })
    const ada = await server.register("Ada")
    expect(await edit(made, server.app, "src/a.ts", { session: null })).toEqual(ALLOWED)
    expect(await heldIn(server.app)).toEqual([])
    await reserve(ada, "src/**")
    expect((await edit(made, server.app, "src/a.ts", { session: null })).exitCode).toBe(2)
  })

  test("is told that a file is not free where conflicts do not block", async () => {
    const made = world()
    configure(made, { blockConflicts: false, defaultMode: "exclusive" })
    const server = await made.session({ name: "a" })
    await reserve(await server.register("Ada"), "src/**")
    const { exitCode, stdout, stderr } = await edit(made, server.app, "src/a.ts", { session: null })
    expect(exitCode).toBe(0)
    expect(stdout + stderr).toContain("reserved by Ada")
  })
})

describe("SIGNALBOX_AGENT", () => {
  test("names who edits, in the project that is named or in that of the repository", async () => {
    const made = exclusiveWorld()
    const server = await made.session({ name: "a" })
    const ada = await server.register("Ada", { project_key: made.repositoryPath })
    await reserve(ada, "src/**")
    await server.register("Eve", { project_key: made.repositoryPath })
    const named = { session: "a", agentName: "Ada" }
    expect(await edit(made, server.app, "src/a.ts", named)).toEqual(ALLOWED)
    expect(await edit(made, server.app, "src/a.ts", { ...named, agentName: "ada" })).toEqual(ALLOWED)
    const key = { projectKey: made.repositoryPath }
    expect(await edit(made, server.app, "src/a.ts", { ...named, ...key })).toEqual(ALLOWED)
    expect((await edit(made, server.app, "src/a.ts", { session: "y" })).exitCode).toBe(2)
    await edit(made, server.app, "docs/b.md", named)
    await server.call("release-file-reservations", {
      agent_id: ada.id,
      coordination_project_id: ada.projectId,
    })
    expect(await heldIn(server.app)).toEqual([])
  })

  test.each(["Nobody", "Signalbox", ""])("that names %j counts as if it were not set", async (agentName) => {
    const made = exclusiveWorld()
    const server = await made.session({ name: "a" })
    await server.register("Ada", { project_key: made.repositoryPath })
    expect(await edit(made, server.app, "src/a.ts", { agentName })).toEqual(ALLOWED)
    expect(await edit(made, server.app, "src/a.ts")).toEqual(ALLOWED)
    expect((await edit(made, server.app, "src/a.ts", { session: "c" })).exitCode).toBe(2)
  })
})
