/** Connects repositories for documentation search, lists them, and lets them go again. */

import { createHash } from "node:crypto"
import { rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { type DocumentationBranch, type DocumentedRepository, workAt } from "../domain/documentation.ts"
import type { Repository } from "../domain/project.ts"
import { AppError } from "../errors.ts"
import { listBranches } from "../git/branches.ts"
import { cloneBare, fetchBranches, isGitUrl } from "../git/clone.ts"
import { runGit, withoutCredentials } from "../git/git-process.ts"
import { realpathOfNearest } from "../git/repository.ts"
import {
  findDocumentationBranch,
  findDocumentedRepository,
  insertDocumentationBranch,
  listDocumentationBranches,
  putDocumentedRepository,
  removeDocumentationBranch,
  removeDocumentedRepository,
} from "../store/documentation.ts"
import {
  type BranchCounts,
  countBranchFiles,
  countUnembeddedChunks,
  listProblems,
  removeBranchFiles,
} from "../store/documents.ts"
import {
  disconnectRow,
  isRepositoryInUse,
  listRepositories,
  putRepositoryName,
} from "../store/repositories.ts"
import type { App } from "./app.ts"
import { connectFolder } from "./connect.ts"
import { removeUnusedContents } from "./documentation-contents.ts"
import { documentModel } from "./documentation-embedding.ts"
import { documentRules } from "./documentation-rules.ts"
import { openSource } from "./documentation-source.ts"
import { removeBranch } from "./documentation-sync.ts"
import { whileNobodyIndexes } from "./indexing-lock.ts"

export interface ConnectRequest {
  /** A folder, or the URL of a git repository. */
  target: string
  name?: string | undefined
  /** Searched besides the default branch. */
  branches: readonly string[]
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
  const { target, name } = request
  const isUrl = isGitUrl(target)
  const folder = isUrl ? await cloned(app, request) : target
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
  await beginDocumentation(app, repository, request.branches, isUrl ? target : null)
  if (name === undefined || name === repository.name) return repository
  await app.db.transaction("repositories", (tx) => putRepositoryName(tx, repository.id, name))
  return { ...repository, name }
}

async function requireUsable(
  app: App,
  repository: Repository,
  { name, branches }: ConnectRequest,
): Promise<void> {
  if (name !== undefined) await requireFreeName(app, repository, name)
  const source = await openSource(repository, documentRules(app.config.ignoredDocuments))
  for (const branch of branches) {
    if ((await source.commitOf(branch)) !== undefined) continue
    const known = (await source.branchNames()).join(", ")
    throw new AppError("not_found", `branch "${branch}" was not found; known are: ${known || "none"}`, {
      field: "branches",
    })
  }
}

async function requireFreeName(app: App, repository: Repository, name: string): Promise<void> {
  const other = (await listRepositories(app.db)).find((one) => one.name === name)
  if (other === undefined || other.id === repository.id) return
  throw new AppError("conflict", `the name "${name}" belongs to ${other.rootPath}`, {
    field: "name",
    hint: "Choose another name.",
  })
}

/** Returns the folder of the clone of a URL, beside the database; what was cloned before is brought up to date. */
async function cloned(app: App, { target, branches, signal, onProgress }: ConnectRequest): Promise<string> {
  const folder = join(clonesFolder(app), `${slugOf(target)}-${digestOf(target)}.git`)
  const options = { signal, onProgress }
  try {
    if (!(await isGitFolder(folder))) await cloneBare(target, folder, options)
    const there = (await listBranches(folder)).map(({ name }) => name)
    // Whatever is not asked for goes.
    await fetchBranches(folder, [...new Set([...there, ...branches])], options)
  } catch (error) {
    throw new AppError(
      "unavailable",
      `${withoutCredentials(target)} cannot be cloned: ${(error as Error).message}`,
      {
        hint: "Check the URL, the network and that git can read it without asking.",
      },
    )
  }
  return folder
}

async function isGitFolder(folder: string): Promise<boolean> {
  return (await runGit(["rev-parse", "--git-dir"], { gitFolder: folder })) !== undefined
}

/** Clones belong to the database that knows them. */
function clonesFolder(app: App): string {
  return `${app.config.databasePath.replace(/\.db$/, "")}.repositories`
}

function slugOf(url: string): string {
  const last =
    url
      .replace(/\/+$/, "")
      .replace(/\.git$/, "")
      .split(/[/:]/)
      .at(-1) ?? ""
  return (
    last
      .replace(/[^A-Za-z0-9._-]/g, "-")
      .replace(/^\.+/, "")
      .slice(0, 40) || "repository"
  )
}

function digestOf(url: string): string {
  return createHash("sha256").update(url).digest("hex").slice(0, 12)
}

/** Brings the clones that signalbox made up to date with where they came from; fails with `unavailable`. */
export async function fetchClone(app: App, repository: Repository, signal?: AbortSignal): Promise<void> {
  const documented = await findDocumentedRepository(app.db, repository.id)
  if (documented === undefined || documented.cloneUrl === null) return
  const branches = (await listDocumentationBranches(app.db, repository.id)).map(({ name }) => name)
  try {
    await fetchBranches(
      repository.identityPath,
      branches.length === 0 ? undefined : branches,
      signal && { signal },
    )
  } catch (error) {
    const url = withoutCredentials(documented.cloneUrl)
    throw new AppError("unavailable", `${url} cannot be fetched: ${(error as Error).message}`, {
      hint: "What was fetched before is searched.",
    })
  }
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
  const wanted = [...(defaultBranch === null ? [] : [defaultBranch]), ...branches]
  const missing: string[] = []
  for (const name of wanted)
    if ((await findDocumentationBranch(app.db, repositoryId, name)) === undefined) missing.push(name)
  const isNew = known === undefined || !known.isWanted || (cloneUrl !== null && known.cloneUrl === null)
  if (!isNew && (missing.length === 0 || branches.length === 0)) return
  const remoteUrl =
    (await runGit(["config", "--get", "remote.origin.url"], { gitFolder: identityPath })) ?? null
  const origin = { cloneUrl: cloneUrl ?? known?.cloneUrl ?? null, remoteUrl }
  await app.db.transaction(`documentation:${repositoryId}`, async (tx) => {
    await putDocumentedRepository(tx, { repositoryId, isWanted: true, ...origin })
    for (const name of missing) await insertDocumentationBranch(tx, repositoryId, name)
  })
}

/** A connected repository with the state of its documentation. */
export interface RepositoryState {
  repository: Repository
  /** Whether somebody has let its documentation go. */
  isLetGo: boolean
  /** Absent while its documentation is not searched. */
  documented: DocumentedRepository | undefined
  branches: (DocumentationBranch & { counts: BranchCounts; problems: { path: string; problem: string }[] })[]
  /** Chunks that wait for a vector. */
  waiting: number
}

const PROBLEMS_SHOWN_MAX = 10

/** Returns the state of repositories, as far as it is stored. */
export async function repositoryStates(
  app: App,
  repositories: readonly Repository[],
): Promise<RepositoryState[]> {
  const model = await documentModel(app)
  const states: RepositoryState[] = []
  for (const repository of repositories) {
    const branches: RepositoryState["branches"] = []
    for (const branch of await listDocumentationBranches(app.db, repository.id)) {
      const counts = await countBranchFiles(app.db, branch.id)
      const problems = counts.problems === 0 ? [] : await listProblems(app.db, branch.id, PROBLEMS_SHOWN_MAX)
      branches.push({ ...branch, counts, problems })
    }
    const documented = await findDocumentedRepository(app.db, repository.id)
    const isLetGo = documented?.isWanted === false
    states.push({
      repository,
      isLetGo,
      documented:
        documented === undefined || isLetGo
          ? undefined
          : { ...documented, work: workAt(documented.work, app.now()) },
      branches,
      waiting: await countUnembeddedChunks(app.db, repository.id, { modelId: model.id, isNewOnly: false }),
    })
  }
  return states
}

/** What became of a repository whose documentation was let go. */
export interface Disconnected {
  /** Whether it stays connected, because agents, reservations or memories belong to it. */
  isConnected: boolean
  isCloneDeleted: boolean
}

/**
 * Forgets the documentation of a repository, and its clone. The repository itself is disconnected too unless agents,
 * reservations or memories belong to it. Fails with `conflict` while another process indexes.
 */
export async function disconnectRepository(app: App, repository: Repository): Promise<Disconnected> {
  const untilMs = performance.now() + INDEXING_WAIT_MS_MAX
  for (;;) {
    const disconnected = await whileNobodyIndexes(app, () => forget(app, repository))
    if (disconnected !== undefined) return disconnected
    if (performance.now() > untilMs) {
      throw new AppError("conflict", "another process is indexing documentation right now", {
        hint: "Try again when `signalbox repos list` shows that it is done.",
      })
    }
    await new Promise((resolve) => setTimeout(resolve, INDEXING_ASKED_EVERY_MS))
  }
}

/** How long to wait for another process that indexes, which often takes a moment only. */
const INDEXING_WAIT_MS_MAX = 5_000
const INDEXING_ASKED_EVERY_MS = 50

async function forget(app: App, repository: Repository): Promise<Disconnected> {
  const { id } = repository
  const documented = await findDocumentedRepository(app.db, id)
  for (const branch of await listDocumentationBranches(app.db, id)) await removeBranch(app, branch)
  await removeUnusedContents(app, id, () => false)
  const isConnected = await app.db.transaction("repositories", async (tx) => {
    const isUsed = await isRepositoryInUse(tx, id)
    // A search may have begun it again in the meantime.
    for (const branch of await listDocumentationBranches(tx, id)) {
      await removeBranchFiles(tx, branch.id)
      await removeDocumentationBranch(tx, branch.id)
    }
    await removeDocumentedRepository(tx, id)
    // What stays for other reasons is not begun again by the next search over all.
    if (isUsed)
      await putDocumentedRepository(tx, {
        repositoryId: id,
        isWanted: false,
        cloneUrl: null,
        remoteUrl: null,
      })
    else await disconnectRow(tx, id)
    return isUsed
  })
  const isCloneDeleted = documented?.cloneUrl != null && (await isOwnClone(app, repository))
  if (isCloneDeleted) await rm(repository.identityPath, { recursive: true, force: true })
  return { isConnected, isCloneDeleted }
}

/** Nothing but what signalbox itself has cloned is ever deleted. */
async function isOwnClone(app: App, { identityPath }: Repository): Promise<boolean> {
  return dirname(identityPath) === (await realpathOfNearest(clonesFolder(app)))
}
