import { Client } from "@modelcontextprotocol/client"
import { InMemoryTransport } from "@modelcontextprotocol/server"
import { describe, expect, onTestFinished, test } from "vitest"
import { createServer } from "../../src/mcp/server.ts"
import type { Call } from "../../src/operations/caller.ts"
import { OPERATIONS } from "../../src/operations/index.ts"
import { RESOURCES } from "../../src/resources/index.ts"
import { createLog } from "../../src/runtime/log.ts"
import { world } from "../support/world.ts"

/** A client before a server whose app cannot be opened, or breaks, with what it logs. */
async function brokenServer(call: () => Promise<Call>): Promise<{ client: Client; logged: string[] }> {
  const logged: string[] = []
  const log = createLog("error", (line) => logged.push(line))
  const parts = { operations: OPERATIONS, resources: RESOURCES, instructions: "Read this.", version: "1.2.3" }
  const server = createServer({ ...parts, log, call })
  const client = new Client({ name: "test", version: "1.0.0" })
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  await Promise.all([server.connect(ours), client.connect(theirs)])
  onTestFinished(() => client.close())
  return { client, logged }
}

const defect = async () => {
  throw new Error("secret /home/me/path")
}

describe("the server", () => {
  test("introduces itself with name, version, instructions and what it can do", async () => {
    const { client } = await brokenServer(defect)
    expect(client.getServerVersion()).toMatchObject({ name: "signalbox", version: "1.2.3" })
    expect(client.getInstructions()).toBe("Read this.")
    expect(client.getServerCapabilities()).toMatchObject({ tools: {}, resources: {}, completions: {} })
  })

  test("lists tools and resources without opening anything", async () => {
    const { client, logged } = await brokenServer(defect)
    expect((await client.listTools()).tools).toHaveLength(OPERATIONS.length)
    expect((await client.listResources()).resources).toHaveLength(1)
    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(10)
    expect(logged).toEqual([])
  })
})

describe("a failed call", () => {
  test("is a result with isError, not a protocol error", async () => {
    const session = await world().session()
    const result = await session.client.callTool({
      name: "whois",
      arguments: { project_key: "x", agent_name: "y" },
    })
    expect(result.isError).toBe(true)
    expect(result.content).toEqual([
      { type: "text", text: expect.stringMatching(/^Failed to whois: project "x" /) },
    ])
  })

  test("of a tool that does not exist is a protocol error that names it", async () => {
    const session = await world().session()
    await expect(session.client.callTool({ name: "whoami", arguments: {} })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining("tool whoami does not exist"),
    })
  })

  test("without arguments names those that are required", async () => {
    const session = await world().session()
    const result = await session.client.callTool({ name: "whois" })
    expect(JSON.stringify(result.content)).toContain("project_key is required")
    expect(JSON.stringify(result.content)).toContain("agent_name is required")
  })

  test("by a defect is told without its details, which are logged whole", async () => {
    const { client, logged } = await brokenServer(defect)
    const result = await client.callTool({ name: "whois", arguments: { project_key: "x", agent_name: "y" } })
    expect(result.isError).toBe(true)
    expect(JSON.stringify(result.content)).toMatch(/Failed to whois: an internal error/)
    expect(JSON.stringify(result.content)).not.toContain("secret")
    expect(logged.join("")).toContain("secret /home/me/path")
  })

  test("is possible again after the app could not be opened at first", async () => {
    const session = await world().session()
    let tries = 0
    const { client } = await brokenServer(async () => {
      tries += 1
      if (tries === 1) throw new Error("busy")
      return session
    })
    const call = { name: "list-agents", arguments: { project_key: "demo" } }
    expect(JSON.stringify(await client.callTool(call))).toContain("an internal error")
    expect(JSON.stringify(await client.callTool(call))).toContain("was not found")
  })
})

describe("a resource or a completion that fails by a defect", () => {
  test("is an internal error without its details, which are logged whole", async () => {
    const { client, logged } = await brokenServer(defect)
    await expect(client.readResource({ uri: "signalbox://coordination/tools" })).rejects.toMatchObject({
      code: -32603,
      message: expect.not.stringContaining("secret"),
    })
    expect(logged.join("")).toContain("secret")
  })

  test("tells no details where a completion fails", async () => {
    const { client, logged } = await brokenServer(defect)
    const uri = "signalbox://coordination/agents{?project_key,active_only}"
    const asked = client.complete({
      ref: { type: "ref/resource", uri },
      argument: { name: "project_key", value: "" },
    })
    await expect(asked).rejects.toMatchObject({ message: expect.not.stringContaining("secret") })
    expect(logged.join("")).toContain("secret")
  })
})

describe("a refusal of a resource", () => {
  test("is an invalid request with its kind when the key does not count", async () => {
    const session = await world().session({ apiKey: "" })
    await expect(session.read("tools")).rejects.toMatchObject({
      code: -32600,
      data: { code: "unauthenticated" },
      message: expect.stringContaining("tenant authentication required; a valid API token must be supplied"),
    })
  })

  test("names the address that was not found", async () => {
    const session = await world().session()
    await expect(session.read("thread/x", { project_key: "demo" })).rejects.toMatchObject({
      code: -32602,
      data: { uri: "signalbox://coordination/thread/x?project_key=demo" },
    })
  })
})
