/**
 * Where a file lies: in which connected repository, and under which path there. The hook asks this before
 * every edit, so the work tree is found by looking for `.git`, and git itself is asked only about work
 * trees that were not met before.
 */

import { statSync } from "node:fs"
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path"
import type { Queries } from "../db/database.ts"
import type { Repository } from "../domain/project.ts"
import { findWorkTree, realpathOfNearest, type WorkTree } from "../git/repository.ts"
import { findRepositoryByIdentity, listRepositories } from "../store/repositories.ts"
import type { App } from "./app.ts"
import { connectWorkTree } from "./connect.ts"

/** One file of a repository. */
export interface Location {
  repository: Repository
  /** The root of the work tree that the file lies in, which may not be the repository's main one. */
  rootPath: string
  /** Relative to the repository's root, with `/`. */
  path: string
}

/**
 * Returns where a path lies; relative paths start from `folder`. The repository around `folder` is
 * connected when it is new, other ones are not: undefined when the path is in none that is known.
 */
export async function locate(app: App, path: string, folder: string): Promise<Location | undefined> {
  const real = await realpathOfNearest(isAbsolute(path) ? path : resolve(folder, path))
  const workTree = await workTreeAround(dirname(real))
  const repository =
    workTree === undefined
      ? await folderRepository(app.db, real)
      : ((await findRepositoryByIdentity(app.db, workTree.identityPath)) ??
        (await connectIfHome(app, workTree, folder)))
  if (repository === undefined) return undefined
  const rootPath = workTree?.rootPath ?? repository.rootPath
  const inside = relative(rootPath, real)
  if (inside === "" || inside.startsWith(`..${sep}`) || isAbsolute(inside)) return undefined
  return { repository, rootPath, path: inside.split(sep).join("/").normalize("NFC") }
}

/** Returns where a path lies in a connected repository; a relative one starts from the root of the one given. */
export function findLocation(
  app: App,
  path: string,
  repository: Repository | undefined,
): Promise<Location | undefined> {
  // The folder is a known repository's, or the path is absolute: either way nothing new is connected.
  return locate(app, path, repository?.rootPath ?? "/")
}

/** Returns the repository around a folder, connecting it when it is new; undefined when there is none. */
export async function repositoryAround(app: App, folder: string): Promise<Repository | undefined> {
  return (await workPlaceAround(app, folder))?.repository
}

/** Returns the same together with the root of the work tree that the folder lies in. */
export async function workPlaceAround(
  app: App,
  folder: string,
): Promise<Pick<Location, "repository" | "rootPath"> | undefined> {
  const real = await realpathOfNearest(folder)
  const workTree = await workTreeAround(real)
  const repository =
    workTree === undefined
      ? ((await folderRepository(app.db, real)) ?? (await connectWorkTree(app.db, real, app.now())))
      : ((await findRepositoryByIdentity(app.db, workTree.identityPath)) ??
        (await connectWorkTree(app.db, workTree.rootPath, app.now())))
  return repository && { repository, rootPath: workTree?.rootPath ?? repository.rootPath }
}

/** Nothing is connected by itself but the work tree around the folder that somebody works in. */
async function connectIfHome(app: App, workTree: WorkTree, folder: string): Promise<Repository | undefined> {
  const home = await workTreeAround(await realpathOfNearest(folder))
  if (home?.identityPath !== workTree.identityPath) return undefined
  return connectWorkTree(app.db, workTree.rootPath, app.now())
}

/** Returns the connected folder without git that a path is or lies in, the innermost one. */
async function folderRepository(db: Queries, real: string): Promise<Repository | undefined> {
  const around = (await listRepositories(db)).filter(
    ({ rootPath, identityPath }) =>
      rootPath === identityPath && `${real}${sep}`.startsWith(`${rootPath}${sep}`),
  )
  return around.sort((one, other) => other.rootPath.length - one.rootPath.length)[0]
}

const WORK_TREES_KNOWN_MAX = 1_000
/** Work trees met before, by root and the identity of their `.git`: one that was made anew is looked at anew. */
const knownWorkTrees = new Map<string, WorkTree>()

/** Returns the work tree that a real folder lies in; the folder itself need not exist. */
async function workTreeAround(folder: string): Promise<WorkTree | undefined> {
  for (let root = folder; ; root = dirname(root)) {
    const mark = gitMark(root)
    if (mark !== undefined) {
      const key = `${mark} ${root}`
      const known = knownWorkTrees.get(key) ?? (await findWorkTree(root))
      if (known === undefined) return undefined
      if (knownWorkTrees.size >= WORK_TREES_KNOWN_MAX) knownWorkTrees.clear()
      knownWorkTrees.set(key, known)
      return known
    }
    if (dirname(root) === root) return undefined
  }
}

function gitMark(root: string): string | undefined {
  try {
    const found = statSync(join(root, ".git"), { throwIfNoEntry: false })
    return found && `${found.dev}:${found.ino}:${found.birthtimeMs}`
  } catch {
    return undefined
  }
}
