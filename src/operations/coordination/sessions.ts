/**
 * Whose agents a session may speak for. A hook and a server of one conversation do not always know each
 * other by name: some clients tell only their hooks the id of the session. Then the client's process that
 * both were started by ties them together.
 */

import type { Queries } from "../../db/database.ts"
import type { ApiKey } from "../../domain/api-key.ts"
import type { Agent } from "../../domain/coordination/agent.ts"
import { isActive, isPerson, PERSON_SESSION_PREFIX } from "../../domain/coordination/agent.ts"
import { listAgentsOfSession } from "../../store/coordination/agents.ts"
import { listAnchors, listSessionsAt, putAnchors } from "../../store/coordination/sessions.ts"
import { isSessionListed } from "../../store/processes.ts"
import type { App } from "../app.ts"

/** A session that a client named itself; all others are named after a server's process. */
const CLIENT_PREFIX = "client:"
const PROCESS_PREFIX = "process:"
const HTTP_PREFIX = "http:"
/** An anchor that is another session: the one that the same conversation had before. */
const SESSION_ANCHOR = "session:"

/** Returns the name of a session that the client gave an id. */
export function clientSession(id: string): string {
  return `${CLIENT_PREFIX}${id}`
}

/** Returns the client's own id of the session that a process runs in, where there is one. */
export function sessionIdOf({ config, client }: Pick<App, "config" | "client">): string | undefined {
  const { namedSession, inheritedSessions } = config
  // The processes above are looked for only where they decide something.
  return namedSession ?? (inheritedSessions.length === 0 ? undefined : client().session)
}

/** Returns the name of the session that a process speaks for: the client's own, where it named one, else the process. */
export function processSession(app: Pick<App, "config" | "client" | "processName">): string {
  const id = sessionIdOf(app)
  return id === undefined ? serverSession(app) : clientSession(id)
}

/** Whether a coding agent's client has given a session its name. */
export function isClientSession(session: string): boolean {
  return session.startsWith(CLIENT_PREFIX)
}

/** Whether a session may come back after its end: one that its client named, not one named after a process. */
export function isReturning(session: string): boolean {
  return isClientSession(session) && !session.startsWith(`${CLIENT_PREFIX}${PROCESS_PREFIX}`)
}

/** Returns the name of the session of a process that no client runs. */
export function serverSession({ processName }: Pick<App, "processName">): string {
  return `${PROCESS_PREFIX}${processName}`
}

/** Returns the name of the session that a call speaks for: the one that it came with, else its key's. */
export function sessionOf({
  caller,
  key,
}: {
  caller: { session: string | undefined }
  key: { id: number }
}): string {
  return caller.session ?? `${HTTP_PREFIX}${key.id}`
}

/**
 * Returns the name of the session of a call over HTTP: its key's, or of several that it has the named one. With the
 * scope `*` a name that is a known client's id of its session is that session.
 */
export async function httpSessionOf(
  { app, key }: { app: App; key: ApiKey },
  named: string | undefined,
): Promise<string> {
  if (named === undefined) return `${HTTP_PREFIX}${key.id}`
  const ofKey = `${HTTP_PREFIX}${key.id}:${named}`
  const session = clientSession(named)
  if (!key.scopes.includes("*") || !(await isKnown(app.db, session))) return ofKey
  // What it did before anything else told of the client's session stays its own.
  const tie = earlierSession(ofKey)
  if (!(await listAnchors(app.db, session)).includes(tie))
    await app.db.transaction("sessions", (tx) => putAnchors(tx, session, [tie], app.now()))
  return session
}

/** Whether a server, a hook or an agent is of a session. */
async function isKnown(db: Queries, session: string): Promise<boolean> {
  return (
    (await isSessionListed(db, session)) ||
    (await listAnchors(db, session)).length > 0 ||
    (await listAgentsOfSession(db, session)).length > 0
  )
}

/** Returns the name of the session of the person whose process this is; `name` serves where users have no number. */
export function personSession(name = "person"): string {
  return `${PERSON_SESSION_PREFIX}${process.getuid?.() ?? name}`
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
  const otherPrefix = isClientSession(session) ? PROCESS_PREFIX : CLIENT_PREFIX
  for (const anchor of anchors) {
    if (!anchor.startsWith(PROCESS_PREFIX)) continue
    const sessions = (await listSessionsAt(db, anchor, session)).filter((other) =>
      other.startsWith(otherPrefix),
    )
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
  return (await listSessionsAt(db, nearest, session)).some(isClientSession)
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
  if (isPerson(agent)) return true
  if (await isSessionListed(db, agent.session)) return true
  return isActive(agent, nowMs) && (!agent.isClaimed || (await isOverHttp(db, agent.session)))
}

/** Whether calls over HTTP speak for a session: those of a key's own, or of a client's that they have named. */
export async function isOverHttp(db: Queries, session: string): Promise<boolean> {
  if (session.startsWith(HTTP_PREFIX)) return true
  return (await listAnchors(db, session)).some((anchor) =>
    anchor.startsWith(`${SESSION_ANCHOR}${HTTP_PREFIX}`),
  )
}
