/**
 * Brings a database file to the schema of this program, however many processes try at once: the work
 * is done under SQLite's write lock, and the process that comes second finds it done.
 */

import { closeSync, openSync, rmSync } from "node:fs"
import type BetterSqlite3 from "better-sqlite3"
import { AppError } from "../errors.ts"
import { damaged, type WayOut } from "./faults.ts"
import type { Migration } from "./migrations.ts"
import type { SqliteDatabase } from "./sqlite.ts"

/** Marks a file as ours: "sbox" in ASCII, in SQLite's application_id. */
const APPLICATION_ID = 0x73_62_6f_78

export interface Schema {
  /** The version that `sql` produces on an empty file, which is also the last migration's. */
  version: number
  sql: string
  migrations: readonly Migration[]
}

/**
 * Creates or migrates the schema. Before the first step of a migration the file is copied to
 * `<path>.v<old version>.backup`. Fails with `unavailable` when the file belongs to a newer program or
 * to another one, and leaves it untouched then.
 */
export async function prepareSchema(database: SqliteDatabase, path: string, schema: Schema): Promise<void> {
  await database.exclusively((connection) => {
    if (versionOf(connection, path) === schema.version) return
    connection.exec("BEGIN IMMEDIATE")
    try {
      requireUsable(connection, path, schema.version)
      const version = versionOf(connection, path)
      if (version === 0) connection.exec(schema.sql)
      else if (version < schema.version) migrate(connection, path, version, schema)
      connection.pragma(`application_id = ${APPLICATION_ID}`)
      connection.pragma(`user_version = ${schema.version}`)
      connection.exec("COMMIT")
    } finally {
      if (connection.inTransaction) connection.exec("ROLLBACK")
    }
  })
}

function migrate(connection: BetterSqlite3.Database, path: string, from: number, schema: Schema): void {
  // The lock is ours, so a second connection copies exactly the state that the steps start from.
  const backup = `${path}.v${from}.backup`
  // SQLite writes into an empty file, which is made here because all of the mail will be in it. One that
  // a failed try left behind is older than what is about to be changed.
  rmSync(backup, { force: true })
  closeSync(openSync(backup, "wx", 0o600))
  const copier = new (connection.constructor as typeof BetterSqlite3)(path, { readonly: true })
  try {
    copier.prepare("VACUUM INTO ?").run(backup)
  } finally {
    copier.close()
  }
  applySteps(connection, from, schema.migrations)
}

function applySteps(connection: BetterSqlite3.Database, from: number, steps: readonly Migration[]): void {
  for (const { version, sql } of steps) if (version > from) connection.exec(sql)
}

/**
 * Brings a file that is nobody's yet to the last of some steps, all or nothing; a copy for the way back is the
 * caller's to have. Fails with what SQLite says when its tables are not those of its version.
 */
export function upgradeCopy(connection: BetterSqlite3.Database, steps: readonly Migration[]): void {
  const from = connection.pragma("user_version", { simple: true }) as number
  const to = Math.max(from, ...steps.map(({ version }) => version))
  connection.transaction(() => {
    applySteps(connection, from, steps)
    connection.pragma(`user_version = ${to}`)
  })()
}

/** Fails with `unavailable` when a file belongs to another program, or to a version of ours that knows more. */
export function requireUsable(
  connection: BetterSqlite3.Database,
  path: string,
  knownVersion: number,
  wayOut?: WayOut,
): void {
  const version = versionOf(connection, path, wayOut)
  if (version > knownVersion) throw newerDatabase(path, version, knownVersion)
}

function versionOf(connection: BetterSqlite3.Database, path: string, wayOut?: WayOut): number {
  // One statement is one look: between two of them another process may set the schema up.
  const { version, owner, isEmpty } = connection
    .prepare<[], { version: number; owner: number; isEmpty: number }>(`
      SELECT user_version AS version, application_id AS owner,
        NOT EXISTS (SELECT 1 FROM sqlite_schema) AS isEmpty
      FROM pragma_user_version, pragma_application_id`)
    .get() ?? { version: 0, owner: 0, isEmpty: 1 }
  if (version === 0 && isEmpty === 1 && (owner === 0 || owner === APPLICATION_ID)) return version
  // The version is written with the tables, in one transaction.
  if (owner === APPLICATION_ID && version === 0)
    throw damaged(path, "it holds tables, and says that it has none", wayOut)
  if (owner === APPLICATION_ID) return version
  throw new AppError("unavailable", `${path} is the database of another program`, {
    hint: "Name another file with SIGNALBOX_DB or --db.",
  })
}

function newerDatabase(path: string, found: number, known: number): AppError {
  return new AppError(
    "unavailable",
    `${path} has schema version ${found}, this signalbox knows versions up to ${known}`,
    { hint: "Update signalbox: `npx -y signalbox@latest install`, in your home folder." },
  )
}
