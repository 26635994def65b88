/** `signalbox status`: what is there and what is going on, without changing or making anything. */

import { existsSync, statSync } from "node:fs"
import { openAppAlone } from "../app.ts"
import type { Config } from "../config.ts"
import { schemaVersionOf } from "../db/backup.ts"
import { SCHEMA_VERSION } from "../db/migrations.ts"
import { isActive } from "../domain/agent.ts"
import { workAt } from "../domain/documentation.ts"
import type { StoredModel } from "../domain/embedding.ts"
import { hasHookFiles, hookFolder } from "../hook/files.ts"
import { LISTING_ROWS_MAX } from "../limits.ts"
import type { App } from "../operations/app.ts"
import { count, lines } from "../operations/markdown.ts"
import { modelState } from "../operations/models.ts"
import { packageVersion } from "../package-root.ts"
import { listAgents } from "../store/agents.ts"
import { listDocumentationBranches, listDocumentedRepositories } from "../store/documentation.ts"
import { countBranchFiles } from "../store/documents.ts"
import type { EmbeddingProgress } from "../store/embeddings.ts"
import { listProcesses } from "../store/processes.ts"
import { findProjectByKey, listProjectKeys } from "../store/projects.ts"
import { findRepositoryById, listRepositories } from "../store/repositories.ts"
import { listReservationsIn } from "../store/reservations.ts"
import { figure } from "./indexing-work.ts"
import { askListener, listenerOf } from "./listener.ts"
import { visible } from "./memory-text.ts"
import { progressJson, progressText } from "./model-follow.ts"
import { bold, dim, green, type OutputOptions, printResult, red } from "./output.ts"

interface Activity {
  server_processes: number
  repositories: number
  active_agents: number
  active_reservations: number
  embedding: Embedding
  documentation: Documentation
}

/** What is searched, and what is being read or embedded now. */
interface Documentation {
  repositories: number
  branches: number
  files: number
  chunks: number
  /** Repositories that cannot be brought up to date. */
  problems: number
  indexing: { repository: string; phase: string; branch: string | null; done: number; total: number }[]
}

/** Who embeds memories, and who is to take over; null when nobody is. */
interface Embedding {
  active: EmbeddingModel
  building: EmbeddingModel | null
}

interface EmbeddingModel {
  id: string
  name: string
  progress: EmbeddingProgress
}

/** Prints the state of the database, the listener, the hook and the limits. */
export async function statusCommand(config: Config, options: OutputOptions): Promise<void> {
  const { databasePath } = config
  const exists = existsSync(databasePath)
  const schemaVersion = exists ? schemaVersionOf(databasePath) : null
  // Opening an older database would bring it to this version's schema, and that is not ours to do here.
  const activity = schemaVersion === SCHEMA_VERSION ? await activityIn(config) : null
  const listener = listenerOf(config)
  const status = {
    version: packageVersion(),
    environment: config.environment,
    key: config.apiKey === undefined ? "local" : "SIGNALBOX_API_KEY",
    database: {
      path: databasePath,
      exists,
      bytes: exists ? statSync(databasePath).size : 0,
      schema_version: schemaVersion,
    },
    listener:
      listener === undefined
        ? null
        : {
            url: listener.url,
            pid: listener.pid,
            is_up: (await askListener(config, "/healthz")) !== undefined,
          },
    activity,
    hook: { is_installed: hasHookFiles(config.dataFolder), folder: hookFolder(config.dataFolder) },
    limits: config.rates,
  }
  printResult(options, status, () => statusText(status))
}

async function activityIn(config: Config): Promise<Activity> {
  const app = await openAppAlone(config)
  try {
    const processes = await listProcesses(app.db)
    const repositories = await listRepositories(app.db)
    const nowMs = app.now()
    let reservations = 0
    for (const { id } of repositories)
      reservations += (await listReservationsIn(app.db, id, nowMs, LISTING_ROWS_MAX)).length
    return {
      server_processes: processes.filter(({ pid, identityMark }) => app.markOf(pid) === identityMark).length,
      repositories: repositories.length,
      active_agents: await countActiveAgents(app, nowMs),
      active_reservations: reservations,
      embedding: await embeddingIn(app),
      documentation: await documentationIn(app, nowMs),
    }
  } finally {
    await app.close()
  }
}

async function embeddingIn(app: App): Promise<Embedding> {
  const { active, activeProgress, building, buildingProgress } = await modelState(app.db)
  const shown = ({ source, name }: StoredModel, progress: EmbeddingProgress): EmbeddingModel => ({
    id: source,
    name,
    progress: progressJson(progress),
  })
  return {
    active: shown(active, activeProgress),
    building: building && buildingProgress ? shown(building, buildingProgress) : null,
  }
}

