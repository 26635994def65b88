/**
 * The steps from one released schema to the next, oldest first. A new one is added here together
 * with the same change in schema.sql: a blank database and a migrated one must end identical.
 */

export interface Migration {
  /** The schema version that this step produces; versions rise by one. */
  version: number
  /** SQL, run in one transaction with the change of the version. */
  sql: string
}

/** The version of schema.sql. */
export const SCHEMA_VERSION = 2

export const MIGRATIONS: readonly Migration[] = [
  { version: 2, sql: "ALTER TABLE agents ADD COLUMN work_tree TEXT;" },
]
