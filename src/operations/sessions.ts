/**
 * Whose agents a session may speak for. A hook and a server of one conversation do not always know each
 * other by name: some clients tell only their hooks the id of the session. Then the client's process that
 * both were started by ties them together.
 */

import type { Queries } from "../db/database.ts"
import type { Agent } from "../domain/agent.ts"
import { isActive } from "../domain/agent.ts"
import { listAgentsOfSession } from "../store/agents.ts"
import { isSessionListed } from "../store/processes.ts"
import { listAnchors, listSessionsAt } from "../store/sessions.ts"

/** A session that a client named itself; all others are named after a server's process. */
const CLIENT_PREFIX = "client:"
const PROCESS_PREFIX = "process:"
const HTTP_PREFIX = "http:"
const PERSON_PREFIX = "user:"
/** An anchor that is another session: the one that the same conversation had before. */
const SESSION_ANCHOR = "session:"

/** Returns the name of a session that the client gave an id. */
export function clientSession(id: string): string {
  return `${CLIENT_PREFIX}${id}`
}

/** Returns the name of the session of calls over HTTP: a key's, and of one among several that it has. */
export function httpSession(keyId: number, name: string | undefined): string {
  return name === undefined ? `${HTTP_PREFIX}${keyId}` : `${HTTP_PREFIX}${keyId}:${name}`
}

/** Returns the name of the session of the person whose process this is; `name` serves where users have no number. */
export function personSession(name = "person"): string {
  return `${PERSON_PREFIX}${process.getuid?.() ?? name}`
}

/** Returns the anchor that ties a session to an earlier one of the same conversation. */
export function earlierSession(session: string): string {
  return `${SESSION_ANCHOR}${session}`
}

/**
 * Returns all the names of a session, its own first. A server that was told no id is one with the hooks
 * under its client's process, and the other way round; two ids that a client gave are two sessions,
 * unless the later one goes on with the earlier one's conversation.
 */
export async function sessionNames(db: Queries, session: string): Promise<string[]> {
  const anchors = await listAnchors(db, session)
  const earlier = anchors.filter((anchor) => anchor.startsWith(SESSION_ANCHOR))
  const later = await listSessionsAt(db, earlierSession(session), session)
  const names = [session, ...earlier.map((anchor) => anchor.slice(SESSION_ANCHOR.length)), ...later]
  const kin = session.startsWith(CLIENT_PREFIX) ? PROCESS_PREFIX : CLIENT_PREFIX
  for (const anchor of anchors) {
    if (!anchor.startsWith(PROCESS_PREFIX)) continue
    const sessions = (await listSessionsAt(db, anchor, session)).filter((other) => other.startsWith(kin))
    names.push(...sessions)
    // A client further up may have started other windows too; the nearest one that ties is the right one.
    if (sessions.length > 0) break
  }
  return [...new Set(names)]
}

/** Whether another session with an id of its own runs under the nearest process that a session is tied to. */
export async function hasSiblings(db: Queries, session: string): Promise<boolean> {
  const nearest = (await listAnchors(db, session)).find((anchor) => anchor.startsWith(PROCESS_PREFIX))
  if (nearest === undefined) return false
  return (await listSessionsAt(db, nearest, session)).some((other) => other.startsWith(CLIENT_PREFIX))
}

/** Returns the agents that a session's names speak for, the most recently active first. */
export async function listOwnAgents(db: Queries, names: readonly string[]): Promise<Agent[]> {
  const agents: Agent[] = []
  for (const name of names) agents.push(...(await listAgentsOfSession(db, name)))
  return agents.sort((one, other) => other.lastActiveAtMs - one.lastActiveAtMs || one.id - other.id)
}

/** Returns the agents that are one holder with an agent: itself and all of its session. */
export async function ownAgentIdsOf(db: Queries, agent: Agent): Promise<ReadonlySet<number>> {
  const names = agent.session === null ? [] : await sessionNames(db, agent.session)
  return new Set([agent.id, ...(await listOwnAgents(db, names)).map(({ id }) => id)])
}

/**
 * Whether another live session holds an agent. A person is always there; of what only a hook has made, or
 * what comes over HTTP, no process tells whether it lives, so it does for as long as it is active.
 */
export async function isHeldByOthers(
  db: Queries,
  agent: Agent,
  ownNames: readonly string[],
  nowMs: number,
): Promise<boolean> {
  if (agent.session === null || ownNames.includes(agent.session)) return false
  if (agent.session.startsWith(PERSON_PREFIX)) return true
  const isUnseen = !agent.isClaimed || agent.session.startsWith(HTTP_PREFIX)
  return (isUnseen && isActive(agent, nowMs)) || isSessionListed(db, agent.session)
}
