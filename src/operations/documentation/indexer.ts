/**
 * Indexing in a process of its own: a server answers hooks and tools on its one thread, so it never reads a document
 * there. The process is started when it is first wanted, kept for what comes next, and ended when nothing does.
 */

import { type ChildProcess, fork } from "node:child_process"
import { INDEXING_IDLE_MS_MAX, INDEXING_MEMORY_MB_MAX, INDEXING_STOP_MS_MAX } from "../../config/limits.ts"
import { AppError } from "../../errors.ts"
import { packageFile } from "../../runtime/package-root.ts"

/** What of documentation is to be brought up to date. */
export interface IndexingWanted {
  /** Only these repositories; all whose documentation is searched unless given. */
  repositoryIds?: readonly number[]
  /** Only these branches of them; all that are searched unless given. */
  branches?: readonly string[]
  /** Ends the work soon after this time of the process's clock, leaving everything in order. */
  untilMs?: number
}

/** What came of it: another process is at it, it was stopped, or all is done. */
export type IndexingResult = "busy" | "stopped" | "done"

/** What the process is told: to do something, or to end that soon. */
export type IndexerRequest = { id: number; repositoryIds?: number[]; branches?: string[] } | { stop: number }

/** What it answers: what came of it, or why it failed. */
export type IndexerAnswer = { id: number } & ({ result: IndexingResult } | { failure: string })

interface Pending {
  resolve(result: IndexingResult): void
  reject(error: Error): void
}

/** The server's side of the process; it keeps no server alive. */
export class Indexer {
  readonly #databasePath: string
  readonly #pending = new Map<number, Pending>()
  #child: ChildProcess | undefined
  #idle: NodeJS.Timeout | undefined
  #lastId = 0

  constructor(databasePath: string) {
    this.#databasePath = databasePath
  }

  /** Does what `runIndexing` does. Fails with `unavailable` when the process cannot be started, fails or dies. */
  async run({ repositoryIds, branches, untilMs }: IndexingWanted = {}): Promise<IndexingResult> {
    clearTimeout(this.#idle)
    this.#child ??= this.#start()
    const child = this.#child
    const id = ++this.#lastId
    const timers: NodeJS.Timeout[] = []
    try {
      return await new Promise<IndexingResult>((resolve, reject) => {
        this.#pending.set(id, { resolve, reject })
        tell(child, {
          id,
          ...(repositoryIds === undefined ? {} : { repositoryIds: [...repositoryIds] }),
          ...(branches === undefined ? {} : { branches: [...branches] }),
        })
        if (untilMs === undefined) return
        const leftMs = Math.max(0, untilMs - performance.now())
        timers.push(setTimeout(() => tell(child, { stop: id }), leftMs))
        // Whoever asked does not wait for a process that is in the middle of something.
        timers.push(setTimeout(resolve, leftMs + INDEXING_STOP_MS_MAX, "stopped"))
      })
    } finally {
      for (const timer of timers) clearTimeout(timer)
      this.#pending.delete(id)
      if (this.#pending.size === 0) this.#rest()
    }
  }

  /** The id of the process; undefined while there is none. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Ends the process, which loses nothing. */
  async close(): Promise<void> {
    clearTimeout(this.#idle)
    const child = this.#child
    if (child === undefined) return
    await new Promise<void>((resolve) => {
      child.once("exit", () => resolve())
      // Until it has ended; nothing else may be left that keeps this process waiting.
      child.ref()
      if (!child.kill("SIGTERM")) resolve()
    })
  }

  #start(): ChildProcess {
    const args = ["repos", "sync", "--background", "--db", this.#databasePath]
    const child = fork(packageFile("bin/signalbox.js"), args, {
      execArgv: [`--max-old-space-size=${INDEXING_MEMORY_MB_MAX}`],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      env: { ...process.env, SIGNALBOX_DB: this.#databasePath, SIGNALBOX_API_KEY: undefined },
      cwd: "/",
    })
    // Neither the process nor the way to it keeps this one alive.
    child.unref()
    child.channel?.unref()
    child.on("message", (answer: IndexerAnswer) => {
      const pending = this.#pending.get(answer.id)
      if ("result" in answer) pending?.resolve(answer.result)
      else pending?.reject(failure(`failed: ${answer.failure}`))
    })
    child.on("error", (error) => this.#lose(child, error.message))
    child.on("exit", (code, signal) => this.#lose(child, signal ?? `code ${code}`))
    return child
  }

  #lose(child: ChildProcess, how: string): void {
    if (this.#child !== child) return
    this.#child = undefined
    for (const { reject } of this.#pending.values()) reject(failure(`ended with ${how}`))
  }

  #rest(): void {
    const child = this.#child
    this.#idle = setTimeout(() => {
      if (this.#child === child) this.#child = undefined
      if (child?.connected === true) child.disconnect()
    }, INDEXING_IDLE_MS_MAX).unref()
  }
}

function tell(child: ChildProcess, request: IndexerRequest): void {
  // A process that is gone says so by its end.
  child.send(request, () => {})
}

function failure(how: string): AppError {
  return new AppError("unavailable", `the process that reads documentation ${how}`, {
    hint: "What was read before is searched.",
  })
}
