import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport as FirstTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { describe, expect, onTestFinished, test } from "vitest"
import { AGENT_ACTIVE_WINDOW_MS } from "../../src/config/limits.ts"
import { OPERATIONS } from "../../src/operations/index.ts"
import { RESOURCES } from "../../src/resources/index.ts"
import { servedHttp } from "../../src/serve.ts"
import { edit } from "../support/hook.ts"
import { type HttpEntry, serveHttp } from "../support/http.ts"
import { numberAfter, type Session, textAfter, type WorldOptions, world } from "../support/world.ts"

const REGISTER = { project_key: "demo", program: "test-program", model: "test-model" }
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
}
const ACCEPT = { accept: "application/json, text/event-stream" }

async function entry(options: WorldOptions = {}): Promise<HttpEntry> {
  return entryOf(await world(options).session())
}

async function entryOf(session: Session): Promise<HttpEntry> {
  const served = servedHttp(session.app)
  onTestFinished(served.close)
  return serveHttp(session, { makeHttp: (url) => served.makeHttp({ url }) })
}

type Tool = (name: string, args: object) => Promise<{ text: string; isError: boolean }>

interface Connected {
  toolNames(): Promise<string[]>
  templates(): Promise<string[]>
  resource(uri: string): Promise<unknown>
  tool: Tool
}

interface RequestInit {
  headers: Record<string, string>
}

/** The same for clients of both generations of the SDK. */
async function connected(client: Client | FirstClient, connect: () => Promise<void>): Promise<Connected> {
  await connect()
  onTestFinished(() => client.close())
  return {
    toolNames: async () => (await client.listTools()).tools.map(({ name }) => name),
    templates: async () => (await client.listResourceTemplates()).resourceTemplates.map(({ name }) => name),
    resource: async (uri) => {
      const [content] = (await client.readResource({ uri })).contents
      return JSON.parse((content as { text: string }).text)
    },
    tool: async (name, args) => {
      const result = await client.callTool({ name, arguments: args as Record<string, unknown> })
      const [content] = result.content as { text: string }[]
      return { text: content?.text ?? "", isError: result.isError === true }
    },
  }
}

function withKey(key: string, headers: Record<string, string> = {}): { requestInit: RequestInit } {
  return { requestInit: { headers: { authorization: `Bearer ${key}`, ...headers } } }
}

const CLIENTS = {
  "the second SDK, revision of 2026": async (http: HttpEntry, key: string, headers = {}) => {
    const client = new Client(
      { name: "test", version: "1" },
      { versionNegotiation: { mode: { pin: "2026-07-28" } } },
    )
    const transport = new StreamableHTTPClientTransport(new URL(`${http.url}/mcp`), withKey(key, headers))
    return connected(client, () => client.connect(transport))
  },
  "the second SDK, revisions of 2025": async (http: HttpEntry, key: string, headers = {}) => {
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "legacy" } })
    const transport = new StreamableHTTPClientTransport(new URL(`${http.url}/mcp`), withKey(key, headers))
    return connected(client, () => client.connect(transport))
  },
  "the first SDK": async (http: HttpEntry, key: string, headers = {}) => {
    const client = new FirstClient({ name: "test", version: "1" })
    const transport = new FirstTransport(new URL(`${http.url}/mcp`), withKey(key, headers))
    // The first SDK's own types do not allow for exactOptionalPropertyTypes.
    return connected(client, () => client.connect(transport as Parameters<typeof client.connect>[0]))
  },
}

describe.each(Object.entries(CLIENTS))("a client of %s", (_, connect) => {
  test("finds the same catalogue as on stdio", async () => {
    const http = await entry()
    const client = await connect(http, http.localKey)
    expect(await client.toolNames()).toEqual(OPERATIONS.map(({ name }) => name))
    expect(await client.templates()).toHaveLength(RESOURCES.length - 1)
    expect(await client.resource("signalbox://coordination/tools")).toMatchObject({ tool_count: 28 })
  })

  test("calls tools with what its key permits", async () => {
    const http = await entry()
    const { text: key } = await http.key({ scopes: ["project:demo:coordination"] })
    const client = await connect(http, key)
    const ada = await client.tool("register-agent", { ...REGISTER, name_hint: "Ada" })
    expect(textAfter(ada.text, "Name")).toBe("Ada")
    expect(ada.text).not.toMatch(/^Repository id: \d/m)
    const refused = await client.tool("register-agent", { ...REGISTER, project_key: "other" })
    expect(refused).toMatchObject({
      isError: true,
      text: expect.stringContaining("insufficient permissions"),
    })
  })

  test("resumes its agent by name in another connection of the same key", async () => {
    const http = await entry()
    const register = { ...REGISTER, name_hint: "Ada" }
    const first = await (await connect(http, http.localKey)).tool("register-agent", register)
    const again = await (await connect(http, http.localKey)).tool("register-agent", register)
    expect(numberAfter(again.text, "Agent id")).toBe(numberAfter(first.text, "Agent id"))
  })

  test("cannot connect without a key, or with a wrong one", async () => {
    const http = await entry()
    for (const key of ["", "wrong"]) await expect(connect(http, key)).rejects.toThrow()
  })
})

