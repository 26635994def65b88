import { describe, expect, test } from "vitest"
import * as z from "zod"
import { AppError, type ErrorCode, invalid } from "../../src/errors.ts"
import { defineRoute, type RawRoute } from "../../src/http/route.ts"
import { sessionOf } from "../../src/operations/coordination/sessions.ts"
import { allKeys, revokeKeyById } from "../../src/operations/keys.ts"
import {
  expectCommonHeaders,
  type HttpEntry,
  type HttpOptions,
  type HttpReply,
  serveHttp,
} from "../support/http.ts"
import { type World, world } from "../support/world.ts"

const SECTORS = ["episodic", "semantic"] as const
const common = { summary: "A probe", isLimited: false, responses: { 200: { description: "Fine" } } }

const MEMORY = defineRoute({
  ...common,
  method: "POST",
  path: "/api/v1/memories/probe",
  api: "memory",
  invalidBodyStatus: 422,
  query: z.object({ limit: z.coerce.number().int().min(1).max(100).default(20), tag: z.string().optional() }),
  body: z.object({
    content: z.string().min(1).max(10),
    sector: z.enum(SECTORS).optional(),
    tags: z.array(z.string()).max(2).optional(),
  }),
  run: async (_, { query, body }) => ({ status: 201, body: { data: { ...body, limit: query.limit } } }),
})
const MEMORY_BY_ID = defineRoute({
  ...common,
  method: "GET",
  path: "/api/v1/memories/:id",
  api: "memory",
  parameters: z.object({ id: z.uuid() }),
  run: async (_, { parameters }) => ({ status: 200, body: { data: { id: parameters.id } } }),
})
const DELETE_MEMORY = defineRoute({
  ...common,
  method: "DELETE",
  path: "/api/v1/memories/:id",
  api: "memory",
  parameters: z.object({ id: z.uuid() }),
  run: async () => ({ status: 204 }),
})
const DOCUMENTATION = defineRoute({
  ...common,
  method: "POST",
  path: "/api/v1/documentation/probe",
  api: "documentation",
  body: z.object({ query: z.string().max(500), limit: z.int().min(1).max(20).default(10) }),
  run: async (_, { body }) => ({ status: 200, body }),
})
const WHO = defineRoute({
  ...common,
  method: "GET",
  path: "/api/coordination/who",
  api: "coordination",
  run: async (context) => {
    const { caller, key } = context
    const { surface, folder } = caller
    return {
      status: 200,
      body: { key: key.id, scopes: key.scopes, surface, folder, session: sessionOf(context) },
    }
  },
})
const RAW: RawRoute = {
  ...common,
  method: "POST",
  path: "/api/coordination/raw",
  api: "coordination",
  handle: async ({ key }, request) =>
    new Response(`${key.id} ${request.method} ${new URL(request.url).search} ${await request.text()}`, {
      status: 202,
      headers: { "Content-Type": "text/plain" },
    }),
}

/** A route that fails as it is told. */
function failing(error: () => unknown, api: "memory" | "coordination" = "coordination") {
  const path = api === "memory" ? "/api/v1/memories/fail" : "/api/coordination/fail"
  const run = async () => {
    throw error()
  }
  return defineRoute({ ...common, method: "POST", path, api, invalidBodyStatus: 422, run })
}

const ROUTES = [MEMORY_BY_ID, DELETE_MEMORY, MEMORY, DOCUMENTATION, WHO, RAW]

async function entry(options: HttpOptions = {}, made: World = world()): Promise<HttpEntry> {
  return serveHttp(await made.session(), { routes: ROUTES, ...options })
}

const ID = "0192f5a0-7b3c-7c4e-9d2f-0123456789ab"

