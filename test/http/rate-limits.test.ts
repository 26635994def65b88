import { describe, expect, test } from "vitest"
import type { Plan } from "../../src/domain/api-key.ts"
import { defineRoute } from "../../src/http/route.ts"
import { findKeyById } from "../../src/store/keys.ts"
import { expectCommonHeaders, type HttpEntry, type HttpReply, serveHttp } from "../support/http.ts"
import { type World, world } from "../support/world.ts"

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const probe = (api: "memory" | "documentation" | "coordination", path: string, isLimited: boolean) =>
  defineRoute({
    method: "GET",
    path,
    api,
    summary: "A probe",
    isLimited,
    responses: { 200: { description: "Fine" } },
    run: async () => ({ status: 200, body: {} }),
  })
const MEMORY = "/api/v1/memories/probe"
const DOCUMENTATION = "/api/v1/documentation/probe"
const COORDINATION = "/api/coordination/probe"
const RESERVATIONS = "/api/coordination/file-reservations/probe"
const ROUTES = [
  probe("memory", MEMORY, true),
  probe("documentation", DOCUMENTATION, true),
  probe("coordination", COORDINATION, false),
  probe("coordination", RESERVATIONS, true),
]

async function entry(options = { limits: true }): Promise<{ made: World; http: HttpEntry }> {
  const made = world(options)
  return { made, http: await serveHttp(await made.session(), { routes: ROUTES }) }
}

/** Sends requests that must all be answered; returns the last reply. */
async function allowed(http: HttpEntry, path: string, key: string, count: number): Promise<HttpReply> {
  let reply: HttpReply | undefined
  for (let index = 0; index < count; index += 1) {
    reply = await http.send(path, { key })
    expect(reply.status, `request ${index + 1} of ${count}`).toBe(200)
  }
  expect(reply).toBeDefined()
  return reply as HttpReply
}

async function refused(
  http: HttpEntry,
  path: string,
  key: string,
  retryAfterSeconds: number,
): Promise<HttpReply> {
  const reply = await http.send(path, { key })
  expect(reply).toMatchObject({
    status: 429,
    headers: { "retry-after": String(retryAfterSeconds), "x-ratelimit-remaining": "0" },
    json: { message: expect.stringContaining("rate limit exceeded"), retry_after: retryAfterSeconds },
  })
  return reply
}

function told({ headers }: HttpReply): { limit: number; remaining: number; reset: number } {
  const of = (name: string) => Number(headers[`x-ratelimit-${name}`])
  return { limit: of("limit"), remaining: of("remaining"), reset: of("reset") }
}

describe("requests to the memory API", () => {
  test("are 60 a minute for starter, refilled in one step a minute after the first", async () => {
    const { made, http } = await entry()
    const { text } = await http.key()
    const begunMs = made.nowMs
    const reset = begunMs / 1000 + 60
    expect(told(await allowed(http, MEMORY, text, 1))).toEqual({ limit: 60, remaining: 59, reset })
    made.advance(20_000)
    expect(told(await allowed(http, MEMORY, text, 59))).toEqual({ limit: 60, remaining: 0, reset })
    const reply = await refused(http, MEMORY, text, 40)
    expect(told(reply).reset).toBe(reset)
    expect(reply.json).not.toHaveProperty("error")
    made.advance(40_000 - 1)
    await refused(http, MEMORY, text, 1)
    made.advance(1)
    expect(told(await allowed(http, MEMORY, text, 60))).toEqual({
      limit: 60,
      remaining: 0,
      reset: reset + 60,
    })
    await refused(http, MEMORY, text, 60)
  })

  test.each<[Plan, number]>([
    ["starter", 60],
    ["pro", 300],
    ["enterprise", 1000],
  ])("of plan %s are %i a minute", async (plan, figure) => {
    const { http } = await entry()
    const { text } = await http.key({ plan })
    expect(told(await allowed(http, MEMORY, text, 1))).toMatchObject({ limit: figure, remaining: figure - 1 })
    http.session.app.config.rates[`memory_${plan}_per_minute`] = 3
    await allowed(http, MEMORY, text, 2)
    await refused(http, MEMORY, text, 60)
  })
})

