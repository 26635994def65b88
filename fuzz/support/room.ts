/**
 * A database with something of everything in it: agents of two sessions, mail, reservations, contacts, memories and
 * documentation. It is made once; each batch works on a copy, with a clock and chance that its seed decides, so that
 * the same seed gives the same answers. Its folder goes with that of the runner, who also removes what is left of a
 * process that was killed.
 */

import { execFileSync } from "node:child_process"
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { InMemoryTransport, type JSONRPCMessage } from "@modelcontextprotocol/server"
import { seeded } from "../../bench/support/numbers.ts"
import { makeTemporaryFolder, remove } from "../../scripts/removal.ts"
import { openApp } from "../../src/app.ts"
import { readConfig } from "../../src/config/config.ts"
import { checkHealth } from "../../src/db/health.ts"
import { type BuiltinEmbedder, createBuiltinEmbedder } from "../../src/embed/builtin.ts"
import type { HttpApp } from "../../src/http/app.ts"
import { createServer } from "../../src/mcp/server.ts"
import type { Call } from "../../src/operations/caller.ts"
import { runIndexing } from "../../src/operations/documentation/indexing.ts"
import { connectRepository } from "../../src/operations/documentation/repositories.ts"
import { OPERATIONS } from "../../src/operations/index.ts"
import { localKeyText } from "../../src/operations/keys.ts"
import { RESOURCES } from "../../src/resources/index.ts"
import { createLog } from "../../src/runtime/log.ts"
import { packageFile } from "../../src/runtime/package-root.ts"
import { servedHttp } from "../../src/serve.ts"
import { DOCUMENTS, fill } from "./content.ts"
import { Fault, type Target } from "./part.ts"
import { beginning, require } from "./texts.ts"

const START_MS = Date.parse("2026-03-10T12:00:00.000Z")
const STEP_MS = 1_000
/** That of no batch: the same chance would make the same keys again. */
const TEMPLATE_SEED = 2 ** 31 + 1
const INTEGRITY_WAIT_MS = 2_000
/** The port that the HTTP app takes itself to listen on. */
const PORT = 4_747

export interface ToolReply {
  text: string
  isError: boolean
}

export interface HttpInput {
  method: string
  /** Path and query. */
  target: string
  headers: Record<string, string>
  body: string | undefined
}

export class Room {
  readonly folder = makeTemporaryFolder()
  readonly repository = join(this.folder, "home", "work", "repository")
  readonly home = join(this.folder, "home")
  readonly #template = join(this.folder, "template", "signalbox.db")
  readonly builtin: BuiltinEmbedder = { ...createBuiltinEmbedder(packageFile("model")), async close() {} }
  #opened = 0

  static async make(): Promise<Room> {
    const room = new Room()
    room.#makeRepository()
    const live = await room.#open(room.#template, TEMPLATE_SEED)
    await fill(live)
    const { id } = await connectRepository(live.call.app, { target: room.repository })
    await runIndexing(live.call.app, { repositoryIds: [id] })
    await live.close()
    return room
  }

  /** Opens a copy of the database for one batch. */
  async open(seed: number): Promise<LiveRoom> {
    const path = this.databaseCopy()
    return this.#open(path, seed)
  }

  /** Returns the path of a new copy of the database, in a folder of its own. */
  databaseCopy(): string {
    const path = join(this.folder, `data-${this.#opened++}`, "signalbox.db")
    mkdirSync(dirname(path))
    copyFileSync(this.#template, path)
    return path
  }

  /** Removes what a batch worked on. */
  discard(databasePath: string): void {
    remove(dirname(databasePath))
  }

  async #open(databasePath: string, seed: number): Promise<LiveRoom> {
    const chance = seeded(seed)
    const clock = { nowMs: START_MS }
    const logged: string[] = []
    const log = createLog("error", (line) => logged.push(line))
    const calls: Call[] = []
    for (const session of ["fuzzed", "other"]) {
      const env = { SIGNALBOX_DB: databasePath, SIGNALBOX_SESSION: session, SIGNALBOX_LIMITS: "off" }
      const config = readConfig({ env, home: this.home, workingFolder: this.repository })
      calls.push(
        await openApp(config, {
          log,
          now: () => clock.nowMs,
          random: chance,
          randomBytes: (count) => Uint8Array.from({ length: count }, () => chance() * 256),
          clientProcesses: [],
          builtin: this.builtin,
        }),
      )
    }
    return LiveRoom.connect({ room: this, databasePath, calls, clock, logged })
  }

  #makeRepository(): void {
    for (const [path, content] of Object.entries(DOCUMENTS)) {
      mkdirSync(dirname(join(this.repository, path)), { recursive: true })
      writeFileSync(join(this.repository, path), content)
    }
    const date = `${START_MS / 1_000} +0000`
    const env = { PATH: process.env.PATH, HOME: this.home, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date }
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=Fuzz", "-c", "user.email=fuzz@example.com", ...args], {
        cwd: this.repository,
        env,
        stdio: "ignore",
      })
    git("init", "--quiet", "--initial-branch=main")
    git("add", "--all")
    git("commit", "--quiet", "--message", "Documents")
  }
}

interface Parts {
  room: Room
  databasePath: string
  calls: Call[]
  clock: { nowMs: number }
  logged: string[]
}

