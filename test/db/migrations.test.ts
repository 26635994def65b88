import { readFileSync } from "node:fs"
import { join } from "node:path"
import BetterSqlite3 from "better-sqlite3"
import { expect, test } from "vitest"
import { MIGRATIONS, SCHEMA_VERSION } from "../../src/db/migrations.ts"
import { openDatabase } from "../../src/operations/database.ts"
import { packageFile } from "../../src/runtime/package-root.ts"
import { toVersion2 } from "../support/schema-version-2.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

/** Returns the columns of each table of our own, in their order, and the indexes by name. */
function shapeOf(db: BetterSqlite3.Database): Record<string, unknown> {
  const tables = db
    .prepare<[], string>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'",
    )
    .pluck()
    .all()
  const indexes = db
    .prepare<[], { name: string; sql: string }>(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL",
    )
    .all()
  return Object.fromEntries([
    ...tables.map((name) => [name, db.pragma(`table_info(${name})`)]),
    ...indexes.map(({ name, sql }) => [name, sql.replace(/\s+/g, " ")]),
  ])
}

test("the migrations rise by one to the version of the schema", () => {
  const versions = MIGRATIONS.map(({ version }) => version)
  expect(versions).toEqual(versions.map((_, index) => index + 2))
  expect(versions.at(-1)).toBe(SCHEMA_VERSION)
})

test("a database of the first version ends with the columns and indexes of a new one, and what was in it", async () => {
  const fresh = new BetterSqlite3(":memory:")
  fresh.exec(readFileSync(packageFile("schema.sql"), "utf8"))
  const expected = shapeOf(fresh)
  fresh.close()
  const path = join(temporaryFolder(), "signalbox.db")
  await (await openDatabase(path)).close()
  toVersion2(path)
  const old = new BetterSqlite3(path)
  old.exec("ALTER TABLE agents DROP COLUMN work_tree;")
  old.exec("INSERT INTO projects (key, created_at_ms) VALUES ('kept', 1)")
  old.pragma("user_version = 1")
  old.close()
  await (await openDatabase(path)).close()
  const migrated = new BetterSqlite3(path)
  expect(shapeOf(migrated)).toMatchObject(expected)
  expect(migrated.pragma("user_version", { simple: true })).toBe(SCHEMA_VERSION)
  expect(migrated.prepare("SELECT key FROM projects").pluck().all()).toEqual(["kept"])
  migrated.close()
})
