/** The two ends of a session, and the mail that waits in between. */

import { HOOK_MESSAGES_TOLD_MAX, LISTING_ROWS_MAX } from "../../config/limits.ts"
import type { Agent } from "../../domain/coordination/agent.ts"
import type { InboxMessage } from "../../domain/coordination/message.ts"
import type { Reservation } from "../../domain/coordination/reservation.ts"
import { touchAgentAt } from "../../store/coordination/agents.ts"
import {
  countInbox,
  listUnannounced,
  listUrgentUnread,
  messageNotice,
} from "../../store/coordination/messages.ts"
import { listReservationsIn } from "../../store/coordination/reservations.ts"
import { noteOnce, removeAnchors, wasNotified } from "../../store/coordination/sessions.ts"
import { noteWelcome } from "../../store/coordination/turns.ts"
import type { App } from "../app.ts"
import type { CallContext } from "../operation.ts"
import type { Claimant } from "./claims.ts"
import { type Holder, namedProjectKey, requireClaimant, type SessionClues } from "./holder.ts"
import type { Location } from "./locations.ts"
import { noteReturn } from "./presence.ts"
import { leave } from "./reservations.ts"
import { hasSiblings } from "./sessions.ts"

/** What an agent should know when its session starts. */
export interface SessionStart {
  claimant: Claimant
  /** What others hold around it, the exclusive first. */
  others: readonly Reservation[]
  unreadCount: number
  urgentCount: number
  nowMs: number
}

/**
 * Starts a session in a repository, making its agent when it has none; undefined for a session that nobody can tell
 * from others. The mail that it counts is mentioned no more if its model hears of it.
 */
export async function startSession(
  context: CallContext,
  holder: Holder,
  clues: SessionClues,
  { repository, rootPath }: Pick<Location, "repository" | "rootPath">,
  isHeard: boolean,
): Promise<SessionStart | undefined> {
  const { app } = context
  if (holder.session === undefined && holder.agents.length === 0) return undefined
  const projectKey = await namedProjectKey(clues)
  return app.db.transaction(`repository:${repository.id}`, async (tx) => {
    const nowMs = app.now()
    const dated = { ...context, nowMs }
    const claimant = await requireClaimant(tx, dated, holder, clues, {
      repository,
      workTree: rootPath,
      projectKey,
    })
    await noteReturn(tx, claimant.ownAgentIds, nowMs)
    await touchAgentAt(tx, claimant.agent.id, rootPath, nowMs)
    if (isHeard && holder.session !== undefined)
      await noteWelcome(tx, holder.session, claimant.agent.id, nowMs)
    const held = await listReservationsIn(tx, repository.id, nowMs, LISTING_ROWS_MAX)
    const others = held.filter(({ agentId }) => !claimant.ownAgentIds.has(agentId))
    const { unread } = await countInbox(tx, { agentId: claimant.agent.id })
    const urgent = await listUrgentUnread(tx, claimant.project.id, claimant.agent.id, LISTING_ROWS_MAX)
    return {
      claimant,
      others: others.sort((one, other) => Number(other.exclusive) - Number(one.exclusive)),
      unreadCount: unread,
      urgentCount: urgent.length,
      nowMs,
    }
  })
}

/** Returns what a session was not told of before, and notes that it is now; a session without a name is told each time. */
export async function takeUntold(
  app: App,
  { session }: Holder,
  texts: readonly string[],
): Promise<readonly string[]> {
  if (session === undefined) return texts
  const untold: string[] = []
  for (const text of texts) {
    if (await wasNotified(app.db, session, text)) continue
    if (await app.db.transaction("sessions", (tx) => noteOnce(tx, session, text, app.now())))
      untold.push(text)
  }
  return untold
}

/**
 * Releases everything that the session's agents hold, and tells that they are gone. Agents of a server under the same client process are
 * left alone while another conversation in that process may be theirs.
 */
export async function endSession(
  context: CallContext,
  holder: Holder,
  { tellsServersItsSession }: { tellsServersItsSession: boolean },
): Promise<void> {
  const { session } = holder
  const isAlone = session === undefined || !(await hasSiblings(context.app.db, session))
  for (const agent of holder.agents)
    if (isAlone || !agent.session?.startsWith("process:")) await leave(context, agent)
  // A client whose servers know the id may go on with the conversation under another, which finds this one.
  if (session !== undefined && !tellsServersItsSession)
    await context.app.db.transaction("sessions", (tx) => removeAnchors(tx, session))
}

/**
 * Returns urgent or acknowledgeable mail that the session was not told of before, of the first of its agents that has
 * any; it counts as told.
 */
export async function takeUnannouncedMail(
  { app }: CallContext,
  { session, agents }: Holder,
): Promise<{ agent: Agent; waiting: InboxMessage[] } | undefined> {
  if (session === undefined) return undefined
  for (const agent of agents) {
    // Most of the time there is nothing, which takes no lock to find out.
    if ((await listUnannounced(app.db, agent.id, session, 1)).length === 0) continue
    return app.db.transaction("sessions", async (tx) => {
      const waiting = await listUnannounced(tx, agent.id, session, HOOK_MESSAGES_TOLD_MAX)
      for (const { id } of waiting) await noteOnce(tx, session, messageNotice(agent.id, id), app.now())
      return { agent, waiting }
    })
  }
  return undefined
}