describe("requests to the documentation API", () => {
  test("of starter may be 100 at once, while the headers speak of 60 a minute", async () => {
    const { made, http } = await entry()
    const { text } = await http.key()
    expect(told(await allowed(http, DOCUMENTATION, text, 1))).toMatchObject({ limit: 60, remaining: 60 })
    expect(told(await allowed(http, DOCUMENTATION, text, 39))).toMatchObject({ remaining: 60 })
    expect(told(await allowed(http, DOCUMENTATION, text, 1))).toMatchObject({ remaining: 59 })
    await allowed(http, DOCUMENTATION, text, 59)
    expect((await refused(http, DOCUMENTATION, text, 60)).json).toMatchObject({
      error: "Rate limit exceeded",
    })
    made.advance(MINUTE_MS)
    await allowed(http, DOCUMENTATION, text, 1)
  })

  test("come back by the figure per minute each minute, counted from the first, up to the burst", async () => {
    const { made, http } = await entry()
    const { text } = await http.key()
    const { rates } = http.session.app.config
    Object.assign(rates, { documentation_starter_per_minute: 6, documentation_starter_burst: 10 })
    const reset = made.nowMs / 1000 + 60
    await allowed(http, DOCUMENTATION, text, 10)
    expect(told(await refused(http, DOCUMENTATION, text, 60))).toMatchObject({ remaining: 0, reset })
    made.advance(MINUTE_MS)
    const last = told(await allowed(http, DOCUMENTATION, text, 6))
    expect(last).toEqual({ limit: 6, remaining: 0, reset: reset + 60 })
    await refused(http, DOCUMENTATION, text, 60)
    made.advance(2 * MINUTE_MS)
    await allowed(http, DOCUMENTATION, text, 10)
    await refused(http, DOCUMENTATION, text, 60)
  })

  test("are limited per hour and per day too, and the longest wait is told", async () => {
    const { made, http } = await entry()
    const { text } = await http.key()
    const { rates } = http.session.app.config
    Object.assign(rates, {
      documentation_starter_per_minute: 3,
      documentation_starter_burst: 3,
      documentation_starter_per_hour: 5,
      documentation_starter_per_day: 8,
    })
    const begunMs = made.nowMs
    await allowed(http, DOCUMENTATION, text, 3)
    await refused(http, DOCUMENTATION, text, 60)
    made.advance(MINUTE_MS)
    await allowed(http, DOCUMENTATION, text, 2)
    const hour = await refused(http, DOCUMENTATION, text, 59 * 60)
    expect(hour.json).toMatchObject({ message: expect.stringContaining("5 per hour") })
    expect(told(hour).reset).toBe((begunMs + HOUR_MS) / 1000)
    made.advance(59 * MINUTE_MS)
    await allowed(http, DOCUMENTATION, text, 3)
    await refused(http, DOCUMENTATION, text, 23 * 3600)
    made.advance(DAY_MS - HOUR_MS)
    await allowed(http, DOCUMENTATION, text, 3)
  })

  test.each<[Plan, object]>([
    ["starter", { per_minute: 60, per_hour: 1000, per_day: 10_000, burst: 100 }],
    ["pro", { per_minute: 120, per_hour: 5000, per_day: 50_000, burst: 200 }],
    ["enterprise", { per_minute: 300, per_hour: 15_000, per_day: 0, burst: 500 }],
  ])("have the figures of plan %s", async (plan, figures) => {
    const { http } = await entry()
    const { rates } = http.session.app.config
    for (const [name, figure] of Object.entries(figures))
      expect(rates[`documentation_${plan}_${name}` as keyof typeof rates]).toBe(figure)
    const { text } = await http.key({ plan })
    expect(told(await http.send(DOCUMENTATION, { key: text })).limit).toBe(
      rates[`documentation_${plan}_per_minute`],
    )
  })
})

describe("requests on reservations", () => {
  test("are 600 a minute for a key of any plan, counted apart from tool calls, and told in the headers", async () => {
    const { made, http } = await entry()
    const { text } = await http.key({ plan: "enterprise" })
    const first = await allowed(http, RESERVATIONS, text, 1)
    expect(told(first)).toMatchObject({ limit: 600, remaining: 599 })
    await allowed(http, RESERVATIONS, text, 599)
    await refused(http, RESERVATIONS, text, 60)
    expect(told(await allowed(http, COORDINATION, text, 1))).toMatchObject({ limit: 60, remaining: 60 })
    await allowed(http, RESERVATIONS, (await http.key()).text, 1)
    made.advance(MINUTE_MS)
    await allowed(http, RESERVATIONS, text, 1)
  })
})

