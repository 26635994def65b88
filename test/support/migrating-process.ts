/**
 * A process of its own that opens a database file when it is told to, brings it to version 2 of a small
 * schema, and writes one row. Arguments: the file. It says "ready", waits for a line, and says how it went.
 */

import { once } from "node:events"
import { prepareSchema } from "../../src/db/migrate.ts"
import { openSqlite } from "../../src/db/sqlite.ts"

export const NOTES_V1 = "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL);"
export const NOTES_V2 = {
  version: 2,
  sql: "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL, pid BIGINT);",
  migrations: [{ version: 2, sql: "ALTER TABLE notes ADD COLUMN pid BIGINT;" }],
}

async function main(path: string): Promise<void> {
  process.stdout.write("ready\n")
  await once(process.stdin, "data")
  const db = await openSqlite(path)
  await prepareSchema(db, path, NOTES_V2)
  await db.run("INSERT INTO notes (text, pid) VALUES ('mine', ?)", [process.pid])
  await db.close()
  process.stdout.write("done\n")
  process.stdin.destroy()
}

const [, script, path] = process.argv
if (script?.endsWith("migrating-process.ts") && path !== undefined) await main(path)
