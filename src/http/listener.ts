/**
 * The one listener of a database: of all server processes, the one that holds the lock listens, and the
 * others stand by and take over when it ends, however it ends. Nothing here keeps a process alive, and
 * nothing that fails here ends one.
 */

import { existsSync } from "node:fs"
import { LISTENER_PORTS_TRIED, PORT_MAX } from "../config/limits.ts"
import { openProcessLock, type ProcessLock } from "../db/process-lock.ts"
import { hasHookFiles, placeHookFiles } from "../hook/files.ts"
import type { App } from "../operations/app.ts"
import { localKeyText } from "../operations/keys.ts"
import { launcherPath, placeLauncher } from "../runtime/launcher.ts"
import { isBroughtByProject } from "../runtime/trusted-path.ts"
import type { HttpApp } from "./app.ts"
import { type HookPass, makeHookPass } from "./hook-pass.ts"
import {
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

/** What a listener at `url` goes by. */
export interface Served {
  url: string
  hookPass: HookPass
  /** To be called when it refused a key. */
  onRefusedKey(): void
}

interface ListenerOptions {
  app: App
  /** Makes what a listener serves. */
  makeHttp(served: Served): HttpApp
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
  #hasWritten = false
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

  /** Listens if no other process does. */
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
    // Commands read its text from its file, which is made anew when it was lost.
    await localKeyText(app)
    const hookPass = makeHookPass(app.randomBytes)
    const onRefusedKey = () => void this.#renewLocalKey()
    const makeAt = (port: number) => makeHttp({ url: urlOf(port), hookPass, onRefusedKey })
    this.#server = await listenNear(app.config.port, (port) => HttpServer.listen(port, makeAt, app.log))
    const url = urlOf(this.#server.port)
    const record = { url, pid: process.pid, started_at: new Date(app.now()).toISOString() }
    this.#hasWritten = true
    writeListenerFiles(app.config.databasePath, record, hookPass)
    this.#isStandingBy = false
    this.#hasWarned = false
    app.log.info("signalbox listens for HTTP", { url })
    onState?.({ is: "listening", url })
    renewInstalled(app)
  }

  /** The local key may have been revoked, and with it the text in its file. */
  async #renewLocalKey(): Promise<void> {
    const { app } = this.#options
    try {
      if (!this.#isClosed) await localKeyText(app)
    } catch (error) {
      app.log.warn("the local key cannot be renewed", { error })
    }
  }

  /** Leaves the listener to others: first the port, then the files that name it, then the lock. */
  async #leave(): Promise<void> {
    const [server, hasWritten, lock] = [this.#server, this.#hasWritten, this.#lock]
    this.#server = undefined
    this.#hasWritten = false
    this.#lock = undefined
    try {
      await server?.close()
      if (hasWritten) removeListenerFiles(this.#options.app.config.databasePath, process.pid)
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

/**
 * An installed hook and launcher are kept at this version: clients' settings name their places, not the package's. A
 * package that the project around us brings along is left out, or that project's program would serve all others.
 */
function renewInstalled(app: App): void {
  const { dataFolder, workingFolder } = app.config
  if (isBroughtByProject(workingFolder)) return
  try {
    const isHooked = hasHookFiles(dataFolder)
    if (isHooked) placeHookFiles(dataFolder)
    if (isHooked || existsSync(launcherPath(dataFolder))) placeLauncher(dataFolder)
  } catch (error) {
    app.log.warn("the installed hook and launcher cannot be brought up to date", { error })
  }
}
