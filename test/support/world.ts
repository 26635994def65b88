/**
 * The world that tests act in: one temporary database, a git work tree as working folder, a clock that
 * the test moves, and any number of sessions, each with a database connection and an MCP server of its
 * own and a real MCP client in front.
 */

import { existsSync } from "node:fs"
import { join } from "node:path"
import { Client } from "@modelcontextprotocol/client"
import { InMemoryTransport } from "@modelcontextprotocol/server"
import { expect, onTestFinished } from "vitest"
import { makeTemporaryFolder, remove } from "../../scripts/removal.ts"
import { openApp } from "../../src/app.ts"
import { readConfig } from "../../src/config/config.ts"
import { createServer } from "../../src/mcp/server.ts"
import type { App } from "../../src/operations/app.ts"
import type { Call, Caller } from "../../src/operations/caller.ts"
import { OPERATIONS } from "../../src/operations/index.ts"
import { RESOURCES } from "../../src/resources/index.ts"
import { createLog } from "../../src/runtime/log.ts"
import { BUILTIN } from "./builtin.ts"
import { initRepository, isSetUpAsMade, writeDatabase } from "./templates.ts"

/** Noon of a day on which nothing special happens. */
export const START_MS = Date.parse("2026-03-10T12:00:00.000Z")

export interface WorldOptions {
  /** Turns the rate limits on; they are off otherwise. */
  limits?: boolean
}

interface SessionOptions {
  /** The client's session id; sessions with different ones are different sessions. */
  name?: string
  apiKey?: string
  workingFolder?: string
  /** The anchors of the client's processes above the server; none unless given. */
  clientProcesses?: readonly string[]
}

/** A registered agent, as its tools described it. */
export interface TestAgent {
  session: Session
  name: string
  id: number
  projectId: number
  repositoryId: number
}

export class World {
  readonly folder = makeTemporaryFolder()
  readonly databasePath = join(this.folder, "data", "signalbox.db")
  readonly repositoryPath = join(this.folder, "repository")
  nowMs = START_MS
  /** Everything that the servers logged as an error: a test fails when there is any. */
  readonly logged: string[] = []
  readonly #sessions: Session[] = []
  readonly #options: WorldOptions

  constructor(options: WorldOptions) {
    this.#options = options
    initRepository(this.repositoryPath)
  }

  advance(stepMs: number): void {
    this.nowMs += stepMs
  }

  /** Opens a session of its own on the world's database. */
  async session(options: SessionOptions = {}): Promise<Session> {
    const workingFolder = options.workingFolder ?? this.repositoryPath
    await this.#prepareDatabase(workingFolder)
    const config = readConfig({
      env: {
        SIGNALBOX_DB: this.databasePath,
        SIGNALBOX_SESSION: options.name ?? `session-${this.#sessions.length + 1}`,
        SIGNALBOX_LIMITS: this.#options.limits === true ? "on" : "off",
        SIGNALBOX_API_KEY: options.apiKey,
      },
      home: this.folder,
      workingFolder,
    })
    const log = createLog("error", (line) => this.logged.push(line))
    const call = await openApp(config, {
      log,
      now: () => this.nowMs,
      clientProcesses: options.clientProcesses ?? [],
      builtin: BUILTIN,
    })
    const parts = {
      operations: OPERATIONS,
      resources: RESOURCES,
      instructions: "",
      version: "0.0.0-test",
      log,
    }
    const server = createServer({ ...parts, call: async () => call })
    const client = new Client({ name: "test", version: "1.0.0" })
    const [ours, theirs] = InMemoryTransport.createLinkedPair()
    await Promise.all([server.connect(ours), client.connect(theirs)])
    const session = new Session(call, client)
    this.#sessions.push(session)
    return session
  }

  /** Spares the first session what takes longest of it, unless there is more to connect than everywhere. */
  async #prepareDatabase(workingFolder: string): Promise<void> {
    if (existsSync(this.databasePath) || workingFolder !== this.repositoryPath) return
    if (isSetUpAsMade(this.repositoryPath))
      await writeDatabase(this.databasePath, this.repositoryPath, this.nowMs)
  }

  async close(): Promise<void> {
    for (const session of this.#sessions) await session.close()
    remove(this.folder)
  }
}

