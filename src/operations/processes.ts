/** Keeps the table of live server processes true. */

import type { Database, Queries } from "../db/database.ts"
import { insertProcess, isSessionListed, listProcesses, removeProcess } from "../store/processes.ts"
import type { App } from "./app.ts"

/** Enters this process in the table; returns the id under which it leaves again. */
export function joinProcesses(app: App): Promise<number> {
  const row = { pid: process.pid, identityMark: markIn(app.processName), session: app.session }
  return app.db.transaction("processes", (tx) => insertProcess(tx, row, app.now()))
}

export async function leaveProcesses(db: Database, processId: number): Promise<void> {
  await removeProcess(db, processId)
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

/** Whether a session is one of those that live; call `removeDeadProcesses` first. */
export async function isLiveSession(db: Queries, session: string): Promise<boolean> {
  return isSessionListed(db, session)
}

function markIn(processName: string): string {
  return processName.slice(processName.indexOf(":") + 1)
}
