/** For whom commands, hooks and REST act: for agents of the session around alone. */

import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, test } from "vitest"
import { requestOverrideCommand } from "../../../src/commands/coordination/override.ts"
import { reservationsCommand } from "../../../src/commands/coordination/reservations.ts"
import { releaseCommand, reserveCommand } from "../../../src/commands/coordination/reserve.ts"
import { productRoutes } from "../../../src/http/index.ts"
import { edit, heldIn, reserve, runHook, sessionEvent } from "../../support/hook.ts"
import { type HttpEntry, serveHttp } from "../../support/http.ts"
import type { TestAgent, World } from "../../support/world.ts"
import { configIn, presentWorld, refusal, run, runJson } from "../command.ts"

const PATH = "/api/coordination/file-reservations"
const HELD = "belongs to another live session, and an agent acts in its own session only"

/** Ada and Bob, each in a session of its own; Bob holds `src`. */
async function room(): Promise<{ where: World; ada: TestAgent; bob: TestAgent }> {
  const where = presentWorld()
  const ada = await (await where.session({ name: "a" })).register("Ada")
  const bob = await (await where.session({ name: "b" })).register("Bob")
  await reserve(bob, "src")
  return { where, ada, bob }
}

describe("a command", () => {
  test.each([
    ["reserve", (config) => reserveCommand(config, ["docs"], {})],
    ["release", (config) => releaseCommand(config, ["src"], {})],
    ["release --all", (config) => releaseCommand(config, [], { all: true })],
    ["override", (config) => requestOverrideCommand(config, "src/a.ts", { reason: "r" })],
  ] as [string, (config: ReturnType<typeof configIn>) => Promise<void>][])(
    "%s acts for no agent of another session, whether SIGNALBOX_AGENT or an option names it",
    async (_name, command) => {
      const { where, bob } = await room()
      const env = { SIGNALBOX_AGENT: "bob" }
      const byPerson = await refusal("refused", () => command(configIn(where, { env })))
      expect(byPerson).toContain(`Bob (test-program, last active`)
      expect(byPerson).toContain(HELD)
      const named = { ...configIn(where, { env: { SIGNALBOX_SESSION: "a" } }), agent: "Bob" }
      const byAda = await refusal("refused", () => command(named))
      expect(byAda).toContain("you are Ada")
      expect(byAda).toContain("Without --agent and SIGNALBOX_AGENT the command acts as you.")
      expect(await heldIn(bob.session.app)).toHaveLength(1)
    },
  )

  test("acts for the agents of its session, and for a dead one's after it was taken up", async () => {
    const { where, ada, bob } = await room()
    const as = (session: string) =>
      configIn(where, { env: { SIGNALBOX_SESSION: session, SIGNALBOX_AGENT: "Bob" } })
    await bob.session.close()
    const text = await refusal("refused", () => releaseCommand(as("a"), ["src"], {}))
    expect(text).toContain('with name_hint "Bob" to take it up')
    await ada.session.register("Bob")
    expect((await run(() => releaseCommand(as("a"), ["src"], {}))).error).toBeUndefined()
  })

  test("lists by the name of any agent", async () => {
    const { where } = await room()
    const listed = () => reservationsCommand(configIn(where), { agent: "Bob", json: true })
    expect(await runJson(listed)).toMatchObject([{ agent_name: "Bob" }])
  })

  test('acts for any where the user\'s settings say identity "open"', async () => {
    const { where } = await room()
    const config = configIn(where, { env: { SIGNALBOX_AGENT: "Bob" } })
    mkdirSync(dirname(config.userConfigPath), { recursive: true })
    writeFileSync(config.userConfigPath, JSON.stringify({ identity: "open" }))
    const open = configIn(where, { env: { SIGNALBOX_AGENT: "Bob" } })
    expect((await run(() => releaseCommand(open, ["src"], {}))).error).toBeUndefined()
  })
})