describe("the way to a route", () => {
  test("an unknown path is 404, in the form of the API whose prefix it has", async () => {
    const http = await entry()
    for (const path of ["/api/v1/documentation", "/api/coordination/nothing", "/", "/api/v1/memoriesx"])
      expect(await http.send(path)).toMatchObject({
        status: 404,
        json: { error: "Not found", message: expect.stringContaining("/openapi.json") },
      })
    const memory = await http.send("/api/v1/memories/a/b/c")
    expect(memory).toMatchObject({ status: 404, json: { message: expect.any(String) } })
    expect(memory.json).not.toHaveProperty("error")
  })

  test("a method that the path does not know is 405 and names those it knows", async () => {
    const http = await entry()
    const reply = await http.send(`/api/v1/memories/${ID}`, { method: "PATCH" })
    expect(reply).toMatchObject({ status: 405, headers: { allow: "GET, HEAD, DELETE" } })
    expect(await http.send("/api/coordination/who", { method: "OPTIONS" })).toMatchObject({
      status: 405,
      headers: { allow: "GET, HEAD" },
      json: { error: "Method not allowed" },
    })
  })

  test("a path without parameters wins over one with them, whatever the order of the routes", async () => {
    const http = await entry()
    expect((await http.send("/api/v1/memories/probe", { body: { content: "x" } })).status).toBe(201)
    expect((await http.send(`/api/v1/memories/${ID}`)).json).toEqual({ data: { id: ID } })
  })

  test("a parameter that can name nothing is 404, not an error of the request", async () => {
    const http = await entry()
    for (const id of ["7", "x%2Fy", "%zz", "'; DROP TABLE memories"])
      expect((await http.send(`/api/v1/memories/${encodeURI(id)}`)).status).toBe(404)
  })

  test("a path with a trailing slash is the same", async () => {
    const http = await entry()
    expect((await http.send("/api/coordination/who/")).json).toEqual(
      (await http.send("/api/coordination/who")).json,
    )
    expect((await http.send(`/api/v1/memories/${ID}/`, { method: "DELETE" })).status).toBe(204)
    expect((await http.send("/healthz/", { key: null })).status).toBe(200)
    expect((await http.send("/api/coordination/who//")).status).toBe(404)
    expect((await http.send("/healthz/", { method: "POST", body: {} })).status).toBe(405)
  })

  test("HEAD is answered like GET, without the body", async () => {
    const http = await entry()
    const reply = await http.send("/api/coordination/who", { method: "HEAD" })
    expect(reply).toMatchObject({ status: 200, text: "" })
    expectCommonHeaders(reply)
  })

  test("a deletion is 204 without a body", async () => {
    const http = await entry()
    const reply = await http.send(`/api/v1/memories/${ID}`, { method: "DELETE" })
    expect(reply).toMatchObject({ status: 204, text: "" })
    expectCommonHeaders(reply)
  })

  test("a raw route gets the request as it came and answers itself", async () => {
    const http = await entry()
    const reply = await http.send("/api/coordination/raw?a=1", { body: "no { json" })
    expect(reply).toMatchObject({ status: 202, text: "1 POST ?a=1 no { json" })
    expectCommonHeaders(reply)
  })
})

describe("bodies", () => {
  const memory = (http: HttpEntry, body: object | string) => http.send("/api/v1/memories/probe", { body })
  const documentation = (http: HttpEntry, body: object | string) =>
    http.send("/api/v1/documentation/probe", { body })

  test("that keep the rules reach the route with their defaults", async () => {
    const http = await entry()
    expect((await documentation(http, { query: "x" })).json).toEqual({ query: "x", limit: 10 })
  })

  test("that break a rule of the documentation API are 400 and name the field", async () => {
    const http = await entry()
    expect(await documentation(http, { query: "x", limit: 21 })).toMatchObject({
      status: 400,
      json: { error: "Invalid request", field: "limit", message: "limit must be at most 20 (got 21)" },
    })
    expect((await documentation(http, {})).json).toMatchObject({ field: "query" })
  })

  test("that break rules of the memory API are 422 and list what is wrong with each field", async () => {
    const http = await entry()
    expect(await memory(http, { content: "", sector: "vague", tags: ["a", "b", "c"] })).toMatchObject({
      status: 422,
      json: {
        errors: {
          content: ["content must have at least 1 character"],
          sector: ['sector must be one of: episodic, semantic (got "vague")'],
          tags: ["tags must have at most 2 entries (got 3)"],
        },
      },
    })
  })

  test("with unknown fields are refused, and each is named", async () => {
    const http = await entry()
    const reply = await memory(http, { content: "x", colour: "red", __proto__x: 1 })
    expect(reply.status).toBe(422)
    expect(Object.keys((reply.json as { errors: object }).errors).sort()).toEqual(["__proto__x", "colour"])
    expect((await documentation(http, { query: "x", colour: 1 })).json).toMatchObject({ field: "colour" })
    expect((await memory(http, '{"content":"x","__proto__":{"a":1}}')).status).toBe(422)
  })

  test.each(["{", "", "\u0000", "{'a':1}", "undefined", '{"content":"x"} x'])(
    "that are no JSON are 400: %j",
    async (body) => {
      const http = await entry()
      const reply = await memory(http, Buffer.from(body))
      // No body at all is an object without fields, in which the required one is missing.
      expect(reply.status).toBe(body === "" ? 422 : 400)
    },
  )

  test("that are no UTF-8, or nested beyond all measure, are 400", async () => {
    const http = await entry()
    expect((await memory(http, Buffer.from([0x22, 0xff, 0x22]))).status).toBe(400)
    const nested = (depth: number) => `{"content":${"[".repeat(depth)}${"]".repeat(depth)}}`
    expect((await memory(http, nested(99))).status).toBe(422)
    expect((await memory(http, nested(101))).status).toBe(400)
    expect((await memory(http, nested(200_000))).status).toBe(400)
  })

  test.each(["[]", "null", '"x"', "7"])("that are JSON but no object break the rules: %s", async (body) => {
    const http = await entry()
    expect(await memory(http, body)).toMatchObject({
      status: 422,
      json: { message: "the body must be a JSON object" },
    })
    expect((await documentation(http, body)).status).toBe(400)
  })

  test("of a DELETE are ignored", async () => {
    const http = await entry()
    for (const body of ["{}", '{"a":1}', "[1]", "no JSON {"]) {
      const headers = { "content-length": Buffer.byteLength(body) }
      const reply = await http.send(`/api/v1/memories/${ID}`, { method: "DELETE", body, headers })
      expect(reply.status, body).toBe(204)
    }
  })
})

