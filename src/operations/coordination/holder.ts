/**
 * For whom a hook or a command speaks: the session behind it, its agents, and which of them edits. A session
 * that has no agent yet is given one, which its own agent takes over when it registers.
 */

import { MODEL_CHARS_MAX } from "../../config/limits.ts"
import type { Queries } from "../../db/database.ts"
import { type Agent, isNotifier, MODEL_UNKNOWN } from "../../domain/coordination/agent.ts"
import type { Project, Repository } from "../../domain/project.ts"
import { assert } from "../../errors.ts"
import { canonicalProjectKey } from "../../git/repository.ts"
import { isStillRunning } from "../../runtime/process-identity.ts"
import { findAgentByName, findAgentInRepository } from "../../store/coordination/agents.ts"
import { listAnchors, listSessionsAt, putAnchors, removeAnchors } from "../../store/coordination/sessions.ts"
import {
  findMostActiveProject,
  findProjectById,
  findProjectByKey,
  linkRepository,
  listProjectRepositoryIds,
} from "../../store/projects.ts"
import type { App } from "../app.ts"
import type { CallContext } from "../operation.ts"
import { mayActAs, takeBack } from "./acting.ts"
import { openProject } from "./agents.ts"
import type { Claimant } from "./claims.ts"
import { chooseName } from "./names.ts"
import { addAgent } from "./presence.ts"
import { clientSession, earlierSession, listOwnAgents, sessionNames } from "./sessions.ts"

/** What a hook or a command knows of the session that it was started in. */
export interface SessionClues {
  /** The name of the client's program, for an agent that has to be made. */
  program: string
  model: string | undefined
  /** The client's own id of its session. */
  sessionId: string | undefined
  /** Looks for the client's processes above, nearest first; each is an anchor. */
  processesAbove(): readonly string[]
  /** SIGNALBOX_AGENT and SIGNALBOX_PROJECT, where the hook was started. */
  agentName: string | undefined
  projectKey: string | undefined
}

export interface Holder {
  /** Undefined when nothing names the session, and in calls that begin none. */
  session: string | undefined
  /** All names of the session. */
  names: readonly string[]
  /** The agents it speaks for, the most recently active first. */
  agents: readonly Agent[]
  /** Why the agent that the environment names does not count. */
  warnings: readonly string[]
}

/** A call can start a session, be made within one, end it, or come from beside, as git and the command line do. */
type CallKind = "starts" | "within" | "ends" | "beside"

/** Marks a session of which the processes above were looked at and say nothing. */
const NOTHING_ABOVE = "none"

/**
 * Returns the session behind a call with its agents, the one first that the environment names: another session's
 * does not count. A session is tied to its client's process when it starts, when it is new, and when the process it
 * was in has ended; calls from beside tie nothing. One that returns gets back what others took up meanwhile; its end,
 * which may come late, is no return.
 */
export async function findHolder(
  app: App,
  clues: SessionClues,
  repository: Repository | undefined,
  kind: CallKind = "within",
): Promise<Holder> {
  const session = await sessionOf(app, clues, kind)
  const names = session === undefined ? await namesAbove(app.db, clues) : await sessionNames(app.db, session)
  let own = await listOwnAgents(app.db, names)
  if (kind === "starts" || (own.length === 0 && kind !== "ends")) {
    await takeBack(app, names)
    own = await listOwnAgents(app.db, names)
  }
  const named = await findNamedAgent(app.db, clues, clues.agentName, repository)
  if (named === undefined) return { session, names, agents: own, warnings: [] }
  if (mayActAs(app, named, names)) return { session, names, agents: [named, ...own], warnings: [] }
  const warning = `SIGNALBOX_AGENT is ignored: ${named.name} is no agent of this session`
  return { session, names, agents: own, warnings: [warning] }
}

/** Whether the client's process above a session is known, and with it which servers are its own. */
export async function isAnchored(db: Queries, { session }: Holder): Promise<boolean> {
  return session === undefined || !(await listAnchors(db, session)).includes(NOTHING_ABOVE)
}

/**
 * Ties a session to those that its client's process had before it, the same conversation under a new id, and returns
 * it with their agents. Only for clients that run one conversation a process.
 */
export async function continueEarlierSession(
  app: App,
  clues: SessionClues,
  holder: Holder,
  repository: Repository | undefined,
): Promise<Holder> {
  const { session } = holder
  if (session === undefined) return holder
  const nearest = (await listAnchors(app.db, session)).find((anchor) => anchor.startsWith("process:"))
  if (nearest !== undefined) {
    const earlier = await listSessionsAt(app.db, nearest, session)
    await app.db.transaction("sessions", (tx) =>
      putAnchors(tx, session, earlier.map(earlierSession), app.now()),
    )
  }
  return findHolder(app, clues, repository)
}

/** Returns who claims files of a repository, if the session has an agent. */
export async function findClaimant(
  db: Queries,
  holder: Holder,
  repository: Repository,
): Promise<Claimant | undefined> {
  const agent = (await agentIn(db, holder, repository)) ?? holder.agents[0]
  if (agent === undefined) return undefined
  const project = await findProjectById(db, agent.projectId)
  assert(project !== undefined, `agent ${agent.id} has a project`)
  return claimantFor(holder, agent, project)
}

