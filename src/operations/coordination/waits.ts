/** Waiting for files that others hold: a place in the queue, kept by a process until its turn comes. */

import { WAITS_MAX } from "../../config/limits.ts"
import type { Queries } from "../../db/database.ts"
import { isHeld, type Reservation } from "../../domain/coordination/reservation.ts"
import { blockersOf, circleThrough, type Waiter, whoseTurn } from "../../domain/coordination/waiting.ts"
import { named } from "../../domain/foreign-text/markdown.ts"
import { GlobError } from "../../domain/glob/glob.ts"
import type { Repository } from "../../domain/project.ts"
import { AppError, assert } from "../../errors.ts"
import { findAgentById } from "../../store/coordination/agents.ts"
import { findReservation } from "../../store/coordination/reservations.ts"
import {
  findWait,
  insertWait,
  listWaits,
  listWaitsIn,
  removeWait,
  type Wait,
} from "../../store/coordination/waits.ts"
import { findRepositoryById } from "../../store/repositories.ts"
import type { App } from "../app.ts"
import { duration } from "../markdown.ts"
import type { ActorContext, CallContext } from "../operation.ts"
import { inTransaction } from "../transaction.ts"
import type { Claimant } from "./claims.ts"
import { tendDeadSessions } from "./dead-sessions.ts"
import { endExpired, endHeld } from "./endings.ts"
import { closeExpired } from "./expiry.ts"
import { compared, grant, newGrantCall, takeFromBudget } from "./grants.ts"
import { grantToWaiters, isGone, waiterOf, withoutGone } from "./queue.ts"
import { admitToRepository } from "./reservations.ts"

/** What somebody waits for; the pattern is as `resolvePattern` returns it. */
interface WantedFiles {
  repository: Repository
  pathPattern: string
  exclusive: boolean
  /** How long it is reserved for: from the first use where it was waited for, at once where it is free. */
  durationSeconds: number
  timeoutSeconds: number
}

/** What came of it. `wasFree`: nobody stood in the way, so it is reserved as by `reserve`. */
interface Waited {
  reservation: Reservation
  wasFree: boolean
  waitedMs: number
}

/** How often whoever waits looks after the queue by itself, where nothing tells of a change. */
const LOOK_INTERVAL_MS = 1_000
/** How often it looks for sessions that have died, as the process that listens does. */
const DEATHS_INTERVAL_MS = 30_000

/**
 * Waits until a path is the claimant's and returns its reservation. Fails with `conflict` where waiting would never end,
 * because those it waits for wait for it; with `timed_out`; and with `refused` once `stop` is aborted. Then nothing of
 * it is left.
 */
export async function waitForFiles(
  context: CallContext,
  { agent, project, ownAgentIds }: Claimant,
  wanted: WantedFiles,
  { stop, onQueued }: { stop: AbortSignal; onQueued(blockers: readonly string[]): void },
): Promise<Waited> {
  const { app } = context
  await admitToRepository({ ...context, project }, wanted.repository.id)
  const startMs = app.now()
  // A wait that is refused must not undo what others get of what has run out.
  await closeExpired(app)
  const actor = { ...context, project, actor: agent }
  const entered = await inTransaction(actor, `repository:${wanted.repository.id}`, (tx, dated) =>
    enter(tx, dated, wanted, ownAgentIds),
  )
  if ("reservation" in entered) return { ...entered, wasFree: true, waitedMs: 0 }
  const { wait } = entered
  onQueued(entered.blockers)
  try {
    const reservation = await turnOf(app, wait, stop)
    if (reservation !== undefined) return { reservation, wasFree: false, waitedMs: app.now() - startMs }
  } catch (error) {
    await leave(app, wait, { keepsGrant: false })
    throw error
  }
  const granted = await leave(app, wait, { keepsGrant: !stop.aborted })
  if (granted !== undefined) return { reservation: granted, wasFree: false, waitedMs: app.now() - startMs }
  if (stop.aborted) throw new AppError("refused", `waiting for ${named(wait.pathPattern)} was broken off`)
  const waited = duration(app.now() - startMs)
  throw new AppError("timed_out", `${named(wait.pathPattern)} was not released within ${waited}`, {
    hint: "Wait again, at the end of the queue, or write to the holder.",
  })
}

