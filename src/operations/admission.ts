/**
 * What stands in front of every operation and every resource: who calls, whether they may, whether they
 * call too often, and which project and agent they mean.
 */

import { isAbsolute } from "node:path"
import { LISTING_ROWS_MAX } from "../config/limits.ts"
import type { Queries } from "../db/database.ts"
import {
  type ApiKey,
  type Permission,
  permits,
  permitsProject,
  permitsReservation,
  projectKeysOf,
  projectScope,
  repositoryScope,
  SCOPES_OF_PERMISSION,
} from "../domain/api-key.ts"
import { type Agent, closestName, isNotifier } from "../domain/coordination/agent.ts"
import { echoed, oneLine } from "../domain/foreign-text/markdown.ts"
import type { Counted } from "../domain/plan-limits.ts"
import type { Project, Repository } from "../domain/project.ts"
import { AppError } from "../errors.ts"
import { canonicalProjectKey } from "../git/repository.ts"
import { ownCommand } from "../runtime/own-command.ts"
import { findAgentById, findAgentByName, listAgentNames } from "../store/coordination/agents.ts"
import {
  findProjectById,
  findProjectByKey,
  listProjectKeys,
  listProjectRepositoryIds,
} from "../store/projects.ts"
import { findRepositoryById } from "../store/repositories.ts"
import type { Call, Surface } from "./caller.ts"
import { requireOwnAgent } from "./coordination/acting.ts"
import { listOwnAgents, sessionNames, sessionOf } from "./coordination/sessions.ts"
import { authenticate } from "./keys.ts"
import { nameList } from "./markdown.ts"
import type { ActorContext, CallContext, Operation, ProjectContext } from "./operation.ts"
import { countCall } from "./rate-limits.ts"

/** What a call asks for at the door. */
export interface Ask {
  /** Undefined where that is asked once the input was looked at; see `requirePermission`. */
  permission?: Permission
  counts: readonly Counted[]
}

/** What each kind of call asks for. */
export const ASKS = {
  toolCall: { permission: "coordination", counts: ["tool_calls"] },
  search: { permission: "coordination", counts: ["tool_calls", "searches"] },
  resourceRead: { permission: "coordination", counts: ["resource_reads"] },
  memory: { permission: "memory", counts: ["memory"] },
  documentation: { permission: "documentation", counts: ["documentation"] },
  /** A call that changes what this machine searches, or what it decides. */
  admin: { permission: "admin", counts: ["documentation"] },
} as const satisfies Record<string, Ask>

/** A person at a terminal and a check before an edit are never told to wait. */
const UNCOUNTED: ReadonlySet<Surface> = new Set(["command line", "hook"])

/**
 * The door of every call: authenticates it, checks that its key permits what it asks for somewhere, and counts it.
 * Fails with `unauthenticated`, `forbidden` or `rate_limited`, in this order.
 */
export async function admit({ app, caller }: Call, { permission, counts }: Ask): Promise<CallContext> {
  const key = typeof caller.key === "string" ? await authenticate(app, caller.key) : caller.key
  requirePermission(key, permission)
  if (!UNCOUNTED.has(caller.surface)) await countCall(app, key, counts)
  return { app, caller, key, nowMs: app.now() }
}

/** Fails with `forbidden` when a key gives a permission nowhere; undefined asks for none. */
export function requirePermission(key: ApiKey, permission: Permission | undefined): void {
  if (permission !== undefined && !permits(key.scopes, permission))
    throw forbidden(SCOPES_OF_PERMISSION[permission])
}

/** Finds the project that a call names and checks that the key permits it. */
export async function admitToProject(
  context: CallContext,
  named: { key: string } | { id: number },
): Promise<ProjectContext> {
  const { db } = context.app
  const project =
    "key" in named ? await findProjectByNamedKey(db, named.key) : await findProjectById(db, named.id)
  if (project === undefined) {
    const name = "key" in named ? echoed(named.key) : `with id ${named.id}`
    const likely = "key" in named ? await likelyProject(context, named.key) : ""
    throw new AppError("not_found", `project ${name} was not found`, {
      hint: `${likely}${await ownProjects(context)}Call register-agent or macro-start-session to create a project and learn its id.`,
    })
  }
  await requireScope(db, context.key, project, "key" in named ? named.key : undefined)
  return { ...context, project }
}

/** Names the projects that the caller's own session is in. */
async function ownProjects(context: CallContext): Promise<string> {
  const { db } = context.app
  const names: string[] = []
  for (const { name, projectId } of await listOwnAgents(db, await sessionNames(db, sessionOf(context)))) {
    const project = await findProjectById(db, projectId)
    if (project === undefined) continue
    const { scopes } = context.key
    if (permitsProject(scopes, project.key, await listProjectRepositoryIds(db, project.id)))
      names.push(`${echoed(project.key)} (project id ${project.id}, as ${name})`)
  }
  return names.length === 0 ? "" : `You are in ${nameList(names)}. `
}

/** Names the project that a mistyped key most likely means, to whoever may know of all of them. */
async function likelyProject({ app, key }: CallContext, typed: string): Promise<string> {
  if (!key.scopes.includes("*")) return ""
  const likely = closestName(typed, await listProjectKeys(app.db, "", LISTING_ROWS_MAX))
  return likely === undefined ? "" : `Did you mean ${echoed(likely)}? `
}

/**
 * Finds the agent that a call is made for. Fails with `not_found`, and with `refused` for one that another session
 * holds or none.
 */
