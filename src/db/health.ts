/** Whether a database file is whole, and how much of it is in use. */

import type { WayOut } from "./faults.ts"
import { requireUsable } from "./migrate.ts"
import { SCHEMA_VERSION } from "./migrations.ts"
import { openSqlite } from "./sqlite.ts"

interface Health {
  /** What is wrong with the file, as SQLite says it; empty when it is whole. */
  faults: string[]
  schemaVersion: number
  /** What the file takes up, and what of it nothing stands in. */
  bytes: number
  freeBytes: number
  /** Whether it can be made smaller a little at a time. */
  givesBack: boolean
}

/**
 * Checks an existing database file, waiting `waitMs` at most for its writers. Fails with `unavailable` when it
 * cannot be opened, is no database of ours, or is of a newer version.
 */
export async function checkHealth(path: string, waitMs: number, wayOut?: WayOut): Promise<Health> {
  const database = await openSqlite(path, {
    waitMs,
    ...(wayOut && { wayOut }),
    inspect: (connection) => requireUsable(connection, path, SCHEMA_VERSION, wayOut),
  })
  try {
    const lines = await database.all<{ quick_check: string }>("PRAGMA quick_check")
    const one = async (name: string) =>
      Number(Object.values((await database.get(`PRAGMA ${name}`)) ?? {})[0] ?? 0)
    const pageBytes = await one("page_size")
    return {
      faults: lines.map((line) => line.quick_check).filter((line) => line !== "ok"),
      schemaVersion: await one("user_version"),
      bytes: pageBytes * (await one("page_count")),
      freeBytes: pageBytes * (await one("freelist_count")),
      givesBack: (await one("auto_vacuum")) === 2,
    }
  } finally {
    await database.close()
  }
}
