import { connect } from "node:net"
import { describe, expect, test } from "vitest"
import * as z from "zod"
import { BODY_BYTES_MAX, HOOK_BODY_BYTES_MAX } from "../../src/config/limits.ts"
import { defineRoute, type RawRoute } from "../../src/http/route.ts"
import {
  expectCommonHeaders,
  type HttpEntry,
  type HttpOptions,
  type HttpReply,
  serveHttp,
} from "../support/http.ts"
import { world } from "../support/world.ts"

const ECHO = defineRoute({
  method: "POST",
  path: "/api/coordination/echo",
  api: "coordination",
  summary: "Echo",
  isLimited: false,
  body: z.object({ text: z.string() }),
  responses: { 200: { description: "The length" } },
  run: async (_, { body }) => ({ status: 200, body: { length: body.text.length } }),
})

/** A route that takes any text, as the hook's does. */
const ANY_TEXT: RawRoute = {
  method: "POST",
  path: "/api/coordination/any-text",
  api: "coordination",
  summary: "Any text",
  isLimited: false,
  bodyBytesMax: HOOK_BODY_BYTES_MAX,
  responses: { 200: { description: "The length" } },
  handle: async (_, request) => new Response(String((await request.text()).length), { status: 200 }),
}

async function entry(options: HttpOptions = {}): Promise<HttpEntry> {
  return serveHttp(await world().session(), { routes: [ECHO, ANY_TEXT], ...options })
}

/** A body of JSON that is exactly so many bytes long. */
const jsonOf = (bytes: number) => `{"text":"${"x".repeat(bytes - '{"text":""}'.length)}"}`

function expectRefusal(reply: HttpReply, status: number, error: string): void {
  expect(reply.status).toBe(status)
  expect(reply.json).toMatchObject({ error, message: expect.any(String) })
  expectCommonHeaders(reply)
}

describe("the guard stands in front of everything", () => {
  test.each(["/healthz", "/openapi.json", "/mcp", "/api/coordination/echo", "/nowhere"])(
    "a foreign Host gets 403 at %s",
    async (path) => {
      const http = await entry()
      for (const host of [
        "localhost.evil.example",
        `evil.example:${http.port}`,
        `localhost:${http.port + 1}`,
      ])
        expectRefusal(await http.send(path, { headers: { host } }), 403, "Forbidden")
    },
  )

  test("no Host at all gets 403", async () => {
    const http = await entry()
    expect(await rawly(http, "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n")).toMatch(/^HTTP\/1.1 403 /)
  })

  test("a foreign origin, another port of localhost and null get 403; the own origin passes", async () => {
    const http = await entry()
    for (const origin of ["https://evil.example", "http://localhost:3000", "null"])
      expectRefusal(await http.send("/healthz", { headers: { origin } }), 403, "Forbidden")
    for (const origin of [http.url, `http://localhost:${http.port}`])
      expect((await http.send("/healthz", { headers: { origin } })).status).toBe(200)
  })

  test("a preflight of a foreign page gets 403 and no permission", async () => {
    const http = await entry()
    const headers = { origin: "https://evil.example", "access-control-request-method": "POST" }
    expectRefusal(await http.send("/api/coordination/echo", { method: "OPTIONS", headers }), 403, "Forbidden")
  })

  test("a form gets 415", async () => {
    const http = await entry()
    const headers = { "content-type": "text/plain" }
    const reply = await http.send("/api/coordination/echo", { body: '{"text":"x"}', headers })
    expectRefusal(reply, 415, "Unsupported media type")
  })

  test("an absolute target of another host gets 400", async () => {
    const http = await entry()
    expectRefusal(await http.send("http://evil.example/healthz"), 400, "Invalid request")
  })
})

describe("the size of a body", () => {
  test("of 1 MiB passes, declared or not", async () => {
    const http = await entry()
    const body = jsonOf(BODY_BYTES_MAX)
    expect((await http.send("/api/coordination/echo", { body })).status).toBe(200)
    expect((await http.send("/api/coordination/echo", { body: [Buffer.from(body)] })).status).toBe(200)
  })

  test("of one byte more gets 413, declared or not", async () => {
    const http = await entry()
    const body = jsonOf(BODY_BYTES_MAX + 1)
    expectRefusal(await http.send("/api/coordination/echo", { body }), 413, "Request too large")
    const chunks = [Buffer.from(body.slice(0, 100_000)), Buffer.from(body.slice(100_000))]
    expectRefusal(await http.send("/api/coordination/echo", { body: chunks }), 413, "Request too large")
  })

  test("of 2 MB gets 413 at a route of another size too, but 16 MiB pass where a route says so", async () => {
    const http = await entry()
    const chunk = Buffer.alloc(1024 * 1024, "x")
    const two = Array.from({ length: 2 }, () => chunk)
    expectRefusal(await http.send("/api/coordination/echo", { body: two }), 413, "Request too large")
    const sixteen = Array.from({ length: 16 }, () => chunk)
    const passing = await http.send("/api/coordination/any-text", { body: sixteen })
    expect(passing).toMatchObject({ status: 200, text: String(HOOK_BODY_BYTES_MAX) })
    const more = [...sixteen, Buffer.from("x")]
    expectRefusal(await http.send("/api/coordination/any-text", { body: more }), 413, "Request too large")
    expectRefusal(
      await http.send("/api/coordination/any-text", { body: Buffer.concat(more) }),
      413,
      "Request too large",
    )
  })

  test("is no matter of the key: without one it is 401 for what the guard lets pass", async () => {
    const http = await entry()
    expectRefusal(
      await http.send("/api/coordination/echo", { body: jsonOf(1000), key: null }),
      401,
      "Unauthorized",
    )
  })
})

