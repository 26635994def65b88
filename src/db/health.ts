/** Whether a database file is whole. */

import { requireUsable } from "./migrate.ts"
import { SCHEMA_VERSION } from "./migrations.ts"
import { openSqlite } from "./sqlite.ts"

interface Health {
  /** What is wrong with the file, as SQLite says it; empty when it is whole. */
  faults: string[]
  schemaVersion: number
}

/**
 * Checks an existing database file, waiting `waitMs` at most for its writers. Fails with `unavailable` when it
 * cannot be opened, is no database of ours, or is of a newer version.
 */
export async function checkHealth(path: string, waitMs: number): Promise<Health> {
  const database = await openSqlite(path, {
    waitMs,
    inspect: (connection) => requireUsable(connection, path, SCHEMA_VERSION),
  })
  try {
    const lines = await database.all<{ quick_check: string }>("PRAGMA quick_check")
    const version = await database.get<{ user_version: number }>("PRAGMA user_version")
    const faults = lines.map((line) => line.quick_check).filter((line) => line !== "ok")
    return { faults, schemaVersion: version?.user_version ?? 0 }
  } finally {
    await database.close()
  }
}
