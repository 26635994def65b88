/**
 * Reservations as people and scripts handle them: by paths as they are typed, relative to a folder, and for
 * all the agents that the caller speaks for.
 */

import { lstat } from "node:fs/promises"
import { isAbsolute, join, sep } from "node:path"
import { FILE_PATHS_MAX, LISTING_ROWS_MAX } from "../../config/limits.ts"
import type { Queries } from "../../db/database.ts"
import type { Agent } from "../../domain/coordination/agent.ts"
import type { Reservation } from "../../domain/coordination/reservation.ts"
import { echoed, named } from "../../domain/foreign-text/markdown.ts"
import { foldCase } from "../../domain/glob/case-folding.ts"
import { compilePattern, normalizePattern } from "../../domain/glob/glob.ts"
import { escapePath } from "../../domain/glob/literal.ts"
import { matchesPath } from "../../domain/glob/matching.ts"
import type { Project, Repository } from "../../domain/project.ts"
import { AppError, assert, invalid } from "../../errors.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { listHeldByAgent, listReservationsIn } from "../../store/coordination/reservations.ts"
import { listProcesses } from "../../store/processes.ts"
import { findProjectById } from "../../store/projects.ts"
import { listRepositories } from "../../store/repositories.ts"
import { requireScope } from "../admission.ts"
import type { App } from "../app.ts"
import type { CallContext } from "../operation.ts"
import { removeDeadProcesses } from "../processes.ts"
import { inTransaction } from "../transaction.ts"
import { type Claimant, type ClaimConflict, findClaimConflicts } from "./claims.ts"
import { tendDeadSessions } from "./dead-sessions.ts"
import { endExpired } from "./endings.ts"
import { closeExpired } from "./expiry.ts"
import { grant, newGrantCall } from "./grants.ts"
import { locate } from "./locations.ts"
import { resolvePattern } from "./patterns.ts"
import { refusedClaims, tellRefused } from "./refusals.ts"
import { admitToRepository, releaseOf } from "./reservations.ts"
import { findSharersOf, type Sharers } from "./sharers.ts"

/** What somebody typed, as a pattern of a connected repository. */
export interface Target {
  typed: string
  repository: Repository
  /** The root of the work tree that it lies in. */
  rootPath: string
  /** Relative to the repository's root, plain text; empty for the root itself. */
  path: string
  pathPattern: string
}

/** Stands for anything inside a folder: what lies below a path lies in the same repository as the path. */
const INSIDE = "_"

/**
 * Returns what a path, a folder or a glob stands for, relative ones from `folder`. What is there by that
 * name is meant, whatever characters it has; all else is a pattern. The repository around `folder` is
 * connected when it is new. Fails with `invalid`, or with `not_found` outside of connected repositories.
 */
async function resolveTarget(app: App, typed: string, folder: string): Promise<Target> {
  if (typed.trim() === "") throw invalid("path", "must not be empty")
  const absolute = isAbsolute(typed) ? typed : `${folder}${sep}${typed}`
  const inside = await locate(app, join(absolute, INSIDE), folder)
  if (inside === undefined) throw notConnected(typed)
  const { repository, rootPath } = inside
  const path = inside.path === INSIDE ? "" : inside.path.slice(0, -`/${INSIDE}`.length)
  return {
    typed,
    repository,
    rootPath,
    path,
    pathPattern: await patternOf(repository, path, absolute, typed),
  }
}

async function patternOf(
  repository: Repository,
  path: string,
  absolute: string,
  typed: string,
): Promise<string> {
  if (path === "") return "**"
  if (await isThere(absolute)) return normalizePattern(escapePath(path))
  return resolvePattern(repository, absolute, echoed(typed))
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch {
    return false
  }
}

/** Returns the error about a path, or a folder, that lies in no connected repository. */
export function notConnected(place: string): AppError {
  return new AppError("not_found", `${named(place)} lies in no connected repository`, {
    hint: `Go into a git work tree, or connect the folder: ${ownCommand()} repos add <folder>.`,
  })
}

