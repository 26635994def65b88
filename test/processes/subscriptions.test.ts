import { existsSync, readFileSync } from "node:fs"
import { createServer } from "node:net"
import { Client as ModernClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { StdioClientTransport as ModernTransport } from "@modelcontextprotocol/client/stdio"
import { Client as ClassicClient } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport as ClassicTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport as ClassicHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { listenerPaths } from "../../src/http/listener-files.ts"
import { localKeyIn } from "../../src/operations/keys.ts"
import { BINARY, environment, type Place, place, ServerProcess } from "../support/server-process.ts"
import { numberAfter } from "../support/world.ts"

const INFO = { name: "test", version: "1.0.0" }
const IDENTITY = { project_key: "demo", program: "test-program", model: "test-model" }
const INBOX = "signalbox://coordination/inbox/Bob?project_key=demo"
const RESERVATIONS = "signalbox://coordination/file-reservations?project_key=demo"
const OTHERS_INBOX = "signalbox://coordination/inbox/Ada?project_key=demo"

/** A client that follows resources, whatever its generation. */
interface Follower {
  /** The URIs of the updates that came. */
  told: string[]
  call(name: string, args: Record<string, unknown>): Promise<string>
  follow(uri: string): Promise<void>
  unfollow(uri: string): Promise<void>
}

type Connect = (where: Place) => Promise<Follower>

const textOf = (result: object) => (result as { content: { text: string }[] }).content[0]?.text ?? ""

const serverIn = (where: Place) => ({
  command: process.execPath,
  args: [BINARY],
  cwd: where.repository,
  env: environment(where, { SIGNALBOX_PORT: "0" }),
})

async function classic(where: Place): Promise<Follower> {
  const client = new ClassicClient(INFO)
  const told: string[] = []
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void told.push(params.uri))
  await client.connect(new ClassicTransport(serverIn(where)))
  onTestFinished(() => client.close())
  return {
    told,
    call: async (name, args) => textOf(await client.callTool({ name, arguments: args })),
    follow: async (uri) => void (await client.subscribeResource({ uri })),
    unfollow: async (uri) => void (await client.unsubscribeResource({ uri })),
  }
}

function modern(mode: "legacy" | { pin: string }): Connect {
  return async (where) => {
    const client = new ModernClient(INFO, { versionNegotiation: { mode } })
    const told: string[] = []
    client.setNotificationHandler(
      "notifications/resources/updated",
      ({ params }) => void told.push(params.uri),
    )
    await client.connect(new ModernTransport(serverIn(where)))
    onTestFinished(() => client.close())
    const listening = new Map<string, { close(): Promise<void> }>()
    return {
      told,
      call: async (name, args) => textOf(await client.callTool({ name, arguments: args })),
      follow: async (uri) => {
        if (mode === "legacy") await client.subscribeResource({ uri })
        else listening.set(uri, await client.listen({ resourceSubscriptions: [uri] }))
      },
      unfollow: async (uri) => {
        if (mode === "legacy") await client.unsubscribeResource({ uri })
        else await listening.get(uri)?.close()
      },
    }
  }
}

const ON_STDIO: [string, Connect][] = [
  ["the v1 client", classic],
  ["the v2 client in the era of 2025", modern("legacy")],
  ["the v2 client in the era of 2026-07-28", modern({ pin: "2026-07-28" })],
]

/** Another process, with the agent Ada, which writes to Bob and reserves files. */
async function other(where: Place, port = 0) {
  const env = { SIGNALBOX_PORT: String(port), SIGNALBOX_SESSION: "other" }
  const server = await ServerProcess.start(where, { env })
  onTestFinished(async () => void (await server.stop()))
  const ada = await server.register("Ada")
  return {
    pid: server.pid,
    async send(to: number) {
      const message = { sender_name: "Ada", project_id: ada.projectId, subject: "S", body_md: "B" }
      await server.call("send-message", { ...message, to_agent_ids: [to] })
    },
    async reserve(path: string) {
      const asked = { agent_id: ada.id, coordination_project_id: ada.projectId, path_pattern: path }
      await server.call("reserve-file-paths", { ...asked, repository_id: ada.repositoryId })
    },
  }
}

