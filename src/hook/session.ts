/** The two ends of a session, and the mail that waits in between. */

import type { Repository } from "../domain/project.ts"
import { modeOf } from "../domain/reservation.ts"
import { LISTING_ROWS_MAX } from "../limits.ts"
import type { CallContext } from "../operations/operation.ts"
import { releaseOf } from "../operations/reservations.ts"
import { hasSiblings } from "../operations/sessions.ts"
import { touchAgent } from "../store/agents.ts"
import { countInbox, listUntold, listUrgentUnread, messageNotice } from "../store/messages.ts"
import { listReservationsIn } from "../store/reservations.ts"
import { noteOnce, untie } from "../store/sessions.ts"
import { type Caller, type Holder, namedProjectKey, requireClaimant } from "./holder.ts"
import { mailText, welcomeText } from "./texts.ts"

/** Messages that one line tells of. */
const WAITING_MAX = 20

/**
 * Returns what the model is told when its session starts, making its agent when it has none; undefined
 * for a session that nobody can tell from others.
 */
export async function welcome(
  context: CallContext,
  holder: Holder,
  caller: Caller,
  repository: Repository,
): Promise<string | undefined> {
  const { app } = context
  if (holder.session === undefined && holder.agents.length === 0) return undefined
  const projectKey = await namedProjectKey(caller)
  return app.db.transaction(`repository:${repository.id}`, async (tx) => {
    const nowMs = app.now()
    const dated = { ...context, nowMs }
    const claimant = await requireClaimant(tx, dated, holder, caller, { repository, projectKey })
    await touchAgent(tx, claimant.agent.id, nowMs)
    const held = await listReservationsIn(tx, repository.id, nowMs, LISTING_ROWS_MAX)
    const others = held.filter(({ agentId }) => !claimant.ownAgentIds.has(agentId))
    const { unread } = await countInbox(tx, { agentId: claimant.agent.id })
    const urgent = await listUrgentUnread(tx, claimant.project.id, claimant.agent.id, LISTING_ROWS_MAX)
    return welcomeText({
      claimant,
      isClaimed: claimant.agent.isClaimed,
      others: others.sort(
        (one, other) => Number(modeOf(other) === "exclusive") - Number(modeOf(one) === "exclusive"),
      ),
      unreadCount: unread,
      urgentCount: urgent.length,
      nowMs,
    })
  })
}

/**
 * Releases everything that the session's agents hold. Agents of a server under the same client process are
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
    if (isAlone || !agent.session?.startsWith("process:")) await releaseOf(context, agent)
  // A client whose servers know the id may go on with the conversation under another, which finds this one.
  if (session !== undefined && !tellsServersItsSession)
    await context.app.db.transaction("sessions", (tx) => untie(tx, session))
}

/** Returns one line about urgent or acknowledgeable mail that the session was not told of before. */
export async function tellMail({ app }: CallContext, holder: Holder): Promise<string | undefined> {
  const { session } = holder
  if (session === undefined) return undefined
  for (const agent of holder.agents) {
    // Most of the time there is nothing, which takes no lock to find out.
    if ((await listUntold(app.db, agent.id, session, 1)).length === 0) continue
    return app.db.transaction("sessions", async (tx) => {
      const waiting = await listUntold(tx, agent.id, session, WAITING_MAX)
      for (const { id } of waiting) await noteOnce(tx, session, messageNotice(agent.id, id), app.now())
      return mailText(agent, waiting)
    })
  }
  return undefined
}
