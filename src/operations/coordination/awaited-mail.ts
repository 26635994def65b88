/** Mail that somebody waits for: each message is told once to each agent that waits, and stays unread. */

import { AWAITED_MORE_MAX } from "../../config/limits.ts"
import type { Agent } from "../../domain/coordination/agent.ts"
import { findAgentById } from "../../store/coordination/agents.ts"
import { type AwaitedMail, listUntoldMail, markTold } from "../../store/coordination/mail-marks.ts"
import type { App } from "../app.ts"
import { type Letter, lettersOf } from "./mailbox.ts"

/** What a call that waits ends with. */
export interface NewMail {
  /** The oldest, with its text. */
  first: Letter
  /** The next ones, which are told of as well. */
  more: readonly Letter[]
  /** Whether there is even more, for the next call. */
  isMoreLeft: boolean
}

/**
 * Takes the oldest unread mail of one of some agents that this agent was told of by no call before; undefined without
 * any. An agent that another session has taken up since it was found gets no mail here, unless `findOwn` still finds it:
 * one whose session has ended meanwhile does, since its client may go on with what waits in the background.
 */
export async function takeNewMail(
  app: App,
  agents: readonly Agent[],
  awaited: AwaitedMail,
  findOwn: () => Promise<readonly Agent[]>,
): Promise<NewMail | undefined> {
  const { db } = app
  for (const owner of agents) {
    const { id } = owner
    if ((await listUntoldMail(db, id, awaited, 1)).length === 0) continue
    const isSame = (await findAgentById(db, id))?.session === owner.session
    if (!isSame && !(await findOwn()).some((agent) => agent.id === id)) continue
    // Of several that wait at once, one takes it.
    const taken = await db.transaction(`project:${owner.projectId}`, async (tx) => {
      const found = await listUntoldMail(tx, id, awaited, AWAITED_MORE_MAX + 2)
      const told = found.slice(0, AWAITED_MORE_MAX + 1)
      if (told.length > 0)
        await markTold(
          tx,
          id,
          told.map((message) => message.id),
        )
      return { told, isMoreLeft: found.length > told.length }
    })
    const [first, ...more] = await lettersOf(app, owner, taken.told)
    if (first !== undefined) return { first, more, isMoreLeft: taken.isMoreLeft }
  }
  return undefined
}
