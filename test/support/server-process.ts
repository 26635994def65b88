/**
 * Real server processes for tests: the built bundle as a child process with an environment of its own,
 * spoken to in plain JSON-RPC, and the folder that such a test lives in.
 */

import { type ChildProcessByStdio, spawn } from "node:child_process"
import { join } from "node:path"
import { createInterface } from "node:readline"
import type { Readable, Writable } from "node:stream"
import { fileURLToPath } from "node:url"
import { expect, onTestFinished } from "vitest"
import { initRepository } from "./templates.ts"
import { temporaryFolder } from "./temporary-folder.ts"
import { numberAfter, textAfter } from "./world.ts"

/** What a user's client starts. */
export const BINARY = fileURLToPath(new URL("../../bin/signalbox.js", import.meta.url))

/** The folders of one test: a home, a git work tree, and where the data will lie. */
export interface Place {
  home: string
  repository: string
  dataFolder: string
  databasePath: string
  /** Has work done when all that happens here is over, the last first. */
  atEnd(work: () => Promise<void> | void): void
}

/**
 * Makes the folders of a test, which go when it ends; the data folder is not made. What several tests
 * share is made with an `atEnd` that outlives them.
 */
export function place(atEnd: Place["atEnd"] = onTestFinished): Place {
  const home = temporaryFolder(atEnd)
  const repository = join(home, "repository")
  initRepository(repository)
  const dataFolder = join(home, "share", "signalbox")
  return { home, repository, dataFolder, databasePath: join(dataFolder, "signalbox.db"), atEnd }
}

/** Returns an environment in which nothing of the surrounding shell says anything to signalbox. */
export function environment(where: Place, extra: Record<string, string> = {}): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "",
    HOME: where.home,
    XDG_DATA_HOME: join(where.home, "share"),
    XDG_CONFIG_HOME: join(where.home, "config"),
    ...extra,
  }
}

interface StartOptions {
  env?: Record<string, string>
  args?: readonly string[]
  /** A shell command that ends in `exec "$@"`, run in front of the server. */
  shell?: string
}

export interface ToolAnswer {
  text: string
  isError: boolean
}

/** What JSON-RPC answers with when a request itself is refused. */
class ProtocolFailure extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** A request that can get no answer any more, because the process has ended. */
export class ServerGone extends Error {}

interface Answer {
  id?: number
  result?: Record<string, unknown>
  error?: { code: number; message: string }
}

interface Waiting {
  resolve(result: Record<string, unknown>): void
  reject(error: Error): void
}

export interface Ending {
  code: number | null
  signal: NodeJS.Signals | null
}

/** One server process. */
export class ServerProcess {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>
  /** Every line that came on stdout. */
  readonly lines: string[] = []
  stderr = ""
  /** Resolves when the process has ended and all its output is read. */
  readonly ended: Promise<Ending>
  readonly #waiting = new Map<number, Waiting>()
  #lastId = 0

