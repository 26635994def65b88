/**
 * A client that speaks raw JSON-RPC with a server process over stdio: as little as possible stands
 * between the clock and the server, and the same for every server.
 */

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { once } from "node:events"

const EXIT_WAIT_MS = 5_000

interface Response {
  id: number
  result?: unknown
  error?: { message: string }
}
type Settle = { resolve: (result: unknown) => void; reject: (error: Error) => void }

export interface Launch {
  /** Arguments of `node`: the script first. */
  args: readonly string[]
  cwd: string
  env: Record<string, string>
}

export class StdioClient {
  readonly #process: ChildProcessWithoutNullStreams
  readonly #waiting = new Map<number, Settle>()
  #unread = ""
  #complaints = ""
  #nextId = 1

  constructor(launch: Launch) {
    this.#process = spawn(process.execPath, launch.args, { cwd: launch.cwd, env: launch.env })
    this.#process.stdout.setEncoding("utf8").on("data", (chunk: string) => this.#read(chunk))
    this.#process.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      this.#complaints = (this.#complaints + chunk).slice(-2_000)
    })
    this.#process.on("exit", () => this.#fail(new Error(`the server ended: ${this.#complaints}`)))
    this.#process.on("error", (error) => this.#fail(error))
    // A server that has died is noticed by its exit.
    this.#process.stdin.on("error", () => {})
  }

  /** Starts a server and shakes hands with it. */
  static async connect(launch: Launch): Promise<StdioClient> {
    const client = new StdioClient(launch)
    await client.handshake()
    return client
  }

  async handshake(): Promise<void> {
    await this.request("initialize", {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "bench", version: "1.0.0" },
    })
    this.#write({ method: "notifications/initialized" })
  }

  request(method: string, params: Record<string, unknown>): Promise<unknown> {
    const id = this.#nextId++
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#write({ id, method, params })
    })
  }

  /** Calls a tool; returns its text, and whether it reports an error. */
  async try(tool: string, args: Record<string, unknown>): Promise<{ text: string; isError: boolean }> {
    const result = (await this.request("tools/call", { name: tool, arguments: args })) as {
      content: { text: string }[]
      isError?: boolean
    }
    return { text: result.content[0]?.text ?? "", isError: result.isError === true }
  }

  /** Calls a tool that must succeed; returns its text. */
  async call(tool: string, args: Record<string, unknown>): Promise<string> {
    const { text, isError } = await this.try(tool, args)
    if (isError) throw new Error(`${tool} failed: ${text}`)
    return text
  }

  /** Ends the server as a client does that leaves, and waits until it is gone. */
  async close(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    this.#process.stdin.end()
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), EXIT_WAIT_MS)
    await once(this.#process, "exit")
    clearTimeout(timer)
  }

  #write(message: Record<string, unknown>): void {
    this.#process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  }

  #read(chunk: string): void {
    const lines = (this.#unread + chunk).split("\n")
    this.#unread = lines.pop() ?? ""
    for (const line of lines) {
      const { id, result, error } = JSON.parse(line) as Response
      const settle = this.#waiting.get(id)
      this.#waiting.delete(id)
      if (error === undefined) settle?.resolve(result)
      else settle?.reject(new Error(error.message))
    }
  }

  #fail(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}

/** Returns the number on the line `Label: number` of a result. */
export function numberAfter(text: string, label: string): number {
  const found = new RegExp(`^${label}: (\\d+)`, "m").exec(text)?.[1]
  if (found === undefined) throw new Error(`no line "${label}: ..." in:\n${text}`)
  return Number(found)
}
