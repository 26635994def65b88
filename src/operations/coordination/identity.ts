/**
 * For whom the command line acts: the agent that is named, else the agent of the coding agent's session
 * that it runs in, else the person at the terminal.
 */

import type { Queries } from "../../db/database.ts"
import { type Agent, closestName, isNotifier, PERSON_PROGRAM } from "../../domain/coordination/agent.ts"
import { echoed, inQuotes, named } from "../../domain/foreign-text/markdown.ts"
import type { Project, Repository } from "../../domain/project.ts"
import { AppError, assert, invalid } from "../../errors.ts"
import {
  findAgentInRepository,
  listAgentNames,
  listAgentsOfSession,
} from "../../store/coordination/agents.ts"
import { findMostActiveProject, findProjectById, findProjectByKey } from "../../store/projects.ts"
import { requireAgent } from "../admission.ts"
import type { App } from "../app.ts"
import type { CallContext } from "../operation.ts"
import { requireOwnAgent } from "./acting.ts"
import { register } from "./agents.ts"
import type { Claimant } from "./claims.ts"
import {
  claimantFor,
  findClaimant,
  findHolder,
  type Holder,
  namedProjectKey,
  requireClaimant,
  type SessionClues,
} from "./holder.ts"
import { repositoryAround } from "./locations.ts"

const MODEL_OF_PEOPLE = "human"

/** What a terminal tells of who types in it. */
export interface Terminal {
  /** The agent that is named, by the configuration or an option. */
  agentName: string | undefined
  /** Of the coding agent's session around it; no agent is named in them. */
  clues: SessionClues
  /** The person, and the name that it would like as an agent. */
  person: { session: string; nameHint: string }
}

/** Returns who acts in a repository, making an agent where there is none yet. */
export async function requireIdentity(
  context: CallContext,
  terminal: Terminal,
  repository: Repository,
): Promise<Claimant> {
  const { app } = context
  const { agentName, clues, person } = terminal
  const holder = await findHolder(app, clues, repository, "beside")
  if (agentName !== undefined)
    return claimantOf(
      app.db,
      holder.agents,
      await ownNamedAgent(app, terminal, holder, agentName, repository),
    )
  const known = await findClaimant(app.db, holder, repository)
  if (known !== undefined) return known
  const projectKey = await namedProjectKey(clues)
  // The session's own agent takes over what is made here when it registers.
  if (holder.session !== undefined) {
    return app.db.transaction(`repository:${repository.id}`, (tx) =>
      requireClaimant(tx, { ...context, nowMs: app.now() }, holder, clues, {
        repository,
        projectKey,
      }),
    )
  }
  const people = await listAgentsOfSession(app.db, person.session)
  const project =
    projectKey === undefined
      ? await findMostActiveProject(app.db, repository.id)
      : await findProjectByKey(app.db, projectKey)
  const worksHere = ({ repositoryId }: Agent) => projectKey === undefined && repositoryId === repository.id
  // A person is one agent in a project, whatever repositories that has.
  const own =
    people.find(worksHere) ??
    people.find(({ projectId }) => projectId === project?.id) ??
    (await registerPerson(context, person, projectKey, repository))
  return claimantOf(app.db, people, own)
}

/**
 * Returns the agents whose reservations are the caller's own, making none: the named one alone, else all of
 * the session, else the person's. `repository` is where a name is looked up first.
 */
export async function findOwnAgents(
  app: App,
  terminal: Terminal,
  repository: Repository | undefined,
): Promise<readonly Agent[]> {
  const { agentName, clues, person } = terminal
  const holder = await findHolder(app, clues, repository, "beside")
  if (agentName !== undefined) return [await ownNamedAgent(app, terminal, holder, agentName, repository)]
  if (holder.agents.length > 0 || holder.session !== undefined) return holder.agents
  return listAgentsOfSession(app.db, person.session)
}

/**
 * Returns who writes mail in a project, making the person's agent there where there is none yet; `repository` is what
 * a new one works in. Fails with `refused` for an agent of another project, and for a session that has none.
 */
