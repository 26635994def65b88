/**
 * The server as a process: one client on stdin and stdout. Owns its life: nothing is touched before the
 * first request that needs it, and it ends when stdin ends, on a signal, or when its parent dies.
 */

import { Console } from "node:console"
import { PassThrough } from "node:stream"
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio"
import type { Config } from "../config/config.ts"
import { serverInstructions } from "../config/instructions.ts"
import { DRAIN_MS_MAX } from "../config/limits.ts"
import type { App } from "../operations/app.ts"
import type { Call } from "../operations/caller.ts"
import { OPERATIONS } from "../operations/index.ts"
import { type Selection, selectOperations } from "../operations/selection.ts"
import { RESOURCES } from "../resources/index.ts"
import { createLog } from "../runtime/log.ts"
import { packageVersion } from "../runtime/package-root.ts"
import { createServer } from "./server.ts"

const PARENT_CHECK_MS = 1_000

/** Starts what else a server process does beside its client, once the app is open. */
type StartCompanion = (app: App) => Promise<{ close(): Promise<void> }>

/**
 * Serves MCP on stdin and stdout until the client is gone; resolves when everything is closed. The
 * companion is started by the first request that opens the app, and ends before it closes.
 */
export async function runStdioServer(
  config: Config,
  selection: Selection,
  startCompanion?: StartCompanion,
): Promise<void> {
  // stdout is the protocol's: what a library says in passing must not break it.
  globalThis.console = new Console(process.stderr)
  const log = createLog(config.logLevel)
  const version = packageVersion()
  let opening: Promise<Call> | undefined
  const call = () => {
    opening ??= openLazily().catch((error: unknown) => {
      // The next request tries again: a full disk or a busy file may be better by then.
      opening = undefined
      throw error
    })
    return opening
  }
  let companion: ReturnType<StartCompanion> | undefined
  const openLazily = async () => {
    const opened = await (await import("../app.ts")).openApp(config, { log, isServer: true })
    companion ??= startCompanion?.(opened.app)
    companion?.catch((error: unknown) => log.warn("the listener cannot be started", { error }))
    return opened
  }
  const operations = selectOperations(OPERATIONS, selection)
  const parts = {
    operations,
    resources: RESOURCES,
    instructions: serverInstructions(config),
    defaults: config,
    version,
    log,
    call,
  }

  // The transport aborts what it is answering as soon as its input ends, but `echo request | signalbox`
  // deserves its answer. So the end is passed on only when all that was accepted is answered.
  const input = new PassThrough()
  const transport = new CountingTransport(input, process.stdout)
  process.stdin.pipe(input, { end: false })
  log.info("signalbox serves MCP on stdio", {
    version,
    pid: process.pid,
    database: config.databasePath,
    tools: operations.length,
  })
  const handle = serveStdio(() => createServer(parts), {
    transport,
    // A schema's own account of a malformed message is a page long and says no more than this.
    onerror: ({ name, message }) =>
      log.warn("protocol error", { reason: name === "ZodError" ? "a line is no MCP message" : message }),
  })

  const reason = await endOfClient()
  log.info("signalbox ends", { reason })
  // A process that holds the database must not hold this one: what is left of it, others clean up.
  setTimeout(() => process.exit(), 2 * DRAIN_MS_MAX).unref()
  if (reason === "stdin ended") await transport.drained(DRAIN_MS_MAX)
  await handle.close()
  // An open stdin would keep the process alive, deaf, after a signal or when the parent died.
  process.stdin.destroy()
  await companion
    ?.then((started) => started.close())
    .catch((error: unknown) => log.warn("closing the listener failed", { error }))
  await opening
    ?.then((opened) => opened.app.close())
    .catch((error: unknown) => log.warn("closing failed", { error }))
}

/** Resolves when there is no client left to serve. */
function endOfClient(): Promise<string> {
  const parent = process.ppid
  return new Promise((resolve) => {
    for (const event of ["end", "close"] as const) process.stdin.once(event, () => resolve("stdin ended"))
    process.stdin.once("error", () => resolve("stdin failed"))
    process.stdout.once("error", () => resolve("stdout failed"))
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(signal, () => resolve(signal))
    // A client that is killed may leave the pipe open in a child of its own.
    setInterval(() => process.ppid !== parent && resolve("parent died"), PARENT_CHECK_MS).unref()
  })
}

/** A stdio transport that knows how many requests it has not answered yet. */
class CountingTransport extends StdioServerTransport {
  readonly #unanswered = new Set<string | number>()
  #whenDrained: (() => void) | undefined

  override async start(): Promise<void> {
    const receive = this.onmessage
    this.onmessage = (message) => {
      if ("method" in message && "id" in message) this.#unanswered.add(message.id)
      receive?.(message)
    }
    await super.start()
  }

  override async send(message: Parameters<StdioServerTransport["send"]>[0]): Promise<void> {
    await super.send(message)
    if ("id" in message && message.id !== undefined && !("method" in message)) {
      this.#unanswered.delete(message.id)
      if (this.#unanswered.size === 0) this.#whenDrained?.()
    }
  }

  /** Resolves when every accepted request is answered, or after `waitMs`. */
  async drained(waitMs: number): Promise<void> {
    // What arrived together with the end has still to pass through the pipe.
    await new Promise((resolve) => setImmediate(resolve))
    if (this.#unanswered.size === 0) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, waitMs)
      this.#whenDrained = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