export async function admitActor(
  context: ProjectContext,
  parameter: string,
  named: string | number,
): Promise<ActorContext> {
  const { app, project } = context
  const found = await requireAgent(app.db, project, named)
  if (isNotifier(found.name)) {
    throw new AppError(
      "invalid",
      `${parameter} must be an agent of your own: ${found.name} sends notifications only`,
      { hint: "Give the name or id that macro-start-session returned." },
    )
  }
  return { ...context, actor: await requireActor(context, found) }
}

/** Returns an agent as the one who acts in a call; fails with `refused` for one that another session holds or none. */
export async function requireActor(context: CallContext, agent: Agent): Promise<Agent> {
  const { app, caller, key } = context
  const session = sessionOf(context)
  // The usual case asks the database nothing more.
  if (agent.session === session) return agent
  const names = await sessionNames(app.db, session)
  const mayName = caller.surface === "http" && key.scopes.includes("*")
  return requireOwnAgent(app, agent, names, mayName ? NAME_THE_SESSION : "")
}

const NAME_THE_SESSION = "To act for a session over HTTP, name it in the header X-Signalbox-Session."

/** Runs everything that stands in front of one operation with checked arguments. */
export async function admitOperation(
  operation: Operation,
  context: CallContext,
  input: Record<string, unknown>,
): Promise<ActorContext> {
  if (operation.opensProject) return context as ActorContext
  const inProject = await admitToProject(context, projectNamedBy(input))
  if (operation.actor === undefined) return inProject as ActorContext
  return admitActor(inProject, operation.actor, input[operation.actor] as string | number)
}

/** Returns a project's agent by name or id; fails with `not_found`, naming the likely meaning. */
export async function requireAgent(db: Queries, project: Project, named: string | number): Promise<Agent> {
  const found =
    typeof named === "number" ? await findAgentById(db, named) : await findAgentByName(db, project.id, named)
  if (found !== undefined && found.projectId === project.id) return found
  if (typeof named === "number") {
    throw new AppError("not_found", `agent ${named} was not found in project ${echoed(project.key)}`, {
      hint: LIST_AGENTS,
    })
  }
  const likely = closestName(named, await listAgentNames(db, project.id))
  throw new AppError("not_found", `agent ${echoed(named)} was not found in project ${echoed(project.key)}`, {
    hint: likely === undefined ? LIST_AGENTS : `Did you mean ${likely}? ${LIST_AGENTS}`,
  })
}

const LIST_AGENTS = "Call list-agents to see who is registered."

/** Returns a connected repository; fails with `not_found`, saying how to connect one. */
export async function requireRepository(db: Queries, id: number): Promise<Repository> {
  const repository = await findRepositoryById(db, id)
  if (repository !== undefined) return repository
  throw new AppError("not_found", `repository ${id} was not found`, { hint: howToConnect() })
}

/** Returns how to find a repository or connect one, for errors that lack one: to agents, or to people at a terminal. */
export function howToConnect(surface?: Surface): string {
  const add = `${ownCommand()} repos add <folder>`
  return surface === "command line"
    ? `\`${ownCommand()} repos list\` shows those that are connected, \`${add}\` connects one.`
    : `Call list-repositories to see those that are connected, or connect-repository to connect one; a person runs \`${add}\`.`
}

/**
 * Fails with `forbidden` when a key does not permit a project; `named` is the project's key as the caller gave it,
 * if it did: who may not see a project learns no name of it.
 */
export async function requireScope(
  db: Queries,
  key: ApiKey,
  project: Project,
  named: string | undefined,
): Promise<void> {
  if (key.scopes.includes("*")) return
  const repositoryIds = await listProjectRepositoryIds(db, project.id)
  if (permitsProject(key.scopes, project.key, repositoryIds)) return
  throw forbidden([projectScopeWanted(named), ...repositoryIds.map(repositoryScope)].join(" or "))
}

/** Returns the scope that a refusal asks for; the form of it where a project is named by a folder, or not at all. */
export function projectScopeWanted(named: string | undefined): string {
  return projectScope(named === undefined || isAbsolute(named) ? "{project_key}" : named)
}

/** Fails with `forbidden` when a key does not permit reservations in a repository of a project. */
export function requireReservationScope(key: ApiKey, project: Project, repositoryId: number): void {
  if (permitsReservation(key.scopes, project.key, repositoryId)) return
  throw forbidden(`${projectScopeWanted(undefined)} or ${repositoryScope(repositoryId)}`)
}

/** Fails with `forbidden` when a key does not permit a look at a repository, on behalf of any project linked to it. */
export async function requireRepositoryScope(db: Queries, key: ApiKey, repositoryId: number): Promise<void> {
  if (permitsReservation(key.scopes, "", repositoryId)) return
  for (const projectKey of projectKeysOf(key.scopes)) {
    const project = await findProjectByKey(db, projectKey)
    if (project && (await listProjectRepositoryIds(db, project.id)).includes(repositoryId)) return
  }
  throw forbidden(repositoryScope(repositoryId))
}

export function forbidden(requiredScope: string): AppError {
  return new AppError("forbidden", `insufficient permissions; required scope: ${oneLine(requiredScope)}`, {
    // Who may do nothing here is told no path of this machine.
    hint: "Ask your user for a key with that scope (`signalbox keys create --scope ...`).",
  })
}

/** The project is named by key or by id, under one of three names. */
function projectNamedBy(input: Record<string, unknown>): { key: string } | { id: number } {
  if (typeof input.project_key === "string") return { key: input.project_key }
  return { id: (input.project_id ?? input.coordination_project_id) as number }
}

async function findProjectByNamedKey(db: Queries, key: string): Promise<Project | undefined> {
  return (await findProjectByKey(db, key)) ?? findProjectByKey(db, await canonicalProjectKey(key))
}
