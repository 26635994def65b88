import { Client as ModernClient } from "@modelcontextprotocol/client"
import { StdioClientTransport as ModernTransport } from "@modelcontextprotocol/client/stdio"
import { Client as ClassicClient } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport as ClassicTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js"
import { describe, expect, onTestFinished, test, vi } from "vitest"
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
async function other(where: Place) {
  const server = await ServerProcess.start(where, {
    env: { SIGNALBOX_PORT: "0", SIGNALBOX_SESSION: "other" },
  })
  onTestFinished(async () => void (await server.stop()))
  const ada = await server.register("Ada")
  return {
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

async function hears(follower: Follower, ...uris: string[]): Promise<void> {
  await vi.waitFor(() => expect([...follower.told].sort()).toEqual(uris.sort()), {
    timeout: 5_000,
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
