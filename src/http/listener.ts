/**
 * The one listener of a database: of all server processes, the one that holds the lock listens, and the
 * others stand by and take over when it ends, however it ends. Nothing here keeps a process alive, and
 * nothing that fails here ends one.
 */

import { openProcessLock, type ProcessLock } from "../db/process-lock.ts"
import { hasHookFiles, placeHookFiles } from "../hook/files.ts"
import { LISTENER_PORTS_TRIED, PORT_MAX } from "../limits.ts"
import type { App } from "../operations/app.ts"
import { localKeyText } from "../operations/keys.ts"
import type { HttpApp } from "./app.ts"
import {
  type ListenerRecord,
  listenerPaths,
  readListenerRecord,
  removeListenerFiles,
  writeListenerFiles,
} from "./listener-files.ts"
import { HttpServer } from "./server.ts"

/** How often those that stand by ask for the lock. */
const STAND_BY_MS = 400
/** How long a process that could not listen leaves it to others. */
const FAILURE_PAUSE_MS = 10_000

export type ListenerState =
  | { is: "listening"; url: string }
  /** Another process listens; where, as far as it has said so yet. */
  | { is: "standing by"; url: string | undefined }

export interface ListenerOptions {
  app: App
  /** Makes what a listener at `url` serves; `onRefusedKey` is to be called when it refused a key. */
  makeHttp(url: string, onRefusedKey: () => void): HttpApp
  /** Told of each change of state. */
  onState?: (state: ListenerState) => void
}

export interface Listener {
  /** Stops listening or standing by; what was accepted is answered first, for a second at most. */
  close(): Promise<void>
}

/** Starts listening, or standing by. What goes wrong is logged as a warning and tried again later. */
export function startListener(options: ListenerOptions): Listener {
  const turns = new ListenerTurns(options)
  turns.next(0)
  return turns
}

class ListenerTurns implements Listener {
  readonly #options: ListenerOptions
  #lock: ProcessLock | undefined
  #server: HttpServer | undefined
  #record: ListenerRecord | undefined
  #timer: NodeJS.Timeout | undefined
  /** What is being done now; a close waits for it. */
  #turn: Promise<void> = Promise.resolve()
  #isClosed = false
  #isStandingBy = false
  #hasWarned = false

  constructor(options: ListenerOptions) {
    this.#options = options
  }

  next(delayMs: number): void {
    if (this.#isClosed) return
    this.#timer = setTimeout(() => {
      this.#turn = this.#take()
    }, delayMs)
    this.#timer.unref()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#turn
    await this.#leave()
  }

  /** Listens if nobody else does. */
  async #take(): Promise<void> {
    const { app } = this.#options
    try {
      this.#lock ??= openProcessLock(listenerPaths(app.config.databasePath).lock)
      if (this.#lock.tryTake()) await this.#listen()
      else this.#standBy()
    } catch (error) {
      if (!this.#hasWarned) app.log.warn("this process cannot listen for HTTP and goes on without", { error })
      this.#hasWarned = true
      await this.#leave().catch(() => {})
      this.next(FAILURE_PAUSE_MS)
    }
  }

  #standBy(): void {
    const { app, onState } = this.#options
    if (!this.#isStandingBy)
      onState?.({ is: "standing by", url: readListenerRecord(app.config.databasePath)?.url })
    this.#isStandingBy = true
    this.next(STAND_BY_MS)
  }

  async #listen(): Promise<void> {
    const { app, makeHttp, onState } = this.#options
    const token = await localKeyText(app)
    const makeAt = (port: number) => makeHttp(urlOf(port), () => void this.#renewToken())
    this.#server = await listenNear(app.config.port, (port) => HttpServer.listen(port, makeAt, app.log))
    const url = urlOf(this.#server.port)
    this.#record = { url, pid: process.pid, started_at: new Date(app.now()).toISOString(), token }
    writeListenerFiles(app.config.databasePath, this.#record)
    this.#isStandingBy = false
    this.#hasWarned = false
    app.log.info("signalbox listens for HTTP", { url })
    onState?.({ is: "listening", url })
    renewHook(app)
  }

  /** The local key may have been revoked, and with it the token that the files name. */
  async #renewToken(): Promise<void> {
    const { app } = this.#options
    try {
      const token = await localKeyText(app)
      if (this.#isClosed || this.#record === undefined || this.#record.token === token) return
      this.#record = { ...this.#record, token }
      writeListenerFiles(app.config.databasePath, this.#record)
    } catch (error) {
      app.log.warn("the token of the listener cannot be renewed", { error })
    }
  }

  /** Leaves the listener to others: first the port, then the files that name it, then the lock. */
  async #leave(): Promise<void> {
    const [server, record, lock] = [this.#server, this.#record, this.#lock]
    this.#server = undefined
    this.#record = undefined
    this.#lock = undefined
    try {
      await server?.close()
      if (record !== undefined) removeListenerFiles(this.#options.app.config.databasePath, process.pid)
    } finally {
      lock?.close()
    }
  }
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`
}

/** Listens on a port, or on one of the next when strangers have it, or on any. */
async function listenNear(port: number, listen: (port: number) => Promise<HttpServer>): Promise<HttpServer> {
  const last = port === 0 ? -1 : Math.min(port + LISTENER_PORTS_TRIED, PORT_MAX)
  for (let candidate = port; candidate <= last; candidate += 1) {
    try {
      return await listen(candidate)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== "EADDRINUSE" && code !== "EACCES") throw error
    }
  }
  return listen(0)
}

/** An installed hook is kept at this version: clients' settings name its place, not the package's. */
function renewHook(app: App): void {
  try {
    if (hasHookFiles(app.config.dataFolder)) placeHookFiles(app.config.dataFolder)
  } catch (error) {
    app.log.warn("the installed hook cannot be brought up to date", { error })
  }
}