describe("buckets", () => {
  test("are each key's and each API's own", async () => {
    const { http } = await entry()
    http.session.app.config.rates.memory_starter_per_minute = 1
    const [one, other] = [await http.key(), await http.key()]
    await allowed(http, MEMORY, one.text, 1)
    await refused(http, MEMORY, one.text, 60)
    await allowed(http, MEMORY, other.text, 1)
    await allowed(http, DOCUMENTATION, one.text, 1)
  })

  test("are shared by all servers of the database", async () => {
    const { made, http } = await entry()
    const second = await serveHttp(await made.session(), { routes: ROUTES })
    const { text } = await http.key()
    await allowed(http, MEMORY, text, 30)
    await allowed(second, MEMORY, text, 30)
    await refused(http, MEMORY, text, 60)
    await refused(second, MEMORY, text, 60)
  })

  test("count what fails for another reason, but no request without a valid key", async () => {
    const { http } = await entry()
    const { text } = await http.key()
    expect((await http.send(`${MEMORY}?unknown=1`, { key: text })).status).toBe(400)
    for (const key of [null, "wrong"]) expect((await http.send(MEMORY, { key })).status).toBe(401)
    expect(told(await allowed(http, MEMORY, text, 1)).remaining).toBe(58)
  })

  test("are off at 0, and then the headers tell of the default, always full", async () => {
    const { http } = await entry({ limits: false })
    const { text } = await http.key()
    for (let index = 0; index < 3; index += 1)
      expect(told(await allowed(http, MEMORY, text, 40))).toMatchObject({ limit: 60, remaining: 60 })
  })
})

describe("the headers stand on every response", () => {
  test("without a valid key they tell of plan starter, also on what never reached a route", async () => {
    const { made, http } = await entry()
    const reset = made.nowMs / 1000 + 60
    const replies = [
      await http.send(MEMORY, { key: null }),
      await http.send(DOCUMENTATION, { key: "wrong" }),
      await http.send("/nowhere", { key: null }),
      await http.send("/healthz", { key: null }),
      await http.send(MEMORY, { method: "DELETE", key: null }),
      await http.send(MEMORY, { key: null, headers: { host: "evil.example" } }),
      await http.send(MEMORY, { key: null, method: "POST", body: Buffer.alloc(2_000_000) }),
    ]
    expect(replies.map(({ status }) => status)).toEqual([401, 401, 404, 200, 405, 403, 413])
    for (const reply of replies) {
      expectCommonHeaders(reply)
      expect(told(reply)).toEqual({ limit: 60, remaining: 60, reset })
    }
  })

  test("a valid key's own figures stand on every response to it, whatever is wrong with the request", async () => {
    const { made, http } = await entry()
    const { text: key } = await http.key({ plan: "pro" })
    await allowed(http, MEMORY, key, 7)
    const reset = made.nowMs / 1000 + 60
    const typed = { "content-type": "text/plain" }
    const replies = [
      await http.send("/api/v1/memories/no/such/thing", { key }),
      await http.send(MEMORY, { method: "DELETE", key }),
      await http.send(MEMORY, { method: "POST", key, body: Buffer.alloc(2_000_000) }),
      await http.send(MEMORY, { method: "POST", key, body: "x", headers: typed }),
      await http.send(MEMORY, { key, headers: { host: "evil.example" } }),
    ]
    expect(replies.map(({ status }) => status)).toEqual([404, 405, 413, 415, 403])
    for (const reply of replies) expect(told(reply)).toEqual({ limit: 300, remaining: 293, reset })
    const bad = await http.send(`${MEMORY}?unknown=1`, { key })
    expect([bad.status, told(bad)]).toEqual([400, { limit: 300, remaining: 292, reset }])
  })

  test("a response that only names a key is no use of it", async () => {
    const { made, http } = await entry()
    const { text, id } = await http.key()
    expect((await http.send("/nowhere", { key: text })).status).toBe(404)
    expect((await findKeyById(http.session.app.db, id))?.lastUsedAtMs).toBeNull()
    await allowed(http, MEMORY, text, 1)
    expect((await findKeyById(http.session.app.db, id))?.lastUsedAtMs).toBe(made.nowMs)
  })

  test("coordination calls are not counted, and tell of the tool calls that the key has left", async () => {
    const { http } = await entry()
    const { text } = await http.key({ plan: "pro" })
    for (let index = 0; index < 3; index += 1)
      expect(told(await allowed(http, COORDINATION, text, 30))).toMatchObject({ limit: 60, remaining: 60 })
  })

  test("the reset is never in the past, whatever the clock does", async () => {
    const { made, http } = await entry()
    const { text } = await http.key()
    await allowed(http, MEMORY, text, 60)
    for (const stepMs of [999, 59_000, 500, 86_400_000, -3_600_000]) {
      made.advance(stepMs)
      const { reset } = told(await http.send("/healthz", { key: text }))
      expect(reset).toBeGreaterThan(made.nowMs / 1000)
      expect(told(await http.send(MEMORY, { key: text })).reset).toBeGreaterThan(made.nowMs / 1000)
    }
  })
})