describe("queries", () => {
  const ask = (http: HttpEntry, query: string) =>
    http.send(`/api/v1/memories/probe?${query}`, { body: { content: "x" } })

  test("are text that the route's schema reads", async () => {
    const http = await entry()
    expect((await ask(http, "limit=7")).json).toEqual({ data: { content: "x", limit: 7 } })
    expect((await ask(http, "")).json).toEqual({ data: { content: "x", limit: 20 } })
  })

  test.each(["limit=0", "limit=101", "limit=x", "limit=1&limit=2", "tag=a&tag=b", "colour=red"])(
    "that break a rule are 400, also where bodies are 422: %s",
    async (query) => {
      const reply = await ask(await entry(), query)
      expect(reply.status).toBe(400)
      expect(Object.keys((reply.json as { errors: object }).errors)).toEqual([query.split("=")[0]])
    },
  )
})

describe("what users cause becomes a status", () => {
  test.each<[ErrorCode, number, string]>([
    ["unauthenticated", 401, "Unauthorized"],
    ["forbidden", 403, "Forbidden"],
    ["not_found", 404, "Not found"],
    ["invalid", 422, "Validation failed"],
    ["conflict", 409, "Conflict"],
    ["refused", 403, "Forbidden"],
    ["unavailable", 503, "Service unavailable"],
  ])("%s is %i", async (code, status, error) => {
    const http = await entry({
      routes: [failing(() => new AppError(code, "that is so", { hint: "Do this." }))],
    })
    expect(await http.send("/api/coordination/fail", { body: {} })).toMatchObject({ status: 400 })
    expect(await http.send("/api/coordination/fail", { method: "POST" })).toMatchObject({
      status,
      json: { error, message: "that is so. Do this." },
    })
  })

  test("rate_limited is 429 and says for how long, in the body and in the header", async () => {
    const error = () => new AppError("rate_limited", "too often", { retryAfterSeconds: 17 })
    const http = await entry({ routes: [failing(error), failing(error, "memory")] })
    const expected = { status: 429, headers: { "retry-after": "17" } }
    const coordination = await http.send("/api/coordination/fail", { method: "POST" })
    expect(coordination).toMatchObject({
      ...expected,
      json: { error: "Rate limit exceeded", retry_after: 17 },
    })
    const memory = await http.send("/api/v1/memories/fail", { method: "POST" })
    expect(memory).toMatchObject(expected)
    expect(memory.json).toEqual({ message: "too often.", retry_after: 17 })
  })

  test("a field at fault is named in the form of each API", async () => {
    const error = () => invalid("sector", "cannot change")
    const http = await entry({ routes: [failing(error), failing(error, "memory")] })
    const coordination = await http.send("/api/coordination/fail", { method: "POST" })
    expect(coordination.json).toMatchObject({ field: "sector" })
    const memory = await http.send("/api/v1/memories/fail", { method: "POST" })
    expect(memory.json).toEqual({
      message: "sector cannot change.",
      errors: { sector: ["sector cannot change"] },
    })
  })

  test("a defect is 500: logged whole, shown bland", async () => {
    const made = world()
    const http = await entry({ routes: [failing(() => new Error("secret detail"))] }, made)
    const reply = await http.send("/api/coordination/fail", { method: "POST" })
    expect(reply).toMatchObject({ status: 500, json: { error: "Internal server error" } })
    expect(reply.text).not.toContain("secret")
    expect(made.logged.splice(0).join()).toContain("secret detail")
  })
})

