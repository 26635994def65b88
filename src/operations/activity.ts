/** What is there and what is going on, in figures. */

import { LISTING_ROWS_MAX } from "../config/limits.ts"
import { isActive } from "../domain/coordination/agent.ts"
import { workAt } from "../domain/documentation/documentation.ts"
import { listAgents } from "../store/coordination/agents.ts"
import { listReservationsIn } from "../store/coordination/reservations.ts"
import {
  listDocumentationBranches,
  listDocumentedRepositories,
} from "../store/documentation/documentation.ts"
import { countBranchFiles } from "../store/documentation/documents.ts"
import { findProjectByKey, listProjectKeys } from "../store/projects.ts"
import { findRepositoryById, listRepositories } from "../store/repositories.ts"
import type { App } from "./app.ts"
import { allProjects, type Colleague, listColleagues } from "./coordination/colleagues.ts"
import { type Standstill, standstillNow } from "./coordination/standstill.ts"
import { type ModelState, modelState } from "./embedding/models.ts"
import { livingProcesses } from "./processes.ts"

export interface Activity {
  serverProcesses: number
  repositories: number
  activeAgents: number
  activeReservations: number
  /** Who is at work, the active first. */
  atWork: readonly Colleague[]
  models: ModelState
  standstill: Standstill
  documentation: DocumentationActivity
}

/** What is searched, and what is being read or embedded now. */
export interface DocumentationActivity {
  repositories: number
  branches: number
  files: number
  chunks: number
  /** Repositories that cannot be brought up to date. */
  problems: number
  indexing: { repository: string; phase: string; branch: string | null; done: number; total: number }[]
}

/** Returns what is there now, in all projects and repositories. */
export async function activityNow(app: App): Promise<Activity> {
  const repositories = await listRepositories(app.db)
  const nowMs = app.now()
  let activeReservations = 0
  for (const { id } of repositories)
    activeReservations += (await listReservationsIn(app.db, id, nowMs, LISTING_ROWS_MAX)).length
  return {
    serverProcesses: (await livingProcesses(app)).length,
    repositories: repositories.length,
    activeAgents: await countActiveAgents(app, nowMs),
    activeReservations,
    atWork: await listColleagues(app, await allProjects(app), { includesGone: false }),
    models: await modelState(app.db),
    standstill: await standstillNow(app),
    documentation: await documentationNow(app, nowMs),
  }
}

async function documentationNow({ db }: App, nowMs: number): Promise<DocumentationActivity> {
  const found: DocumentationActivity = {
    repositories: 0,
    branches: 0,
    files: 0,
    chunks: 0,
    problems: 0,
    indexing: [],
  }
  for (const { repositoryId, work, problem } of await listDocumentedRepositories(db)) {
    found.repositories += 1
    if (problem !== null) found.problems += 1
    for (const { id } of await listDocumentationBranches(db, repositoryId)) {
      const counts = await countBranchFiles(db, id)
      found.branches += 1
      found.files += counts.files - counts.problems
      found.chunks += counts.chunks
    }
    const current = workAt(work, nowMs)
    if (current === null) continue
    const { phase, branch, done, total } = current
    const repository = (await findRepositoryById(db, repositoryId))?.name ?? ""
    found.indexing.push({ repository, phase, branch, done, total })
  }
  return found
}

async function countActiveAgents(app: App, nowMs: number): Promise<number> {
  let active = 0
  for (const key of await listProjectKeys(app.db, "", LISTING_ROWS_MAX)) {
    const project = await findProjectByKey(app.db, key)
    const agents = project === undefined ? [] : await listAgents(app.db, project.id)
    active += agents.filter((agent) => isActive(agent, nowMs)).length
  }
  return active
}