type Entered = { reservation: Reservation } | { wait: Wait; blockers: readonly string[] }

async function enter(
  tx: Queries,
  context: ActorContext,
  wanted: WantedFiles,
  ownAgentIds: ReadonlySet<number>,
): Promise<Entered> {
  const { app, actor, nowMs } = context
  const { repository, pathPattern, exclusive, durationSeconds } = wanted
  await endExpired(tx, nowMs)
  const queue = await withoutGone(tx, await listWaits(tx), nowMs)
  const place = { id: 0, agentId: actor.id, pathPattern, exclusive }
  const own = await waiterOf(tx, repository, place, nowMs)
  const others: QueuedWaiter[] = []
  for (const wait of queue) others.push(await inRepository(tx, wait, nowMs))
  const here = others.filter((one) => one.repository.id === repository.id)
  const terms = { ignoreCase: repository.ignoreCase, nowMs }
  const blockers = compared(pathPattern, () => blockersOf(own, here, terms))
  const request = { repository, pathPattern, exclusive, durationSeconds, reason: null, ownAgentIds }
  if (blockers.length === 0) {
    const result = await grant(tx, context, request)
    assert("granted" in result, `${pathPattern} is still free`)
    return { reservation: result.granted }
  }
  await takeFromBudget(tx, context, request, newGrantCall())
  await refuseCircle(tx, [...others, { ...own, repository }], nowMs)
  if (queue.length >= WAITS_MAX)
    throw new AppError("unavailable", `${WAITS_MAX} others wait for files already`, {
      hint: "Work on other files and try again later.",
    })
  const process = processOf(app)
  const untilMs = nowMs + wanted.timeoutSeconds * 1_000
  const stored = {
    ...place,
    ...process,
    repositoryId: repository.id,
    durationSeconds,
    createdAtMs: nowMs,
    untilMs,
  }
  const wait = await findWait(tx, { id: await insertWait(tx, stored), ...process })
  assert(wait !== undefined, "a wait is there once it is stored")
  return { wait, blockers: await namesOf(tx, blockers) }
}

type QueuedWaiter = Waiter & { repository: Repository }

async function inRepository(tx: Queries, wait: Wait, nowMs: number): Promise<QueuedWaiter> {
  const repository = await findRepositoryById(tx, wait.repositoryId)
  assert(repository !== undefined, `repository ${wait.repositoryId} is there`)
  return { ...(await waiterOf(tx, repository, wait, nowMs)), repository }
}

/** Fails with `conflict` where the last of all that wait, in whatever repository, would wait for itself. */
async function refuseCircle(tx: Queries, all: readonly QueuedWaiter[], nowMs: number): Promise<void> {
  // All agents of a session are one, by the number of its first.
  const holders = new Map<number, number>()
  for (const { ownAgentIds } of all) for (const id of ownAgentIds) holders.set(id, Math.min(...ownAgentIds))
  const waitsFor = new Map<number, number[]>()
  for (const [index, waiter] of all.entries()) {
    const { repository } = waiter
    const earlier = all.slice(0, index).filter((one) => one.repository.id === repository.id)
    const holder = holders.get(waiter.agentId) ?? waiter.agentId
    const known = waitsFor.get(holder) ?? []
    for (const id of comparable(waiter, earlier, { ignoreCase: repository.ignoreCase, nowMs }))
      known.push(holders.get(id) ?? id)
    waitsFor.set(holder, known)
  }
  const last = all.at(-1)
  assert(last !== undefined, "somebody waits")
  const circle = circleThrough(holders.get(last.agentId) ?? last.agentId, waitsFor)
  if (circle === undefined) return
  const names = await namesOf(tx, circle)
  const steps = names.map((name, index) => `${name} would wait for ${names[(index + 1) % names.length]}`)
  throw new AppError("conflict", `this would close a circle in which nobody goes on: ${steps.join(", ")}`, {
    hint: "Release what they wait for first, or work on other files.",
  })
}

function comparable(
  waiter: Waiter,
  earlier: readonly Waiter[],
  terms: { ignoreCase: boolean; nowMs: number },
) {
  try {
    return blockersOf(waiter, earlier, terms)
  } catch (error) {
    if (error instanceof GlobError) return []
    throw error
  }
}

