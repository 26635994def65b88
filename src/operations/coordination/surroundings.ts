/** What an agent should know of the others when its session starts: who is at work, and what they hold. */

import {
  AT_WORK_SHOWN_MAX,
  LISTING_ROWS_MAX,
  OTHER_PROJECTS_SHOWN_MAX,
  PATTERNS_HELD_SHOWN_MAX,
} from "../../config/limits.ts"
import { permitsProject } from "../../domain/api-key.ts"
import { type Agent, isActive, isPerson } from "../../domain/coordination/agent.ts"
import type { Reservation } from "../../domain/coordination/reservation.ts"
import { named, oneLine } from "../../domain/foreign-text/markdown.ts"
import type { Project } from "../../domain/project.ts"
import { listAgents } from "../../store/coordination/agents.ts"
import { countReservations, listReservations } from "../../store/coordination/reservations.ts"
import { listBusiestProjects, listProjectRepositoryIds } from "../../store/projects.ts"
import type { App } from "../app.ts"
import { ageOf, count, lines } from "../markdown.ts"
import type { ActorContext, CallContext } from "../operation.ts"
import { livingSessions } from "../processes.ts"
import { type Present, withPresence } from "./colleagues.ts"
import { ownAgentIdsOf } from "./sessions.ts"

/** Of very many projects the rest are quiet. */
const PROJECTS_LOOKED_AT = 10

interface Surroundings {
  /** Other agents of the project that are at work or hold something, the most recently active first. */
  others: (Present & { held: Reservation[] })[]
  /** Other projects of the same repository that the key may use, the busiest first. */
  projects: { project: Project; atWork: number; held: number }[]
}

/** Returns what goes on around an agent, as far as its key reaches. */
export async function surroundingsOf(context: ActorContext): Promise<Surroundings> {
  const { app, project, actor, nowMs } = context
  const own = await ownAgentIdsOf(app.db, actor)
  const held = await listReservations(app.db, { projectId: project.id }, nowMs, LISTING_ROWS_MAX)
  const holders = new Set(held.map(({ agentId }) => agentId))
  const present = await presentIn(app, project, (agent) => !own.has(agent.id), holders)
  const others = present
    .map((one) => ({ ...one, held: held.filter(({ agentId }) => agentId === one.agent.id) }))
    // Whose session has ended is at work no more; only what it still holds stands in the way.
    .filter((one) => one.presence !== "gone" || one.held.length > 0)
  return { others, projects: await otherProjects(context) }
}

async function otherProjects(context: ActorContext): Promise<Surroundings["projects"]> {
  const { app, project, actor, nowMs } = context
  if (actor.repositoryId === null) return []
  const found: Surroundings["projects"] = []
  for (const other of await listBusiestProjects(app.db, actor.repositoryId, PROJECTS_LOOKED_AT)) {
    if (other.id === project.id || !(await mayUse(context, other))) continue
    const present = await presentIn(app, other, () => true, new Set())
    const filter = { projectId: other.id, repositoryId: actor.repositoryId }
    const held = await countReservations(app.db, filter, nowMs)
    found.push({ project: other, atWork: present.filter(({ presence }) => presence !== "gone").length, held })
  }
  return found.sort((one, other) => other.atWork - one.atWork)
}

/** Returns agents of a project with whether they are at work, but for those that are surely gone and hold nothing. */
async function presentIn(
  app: App,
  project: Project,
  isWanted: (agent: Agent) => boolean,
  holders: ReadonlySet<number>,
): Promise<Present[]> {
  const nowMs = app.now()
  const living = await livingSessions(app)
  const agents = (await listAgents(app.db, project.id)).filter(
    (agent) =>
      isWanted(agent) && (isActive(agent, nowMs) || holders.has(agent.id) || living.has(agent.session ?? "")),
  )
  const members = agents.map((agent) => ({ agent, project }))
  return members.length === 0 ? [] : withPresence(app, members)
}

async function mayUse({ app, key }: CallContext, project: Project): Promise<boolean> {
  return permitsProject(key.scopes, project.key, await listProjectRepositoryIds(app.db, project.id))
}

/** Returns the lines of it, the first ones of many. */
export function surroundingsText({ others, projects }: Surroundings, nowMs: number): string {
  const left = others.length - AT_WORK_SHOWN_MAX
  const leftProjects = projects.length - OTHER_PROJECTS_SHOWN_MAX
  return lines(
    "## Others at work",
    others.length === 0 ? "none" : null,
    ...others.slice(0, AT_WORK_SHOWN_MAX).map((one) => agentLine(one, nowMs)),
    left > 0 ? `- ${left} more; call list-agents and list-file-reservations to see them` : null,
    projects.length === 0 ? null : "## Other projects on this repository",
    ...projects
      .slice(0, OTHER_PROJECTS_SHOWN_MAX)
      .map(
        ({ project, atWork, held }) =>
          `- ${named(project.key)} (project ${project.id}): ${count(atWork, "agent")} at work, ${count(held, "reservation")}`,
      ),
    leftProjects > 0 ? `- ${leftProjects} more` : null,
  )
}

function agentLine({ agent, presence, held }: Surroundings["others"][number], nowMs: number): string {
  const who = isPerson(agent) ? "a person" : oneLine(agent.program)
  const facts = [
    presence === "gone" ? "no live session" : null,
    `last active ${ageOf(agent.lastActiveAtMs, nowMs)}`,
    agent.taskDescription === null ? null : `task: ${oneLine(agent.taskDescription)}`,
    heldText("holds", held, true),
    heldText("shares", held, false),
  ]
  return `- ${agent.name} (agent ${agent.id}, ${who}), ${facts.filter((fact) => fact !== null).join("; ")}`
}

function heldText(verb: string, held: readonly Reservation[], exclusive: boolean): string | null {
  const patterns = held.filter((one) => one.exclusive === exclusive).map((one) => named(one.pathPattern))
  if (patterns.length === 0) return null
  const left = patterns.length - PATTERNS_HELD_SHOWN_MAX
  return `${verb} ${patterns.slice(0, PATTERNS_HELD_SHOWN_MAX).join(", ")}${left > 0 ? ` and ${left} more` : ""}`
}
