/** Comings and goings of agents: whether the session that speaks for one has ended. All must run in a transaction. */

import type { Queries } from "../../db/database.ts"
import type { Agent } from "../../domain/coordination/agent.ts"
import { insertAgent, markGone, markPresent, updateAgent } from "../../store/coordination/agents.ts"
import { recordPresence } from "./recording.ts"

/** Stores a new agent. */
export async function addAgent(
  tx: Queries,
  agent: Parameters<typeof insertAgent>[1],
  nowMs: number,
): Promise<Agent> {
  const added = await insertAgent(tx, agent, nowMs)
  await recordPresence(tx, "agent.registered", added, nowMs)
  return added
}

/**
 * Stores an agent as a session goes on with it, which is told unless it is the session's own already: one that was
 * gone, another session's, or one that only its hook had made.
 */
export async function takeUp(
  tx: Queries,
  before: Agent,
  agent: Agent,
  ownNames: readonly string[],
  nowMs: number,
): Promise<Agent> {
  const taken = await updateAgent(tx, agent, nowMs)
  const wasGone = (await markPresent(tx, agent.id)) !== undefined
  const wasOwn = before.session !== null && ownNames.includes(before.session) && before.isClaimed
  if (wasGone || !wasOwn) await recordPresence(tx, "agent.resumed", taken, nowMs)
  return taken
}

/** Tells of those agents whose session has ended that they are there again. */
export async function noteReturn(tx: Queries, agentIds: Iterable<number>, nowMs: number): Promise<void> {
  for (const id of agentIds) {
    const agent = await markPresent(tx, id)
    if (agent !== undefined) await recordPresence(tx, "agent.resumed", agent, nowMs)
  }
}

/** Tells of an agent that its session has ended, unless that was told before. */
export async function noteGone(tx: Queries, agentId: number, nowMs: number): Promise<void> {
  const agent = await markGone(tx, agentId, nowMs)
  if (agent !== undefined) await recordPresence(tx, "agent.gone", agent, nowMs)
}
