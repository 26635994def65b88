/**
 * Sessions that have ended without a word, because their client or their server was killed. What they hold is marked,
 * and released after a grace: a client may be on its way back.
 */

import { DEAD_SESSION_GRACE_MS } from "../../config/limits.ts"
import type { Queries } from "../../db/database.ts"
import { isOfSameNamespace, isSameProcess } from "../../runtime/process-identity.ts"
import { listAgentsOfSession } from "../../store/coordination/agents.ts"
import { listHoldingSessions } from "../../store/coordination/reservations.ts"
import { findDeath, listAnchors, noteDeath, removeDeath } from "../../store/coordination/sessions.ts"
import type { App } from "../app.ts"
import { livingSessions, removeDeadProcesses } from "../processes.ts"
import { noteGone, noteReturn } from "./presence.ts"
import { releaseAllOf } from "./reservations.ts"
import { sessionNames } from "./sessions.ts"

/** How often the process that listens looks whether a session has died. */
const LOOK_INTERVAL_MS = 30_000

const PROCESS_ANCHOR = /^process:(\d+):(.*)$/

interface Wanted {
  withoutGrace?: boolean
  /** Only these are looked at, which hold something; all that do by default. */
  sessions?: readonly string[]
}

/**
 * Notes which sessions that hold files have died since the last look and which have come back, and releases what was
 * held by those that have been dead for the grace, or with `withoutGrace` by all that are dead. Returns how many
 * reservations were released, and whether anything changed; where nothing has, nothing is written.
 */
export async function tendDeadSessions(
  app: App,
  { withoutGrace = false, sessions }: Wanted = {},
): Promise<{ released: number; hasChanged: boolean }> {
  const sight = { ...app, markOf: remembered(app.markOf) }
  const living = await livingSessions(sight)
  let released = 0
  let hasChanged = false
  for (const { session, diedAtMs } of await listWanted(app, sessions)) {
    const isDead = await hasDied(sight, session, living)
    if (isDead !== (diedAtMs !== null)) {
      hasChanged = true
      await app.db.transaction("sessions", (tx) => noteFate(tx, session, isDead, app.now()))
    }
    const graceMs = withoutGrace ? 0 : DEAD_SESSION_GRACE_MS
    if (!isDead || app.now() - (diedAtMs ?? app.now()) < graceMs) continue
    for (const agent of await listAgentsOfSession(app.db, session)) released += await releaseAllOf(app, agent)
    // Should it return and die once more, it has its grace again.
    await app.db.transaction("sessions", (tx) => removeDeath(tx, session))
  }
  return { released, hasChanged: hasChanged || released > 0 }
}

async function noteFate(tx: Queries, session: string, isDead: boolean, nowMs: number): Promise<void> {
  const agentIds = (await listAgentsOfSession(tx, session)).map(({ id }) => id)
  if (!isDead) {
    await removeDeath(tx, session)
    return noteReturn(tx, agentIds, nowMs)
  }
  await noteDeath(tx, session, nowMs)
  for (const id of agentIds) await noteGone(tx, id, nowMs)
}

/** To find all that hold something takes reading every reservation. */
async function listWanted({ db, now }: App, sessions: readonly string[] | undefined) {
  if (sessions === undefined) return listHoldingSessions(db, now())
  return Promise.all(sessions.map(async (session) => ({ session, diedAtMs: await findDeath(db, session) })))
}

/** Many sessions run below the same process, and some systems start a program to tell of one. */
function remembered(markOf: App["markOf"]): App["markOf"] {
  const known = new Map<number, string | undefined>()
  return (pid) => {
    if (!known.has(pid)) known.set(pid, markOf(pid))
    return known.get(pid)
  }
}

/** Looks for dead sessions now and then, in the process that listens. */
export function startDeadSessionWatch(app: App): { close(): Promise<void> } {
  let looking = Promise.resolve()
  const look = async () => {
    try {
      await removeDeadProcesses(app)
      await tendDeadSessions(app)
    } catch (error) {
      app.log.warn("dead sessions could not be looked for", { error })
    }
  }
  const timer = setInterval(() => {
    looking = looking.then(look)
  }, LOOK_INTERVAL_MS).unref()
  return {
    close() {
      clearInterval(timer)
      return looking
    },
  }
}

/**
 * Whether a session is known to have died: no server speaks for it under any of its names, and of the processes that it
 * was seen under none lives. Where nothing was seen, as of people, of calls over HTTP and on Windows, or only from
 * within a container or a sandbox that is not this one, it lives until its reservations run out.
 */
async function hasDied(app: App, session: string, living: ReadonlySet<string>): Promise<boolean> {
  let wasSeen = false
  for (const name of await sessionNames(app.db, session)) {
    if (living.has(name)) return false
    for (const anchor of [name, ...(await listAnchors(app.db, name))]) {
      const [, pid, mark] = PROCESS_ANCHOR.exec(anchor) ?? []
      if (pid === undefined || mark === undefined) {
        // Other names of the session are looked at by themselves. Of what else it is tied to nothing tells whether it lives.
        if (anchor === name || /^session:(?!http:)/.test(anchor)) continue
        return false
      }
      if (!isOfSameNamespace(mark, app.processMark)) return false
      if (isSameProcess(app.markOf(Number(pid)), mark)) return false
      wasSeen = true
    }
  }
  return wasSeen
}