export async function requireWriter(
  context: CallContext,
  terminal: Terminal,
  project: Project,
  repository: Repository | undefined,
): Promise<Agent> {
  const { app } = context
  const { agentName, clues, person } = terminal
  const around = await repositoryAround(app, app.config.workingFolder)
  const holder = await findHolder(app, clues, around, "beside")
  const isAgents = agentName !== undefined || holder.agents.length > 0 || holder.session !== undefined
  const own = isAgents
    ? await findOwnAgents(app, terminal, around)
    : await listAgentsOfSession(app.db, person.session)
  const writer = own.find(({ projectId }) => projectId === project.id)
  if (writer !== undefined) return writer
  if (!isAgents) return registerPerson(context, person, project.key, repository)
  const [agent] = own
  throw new AppError(
    "refused",
    agent === undefined
      ? "this session has no agent yet, so nobody could answer"
      : `${agent.name} is in another project than ${named(project.key)}, and mail stays within one`,
    { hint: `Call macro-start-session with project_key ${inQuotes(project.key)} first.` },
  )
}

/** Registers the person: among those that work on the same code, or as the first one there. */
async function registerPerson(
  context: CallContext,
  { session, nameHint }: Terminal["person"],
  projectKey: string | undefined,
  repository: Repository | undefined,
): Promise<Agent> {
  const { app } = context
  const homeRepository = repository && (await repositoryAround(app, app.config.workingFolder))
  const caller = { ...context.caller, session, homeRepository }
  const joined = projectKey ?? (repository && (await findMostActiveProject(app.db, repository.id))?.key)
  const key = joined ?? repository?.rootPath
  assert(key !== undefined, "a project or a repository is named")
  const identity = {
    project_key: key,
    program: PERSON_PROGRAM,
    model: MODEL_OF_PEOPLE,
    name_hint: nameHint,
    repository_id: repository?.id,
  }
  const { agent } = await register({ ...context, caller }, identity, { reserves: true })
  return agent
}

async function claimantOf(db: Queries, agents: readonly Agent[], agent: Agent): Promise<Claimant> {
  const project = await findProjectById(db, agent.projectId)
  assert(project !== undefined, `agent ${agent.id} has a project`)
  return claimantFor({ agents }, agent, project)
}

/**
 * Returns the agent of a name to act as: one of the session around, or of the person where there is none. Fails with
 * `not_found`, naming the likely meaning, and with `refused`.
 */
async function ownNamedAgent(
  app: App,
  { clues, person }: Terminal,
  { session, names }: Holder,
  name: string,
  repository: Repository | undefined,
): Promise<Agent> {
  const agent = await namedAgent(app, clues, name, repository)
  const isInSession = session !== undefined || names.length > 0
  return requireOwnAgent(app, agent, isInSession ? names : [person.session], LEAVE_OUT)
}

const LEAVE_OUT = "Without --agent and SIGNALBOX_AGENT the command acts as you."

/**
 * Returns the agent of a name: in the configured project, or where none is configured, in the projects of the
 * repository. Fails with `not_found`, naming the likely meaning.
 */
async function namedAgent(
  app: App,
  clues: SessionClues,
  name: string,
  repository: Repository | undefined,
): Promise<Agent> {
  if (isNotifier(name))
    throw invalid("agent", `${echoed(name)} sends notifications only`, "Name your own agent.")
  const projectKey = await namedProjectKey(clues)
  if (projectKey !== undefined) {
    const project = await findProjectByKey(app.db, projectKey)
    if (project !== undefined) return requireAgent(app.db, project, name)
    throw new AppError("not_found", `project ${echoed(projectKey)} was not found`, {
      hint: "SIGNALBOX_PROJECT names it: unset that, or let an agent register there first.",
    })
  }
  const agent = repository && (await findAgentInRepository(app.db, repository.id, name))
  if (agent !== undefined) return agent
  const project = repository && (await findMostActiveProject(app.db, repository.id))
  const likely = project && closestName(name, await listAgentNames(app.db, project.id))
  throw new AppError("not_found", `agent ${echoed(name)} was not found in the projects of this repository`, {
    hint:
      likely === undefined
        ? "Set SIGNALBOX_PROJECT to the agent's project, or leave the name out."
        : `Did you mean ${likely}?`,
  })
}