/** Returns the key of the project that the environment names; found before the transaction that needs it. */
export async function namedProjectKey({ projectKey }: SessionClues): Promise<string | undefined> {
  return projectKey === undefined ? undefined : canonicalProjectKey(projectKey)
}

/**
 * Returns who claims files of a repository, making an agent for a session that has none. Must run in a
 * transaction; `holder` must have a session.
 */
export async function requireClaimant(
  tx: Queries,
  context: CallContext,
  holder: Holder,
  clues: SessionClues,
  work: {
    repository: Repository
    /** The root of the work tree, where it is known. */
    workTree?: string | undefined
    projectKey: string | undefined
  },
): Promise<Claimant> {
  const agents = await listOwnAgents(tx, holder.names)
  const current = { ...holder, agents: [...holder.agents, ...agents] }
  const known = await findClaimant(tx, current, work.repository)
  if (known !== undefined) return known
  assert(holder.session !== undefined, "a claimant has a session")
  // It joins those that work on the same code; the first one there opens the project they will find.
  const joined =
    work.projectKey === undefined ? await findMostActiveProject(tx, work.repository.id) : undefined
  const key = work.projectKey ?? work.repository.rootPath
  const project = joined ?? (await openProject(tx, context, key, work.repository.id))
  await linkRepository(tx, project.id, work.repository.id)
  const agent = await addAgent(
    tx,
    {
      projectId: project.id,
      name: await chooseName(tx, project, undefined, { random: context.app.random }),
      program: clues.program,
      model: clues.model?.slice(0, MODEL_CHARS_MAX) ?? MODEL_UNKNOWN,
      taskDescription: null,
      repositoryId: work.repository.id,
      contactPolicy: "auto",
      session: holder.session,
      isClaimed: false,
      workTree: work.workTree ?? null,
    },
    context.nowMs,
  )
  return claimantFor(current, agent, project)
}

/** Returns an agent as who claims, together with all agents of its session. */
export function claimantFor(holder: Pick<Holder, "agents">, agent: Agent, project: Project): Claimant {
  return { agent, project, ownAgentIds: new Set([agent.id, ...holder.agents.map(({ id }) => id)]) }
}

/** Returns the session's agent that works in a repository, if one does. */
async function agentIn(db: Queries, holder: Holder, repository: Repository): Promise<Agent | undefined> {
  for (const agent of holder.agents) {
    if (agent.repositoryId === repository.id) return agent
    if ((await listProjectRepositoryIds(db, agent.projectId)).includes(repository.id)) return agent
  }
  return undefined
}

async function sessionOf(app: App, clues: SessionClues, kind: CallKind): Promise<string | undefined> {
  if (clues.sessionId !== undefined) {
    const session = clientSession(clues.sessionId)
    if (kind === "beside") return session
    const stands = (await listAnchors(app.db, session)).some(isStanding)
    const above = stands && kind !== "starts" ? [] : clues.processesAbove()
    if (!stands || above.length > 0) await anchorSession(app, session, above)
    return session
  }
  // Without an id the client's process itself is what tells its sessions apart.
  const above = kind === "beside" ? [] : clues.processesAbove()
  const [nearest] = above
  if (nearest === undefined) return undefined
  const session = clientSession(nearest)
  if ((await listAnchors(app.db, session)).join() !== above.join()) await anchorSession(app, session, above)
  return session
}

/** Returns the sessions that are known of the nearest of the client's processes. */
async function namesAbove(db: Queries, clues: SessionClues): Promise<string[]> {
  for (const anchor of clues.processesAbove()) {
    const sessions = await listSessionsAt(db, anchor, "")
    if (sessions.length > 0) return sessions
  }
  return []
}

/** Whether an anchor is a process that lives, or says that there is none to be found. */
function isStanding(anchor: string): boolean {
  const [, pid, mark = ""] = /^process:(\d+):(.*)$/.exec(anchor) ?? []
  return anchor === NOTHING_ABOVE || (pid !== undefined && isStillRunning(Number(pid), mark))
}

function anchorSession(app: App, session: string, above: readonly string[]): Promise<void> {
  const anchors = above.length === 0 ? [NOTHING_ABOVE] : above
  return app.db.transaction("sessions", async (tx) => {
    await removeAnchors(tx, session)
    await putAnchors(tx, session, anchors, app.now())
  })
}

/**
 * Returns the agent of a name: in the configured project, or where that does not exist or none is configured, in the
 * projects of the repository.
 */
async function findNamedAgent(
  db: Queries,
  clues: SessionClues,
  name: string | undefined,
  repository: Repository | undefined,
): Promise<Agent | undefined> {
  if (name === undefined || isNotifier(name)) return undefined
  const key = await namedProjectKey(clues)
  const project = key === undefined ? undefined : await findProjectByKey(db, key)
  if (project !== undefined) return findAgentByName(db, project.id, name)
  return repository && findAgentInRepository(db, repository.id, name)
}
