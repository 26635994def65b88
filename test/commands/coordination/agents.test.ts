import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { expect, test } from "vitest"
import { terminalColumns } from "../../../src/commands/columns.ts"
import { agentsCommand } from "../../../src/commands/coordination/agents.ts"
import { reserveCommand } from "../../../src/commands/coordination/reserve.ts"
import { edit } from "../../support/hook.ts"
import type { World } from "../../support/world.ts"
import {
  agentOf,
  type CommandSurroundings,
  configIn,
  presentWorld,
  refusal,
  run,
  runJson,
  server,
} from "../command.ts"

interface Listed {
  name: string
  presence: string
  work_tree: string | null
  branch: string | null
  is_you: boolean
}

const agents = (where: World, at: CommandSurroundings = {}, all = false) =>
  runJson<Listed[]>(() => agentsCommand(configIn(where, at), { json: true, all }))
const shown = async (where: World, at: CommandSurroundings = {}, all = false) =>
  (await run(() => agentsCommand(configIn(where, at), { all }))).out

test("agents lists who is at work: client and model, place, task, what it holds, what it has not read", async () => {
  const where = presentWorld()
  const app = await server(where, "one")
  const { id } = await agentOf(app, "BlueLake")
  await app.db.run("UPDATE agents SET task_description = ? WHERE id = ?", ["the \u001b[2Jlogin form", id])
  const as = { env: { SIGNALBOX_SESSION: "one" } }
  for (const path of ["a.ts", "b.ts", "c.ts", "d.ts"])
    await run(() => reserveCommand(configIn(where, as), [path], { mode: "shared" }))
  expect(await agents(where)).toMatchObject([
    {
      id,
      name: "BlueLake",
      is_person: false,
      is_you: false,
      presence: "active",
      program: "test-program",
      model: "test-model",
      project_key: "demo",
      work_tree: where.repositoryPath,
      branch: "main",
      task: "the \u001b[2Jlogin form",
      unread: 0,
      reservations: [
        { path_pattern: "a.ts", mode: "shared" },
        { path_pattern: "b.ts" },
        { path_pattern: "c.ts" },
        { path_pattern: "d.ts" },
      ],
    },
  ])
  const out = await shown(where)
  expect(out).toContain("1 at work in demo")
  expect(out).toMatch(/● BlueLake {2}test-program, test-model {2}\d+ s ago\n/)
  expect(out).toContain(`in ${where.repositoryPath} on main`)
  expect(out).toContain("the ␛[2Jlogin form")
  expect(out).toMatch(/holds c\.ts \(shared, .* left\)\n {2}and holds 1 more/)
  expect(out).toContain('send BlueLake "..."')
})

test("agents tells whose session is open from those that are gone, which --all lists", async () => {
  const where = presentWorld()
  const app = await server(where, "one")
  where.advance(-31 * 60_000)
  await agentOf(app, "BlueLake")
  await agentOf(await server(where, "ended"), "RedFox")
  await app.db.run("DELETE FROM server_processes WHERE session = 'client:ended'", [])
  expect(await agents(where)).toMatchObject([{ name: "BlueLake", presence: "idle" }])
  expect(await agents(where, {}, true)).toMatchObject([
    { name: "BlueLake" },
    { name: "RedFox", presence: "gone" },
  ])
  expect(await shown(where, {}, true)).toContain("1 at work in demo, 1 gone")
  const alone = presentWorld()
  expect(await shown(alone)).toContain("Nobody is at work here")
})

test("agents shows the work tree in which an agent was last seen to edit, and its branch", async () => {
  const where = presentWorld()
  const { session } = await (await where.session({ name: "a" })).register("Ada")
  const git = (...args: string[]) => execFileSync("git", ["-C", where.repositoryPath, ...args])
  git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty", "-m", "x")
  const second = join(where.folder, "second")
  git("worktree", "add", "--quiet", "-b", "feature", second)
  expect(await agents(where)).toMatchObject([{ work_tree: where.repositoryPath, branch: "main" }])
  await edit(where, session.app, join(second, "a.ts"), { session: "a" })
  expect(await agents(where)).toMatchObject([{ work_tree: second, branch: "feature" }])
})

test("agents lists the projects of this repository, that of its own session, or outside of any all", async () => {
  const where = presentWorld()
  const app = await server(where, "one")
  await agentOf(app, "BlueLake")
  await agentOf(await server(where, "two"), "RedFox", "other")
  const names = async (at?: CommandSurroundings) => (await agents(where, at)).map(({ name }) => name).sort()
  expect(await names()).toEqual(["BlueLake", "RedFox"])
  expect(await shown(where)).toContain("project other")
  expect(await names({ env: { SIGNALBOX_SESSION: "two" } })).toEqual(["RedFox"])
  expect(await agents(where, { env: { SIGNALBOX_SESSION: "two" } })).toMatchObject([{ is_you: true }])
  expect(await names({ env: { SIGNALBOX_PROJECT: "demo" } })).toEqual(["BlueLake"])
  expect(await names({ folder: where.folder })).toEqual(["BlueLake", "RedFox"])
  const unknown = configIn(where, { env: { SIGNALBOX_PROJECT: "nowhere" } })
  expect(await refusal("not_found", () => agentsCommand(unknown, {}))).toContain('"nowhere" was not found')
})

test("lists fit into the columns of a terminal, and are cut nowhere else", () => {
  expect(terminalColumns({ columns: 60 })).toBe(60)
  expect(terminalColumns({ columns: 5 })).toBe(40)
  expect(terminalColumns({})).toBe(Number.POSITIVE_INFINITY)
})
