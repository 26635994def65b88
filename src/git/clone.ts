/**
 * Repositories that are given by their address: kept as bare clones of nothing but the newest commit of each
 * wanted branch. Credentials are those of the address, for one command, else those that the user's own git finds;
 * nobody is asked for any, and none are kept.
 */

import { existsSync, statSync } from "node:fs"
import { mkdir, mkdtemp, rename, writeFile } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { removeOwned } from "../runtime/owned-folder.ts"
import { type GitCredentials, parseGitUrl } from "./address.ts"
import { isBranchName, listBranches } from "./branches.ts"
import { callGit, GitError, NO_PROTOCOL, requireGit, runGit } from "./git-process.ts"

/** By name, all there are, or, when undefined: the remote's default at first, then those that are there. */
type WantedBranches = readonly string[] | "all" | undefined

interface TransferOptions {
  signal?: AbortSignal | undefined
  /** Told each line of progress, as git words it. */
  onProgress?: ((text: string) => void) | undefined
  /** Used in place of those that the user's own git finds. */
  credentials?: GitCredentials | undefined
}

/** A file in a clone, as old as the last fetch: git itself changes nothing when nothing has moved. */
const FETCHED_MARK = "signalbox-fetched"

/** What a fetch changed: branches that are new or have moved, and those that are gone. */
interface FetchedBranches {
  updated: string[]
  removed: string[]
}

/**
 * Clones a repository into a folder that is not there yet: bare, without history, tags, hooks or templates.
 *
 * User and password of the address are used and not kept. A clone that fails or is aborted leaves nothing behind.
 * Throws GitError for an address that `parseGitUrl` refuses, a folder that exists, a repository without branches, a branch that it does not have, and whatever
 * git reports; the signal's reason when it aborts.
 */
export async function cloneBare(
  url: string,
  folder: string,
  { branches, ...options }: TransferOptions & { branches?: WantedBranches } = {},
): Promise<void> {
  const address = parseGitUrl(url)
  if (address === undefined) {
    throw new GitError(
      "the address is none that can be cloned; use https://, ssh://, user@host:path or file://",
    )
  }
  const target = resolve(folder)
  if (existsSync(target)) throw new GitError(`'${target}' already exists`)
  const parent = dirname(target)
  await mkdir(parent, { recursive: true, mode: 0o700 })
  const partial = await mkdtemp(`${target}.partial-`)
  const transfer = { ...options, url: address.url, credentials: options.credentials ?? address.credentials }
  try {
    const remote = await readRemote(partial, transfer)
    const [known] = remote.commits
    if (known === undefined) throw new GitError("the repository has no branches yet")
    const missing = Array.isArray(branches) ? branches.find((name) => !remote.commits.has(name)) : undefined
    if (missing !== undefined) throw new GitError(`the repository has no branch '${missing}'`)
    // Repositories of both hashes are of one hash only, which a name shows by its length.
    const format = known[1].length === 64 ? ["--object-format=sha256"] : []
    await requireGit(["init", "--quiet", "--bare", "--template=", ...format, "--", partial], {
      folder: partial,
    })
    await requireGit(["config", "remote.origin.url", address.url], { gitFolder: partial })
    await take(partial, remote, branches ?? [remote.head ?? known[0]], transfer)
    await rename(partial, target)
  } catch (error) {
    await removeOwned(parent, partial)
    throw error
  }
}

/**
 * Brings a clone to what its remote has now: wanted branches move wherever the remote has them, also back,
 * the remote's default is always wanted, and all others go. Without `branches` those that are there are wanted. A branch that the remote does not
 * have is no error. Throws GitError for what git reports, and the signal's reason.
 */
export async function fetchBranches(
  gitFolder: string,
  branches: WantedBranches,
  options: TransferOptions = {},
): Promise<FetchedBranches> {
  const url = (await runGit(["config", "--get", "remote.origin.url"], { gitFolder })) ?? ""
  const transfer = { ...options, url }
  return take(gitFolder, await readRemote(gitFolder, transfer), branches, transfer)
}

