/** The queue of those who wait for files: who still does, and what the end of a reservation gives them. */

import { COMPARISON_STEPS_MAX, WAIT_GRANT_MS } from "../../config/limits.ts"
import type { Queries } from "../../db/database.ts"
import { isHeld } from "../../domain/coordination/reservation.ts"
import { type Waiter, whoseTurn } from "../../domain/coordination/waiting.ts"
import { Work } from "../../domain/glob/work.ts"
import type { Repository } from "../../domain/project.ts"
import { AppError, assert } from "../../errors.ts"
import { isOfSameNamespace, isStillRunning, processMark } from "../../runtime/process-identity.ts"
import { findAgentById } from "../../store/coordination/agents.ts"
import { findReservation } from "../../store/coordination/reservations.ts"
import { listWaitsIn, putGrantOfWait, removeWait, type Wait } from "../../store/coordination/waits.ts"
import { findProjectById } from "../../store/projects.ts"
import { findRepositoryById } from "../../store/repositories.ts"
import { candidatesFor, grant } from "./grants.ts"
import { ownAgentIdsOf } from "./sessions.ts"

/**
 * Grants what is free in a repository to those whose turn it is, for a minute in which it has to be used; must run in
 * the transaction in which something ended there.
 */
export async function grantToWaiters(tx: Queries, repositoryId: number, nowMs: number): Promise<void> {
  const waits = await listWaitsIn(tx, repositoryId)
  if (waits.length === 0) return
  const repository = await findRepositoryById(tx, repositoryId)
  assert(repository !== undefined, `repository ${repositoryId} is there`)
  const queue: (Waiter & { wait: Wait })[] = []
  for (const wait of await withoutGone(tx, waits, nowMs))
    queue.push({ ...(await waiterOf(tx, repository, wait, nowMs)), wait })
  const work = new Work(COMPARISON_STEPS_MAX)
  for (const { wait, ownAgentIds } of whoseTurn(queue, { ignoreCase: repository.ignoreCase, nowMs, work }))
    await grantTo(tx, repository, wait, ownAgentIds, nowMs)
}

async function grantTo(
  tx: Queries,
  repository: Repository,
  { id, agentId, pathPattern, exclusive }: Wait,
  ownAgentIds: ReadonlySet<number>,
  nowMs: number,
): Promise<void> {
  const actor = await findAgentById(tx, agentId)
  const project = actor && (await findProjectById(tx, actor.projectId))
  assert(actor !== undefined && project !== undefined, `agent ${agentId} and its project are there`)
  const durationSeconds = WAIT_GRANT_MS / 1_000
  const terms = { durationSeconds, reason: null, ownAgentIds, toWaiter: true }
  try {
    const result = await grant(
      tx,
      { project, actor, nowMs },
      { repository, pathPattern, exclusive, ...terms },
    )
    if ("granted" in result) await putGrantOfWait(tx, id, result.granted.id)
  } catch (error) {
    // What its pattern costs may be too much just now, which is nothing to whoever releases.
    if (!(error instanceof AppError)) throw error
  }
}

/** Removes the waits of which nothing can come any more, and returns those that are still in the queue. */
export async function withoutGone(tx: Queries, waits: readonly Wait[], nowMs: number): Promise<Wait[]> {
  const left: Wait[] = []
  for (const wait of waits) {
    if (await isOver(tx, wait, nowMs)) await removeWait(tx, wait.id)
    else if (wait.reservationId === null) left.push(wait)
  }
  return left
}

async function isOver(tx: Queries, wait: Wait, nowMs: number): Promise<boolean> {
  if (wait.reservationId === null) return isGone(wait, nowMs)
  const granted = await findReservation(tx, wait.reservationId)
  if (granted === undefined || !isHeld(granted, nowMs)) return true
  return wait.usedAtMs !== null && hasEnded(wait)
}

/** Whether nobody waits any more under a wait, which only the process that waited may have failed to say. */
export function isGone(wait: Wait, nowMs: number): boolean {
  return nowMs >= wait.untilMs + GRACE_MS || hasEnded(wait)
}

/** A process removes its wait itself when its time is over; what runs within a sandbox is not seen to have ended. */
const GRACE_MS = 10_000

let ownMark: string | undefined

function hasEnded({ pid, identityMark }: Wait): boolean {
  ownMark ??= processMark(process.pid) ?? ""
  return isOfSameNamespace(identityMark, ownMark) && !isStillRunning(pid, identityMark)
}

/** Returns what the law has to know of somebody who waits, or would. */
export async function waiterOf(
  tx: Queries,
  repository: Repository,
  { id, agentId, pathPattern, exclusive }: Pick<Wait, "id" | "agentId" | "pathPattern" | "exclusive">,
  nowMs: number,
): Promise<Waiter> {
  const agent = await findAgentById(tx, agentId)
  assert(agent !== undefined, `agent ${agentId} is there`)
  return {
    id,
    agentId,
    ownAgentIds: await ownAgentIdsOf(tx, agent),
    pathPattern,
    exclusive,
    held: await candidatesFor(tx, { repository, pathPattern, exclusive }, nowMs, new Map()),
  }
}
