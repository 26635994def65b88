/** Two live servers: neither acts as the other's agent, by whatever way in, and a dead one's agent can be taken up. */

import { spawnSync } from "node:child_process"
import { expect, test } from "vitest"
import { editOf, holderAt, reservationsOf, reserve, runHook, SERVER_ENV } from "../support/hook-process.ts"
import { BINARY, environment, place, ServerProcess } from "../support/server-process.ts"

const HELD = /Ada \(test-program, last active .*\) belongs to another live session/
const IGNORED = "signalbox: SIGNALBOX_AGENT is ignored: Ada is no agent of this session\n"

test("a live server's agent is nobody else's to speak for; a dead one's is taken up by its name", async () => {
  const where = place()
  const { server: adas, agent: ada } = await holderAt(where)
  const bobs = await ServerProcess.start(where, { env: { ...SERVER_ENV, SIGNALBOX_SESSION: "session-b" } })
  const bob = { server: bobs, agent: await bobs.register("Bob") }
  const release = { agent_id: ada.id, coordination_project_id: ada.projectId }
  const message = { sender_name: "Ada", project_id: ada.projectId, to_agent_ids: [bob.agent.id] }
  expect(await bobs.fail("release-file-reservations", release)).toMatch(HELD)
  expect(await bobs.fail("send-message", { ...message, subject: "s", body_md: "b" })).toMatch(HELD)
  const uri = "signalbox://coordination/inbox/Ada?project_key=demo"
  await expect(bobs.request("resources/read", { uri })).rejects.toThrow(HELD)

  const as = (env: Record<string, string>, ...args: string[]) => {
    const options = { cwd: where.repository, env: environment(where, env), encoding: "utf8" } as const
    return spawnSync(process.execPath, [BINARY, ...args], options)
  }
  for (const env of [{}, { SIGNALBOX_SESSION: "session-b" }] as Record<string, string>[]) {
    expect(as({ ...env, SIGNALBOX_AGENT: "Ada" }, "release", "--all").stderr).toMatch(HELD)
    expect(as(env, "reserve", "free.ts", "--agent", "Ada").stderr).toMatch(HELD)
  }
  for (const form of ["shell", "node"] as const) {
    const run = { form, payload: editOf(where, `${form}.ts`), env: { SIGNALBOX_AGENT: "Ada" } }
    expect(await runHook(where, run)).toEqual({ exitCode: 0, stdout: "", stderr: IGNORED })
  }
  expect([...(await reservationsOf(bob)).values()]).toEqual(["Ada", "Bob", "Bob"])

  await adas.kill()
  expect(await bobs.fail("release-file-reservations", release)).toContain("belongs to no live session")
  expect(await bobs.register("Ada")).toEqual(ada)
  expect(await bobs.call("release-file-reservations", release)).toContain("Released: 1")

  await reserve({ server: bobs, agent: ada }, "since.ts")
  const back = await ServerProcess.start(where, { env: { ...SERVER_ENV, SIGNALBOX_SESSION: "session-a" } })
  const inbox = { agent_name: "Ada", project_id: ada.projectId }
  await back.call("fetch-inbox", inbox)
  expect(await bobs.fail("fetch-inbox", inbox)).toMatch(HELD)
  expect((await reservationsOf(bob)).get("since.ts")).toMatch(/^Ada\w+$/)
})
