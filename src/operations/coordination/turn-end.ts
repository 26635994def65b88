/**
 * Mail and the turns of a session: what is handed over before its agent stops, and what is mentioned with the next
 * prompt of its user.
 */

import { HOOK_MESSAGES_TOLD_MAX, PUSHED_MESSAGES_MAX, TURN_PUSHES_MAX } from "../../config/limits.ts"
import type { Agent } from "../../domain/coordination/agent.ts"
import type { InboxMessage } from "../../domain/coordination/message.ts"
import {
  listOrdinaryUnread,
  listUnpushed,
  messageNotice,
  pushNotice,
} from "../../store/coordination/messages.ts"
import { noteOnce } from "../../store/coordination/sessions.ts"
import { countPush, findTurn, notePrompt, type Turn } from "../../store/coordination/turns.ts"
import type { CallContext } from "../operation.ts"
import type { Holder } from "./holder.ts"

/** A message that an agent is handed before it stops, with its text. */
export interface Push {
  agent: Agent
  message: InboxMessage
}

/** New mail of an agent that nobody waits for, newest first. */
export interface Mention {
  agent: Agent
  mail: readonly InboxMessage[]
}

type Session = Pick<Holder, "session" | "agents">

/**
 * Whether a session may be handed mail. A turn that goes on because of another hook may have begun the count anew: of
 * one that `isResumed` without any push of ours, nobody knows how many there were.
 */
function mayPush({ pushes }: Turn, isResumed: boolean): boolean {
  return pushes < TURN_PUSHES_MAX && !(isResumed && pushes === 0)
}

/** Whether a session's agents have anything that they are to be handed; takes no lock and writes nothing. */
export async function hasPushes(
  { app: { db } }: CallContext,
  { session, agents }: Session,
  isResumed: boolean,
): Promise<boolean> {
  if (session === undefined || agents.length === 0) return false
  const turn = await findTurn(db, session)
  if (!mayPush(turn, isResumed)) return false
  for (const agent of agents)
    if ((await listUnpushed(db, agent.id, session, turn.promptedAtMs, 1)).length > 0) return true
  return false
}

/**
 * Returns the unread mail that is urgent or waits for an acknowledgment and has come since the last prompt, urgent
 * first, at most 3 messages; each counts as handed over. [] once a session was handed mail twice since that prompt.
 */
export async function takePushes(
  { app }: CallContext,
  { session, agents }: Session,
  isResumed: boolean,
): Promise<readonly Push[]> {
  if (session === undefined) return []
  return app.db.transaction("sessions", async (tx) => {
    const turn = await findTurn(tx, session)
    if (!mayPush(turn, isResumed)) return []
    const taken: Push[] = []
    for (const agent of agents) {
      const left = PUSHED_MESSAGES_MAX - taken.length
      if (left === 0) break
      for (const message of await listUnpushed(tx, agent.id, session, turn.promptedAtMs, left)) {
        await noteOnce(tx, session, pushNotice(agent.id, message.id), app.now())
        // Who has its text need not be told that it is there.
        await noteOnce(tx, session, messageNotice(agent.id, message.id), app.now())
        taken.push({ agent, message })
      }
    }
    if (taken.length > 0) await countPush(tx, session, app.now())
    return taken
  })
}

/**
 * Begins a turn at a prompt of the user: mail may be handed over again. Returns the ordinary mail that has come since
 * it was last mentioned, of each agent that has any; with `tells` it counts as mentioned.
 */
export async function beginTurn(
  { app }: CallContext,
  { session, agents }: Session,
  tells: boolean,
): Promise<readonly Mention[]> {
  if (session === undefined) return []
  return app.db.transaction("sessions", async (tx) => {
    const { mentionedTo } = await findTurn(tx, session)
    const mentions: Mention[] = []
    for (const agent of tells ? agents : []) {
      const mail = await listOrdinaryUnread(tx, agent.id, mentionedTo, HOOK_MESSAGES_TOLD_MAX)
      if (mail.length > 0) mentions.push({ agent, mail })
    }
    const newest = mentions.flatMap(({ mail }) => mail.map(({ id }) => id))
    await notePrompt(tx, session, Math.max(mentionedTo, ...newest), app.now())
    return mentions
  })
}
