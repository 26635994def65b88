import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport as FirstTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import {
  STORED_SUBSCRIPTION_MS_MAX,
  STORED_SUBSCRIPTIONS_MAX,
  STREAM_KEEP_ALIVE_MS,
  SUBSCRIPTIONS_MAX,
  UPDATE_STREAMS_MAX,
} from "../../src/config/subscription-limits.ts"
import { localKey, revokeKeyById } from "../../src/operations/keys.ts"
import { keepSubscription, resumeSubscriptions } from "../../src/operations/subscriptions.ts"
import { servedHttp } from "../../src/serve.ts"
import { type HttpEntry, serveHttp } from "../support/http.ts"
import { numberAfter, send, type TestAgent, type World, world } from "../support/world.ts"

const INFO = { name: "test", version: "1" }
const REGISTER = { project_key: "demo", program: "test-program", model: "test-model" }
const INBOX = "signalbox://coordination/inbox/Bob?project_key=demo"
const RESERVATIONS = "signalbox://coordination/file-reservations?project_key=demo"

/** A client over HTTP with a key of its own and the agent Bob. */
interface Follower {
  told: string[]
  bob: number
  follow(uri: string): Promise<unknown>
  unfollow(uri: string): Promise<unknown>
}

const withKey = (key: string) => ({ requestInit: { headers: { authorization: `Bearer ${key}` } } })

async function bobOf(client: { callTool(call: object): Promise<object> }): Promise<number> {
  const call = { name: "register-agent", arguments: { ...REGISTER, name_hint: "Bob" } }
  const { content } = (await client.callTool(call)) as { content: { text: string }[] }
  return numberAfter(content[0]?.text ?? "", "Agent id")
}

async function first(http: HttpEntry, key: string): Promise<Follower> {
  const client = new FirstClient(INFO)
  const told: string[] = []
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void told.push(params.uri))
  const transport = new FirstTransport(new URL(`${http.url}/mcp`), withKey(key))
  // The first SDK's own types do not allow for exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<typeof client.connect>[0])
  onTestFinished(() => client.close())
  return {
    told,
    bob: await bobOf(client),
    follow: (uri) => client.subscribeResource({ uri }),
    unfollow: (uri) => client.unsubscribeResource({ uri }),
  }
}

function second(mode: "legacy" | { pin: string }) {
  return async (http: HttpEntry, key: string): Promise<Follower> => {
    const client = new Client(INFO, { versionNegotiation: { mode } })
    const told: string[] = []
    client.setNotificationHandler(
      "notifications/resources/updated",
      ({ params }) => void told.push(params.uri),
    )
    await client.connect(new StreamableHTTPClientTransport(new URL(`${http.url}/mcp`), withKey(key)))
    onTestFinished(() => client.close())
    const listening = new Map<string, { close(): Promise<void> }>()
    return {
      told,
      bob: await bobOf(client as never),
      follow: async (uri) => {
        if (mode === "legacy") await client.subscribeResource({ uri })
        else listening.set(uri, await client.listen({ resourceSubscriptions: [uri] }))
      },
      unfollow: async (uri) =>
        mode === "legacy" ? client.unsubscribeResource({ uri }) : listening.get(uri)?.close(),
    }
  }
}

const CLIENTS: [string, typeof first][] = [
  ["the first SDK", first],
  ["the second SDK, revisions of 2025", second("legacy")],
  ["the second SDK, revision of 2026", second({ pin: "2026-07-28" })],
]

async function served(made: World): Promise<{ http: HttpEntry; ada: TestAgent }> {
  const session = await made.session({ name: "listener" })
  const listener = servedHttp(session.app)
  const http = await serveHttp(session, { makeHttp: (url) => listener.makeHttp({ url }) })
  onTestFinished(async () => {
    await listener.endStreams()
    await listener.close()
  })
  return { http, ada: await (await made.session({ name: "other" })).register("Ada") }
}

const reserve = (agent: TestAgent, path: string) =>
  agent.session.call("reserve-file-paths", {
    agent_id: agent.id,
    coordination_project_id: agent.projectId,
    repository_id: agent.repositoryId,
    path_pattern: path,
  })

async function hears({ told }: Follower, ...uris: string[]): Promise<void> {
  await vi.waitFor(() => expect([...told].sort()).toEqual(uris.sort()), { timeout: 5_000, interval: 5 })
  told.length = 0
}

describe.each(CLIENTS)("a client of %s", (_, connect) => {
  test("hears of changes in what it follows, until it follows no more", async () => {
    const { http, ada } = await served(world())
    const { text } = await http.key()
    const bob = await connect(http, text)
    await bob.follow(INBOX)
    await bob.follow(RESERVATIONS)
    await expect(bob.follow("signalbox://coordination/inbox/Ada?project_key=demo")).rejects.toThrow("Ada")
    await send(ada, [{ ...ada, id: bob.bob }])
    await hears(bob, INBOX)
    await bob.unfollow(INBOX)
    await send(ada, [{ ...ada, id: bob.bob }])
    // The look that tells of the second comes after the one that told of the first, and so after the mail.
    for (const path of ["a.ts", "b.ts"]) {
      await reserve(ada, path)
      await hears(bob, RESERVATIONS)
    }
  })

  test("hears nothing more once its key was revoked, while others do", async () => {
    const { http, ada } = await served(world())
    const { text, id } = await http.key()
    const revoked = await connect(http, text)
    const other = await connect(http, http.localKey)
    for (const follower of [revoked, other]) await follower.follow(RESERVATIONS)
    await reserve(ada, "a.ts")
    for (const follower of [revoked, other]) await hears(follower, RESERVATIONS)
    await revokeKeyById(ada.session.app, id)
    for (const path of ["b.ts", "c.ts"]) {
      await reserve(ada, path)
      await hears(other, RESERVATIONS)
    }
    expect(revoked.told).toEqual([])
  })
})

