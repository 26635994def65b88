/**
 * The composition root: turns a configuration into an App, the one value through which everything else
 * reaches the database, the clock and randomness. Opening it is the first thing that touches the disk, and
 * it happens on the first request, never at process start.
 */

import { randomBytes } from "node:crypto"
import { join } from "node:path"
import type { Config } from "./config/config.ts"
import { type BuiltinEmbedder, createBuiltinEmbedder } from "./embed/builtin.ts"
import { createEmbedders } from "./embed/embedders.ts"
import { nearestClient } from "./hook/client-processes.ts"
import type { App, RunningClient } from "./operations/app.ts"
import type { Call, Caller } from "./operations/caller.ts"
import { connectAround } from "./operations/connect.ts"
import { processSession } from "./operations/coordination/sessions.ts"
import { exposedPlaces, openDatabase, privatePaths } from "./operations/database.ts"
import { Indexer } from "./operations/documentation/indexer.ts"
import { leaveProcesses, registerProcess, removeDeadProcesses } from "./operations/processes.ts"
import { createLog, type Log } from "./runtime/log.ts"
import { packageFile } from "./runtime/package-root.ts"
import { closeToOthers } from "./runtime/private-files.ts"
import { processMark } from "./runtime/process-identity.ts"
import { sqliteSearch } from "./search/sqlite.ts"
import { sqliteDocuments } from "./search/sqlite-documents.ts"
import { sqliteMemories } from "./search/sqlite-memories.ts"

/** What tests, the demo and long work set themselves. */
export interface AppOptions {
  /** Whether the database is read as memory: faster, but what is read of it counts as this process's memory. */
  isMapped?: boolean
  /** Whether others wait for the answers of this process, so that documentation is read by another one. */
  isServer?: boolean
  log?: Log
  now?: () => number
  random?: () => number
  randomBytes?: (count: number) => Uint8Array
  markOf?: (pid: number) => string | undefined
  /** The anchors of the client's processes above this one, nearest first, instead of those found. */
  clientProcesses?: readonly string[]
  /** The built-in model, for those of one process that share it. */
  builtin?: BuiltinEmbedder
}

/**
 * Opens the app of a server process, and returns it with the client that the process serves: connects the work tree
 * around the working folder and enters the process in the table of live servers. Fails with `unavailable` when the database cannot be used.
 */
export async function openApp(config: Config, options: AppOptions = {}): Promise<Call> {
  const app = await openAppAlone(config, options)
  try {
    await removeDeadProcesses(app)
    const session = processSession(app)
    const processId = await registerProcess(app, session, app.client().anchors)
    const { workingFolder: folder } = config
    const homeRepository = await connectAround(app.db, folder, app.now())
    const close = async () => {
      await leaveProcesses(app, processId)
      await app.close()
    }
    const caller: Caller = { surface: "stdio", key: "settings", session, folder, homeRepository }
    return { app: { ...app, close }, caller }
  } catch (error) {
    await app.close()
    throw error
  }
}

/** Opens the app of a command, which looks at the database and does no background work. */
export async function openAppAlone(config: Config, options: AppOptions = {}): Promise<App> {
  const log = options.log ?? createLog(config.logLevel)
  for (const warning of config.warnings) log.warn(warning)
  const db = await openDatabase(config.databasePath, options)
  // A copy, a restored backup or an odd umask may have left open what was made private.
  for (const path of closeToOthers(privatePaths(config)))
    log.warn(`${path} is open to other users of this machine, and is not ours to close`)
  for (const path of exposedPlaces(config)) log.warn(`other users of this machine may write to ${path}`)
  const embedders = createEmbedders({
    builtin: options.builtin ?? createBuiltinEmbedder(packageFile("model")),
    modelsFolder: join(config.dataFolder, "models"),
    log,
  })
  const indexer = options.isServer === true ? new Indexer(config.databasePath) : undefined
  const markOf = options.markOf ?? processMark
  const ownMark = markOf(process.pid) ?? "unknown"
  const processName = `${process.pid}:${ownMark}`
  let client: RunningClient | undefined
  return {
    config,
    db,
    search: sqliteSearch,
    memories: sqliteMemories,
    documents: sqliteDocuments,
    embedders,
    indexer,
    log,
    now: options.now ?? Date.now,
    random: options.random ?? Math.random,
    randomBytes: options.randomBytes ?? randomBytes,
    processName,
    client() {
      client ??= runningClient(config, options)
      return client
    },
    processMark: ownMark,
    markOf,
    async close() {
      await indexer?.close()
      await embedders.close()
      await db.close()
    },
  }
}

function runningClient({ inheritedSessions }: Config, { clientProcesses }: AppOptions): RunningClient {
  if (clientProcesses === undefined) return nearestClient(process.ppid, inheritedSessions)
  return { anchors: clientProcesses, agentAnchors: clientProcesses, session: inheritedSessions[0]?.id }
}
