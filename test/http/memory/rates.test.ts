/** The rate limits of the memory API on its real operations: every one counts, and every answer says what is left. */

import { describe, expect, test } from "vitest"
import type { Plan } from "../../../src/domain/api-key.ts"
import type { HttpReply } from "../../support/http.ts"
import { expectError, type MemoryCaller, memoryRoom, NO_ID } from "../../support/memories.ts"

const MINUTE_MS = 60_000

const told = ({ headers }: HttpReply) =>
  ["limit", "remaining", "reset"].map((name) => Number(headers[`x-ratelimit-${name}`]))

/** A request of each of the ten operations, for a memory of this id. */
const requests = (id: string): [method: string, path: string, body?: object][] => [
  ["POST", "", { content: "x" }],
  ["POST", "/search", { query: "x" }],
  ["GET", `/${id}`],
  ["PATCH", `/${id}`, { source: "s" }],
  ["POST", `/${id}/reinforce`],
  ["GET", `/${id}/waypoints`],
  ["POST", "/prune", { dry_run: true }],
  ["GET", "/stats"],
  ["GET", ""],
  ["DELETE", `/${id}`],
]

async function refused(api: MemoryCaller, id: string, retryAfterSeconds: number): Promise<void> {
  for (const [method, path, body] of requests(id)) {
    const reply = await api.ask(method, path, body)
    const { message, retry_after } = expectError(reply, 429)
    expect(message).toContain("rate limit exceeded")
    expect(retry_after).toBe(retryAfterSeconds)
    expect(reply.headers["retry-after"]).toBe(String(retryAfterSeconds))
    expect(told(reply)[1]).toBe(0)
  }
}

test("each of the ten operations takes one of the sixty of a minute, errors too", async () => {
  const { http, caller, made } = await memoryRoom({ limits: true })
  const { text: key } = await http.key({ plan: "starter", scopes: ["repo:1:memory"] })
  const api = caller({ key })
  const reset = made.nowMs / 1_000 + 60
  let remaining = 60
  const take = async (method: string, path: string, body: object | undefined, status: number) => {
    const reply = await api.ask(method, path, body)
    expect(reply.status, reply.text).toBe(status)
    remaining -= 1
    expect(told(reply)).toEqual([60, remaining, reset])
    return reply
  }
  const { json } = await take("POST", "", { content: "x" }, 201)
  const { id } = (json as { data: { id: string } }).data
  const statuses = [201, 200, 200, 200, 200, 200, 200, 200, 200, 204]
  for (const [index, [method, path, body]] of requests(id).entries())
    await take(method, path, body, statuses[index] ?? 0)
  await take("GET", `/${NO_ID}`, undefined, 404)
  await take("POST", "", {}, 422)
  await take("POST", "/search", {}, 400)
  const elsewhere = await caller({ key, tenant: "2" }).ask("GET")
  remaining -= 1
  expectError(elsewhere, 403)
  expect(told(elsewhere)).toEqual([60, remaining, reset])
  made.advance(MINUTE_MS / 4)
  while (remaining > 0) await take("GET", "", undefined, 200)
  await refused(api, NO_ID, 45)
  made.advance((3 * MINUTE_MS) / 4 - 1)
  await refused(api, NO_ID, 1)
  made.advance(1)
  expect(told(await api.ask("GET"))).toEqual([60, 59, reset + 60])
})

test("what was refused for its rate did nothing", async () => {
  const { http, api: local, caller } = await memoryRoom({ limits: true })
  const { text: key } = await http.key()
  const api = caller({ key })
  const { id } = await local.create({ content: "kept" })
  const before = await local.look(id)
  for (let count = 0; count < 60; count += 1) await api.list({ limit: "1" })
  await refused(api, id, 60)
  expect(await local.look(id)).toEqual(before)
  expect((await local.stats()).total_memories).toBe(1)
})

describe("a plan", () => {
  test.each<[Plan, number]>([
    ["starter", 60],
    ["pro", 300],
    ["enterprise", 1_000],
  ])("%s allows %i requests a minute and not one more", async (plan, figure) => {
    const { http, caller } = await memoryRoom({ limits: true })
    const { text: key } = await http.key({ plan })
    const api = caller({ key })
    for (let count = 1; count <= figure; count += 1)
      expect(told(await api.ask("GET", "/stats")).slice(0, 2)).toEqual([figure, figure - count])
    expectError(await api.ask("GET", "/stats"), 429)
  })
})

test("keys have a count each, and documentation or no key at all takes none of it", async () => {
  const { http, caller } = await memoryRoom({ limits: true })
  const [one, other] = [await http.key(), await http.key()]
  for (let count = 0; count < 60; count += 1) await caller({ key: one.text }).list({ limit: "1" })
  expectError(await caller({ key: one.text }).ask("GET"), 429)
  const strange = await caller({ key: "x" }).ask("GET")
  expectError(strange, 401)
  expect(told(strange).slice(0, 2)).toEqual([60, 60])
  expect(told(await caller({ key: other.text }).ask("GET")).slice(0, 2)).toEqual([60, 59])
})
