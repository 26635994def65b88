/** Keeps the table of live server processes true. */

import { DAY_MS } from "../domain/time-units.ts"
import { isOfSameNamespace, isSameProcess, seesMachine } from "../runtime/process-identity.ts"
import { putAnchors, removeOldSessionNotes } from "../store/coordination/sessions.ts"
import { removeOldTurns } from "../store/coordination/turns.ts"
import { insertProcess, listProcesses, removeProcess } from "../store/processes.ts"
import type { App } from "./app.ts"

/** Ties and notices of sessions are kept this long after they were last of use. */
const SESSION_NOTES_KEPT_MS = 30 * DAY_MS

/**
 * Enters this process in the table, with the session that it serves and its client's processes above it, nearest
 * first; returns the id under which it leaves again.
 */
export function registerProcess(
  app: App,
  session: string,
  clientProcesses: readonly string[],
): Promise<number> {
  const row = { pid: process.pid, identityMark: app.processMark, session }
  return app.db.transaction("processes", async (tx) => {
    const nowMs = app.now()
    await removeOldSessionNotes(tx, nowMs - SESSION_NOTES_KEPT_MS)
    await removeOldTurns(tx, nowMs - SESSION_NOTES_KEPT_MS)
    await putAnchors(tx, session, clientProcesses, nowMs)
    return insertProcess(tx, row, nowMs)
  })
}

/** Takes this process out of the table; `id` is what `registerProcess` returned. */
export function leaveProcesses(app: App, id: number): Promise<void> {
  return removeProcess(app.db, id)
}

/** Returns the pids of the server processes that live. */
export async function livingProcesses(app: App): Promise<number[]> {
  return (await listLiving(app)).map(({ pid }) => pid)
}

/** Returns the sessions that the server processes which live serve. */
export async function livingSessions(app: App): Promise<Set<string>> {
  return new Set((await listLiving(app)).map(({ session }) => session))
}

async function listLiving(app: Sight & Pick<App, "db">) {
  return (await listProcesses(app.db)).filter((process) => !hasEnded(app, process))
}

/** Removes the processes that have died without leaving. */
export async function removeDeadProcesses(app: Sight & Pick<App, "db">): Promise<void> {
  for (const process of await listProcesses(app.db))
    if (hasEnded(app, process)) await removeProcess(app.db, process.id)
}

/** What tells of processes, and from where they are looked at. */
type Sight = Pick<App, "markOf" | "processMark">

/** Within a sandbox nothing is seen of what runs outside, and nothing may be said of it. */
function hasEnded(
  { markOf, processMark }: Sight,
  { pid, identityMark }: { pid: number; identityMark: string },
): boolean {
  const isInSight = seesMachine(processMark) || isOfSameNamespace(identityMark, processMark)
  return isInSight && !isSameProcess(markOf(pid), identityMark)
}
