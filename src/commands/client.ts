/**
 * A client of our own server for the commands that show it at work: a real server process on a pipe,
 * spoken to in plain JSON-RPC, so that what they print is what a coding agent would get.
 */

import { type ChildProcessByStdio, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import type { Readable, Writable } from "node:stream"
import { packageFile, packageVersion } from "../runtime/package-root.ts"

interface Answer {
  id?: number
  result?: Record<string, unknown>
  error?: { message: string }
}

interface ToolAnswer {
  text: string
  isError: boolean
}

export class ServerClient {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>
  readonly #waiting = new Map<
    number,
    { resolve(answer: Record<string, unknown>): void; reject(error: Error): void }
  >()
  #lastId = 0

  private constructor(environment: Record<string, string | undefined>, folder: string) {
    this.#child = spawn(process.execPath, [packageFile("bin/signalbox.js")], {
      stdio: ["pipe", "pipe", "inherit"],
      // What it logs in passing has no place between what is shown here.
      env: { SIGNALBOX_LOG: "warn", ...process.env, ...environment },
      cwd: folder,
    })
    createInterface({ input: this.#child.stdout }).on("line", (line) =>
      this.#settle(JSON.parse(line) as Answer),
    )
    this.#child.once("exit", (code) => {
      for (const { reject } of this.#waiting.values())
        reject(new Error(`the server ended with exit code ${code}`))
    })
  }

  /** Starts a server process in a folder, with variables set or, where undefined, taken out of the environment, and shakes hands with it. */
  static async start(environment: Record<string, string | undefined>, folder: string): Promise<ServerClient> {
    const client = new ServerClient(environment, folder)
    await client.request("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "signalbox", version: packageVersion() },
    })
    client.#send({ jsonrpc: "2.0", method: "notifications/initialized" })
    return client
  }

  request(method: string, params: object = {}): Promise<Record<string, unknown>> {
    this.#lastId += 1
    const id = this.#lastId
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#send({ jsonrpc: "2.0", id, method, params })
    })
  }

  /** Calls a tool and returns its text. */
  async call(name: string, args: object): Promise<ToolAnswer> {
    const result = (await this.request("tools/call", { name, arguments: args })) as {
      content: { text: string }[]
      isError?: boolean
    }
    return { text: result.content.map((part) => part.text).join("\n"), isError: result.isError === true }
  }

  /** Ends the server as a client does: by closing its input. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exited = new Promise((resolve) => this.#child.once("exit", resolve))
    this.#child.stdin.end()
    await exited
  }

  #send(message: object): void {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`)
  }

  #settle(answer: Answer): void {
    const waiting = answer.id === undefined ? undefined : this.#waiting.get(answer.id)
    if (waiting === undefined || answer.id === undefined) return
    this.#waiting.delete(answer.id)
    if (answer.error === undefined) waiting.resolve(answer.result ?? {})
    else waiting.reject(new Error(answer.error.message))
  }
}
