/**
 * The work of keeping documentation searchable: which of it is wanted, and one process at a time that does it. It
 * may be stopped or killed at any moment; a process that goes on finds what was done.
 */

import { type IndexingWork, workAt } from "../../domain/documentation/documentation.ts"
import type { Repository } from "../../domain/project.ts"
import { AppError } from "../../errors.ts"
import { GitError } from "../../git/git-process.ts"
import {
  listDocumentationBranches,
  listDocumentedRepositories,
  putIndexingProblem,
  putIndexingWork,
} from "../../store/documentation/documentation.ts"
import { countUnembeddedChunks } from "../../store/documentation/documents.ts"
import { findRepositoryById } from "../../store/repositories.ts"
import type { App } from "../app.ts"
import { activeModel } from "../embedding/memories.ts"
import { documentModel, embedDocuments, removeOldVectors } from "./embedding.ts"
import type { IndexingResult, IndexingWanted } from "./indexer.ts"
import { whileNobodyIndexes } from "./indexing-lock.ts"
import type { IndexingRun, ReadingLimits } from "./reading.ts"
import { isRemovalWanted, removeLeftovers } from "./removal.ts"
import { documentedRepositories } from "./repositories.ts"
import { documentRules } from "./rules.ts"
import { openSource } from "./source.ts"
import { syncRepository } from "./sync.ts"

export interface IndexingOptions extends IndexingWanted {
  /** Ends the work soon, leaving everything in order. */
  signal?: AbortSignal
  /** Reads less than is read otherwise, in tests. */
  limits?: Partial<ReadingLimits>
  onProgress?(repository: Repository, work: IndexingWork): void
}

/** Brings documentation up to date: first all texts, then their vectors. What cannot be read is noted, never fatal. */
export async function runIndexing(app: App, options: IndexingOptions = {}): Promise<IndexingResult> {
  const result = await whileNobodyIndexes(app, () => indexAll(app, options))
  return result ?? "busy"
}

async function indexAll(app: App, options: IndexingOptions): Promise<IndexingResult> {
  const stop = new AbortController()
  const isStopped = () =>
    options.signal?.aborted === true || (options.untilMs !== undefined && performance.now() > options.untilMs)
  const onAbort = () => stop.abort()
  const timer =
    options.untilMs === undefined ? undefined : setTimeout(onAbort, options.untilMs - performance.now())
  options.signal?.addEventListener("abort", onAbort, { once: true })
  const run: IndexingRun = {
    app,
    rules: documentRules(app.config.ignoredDocuments),
    limits: options.limits ?? {},
    isStopped,
    signal: stop.signal,
    ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
  }
  await removeLeftovers(app, isStopped)
  const repositories = await documentedRepositories(app.db, options.repositoryIds)
  try {
    for (const repository of repositories) {
      if (isStopped()) return "stopped"
      const isRead = await noteProblem(run, repository, () =>
        syncRepository(run, repository, options.branches),
      )
      if (isRead) await putProblem(app, repository, null)
    }
    const model = await documentModel(app)
    for (const repository of repositories) {
      if (isStopped()) return "stopped"
      await noteProblem(run, repository, () => embed(run, repository, model, options.untilMs))
    }
    if (isStopped()) return "stopped"
    await removeOldVectors(app)
    return "done"
  } finally {
    options.signal?.removeEventListener("abort", onAbort)
    clearTimeout(timer)
    stop.abort()
    for (const { id } of repositories)
      await app.db.transaction(`documentation:${id}`, (tx) => putIndexingWork(tx, id, null))
  }
}

async function embed(
  { app, isStopped, onProgress }: IndexingRun,
  repository: Repository,
  model: Awaited<ReturnType<typeof documentModel>>,
  untilMs: number | undefined,
): Promise<void> {
  const options = {
    isStopped,
    untilMs,
    onProgress: (_: number, work: IndexingWork) => onProgress?.(repository, work),
  }
  const active = await activeModel(app.db)
  // Until another model takes over, what is new is found by the vectors of this one.
  if (active.id !== model.id)
    await embedDocuments(app, { repositoryId: repository.id }, active, { ...options, isNewOnly: true })
  await embedDocuments(app, { repositoryId: repository.id }, model, options)
}

/** Does something with a repository; what keeps it from succeeding is noted for lists of repositories. */
async function noteProblem(
  { app, isStopped }: IndexingRun,
  repository: Repository,
  work: () => Promise<unknown>,
): Promise<boolean> {
  try {
    await work()
    return !isStopped()
  } catch (error) {
    if (isStopped()) return false
    const problem = indexingProblemOf(error)
    if (problem === undefined) throw error
    app.log.warn("documentation cannot be brought up to date", { repository: repository.name, problem })
    await putProblem(app, repository, problem)
    return false
  }
}

/** Returns what keeps a repository from being read, for its users; undefined for what is a defect of ours. */
export function indexingProblemOf(error: unknown): string | undefined {
  if (error instanceof AppError) return error.text
  return error instanceof GitError ? `git: ${error.message}` : undefined
}

function putProblem(app: App, { id }: Repository, problem: string | null): Promise<void> {
  return app.db.transaction(`documentation:${id}`, (tx) => putIndexingProblem(tx, id, problem))
}

/**
 * Whether anything is to be done, as far as that can be told in a moment: a branch that has moved, one that was not
 * read to its end, chunks without a vector, or what is left of a repository that was let go.
 */
export async function isIndexingWanted(app: App): Promise<boolean> {
  if (await isRemovalWanted(app)) return true
  const documented = await listDocumentedRepositories(app.db)
  if (documented.length === 0) return false
  const rules = documentRules(app.config.ignoredDocuments)
  const model = await documentModel(app)
  for (const { repositoryId, problem } of documented) {
    // What kept it from being read is looked at again by the next search of it, or sync.
    if (problem !== null) continue
    if ((await countUnembeddedChunks(app.db, repositoryId, { modelId: model.id, isNewOnly: false })) > 0)
      return true
    const repository = await findRepositoryById(app.db, repositoryId)
    const branches = await listDocumentationBranches(app.db, repositoryId)
    if (branches.some(({ isComplete, rules: used }) => !isComplete || used !== rules.name)) return true
    // Why it cannot be read is noted by the next search of it, or sync.
    const source = repository && (await openSource(repository, rules).catch(() => undefined))
    if (branches.some(({ name, commit }) => source?.isAt(name, commit ?? "") === false)) return true
  }
  return false
}

/** Returns what was last noted of the work on a repository, by whatever process; undefined when none is at it. */
export async function latestWork(app: App): Promise<{ name: string; work: IndexingWork } | undefined> {
  const nowMs = app.now()
  const works = (await listDocumentedRepositories(app.db)).flatMap(({ repositoryId, work }) => {
    const current = workAt(work, nowMs)
    return current === null ? [] : [{ repositoryId, work: current }]
  })
  const [latest] = works.sort((one, other) => other.work.updatedAtMs - one.work.updatedAtMs)
  const repository = latest && (await findRepositoryById(app.db, latest.repositoryId))
  return repository && { name: repository.name, work: latest.work }
}
