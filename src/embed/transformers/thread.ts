/**
 * The main thread's side of the thread that runs a model: starts it when it is first wanted, passes requests
 * on, and lets none wait for ever when it dies. The thread's own output never reaches ours.
 */

import { stat } from "node:fs/promises"
import { join } from "node:path"
import { Worker } from "node:worker_threads"
import { AppError } from "../../errors.ts"
import type { Log } from "../../runtime/log.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { packageFile } from "../../runtime/package-root.ts"
import type { ModelManifest } from "../models/manifest.ts"
import { ignoreMissing } from "../models/store.ts"
import type { EmbedAnswer, EmbedRequest, WorkerMessage, WorkerSettings } from "./messages.ts"

export interface ThreadOptions {
  modelFolder: string
  manifest: ModelManifest
  log?: Log | undefined
  /** The thread and its memory are given back after this time without a request. */
  idleMs?: number | undefined
}

const IDLE_MS = 10 * 60_000
/** Threads that died or could not load the model, one after the other, before no further one is started. */
const RETRY_AFTER_MS = 60_000
const FAILURES_MAX = 3

interface Pending {
  resolve: (vectors: Float32Array[][]) => void
  reject: (error: Error) => void
}

/** A model in a thread of its own. It keeps the process alive while an answer is awaited, and never else. */
export class ModelThread {
  readonly #options: ThreadOptions
  readonly #pending = new Map<number, Pending>()
  #worker: Worker | undefined
  #idle: NodeJS.Timeout | undefined
  #lastId = 0
  #failures = 0
  #lastFailure: Error | undefined
  #lastFailureMs = 0
  #isClosed = false

  constructor(options: ThreadOptions) {
    this.#options = options
  }

  /**
   * Returns for each text the vectors of its windows; a query has one at most. Throws AppError `unavailable`
   * when the files are damaged, the model cannot be loaded or the thread died, `invalid` when it failed at one
   * of the texts. The next call starts a new thread; after three failures in a row one a minute does.
   */
  async embed(kind: EmbedRequest["kind"], texts: readonly string[]): Promise<Float32Array[][]> {
    if (texts.length === 0) return []
    if (this.#worker === undefined) await this.#requireFiles()
    if (this.#isClosed) throw this.#error("is not used any more")
    if (this.#failures >= FAILURES_MAX && this.#lastFailure !== undefined) {
      if (performance.now() - this.#lastFailureMs < RETRY_AFTER_MS) throw this.#lastFailure
      this.#failures = 0
    }
    const worker = this.#start()
    const id = ++this.#lastId
    return await new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject })
      clearTimeout(this.#idle)
      worker.ref()
      worker.postMessage({ id, kind, texts } satisfies EmbedRequest)
    })
  }

  /** Ends the thread; what is awaited fails. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#stop(this.#error("was closed while it was at work"))
  }

  /** Whether there is a thread now. */
  get isRunning(): boolean {
    return this.#worker !== undefined
  }

  /** How often in a row the model could not be loaded or its thread died. */
  get failures(): number {
    return this.#failures
  }

  /** Ends the thread as if it had died, for tests. */
  async kill(): Promise<void> {
    await this.#worker?.terminate()
  }

  #start(): Worker {
    if (this.#worker !== undefined) return this.#worker
    const { modelFolder, manifest } = this.#options
    const { dtype, pooling, prompts, piecesMax } = manifest
    const workerData: WorkerSettings = { modelFolder, dtype, pooling, prompts, piecesMax }
    // Always the built file: from source too, since a thread needs JavaScript and the WebAssembly beside it.
    // Its stdout is not ours, which belongs to the protocol, and is not read, which would keep us alive.
    const worker = new Worker(packageFile("dist/transformers-worker.js"), {
      name: "embedding",
      workerData,
      execArgv: [],
      stdout: true,
      stderr: true,
    })
    let reason = "it ended by itself"
    worker.on("message", (message: WorkerMessage) => this.#receive(message))
    worker.on("error", (error) => {
      reason = error.message
    })
    worker.on("exit", () => {
      // A thread that was ended on purpose is not ours any more.
      if (this.#worker !== worker) return
      this.#worker = undefined
      this.#fail(this.#error(`cannot go on, because its thread died: ${reason}`))
    })
    worker.unref()
    this.#worker = worker
    return worker
  }

  #receive(message: WorkerMessage): void {
    if ("printed" in message) {
      this.#options.log?.debug("the runtime of the model says", { text: message.printed })
      return
    }
    const pending = this.#pending.get(message.id)
    this.#pending.delete(message.id)
    if (this.#pending.size === 0) this.#rest()
    if ("vectors" in message) {
      this.#failures = 0
      pending?.resolve(split(message))
      return
    }
    if (message.isLoading) this.#failures++
    if (!message.isLoading) {
      // The sender of the text may go on with others.
      const { id } = this.#options.manifest
      pending?.reject(new AppError("invalid", `the model '${id}' failed at a text: ${message.message}`))
      return
    }
    this.#lastFailure = this.#error(`cannot be loaded: ${message.message}`)
    this.#lastFailureMs = performance.now()
    pending?.reject(this.#lastFailure)
  }

  /** Nothing is awaited any more. */
  #rest(): void {
    this.#worker?.unref()
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => void this.#stop(), this.#options.idleMs ?? IDLE_MS)
    this.#idle.unref()
  }

  async #stop(error?: Error): Promise<void> {
    clearTimeout(this.#idle)
    const worker = this.#worker
    this.#worker = undefined
    if (error !== undefined) this.#rejectAll(error)
    await worker?.terminate()
  }

  #fail(error: Error): void {
    clearTimeout(this.#idle)
    this.#failures++
    this.#lastFailure = error
    this.#lastFailureMs = performance.now()
    this.#options.log?.warn("the thread of an embedding model died", { error })
    this.#rejectAll(error)
  }

  #rejectAll(error: Error): void {
    const pending = [...this.#pending.values()]
    this.#pending.clear()
    for (const { reject } of pending) reject(error)
  }

  /** The runtime's own words for a file that is missing or cut short help no reader. */
  async #requireFiles(): Promise<void> {
    const { modelFolder, manifest } = this.#options
    for (const { path, bytes } of manifest.files) {
      const found = await stat(join(modelFolder, path)).catch(ignoreMissing)
      if (found?.size === bytes) continue
      throw this.#error(
        found === null ? `is damaged: ${path} is missing` : `is damaged: ${path} is not whole`,
      )
    }
  }

  #error(what: string): AppError {
    const { id } = this.#options.manifest
    return new AppError("unavailable", `the model '${id}' ${what}`, {
      hint: `\`${ownCommand()} model use\` checks its files, or brings a model in again.`,
    })
  }
}

function split({ windows, dimensions, vectors }: EmbedAnswer): Float32Array[][] {
  let at = 0
  return windows.map((count) =>
    Array.from({ length: count }, () => vectors.slice(at * dimensions, ++at * dimensions)),
  )
}
