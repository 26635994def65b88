import { readFileSync } from "node:fs"
import { join } from "node:path"
import BetterSqlite3 from "better-sqlite3"
import { expect, test } from "vitest"
import { MIGRATIONS, SCHEMA_VERSION } from "../../src/db/migrations.ts"
import { openDatabase } from "../../src/operations/database.ts"
import { packageFile } from "../../src/runtime/package-root.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

/** What takes each version of the schema back to the one before. */
const UNDO: Record<number, string> = {
  2: "ALTER TABLE agents DROP COLUMN work_tree;",
  3: `
    ALTER TABLE agents DROP COLUMN gone_at_ms;
    DROP TABLE reservation_waits;
    DROP TABLE events;
    DROP TABLE event_horizon;
    DROP TABLE webhooks;
    DROP TABLE mcp_subscriptions;
    DROP TABLE turn_pushes;
    DROP TABLE mail_marks;
    CREATE TABLE activity (
      id INTEGER PRIMARY KEY,
      project_id BIGINT NOT NULL REFERENCES projects (id),
      agent_id BIGINT NOT NULL REFERENCES agents (id),
      kind TEXT NOT NULL CHECK (kind IN ('message_sent', 'message_acknowledged', 'files_reserved', 'reservation_released')),
      message_id BIGINT REFERENCES messages (id),
      reservation_id BIGINT REFERENCES reservations (id),
      created_at_ms BIGINT NOT NULL
    );
    CREATE INDEX activity_by_project ON activity (project_id, id);`,
}

/** Returns the columns of each table of our own, in their order. */
function columnsOf(db: BetterSqlite3.Database): Record<string, unknown> {
  const tables = db
    .prepare<[], string>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'",
    )
    .pluck()
    .all()
  return Object.fromEntries(tables.map((name) => [name, db.pragma(`table_info(${name})`)]))
}

test("the migrations rise by one to the version of the schema", () => {
  const versions = MIGRATIONS.map(({ version }) => version)
  expect(versions).toEqual(versions.map((_, index) => index + 2))
  expect(versions.at(-1)).toBe(SCHEMA_VERSION)
})

test("a database of the first version ends with the columns of a new one, and what was in it", async () => {
  const fresh = new BetterSqlite3(":memory:")
  fresh.exec(readFileSync(packageFile("schema.sql"), "utf8"))
  const expected = columnsOf(fresh)
  fresh.close()
  const path = join(temporaryFolder(), "signalbox.db")
  await (await openDatabase(path)).close()
  const old = new BetterSqlite3(path)
  for (const { version } of MIGRATIONS.toReversed()) old.exec(UNDO[version] ?? "")
  old.exec("INSERT INTO projects (key, created_at_ms) VALUES ('kept', 1)")
  old.pragma("user_version = 1")
  old.close()
  await (await openDatabase(path)).close()
  const migrated = new BetterSqlite3(path)
  expect(columnsOf(migrated)).toMatchObject(expected)
  expect(migrated.pragma("user_version", { simple: true })).toBe(SCHEMA_VERSION)
  expect(migrated.prepare("SELECT key FROM projects").pluck().all()).toEqual(["kept"])
  migrated.close()
})
