/** Opens the database: its file, this program's schema, and the model that memories begin with. */

import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs"
import { dirname } from "node:path"
import type { Config } from "../config/config.ts"
import type { Database } from "../db/database.ts"
import { prepareSchema, requireUsable } from "../db/migrate.ts"
import { MIGRATIONS, SCHEMA_VERSION } from "../db/migrations.ts"
import { openSqlite } from "../db/sqlite.ts"
import { BUILTIN_SOURCE } from "../domain/embedding/embedding.ts"
import { BUILTIN_MODEL } from "../embed/builtin.ts"
import { AppError } from "../errors.ts"
import { packageFile } from "../runtime/package-root.ts"
import { isWritableByOthers } from "../runtime/private-files.ts"
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
  return [dataFolder, ...database, ...FILES_BESIDE.map((suffix) => `${base}${suffix}`)]
}

/** Returns the places where others than the user could put something else into the place of what we read. */
export function exposedPlaces({ databasePath, userConfigPath }: Config): string[] {
  return [dirname(databasePath), userConfigPath, dirname(userConfigPath)].filter(isWritableByOthers)
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
