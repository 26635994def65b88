/** The real server of memories over HTTP, `signalbox serve`, with a client whose connection is kept. */

import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { Agent, type IncomingMessage, request } from "node:http"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { type ListenerRecord, readListenerRecord } from "../../src/http/listener-files.ts"
import type { Creates, CreatesDone } from "./memory-creates.ts"
import type { Launch } from "./stdio-client.ts"

const CREATES_SCRIPT = join(import.meta.dirname, "memory-creates.ts")
const CHECKOUT = join(import.meta.dirname, "..", "..")
const LOOK_EVERY_MS = 20
const START_MS_MAX = 30_000

/** One client's kept connection to the memory API. */
export class MemoryClient {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #base: string
  readonly #headers: Record<string, string>

  constructor({ url, token }: Pick<ListenerRecord, "url" | "token">, repositoryId: number) {
    this.#base = `${url}/api/v1/memories`
    this.#headers = {
      Authorization: `Bearer ${token}`,
      "Content-Type": "application/json",
      "X-Tenant-ID": String(repositoryId),
    }
  }

  /** Sends a request below the memories and reads the whole answer; fails unless it is a success. */
  async ask<Answer>(method: string, path: string, body?: object): Promise<Answer> {
    const asked = request(`${this.#base}${path}`, { method, headers: this.#headers, agent: this.#agent })
    asked.end(body === undefined ? undefined : JSON.stringify(body))
    const [response] = (await once(asked, "response")) as [IncomingMessage]
    let text = ""
    for await (const part of response.setEncoding("utf8")) text += part
    const status = response.statusCode ?? 0
    if (status < 200 || status > 299) throw new Error(`${method} ${path}: ${status} ${text}`)
    return JSON.parse(text) as Answer
  }

  close(): void {
    this.#agent.destroy()
  }
}

export class MemoryServer {
  readonly client: MemoryClient
  readonly #process: ChildProcess
  readonly #record: ListenerRecord
  readonly #repositoryId: number

  private constructor(child: ChildProcess, record: ListenerRecord, repositoryId: number) {
    this.#process = child
    this.#record = record
    this.#repositoryId = repositoryId
    this.client = new MemoryClient(record, repositoryId)
  }

  /** Starts the server on a database and waits until it listens. */
  static async start(launch: Launch, databasePath: string, repositoryId: number): Promise<MemoryServer> {
    const args = [...launch.args, "serve", "--port", "0"]
    const stdio = ["ignore", "ignore", "inherit"] as ["ignore", "ignore", "inherit"]
    const child = spawn(process.execPath, args, { cwd: launch.cwd, env: launch.env, stdio })
    const deadlineMs = performance.now() + START_MS_MAX
    while (performance.now() < deadlineMs && child.exitCode === null) {
      const record = readListenerRecord(databasePath)
      if (record !== undefined && record.pid === child.pid)
        return new MemoryServer(child, record, repositoryId)
      await wait(LOOK_EVERY_MS)
    }
    child.kill("SIGKILL")
    throw new Error("signalbox serve does not listen")
  }

  /** Has several clients in a process of their own create memories, one after the other each. */
  async create(clients: number, perClient: number, fromIndex: number): Promise<CreatesDone> {
    const { url, token } = this.#record
    const wanted: Creates = { url, token, repositoryId: this.#repositoryId, clients, perClient, fromIndex }
    const args = ["--import", "tsx", CREATES_SCRIPT, JSON.stringify(wanted)]
    const child = spawn(process.execPath, args, { cwd: CHECKOUT, stdio: ["ignore", "pipe", "inherit"] })
    let text = ""
    child.stdout.setEncoding("utf8").on("data", (part: string) => {
      text += part
    })
    const [code] = (await once(child, "close")) as [number | null]
    if (code !== 0) throw new Error(`the clients ended with ${code}`)
    return JSON.parse(text) as CreatesDone
  }

  async close(): Promise<void> {
    this.client.close()
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    const ended = once(this.#process, "exit")
    this.#process.kill("SIGTERM")
    await ended
  }
}
