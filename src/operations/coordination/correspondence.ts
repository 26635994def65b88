/** Writing mail from the command line: whom a name means, and a message to one agent or to everybody at work. */

import { RECIPIENTS_MAX } from "../../config/limits.ts"
import {
  type Agent,
  closestName,
  isNotifier,
  isPerson,
  NOTIFIER_NAME,
} from "../../domain/coordination/agent.ts"
import type { Importance } from "../../domain/coordination/message.ts"
import { echoed, oneLine } from "../../domain/foreign-text/markdown.ts"
import type { Project, Repository } from "../../domain/project.ts"
import { AppError, assert, invalid } from "../../errors.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { findAgentByName, listAgentNames } from "../../store/coordination/agents.ts"
import { findProjectById, findProjectByKey, listProjectsOfRepository } from "../../store/projects.ts"
import { findRepositoryById } from "../../store/repositories.ts"
import { admitToProject } from "../admission.ts"
import type { App } from "../app.ts"
import type { ActorContext, CallContext } from "../operation.ts"
import { inTransaction } from "../transaction.ts"
import { allProjects, listPresent, type Present, withPresence } from "./colleagues.ts"
import { deliverWhereAccepted } from "./delivery.ts"
import { namedProjectKey } from "./holder.ts"
import { findOwnAgents, requireWriter, type Terminal } from "./identity.ts"
import { permittedProjects } from "./mailbox.ts"

/** The name that means everybody at work; no agent can have it. */
export const EVERYBODY = "all"

/**
 * Returns the projects that a command looks at: the configured one, else those of the agent that it acts for, else
 * those of the repository around the folder; undefined where none of that tells. Fails with `not_found` for a
 * configured project that is not there.
 */
export async function projectsAround(
  app: App,
  terminal: Terminal,
  repository: Repository | undefined,
): Promise<Project[] | undefined> {
  const key = await namedProjectKey(terminal.clues)
  if (key !== undefined) {
    const project = await findProjectByKey(app.db, key)
    if (project !== undefined) return [project]
    throw new AppError("not_found", `project ${echoed(key)} was not found`, {
      hint: "SIGNALBOX_PROJECT names it: unset that, or let an agent register there first.",
    })
  }
  const own = await findOwnAgents(app, terminal, repository)
  const [first] = own
  if (first !== undefined && !isPerson(first)) {
    const ids = [...new Set(own.map(({ projectId }) => projectId))]
    const projects = await Promise.all(ids.map((id) => findProjectById(app.db, id)))
    return projects.filter((project) => project !== undefined)
  }
  return repository && listProjectsOfRepository(app.db, repository.id)
}

/**
 * Returns whom a name means in the projects that the caller's key permits, with whether it is at work. Fails with
 * `not_found`, and with `refused` where it is not clear.
 */
export async function findAddressee(
  context: CallContext,
  terminal: Terminal,
  repository: Repository | undefined,
  name: string,
): Promise<Present> {
  if (isNotifier(name)) {
    throw new AppError("refused", `${NOTIFIER_NAME} sends notifications and reads no mail`, {
      hint: "Write to the agent that they speak of.",
    })
  }
  const found = await findNamed(context, terminal, repository, name)
  const atWork = found.filter(({ presence }) => presence !== "gone")
  const [only, second] = atWork.length > 0 ? atWork : found
  assert(only !== undefined, "a name that is found means somebody")
  if (second === undefined) return only
  const places = found.map(({ project }) => oneLine(project.key)).join(", ")
  throw new AppError("refused", `there is more than one ${only.agent.name}: in ${places}`, {
    hint: "Name the project that you mean with SIGNALBOX_PROJECT, or go into its folder.",
  })
}

/** Returns all whom a name can mean, one or more, of the nearest projects where any has it; fails with `not_found`. */
export async function findNamed(
  context: CallContext,
  terminal: Terminal,
  repository: Repository | undefined,
  name: string,
): Promise<Present[]> {
  const { app } = context
  const around = await permittedProjects(context, (await projectsAround(app, terminal, repository)) ?? [])
  const near = await agentsNamed(app, around, name)
  if (near.length > 0) return near
  // A person is one in all projects, and may mean an agent of another one where no nearer one has the name.
  const found = await agentsNamed(app, await permittedProjects(context, await allProjects(app)), name)
  if (found.length === 0) throw await unknownName(app, around, name)
  return found
}

async function agentsNamed(app: App, projects: readonly Project[], name: string): Promise<Present[]> {
  const members: { agent: Agent; project: Project }[] = []
  for (const project of projects) {
    const agent = await findAgentByName(app.db, project.id, name)
    if (agent !== undefined) members.push({ agent, project })
  }
  return withPresence(app, members)
}