describe("the key", () => {
  const who = (http: HttpEntry, key: string | null) => http.send("/api/coordination/who", { key })

  function expect401(reply: HttpReply, because: RegExp): void {
    expect(reply).toMatchObject({
      status: 401,
      json: { error: "Unauthorized", message: expect.stringMatching(because) },
    })
    expect(reply.headers["www-authenticate"]).toMatch(/^Bearer realm="signalbox"/)
    expectCommonHeaders(reply)
  }

  test("that was made here is let in, and its own view of the app is what the route gets", async () => {
    const http = await entry()
    const { id, text } = await http.key({ scopes: ["repo:7:memory"] })
    const reply = await who(http, text)
    expect(reply.json).toMatchObject({
      key: id,
      scopes: ["repo:7:memory"],
      surface: "http",
      session: `http:${id}`,
    })
    expect(reply.json).not.toHaveProperty("folder")
  })

  test("may stand after `bearer` in any case", async () => {
    const http = await entry()
    const headers = { authorization: `bearer  ${http.localKey}` }
    expect((await http.send("/api/coordination/who", { headers })).status).toBe(200)
  })

  test("of this machine always counts, also where the server has a key of its own", async () => {
    const made = world()
    const first = await entry({}, made)
    const { text } = await first.key({ scopes: ["admin"] })
    const other = await serveHttp(await made.session({ apiKey: text }), { routes: ROUTES })
    expect(other.localKey).toBe(first.localKey)
    expect((await who(other, other.localKey)).status).toBe(200)
  })

  test("that is missing, or no bearer, is 401", async () => {
    const http = await entry()
    const missing = await who(http, null)
    expect401(missing, /no Authorization header/)
    expect(missing.headers["www-authenticate"]).toBe('Bearer realm="signalbox"')
    for (const authorization of [
      "",
      "Bearer",
      `Basic ${http.localKey}`,
      http.localKey,
      `Bearer ${http.localKey} x`,
    ])
      expect401(await http.send("/api/coordination/who", { headers: { authorization } }), /valid API token/)
  })

  test("with a typo is 401 and is told from an unknown one", async () => {
    const http = await entry()
    const typo = http.localKey.replace(/.$/, (last) => (last === "x" ? "y" : "x"))
    expect401(await who(http, typo), /typo/)
    const elsewhere = await entry({ routes: ROUTES })
    const unknown = await who(http, elsewhere.localKey)
    expect401(unknown, /unknown/)
    expect(unknown.headers["www-authenticate"]).toContain('error="invalid_token"')
  })

  test("that has expired is 401 from that moment on", async () => {
    const made = world()
    const http = await entry({}, made)
    const { text } = await http.key({ expiresAtMs: made.nowMs + 1000 })
    made.advance(999)
    expect((await who(http, text)).status).toBe(200)
    made.advance(1)
    expect401(await who(http, text), /expired/)
  })

  test("that was revoked is 401", async () => {
    const http = await entry()
    const { id, text } = await http.key()
    await revokeKeyById(http.session.app, id)
    expect401(await who(http, text), /revoked/)
  })

  test("of the other environment is 401", async () => {
    const http = await entry()
    expect401(await who(http, (await http.key({ environment: "test" })).text), /test/)
  })

  test("without the scope is 403, which is the route's business", async () => {
    const http = await entry({
      routes: [failing(() => new AppError("forbidden", "insufficient permissions"))],
    })
    const { text } = await http.key({ scopes: ["repo:1:memory"] })
    const reply = await http.send("/api/coordination/fail", { method: "POST", key: text })
    expect(reply).toMatchObject({ status: 403, json: { error: "Forbidden" } })
  })

  test("is not asked for by /healthz and /openapi.json", async () => {
    const http = await entry()
    expect(await http.send("/healthz", { key: null })).toMatchObject({ status: 200, json: { status: "ok" } })
    expect((await http.send("/openapi.json", { key: null })).status).toBe(200)
  })

  test("that is refused is reported to whoever keeps the local key known", async () => {
    let refused = 0
    const http = await entry({ onRefusedKey: () => (refused += 1) })
    await who(http, null)
    await who(http, http.localKey)
    expect(refused).toBe(1)
  })

  test("shows when it was last used", async () => {
    const made = world()
    const http = await entry({}, made)
    const { id, text } = await http.key()
    await who(http, text)
    const key = (await allKeys(http.session.app)).find((one) => one.id === id)
    expect(key?.lastUsedAtMs).toBe(made.nowMs)
  })
})
