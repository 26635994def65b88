/** Keeps the table of live server processes true. */

import type { Database } from "../db/database.ts"
import { insertProcess, listProcesses, removeProcess } from "../store/processes.ts"
import type { App } from "./app.ts"

/** Enters this process in the table; returns the id under which it leaves again. */
export function joinProcesses(app: App): Promise<number> {
  const row = { pid: process.pid, identityMark: app.processMark, session: app.session }
  return app.db.transaction("processes", (tx) => insertProcess(tx, row, app.now()))
}

/** Removes the processes that have died without leaving. */
export async function removeDeadProcesses(
  db: Database,
  markOf: (pid: number) => string | undefined,
): Promise<void> {
  for (const process of await listProcesses(db)) {
    if (markOf(process.pid) !== process.identityMark) await removeProcess(db, process.id)
  }
}