describe("slow and broken clients", () => {
  test("headers that never end get 408", async () => {
    const http = await entry({ times: { headersMs: 200, requestMs: 400 } })
    const text = await rawly(http, `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${http.port}\r\nX-Slow: `)
    expect(text).toMatch(/^HTTP\/1.1 408 Request timeout\r\n/)
    expect(text).toMatch(/^x-ratelimit-limit: 60\r$/m)
    expect(text).toMatch(/\r\n\r\n\{"error":"Request timeout",.*\}$/)
  })

  test("a body that never ends gets 408", async () => {
    const http = await entry({ times: { headersMs: 200, requestMs: 400 } })
    const head = [
      "POST /api/coordination/echo HTTP/1.1",
      `Host: 127.0.0.1:${http.port}`,
      `Authorization: Bearer ${http.localKey}`,
      "Content-Type: application/json",
      "Content-Length: 100",
    ]
    expect(await rawly(http, `${head.join("\r\n")}\r\n\r\n{"text":`)).toMatch(/^HTTP\/1.1 408 /)
  })

  test("what is no HTTP gets 400, and headers beyond all measure 431", async () => {
    const http = await entry()
    expect(await rawly(http, "hello\r\n\r\n")).toMatch(/^HTTP\/1.1 400 .*"error":"Invalid request"/s)
    const long = `GET / HTTP/1.1\r\nX-Long: ${"x".repeat(20_000)}\r\n\r\n`
    expect(await rawly(http, long)).toMatch(/^HTTP\/1.1 431 /)
  })

  test("a client that hangs up in the middle of its body harms nobody", async () => {
    const http = await entry()
    const head = `POST /api/coordination/echo HTTP/1.1\r\nHost: 127.0.0.1:${http.port}\r\nAuthorization: Bearer ${http.localKey}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`
    const socket = connect(http.port, "127.0.0.1")
    await new Promise((resolve) => socket.write(head, resolve))
    socket.destroy()
    expect((await http.send("/healthz")).status).toBe(200)
  })
})

describe("closing", () => {
  test("answers what was accepted, then accepts nothing more", async () => {
    let goOn = () => {}
    let hasStarted = () => {}
    const started = new Promise<void>((resolve) => {
      hasStarted = resolve
    })
    const slow: RawRoute = {
      ...ANY_TEXT,
      handle: async () => {
        hasStarted()
        await new Promise<void>((resolve) => {
          goOn = resolve
        })
        return new Response("done")
      },
    }
    const http = await entry({ routes: [slow] })
    const reply = http.send("/api/coordination/any-text", { body: {} })
    await started
    const closed = http.server.close()
    await expect(http.send("/healthz")).rejects.toMatchObject({ code: "ECONNREFUSED" })
    goOn()
    expect(await reply).toMatchObject({ status: 200, text: "done" })
    await closed
  })

  test("does not wait for connections that ask nothing, nor for answers that never come", async () => {
    let hasStarted = () => {}
    const started = new Promise<void>((resolve) => {
      hasStarted = resolve
    })
    const never: RawRoute = {
      ...ANY_TEXT,
      handle: () => {
        hasStarted()
        return new Promise(() => {})
      },
    }
    const http = await entry({ routes: [never] })
    const idle = connect(http.port, "127.0.0.1")
    await new Promise((resolve) => idle.once("connect", resolve))
    const gone = new Promise((resolve) => idle.once("close", resolve))
    const reply = http.send("/api/coordination/any-text", { body: {} }).catch((error) => error.code)
    await started
    await http.server.close()
    await gone
    expect(await reply).toBe("ECONNRESET")
  })
})

/** Sends a text as it is and returns everything that comes back until the server closes. */
async function rawly(http: HttpEntry, text: string): Promise<string> {
  const socket = connect(http.port, "127.0.0.1").setEncoding("utf8")
  socket.write(text)
  return (await socket.toArray()).join("")
}
