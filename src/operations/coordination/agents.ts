/** Identity: who works in a project. */

import * as z from "zod"
import {
  LISTING_ROWS_MAX,
  MODEL_CHARS_MAX,
  NAME_HINT_CHARS_MAX,
  NAME_HINT_CHARS_MIN,
  PROGRAM_CHARS_MAX,
  TASK_DESCRIPTION_CHARS_MAX,
} from "../../config/limits.ts"
import type { Queries } from "../../db/database.ts"
import { permitsProject, repositoryScope } from "../../domain/api-key.ts"
import {
  type Agent,
  type ContactPolicy,
  isActive,
  isPerson,
  NOTIFIER_NAME,
} from "../../domain/coordination/agent.ts"
import { renewedExpiry } from "../../domain/coordination/reservation.ts"
import { oneLine } from "../../domain/foreign-text/markdown.ts"
import type { Project, Repository } from "../../domain/project.ts"
import { canonicalProjectKey } from "../../git/repository.ts"
import { findAgentByName, insertAgent, listAgents, markClaimed } from "../../store/coordination/agents.ts"
import { hasMail } from "../../store/coordination/messages.ts"
import { listHeldByAgent, moveReservations, renewReservation } from "../../store/coordination/reservations.ts"
import {
  findProjectByKey,
  insertProject,
  linkRepository,
  listProjectRepositoryIds,
} from "../../store/projects.ts"
import {
  forbidden,
  projectScopeWanted,
  requireAgent,
  requireRepository,
  requireReservationScope,
  requireScope,
} from "../admission.ts"
import { agentName, contactPolicy, projectKey, repositoryId, text } from "../fields.ts"
import { agentProfile, ageOf, count, fitBlocks, lines, PERSON_LINE, timeAndAge } from "../markdown.ts"
import { type CallContext, defineOperation } from "../operation.ts"
import { removeDeadProcesses } from "../processes.ts"
import { inTransaction } from "../transaction.ts"
import { noteTakenUp, takeBack } from "./acting.ts"
import { endHeld } from "./endings.ts"
import { workPlaceAround } from "./locations.ts"
import { chooseName, requireProgramsOwn } from "./names.ts"
import { addAgent, takeUp } from "./presence.ts"
import { recordReservation } from "./recording.ts"
import { isHeldByOthers, listOwnAgents, sessionNames, sessionOf } from "./sessions.ts"

/** The parameters with which an agent introduces itself, shared with macro-start-session. */
export const identityFields = {
  project_key: projectKey(),
  program: text(PROGRAM_CHARS_MAX, "Your program, such as claude-code"),
  model: text(MODEL_CHARS_MAX, "Your model"),
  name_hint: z
    .string()
    .min(NAME_HINT_CHARS_MIN)
    .max(NAME_HINT_CHARS_MAX)
    .refine((value) => /^[A-Za-z0-9_-]*$/.test(value), "may contain only letters, digits, - and _")
    .optional()
    .describe("Name to take, or to resume after a restart"),
  repository_id: repositoryId("Repository you work in; default: that of the current folder").optional(),
}

interface Identity {
  project_key: string
  program: string
  model: string
  name_hint?: string | undefined
  task_description?: string | undefined
  repository_id?: number | undefined
  contact_policy?: ContactPolicy | undefined
}

interface Registration {
  agent: Agent
  project: Project
  resumed: boolean
  /** The hint that another live session holds, so that a new name was given. */
  takenHint: string | null
  nowMs: number
}

/**
 * Registers an agent or resumes one, creating its project when that is new. With `reserves` the key must
 * permit reservations in the agent's repository too, or nothing is done.
 */
export async function register(
  context: CallContext,
  identity: Identity,
  { reserves }: { reserves: boolean },
): Promise<Registration> {
  const { app } = context
  const session = sessionOf(context)
  const isPersons = isPerson({ session })
  if (!isPersons) requireProgramsOwn(identity)
  const repository = await namedRepository(context, identity.repository_id)
  const seenAt = await workTreeOf(context, repository)
  const key = await canonicalProjectKey(identity.project_key)
  await removeDeadProcesses(app)
  await takeBack(app, await sessionNames(app.db, session))
  return inTransaction(context, `project:${key}`, async (tx, dated) => {
    const { nowMs } = dated
    const project = await openProject(tx, dated, key, repository?.id)
    if (repository !== undefined) await link(tx, context, project, repository.id)
    const own = await sessionNames(tx, session)
    const hint = identity.name_hint
    const known = hint === undefined ? undefined : await findAgentByName(tx, project.id, hint)
    // A person never goes on as an agent.
    const mayResume =
      known !== undefined &&
      (isPersons ? known.session === session : !(await isHeldByOthers(tx, known, own, nowMs)))
    // An agent that asks for no name of its own past goes on as the one that its hook has made.
    const unclaimed = (await listOwnAgents(tx, own)).filter(({ isClaimed }) => !isClaimed)
    const before = mayResume ? known : await findHeir(tx, unclaimed, project)
    const repositoryId = repository?.id ?? before?.repositoryId ?? null
    if (reserves && repositoryId !== null) requireReservationScope(context.key, project, repositoryId)
    const name =
      mayResume && known !== undefined
        ? known.name
        : await chooseName(tx, project, hint, { isPersons, random: app.random, before })
    const workTree = seenAt ?? (before?.repositoryId === repositoryId ? before.workTree : null)
    const rest = { name, projectId: project.id, session, repositoryId, isClaimed: true, workTree }
    const profile = { ...profileOf(identity, before), ...rest }
    const agent =
      before === undefined
        ? await addAgent(tx, profile, nowMs)
        : await takeUp(tx, before, { ...before, ...profile }, own, nowMs)
    if (before !== undefined) await noteTakenUp(tx, before, own, nowMs)
    for (const { id } of unclaimed) if (id !== agent.id) await handOver(tx, id, agent, nowMs)
    if (before !== undefined) await moveReservations(tx, before.id, agent)
    const takenHint = known === undefined || mayResume ? null : known.name
    return { agent, project, resumed: before !== undefined, takenHint, nowMs }
  })
}

