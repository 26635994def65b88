/**
 * For whom the command line acts: the agent that is named, else the agent of the coding agent's session
 * that it runs in, else the person at the terminal.
 */

import { userInfo } from "node:os"
import type { Queries } from "../db/database.ts"
import { type Agent, closestName, isNotifier } from "../domain/agent.ts"
import { hasCoordinationScope } from "../domain/api-key.ts"
import type { Repository } from "../domain/project.ts"
import { AppError, assert, invalid } from "../errors.ts"
import { TERMINAL_PROCESS_NAMES } from "../hook/clients.ts"
import {
  type Caller,
  findClaimant,
  findHolder,
  type Holder,
  namedProjectKey,
  requireClaimant,
} from "../hook/holder.ts"
import { NAME_HINT_CHARS_MAX, NAME_HINT_CHARS_MIN } from "../limits.ts"
import { forbidden, requireAgent } from "../operations/admission.ts"
import { register } from "../operations/agents.ts"
import type { App } from "../operations/app.ts"
import type { Claimant } from "../operations/claims.ts"
import { authenticate } from "../operations/keys.ts"
import { repositoryAround } from "../operations/locations.ts"
import type { CallContext } from "../operations/operation.ts"
import { personSession } from "../operations/sessions.ts"
import { findAgentInRepository, listAgentNames, listAgentsOfSession } from "../store/agents.ts"
import { findLiveliestProject, findProjectById, findProjectByKey } from "../store/projects.ts"

/** What an agent of the command line is said to run. */
const PROGRAM = "signalbox-cli"
const MODEL_OF_PEOPLE = "human"
const NAME_OF_UNNAMED = "Human"

/** Authenticates a command; fails with `unauthenticated`, or with `forbidden` without a coordination scope. */
export async function callContext(app: App): Promise<CallContext> {
  const key = await authenticate(app)
  if (!hasCoordinationScope(key.scopes))
    throw forbidden("repo:{repository_id}:coordination or project:{project_key}:coordination")
  return { app, key, nowMs: app.now() }
}

/** Returns who acts in a repository, making an agent where there is none yet. */
export async function requireIdentity(context: CallContext, repository: Repository): Promise<Claimant> {
  const { app } = context
  const holder = await sessionHolder(app, repository)
  if (app.config.agent !== undefined)
    return claimantFor(app.db, await namedAgent(app, app.config.agent, repository), holder.agents)
  const known = await findClaimant(app.db, holder, repository)
  if (known !== undefined) return known
  const projectKey = await namedProjectKey(callerOf(app))
  // The session's own agent takes over what is made here when it registers.
  if (holder.session !== undefined) {
    return app.db.transaction(`repository:${repository.id}`, (tx) =>
      requireClaimant(tx, { ...context, nowMs: app.now() }, holder, callerOf(app), {
        repository,
        projectKey,
      }),
    )
  }
  const people = await listAgentsOfSession(app.db, userSession())
  const project = projectKey === undefined ? undefined : await findProjectByKey(app.db, projectKey)
  const isHere = ({ projectId, repositoryId }: Agent) =>
    projectKey === undefined ? repositoryId === repository.id : projectId === project?.id
  const person = people.find(isHere) ?? (await registerPerson(context, projectKey, repository))
  return claimantFor(app.db, person, people)
}

/**
 * Returns the agents whose reservations are the caller's own, making none: the named one alone, else all of
 * the session, else the person's. `repository` is where a name is looked up first.
 */
export async function findOwnAgents(app: App, repository: Repository | undefined): Promise<readonly Agent[]> {
  if (app.config.agent !== undefined) return [await namedAgent(app, app.config.agent, repository)]
  const holder = await sessionHolder(app, repository)
  if (holder.agents.length > 0 || holder.session !== undefined) return holder.agents
  return listAgentsOfSession(app.db, userSession())
}

