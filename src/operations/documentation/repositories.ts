/** Connects repositories for documentation search, lists them, and lets them go again. */

import { LISTING_ROWS_MAX, PROBLEMS_SHOWN_MAX } from "../../config/limits.ts"
import type { Queries } from "../../db/database.ts"
import {
  type DocumentationBranch,
  type DocumentedRepository,
  workAt,
} from "../../domain/documentation/documentation.ts"
import { echoed, named } from "../../domain/foreign-text/markdown.ts"
import { type Repository, repositoryNameKey } from "../../domain/project.ts"
import { AppError } from "../../errors.ts"
import { parseGitUrl } from "../../git/address.ts"
import { fetchedAtMs } from "../../git/clone.ts"
import { runGit, withoutCredentials } from "../../git/git-process.ts"
import { listReservationsIn } from "../../store/coordination/reservations.ts"
import {
  findDocumentationBranch,
  findDocumentedRepository,
  insertDocumentationBranch,
  listDocumentationBranches,
  listDocumentedRepositories,
  putDocumentedRepository,
} from "../../store/documentation/documentation.ts"
import {
  type BranchCounts,
  countBranchFiles,
  countUnembeddedChunks,
  listProblems,
} from "../../store/documentation/documents.ts"
import { memoryTotals } from "../../store/memory/memories.ts"
import {
  disconnectRow,
  findRepositoryById,
  listRepositories,
  putRepositoryName,
} from "../../store/repositories.ts"
import type { App } from "../app.ts"
import { connectFolder } from "../connect.ts"
import { cloned } from "./clones.ts"
import { documentModel } from "./embedding.ts"
import { finishRemoval } from "./removal.ts"
import { documentRules } from "./rules.ts"
import { openSource } from "./source.ts"

export interface ConnectRequest {
  /** A folder, or the URL of a git repository. */
  target: string
  name?: string | undefined
  /** Searched besides the default branch. */
  branches?: readonly string[] | undefined
  signal?: AbortSignal | undefined
  /** What git says while it clones. */
  onProgress?: ((text: string) => void) | undefined
}

/**
 * Connects a repository that somebody named and begins to search its documentation; nothing is read yet. A URL is
 * cloned beside the database first. Connecting it again adds branches, and fetches what was cloned. Fails with
 * `not_found` for a folder or a branch that is not there, with `conflict` for a name that another one has, and with
 * `unavailable` when it cannot be cloned.
 */
export async function connectRepository(app: App, request: ConnectRequest): Promise<Repository> {
  const { target, name, ...options } = request
  const address = parseGitUrl(target)
  const folder = address === undefined ? target : await cloned(app, { address, ...options })
  const before = await listRepositories(app.db)
  const repository = await connectFolder(app.db, folder, app.now())
  try {
    await requireUsable(app, repository, request)
  } catch (error) {
    // What was refused is not connected all the same.
    if (!before.some(({ id }) => id === repository.id))
      await app.db.transaction("repositories", (tx) => disconnectRow(tx, repository.id))
    throw error
  }
  await beginDocumentation(app, repository, request.branches, address?.url ?? null)
  if (name === undefined || name === repository.name) return repository
  await app.db.transaction("repositories", (tx) => putRepositoryName(tx, repository.id, name))
  return { ...repository, name }
}

async function requireUsable(
  app: App,
  repository: Repository,
  { name, branches = [] }: ConnectRequest,
): Promise<void> {
  if (name !== undefined) await requireFreeName(app, repository, name)
  const source = await openSource(repository, documentRules(app.config.ignoredDocuments))
  for (const branch of branches) {
    if ((await source.commitOf(branch)) !== undefined) continue
    const known = (await source.branchNames()).map(named).join(", ")
    throw new AppError("not_found", `branch ${echoed(branch)} was not found; known are: ${known || "none"}`, {
      field: "branches",
    })
  }
}

async function requireFreeName(app: App, repository: Repository, name: string): Promise<void> {
  const isOther = ({ id }: Repository) => id !== repository.id
  const all = (await listRepositories(app.db)).filter(isOther)
  const other = all.find((one) => repositoryNameKey(one.name) === repositoryNameKey(name))
  if (other === undefined) return
  throw new AppError("conflict", `the name ${echoed(name)} belongs to ${named(other.rootPath)}`, {
    field: "name",
    hint: "Choose another name.",
  })
}

