/** Opens the database: its file, this program's schema, and the model that memories begin with. */

import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs"
import { dirname } from "node:path"
import { type Config, readConfig } from "../config/config.ts"
import { backupsFolder, listDailyBackups, listKeptCopies } from "../db/daily-backups.ts"
import type { Database } from "../db/database.ts"
import { prepareSchema, requireUsable } from "../db/migrate.ts"
import { MIGRATIONS, SCHEMA_VERSION } from "../db/migrations.ts"
import { openSqlite } from "../db/sqlite.ts"
import { BUILTIN_SOURCE } from "../domain/embedding/embedding.ts"
import { BUILTIN_MODEL } from "../embed/builtin.ts"
import { AppError, fileProblem } from "../errors.ts"
import { ownCommand } from "../runtime/own-command.ts"
import { packageFile } from "../runtime/package-root.ts"
import { isWritableByOthers } from "../runtime/private-files.ts"
import { posixWord } from "../runtime/shell-quoting.ts"
import { searchSchema } from "../search/sqlite.ts"
import { documentSearchSchema } from "../search/sqlite-documents.ts"
import { memorySearchSchema } from "../search/sqlite-memories.ts"
import { modelSchema } from "../store/memory/embeddings.ts"

/** What stands beside a database: a key, and where its listener is. */
const FILES_BESIDE = [".key", ".listener.json", ".hook.curl"]

/** Returns the files and folders that belong to the user alone, whether they exist or not. */
export function privatePaths({ databasePath, dataFolder }: Config): string[] {
  const base = databasePath.replace(/\.db$/, "")
  const database = ["", "-wal", "-shm"].map((suffix) => `${databasePath}${suffix}`)
  const copies = [
    backupsFolder(databasePath),
    ...listDailyBackups(databasePath).map((one) => one.path),
    ...listKeptCopies(databasePath),
  ]
  return [dataFolder, ...database, ...FILES_BESIDE.map((suffix) => `${base}${suffix}`), ...copies]
}

/** Returns the places where others than the user could put something else into the place of what we read. */
export function exposedPlaces({ databasePath, userConfigPath }: Config): string[] {
  return [dirname(databasePath), userConfigPath, dirname(userConfigPath)].filter(isWritableByOthers)
}

function notOpened(path: string, error: unknown): AppError {
  const known = fileProblem(error, (error as NodeJS.ErrnoException).path ?? path)
  const why = known === undefined ? (error as Error).message : known.message
  return new AppError("unavailable", `the database ${path} cannot be opened: ${why}`, {
    hint: `${known?.hint ?? "Check the path."} SIGNALBOX_DB names another file.`,
    cause: error,
  })
}

/** Says how a damaged database is replaced: by the newest daily backup where there is one. */
export function wayOutOf(path: string): string {
  const [newest] = listDailyBackups(path)
  const command = `${ownCommand()} restore${databaseOption(path)}`
  if (newest !== undefined)
    return `Close the coding agents, then bring back the newest backup: \`${command} ${posixWord(newest.path)}\``
  return `There is no daily backup of it. Bring back a copy of your own (\`${command} <file>\`), name another file with SIGNALBOX_DB, or move this one aside: the next server begins anew.`
}

/** A command in a shell takes the usual database unless it is told otherwise. */
function databaseOption(path: string): string {
  const env = { ...process.env, SIGNALBOX_DB: undefined }
  const usual = readConfig({ env, workingFolder: process.cwd() }).databasePath
  return path === usual ? "" : ` --db ${posixWord(path)}`
}

/** Opens the database file and brings it to this program's schema; folder 0700, file 0600 when new. */
export async function openDatabase(
  path: string,
  { isMapped = true }: { isMapped?: boolean | undefined } = {},
): Promise<Database> {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    closeSync(openSync(path, "a", 0o600))
  } catch (error) {
    throw notOpened(path, error)
  }
  const wayOut = () => wayOutOf(path)
  const database = await openSqlite(path, {
    isMapped,
    wayOut,
    inspect: (connection) => requireUsable(connection, path, SCHEMA_VERSION, wayOut),
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
