/** Takes a database back to the schema before there were events, whatever has been added since. */

import BetterSqlite3 from "better-sqlite3"
import { MIGRATIONS } from "../../src/db/migrations.ts"

const ACTIVITY = `
  CREATE TABLE activity (
    id INTEGER PRIMARY KEY,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    agent_id BIGINT NOT NULL REFERENCES agents (id),
    kind TEXT NOT NULL CHECK (kind IN ('message_sent', 'message_acknowledged', 'files_reserved', 'reservation_released')),
    message_id BIGINT REFERENCES messages (id),
    reservation_id BIGINT REFERENCES reservations (id),
    created_at_ms BIGINT NOT NULL
  );
  CREATE INDEX activity_by_project ON activity (project_id, id);`

/** Makes a file of version 2 of one that nobody has open; `fill` writes into its table of activity. */
export function toVersion2(path: string, fill: (db: BetterSqlite3.Database) => void = () => {}): void {
  const db = new BetterSqlite3(path)
  const later = MIGRATIONS.filter(({ version }) => version > 2).map(({ sql }) => sql)
  db.pragma("foreign_keys = OFF")
  for (const sql of later) {
    for (const [, table, column] of sql.matchAll(/ALTER TABLE (\w+) ADD COLUMN (\w+)/g))
      db.exec(`ALTER TABLE ${table} DROP COLUMN ${column}`)
    for (const [, table] of sql.matchAll(/CREATE TABLE (\w+)/g)) db.exec(`DROP TABLE ${table}`)
  }
  db.exec(ACTIVITY)
  fill(db)
  db.pragma("user_version = 2")
  db.close()
}
