/**
 * Repositories that are given by their address: kept as bare clones of nothing but the newest commit of each
 * wanted branch. Credentials are those that the user's own git finds; nobody is asked for any.
 */

import { existsSync } from "node:fs"
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import { isBranchName, listBranches } from "./branches.ts"
import { callGit, GitError, type GitPlace, requireGit } from "./git-process.ts"

/** By name, all there are, or, when undefined: the remote's default at first, then those that are there. */
export type WantedBranches = readonly string[] | "all" | undefined

export interface TransferOptions {
  signal?: AbortSignal | undefined
  /** Told each line of progress, as git words it. */
  onProgress?: ((text: string) => void) | undefined
}

/** What a fetch changed: branches that are new or have moved, and those that are gone. */
export interface FetchedBranches {
  updated: string[]
  removed: string[]
}

const SCHEMES = /^(?:https:\/\/[^/]|ssh:\/\/[^/-]|file:\/\/\/?[^/-])/
const SSH_SHORT_FORM = /^[\w.+-]+@(?:\[[\da-fA-F:.]+\]|\w[\w.-]*):(?!:)[^-]/

/**
 * Whether a text is an address that may be cloned: https, ssh, `user@host:path` or file. Addresses without
 * encryption, such as `http://` and `git://`, those that name a program, and options are not.
 */
export function isGitUrl(text: string): boolean {
  if (/[\s\p{Cc}]/u.test(text) || text.startsWith("-")) return false
  if (!text.includes("://")) return SSH_SHORT_FORM.test(text)
  // A host that begins with a dash would be an option of ssh, also behind a user.
  return SCHEMES.test(text) && !/^ssh:\/\/[^/]*@-/.test(text) && !/^[^/]*::/.test(text)
}

/**
 * Clones a repository into a folder that is not there yet: bare, without history, tags, hooks or templates.
 *
 * A clone that fails or is aborted leaves nothing behind. Throws GitError for an address that `isGitUrl`
 * refuses, a folder that exists, a repository without branches, a branch that it does not have, and whatever
 * git reports; the signal's reason when it aborts.
 */
export async function cloneBare(
  url: string,
  folder: string,
  { branches, ...options }: TransferOptions & { branches?: WantedBranches } = {},
): Promise<void> {
  if (!isGitUrl(url)) {
    throw new GitError(
      "the address is none that can be cloned; use https://, ssh://, user@host:path or file://",
    )
  }
  const target = resolve(folder)
  if (existsSync(target)) throw new GitError(`'${target}' already exists`)
  const parent = dirname(target)
  await mkdir(parent, { recursive: true, mode: 0o700 })
  const remote = await readRemote(url, { folder: parent, ...options })
  const [known] = remote.commits
  if (known === undefined) throw new GitError("the repository has no branches yet")
  const missing = Array.isArray(branches) ? branches.find((name) => !remote.commits.has(name)) : undefined
  if (missing !== undefined) throw new GitError(`the repository has no branch '${missing}'`)
  const wanted = branches ?? [remote.head ?? known[0]]
  const partial = await mkdtemp(`${target}.partial-`)
  try {
    // Repositories of both hashes are of one hash only, which a name shows by its length.
    const format = known[1].length === 64 ? ["--object-format=sha256"] : []
    await requireGit(["init", "--quiet", "--bare", "--template=", ...format, "--", partial])
    await requireGit(["config", "remote.origin.url", url], { gitFolder: partial })
    await take(partial, remote, wanted, options)
    await rename(partial, target)
  } catch (error) {
    await rm(partial, { recursive: true, force: true, maxRetries: 3 })
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
  return take(gitFolder, await readRemote("origin", { gitFolder, ...options }), branches, options)
}

interface Remote {
  /** The branch that the remote's HEAD stands on. */
  head: string | undefined
  commits: Map<string, string>
}

async function readRemote(remote: string, call: GitPlace & TransferOptions): Promise<Remote> {
  const args = ["ls-remote", "--symref", "--", remote, "HEAD", "refs/heads/*"]
  const output = await callGit(args, { ...call, reach: "network" })
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

async function take(
  gitFolder: string,
  { head, commits }: Remote,
  branches: WantedBranches,
  options: TransferOptions,
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
    const args = ["fetch", "--progress", "--update-shallow", ...settings, "--stdin", "origin"]
    await callGit(args, { gitFolder, input, reach: "network", ...options })
  }
  const [first] = wanted
  const main = head !== undefined && wanted.has(head) ? head : first
  if (main !== undefined) await requireGit(["symbolic-ref", "HEAD", `refs/heads/${main}`], { gitFolder })
  return { updated: updated.sort(), removed: removed.sort() }
}
