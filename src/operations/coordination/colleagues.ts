/** Who is at work, as people look at it: where, on what, with what held and what mail waiting. */

import { LISTING_ROWS_MAX } from "../../config/limits.ts"
import type { Agent } from "../../domain/coordination/agent.ts"
import { PRESENCES, type Presence, presenceOf } from "../../domain/coordination/presence.ts"
import type { Reservation } from "../../domain/coordination/reservation.ts"
import type { Project, Repository } from "../../domain/project.ts"
import { currentBranch } from "../../git/branches.ts"
import { listAgents } from "../../store/coordination/agents.ts"
import { countInbox, listUrgentUnread } from "../../store/coordination/messages.ts"
import { listHeldByAgent } from "../../store/coordination/reservations.ts"
import { listProjects } from "../../store/projects.ts"
import { findRepositoryById } from "../../store/repositories.ts"
import type { App } from "../app.ts"
import { livingSessions } from "../processes.ts"
import { isOverHttp, listOwnAgents, sessionNames } from "./sessions.ts"

export interface Colleague {
  agent: Agent
  project: Project
  presence: Presence
  /** The repository that it works in, if any. */
  repository: Repository | undefined
  /** The branch that its work tree stands on now; null where that is unknown. */
  branch: string | null
  /** What it holds, oldest first. */
  held: readonly Reservation[]
  unread: number
  /** Of the unread ones. */
  urgent: number
}

/** An agent with whether it is at work. */
export interface Present {
  agent: Agent
  project: Project
  presence: Presence
}

/** Returns all projects of the machine, at most 1,000. */
export function allProjects({ db }: App): Promise<Project[]> {
  return listProjects(db, LISTING_ROWS_MAX)
}

/**
 * Returns the agents of projects that are at work, or all of them, the active before the idle before those that are
 * gone, each by last activity. Writes nothing.
 */
export async function listPresent(
  app: App,
  projects: readonly Project[],
  { includesGone }: { includesGone: boolean },
): Promise<Present[]> {
  const members: Omit<Present, "presence">[] = []
  for (const project of projects)
    for (const agent of await listAgents(app.db, project.id)) members.push({ agent, project })
  const present = await withPresence(app, members)
  return includesGone ? present : present.filter(({ presence }) => presence !== "gone")
}

/** Returns agents with whether they are at work, ordered as `listPresent` does. */
export async function withPresence(
  app: App,
  members: readonly Omit<Present, "presence">[],
): Promise<Present[]> {
  const nowMs = app.now()
  const living = await livingSessions(app)
  const present: Present[] = []
  for (const { agent, project } of members)
    present.push({ agent, project, presence: presenceOf(agent, await signsOf(app, agent, living), nowMs) })
  const rank = ({ presence }: Present) => PRESENCES.indexOf(presence)
  return present.sort(
    (one, other) => rank(one) - rank(other) || other.agent.lastActiveAtMs - one.agent.lastActiveAtMs,
  )
}

async function signsOf({ db }: App, agent: Agent, living: ReadonlySet<string>) {
  const { session } = agent
  if (session === null) return { isSessionLive: false, isLatestOfSession: false, isOverHttp: false }
  const names = await sessionNames(db, session)
  const [latest] = await listOwnAgents(db, names)
  return {
    isSessionLive: names.some((name) => living.has(name)),
    isLatestOfSession: latest?.id === agent.id,
    isOverHttp: await isOverHttp(db, session),
  }
}

/** Returns the same with what there is to know of each; of many the first 1,000. */
export async function listColleagues(
  app: App,
  projects: readonly Project[],
  which: { includesGone: boolean },
): Promise<Colleague[]> {
  const present = (await listPresent(app, projects, which)).slice(0, LISTING_ROWS_MAX)
  const branches = await branchesOf(present.filter(({ presence }) => presence !== "gone"))
  const nowMs = app.now()
  const colleagues: Colleague[] = []
  for (const one of present) {
    const { id, projectId, repositoryId, workTree } = one.agent
    const { unread } = await countInbox(app.db, { agentId: id })
    const urgent = unread === 0 ? [] : await listUrgentUnread(app.db, projectId, id, LISTING_ROWS_MAX)
    colleagues.push({
      ...one,
      repository: repositoryId === null ? undefined : await findRepositoryById(app.db, repositoryId),
      // What the work tree of an agent that is gone stands on by now says nothing of its work.
      branch: workTree === null || one.presence === "gone" ? null : (branches.get(workTree) ?? null),
      held: await listHeldByAgent(app.db, id, nowMs),
      unread,
      urgent: urgent.length,
    })
  }
  return colleagues
}

async function branchesOf(present: readonly Present[]): Promise<Map<string, string | null>> {
  const workTrees = new Set(present.flatMap(({ agent }) => agent.workTree ?? []))
  return new Map(
    await Promise.all(
      [...workTrees].map(async (workTree) => [workTree, await currentBranch(workTree)] as const),
    ),
  )
}
