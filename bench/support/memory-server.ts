/** The real server of memories over HTTP, `signalbox serve`, with a client whose connection is kept. */

import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { MemoryClient } from "./memory-client.ts"
import type { Creates, CreatesDone } from "./memory-creates.ts"
import { ServeProcess } from "./serve-process.ts"
import type { Launch } from "./stdio-client.ts"

const CREATES_SCRIPT = join(import.meta.dirname, "memory-creates.ts")
const CHECKOUT = join(import.meta.dirname, "..", "..")

export class MemoryServer {
  readonly client: MemoryClient
  readonly #process: ServeProcess
  readonly #repositoryId: number

  private constructor(process: ServeProcess, repositoryId: number) {
    this.#process = process
    this.#repositoryId = repositoryId
    this.client = new MemoryClient({ url: process.record.url, token: process.key }, repositoryId)
  }

  /** Starts the server on a database and waits until it listens. */
  static async start(launch: Launch, databasePath: string, repositoryId: number): Promise<MemoryServer> {
    return new MemoryServer(await ServeProcess.start(launch, databasePath), repositoryId)
  }

  /** Has several clients in a process of their own create memories, one after the other each. */
  async create(clients: number, perClient: number, fromIndex: number): Promise<CreatesDone> {
    const { record, key: token } = this.#process
    const wanted: Creates = {
      url: record.url,
      token,
      repositoryId: this.#repositoryId,
      clients,
      perClient,
      fromIndex,
    }
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
    await this.#process.close()
  }
}
