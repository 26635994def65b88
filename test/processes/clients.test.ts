import { Client as ModernClient } from "@modelcontextprotocol/client"
import { StdioClientTransport as ModernTransport } from "@modelcontextprotocol/client/stdio"
import { Client as ClassicClient } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport as ClassicTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { describe, expect, onTestFinished, test } from "vitest"
import { BINARY, environment, type Place, place } from "../support/server-process.ts"
import { numberAfter, textAfter } from "../support/world.ts"

/** What the tests ask of a client of either kind. */
interface AnyClient {
  tools(): Promise<string[]>
  call(name: string, args: Record<string, unknown>): Promise<string>
  resources(): Promise<string[]>
  templates(): Promise<string[]>
  read(uri: string): Promise<string>
  completeProject(template: string, typed: string): Promise<string[]>
  /** The era that was agreed on, as far as the client knows of eras. */
  era(): string | undefined
}

const INFO = { name: "test", version: "1.0.0" }

/** The text of a call's result, which must not be an error; both clients have types of their own for it. */
function textOf(name: string, result: object): string {
  const { content, isError } = result as { content: { text: string }[]; isError?: boolean }
  const text = content.map((part) => part.text).join("\n")
  expect(isError ?? false, `${name} failed: ${text}`).toBe(false)
  return text
}

function serverIn(where: Place) {
  return { command: process.execPath, args: [BINARY], cwd: where.repository, env: environment(where) }
}