describe("whose session a call is", () => {
  const sessionOf = async (http: HttpEntry, key: string, headers = {}) => {
    const client = await CLIENTS["the first SDK"](http, key, headers)
    const { text } = await client.tool("register-agent", REGISTER)
    const row = await http.session.app.db.get<{ session: string }>(
      "SELECT session FROM agents WHERE id = ?",
      [numberAfter(text, "Agent id")],
    )
    return row?.session
  }

  test("is its key's, or the one that the client names within it", async () => {
    const http = await entry()
    const { id, text } = await http.key()
    expect(await sessionOf(http, text)).toBe(`http:${id}`)
    expect(await sessionOf(http, text, { "x-signalbox-session": "a-1" })).toBe(`http:${id}:a-1`)
  })

  test("stays its own when the client's hook tells of it later, and lives for as long as it is active", async () => {
    const made = world()
    const session = await made.session({ name: "beside" })
    const http = await entryOf(session)
    const client = await CLIENTS["the first SDK"](http, http.localKey, { "x-signalbox-session": "late" })
    const ada = await client.tool("register-agent", { ...REGISTER, name_hint: "Ada" })
    await edit(made, session.app, "a.ts", { session: "late" })
    const inbox = { agent_name: "Ada", project_id: numberAfter(ada.text, "Project id") }
    expect(await client.tool("fetch-inbox", inbox)).toMatchObject({ isError: false })
    expect((await client.tool("register-agent", { ...REGISTER, name_hint: "Ada" })).text).toContain("resumed")
    expect(await session.call("register-agent", { ...REGISTER, name_hint: "Ada" })).toContain(
      "Ada is held by another live session",
    )
    made.advance(AGENT_ACTIVE_WINDOW_MS + 1)
    expect(textAfter(await session.call("register-agent", { ...REGISTER, name_hint: "Ada" }), "Name")).toBe(
      "Ada",
    )
  })

  test("cannot have a name of any length or kind", async () => {
    const http = await entry()
    for (const name of ["", "a b", "x".repeat(129)]) {
      const headers = { ...ACCEPT, "x-signalbox-session": name }
      expect(await http.send("/mcp", { body: INITIALIZE, headers })).toMatchObject({ status: 400 })
    }
  })
})

describe("the endpoint", () => {
  test("answers 401 without a bearer, whatever is asked", async () => {
    const http = await entry()
    for (const key of [null, "wrong"]) {
      const reply = await http.send("/mcp", { body: INITIALIZE, headers: ACCEPT, key })
      expect(reply).toMatchObject({ status: 401, json: { error: "Unauthorized" } })
      expect(reply.headers["www-authenticate"]).toMatch(/^Bearer /)
    }
  })

  test("stands behind the guard", async () => {
    const http = await entry()
    const send = (headers: Record<string, string>) =>
      http.send("/mcp", { body: INITIALIZE, headers: { ...ACCEPT, ...headers } })
    expect((await send({})).status).toBe(200)
    expect((await send({ origin: "http://localhost:3000" })).status).toBe(403)
    expect((await send({ host: "localhost.evil.example" })).status).toBe(403)
    expect((await send({ "content-type": "text/plain" })).status).toBe(415)
  })

  test("has nothing to listen to or to end for who has no session, and sends back who names a wrong one", async () => {
    const http = await entry()
    for (const method of ["GET", "DELETE"]) {
      expect(await http.send("/mcp", { method, headers: ACCEPT })).toMatchObject({
        status: 405,
        headers: { allow: "POST" },
      })
      const headers = { ...ACCEPT, "mcp-session-id": "not-ours" }
      expect((await http.send("/mcp", { method, headers })).status).toBe(404)
    }
  })

  test("counts tool calls against the key, and tells what is left of them", async () => {
    const http = await entry({ limits: true })
    const { text } = await http.key()
    const client = await CLIENTS["the first SDK"](http, text)
    await client.tool("list-agents", { project_key: "demo" })
    await client.tool("list-agents", { project_key: "demo" })
    const reply = await http.send("/mcp", { body: INITIALIZE, headers: ACCEPT, key: text })
    expect(reply.headers).toMatchObject({ "x-ratelimit-limit": "60", "x-ratelimit-remaining": "58" })
  })
})
