/**
 * For whom the hook speaks: the session behind a payload, its agents, and which of them edits. A session
 * that has no agent yet is given one, which its own agent takes over when it registers.
 */

import type { Queries } from "../db/database.ts"
import { type Agent, isNotifier } from "../domain/agent.ts"
import type { Project, Repository } from "../domain/project.ts"
import { assert } from "../errors.ts"
import { canonicalProjectKey } from "../git/repository.ts"
import { MODEL_CHARS_MAX } from "../limits.ts"
import { chooseName, openProject } from "../operations/agents.ts"
import type { App } from "../operations/app.ts"
import type { Claimant } from "../operations/claims.ts"
import type { CallContext } from "../operations/operation.ts"
import { clientSession, earlierSession, listOwnAgents, sessionNames } from "../operations/sessions.ts"
import { clientProcessesAbove } from "../process-ancestry.ts"
import { isStillRunning } from "../process-identity.ts"
import { findAgentByName, findAgentInRepository, insertAgent } from "../store/agents.ts"
import {
  findLiveliestProject,
  findProjectById,
  findProjectByKey,
  linkRepository,
  listProjectRepositoryIds,
} from "../store/projects.ts"
import { listAnchors, listSessionsAt, putAnchors, untie } from "../store/sessions.ts"

/** What the hook knows of who called it. */
export interface Caller {
  /** The name of the client's program, for an agent that has to be made. */
  program: string
  model: string | undefined
  /** The client's own id of its session. */
  sessionId: string | undefined
  /** Lower-case names of the client's processes. */
  processNames: ReadonlySet<string>
  /** The process that started the hook. */
  parentPid: number | undefined
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
}

/** A call can start a session, be made within one, or come from beside, as git and the command line do. */
export type CallKind = "starts" | "within" | "beside"

/** Marks a session of which the processes above were looked at and say nothing. */
const NOTHING_ABOVE = "none"

/**
 * Returns the session behind a call with its agents, the one first that the environment names. A session is
 * tied to its client's process when it starts, when it is new, and when the process it was in has ended;
 * calls from beside tie nothing.
 */
export async function findHolder(
  app: App,
  caller: Caller,
  repository: Repository | undefined,
  kind: CallKind = "within",
): Promise<Holder> {
  const session = await sessionOf(app, caller, kind)
  const names = session === undefined ? await namesAbove(app.db, caller) : await sessionNames(app.db, session)
  const agents = [...(await namedAgent(app.db, caller, repository)), ...(await listOwnAgents(app.db, names))]
  return { session, names, agents }
}

/** Whether the client's process above a session is known, and with it which servers are its own. */
export async function isTied(db: Queries, { session }: Holder): Promise<boolean> {
  return session === undefined || !(await listAnchors(db, session)).includes(NOTHING_ABOVE)
}

/**
 * Ties a session to those that its client's process had before it: the same conversation, under a new id.
 * Only for clients that run one conversation a process.
 */
export async function continueEarlierSession(app: App, session: string): Promise<void> {
  const nearest = (await listAnchors(app.db, session)).find((anchor) => anchor.startsWith("process:"))
  if (nearest === undefined) return
  const earlier = await listSessionsAt(app.db, nearest, session)
  await app.db.transaction("sessions", (tx) =>
    putAnchors(tx, session, earlier.map(earlierSession), app.now()),
  )
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
export async function namedProjectKey({ projectKey }: Caller): Promise<string | undefined> {
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
  caller: Caller,
  work: { repository: Repository; projectKey: string | undefined },
): Promise<Claimant> {
  const agents = await listOwnAgents(tx, holder.names)
  const current = { ...holder, agents: [...holder.agents, ...agents] }
  const known = await findClaimant(tx, current, work.repository)
  if (known !== undefined) return known
  assert(holder.session !== undefined, "a claimant has a session")
  // It joins those that work on the same code; the first one there opens the project they will find.
  const joined =
    work.projectKey === undefined ? await findLiveliestProject(tx, work.repository.id) : undefined
  const key = work.projectKey ?? work.repository.rootPath
  const project = joined ?? (await openProject(tx, context, key, work.repository.id))
  await linkRepository(tx, project.id, work.repository.id)
  const agent = await insertAgent(
    tx,
    {
      projectId: project.id,
      name: await chooseName(tx, project, undefined, false, context.app.random),
      program: caller.program,
      model: caller.model?.slice(0, MODEL_CHARS_MAX) ?? "unknown",
      taskDescription: null,
      repositoryId: work.repository.id,
      contactPolicy: "auto",
      session: holder.session,
      isClaimed: false,
    },
    context.nowMs,
  )
  return claimantFor(current, agent, project)
}

function claimantFor(holder: Holder, agent: Agent, project: Project): Claimant {
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

async function sessionOf(app: App, caller: Caller, kind: CallKind): Promise<string | undefined> {
  if (caller.sessionId !== undefined) {
    const session = clientSession(caller.sessionId)
    if (kind === "beside") return session
    const stands = (await listAnchors(app.db, session)).some(isStanding)
    const above = stands && kind === "within" ? [] : processesAbove(caller)
    if (!stands || above.length > 0) await tie(app, session, above)
    return session
  }
  // Without an id the client's process itself is what tells its sessions apart.
  const above = kind === "beside" ? [] : processesAbove(caller)
  const [nearest] = above
  if (nearest === undefined) return undefined
  const session = clientSession(nearest)
  if ((await listAnchors(app.db, session)).join() !== above.join()) await tie(app, session, above)
  return session
}

/** Returns the sessions that are known of the nearest of the client's processes. */
async function namesAbove(db: Queries, caller: Caller): Promise<string[]> {
  for (const anchor of processesAbove(caller)) {
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

function tie(app: App, session: string, above: readonly string[]): Promise<void> {
  const anchors = above.length === 0 ? [NOTHING_ABOVE] : above
  return app.db.transaction("sessions", async (tx) => {
    await untie(tx, session)
    await putAnchors(tx, session, anchors, app.now())
  })
}

function processesAbove({ parentPid, processNames }: Caller): string[] {
  return parentPid === undefined ? [] : clientProcessesAbove(parentPid, processNames)
}

/** Returns the agent that the environment names, as a list of one or none. */
async function namedAgent(db: Queries, caller: Caller, repository: Repository | undefined): Promise<Agent[]> {
  const { agentName } = caller
  if (agentName === undefined || isNotifier(agentName)) return []
  const key = await namedProjectKey(caller)
  const project = key === undefined ? undefined : await findProjectByKey(db, key)
  if (project !== undefined) return asList(await findAgentByName(db, project.id, agentName))
  return asList(repository && (await findAgentInRepository(db, repository.id, agentName)))
}

function asList(agent: Agent | undefined): Agent[] {
  return agent === undefined ? [] : [agent]
}