/**
 * Returns every agent in whose session the command may be running, whatever the environment or an option
 * says: for what an agent may not do for itself.
 */
export async function agentsAround(app: App): Promise<readonly Agent[]> {
  const caller = callerOf(app)
  const bySession = await findHolder(app, caller, undefined, "beside")
  const byProcess = await findHolder(app, { ...caller, sessionId: undefined }, undefined, "beside")
  return [...bySession.agents, ...byProcess.agents]
}

/** Returns the name of the person at the terminal as the system knows it. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    // Users without an entry in the system's list have a number only.
    return ""
  }
}

/** Returns a system's user name as an agent's name, by the rules for name hints. */
export function personName(user: string): string {
  const name = user
    .normalize("NFKD")
    .replace(/[^A-Za-z0-9_-]/g, "")
    .slice(0, NAME_HINT_CHARS_MAX)
  return name.length < NAME_HINT_CHARS_MIN || isNotifier(name) ? NAME_OF_UNNAMED : name
}

function userSession(): string {
  return personSession(userName())
}

/** Registers the person: among those that work on the same code, or as the first one there. */
async function registerPerson(
  context: CallContext,
  projectKey: string | undefined,
  repository: Repository,
): Promise<Agent> {
  const { app } = context
  const homeRepository = await repositoryAround(app, app.config.workingFolder)
  const view = { ...app, session: userSession(), homeRepository }
  const joined = projectKey ?? (await findLiveliestProject(app.db, repository.id))?.key
  const identity = {
    project_key: joined ?? repository.rootPath,
    program: PROGRAM,
    model: MODEL_OF_PEOPLE,
    name_hint: personName(userName()),
    repository_id: repository.id,
  }
  const { agent } = await register({ ...context, app: view }, identity, { reserves: true })
  return agent
}

function sessionHolder(app: App, repository: Repository | undefined): Promise<Holder> {
  return findHolder(app, callerOf(app), repository, "beside")
}

function callerOf({ config }: App): Caller {
  return {
    program: config.program ?? PROGRAM,
    model: config.model,
    sessionId: config.clientSession,
    processNames: TERMINAL_PROCESS_NAMES,
    parentPid: process.ppid,
    // A name is looked up here, where it may also be wrong.
    agentName: undefined,
    projectKey: config.project,
  }
}

async function claimantFor(db: Queries, agent: Agent, others: readonly Agent[]): Promise<Claimant> {
  const project = await findProjectById(db, agent.projectId)
  assert(project !== undefined, `agent ${agent.id} has a project`)
  return { agent, project, ownAgentIds: new Set([agent.id, ...others.map(({ id }) => id)]) }
}

/**
 * Returns the agent of a name: in the configured project, or where none is configured, in the projects of the
 * repository. Fails with `not_found`, naming the likely meaning.
 */
async function namedAgent(app: App, name: string, repository: Repository | undefined): Promise<Agent> {
  if (isNotifier(name)) throw invalid("agent", `"${name}" sends notifications only`, "Name your own agent.")
  const projectKey = await namedProjectKey(callerOf(app))
  if (projectKey !== undefined) {
    const project = await findProjectByKey(app.db, projectKey)
    if (project !== undefined) return requireAgent(app.db, project, name)
    throw new AppError("not_found", `project "${projectKey}" was not found`, {
      hint: "SIGNALBOX_PROJECT names it: unset that, or let an agent register there first.",
    })
  }
  const agent = repository && (await findAgentInRepository(app.db, repository.id, name))
  if (agent !== undefined) return agent
  const project = repository && (await findLiveliestProject(app.db, repository.id))
  const likely = project && closestName(name, await listAgentNames(app.db, project.id))
  throw new AppError("not_found", `agent "${name}" was not found in the projects of this repository`, {
    hint:
      likely === undefined
        ? "Set SIGNALBOX_PROJECT to the agent's project, or leave the name out."
        : `Did you mean ${likely}?`,
  })
}
