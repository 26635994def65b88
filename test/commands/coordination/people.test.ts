/** People: one agent in a project, marked wherever they are listed or stand in the way, and whom nobody passes for. */

import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { expect, test } from "vitest"
import { personName, terminalOf, userName } from "../../../src/commands/coordination/identity.ts"
import { reservationsCommand } from "../../../src/commands/coordination/reservations.ts"
import { reserveCommand } from "../../../src/commands/coordination/reserve.ts"
import type { Repository } from "../../../src/domain/project.ts"
import { productRoutes } from "../../../src/http/index.ts"
import { ASKS, admit } from "../../../src/operations/admission.ts"
import { commandCall } from "../../../src/operations/caller.ts"
import { connectFolder } from "../../../src/operations/connect.ts"
import { requireIdentity } from "../../../src/operations/coordination/identity.ts"
import { repositoryAround } from "../../../src/operations/coordination/locations.ts"
import { edit } from "../../support/hook.ts"
import { serveHttp } from "../../support/http.ts"
import { type World, world } from "../../support/world.ts"
import { configIn, presentWorld, refusal, runJson } from "../command.ts"

/** The name that whoever runs these tests has at first. */
const ME = personName(userName())

async function typed(where: World, path: string, folder?: string): Promise<string> {
  const config = configIn(where, folder === undefined ? {} : { folder })
  const made = await runJson<{ agent: { name: string } }>(() =>
    reserveCommand(config, [path], { mode: "exclusive", json: true }),
  )
  return made.agent.name
}

test("are marked wherever they are listed or stand in the way", async () => {
  const where = presentWorld()
  const ada = await (await where.session({ name: "a" })).register("Ada")
  expect(await typed(where, "src")).toBe(ME)
  const { session } = ada
  const people = { project_key: "demo" }
  expect(await session.call("whois", { ...people, agent_name: ME })).toContain("Program: human")
  for (const text of [
    await session.call("whois", { ...people, agent_name: ME }),
    await session.call("list-agents", people),
  ])
    expect(text.match(/^Person: yes, not a program$/gm)).toHaveLength(1)
  expect(await session.read("agents", people)).toMatchObject({
    agents: expect.arrayContaining([
      expect.objectContaining({ name: ME, is_person: true }),
      expect.objectContaining({ name: "Ada", is_person: false }),
    ]),
  })
  const marked = `${ME} (a person)`
  const withId = new RegExp(`gent: ${ME} \\(agent \\d+, a person\\)$`, "m")
  const coordination_project_id = ada.projectId
  expect(await session.call("list-file-reservations", { coordination_project_id })).toMatch(withId)
  expect(await session.read("file-reservations", people)).toMatchObject({
    reservations: [{ agent: ME, is_person: true }],
  })
  const wanted = { agent_id: ada.id, repository_id: 1, coordination_project_id, path_pattern: "src/a.ts" }
  expect(await session.fail("reserve-file-paths", wanted)).toMatch(withId)
  expect((await edit(where, session.app, "src/a.ts", { session: "a" })).stderr).toContain(
    `is reserved by ${ME} (a person; exclusive, `,
  )
  const as = { env: { SIGNALBOX_SESSION: "a" } }
  const conflict = await refusal("conflict", () =>
    reserveCommand(configIn(where, as), ["src/a.ts"], { mode: "exclusive" }),
  )
  expect(conflict).toContain(`${marked} holds src`)
  const listed = () => reservationsCommand(configIn(where), { json: true })
  expect(await runJson(listed)).toMatchObject([{ agent_name: ME, is_person: true }])
  const http = await serveHttp(session, { routes: productRoutes() })
  const { json } = await http.send("/api/coordination/file-reservations?repository_id=1")
  expect(json).toMatchObject({ reservations: [{ agent_name: ME, is_person: true }] })
  await expect(session.read(`inbox/${ME}`, people)).rejects.toThrow(`${ME} (a person, last active`)
})

test("are one agent in a project, whatever repositories it has", async () => {
  const where = presentWorld()
  const { session } = await (await where.session({ name: "a" })).register("Ada")
  expect(await typed(where, "a.ts")).toBe(ME)
  const folder = join(where.folder, "second")
  execFileSync("git", ["init", "--quiet", folder])
  const { id } = await connectFolder(session.app.db, folder, where.nowMs)
  await session.register("Bob", { repository_id: id })
  expect(await typed(where, "b.ts", folder)).toBe(ME)
  expect(await typed(where, "c.ts")).toBe(ME)
  expect(await session.call("list-agents", { project_key: "demo" })).toContain("Total: 3")
})

test("whose name is taken have it with a number, and never become that agent", async () => {
  const where = presentWorld()
  const before = await where.session({ name: "before" })
  const { id } = await before.register("Kim")
  await before.close()
  const { app } = await where.session({ name: "a" })
  const context = await admit(commandCall(app), ASKS.toolCall)
  const repository = await repositoryAround(app, where.repositoryPath)
  const clues = { ...terminalOf(app).clues, sessionId: undefined, processesAbove: () => [] }
  for (const [uid, nameHint, name] of [
    [1, "Kim", "Kim-2"],
    [2, "kim", "kim-3"],
    [1, "Kim", "Kim-2"],
    [3, "root", "root"],
    [4, "signalbox", "signalbox-2"],
  ] as const) {
    const terminal = { agentName: undefined, clues, person: { session: `user:${uid}`, nameHint } }
    const { agent } = await requireIdentity(context, terminal, repository as Repository)
    expect(agent).toMatchObject({ name, program: "human" })
    expect(agent.id).not.toBe(id)
  }
})

test("are passed for by no agent", async () => {
  const session = await world().session({ name: "a" })
  const introduced = { project_key: "demo", program: "p", model: "m" }
  for (const tool of ["register-agent", "macro-start-session"]) {
    for (const name_hint of ["Human", "r00t", "Sys-tem-2", "Signalbox"])
      expect(await session.fail(tool, { ...introduced, name_hint })).toMatch(
        /name_hint ".*" is reserved, for it reads as a person or as the system\. Choose another name/,
      )
    expect(await session.fail(tool, { ...introduced, program: " Human" })).toContain("is reserved for people")
  }
})