/** Returns when a clone was last brought to what its remote had, in milliseconds since 1970; null for no clone. */
export function fetchedAtMs(gitFolder: string): number | null {
  return statSync(join(gitFolder, FETCHED_MARK), { throwIfNoEntry: false })?.mtimeMs ?? null
}

interface Remote {
  /** The branch that the remote's HEAD stands on. */
  head: string | undefined
  commits: Map<string, string>
}

interface Transfer extends TransferOptions {
  /** Without user and password, which nobody may see in a list of processes. */
  url: string
}

/** Asks a remote from within a clone, or from an empty folder, so that no repository around it has a say. */
async function readRemote(gitFolder: string, { url, ...transfer }: Transfer): Promise<Remote> {
  const args = ["ls-remote", "--symref", ...packing(url), "--", url, "HEAD", "refs/heads/*"]
  const output = await callGit(args, { ...transfer, gitFolder, reach: "network" })
  const commits = new Map<string, string>()
  let head: string | undefined
  for (const line of output.split("\n")) {
    const [value = "", reference = ""] = line.split("\t")
    if (reference === "HEAD") head ??= branchOf(value.replace(/^ref: /, ""))
    const name = branchOf(reference)
    if (name !== undefined && !value.startsWith("ref: ")) commits.set(name, value)
  }
  return { head: head !== undefined && commits.has(head) ? head : undefined, commits }
}

/** The names come from another machine, and become files and lines of input here. */
function branchOf(reference: string): string | undefined {
  const name = reference.startsWith("refs/heads/") ? reference.slice("refs/heads/".length) : ""
  return isBranchName(name) ? name : undefined
}

/**
 * A remote that is a folder here is read by a git that starts in it. That one must not fetch what the folder lacks as
 * a partial clone, by way of whatever program its settings name; it would, where it does not know GIT_NO_LAZY_FETCH.
 */
function packing(url: string): string[] {
  return url.startsWith("file:") ? [`--upload-pack=GIT_ALLOW_PROTOCOL=${NO_PROTOCOL} git-upload-pack`] : []
}

async function take(
  gitFolder: string,
  { head, commits }: Remote,
  branches: WantedBranches,
  { url, ...options }: Transfer,
): Promise<FetchedBranches> {
  const present = new Map((await listBranches(gitFolder)).map(({ name, commit }) => [name, commit]))
  const names = branches === "all" ? [...commits.keys()] : (branches ?? [...present.keys()])
  // Also when it was given another name, or another branch was made the default.
  const wanted = new Set([
    ...(head === undefined ? [] : [head]),
    ...names.filter((name) => commits.has(name)),
  ])
  const removed = [...present.keys()].filter((name) => !wanted.has(name))
  const updated = [...wanted].filter((name) => present.get(name) !== commits.get(name))
  // First, since a branch `a` that is gone stands in the way of a new `a/b`.
  if (removed.length > 0) {
    const input = removed.map((name) => `option no-deref\ndelete refs/heads/${name}\n`)
    await callGit(["update-ref", "--stdin"], { gitFolder, input, reach: "here", signal: options.signal })
  }
  if (updated.length > 0) {
    const settings = ["--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"]
    const input = updated.map((name) => `+refs/heads/${name}:refs/heads/${name}\n`)
    const args = [
      "fetch",
      "--progress",
      "--update-shallow",
      ...settings,
      ...packing(url),
      "--stdin",
      "origin",
    ]
    await callGit(args, { gitFolder, input, reach: "network", ...options })
  }
  const [first] = wanted
  const main = head !== undefined && wanted.has(head) ? head : first
  if (main !== undefined) await requireGit(["symbolic-ref", "HEAD", `refs/heads/${main}`], { gitFolder })
  await writeFile(join(gitFolder, FETCHED_MARK), "")
  return { updated: updated.sort(), removed: removed.sort() }
}
