/** The clones of repositories that are given by their address; each database has its own, in a folder beside it. */

import { createHash } from "node:crypto"
import { dirname, join } from "node:path"
import { named, oneLine } from "../../domain/foreign-text/markdown.ts"
import type { Repository } from "../../domain/project.ts"
import { AppError } from "../../errors.ts"
import type { GitAddress } from "../../git/address.ts"
import { listBranches } from "../../git/branches.ts"
import { cloneBare, fetchBranches, fetchedAtMs } from "../../git/clone.ts"
import { runGit, withoutCredentials } from "../../git/git-process.ts"
import { realpathOfNearest } from "../../git/repository.ts"
import { isOwned } from "../../runtime/owned-folder.ts"
import {
  findDocumentedRepository,
  listDocumentationBranches,
} from "../../store/documentation/documentation.ts"
import type { App } from "../app.ts"
import { isoTime } from "../markdown.ts"

interface CloneRequest {
  address: GitAddress
  /** Fetched besides the default branch and those that are there. */
  branches?: readonly string[] | undefined
  signal?: AbortSignal | undefined
  /** What git says while it clones. */
  onProgress?: ((text: string) => void) | undefined
}

/** Returns the folder of the clone of a URL, beside the database; what was cloned before is brought up to date. */
export async function cloned(
  app: App,
  { address, branches = [], signal, onProgress }: CloneRequest,
): Promise<string> {
  const { url, credentials } = address
  const folder = join(clonesFolder(app), `${slugOf(url)}-${digestOf(url)}.git`)
  const options = { signal, onProgress, credentials }
  const isNew = !(await isGitFolder(folder))
  try {
    if (isNew) await cloneBare(url, folder, options)
    const there = (await listBranches(folder)).map(({ name }) => name)
    // Whatever is not asked for goes.
    await fetchBranches(folder, [...new Set([...there, ...branches])], options)
  } catch (error) {
    if (!isNew) throw notFetched(url, folder, error)
    throw new AppError(
      "unavailable",
      `${named(withoutCredentials(url))} cannot be cloned: ${oneLine((error as Error).message)}`,
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
export function clonesFolder(app: App): string {
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
    throw notFetched(documented.cloneUrl, repository.identityPath, error)
  }
}

/** The address may have come with a token that nothing has kept. */
function notFetched(url: string, folder: string, error: unknown): AppError {
  const reason = (error as Error).message
  const fetched = fetchedAtMs(folder)
  const asOf = fetched === null ? "before" : `at ${isoTime(fetched)}`
  return new AppError(
    "unavailable",
    `${named(withoutCredentials(url))} cannot be fetched: ${oneLine(reason)}`,
    {
      hint: `What was fetched ${asOf} is searched. Fetches use the credentials that your own git finds.`,
    },
  )
}

/** Nothing but what signalbox itself has cloned is ever deleted. */
export async function isOwnClone(
  app: App,
  { identityPath }: Pick<Repository, "identityPath">,
): Promise<boolean> {
  const clones = clonesFolder(app)
  // By its name alone `..` would be in the folder of clones too.
  return isOwned(clones, identityPath) && dirname(identityPath) === (await realpathOfNearest(clones))
}
