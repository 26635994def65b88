/**
 * What git knows of a folder: its work tree, the repository behind it, and a few settings. Reads only,
 * through the user's own git; a machine without git behaves as if no folder were in a repository.
 */

import { lstatSync, readlinkSync, realpathSync, type Stats } from "node:fs"
import { realpath, stat } from "node:fs/promises"
import { basename, dirname, isAbsolute, join, resolve } from "node:path"
import { PATH_CHARS_MAX } from "../config/limits.ts"
import { defaultBranchOf } from "./branches.ts"
import { runGit } from "./git-process.ts"

/** Where a folder lies. All paths are absolute and real. */
export interface WorkTree {
  /** The root of the work tree that the folder is in. */
  rootPath: string
  /** What all worktrees of one clone share: the git common directory. */
  identityPath: string
  /** The main work tree's root; for a bare repository, the repository itself. */
  mainPath: string
}

/** What is stored about a repository when it is connected. */
interface RepositoryFacts {
  /** `owner/name` from the origin remote, else the folder's name. */
  name: string
  defaultBranch: string | null
  ignoreCase: boolean
}

/** Returns the work tree around a folder, or undefined when there is none. */
export async function findWorkTree(folder: string): Promise<WorkTree | undefined> {
  const output = await runGit(
    [
      "rev-parse",
      "--path-format=absolute",
      "--show-toplevel",
      "--git-common-dir",
      "--show-superproject-working-tree",
    ],
    { folder },
  )
  const [topLevel, commonDirectory, superproject] = output?.split("\n") ?? []
  if (topLevel === undefined || commonDirectory === undefined) return undefined
  const identityPath = await realpath(commonDirectory)
  const rootPath = await realpath(topLevel)
  // A submodule's common directory lies inside its superproject's; its own work tree is its home.
  const isSubmodule = superproject !== undefined && superproject !== ""
  const isPlain = basename(identityPath) === ".git"
  const mainPath = isSubmodule ? rootPath : isPlain ? dirname(identityPath) : identityPath
  return { rootPath, identityPath, mainPath }
}

/**
 * Returns the bare repository that a folder is, as if it were its own work tree, or undefined. The folder was named by
 * somebody: git opens no bare repository that it only happens to stand in.
 */
export async function findBareRepository(folder: string): Promise<WorkTree | undefined> {
  const place = { gitFolder: folder }
  if ((await runGit(["rev-parse", "--git-dir"], place)) === undefined) return undefined
  const isBare = await runGit(["config", "--type=bool", "--get", "core.bare"], place)
  // Git takes a folder that does not say for a bare one, unless it is named as those of work trees are.
  const path = await realpath(folder)
  if (isBare === undefined ? basename(path) === ".git" : isBare !== "true") return undefined
  return { rootPath: path, identityPath: path, mainPath: path }
}

/** Reads what is worth storing about the repository that a work tree belongs to. */
export async function readRepositoryFacts(workTree: WorkTree): Promise<RepositoryFacts> {
  const { rootPath, identityPath } = workTree
  const place = rootPath === identityPath ? { gitFolder: identityPath } : { folder: rootPath }
  // What git does not tell is unknown, which is no reason to refuse a repository.
  const [remote, defaultBranch, head, ignoreCase] = await Promise.all([
    runGit(["config", "--get", "remote.origin.url"], place),
    defaultBranchOf(identityPath).catch(() => null),
    runGit(["symbolic-ref", "--short", "--quiet", "HEAD"], place),
    runGit(["config", "--type=bool", "--get", "core.ignorecase"], place),
  ])
  return {
    name:
      (remote && nameOfRemote(remote)) || basename(workTree.mainPath).replace(/\.git$/, "") || "repository",
    defaultBranch: defaultBranch ?? head ?? null,
    ignoreCase: ignoreCase === "true",
  }
}

/** Returns the last two parts of a remote's address, as `owner/name`, or undefined when it has no two. */
function nameOfRemote(url: string): string | undefined {
  const path = url
    .trim()
    .replace(/\/+$/, "")
    .replace(/\.git$/, "")
    // A user and a password may stand before the host, and the host is no owner.
    .replace(/^[a-z+]+:\/\/[^/]*/i, "")
  const match = /[/:]([^/:]+)\/([^/:]+)$/.exec(path)
  return match === null ? undefined : `${match[1]}/${match[2]}`
}

/**
 * Returns the canonical form of a project key: an absolute path of an existing folder becomes its real
 * path, then its repository's main work tree, so that symlinks and worktrees of one clone are one
 * project. Every other text stays as it is.
 */
export async function canonicalProjectKey(key: string): Promise<string> {
  if (!isAbsolute(key)) return key
  const real = await realpathOfNearest(key)
  if (!(await isFolder(real))) return real
  return (await findWorkTree(real))?.mainPath ?? real
}

const LINKS_FOLLOWED_MAX = 40

/**
 * Returns a path with its existing part made real, and the rest, if any, as it was. A link to something that
 * is not there yet stands for that, since writing through it makes it. Asked before every edit, it stays on
 * this thread: a look at the disk takes less time than a way through the thread pool. A path that is too long to be
 * opened is not looked for.
 */
export async function realpathOfNearest(path: string, linksLeft = LINKS_FOLLOWED_MAX): Promise<string> {
  const absolute = resolve(path)
  if (absolute.length > PATH_CHARS_MAX) return absolute
  const missing: string[] = []
  for (let existing = absolute; ; existing = dirname(existing)) {
    const entry = entryAt(existing)
    if (entry !== undefined) {
      try {
        return join(realpathSync.native(existing), ...missing)
      } catch {
        if (entry.isSymbolicLink() && linksLeft > 0) {
          const target = resolve(dirname(existing), readlinkSync(existing))
          return realpathOfNearest(join(target, ...missing), linksLeft - 1)
        }
      }
    }
    if (dirname(existing) === existing) return absolute
    missing.unshift(basename(existing))
  }
}

function entryAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

export async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch {
    return false
  }
}