async function classicClient(where: Place): Promise<AnyClient> {
  const client = new ClassicClient(INFO)
  await client.connect(new ClassicTransport(serverIn(where)))
  onTestFinished(() => client.close())
  return {
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    call: async (name, args) => textOf(name, await client.callTool({ name, arguments: args })),
    resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    templates: async () =>
      (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    read: async (uri) =>
      (await client.readResource({ uri })).contents.map((part) => "text" in part && part.text).join(),
    completeProject: async (uri, value) => {
      const argument = { name: "project_key", value }
      return (await client.complete({ ref: { type: "ref/resource", uri }, argument })).completion.values
    },
    era: () => undefined,
  }
}

async function modernClient(where: Place, mode: "legacy" | { pin: string }): Promise<AnyClient> {
  const client = new ModernClient(INFO, { versionNegotiation: { mode } })
  await client.connect(new ModernTransport(serverIn(where)))
  onTestFinished(() => client.close())
  return {
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    call: async (name, args) => textOf(name, await client.callTool({ name, arguments: args })),
    resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    templates: async () =>
      (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    read: async (uri) =>
      (await client.readResource({ uri })).contents.map((part) => "text" in part && part.text).join(),
    completeProject: async (uri, value) => {
      const argument = { name: "project_key", value }
      return (await client.complete({ ref: { type: "ref/resource", uri }, argument })).completion.values
    },
    era: () => client.getProtocolEra(),
  }
}

const CLIENTS: [string, (where: Place) => Promise<AnyClient>, string | undefined][] = [
  ["the v1 client", classicClient, undefined],
  ["the v2 client in the era of 2025", (where) => modernClient(where, "legacy"), "legacy"],
  ["the v2 client in the era of 2026-07-28", (where) => modernClient(where, { pin: "2026-07-28" }), "modern"],
]

async function callMemoryTools(call: (name: string, args: Record<string, unknown>) => Promise<string>) {
  const created = await call("create-memory", { content: "The login form keeps its cookies for a week." })
  const memory_id = textAfter(created, "Memory id")
  expect(await call("search-memories", { query: "cookies of the form" })).toContain(memory_id)
  await call("get-memory", { memory_id })
  await call("update-memory", { memory_id, tags: ["login"] })
  await call("reinforce-memory", { memory_id })
  await call("list-memories", { tag: "login" })
  await call("get-memory-waypoints", { memory_id })
  await call("prune-memories", {})
  await call("get-memory-stats", {})
  await call("delete-memory", { memory_id })
}

/** Calls every tool once, in the order in which two agents would; returns the names of those called. */
async function callEveryTool(client: AnyClient): Promise<Set<string>> {
  const called = new Set<string>()
  const call = (name: string, args: Record<string, unknown>) => {
    called.add(name)
    return client.call(name, args)
  }
  const identity = { project_key: "demo", program: "test-program", model: "test-model" }
  const ada = await call("register-agent", { ...identity, name_hint: "Ada" })
  const project_id = numberAfter(ada, "Project id")
  const repository_id = numberAfter(ada, "Repository id")
  const adaId = numberAfter(ada, "Agent id")
  const bobId = numberAfter(await call("macro-start-session", { ...identity, name_hint: "Bob" }), "Agent id")
  const coordination_project_id = project_id

  await call("whois", { project_key: "demo", agent_name: "Bob" })
  await call("list-agents", { project_key: "demo" })
  const sent = await call("send-message", {
    sender_name: "Ada",
    project_id,
    to_agent_ids: [bobId],
    subject: "The login form",
    body_md: "We decided to keep cookies. TODO: @Bob please update the login form by Friday.",
    importance: "urgent",
    ack_required: true,
  })
  const message_id = numberAfter(sent, "Message id")
  const thread_id = textAfter(sent, "Thread id")
  const asBob = { agent_name: "Bob", project_id }
  await call("fetch-inbox", asBob)
  await call("read-message", { ...asBob, message_id })
  await call("reply-message", {
    sender_name: "Bob",
    project_id,
    parent_message_id: message_id,
    body_md: "Fine.",
  })
  await call("ack-message", { ...asBob, message_id })
  const inThread = { project_id, thread_id }
  await call("get-thread-messages", inThread)
  await call("summarize-thread", inThread)
  await call("summarize-threads", { project_id, thread_ids: [thread_id] })
  await call("get-thread-participants", inThread)
  await call("get-action-items", inThread)
  await call("macro-prepare-thread", { ...asBob, thread_id })
  await call("search-messages", { project_id, query: "cookies" })
  await call("search-threads", { project_id, query: "login" })

  const held = { agent_id: adaId, coordination_project_id }
  await call("reserve-file-paths", { ...held, repository_id, path_pattern: "src/auth/**" })
  await call("list-file-reservations", { coordination_project_id })
  await call("macro-claim-cycle", { ...asBob, repository_id, file_paths: ["docs/**"] })
  await call("release-file-reservations", held)
  await call("get-latest-updates", { project_id })

  const contact = { requester_name: "Ada", recipient_name: "Bob", project_id, reason: "the form" }
  await call("set-contact-policy", { ...asBob, contact_policy: "contacts_only" })
  const contact_request_id = numberAfter(await call("request-contact", contact), "Contact request id")
  await call("respond-contact", { ...asBob, contact_request_id, approved: true })
  await call("list-contacts", asBob)
  await call("macro-contact-handshake", contact)
  await call("block-agent", { blocker_name: "Bob", blocked_name: "Ada", project_id })
  await callMemoryTools(call)
  await call("connect-repository", { path_or_url: textAfter(await call("list-repositories", {}), "Root") })
  await call("search-documentation", { query: "how does the login form work" })
  return called
}

const RESOURCES = [
  "tools",
  "inbox/Bob?project_key=demo",
  "outbox/Ada?project_key=demo",
  "thread/thr_1?project_key=demo",
  "message/1?project_key=demo",
  "file-reservations?project_key=demo",
  "agents?project_key=demo",
  "contacts?project_key=demo&agent=Ada",
  "views/urgent-unread?project_key=demo",
  "views/ack-required?project_key=demo&agent=Bob",
  "views/ack-overdue?project_key=demo",
]

describe.each(CLIENTS)("%s", (_, connect, era) => {
  test("lists exactly 28 tools of coordination, 10 of memory and 3 of documentation, and calls every one of them with success", async () => {
    const client = await connect(place())
    const tools = await client.tools()
    expect(tools).toHaveLength(41)
    expect([...(await callEveryTool(client))].sort()).toEqual([...tools].sort())
    expect(client.era()).toBe(era)
  })

  test("lists 1 resource and 10 templates and reads all 11 as JSON objects", async () => {
    const client = await connect(place())
    await callEveryTool(client)
    expect(await client.resources()).toEqual(["signalbox://coordination/tools"])
    const templates = await client.templates()
    expect(templates).toHaveLength(10)
    expect(new Set(templates).size).toBe(10)
    const texts: string[] = []
    for (const path of RESOURCES) texts.push(await client.read(`signalbox://coordination/${path}`))
    const read = texts.map((text) => JSON.parse(text) as Record<string, unknown>)
    expect(read[0]).toMatchObject({ tool_count: 28, resource_count: 11 })
    expect(read[4]).toMatchObject({ id: 1, subject: "The login form", sender: { name: "Ada" } })
  })

  test("completes a project key", async () => {
    const client = await connect(place())
    await callEveryTool(client)
    const template = (await client.templates()).find((uri) => uri.includes("coordination/agents"))
    expect(template).toBeDefined()
    expect(await client.completeProject(template ?? "", "de")).toEqual(["demo"])
    expect(await client.completeProject(template ?? "", "other")).toEqual([])
  })
})
