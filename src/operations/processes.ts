/** Keeps the table of live server processes true. */

import type { Database } from "../db/database.ts"
import { insertProcess, listProcesses, removeProcess } from "../store/processes.ts"
import { putAnchors, removeOldSessionNotes } from "../store/sessions.ts"
import type { App } from "./app.ts"

/** Ties and notices of sessions are kept this long after they were last of use. */
const SESSION_NOTES_KEPT_MS = 30 * 86_400_000

/**
 * Enters this process in the table, with its client's processes above it, nearest first; returns the id
 * under which it leaves again.
 */
export function joinProcesses(app: App, clientProcesses: readonly string[]): Promise<number> {
  const row = { pid: process.pid, identityMark: app.processMark, session: app.session }
  return app.db.transaction("processes", async (tx) => {
    const nowMs = app.now()
    await removeOldSessionNotes(tx, nowMs - SESSION_NOTES_KEPT_MS)
    await putAnchors(tx, app.session, clientProcesses, nowMs)
    return insertProcess(tx, row, nowMs)
  })
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