/**
 * Returns the agent that the session's hook had to make and that now becomes the session's own: one of the
 * project, or one of another project that nobody knows by mail yet.
 */
async function findHeir(
  tx: Queries,
  unclaimed: readonly Agent[],
  project: Project,
): Promise<Agent | undefined> {
  const neighbour = unclaimed.find(({ projectId }) => projectId === project.id)
  if (neighbour !== undefined) return neighbour
  for (const agent of unclaimed) if (!(await hasMail(tx, agent.id))) return agent
  return undefined
}

/**
 * Gives an agent what the session's hook holds under another name, and has nobody take that over again. Of
 * two reservations of one pattern the stronger mode and the later expiry stay.
 */
async function handOver(tx: Queries, fromId: number, to: Agent, nowMs: number): Promise<void> {
  const own = await listHeldByAgent(tx, to.id, nowMs)
  for (const reservation of await listHeldByAgent(tx, fromId, nowMs)) {
    const { repositoryId, pathPattern, exclusive, expiresAtMs } = reservation
    const same = own.find((one) => one.repositoryId === repositoryId && one.pathPattern === pathPattern)
    if (same === undefined) continue
    const renewal = {
      exclusive: same.exclusive || exclusive,
      expiresAtMs: renewedExpiry(same.expiresAtMs, expiresAtMs),
    }
    await renewReservation(tx, same.id, { ...renewal, reason: null })
    await recordReservation(tx, "reservation.renewed", { ...same, ...renewal }, nowMs)
    await endHeld(tx, [reservation], nowMs)
  }
  await moveReservations(tx, fromId, to)
  await markClaimed(tx, fromId)
}

/** Returns the line that tells an agent why its name is not the one it asked for, if it is not. */
export function takenHintLine({ agent, takenHint }: Registration): string | null {
  if (takenHint === null) return null
  return `Name hint: ${takenHint} is held by another live session, so you are ${agent.name}.`
}

/** Returns the repository that a caller named, or the one around the working folder. */
export async function namedRepository(
  { app, caller }: CallContext,
  id: number | undefined,
): Promise<Repository | undefined> {
  return id === undefined ? caller.homeRepository : requireRepository(app.db, id)
}

/** Returns the root of the work tree that a caller works in, as far as it is one of a repository. */
async function workTreeOf(
  { app, caller }: CallContext,
  repository: Repository | undefined,
): Promise<string | undefined> {
  if (repository === undefined || caller.folder === undefined) return undefined
  const place = await workPlaceAround(app, caller.folder)
  return place?.repository.id === repository.id ? place.rootPath : undefined
}

function profileOf(
  identity: Identity,
  before?: Agent,
): Pick<Agent, "program" | "model" | "taskDescription" | "contactPolicy"> {
  return {
    program: identity.program,
    model: identity.model,
    taskDescription: identity.task_description ?? before?.taskDescription ?? null,
    contactPolicy: identity.contact_policy ?? before?.contactPolicy ?? "auto",
  }
}

/** Finds or creates a project; a key that is scoped to a repository creates projects of that repository only. */
export async function openProject(
  tx: Queries,
  context: CallContext,
  key: string,
  repositoryId: number | undefined,
): Promise<Project> {
  const known = await findProjectByKey(tx, key)
  if (known !== undefined) {
    await requireScope(tx, context.key, known, key)
    return known
  }
  if (!permitsProject(context.key.scopes, key, repositoryId === undefined ? [] : [repositoryId]))
    throw forbidden(projectScopeWanted(key))
  const project = await insertProject(tx, key, context.nowMs)
  await insertAgent(
    tx,
    {
      projectId: project.id,
      name: NOTIFIER_NAME,
      program: "signalbox",
      model: "none",
      taskDescription: "Sends notifications; nobody reads its mail.",
      repositoryId: null,
      contactPolicy: "block_all",
      session: null,
      isClaimed: true,
      workTree: null,
    },
    context.nowMs,
  )
  return project
}