async function documentationIn({ db }: App, nowMs: number): Promise<Documentation> {
  const found: Documentation = {
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

interface Status {
  version: string
  environment: string
  key: string
  database: { path: string; exists: boolean; bytes: number; schema_version: number | null }
  listener: { url: string; pid: number; is_up: boolean } | null
  activity: Activity | null
  hook: { is_installed: boolean; folder: string }
  limits: Config["rates"]
}

function statusText(status: Status): string {
  const { activity, hook, limits } = status
  const line = (isGood: boolean, name: string, text: string) =>
    `${isGood ? green("✓") : dim("-")} ${name.padEnd(13)} ${text}`
  return lines(
    `${bold("signalbox")} ${status.version}  ${dim(`environment ${status.environment}, key: ${status.key}`)}`,
    line(status.database.exists, "Database", databaseText(status.database)),
    line(status.listener?.is_up === true, "Listener", listenerText(status.listener)),
    activity === null
      ? null
      : lines(
          line(activity.server_processes > 0, "Servers", count(activity.server_processes, "live session")),
          line(
            activity.active_agents > 0,
            "Agents",
            `${activity.active_agents} active in the last 30 minutes`,
          ),
          line(
            activity.active_reservations > 0,
            "Reservations",
            `${activity.active_reservations} in ${count(activity.repositories, "repository", "repositories")}`,
          ),
          line(activity.embedding.active.progress.total > 0, "Memories", embeddingText(activity.embedding)),
          line(activity.documentation.chunks > 0, "Documentation", documentationText(activity.documentation)),
        ),
    line(
      hook.is_installed,
      "Hook",
      hook.is_installed
        ? `installed in ${hook.folder}`
        : "not installed: run signalbox install to guard edits with it",
    ),
    line(
      true,
      "Limits",
      `${perMinute(limits.tool_calls_per_minute)} tool calls, ${perMinute(limits.resource_reads_per_minute)} resource reads, ${perMinute(limits.searches_per_minute)} searches a minute`,
    ),
  )
}

function databaseText({ path, exists, bytes, schema_version }: Status["database"]): string {
  if (!exists) return `no database yet; the first server makes ${path}`
  const facts = dim(`(${Math.ceil(bytes / 1024)} KiB, schema ${schema_version ?? "unreadable"})`)
  if (schema_version === SCHEMA_VERSION) return `${path} ${facts}`
  const next =
    schema_version === null
      ? "cannot be read: run signalbox doctor"
      : schema_version < SCHEMA_VERSION
        ? "the next server brings it to this version"
        : "made by a newer signalbox: update this one"
  return `${path} ${facts} ${red(next)}`
}

function listenerText(listener: Status["listener"]): string {
  if (listener === null) return "none; a server starts it with the first call of an agent"
  const { url, pid, is_up } = listener
  return is_up ? `${url} ${dim(`(process ${pid})`)}` : `${url} does not answer ${dim(`(process ${pid})`)}`
}

function embeddingText({ active, building }: Embedding): string {
  const now = `${progressText(active.progress)} with ${active.id}`
  if (building === null) return now
  const { completed, failed, total } = building.progress
  const done = `${(completed + failed).toLocaleString("en-US")} of ${total.toLocaleString("en-US")} done`
  return `${now}; ${building.id} takes over, ${done}`
}

function documentationText({
  repositories,
  branches,
  files,
  chunks,
  problems,
  indexing,
}: Documentation): string {
  if (repositories === 0) return "none is searched; signalbox repos add connects a repository"
  const where =
    branches <= repositories
      ? count(repositories, "repository", "repositories")
      : `${count(branches, "branch", "branches")} of ${count(repositories, "repository", "repositories")}`
  const work = indexing.map(({ repository, phase, done, total }) => {
    const unit = phase === "embedding" ? "chunks" : "files"
    return `; ${phase} ${visible(repository)}, ${figure(done)} of ${figure(total)} ${unit}`
  })
  const trouble = problems === 0 ? "" : red("; signalbox repos list says what cannot be read")
  const figures = `${figure(files)} ${files === 1 ? "file" : "files"}, ${figure(chunks)} ${chunks === 1 ? "chunk" : "chunks"}`
  return `${figures} in ${where}${work.join("")}${trouble}`
}

function perMinute(limit: number): string {
  return limit === 0 ? "unlimited" : String(limit)
}
