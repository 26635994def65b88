/**
 * Where a file lies: in which connected repository, and under which path there. The hook asks this before every edit:
 * the disk and git tell the place, then the store tells the repository.
 */

import { isAbsolute, relative, resolve, sep } from "node:path"
import type { Queries } from "../../db/database.ts"
import type { Repository } from "../../domain/project.ts"
import { type Place, placeOfFile, placeOfFolder } from "../../git/place.ts"
import { findRepositoryByIdentity, listRepositories } from "../../store/repositories.ts"
import type { App } from "../app.ts"
import { connectWorkTree } from "../connect.ts"

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
  const place = await placeOfFile(resolve(folder, path))
  const repository = (await findRepositoryAt(app.db, place)) ?? (await connectIfHome(app, place, folder))
  if (repository === undefined) return undefined
  const rootPath = place.workTree?.rootPath ?? repository.rootPath
  const inside = relative(rootPath, place.path)
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

/** Returns the repository around a folder if it is connected, connecting none. */
export async function knownRepositoryAround({ db }: App, folder: string): Promise<Repository | undefined> {
  return findRepositoryAt(db, await placeOfFolder(folder))
}

/** Returns the same together with the root of the work tree that the folder lies in. */
export async function workPlaceAround(
  app: App,
  folder: string,
): Promise<Pick<Location, "repository" | "rootPath"> | undefined> {
  const place = await placeOfFolder(folder)
  const repository = (await findRepositoryAt(app.db, place)) ?? (await connectAt(app, place))
  return repository && { repository, rootPath: place.workTree?.rootPath ?? repository.rootPath }
}

/** Nothing is connected by itself but the work tree around the folder that somebody works in. */
async function connectIfHome(app: App, place: Place, folder: string): Promise<Repository | undefined> {
  if (place.workTree === undefined) return undefined
  const home = await placeOfFolder(folder)
  return home.workTree?.identityPath === place.workTree.identityPath ? connectAt(app, place) : undefined
}

async function connectAt(app: App, { workTree }: Place): Promise<Repository | undefined> {
  return workTree && connectWorkTree(app.db, workTree, app.now())
}

/** Returns the connected repository of a work tree, or the innermost folder without one that a path is or lies in. */
async function findRepositoryAt(db: Queries, { path, workTree }: Place): Promise<Repository | undefined> {
  if (workTree !== undefined) return findRepositoryByIdentity(db, workTree.identityPath)
  const around = (await listRepositories(db)).filter(
    ({ rootPath, identityPath }) =>
      rootPath === identityPath && `${path}${sep}`.startsWith(`${rootPath}${sep}`),
  )
  return around.sort((one, other) => other.rootPath.length - one.rootPath.length)[0]
}
