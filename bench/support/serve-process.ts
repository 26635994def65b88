/** The real server over HTTP, `signalbox serve`, as a process of its own. */

import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { setTimeout as wait } from "node:timers/promises"
import { type ListenerRecord, readListenerRecord } from "../../src/http/listener-files.ts"
import type { Launch } from "./stdio-client.ts"

const POLL_INTERVAL_MS = 20
const START_MS_MAX = 30_000

export class ServeProcess {
  readonly record: ListenerRecord
  /** The local key: the token of the record opens the hook alone. */
  readonly key: string
  readonly #process: ChildProcess

  private constructor(child: ChildProcess, record: ListenerRecord, key: string) {
    this.#process = child
    this.record = record
    this.key = key
  }

  /** Starts the server on a database and waits until it listens. */
  static async start(launch: Launch, databasePath: string): Promise<ServeProcess> {
    const args = [...launch.args, "serve", "--port", "0"]
    const stdio = ["ignore", "ignore", "inherit"] as ["ignore", "ignore", "inherit"]
    const child = spawn(process.execPath, args, { cwd: launch.cwd, env: launch.env, stdio })
    const deadlineMs = performance.now() + START_MS_MAX
    while (performance.now() < deadlineMs && child.exitCode === null) {
      const record = readListenerRecord(databasePath)
      if (record !== undefined && record.pid === child.pid) {
        const key = readFileSync(databasePath.replace(/\.db$/, ".key"), "utf8").trim()
        return new ServeProcess(child, record, key)
      }
      await wait(POLL_INTERVAL_MS)
    }
    child.kill("SIGKILL")
    throw new Error("signalbox serve does not listen")
  }

  async close(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    const ended = once(this.#process, "exit")
    this.#process.kill("SIGTERM")
    await ended
  }
}