/**
 * Links a project to the repository its agent works in. That widens what keys of either scope reach, so
 * a key may only link what it covers; the repository around the working folder counts as the project's own.
 */
async function link(
  tx: Queries,
  context: CallContext,
  project: Project,
  repositoryId: number,
): Promise<void> {
  if ((await listProjectRepositoryIds(tx, project.id)).includes(repositoryId)) return
  const { scopes } = context.key
  const isHome = context.caller.homeRepository?.id === repositoryId
  const covered = permitsProject(scopes, isHome ? project.key : "", [repositoryId])
  if (!covered) throw forbidden(repositoryScope(repositoryId))
  await linkRepository(tx, project.id, repositoryId)
}

export const registerAgent = defineOperation({
  name: "register-agent",
  title: "Register agent",
  category: "identity",
  effect: "write",
  opensProject: true,
  description:
    "Register yourself in a project and get your name and ids. Prefer macro-start-session at the start of a session. A name_hint that nobody live holds resumes that agent with its inbox.",
  input: z.strictObject({
    project_key: identityFields.project_key,
    program: identityFields.program,
    model: identityFields.model,
    name_hint: identityFields.name_hint,
    task_description: text(TASK_DESCRIPTION_CHARS_MAX, "What you are working on").optional(),
    repository_id: identityFields.repository_id,
    // Not a zod default: a resumed agent keeps its policy unless a new one is given.
    contact_policy: contactPolicy().optional().meta({ default: "auto" }),
  }),
  run: (context, input) => register(context, input, { reserves: false }),
  markdown: (registration) => {
    const { agent, project, resumed, nowMs } = registration
    const title = `# ${agent.name} ${resumed ? "resumed" : "registered"}`
    return lines(title, agentProfile(agent, project.key, nowMs), takenHintLine(registration))
  },
})

export const whois = defineOperation({
  name: "whois",
  title: "Who is",
  category: "identity",
  effect: "read",
  idempotent: true,
  description: "Show one agent's profile: ids, program, model, contact policy, task, last activity.",
  input: z.strictObject({ project_key: projectKey(), agent_name: agentName("Agent to look up") }),
  async run({ app, project, nowMs }, input) {
    return { agent: await requireAgent(app.db, project, input.agent_name), project, nowMs }
  },
  markdown: ({ agent, project, nowMs }) =>
    lines(
      `# ${agent.name}`,
      agentProfile(agent, project.key, nowMs),
      `Last active: ${timeAndAge(agent.lastActiveAtMs, nowMs)} (${isActive(agent, nowMs) ? "active" : "inactive"})`,
    ),
})

export const listAgentsOperation = defineOperation({
  name: "list-agents",
  title: "List agents",
  category: "identity",
  effect: "read",
  idempotent: true,
  description: "List a project's agents with their ids, active ones (last 30 minutes) first.",
  input: z.strictObject({
    project_key: projectKey(),
    active_only: z.boolean().default(false).describe("Leave out inactive agents"),
    repository_id: repositoryId("Only agents of this repository").optional(),
  }),
  async run({ app, project, nowMs }, input) {
    if (input.repository_id !== undefined) await requireRepository(app.db, input.repository_id)
    const agents = await listAgents(app.db, project.id, input.repository_id)
    const active = agents.filter((agent) => isActive(agent, nowMs))
    const inactive = agents.filter((agent) => !isActive(agent, nowMs))
    return {
      project,
      nowMs,
      active,
      inactive: inactive.slice(0, LISTING_ROWS_MAX),
      inactiveCount: inactive.length,
      activeOnly: input.active_only,
    }
  },
  markdown: ({ project, nowMs, active, inactive, inactiveCount, activeOnly }) => {
    const entry = (agent: Agent) =>
      lines(
        `### ${agent.name}`,
        `Agent id: ${agent.id}`,
        isPerson(agent) ? PERSON_LINE : `Program: ${oneLine(agent.program)}, ${oneLine(agent.model)}`,
        `Contact policy: ${agent.contactPolicy}`,
        `Repository id: ${agent.repositoryId ?? "none"}`,
        `Last active: ${ageOf(agent.lastActiveAtMs, nowMs)}`,
        agent.taskDescription === null ? null : `Task: ${oneLine(agent.taskDescription)}`,
      )
    const head = lines(
      `# Agents of ${oneLine(project.key)}`,
      `Project id: ${project.id}`,
      `Total: ${active.length + inactiveCount}`,
      `Active: ${active.length}`,
      `Inactive: ${inactiveCount}`,
    )
    const section = (title: string, agents: readonly Agent[]) =>
      agents.length === 0 ? [] : [`## ${title}`, ...agents.map(entry)]
    const blocks = [
      ...section("Active agents", active),
      ...(activeOnly ? [] : section("Inactive agents", inactive)),
    ]
    return fitBlocks(
      head,
      blocks,
      `Use active_only or repository_id to see fewer than ${count(active.length + inactiveCount, "agent")}.`,
    )
  },
})
