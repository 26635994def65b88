/** What narrower keys may do with reservations over HTTP: nothing beyond their own projects and repositories. */

import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { productRoutes } from "../../../src/http/index.ts"
import { callOperation } from "../../../src/operations/call.ts"
import { registerAgent } from "../../../src/operations/coordination/agents.ts"
import { createKey } from "../../../src/operations/keys.ts"
import { reserve } from "../../support/hook.ts"
import { type HttpEntry, serveHttp } from "../../support/http.ts"
import { type TestAgent, textAfter, type World, world } from "../../support/world.ts"

const PATH = "/api/coordination/file-reservations"

interface Room {
  made: World
  http: HttpEntry
  ada: TestAgent
  /** Of another project, in another repository, in the same session as Ada. */
  eve: TestAgent
  elsewhere: string
  /** A key for the project "demo". */
  key: string
  /** An agent of that key's own session. */
  zoe: string
}

/** Calls for the session in which Ada and Eve are. */
const AS_ONE = { headers: { "X-Signalbox-Session": "one" } }

async function room(): Promise<Room> {
  const made = world()
  const session = await made.session({ name: "one" })
  const ada = await session.register("Ada")
  const elsewhere = join(made.folder, "elsewhere")
  mkdirSync(elsewhere)
  execFileSync("git", ["init", "--quiet", elsewhere])
  const other = await made.session({ name: "one", workingFolder: elsewhere })
  const eve = await other.register("Eve", { project_key: "secret" })
  await reserve(eve, "plan.md", { reason: "secret plan" })
  const http = await serveHttp(session, { routes: productRoutes() })
  const { key, text } = await createKey(session.app, {
    name: "narrow",
    environment: "live",
    scopes: ["project:demo:coordination"],
    plan: "starter",
    expiresAtMs: null,
  })
  const caller = {
    surface: "http",
    key,
    session: undefined,
    folder: undefined,
    homeRepository: undefined,
  } as const
  const identity = { project_key: "demo", program: "p", model: "m", name_hint: "Zoe", repository_id: 1 }
  const zoe = textAfter(
    await callOperation({ app: session.app, caller }, registerAgent, identity),
    "Agent id",
  )
  return { made, http, ada, eve, elsewhere, key: text, zoe }
}

describe("a key for one project", () => {
  test("reserves in the project's own repository", async () => {
    const { made, http, zoe, key } = await room()
    const body = { paths: [join(made.repositoryPath, "a.ts")], agent_id: zoe }
    const reply = await http.send(PATH, { body, key })
    expect(reply).toMatchObject({ status: 201, json: { status: "reserved" } })
  })

  test("reaches no other repository, by reserving or by overriding", async () => {
    const { http, zoe: agent_id, eve, elsewhere, key } = await room()
    const path = join(elsewhere, "plan.md")
    expect((await http.send(PATH, { body: { paths: [path], agent_id }, key })).status).toBe(403)
    expect((await http.send(`${PATH}/override`, { body: { path, agent_id, reason: "x" }, key })).status).toBe(
      403,
    )
    expect((await http.send(`${PATH}?repository_id=${eve.repositoryId}`, { key })).status).toBe(403)
    expect((await http.send(`${PATH}?path=${path}`, { key })).status).toBe(403)
  })

  test("finds another project's reservation neither to release it nor to learn of it", async () => {
    const { made, http, ada, eve, key, zoe } = await room()
    const released = await http.send(`${PATH}/1?agent_id=${zoe}`, { method: "DELETE", key })
    expect(released.status).toBe(404)
    expect(released.text).not.toContain("Eve")
    await reserve({ ...eve, repositoryId: ada.repositoryId }, "shared.md", { reason: "of the other project" })
    const seen = await http.send(`${PATH}?path=${join(made.repositoryPath, "shared.md")}`, { key })
    expect(seen).toMatchObject({ status: 200, json: { reservations: [] } })
    expect((await http.send(`${PATH}?repository_id=${ada.repositoryId}`, { key })).text).not.toContain("Eve")
  })
})

test("a key without coordination learns nothing at all", async () => {
  const { made, http, key: _, ada } = await room()
  const { text: key } = await http.key({ scopes: ["repo:1:memory"] })
  for (const query of [
    "repository_id=1",
    "repository_id=99",
    `path=${made.repositoryPath}/a.ts`,
    "path=/nowhere/a",
  ])
    expect((await http.send(`${PATH}?${query}`, { key })).status, query).toBe(403)
  expect((await http.send(`${PATH}/1?agent_id=${ada.id}`, { method: "DELETE", key })).status).toBe(403)
})

