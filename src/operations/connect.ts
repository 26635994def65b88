/** Connects repositories: the one around the working folder by itself, others when they are named. */

import { homedir } from "node:os"
import { basename } from "node:path"
import type { Database, Queries } from "../db/database.ts"
import { named } from "../domain/foreign-text/markdown.ts"
import { type Repository, repositoryNameKey } from "../domain/project.ts"
import { AppError } from "../errors.ts"
import {
  findBareRepository,
  findWorkTree,
  isFolder,
  readRepositoryFacts,
  realpathOfNearest,
  type WorkTree,
} from "../git/repository.ts"
import { findRepositoryByIdentity, insertRepository, listRepositories } from "../store/repositories.ts"
import type { App } from "./app.ts"

/**
 * Returns the repository around a folder, connecting it when it is new. Undefined when the folder is in
 * none, or when the work tree's root is `/` or the home folder: those hold everything.
 */
export async function connectAround(
  db: Database,
  folder: string,
  nowMs: number,
): Promise<Repository | undefined> {
  const workTree = await findWorkTree(folder)
  // A folder without git counts once it was connected by name, and is never connected by itself.
  return workTree === undefined
    ? findRepositoryByIdentity(db, await realpathOfNearest(folder))
    : connectWorkTree(db, workTree, nowMs)
}

/** Returns the repository of a work tree, connecting it when it is new; undefined for `/` and the home folder. */
export async function connectWorkTree(
  db: Database,
  workTree: WorkTree,
  nowMs: number,
): Promise<Repository | undefined> {
  const { rootPath } = workTree
  if (rootPath === "/" || rootPath === (await realpathOfNearest(homedir()))) return undefined
  return (await findRepositoryByIdentity(db, workTree.identityPath)) ?? connectGit(db, workTree, nowMs)
}

async function connectGit(db: Database, workTree: WorkTree, nowMs: number): Promise<Repository> {
  const { mainPath: rootPath, identityPath } = workTree
  return insertIfNew(db, { ...(await readRepositoryFacts(workTree)), rootPath, identityPath }, nowMs)
}

/** Returns all that is connected. */
export function connectedRepositories({ db }: App): Promise<Repository[]> {
  return listRepositories(db)
}

/** Connects a folder that somebody named: its repository, or the folder itself when it is in none. */
export async function connectFolder(db: Database, path: string, nowMs: number): Promise<Repository> {
  const folder = await realpathOfNearest(path)
  if (!(await isFolder(folder))) {
    throw new AppError("not_found", `${named(path)} is not a folder`, { hint: "Name an existing folder." })
  }
  const connected = await connectAround(db, folder, nowMs)
  if (connected !== undefined) return connected
  const bare = await findBareRepository(folder)
  if (bare !== undefined) return connectGit(db, bare, nowMs)
  const facts = { name: basename(folder) || "root", defaultBranch: null, ignoreCase: false }
  return insertIfNew(db, { ...facts, rootPath: folder, identityPath: folder }, nowMs)
}

function insertIfNew(db: Database, repository: Omit<Repository, "id">, nowMs: number): Promise<Repository> {
  return db.transaction("repositories", async (tx) => {
    const known = await findRepositoryByIdentity(tx, repository.identityPath)
    if (known !== undefined) return known
    return insertRepository(tx, { ...repository, name: await freeName(tx, repository.name) }, nowMs)
  })
}

/** A second repository of the same name gets `-2`, a third `-3`. */
async function freeName(tx: Queries, name: string): Promise<string> {
  const taken = new Set((await listRepositories(tx)).map((repository) => repositoryNameKey(repository.name)))
  const isTaken = (candidate: string) => taken.has(repositoryNameKey(candidate))
  if (!isTaken(name)) return name
  let number = 2
  while (isTaken(`${name}-${number}`)) number += 1
  return `${name}-${number}`
}