/** Returns the targets of all that was typed, each pattern once; see `resolveTarget`. */
export async function resolveTargets(app: App, typed: readonly string[], folder: string): Promise<Target[]> {
  if (typed.length > FILE_PATHS_MAX) {
    const rule = `must be at most ${FILE_PATHS_MAX} at a time (got ${typed.length})`
    throw invalid("paths", rule, "Name their folder, which stands for everything below it.")
  }
  const targets = new Map<string, Target>()
  for (const one of typed) {
    const target = await resolveTarget(app, one, folder)
    targets.set(`${target.repository.id} ${target.pathPattern}`, target)
  }
  return [...targets.values()]
}

/** What is to be reserved, and how. */
interface TypedClaim extends Target {
  exclusive: boolean
  durationSeconds: number
  reason: string | null
}

interface ReserveOutcome {
  /** One for each claim, or none when there are conflicts. */
  grants: { granted: Reservation; renewed: boolean }[]
  /** Who shares what was granted. */
  sharers: Sharers
  conflicts: ClaimConflict[]
  nowMs: number
}

/** Reserves all of it or nothing, in one transaction. Fails with `forbidden` where the key does not reach. */
export async function reserveTargets(
  context: CallContext,
  claimant: Claimant,
  claims: readonly TypedClaim[],
): Promise<ReserveOutcome> {
  const { agent, project, ownAgentIds } = claimant
  for (const { repository } of claims) await admitToRepository({ ...context, project }, repository.id)
  const actor = { ...context, project, actor: agent }
  const outcome = await inTransaction(actor, `repository:${claims[0]?.repository.id}`, async (tx, dated) => {
    const { nowMs } = dated
    await endExpired(tx, nowMs)
    const call = newGrantCall()
    const conflicts = await findClaimConflicts(tx, claimant, claims, nowMs, call)
    const grants: ReserveOutcome["grants"] = []
    for (const claim of conflicts.length > 0 ? [] : claims) {
      const result = await grant(tx, dated, { ...claim, ownAgentIds }, call)
      // Nothing came between the look and the grant: both hold the write lock.
      assert("granted" in result, `${claim.pathPattern} is still free`)
      grants.push(result)
    }
    return { grants, conflicts, nowMs }
  })
  await tellRefused(context.app, refusedClaims(agent, outcome.conflicts))
  const granted = outcome.grants.map((one) => one.granted)
  const repositories = new Map(claims.map(({ repository }) => [repository.id, repository]))
  const sharers = new Map<number, readonly Reservation[] | null>()
  for (const repository of repositories.values()) {
    const here = granted.filter(({ repositoryId }) => repositoryId === repository.id)
    for (const entry of await findSharersOf(context.app.db, repository, here, outcome.nowMs, ownAgentIds))
      sharers.set(...entry)
  }
  return { ...outcome, sharers }
}

/** A path of which nothing was released, and why. */
export interface NotReleased {
  target: Target
  /** The caller's own reservations that cover the path and more. */
  coveredBy: Reservation[]
  /** What others hold there. */
  others: ClaimConflict[]
}

interface ReleaseOutcome {
  released: Reservation[]
  notReleased: NotReleased[]
}

/** Releases the reservations of exactly these targets that the given agents hold. */
export async function releaseTargets(
  context: CallContext,
  agents: readonly Agent[],
  targets: readonly Target[],
): Promise<ReleaseOutcome> {
  const { app, nowMs } = context
  const held: Reservation[] = []
  for (const agent of agents) {
    await requireScopeOf(context, agent)
    held.push(...(await listHeldByAgent(app.db, agent.id, nowMs)))
  }
  const matching = new Set(
    held.filter((reservation) => targets.some((target) => isOf(target, reservation))).map(({ id }) => id),
  )
  const released: Reservation[] = []
  for (const agent of agents) {
    const ids = held.filter(({ id, agentId }) => agentId === agent.id && matching.has(id)).map(({ id }) => id)
    // No ids would mean all of them.
    if (ids.length > 0) released.push(...(await releaseOf(context, agent, ids)))
  }
  const notReleased: NotReleased[] = []
  for (const target of targets) {
    if (released.some((reservation) => isOf(target, reservation))) continue
    notReleased.push({
      target,
      coveredBy: held.filter((reservation) => covers(reservation, target)),
      others: await othersAt(context, agents, target),
    })
  }
  return { released, notReleased }
}