async function hears(follower: Pick<Follower, "told">, ...uris: string[]): Promise<void> {
  await vi.waitFor(() => expect([...follower.told].sort()).toEqual(uris.sort()), {
    timeout: 10_000,
    interval: 5,
  })
  follower.told.length = 0
}

describe.each(ON_STDIO)("%s on stdio", (_, connect) => {
  test("hears of what other processes change in what it follows, until it follows no more", async () => {
    const where = place()
    const ada = await other(where)
    const bob = await connect(where)
    const registered = await bob.call("register-agent", { ...IDENTITY, name_hint: "Bob" })
    const bobId = numberAfter(registered, "Agent id")
    await bob.follow(INBOX)
    await bob.follow(RESERVATIONS)
    await expect(bob.follow(OTHERS_INBOX)).rejects.toThrow("Ada")
    await ada.send(bobId)
    await hears(bob, INBOX)
    await bob.unfollow(INBOX)
    await ada.send(bobId)
    // The look that tells of the second comes after the one that told of the first, and so after the mail.
    for (const path of ["a.ts", "b.ts"]) {
      await ada.reserve(path)
      await hears(bob, RESERVATIONS)
    }
  })
})

/** A listener on a port of its own, the process that stands by, and how the first is taken over by the second. */
async function listeners() {
  const where = place()
  const port = await freePort()
  const first = await ServerProcess.start(where, { env: { SIGNALBOX_PORT: String(port) } })
  await first.register("Bob")
  await listens(where, first.pid)
  const ada = await other(where, port)
  const url = new URL(`http://127.0.0.1:${port}/mcp`)
  const headers = { authorization: `Bearer ${localKeyIn(where.databasePath)}` }
  const takeOver = async () => {
    await first.kill()
    await listens(where, ada.pid)
  }
  return { ada, url, options: { requestInit: { headers } }, takeOver }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

function listens(where: Place, pid: number): Promise<void> {
  const { record } = listenerPaths(where.databasePath)
  const look = () => {
    const text = existsSync(record) ? readFileSync(record, "utf8") : "{}"
    expect((JSON.parse(text) as { pid?: number }).pid).toBe(pid)
  }
  return vi.waitFor(look, { timeout: 10_000, interval: 20 })
}

describe("when another process takes the port over", () => {
  test("a session of the older protocol is told what changed meanwhile, and goes on", async () => {
    const { ada, url, options, takeOver } = await listeners()
    const client = new ClassicClient(INFO)
    const told: string[] = []
    client.setNotificationHandler(
      ResourceUpdatedNotificationSchema,
      ({ params }) => void told.push(params.uri),
    )
    const reconnectionOptions = {
      initialReconnectionDelay: 1_500,
      maxReconnectionDelay: 1_500,
      reconnectionDelayGrowFactor: 1,
      maxRetries: 10,
    }
    const transport = new ClassicHttp(url, { ...options, reconnectionOptions })
    // The first SDK's own types do not allow for exactOptionalPropertyTypes.
    await client.connect(transport as Parameters<typeof client.connect>[0])
    onTestFinished(() => client.close())
    await client.subscribeResource({ uri: RESERVATIONS })
    await takeOver()
    for (const path of ["a.ts", "b.ts"]) {
      await ada.reserve(path)
      await hears({ told }, RESERVATIONS)
    }
    await client.unsubscribeResource({ uri: RESERVATIONS })
  })

  test("a client of the newer one learns that its stream has ended, and listens again", async () => {
    const { ada, url, options, takeOver } = await listeners()
    const client = new ModernClient(INFO, { versionNegotiation: { mode: { pin: "2026-07-28" } } })
    const told: string[] = []
    client.setNotificationHandler(
      "notifications/resources/updated",
      ({ params }) => void told.push(params.uri),
    )
    await client.connect(new StreamableHTTPClientTransport(url, options))
    onTestFinished(() => client.close())
    const listening = await client.listen({ resourceSubscriptions: [RESERVATIONS] })
    await takeOver()
    expect(await listening.closed).toBe("remote")
    await client.listen({ resourceSubscriptions: [RESERVATIONS] })
    await ada.reserve("a.ts")
    await hears({ told }, RESERVATIONS)
  })
})