  private constructor(where: Place, options: StartOptions) {
    const command = [process.execPath, BINARY, ...(options.args ?? [])]
    const [file = "", ...args] =
      options.shell === undefined ? command : ["/bin/sh", "-c", options.shell, "sh", ...command]
    const env = environment(where, options.env)
    this.child = spawn(file, args, { cwd: where.repository, env, stdio: ["pipe", "pipe", "pipe"] })
    // A killed server may leave a write of ours without a reader.
    this.child.stdin.on("error", () => {})
    this.child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text
    })
    createInterface({ input: this.child.stdout }).on("line", (line) => this.#receive(line))
    this.ended = new Promise((resolve) => {
      this.child.once("close", (code, signal) => {
        resolve({ code, signal })
        for (const { reject } of this.#waiting.values()) reject(new ServerGone("the server has ended"))
        this.#waiting.clear()
      })
    })
  }

  /** Spawns a server that ends with its place. */
  static spawn(where: Place, options: StartOptions = {}): ServerProcess {
    const server = new ServerProcess(where, options)
    where.atEnd(async () => {
      server.child.kill("SIGKILL")
      await server.ended
    })
    return server
  }

  /** Spawns a server and shakes hands with it, which touches nothing on disk. */
  static async start(where: Place, options: StartOptions = {}): Promise<ServerProcess> {
    const server = ServerProcess.spawn(where, options)
    await server.initialize()
    return server
  }

  get pid(): number {
    expect(this.child.pid, "the server was spawned").toBeDefined()
    return this.child.pid ?? 0
  }

  async initialize(): Promise<Record<string, unknown>> {
    const result = await this.request("initialize", INITIALIZE)
    this.write(INITIALIZED)
    return result
  }

  /** Sends a request; rejects with a ProtocolFailure, or with ServerGone. */
  request(method: string, params: object = {}): Promise<Record<string, unknown>> {
    this.#lastId += 1
    const id = this.#lastId
    return new Promise((resolve, reject) => {
      if (this.child.exitCode !== null || this.child.signalCode !== null) {
        reject(new ServerGone("the server has ended"))
        return
      }
      this.#waiting.set(id, { resolve, reject })
      this.write({ jsonrpc: "2.0", id, method, params })
    })
  }

  /** Calls a tool, whatever comes of it. */
  async tool(name: string, args: object = {}): Promise<ToolAnswer> {
    const result = await this.request("tools/call", { name, arguments: args })
    const content = result.content as { text: string }[]
    return { text: content.map((part) => part.text).join("\n"), isError: result.isError === true }
  }

  /** Calls a tool that must succeed; returns its Markdown. */
  async call(name: string, args: object = {}): Promise<string> {
    const { text, isError } = await this.tool(name, args)
    expect(isError, `${name} failed: ${text}`).toBe(false)
    return text
  }

  /** Calls a tool that must fail; returns the error's text. */
  async fail(name: string, args: object = {}): Promise<string> {
    const { text, isError } = await this.tool(name, args)
    expect(isError, `${name} succeeded: ${text}`).toBe(true)
    return text
  }

  /** Registers an agent in the project "demo". */
  async register(nameHint: string): Promise<RegisteredAgent> {
    const identity = { project_key: "demo", program: "test-program", model: "test-model" }
    const text = await this.call("register-agent", { ...identity, name_hint: nameHint })
    return {
      name: textAfter(text, "Name"),
      id: numberAfter(text, "Agent id"),
      projectId: numberAfter(text, "Project id"),
      repositoryId: numberAfter(text, "Repository id"),
    }
  }

  async toolNames(): Promise<string[]> {
    const { tools } = (await this.request("tools/list")) as { tools: { name: string }[] }
    return tools.map((tool) => tool.name)
  }

  /** Writes a message, or a text as it is. */
  write(message: object | string): void {
    this.child.stdin.write(typeof message === "string" ? message : `${JSON.stringify(message)}\n`)
  }

  /** Ends the server as a client does: by closing its input. */
  async stop(): Promise<Ending> {
    this.child.stdin.end()
    return this.ended
  }

  async kill(): Promise<Ending> {
    this.child.kill("SIGKILL")
    return this.ended
  }

  #receive(line: string): void {
    this.lines.push(line)
    const answer = parse(line)
    const waiting = answer.id === undefined ? undefined : this.#waiting.get(answer.id)
    if (waiting === undefined || answer.id === undefined) return
    this.#waiting.delete(answer.id)
    if (answer.error === undefined) waiting.resolve(answer.result ?? {})
    else waiting.reject(new ProtocolFailure(answer.error.code, answer.error.message))
  }
}

export interface RegisteredAgent {
  name: string
  id: number
  projectId: number
  repositoryId: number
}

export const INITIALIZE = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "1.0.0" },
}

export const INITIALIZED = { jsonrpc: "2.0", method: "notifications/initialized" }

/** A line that is no JSON stays in `lines`, where the test that cares looks at it. */
function parse(line: string): Answer {
  try {
    return JSON.parse(line) as Answer
  } catch {
    return {}
  }
}