describe("the local key", () => {
  test("reserves just as asked, again and again", async () => {
    const { made, http, ada } = await room()
    const ask = (more: object) =>
      http.send(PATH, {
        ...AS_ONE,
        body: { paths: [join(made.repositoryPath, "a.ts")], agent_id: String(ada.id), ...more },
      })
    const first = await ask({ mode: "exclusive", duration: 90 })
    expect(first).toMatchObject({
      status: 201,
      json: { status: "reserved", reservations: [{ mode: "exclusive" }] },
    })
    const again = await ask({ mode: "shared", duration: 7_200, reason: "more" })
    expect(again).toMatchObject({
      status: 200,
      json: { status: "renewed", reservations: [{ mode: "shared" }] },
    })
    const expiry = ({ json }: { json: unknown }) => Date.parse((json as { expires_at: string }).expires_at)
    expect(expiry(again) - expiry(first)).toBe((7_200 - 90) * 1_000)
  })

  test("takes ids as they are written, and no other way", async () => {
    const { http, eve } = await room()
    for (const id of ["0x1", "1e0", "01", "1.0", "-1"])
      expect((await http.send(`${PATH}/${id}?agent_id=${eve.id}`, { method: "DELETE" })).status, id).toBe(404)
    const release = { ...AS_ONE, method: "DELETE" }
    expect((await http.send(`${PATH}/1?agent_id=${eve.id}`, release)).status).toBe(200)
  })

  test("is told which field is wrong by the name that its body or query gave it", async () => {
    const { made, http, ada } = await room()
    const agent_id = String(ada.id)
    const long = join(made.repositoryPath, "x/".repeat(300), "a.ts")
    const field = async (path: string, body?: object) => {
      const { status, json } = await http.send(path, { ...AS_ONE, ...(body && { body }) })
      return [status, (json as { field?: string }).field]
    }
    for (const path of ["a.ts", "/nowhere/a.ts", long]) {
      expect(await field(PATH, { paths: [path], agent_id }), path).toEqual([400, "paths"])
      expect(await field(`${PATH}/override`, { path, agent_id, reason: "x" }), path).toEqual([400, "path"])
      expect(await field(`${PATH}?path=${encodeURIComponent(path)}`), path).toEqual([400, "path"])
    }
    expect(await field(PATH, { paths: [], agent_id })).toEqual([400, "paths"])
    expect(await field(PATH, { paths: ["a.ts"], agent_id, duration: 0 })).toEqual([400, "duration"])
  })

  test("is told of an unknown agent by the id that it gave", async () => {
    const { made, http } = await room()
    const agent_id = "9007199254740993"
    const path = join(made.repositoryPath, "a.ts")
    const replies = [
      await http.send(PATH, { body: { paths: [path], agent_id } }),
      await http.send(`${PATH}/1?agent_id=${agent_id}`, { method: "DELETE" }),
      await http.send(`${PATH}/override`, { body: { path, agent_id, reason: "x" } }),
    ]
    for (const { status, text } of replies) {
      expect(status).toBe(404)
      expect(text).toContain(`agent ${agent_id} was not found`)
    }
  })

  test("gets a listing that is never stale, whoever wrote and however it asks", async () => {
    const { made, http, ada } = await room()
    const count = async (more = "") => {
      const { json } = await http.send(`${PATH}?repository_id=${ada.repositoryId}${more}`)
      return (json as { reservations: unknown[] }).reservations.length
    }
    expect(await count()).toBe(0)
    await reserve(ada, "a.ts")
    expect(await count()).toBe(1)
    await reserve(ada, "b.ts", { duration_seconds: 5 })
    expect(await count("&refresh=false")).toBe(2)
    expect(await count("&refresh=true")).toBe(2)
    made.advance(5_000)
    expect(await count()).toBe(1)
    await ada.session.call("release-file-reservations", {
      agent_id: ada.id,
      coordination_project_id: ada.projectId,
    })
    expect(await count()).toBe(0)
  })
})

test("an override that waits is decided by a person with an admin key, never by a call that speaks for an agent", async () => {
  const { made, http, ada } = await room()
  writeFileSync(
    join(made.repositoryPath, ".signalbox.json"),
    JSON.stringify({ hooks: { preEdit: { requireAdminApproval: true } } }),
  )
  const path = join(made.repositoryPath, "a.ts")
  await reserve(ada, "a.ts")
  const two = await made.session({ name: "two" })
  const bob = await two.register("Bob")
  const as = (session: string) => ({ headers: { "X-Signalbox-Session": session } })
  const asked = { path, agent_id: String(bob.id), reason: "hotfix" }
  expect((await http.send(`${PATH}/override`, { body: asked, ...as("two") })).status).toBe(202)
  const decision = { body: { approved: true } }
  for (const session of ["one", "two"]) {
    const { status, text } = await http.send(`${PATH}/override/1`, { ...decision, ...as(session) })
    expect(status, text).toBe(403)
    expect(text).toContain("is an agent, and overrides are decided by people")
  }
  const decided = await http.send(`${PATH}/override/1`, decision)
  expect(decided).toMatchObject({ status: 200, json: { status: "done" } })
})

describe("any call on behalf of an agent moves its last activity", () => {
  test("also one that reserves, releases or overrides over HTTP", async () => {
    const { made, http, ada } = await room()
    const path = join(made.repositoryPath, "a.ts")
    const agent_id = String(ada.id)
    const calls = [
      () => http.send(PATH, { body: { paths: [path], agent_id }, ...AS_ONE }),
      () => http.send(`${PATH}/override`, { body: { path, agent_id, reason: "x" }, ...AS_ONE }),
      () => http.send(`${PATH}/999?agent_id=${agent_id}`, { method: "DELETE", ...AS_ONE }),
    ]
    for (const call of calls) {
      made.advance(60_000)
      await call()
      const profile = await ada.session.call("whois", { project_key: "demo", agent_name: "Ada" })
      expect(textAfter(profile, "Last active")).toContain("0 s ago")
    }
  })
})
