/**
 * The ids of events across a restore: whoever reads on from an id that the replaced file gave must not take what
 * happens from now on for what it has read already.
 */

import type BetterSqlite3 from "better-sqlite3"

/** How far ids are raised where nobody can tell what was given. */
const UNKNOWN_STEP = 1_000_000_000

const NEWEST_ID = `
  SELECT max(coalesce((SELECT told_after FROM event_horizon), 0), coalesce((SELECT max(id) FROM events), 0))`

/** Returns the highest id that a database of this version has given to events. */
export function newestEventIdIn(connection: BetterSqlite3.Database): number {
  return connection.prepare<[], number>(NEWEST_ID).pluck().get() ?? 0
}

/**
 * Tells in a restored database that it was restored, under an id above all that it or the replaced one has given;
 * `given` is undefined where the latter cannot be told. What came before that id is answered as what is gone.
 */
export function raiseEventFloor(
  connection: BetterSqlite3.Database,
  { given, nowMs }: { given: number | undefined; nowMs: number },
): void {
  const own = newestEventIdIn(connection)
  const id = given === undefined ? own + UNKNOWN_STEP : Math.max(own, given) + 1
  connection.transaction(() => {
    connection
      .prepare("INSERT INTO events (id, kind, data, created_at_ms) VALUES (?, 'database.restored', '{}', ?)")
      .run(id, nowMs)
    connection.prepare("INSERT OR REPLACE INTO event_horizon (id, told_after) VALUES (1, ?)").run(id)
  })()
}
