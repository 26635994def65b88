/**
 * `signalbox repos sync --background`: the process that a server starts to read what has changed. It says nothing but
 * what goes to the log, gives way to every other process, and ends with the process that started it.
 */

import { once } from "node:events"
import { constants, setPriority } from "node:os"
import type { Config } from "../../config/config.ts"
import { AppError } from "../../errors.ts"
import type { App } from "../../operations/app.ts"
import type { IndexerAnswer, IndexerRequest } from "../../operations/documentation/indexer.ts"
import { runIndexing } from "../../operations/documentation/indexing.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { withApp } from "../with-app.ts"

/**
 * Does what it is told by messages until nobody is there to tell it. Nothing is fetched: what a server starts by itself
 * goes to no network. Fails with `invalid` where no process has started it.
 */
export async function indexOnRequest(config: Config): Promise<void> {
  if (process.send === undefined)
    throw new AppError("invalid", "--background is for servers", { hint: `Run: ${ownCommand()} repos sync` })
  yieldToOthers()
  // Until the database is open, messages wait.
  const requests: IndexerRequest[] = []
  const keep = (request: IndexerRequest) => requests.push(request)
  process.on("message", keep)
  const disconnected = once(process, "disconnect")
  await withApp(
    // The server has told of its settings itself.
    { ...config, warnings: [] },
    async (app) => {
      const work = new Requests(app)
      process.off("message", keep)
      process.on("message", (request: IndexerRequest) => work.accept(request))
      for (const request of requests) work.accept(request)
      await disconnected
      await work.end()
    },
    { isMapped: false },
  )
}

/** The requests that are being worked on. */
class Requests {
  readonly #app: App
  readonly #running = new Map<number, { stop: AbortController; done: Promise<void> }>()

  constructor(app: App) {
    this.#app = app
  }

  accept(request: IndexerRequest): void {
    if ("stop" in request) {
      this.#running.get(request.stop)?.stop.abort()
      return
    }
    const { id } = request
    const stop = new AbortController()
    const done = this.#run(request, stop.signal).then((answer) => {
      this.#running.delete(id)
      process.send?.(answer, () => {})
    })
    this.#running.set(id, { stop, done })
  }

  async #run(
    { id, ...options }: Extract<IndexerRequest, { id: number }>,
    signal: AbortSignal,
  ): Promise<IndexerAnswer> {
    try {
      return { id, result: await runIndexing(this.#app, { ...options, signal }) }
    } catch (error) {
      // Who asked tells of it.
      return { id, failure: error instanceof AppError ? error.text : String(error) }
    }
  }

  /** Stops all, soon, and leaves everything in order. */
  async end(): Promise<void> {
    for (const { stop } of this.#running.values()) stop.abort()
    await Promise.all([...this.#running.values()].map(({ done }) => done))
  }
}

function yieldToOthers(): void {
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // Some systems let no process choose; the work is the same.
  }
}