export class LiveRoom {
  readonly room: Room
  readonly databasePath: string
  readonly call: Call
  readonly key: string
  readonly #parts: Parts
  readonly #http: HttpApp
  readonly #closeHttp: () => Promise<void>
  readonly #clients: McpClient[]

  private constructor(parts: Parts, clients: McpClient[], key: string) {
    const [call] = parts.calls
    if (call === undefined) throw new Error("a room needs a session")
    this.#parts = parts
    this.#clients = clients
    this.room = parts.room
    this.databasePath = parts.databasePath
    this.call = call
    this.key = key
    const served = servedHttp(call.app)
    this.#http = served.makeHttp({ url: `http://127.0.0.1:${PORT}` })
    this.#closeHttp = served.close
  }

  static async connect(parts: Parts): Promise<LiveRoom> {
    const clients: McpClient[] = []
    for (const call of parts.calls) clients.push(await McpClient.connect(call))
    const [first] = parts.calls
    return new LiveRoom(parts, clients, first === undefined ? "" : await localKeyText(first.app))
  }

  /** Calls a tool with arguments as JSON text, in the first session or the second. */
  async tool(name: string, json: string, session = 0): Promise<ToolReply> {
    const { result, error } = await this.mcp(
      "tools/call",
      { name, arguments: JSON.parse(json) as unknown },
      session,
    )
    if (error !== undefined) return { text: error, isError: true }
    const { content = [], isError } = result as { content?: { text: string }[]; isError?: boolean }
    return { text: content.map((part) => part.text).join("\n"), isError: isError === true }
  }

  /** Sends any request; time goes on by a second. */
  mcp(method: string, params: unknown, session = 0): Promise<McpReply> {
    this.#parts.clock.nowMs += STEP_MS
    const client = this.#clients[session]
    if (client === undefined) throw new Error(`no session ${session}`)
    return client.request(method, params)
  }

  /** Sends a request to the HTTP app, as Node's server would hand it on; undefined when it is none. */
  async http({ method, target, headers, body }: HttpInput): Promise<Response | undefined> {
    this.#parts.clock.nowMs += STEP_MS
    let request: Request
    try {
      request = new Request(new URL(target, `http://127.0.0.1:${PORT}`), {
        method,
        headers,
        ...(body === undefined ? {} : { body }),
      })
    } catch {
      return undefined
    }
    const incoming = { method, url: target, headers, socket: { localPort: PORT } }
    return this.#http.fetch(request, { incoming } as never)
  }

  get host(): string {
    return `127.0.0.1:${PORT}`
  }

  /** Fails when the product logged an error since the last look. */
  requireNothingLogged(where: string): void {
    const lines = this.#parts.logged.splice(0)
    if (lines.length > 0)
      throw new Fault(`${where} was logged as a defect: ${beginning(lines.join("\n"), 2_000)}`)
  }

  async close(): Promise<void> {
    await this.#closeHttp()
    for (const client of this.#clients) await client.close()
    for (const { app } of this.#parts.calls) await app.close()
  }

  /** Closes after a batch; fails unless the database is whole. */
  async end(): Promise<void> {
    await this.close()
    const { faults } = await checkHealth(this.databasePath, INTEGRITY_WAIT_MS)
    require(faults.length === 0, () => `the database is damaged: ${faults.join("; ")}`)
    this.room.discard(this.databasePath)
  }
}

/** Makes what a batch's inputs are put into from a room that is open: `run` gets it, and it is ended after the batch. */
export async function roomTarget<Input>(
  room: Room,
  seed: number,
  run: (live: LiveRoom, input: Input) => Promise<number>,
): Promise<Target<Input>> {
  const live = await room.open(seed)
  return { run: (input) => run(live, input), end: () => live.end() }
}

export interface McpReply {
  result?: unknown
  /** The message of the protocol's error. */
  error?: string
}

/** As little of a client as there can be: what it sends is not looked at before. */
class McpClient {
  readonly #transport: InMemoryTransport
  readonly #waiting = new Map<number, (reply: McpReply) => void>()
  #lastId = 0

  private constructor(transport: InMemoryTransport) {
    this.#transport = transport
    transport.onmessage = (message: JSONRPCMessage) => {
      const { id, result, error } = message as { id?: number; result?: unknown; error?: { message: string } }
      if (id === undefined) return
      this.#waiting.get(id)?.(error === undefined ? { result } : { error: error.message })
      this.#waiting.delete(id)
    }
  }

  static async connect(call: Call): Promise<McpClient> {
    const parts = {
      operations: OPERATIONS,
      resources: RESOURCES,
      instructions: "",
      version: "0.0.0",
      log: call.app.log,
    }
    const [ours, theirs] = InMemoryTransport.createLinkedPair()
    await createServer({ ...parts, call: async () => call }).connect(ours)
    const client = new McpClient(theirs)
    await theirs.start()
    const clientInfo = { name: "fuzz", version: "1.0.0" }
    await client.request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo })
    await theirs.send({ jsonrpc: "2.0", method: "notifications/initialized" })
    return client
  }

  request(method: string, params: unknown): Promise<McpReply> {
    this.#lastId += 1
    const id = this.#lastId
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, resolve)
      this.#transport.send({ jsonrpc: "2.0", id, method, params } as JSONRPCMessage).catch(reject)
    })
  }

  close(): Promise<void> {
    return this.#transport.close()
  }
}