async function namesOf(db: Queries, agentIds: readonly number[]): Promise<string[]> {
  const names: string[] = []
  for (const id of agentIds) names.push((await findAgentById(db, id))?.name ?? `agent ${id}`)
  return names
}

/** Returns what a wait was granted once it is its turn; undefined when its time is over or `stop` is aborted. */
async function turnOf(app: App, wait: Wait, stop: AbortSignal): Promise<Reservation | undefined> {
  let wake = () => {}
  const unwatch = app.db.watch(() => wake())
  const onStop = () => wake()
  stop.addEventListener("abort", onStop)
  let tendedAtMs = 0
  let deathsAtMs = app.now()
  try {
    while (!stop.aborted && app.now() < wait.untilMs) {
      const changed = new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(LOOK_INTERVAL_MS, Math.max(1, wait.untilMs - app.now())))
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      const granted = await grantedTo(app, wait)
      if (granted !== undefined) return granted
      // Every commit of whomever wakes us up, and most of them are nothing to this queue.
      if (app.now() - tendedAtMs >= LOOK_INTERVAL_MS) {
        tendedAtMs = app.now()
        await tendQueue(app, wait.repositoryId)
      }
      if (app.now() - deathsAtMs >= DEATHS_INTERVAL_MS) {
        deathsAtMs = app.now()
        await tendDeadSessions(app)
      }
      await changed
    }
    return undefined
  } finally {
    // A timer that is still set would keep the process alive.
    wake()
    stop.removeEventListener("abort", onStop)
    unwatch()
  }
}

async function grantedTo({ db, now }: App, wait: Wait): Promise<Reservation | undefined> {
  const current = await findWait(db, wait)
  if (current?.reservationId === null) return undefined
  const granted = current && (await findReservation(db, current.reservationId))
  if (granted !== undefined && isHeld(granted, now())) return granted
  throw new AppError("timed_out", `${named(wait.pathPattern)} was granted, but not taken up in time`, {
    hint: "Wait again: this process was held up for longer than such a grant lasts.",
  })
}

/** Sees to what nobody else may: what has run out, who has left the queue without a word, and whose turn it is. */
async function tendQueue(app: App, repositoryId: number): Promise<void> {
  await closeExpired(app)
  const { db } = app
  const waits = (await listWaitsIn(db, repositoryId)).filter(({ reservationId }) => reservationId === null)
  const hasGone = waits.some((wait) => isGone(wait, app.now()))
  if (!hasGone && !(await isAnybodysTurn(app, waits))) return
  await db.transaction(`repository:${repositoryId}`, (tx) => grantToWaiters(tx, repositoryId, app.now()))
}

async function isAnybodysTurn({ db, now }: App, waits: readonly Wait[]): Promise<boolean> {
  const nowMs = now()
  const queue: QueuedWaiter[] = []
  for (const wait of waits) queue.push(await inRepository(db, wait, nowMs))
  const [first] = queue
  if (first === undefined) return false
  return whoseTurn(queue, { ignoreCase: first.repository.ignoreCase, nowMs }).length > 0
}

/** Leaves the queue; returns what was granted meanwhile, or releases it unless it is to be kept. */
function leave(
  { db, now }: App,
  wait: Wait,
  { keepsGrant }: { keepsGrant: boolean },
): Promise<Reservation | undefined> {
  return db.transaction(`repository:${wait.repositoryId}`, async (tx) => {
    const nowMs = now()
    const current = await findWait(tx, wait)
    if (current === undefined) return undefined
    const { reservationId } = current
    const granted = reservationId === null ? undefined : await findReservation(tx, reservationId)
    if (granted !== undefined && keepsGrant && isHeld(granted, nowMs)) return granted
    await removeWait(tx, wait.id)
    if (granted === undefined) await grantToWaiters(tx, wait.repositoryId, nowMs)
    else if (granted.endedAtMs === null && current.usedAtMs === null) await endHeld(tx, [granted], nowMs)
    return undefined
  })
}

function processOf(app: Pick<App, "processMark">): Pick<Wait, "pid" | "identityMark"> {
  return { pid: process.pid, identityMark: app.processMark }
}