describe("a hook whose SIGNALBOX_AGENT is another session's agent", () => {
  const IGNORED = "signalbox: SIGNALBOX_AGENT is ignored: Bob is no agent of this session"
  const foreign = { session: "a", agentName: "Bob", projectKey: "demo" }

  test("says so on one line, and edits as its own session", async () => {
    const { where, ada } = await room()
    const { app } = ada.session
    expect(await edit(where, app, "docs/a.md", foreign)).toEqual({ exitCode: 0, stdout: "", stderr: IGNORED })
    expect((await edit(where, app, "src/a.ts", foreign)).exitCode).toBe(2)
    const listed = await ada.session.read("file-reservations", { project_key: "demo", agent: "Ada" })
    expect(listed).toMatchObject({ reservations: [{ path_pattern: "docs/a.md" }] })
  })

  test.each(["session-start", "session-end", "mail"] as const)("says so at %s", async (event) => {
    const { where, ada, bob } = await room()
    expect((await sessionEvent(where, ada.session.app, event, foreign)).stderr).toBe(IGNORED)
    expect(await heldIn(bob.session.app)).toHaveLength(1)
  })

  test.each(["post-commit", "pre-commit"])("says so at git's %s, which releases nothing", async (event) => {
    const { where, ada, bob } = await room()
    writeFileSync(
      join(where.repositoryPath, ".signalbox.json"),
      JSON.stringify({ hooks: { preEdit: { releaseOnCommit: true } } }),
    )
    const commit = { ...foreign, client: "git", event, namedSession: "a" }
    const { stderr } = await runHook(where, ada.session.app, "src\n", commit)
    expect(stderr).toContain(IGNORED)
    expect(await heldIn(bob.session.app)).toHaveLength(1)
  })
})

describe("over HTTP", () => {
  const requests = (http: HttpEntry, where: World, agent_id: string, headers: Record<string, string>) => {
    const path = join(where.repositoryPath, "src")
    return [
      http.send(PATH, { body: { paths: [join(where.repositoryPath, "a")], agent_id }, headers }),
      http.send(`${PATH}/override`, { body: { path, agent_id, reason: "r" }, headers }),
      http.send(`${PATH}/1?agent_id=${agent_id}`, { method: "DELETE", headers }),
    ]
  }

  test("agent_id must be of the key's session, or of the one that X-Signalbox-Session names", async () => {
    const { where, bob } = await room()
    const http = await serveHttp(bob.session, { routes: productRoutes() })
    for (const session of [undefined, "a", "unheard-of"]) {
      const headers: Record<string, string> = session === undefined ? {} : { "X-Signalbox-Session": session }
      for (const reply of await Promise.all(requests(http, where, String(bob.id), headers))) {
        expect(reply.status, reply.text).toBe(403)
        expect(reply.text).toContain(HELD)
        expect(reply.text).toContain("name it in the header X-Signalbox-Session")
      }
    }
    const own = requests(http, where, String(bob.id), { "X-Signalbox-Session": "b" })
    expect((await Promise.all(own)).map(({ status }) => status)).toEqual([201, 404, 200])
    const wrong = requests(http, where, String(bob.id), { "X-Signalbox-Session": "no/such" })
    expect((await Promise.all(wrong)).map(({ status }) => status)).toEqual([400, 400, 400])
  })

  test("a narrower key names no client's session", async () => {
    const { bob } = await room()
    const http = await serveHttp(bob.session, { routes: productRoutes() })
    const { text: key } = await http.key({ scopes: ["project:demo:coordination"] })
    const headers = { "X-Signalbox-Session": "b" }
    const release = { method: "DELETE", headers, key }
    const reply = await http.send(`${PATH}/1?agent_id=${bob.id}`, release)
    expect(reply.status).toBe(403)
    expect(reply.text).not.toContain("X-Signalbox-Session")
    expect(await heldIn(bob.session.app)).toHaveLength(1)
  })
})