/**
 * Releases everything that the given agents hold in a repository, or in all when none is given; `heldElsewhere` is how
 * much they hold in others.
 */
export async function releaseEverything(
  context: CallContext,
  agents: readonly Agent[],
  repository: Repository | undefined,
): Promise<{ released: Reservation[]; heldElsewhere: number }> {
  const { app, nowMs } = context
  const released: Reservation[] = []
  let heldElsewhere = 0
  for (const agent of agents) {
    await requireScopeOf(context, agent)
    const held = await listHeldByAgent(app.db, agent.id, nowMs)
    const here = held.filter(({ repositoryId }) => repository === undefined || repositoryId === repository.id)
    heldElsewhere += held.length - here.length
    // No ids would mean all of them.
    if (here.length > 0)
      released.push(
        ...(await releaseOf(
          context,
          agent,
          here.map(({ id }) => id),
        )),
      )
  }
  return { released, heldElsewhere }
}

async function requireScopeOf({ app, key }: CallContext, agent: Agent): Promise<void> {
  await requireScope(app.db, key, await projectOf(app.db, agent.projectId), undefined)
}

async function projectOf(db: Queries, projectId: number): Promise<Project> {
  const project = await findProjectById(db, projectId)
  assert(project !== undefined, `project ${projectId} is there`)
  return project
}

/** The same file is written in two ways: as the name that it is, and as the pattern that was typed. */
function isOf(target: Target, { repositoryId, pathPattern }: Reservation): boolean {
  const { repository, path } = target
  const fold = (text: string) => (repository.ignoreCase ? foldCase(text) : text)
  return (
    repositoryId === repository.id &&
    [target.pathPattern, path, escapePath(path)].map(fold).includes(fold(pathPattern))
  )
}

function covers({ repositoryId, pathPattern }: Reservation, { repository, path }: Target): boolean {
  const { id, ignoreCase } = repository
  return repositoryId === id && path !== "" && matchesPath(compilePattern(pathPattern, { ignoreCase }), path)
}

function othersAt(
  { app, nowMs }: CallContext,
  agents: readonly Agent[],
  target: Target,
): Promise<ClaimConflict[]> {
  const own = { ownAgentIds: new Set(agents.map(({ id }) => id)) }
  return findClaimConflicts(app.db, own, [{ ...target, exclusive: true }], nowMs)
}

interface Cleaned {
  expired: number
  /** Server processes that had died. */
  dead: number
  /** Reservations of dead sessions. */
  released: number
  /** What dead sessions hold until their grace is over. */
  held: Reservation[]
}

/** Closes what has run out, forgets server processes that have died, and sees to what dead sessions hold. */
export async function cleanUp(app: App, options: { withoutGrace?: boolean } = {}): Promise<Cleaned> {
  const before = await listProcesses(app.db)
  await removeDeadProcesses(app)
  const left = new Set((await listProcesses(app.db)).map(({ id }) => id))
  const expired = await closeExpired(app)
  const { released } = await tendDeadSessions(app, options)
  const held: Reservation[] = []
  for (const { id } of await listRepositories(app.db))
    held.push(...(await listReservationsIn(app.db, id, app.now(), LISTING_ROWS_MAX)))
  return {
    expired,
    dead: before.filter(({ id }) => !left.has(id)).length,
    released,
    held: held.filter(({ diedAtMs }) => diedAtMs !== null),
  }
}
