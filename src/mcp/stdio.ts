/**
 * The server as a process: one client on stdin and stdout. Owns its life: nothing is touched before the
 * first request that needs it, and it ends when stdin ends, on a signal, or when its parent dies.
 */

import { Console } from "node:console"
import { PassThrough } from "node:stream"
import type { Server } from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import type { Config } from "../config/config.ts"
import { serverInstructions } from "../config/instructions.ts"
import { DRAIN_MS_MAX } from "../config/limits.ts"
import type { App } from "../operations/app.ts"
import type { Call } from "../operations/caller.ts"
import { OPERATIONS } from "../operations/index.ts"
import { type Selection, selectOperations } from "../operations/selection.ts"
import { RESOURCES } from "../resources/index.ts"
import { ResourceWatch } from "../resources/watch.ts"
import { createLog } from "../runtime/log.ts"
import { packageVersion } from "../runtime/package-root.ts"
import { createServer } from "./server.ts"
import { StdioTransport } from "./stdio-transport.ts"
import { Subscriptions } from "./subscriptions.ts"

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
  let server: Server | undefined
  const subscriptions = following(call, (uri) => transport.tell(server, uri))
  const operations = selectOperations(OPERATIONS, selection)
  const parts = {
    operations,
    resources: RESOURCES,
    instructions: serverInstructions(config),
    defaults: config,
    version,
    log,
    call,
    subscriptions,
  }

  // The transport aborts what it is answering as soon as its input ends, but `echo request | signalbox`
  // deserves its answer. So the end is passed on only when all that was accepted is answered.
  const input = new PassThrough()
  const transport = new StdioTransport(input, process.stdout, subscriptions, log)
  process.stdin.pipe(input, { end: false })
  log.info("signalbox serves MCP on stdio", {
    version,
    pid: process.pid,
    database: config.databasePath,
    tools: operations.length,
  })
  const handle = serveStdio(() => (server = createServer(parts)), {
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
  await subscriptions.close()
  // An open stdin would keep the process alive, deaf, after a signal or when the parent died.
  process.stdin.destroy()
  await companion
    ?.then((started) => started.close())
    .catch((error: unknown) => log.warn("closing the listener failed", { error }))
  await opening
    ?.then((opened) => opened.app.close())
    .catch((error: unknown) => log.warn("closing failed", { error }))
}

/** Returns what the client follows, which opens the app with the first resource. */
function following(call: () => Promise<Call>, tell: (uri: string) => boolean): Subscriptions {
  let watch: ResourceWatch | undefined
  return new Subscriptions(async (uri, onEnd) => {
    const opened = await call()
    watch ??= new ResourceWatch(opened.app, RESOURCES)
    return watch.follow(opened, uri, await watch.read(opened, uri), { onUpdate: () => tell(uri), onEnd })
  })
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