async function unknownName(app: App, projects: readonly Project[], name: string): Promise<AppError> {
  const names: string[] = []
  for (const { id } of projects) names.push(...(await listAgentNames(app.db, id)))
  const likely = closestName(name, names)
  return new AppError("not_found", `agent ${echoed(name)} was not found`, {
    hint: `${likely === undefined ? "" : `Did you mean ${likely}? `}\`${ownCommand()} agents --all\` lists those that are known.`,
  })
}

/** Returns everybody else at work where the caller's key permits it; fails with `invalid` where nothing tells in which project, and with `not_found`. */
export async function findEverybody(
  context: CallContext,
  terminal: Terminal,
  repository: Repository | undefined,
): Promise<Present[]> {
  const { app } = context
  const around = await projectsAround(app, terminal, repository)
  if (around === undefined) {
    throw invalid(
      "agent",
      `"${EVERYBODY}" needs a project, and the current folder is in none`,
      "Go into the project's folder, or name it with SIGNALBOX_PROJECT.",
    )
  }
  const own = new Set((await findOwnAgents(app, terminal, repository)).map(({ id }) => id))
  const present = await listPresent(app, await permittedProjects(context, around), { includesGone: false })
  const others = present.filter(({ agent }) => !own.has(agent.id))
  if (others.length > 0) return others
  throw new AppError("not_found", "nobody else is at work here, so nothing was sent", {
    hint: `\`${ownCommand()} agents --all\` lists those that were.`,
  })
}

/** What is to be sent. */
export interface Writing {
  subject: string
  bodyMd: string
  importance: Importance
  ackRequired: boolean
  threadKey: string | undefined
}

/** What became of it: the messages that were written, and whom none of them reached. */
export interface Dispatch {
  sent: { id: number; threadKey: string; project: Project; sender: Agent; recipients: readonly Agent[] }[]
  refused: { agent: Agent; project: Project; reason: string }[]
}

/**
 * Sends a text to each of some agents that accepts it, in messages of at most 50 recipients; policies and limits are
 * those of tools. Fails as `requireWriter` does, and where not a single message could be tried.
 */
export async function dispatch(
  context: CallContext,
  terminal: Terminal,
  addressees: readonly Present[],
  writing: Writing,
): Promise<Dispatch> {
  const done: Dispatch = { sent: [], refused: [] }
  for (const project of new Set(addressees.map((one) => one.project))) {
    const agents = addressees.filter((one) => one.project === project).map(({ agent }) => agent)
    let inProject: ActorContext | undefined
    for (let from = 0; from < agents.length; from += RECIPIENTS_MAX) {
      const batch = agents.slice(from, from + RECIPIENTS_MAX)
      try {
        inProject ??= await writerIn(context, terminal, project, agents)
        await sendBatch(inProject, batch, writing, done)
      } catch (error) {
        // What was sent before stays sent, and has to be told together with what was not.
        if (!(error instanceof AppError) || done.sent.length + done.refused.length === 0) throw error
        for (const agent of batch) done.refused.push({ agent, project, reason: error.text })
      }
    }
  }
  return done
}

async function writerIn(
  context: CallContext,
  terminal: Terminal,
  project: Project,
  agents: readonly Agent[],
): Promise<ActorContext> {
  const inProject = await admitToProject(context, { id: project.id })
  const actor = await requireWriter(context, terminal, project, await repositoryOf(context.app, agents))
  return { ...inProject, actor }
}

async function sendBatch(
  context: ActorContext,
  batch: readonly Agent[],
  { threadKey, ...rest }: Writing,
  done: Dispatch,
): Promise<void> {
  const { project, actor: sender } = context
  const draft = {
    ...rest,
    sender,
    threadKey,
    recipients: new Map(batch.map((agent) => [agent, "to" as const])),
    parentId: null,
    attachments: [],
  }
  const { delivered, recipients, refusals } = await inTransaction(
    context,
    `project:${project.id}`,
    (tx, dated) => deliverWhereAccepted(tx, dated, draft),
  )
  if (delivered !== undefined) {
    const { messageId: id, threadKey } = delivered
    done.sent.push({ id, threadKey, project, sender, recipients })
  }
  for (const { recipient, reason } of refusals) done.refused.push({ agent: recipient, project, reason })
}

/** Returns the repository that the first of some agents works in: a writer who is new there joins it. */
async function repositoryOf({ db }: App, agents: readonly Agent[]): Promise<Repository | undefined> {
  const id = agents.find(({ repositoryId }) => repositoryId !== null)?.repositoryId
  return id === undefined || id === null ? undefined : findRepositoryById(db, id)
}
