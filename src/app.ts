/**
 * The composition root: turns a configuration into an App, the one value through which everything else
 * reaches the database, the clock and chance. Opening it is the first thing that touches the disk, and
 * it happens on the first request, never at process start.
 */

import { randomBytes } from "node:crypto"
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Config } from "./config.ts"
import type { Database } from "./db/database.ts"
import { prepareSchema, requireUsable } from "./db/migrate.ts"
import { MIGRATIONS, SCHEMA_VERSION } from "./db/migrations.ts"
import { openSqlite } from "./db/sqlite.ts"
import { BUILTIN_SOURCE } from "./domain/embedding.ts"
import { BUILTIN_MODEL } from "./embed/builtin.ts"
import { createEmbedders } from "./embed/embedders.ts"
import { AppError } from "./errors.ts"
import { ALL_PROCESS_NAMES } from "./hook/clients.ts"
import { createLog, type Log } from "./log.ts"
import type { App } from "./operations/app.ts"
import { connectWorkTree } from "./operations/connect.ts"
import { joinProcesses, removeDeadProcesses } from "./operations/processes.ts"
import { packageFile } from "./package-root.ts"
import { clientProcessesAbove } from "./process-ancestry.ts"
import { processMark } from "./process-identity.ts"
import { searchSchema, sqliteSearch } from "./search/sqlite.ts"
import { documentSearchSchema, sqliteDocuments } from "./search/sqlite-documents.ts"
import { memorySearchSchema, sqliteMemories } from "./search/sqlite-memories.ts"
import { modelSchema } from "./store/embeddings.ts"
import { removeProcess } from "./store/processes.ts"

/** What tests, the demo and long work set themselves. */
export interface AppOptions {
  /** Whether the database is read as memory: faster, but what is read of it counts as this process's memory. */
  isMapped?: boolean
  log?: Log
  now?: () => number
  random?: () => number
  randomBytes?: (count: number) => Uint8Array
  markOf?: (pid: number) => string | undefined
  /** The client's processes above this one, nearest first, as `clientProcessesAbove` finds them. */
  clientProcesses?: readonly string[]
}

/**
 * Opens the app of a server process: connects the work tree around the working folder and enters the
 * process in the table of live servers. Fails with `unavailable` when the database cannot be used.
 */
export async function openApp(config: Config, options: AppOptions = {}): Promise<App> {
  const app = await openAppAlone(config, options)
  try {
    await removeDeadProcesses(app.db, app.markOf)
    const above = options.clientProcesses ?? clientProcessesAbove(process.ppid, ALL_PROCESS_NAMES)
    const processId = await joinProcesses(app, above)
    const homeRepository = await connectWorkTree(app.db, config.workingFolder, app.now())
    const close = async () => {
      await removeProcess(app.db, processId)
      await app.close()
    }
    return { ...app, homeRepository, close }
  } catch (error) {
    await app.close()
    throw error
  }
}

/** Opens the app of a command, which looks at the database and joins nobody. */
export async function openAppAlone(config: Config, options: AppOptions = {}): Promise<App> {
  const log = options.log ?? createLog(config.logLevel)
  for (const warning of config.warnings) log.warn(warning)
  const db = await openDatabase(config.databasePath, options)
  const embedders = createEmbedders({
    builtinFolder: packageFile("model"),
    modelsFolder: join(config.dataFolder, "models"),
    log,
  })
  const markOf = options.markOf ?? processMark
  const ownMark = markOf(process.pid) ?? "unknown"
  const processName = `${process.pid}:${ownMark}`
  return {
    config,
    db,
    search: sqliteSearch,
    memories: sqliteMemories,
    documents: sqliteDocuments,
    embedders,
    log,
    now: options.now ?? Date.now,
    random: options.random ?? Math.random,
    randomBytes: options.randomBytes ?? randomBytes,
    session: config.clientSession === undefined ? `process:${processName}` : `client:${config.clientSession}`,
    processName,
    processMark: ownMark,
    markOf,
    homeRepository: undefined,
    async close() {
      await embedders.close()
      await db.close()
    },
  }
}

/** Opens the database file and brings it to this program's schema; folder 0700, file 0600 when new. */
export async function openDatabase(
  path: string,
  { isMapped = true }: Pick<AppOptions, "isMapped"> = {},
): Promise<Database> {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    closeSync(openSync(path, "a", 0o600))
  } catch (error) {
    throw new AppError("unavailable", `the database ${path} cannot be opened: ${(error as Error).message}`, {
      hint: "Check the path, its permissions and the free space, or name another file with SIGNALBOX_DB.",
    })
  }
  const database = await openSqlite(path, {
    isMapped,
    inspect: (connection) => requireUsable(connection, path, SCHEMA_VERSION),
  })
  try {
    const sql =
      readFileSync(packageFile("schema.sql"), "utf8") +
      searchSchema +
      memorySearchSchema +
      documentSearchSchema +
      modelSchema({ ...BUILTIN_MODEL, source: BUILTIN_SOURCE })
    await prepareSchema(database, path, { version: SCHEMA_VERSION, sql, migrations: MIGRATIONS })
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}
