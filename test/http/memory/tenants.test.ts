/** Who may reach whose memories over HTTP, and that nobody learns of anything beyond that. */

import { execFileSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import Database from "better-sqlite3"
import { describe, expect, test } from "vitest"
import { revokeKeyById } from "../../../src/operations/keys.ts"
import type { HttpReply } from "../../support/http.ts"
import {
  DAY_MS,
  expectError,
  type MemoryCaller,
  type MemoryRoom,
  memoryRoom,
  NO_ID,
  secondTenant,
} from "../../support/memories.ts"

/** The operations on one memory. */
const BY_ID: [name: string, method: string, more: string, body: object | undefined][] = [
  ["get", "GET", "", undefined],
  ["update", "PATCH", "", { content: "taken over" }],
  ["empty update", "PATCH", "", {}],
  ["reinforce", "POST", "/reinforce", { profile: "emergency" }],
  ["waypoints", "GET", "/waypoints", undefined],
  ["delete", "DELETE", "", undefined],
]
/** The operations on all memories of a tenant. */
const ON_ALL: [name: string, method: string, path: string, body: object | undefined][] = [
  ["create", "POST", "", { content: "smuggled in" }],
  ["search", "POST", "/search", { query: "secret" }],
  ["list", "GET", "", undefined],
  ["prune", "POST", "/prune", { threshold: 1 }],
  ["stats", "GET", "/stats", undefined],
]
/** All eleven requests, for a memory of this id. */
const everything = (id: string) => [
  ...BY_ID.map(([name, method, more, body]) => [name, method, `/${id}${more}`, body] as const),
  ...ON_ALL,
]

interface TwoTenants extends MemoryRoom {
  other: MemoryCaller
  /** A memory of the second tenant, as it was before anybody tried anything. */
  secretId: string
  expectUntouched(): Promise<void>
}

async function twoTenants(): Promise<TwoTenants> {
  const room = await memoryRoom()
  const other = await secondTenant(room)
  const { id: secretId } = await other.create({ content: "the secret plan", tags: ["secret"] })
  await other.create({ content: "the secret plan, second part" })
  const of = async () => JSON.stringify([await other.list(), await other.stats()])
  const before = await of()
  return { ...room, other, secretId, expectUntouched: async () => expect(await of()).toBe(before) }
}

const withoutIds = ({ text }: HttpReply) => text.replaceAll(/[0-9a-f-]{36}/gi, "{id}")

describe("a memory of another tenant", () => {
  test.each(BY_ID)("is as unknown to %s as one that does not exist", async (_, method, more, body) => {
    const { api, secretId, expectUntouched } = await twoTenants()
    for (const id of [secretId, secretId.toUpperCase()]) {
      const foreign = await api.ask(method, `/${id}${more}`, body)
      const missing = await api.ask(method, `/${NO_ID}${more}`, body)
      expectError(foreign, 404)
      expectError(missing, 404)
      expect(withoutIds(foreign)).toBe(withoutIds(missing))
      expect(foreign.headers["content-length"]).toBe(missing.headers["content-length"])
    }
    await expectUntouched()
  })

  test("is in nothing that one's own listings, searches, statistics and waypoints show", async () => {
    const { api, expectUntouched } = await twoTenants()
    const mine = await api.create({ content: "the secret plan" })
    expect((await api.list({ tag: "secret" })).data).toEqual([])
    expect((await api.list()).data.map(({ id }) => id)).toEqual([mine.id])
    const found = await api.search({ query: "secret plan second part", limit: 100 })
    expect(found.data.map(({ id }) => id)).toEqual([mine.id])
    expect(found.meta.total).toBe(1)
    expect((await api.waypoints(mine.id, "?min_weight=0")).meta.total_waypoints).toBe(0)
    expect(await api.stats()).toMatchObject({ total_memories: 1, total_waypoints: 0, embeddings_today: 1 })
    expect((await api.prune({ threshold: 1 })).memories_pruned).toBe(0)
    await expectUntouched()
  })

  test("is not pruned when one's own are", async () => {
    const { api, made, other } = await twoTenants()
    await api.create({ content: "mine" })
    made.advance(10_000 * DAY_MS)
    expect(await api.prune({ threshold: 1 })).toMatchObject({ memories_pruned: 1 })
    expect((await other.stats()).total_memories).toBe(2)
  })
})

describe("what is no id", () => {
  test.each(["x", "1", `${NO_ID}0`, NO_ID.replaceAll("-", ""), `{${NO_ID}}`, "null", "%00", "..%2f", "é"])(
    "%s is 404 in every operation, and changes nothing",
    async (text) => {
      const { api } = await memoryRoom()
      await api.create({ content: "x" })
      for (const [name, method, more, body] of BY_ID) {
        const reply = await api.ask(method, `/${encodeURI(text).replace("%25", "%")}${more}`, body)
        expect(reply.status, `${name}: ${reply.text}`).toBe(404)
        expectError(reply, 404)
      }
      expect((await api.stats()).total_memories).toBe(1)
    },
  )

  test("other methods are 405 and say which there are", async () => {
    const { api } = await memoryRoom()
    const { id } = await api.create({ content: "x" })
    for (const [method, path] of [
      ["PUT", ""],
      ["DELETE", ""],
      ["PATCH", ""],
      ["PUT", `/${id}`],
      ["POST", `/${id}`],
      ["GET", `/${id}/reinforce`],
      ["DELETE", `/${id}/waypoints`],
      ["GET", "/prune"],
      ["DELETE", "/stats"],
      ["DELETE", "/search"],
    ] as const) {
      const reply = await api.ask(method, path)
      expectError(reply, 405)
      expect(reply.headers.allow).toMatch(/[A-Z]/)
    }
    expectError(await api.ask("GET", `/${id}/nothing`), 404)
    expectError(await api.ask("GET", `/${id}/waypoints/1`), 404)
    expect((await api.list()).data).toHaveLength(1)
  })
})

describe("the tenant", () => {
  test("is named by id or by name in any case, with blanks around it", async () => {
    const { made, api, caller, other, secretId } = await twoTenants()
    const { id } = await api.create({ content: "x" })
    expect(made.repositoryPath.endsWith("/repository")).toBe(true)
    for (const tenant of ["1", " 1 ", "repository", " repository ", "Repository", "REPOSITORY"])
      expect((await caller({ tenant }).look(id))?.id, tenant).toBe(id)
    for (const tenant of ["2", "elsewhere"])
      expect((await caller({ tenant }).look(secretId))?.id, tenant).toBe(secretId)
    expect((await other.list()).data).toHaveLength(2)
  })

  test("is required by every operation: missing or blank is 400", async () => {
    const { caller, secretId, expectUntouched } = await twoTenants()
    for (const tenant of [null, "", "  "]) {
      for (const [name, method, path, body] of everything(secretId)) {
        const reply = await caller({ tenant }).ask(method, path, body)
        expect(reply.status, `${name}: ${reply.text}`).toBe(400)
        expectError(reply, 400, ["x-tenant-id"])
      }
    }
    await expectUntouched()
  })

  test("that is unknown is 404 in every operation for a key that may see all", async () => {
    const { http, caller, secretId, expectUntouched } = await twoTenants()
    const { text: key } = await http.key({ scopes: ["*"] })
    const strange = ["99", "0", "-1", "01", "1.0", "+1", "0x1", "1e0", "9".repeat(20), "nowhere", "null"]
    for (const tenant of strange) {
      const reply = await caller({ tenant, key }).ask("GET", "")
      expect(reply.status, `${tenant}: ${reply.text}`).toBe(404)
      expectError(reply, 404)
    }
    for (const [name, method, path, body] of everything(secretId)) {
      const reply = await caller({ tenant: "99", key }).ask(method, path, body)
      expect(reply.status, `${name}: ${reply.text}`).toBe(404)
      expectError(reply, 404)
    }
    await expectUntouched()
  })

  test("whose name has letters beyond ASCII is reached by that name", async () => {
    const { made, caller } = await memoryRoom()
    const folder = join(made.folder, "projet-é-日本")
    mkdirSync(folder)
    execFileSync("git", ["init", "--quiet", folder])
    await made.session({ name: "one", workingFolder: folder })
    const { id } = await caller({ tenant: "2" }).create({ content: "x" })
    // Clients send the bytes of UTF-8; Node's takes them as a text of one character a byte.
    const tenant = Buffer.from("projet-é-日本").toString("latin1")
    expect((await caller({ tenant }).list()).data.map((memory) => memory.id)).toEqual([id])
  })

  test("that is given twice is not taken for one of the two", async () => {
    const { http, expectUntouched } = await twoTenants()
    const headers = { "x-tenant-id": ["1", "2"] }
    const reply = await http.send("/api/v1/memories", { headers, body: { content: "x" } })
    expect([400, 404]).toContain(reply.status)
    await expectUntouched()
  })
})

describe("a key for the memories of one repository", () => {
  test("may do everything there", async () => {
    const { http, caller } = await twoTenants()
    const { text: key } = await http.key({ scopes: ["repo:1:memory"] })
    for (const tenant of ["1", "repository"]) {
      const mine = caller({ tenant, key })
      const { id } = await mine.create({ content: "mine" })
      for (const [name, method, path, body] of everything(id)) {
        const { status, text } = await mine.ask(method, path, body)
        expect([200, 201, 204], `${name}: ${text}`).toContain(status)
      }
    }
  })

  test("is 403 elsewhere, and cannot tell a tenant that exists from one that does not", async () => {
    const { http, caller, secretId, expectUntouched } = await twoTenants()
    const { text: key } = await http.key({ scopes: ["repo:1:memory"] })
    for (const [real, unreal] of [
      ["2", "3"],
      ["elsewhere", "somewhere"],
    ] as const) {
      for (const [name, method, path, body] of everything(secretId)) {
        const existing = await caller({ tenant: real, key }).ask(method, path, body)
        const missing = await caller({ tenant: unreal, key }).ask(method, path, body)
        for (const reply of [existing, missing]) {
          expect(reply.status, `${name}: ${reply.text}`).toBe(403)
          expectError(reply, 403)
        }
        expect(existing.text.replaceAll(real, "T"), name).toBe(missing.text.replaceAll(unreal, "T"))
      }
    }
    await expectUntouched()
  })

  test("opens nothing of coordination", async () => {
    const { http, made } = await twoTenants()
    const { text: key } = await http.key({ scopes: ["repo:1:memory", "repo:2:memory"] })
    const path = "/api/coordination/file-reservations"
    expect((await http.send(`${path}?repository_id=1`, { key })).status).toBe(403)
    const body = { paths: [join(made.repositoryPath, "a.ts")], agent_id: "1" }
    expect((await http.send(path, { key, body })).status).toBe(403)
    expect((await http.send(`${path}/1?agent_id=1`, { key, method: "DELETE" })).status).toBe(403)
  })
})

describe("a key without the memories of a repository", () => {
  test.each([
    [["repo:1:coordination"]],
    [["project:demo:coordination"]],
    [["repo:1:documentation"]],
    [["admin"]],
    [["repo:11:memory"]],
    [["repo:2:memory", "repo:1:coordination", "project::memory:coordination"]],
  ])("is 403 in every operation: %j", async (scopes) => {
    const { http, api, caller } = await memoryRoom()
    const { id } = await api.create({ content: "x" })
    const { text: key } = await http.key({ scopes })
    for (const tenant of ["1", "repository"]) {
      for (const [name, method, path, body] of everything(id)) {
        const reply = await caller({ tenant, key }).ask(method, path, body)
        expect(reply.status, `${name}: ${reply.text}`).toBe(403)
        expect(expectError(reply, 403).message).toContain(":memory")
      }
    }
    expect(await api.look(id)).toMatchObject({ content: "x", access_count: 0 })
    expect((await api.stats()).total_memories).toBe(1)
  })
})

describe("without a key that counts", () => {
  test("every operation is 401 with a challenge, and nothing happens", async () => {
    const room = await twoTenants()
    const { http, made, session, secretId, expectUntouched } = room
    const expired = await http.key({ expiresAtMs: made.nowMs + 1_000 })
    const revoked = await http.key()
    await revokeKeyById(session.app, revoked.id)
    const { text: ofTests } = await http.key({ environment: "test" })
    made.advance(1_000)
    const keys = [null, "", "x", `${http.localKey.slice(0, -1)}~`, expired.text, revoked.text, ofTests]
    for (const key of keys) {
      for (const [name, method, path, body] of everything(secretId)) {
        const reply = await room.caller({ tenant: "2", key }).ask(method, path, body)
        expect(reply.status, `${name}: ${reply.text}`).toBe(401)
        expectError(reply, 401)
        expect(reply.headers["www-authenticate"]).toMatch(/^Bearer/)
      }
    }
    await expectUntouched()
  })
})

test("a failure of the server is 500, says nothing of its inside, and is logged", async () => {
  const { made, api } = await memoryRoom()
  const { id } = await api.create({ content: "x" })
  const database = new Database(made.databasePath)
  database.exec("ALTER TABLE memory_embeddings RENAME TO gone_embeddings")
  database.close()
  const replies = [
    await api.ask("GET", `/${id}`),
    await api.ask("GET"),
    await api.ask("POST", "", { content: "y" }),
    await api.ask("DELETE", `/${id}`),
  ]
  for (const reply of replies) {
    const { message } = expectError(reply, 500)
    expect(message).not.toMatch(/SQL|table|embedding|node|\.ts/i)
  }
  expect(made.logged.splice(0)).toHaveLength(replies.length)
})