/** Begins to search the documentation of a repository: of its default branch, and of branches that it has. */
export async function beginDocumentation(
  app: App,
  repository: Repository,
  branches: readonly string[] = [],
  cloneUrl: string | null = null,
): Promise<void> {
  const { id: repositoryId, identityPath, defaultBranch } = repository
  const known = await findDocumentedRepository(app.db, repositoryId)
  if (known?.isWanted === false) await finishRemoval(app, repositoryId, { keepsClone: cloneUrl !== null })
  const isNew = known === undefined || !known.isWanted || (cloneUrl !== null && known.cloneUrl === null)
  if (!isNew && branches.length === 0) return
  const wanted = [...(defaultBranch === null ? [] : [defaultBranch]), ...branches]
  const missing: string[] = []
  for (const name of wanted)
    if ((await findDocumentationBranch(app.db, repositoryId, name)) === undefined) missing.push(name)
  if (!isNew && missing.length === 0) return
  const remote = await runGit(["config", "--get", "remote.origin.url"], { gitFolder: identityPath })
  const remoteUrl = remote === undefined ? null : withoutCredentials(remote)
  const origin = { cloneUrl: cloneUrl ?? known?.cloneUrl ?? null, remoteUrl }
  await app.db.transaction(`documentation:${repositoryId}`, async (tx) => {
    await putDocumentedRepository(tx, { repositoryId, isWanted: true, ...origin })
    for (const name of missing) await insertDocumentationBranch(tx, repositoryId, name)
  })
}

/** Returns the repositories whose documentation is searched, or those of them with some ids. */
export async function documentedRepositories(db: Queries, ids?: readonly number[]): Promise<Repository[]> {
  const repositories: Repository[] = []
  for (const { repositoryId } of await listDocumentedRepositories(db)) {
    if (ids !== undefined && !ids.includes(repositoryId)) continue
    const repository = await findRepositoryById(db, repositoryId)
    if (repository !== undefined) repositories.push(repository)
  }
  return repositories
}

/** A connected repository with the state of its documentation. */
export interface RepositoryState {
  repository: Repository
  /** Whether somebody has let its documentation go. */
  isDisconnected: boolean
  /** Absent while its documentation is not searched. */
  documented: DocumentedRepository | undefined
  branches: (DocumentationBranch & { counts: BranchCounts; problems: { path: string; problem: string }[] })[]
  /** Chunks that wait for a vector. */
  waiting: number
  /** When a clone of ours was last brought to what its remote had, in ms since 1970; null for all others. */
  fetchedAtMs: number | null
}

/** Returns the state of repositories as it is stored now: reading one may have found another default branch. */
export async function repositoryStates(
  app: App,
  repositories: readonly Pick<Repository, "id">[],
): Promise<RepositoryState[]> {
  const model = await documentModel(app)
  const states: RepositoryState[] = []
  for (const { id } of repositories) {
    const repository = await findRepositoryById(app.db, id)
    if (repository === undefined) continue
    const branches: RepositoryState["branches"] = []
    for (const branch of await listDocumentationBranches(app.db, repository.id)) {
      const counts = await countBranchFiles(app.db, branch.id)
      const problems = counts.problems === 0 ? [] : await listProblems(app.db, branch.id, PROBLEMS_SHOWN_MAX)
      branches.push({ ...branch, counts, problems })
    }
    const documented = await findDocumentedRepository(app.db, repository.id)
    const isDisconnected = documented?.isWanted === false
    const isClone = documented !== undefined && documented.cloneUrl !== null
    states.push({
      repository,
      isDisconnected,
      documented:
        documented === undefined || isDisconnected
          ? undefined
          : { ...documented, work: workAt(documented.work, app.now()) },
      branches,
      fetchedAtMs: isClone ? fetchedAtMs(repository.identityPath) : null,
      waiting: await countUnembeddedChunks(app.db, repository.id, { modelId: model.id, isNewOnly: false }),
    })
  }
  return states
}

/** Returns what belongs to a repository besides its documentation, and stays when that is let go. */
export async function besidesDocumentation(
  { db, now }: App,
  { id }: Repository,
): Promise<{ memories: number; reservations: number }> {
  const { memories } = await memoryTotals(db, id)
  const held = await listReservationsIn(db, id, now(), LISTING_ROWS_MAX)
  return { memories, reservations: held.length }
}