describe("what sessions follow is stored", () => {
  const uri = (index: number) => `signalbox://coordination/thread/t${index}?project_key=demo`

  test("up to 64 resources a session and 1,024 a key, and again is no more", async () => {
    const { app } = await world().session()
    const { id: keyId } = await localKey(app)
    const fill = async (session: string, count: number) => {
      for (let index = 0; index < count; index += 1)
        await keepSubscription(app, { keyId, session }, uri(index), "state")
    }
    await fill("0", SUBSCRIPTIONS_MAX)
    await fill("0", 1)
    const beyond = keepSubscription(app, { keyId, session: "0" }, uri(SUBSCRIPTIONS_MAX), "state")
    await expect(beyond).rejects.toThrow("at most 64 resources")
    for (let session = 1; session < STORED_SUBSCRIPTIONS_MAX / SUBSCRIPTIONS_MAX; session += 1)
      await fill(String(session), SUBSCRIPTIONS_MAX)
    await expect(fill("another", 1)).rejects.toThrow("at most 1024 resources")
  })

  test("for a day after the session was last there", async () => {
    const made = world()
    const { app } = await made.session()
    const { id: keyId } = await localKey(app)
    const [gone, there] = [
      { keyId, session: "gone" },
      { keyId, session: "there" },
    ]
    await keepSubscription(app, gone, uri(1), "state")
    await keepSubscription(app, there, uri(1), "state")
    made.advance(STORED_SUBSCRIPTION_MS_MAX)
    expect(await resumeSubscriptions(app, there)).toEqual([uri(1)])
    await keepSubscription(app, there, uri(2), "state")
    expect(await resumeSubscriptions(app, gone)).toEqual([uri(1)])
    made.advance(STORED_SUBSCRIPTION_MS_MAX + 1)
    await keepSubscription(app, there, uri(3), "state")
    expect(await resumeSubscriptions(app, gone)).toEqual([])
  })
})

test("of several resources to listen for, the refusal names the one that is not there", async () => {
  const { http } = await served(world())
  const missing = "signalbox://coordination/nothing"
  const { text } = await http.send("/mcp", {
    body: {
      jsonrpc: "2.0",
      id: 1,
      method: "subscriptions/listen",
      params: { notifications: { resourceSubscriptions: ["signalbox://coordination/tools", missing] } },
    },
    headers: { accept: "application/json, text/event-stream" },
  })
  expect(JSON.parse(text)).toMatchObject({ error: { data: { uri: missing } } })
})

test("a request that is of no session cannot follow", async () => {
  const { http } = await served(world())
  const body = { jsonrpc: "2.0", id: 1, method: "resources/subscribe", params: { uri: RESERVATIONS } }
  const headers = { accept: "application/json, text/event-stream" }
  const { text } = await http.send("/mcp", { body, headers })
  expect(text).toContain("Send the header Mcp-Session-Id")
})

test("a stream that follows nothing ends, too, once its key was revoked", async () => {
  const { http, ada } = await served(world())
  const { text, id } = await http.key()
  vi.useFakeTimers({ toFake: ["setInterval"] })
  onTestFinished(() => void vi.useRealTimers())
  const headers = {
    authorization: `Bearer ${text}`,
    "mcp-session-id": "0".repeat(32),
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "subscriptions/listen",
  }
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": INFO,
    "io.modelcontextprotocol/clientCapabilities": {},
  }
  const request = {
    jsonrpc: "2.0",
    id: 1,
    method: "subscriptions/listen",
    params: { _meta, notifications: {} },
  }
  const streams = await Promise.all([
    fetch(`${http.url}/mcp`, { headers }),
    fetch(`${http.url}/mcp`, { headers, method: "POST", body: JSON.stringify(request) }),
  ])
  for (const { status, headers } of streams)
    expect([status, headers.get("content-type")]).toEqual([200, "text/event-stream"])
  await revokeKeyById(ada.session.app, id)
  vi.advanceTimersByTime(STREAM_KEEP_ALIVE_MS)
  await Promise.all(streams.map((stream) => stream.text()))
})

test("a listener keeps 96 streams open, and one more when one of them has ended", async () => {
  const { http } = await served(world())
  const open = async (index: number) => {
    const session = index.toString(16).padStart(32, "0")
    const ending = new AbortController()
    const headers = { authorization: `Bearer ${http.localKey}`, "mcp-session-id": session }
    const { status } = await fetch(`${http.url}/mcp`, { headers, signal: ending.signal })
    return { status, end: () => ending.abort() }
  }
  const streams = await Promise.all(Array.from({ length: UPDATE_STREAMS_MAX }, (_, index) => open(index)))
  expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]))
  expect((await open(UPDATE_STREAMS_MAX)).status).toBe(503)
  expect((await open(0)).status).toBe(200)
  streams[1]?.end()
  await vi.waitFor(async () => expect((await open(UPDATE_STREAMS_MAX)).status).toBe(200))
})
