/**
 * What stands in front of every operation and every resource: who calls, whether they may, whether they
 * call too often, and which project and agent they mean.
 */

import type { Queries } from "../db/database.ts"
import { type Agent, closestName, isNotifier } from "../domain/agent.ts"
import {
  type ApiKey,
  hasCoordinationScope,
  permitsProject,
  permitsReservation,
  projectKeysOf,
  projectScope,
  repositoryScope,
} from "../domain/api-key.ts"
import type { Project, Repository } from "../domain/project.ts"
import { takeFromBucket } from "../domain/rate-limit.ts"
import { AppError } from "../errors.ts"
import { canonicalProjectKey } from "../git/repository.ts"
import { LISTING_ROWS_MAX, type Rates } from "../limits.ts"
import { findAgentById, findAgentByName, listAgentNames } from "../store/agents.ts"
import {
  findProjectById,
  findProjectByKey,
  listProjectKeys,
  listProjectRepositoryIds,
} from "../store/projects.ts"
import { findBucket, putBucket, removeStaleBuckets } from "../store/rate-limits.ts"
import { findRepositoryById } from "../store/repositories.ts"
import type { App } from "./app.ts"
import { authenticate } from "./keys.ts"
import type { ActorContext, CallContext, Operation, ProjectContext } from "./operation.ts"

const MINUTE_MS = 60_000
/** The longest window of any limit: an older bucket is a full one. */
const DAY_MS = 86_400_000

/** The limits that are counted per key and minute, with the words that a refusal uses. */
const BUCKETS = {
  tool_calls: { rate: "tool_calls_per_minute", unit: "tool calls" },
  resource_reads: { rate: "resource_reads_per_minute", unit: "resource reads" },
  searches: { rate: "searches_per_minute", unit: "searches" },
} as const satisfies Record<string, { rate: keyof Rates; unit: string }>
export type BucketName = keyof typeof BUCKETS

/** Authenticates a call and counts it; fails with `unauthenticated`, `forbidden` or `rate_limited`. */
export async function admitCall(app: App, buckets: readonly BucketName[]): Promise<CallContext> {
  const key = await authenticate(app)
  if (!hasCoordinationScope(key.scopes))
    throw forbidden("repo:{repository_id}:coordination or project:{project_key}:coordination")
  await countCall(app, key, buckets)
  return { app, key, nowMs: app.now() }
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
    const name = "key" in named ? `"${named.key}"` : `with id ${named.id}`
    const likely = "key" in named ? await likelyProject(context, named.key) : ""
    throw new AppError("not_found", `project ${name} was not found`, {
      hint: `${likely}Call register-agent or macro-start-session to create a project and learn its id.`,
    })
  }
  await requireScope(db, context.key, project)
  return { ...context, project }
}

/** Names the project that a mistyped key most likely means, to whoever may know of all of them. */
async function likelyProject({ app, key }: CallContext, typed: string): Promise<string> {
  if (!key.scopes.includes("*")) return ""
  const likely = closestName(typed, await listProjectKeys(app.db, "", LISTING_ROWS_MAX))
  return likely === undefined ? "" : `Did you mean "${likely}"? `
}

/** Finds the agent that a call is made for. */
async function admitActor(
  context: ProjectContext,
  parameter: string,
  named: string | number,
): Promise<ActorContext> {
  const { app, project } = context
  const actor = await requireAgent(app.db, project, named)
  if (isNotifier(actor.name)) {
    throw new AppError(
      "invalid",
      `${parameter} must be an agent of your own: ${actor.name} sends notifications only`,
      { hint: "Give the name or id that macro-start-session returned." },
    )
  }
  return { ...context, actor }
}

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
    throw new AppError("not_found", `agent ${named} was not found in project "${project.key}"`, {
      hint: LIST_AGENTS,
    })
  }
  const likely = closestName(named, await listAgentNames(db, project.id))
  throw new AppError("not_found", `agent "${named}" was not found in project "${project.key}"`, {
    hint: likely === undefined ? LIST_AGENTS : `Did you mean ${likely}? ${LIST_AGENTS}`,
  })
}

const LIST_AGENTS = "Call list-agents to see who is registered."

/** Returns a connected repository; fails with `not_found`, saying how to connect one. */
export async function requireRepository(db: Queries, id: number): Promise<Repository> {
  const repository = await findRepositoryById(db, id)
  if (repository !== undefined) return repository
  throw new AppError("not_found", `repository ${id} was not found`, { hint: CONNECT_REPOSITORY })
}

export const CONNECT_REPOSITORY =
  "Start signalbox inside a git work tree to connect it, or ask your user to run `signalbox repos add <folder>`."

/** Fails with `forbidden` when a key does not permit a project. */
export async function requireScope(db: Queries, key: ApiKey, project: Project): Promise<void> {
  if (key.scopes.includes("*")) return
  const repositoryIds = await listProjectRepositoryIds(db, project.id)
  if (permitsProject(key.scopes, project.key, repositoryIds)) return
  const scopes = [projectScope(project.key), ...repositoryIds.map(repositoryScope)]
  throw forbidden(scopes.join(" or "))
}

/** Fails with `forbidden` when a key does not permit reservations in a repository of a project. */
export function requireReservationScope(key: ApiKey, project: Project, repositoryId: number): void {
  if (permitsReservation(key.scopes, project.key, repositoryId)) return
  throw forbidden(`${projectScope(project.key)} or ${repositoryScope(repositoryId)}`)
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
  return new AppError("forbidden", `insufficient permissions; required scope: ${requiredScope}`, {
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

async function countCall(app: App, key: ApiKey, buckets: readonly BucketName[]): Promise<void> {
  const counted = buckets.filter((name) => app.config.rates[BUCKETS[name].rate] > 0)
  if (counted.length === 0) return
  // Everybody on this machine shares the local key, so a runaway server would starve all others.
  const subject = key.isLocal ? `local:${app.processName}` : `key:${key.id}`
  await app.db.transaction(`rate:${subject}`, async (tx) => {
    const nowMs = app.now()
    for (const name of counted) {
      const { rate, unit } = BUCKETS[name]
      const capacity = app.config.rates[rate]
      const bucket = await findBucket(tx, subject, name)
      if (bucket === undefined) await removeStaleBuckets(tx, nowMs - DAY_MS)
      const verdict = takeFromBucket(bucket, capacity, MINUTE_MS, nowMs)
      if (!verdict.allowed)
        throw rateLimited(`${capacity} ${unit} per minute per API key`, verdict.retryAfterSeconds)
      await putBucket(tx, subject, name, verdict.bucket)
    }
  })
}

/** Returns the error of somebody who calls too often. */
export function rateLimited(limit: string, retryAfterSeconds: number): AppError {
  return new AppError("rate_limited", `rate limit exceeded: ${limit}`, {
    hint: `Try again in ${retryAfterSeconds} s.`,
    retryAfterSeconds,
  })
}