export class Session {
  readonly app: App
  readonly caller: Caller
  readonly client: Client
  #isOpen = true

  constructor({ app, caller }: Call, client: Client) {
    this.app = app
    this.caller = caller
    this.client = client
  }

  /** Calls a tool that must succeed; returns its Markdown. */
  async call(tool: string, args: Record<string, unknown>): Promise<string> {
    const { text, isError } = await this.#callTool(tool, args)
    expect(isError, `${tool} failed: ${text}`).toBe(false)
    return text
  }

  /** Calls a tool that must fail; returns the error's text. */
  async fail(tool: string, args: Record<string, unknown>): Promise<string> {
    const { text, isError } = await this.#callTool(tool, args)
    expect(isError, `${tool} succeeded: ${text}`).toBe(true)
    return text
  }

  /** Reads a resource below `signalbox://coordination/`; returns its JSON. */
  async read(path: string, query: Record<string, string> = {}): Promise<Record<string, unknown>> {
    const parameters = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    const uri = `signalbox://coordination/${path}${parameters.length === 0 ? "" : `?${parameters.join("&")}`}`
    const { contents } = await this.client.readResource({ uri })
    return JSON.parse((contents[0] as { text: string }).text) as Record<string, unknown>
  }

  /** Registers an agent, by default in the project "demo". */
  async register(nameHint: string, args: Record<string, unknown> = {}): Promise<TestAgent> {
    const text = await this.call("register-agent", {
      project_key: "demo",
      program: "test-program",
      model: "test-model",
      name_hint: nameHint,
      ...args,
    })
    return {
      session: this,
      name: textAfter(text, "Name"),
      id: numberAfter(text, "Agent id"),
      projectId: numberAfter(text, "Project id"),
      repositoryId: Number(textAfter(text, "Repository id")),
    }
  }

  /** Ends the session as a server does that lost its client. */
  async close(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    await this.client.close()
    await this.app.close()
  }

  async #callTool(name: string, args: Record<string, unknown>): Promise<{ text: string; isError: boolean }> {
    const result = await this.client.callTool({ name, arguments: args })
    const text = result.content.map((part) => (part.type === "text" ? part.text : "")).join("\n")
    return { text, isError: result.isError === true }
  }
}

/** Makes a world that ends with the test; a test in which a server logged an error fails. */
export function world(options: WorldOptions = {}): World {
  const made = new World(options)
  onTestFinished(async () => {
    await made.close()
    expect(made.logged).toEqual([])
  })
  return made
}

/** Makes a world with agents in the project "demo", each in a session of its own. */
export async function agents<const Names extends readonly string[]>(
  ...names: Names
): Promise<[World, ...{ [Index in keyof Names]: TestAgent }]> {
  const made = world()
  const registered: TestAgent[] = []
  for (const name of names)
    registered.push(await (await made.session({ name: `session-of-${name}` })).register(name))
  return [made, ...(registered as { [Index in keyof Names]: TestAgent })]
}

/** Sends a message from one agent to others; returns its ids. */
export async function send(
  from: TestAgent,
  to: readonly TestAgent[],
  args: Record<string, unknown> = {},
): Promise<{ messageId: number; threadId: string; text: string }> {
  const text = await from.session.call("send-message", {
    sender_name: from.name,
    project_id: from.projectId,
    to_agent_ids: to.map((agent) => agent.id),
    subject: "Subject",
    body_md: "Body",
    ...args,
  })
  return { messageId: numberAfter(text, "Message id"), threadId: textAfter(text, "Thread id"), text }
}

/** Returns what stands after `Label: ` on the first line that begins so. */
export function textAfter(text: string, label: string): string {
  const found = new RegExp(`^${label}: (.*)$`, "m").exec(text)?.[1]
  expect(found, `a line "${label}: ..." in:\n${text}`).toBeDefined()
  return found ?? ""
}

export function numberAfter(text: string, label: string): number {
  const number = Number(textAfter(text, label))
  expect(number).toBeGreaterThan(0)
  return number
}
