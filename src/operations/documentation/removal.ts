/**
 * Letting the documentation of a repository go. One short transaction marks it, and from then on no search shows it;
 * its rows go a little at a time, so that nobody who wants to write waits, and whoever indexes next goes on where
 * a process was stopped or killed.
 */

import { DISCONNECT_TIMEOUT_MS, REMOVED_ROWS_AT_ONCE } from "../../config/limits.ts"
import type { Queries } from "../../db/database.ts"
import type { Repository } from "../../domain/project.ts"
import { AppError } from "../../errors.ts"
import { removeOwned } from "../../runtime/owned-folder.ts"
import {
  findDocumentedRepository,
  letDocumentationGo,
  listDocumentationBranches,
  listRemovals,
  putDocumentedRepository,
  removeDocumentationBranch,
  removeDocumentedRepository,
} from "../../store/documentation/documentation.ts"
import { removeSomeBlobs, removeSomeChunks, removeSomeFiles } from "../../store/documentation/documents.ts"
import { disconnectRow, findRepositoryPlace, isRepositoryInUse } from "../../store/repositories.ts"
import type { App } from "../app.ts"
import { clonesFolder, isOwnClone } from "./clones.ts"
import { recordLettingGo } from "./events.ts"
import { whileNobodyIndexes } from "./indexing-lock.ts"

/** What became of a repository whose documentation was let go. */
interface Disconnected {
  /** Whether it stays connected, because agents, reservations or memories belong to it. */
  isConnected: boolean
  isCloneDeleted: boolean
  /** Whether nothing of it is stored any more; the rest goes in the background. */
  isRemoved: boolean
}

export interface RemovalOptions {
  /** Ends the work soon; what is left is removed later. */
  signal?: AbortSignal | undefined
  /** Told of the rows that are gone, and of how many there were about. */
  onProgress?: ((done: number, total: number) => void) | undefined
  /** How long another process that indexes is waited for. */
  waitMs?: number
}

/**
 * Forgets the documentation of a repository, and its clone. The repository itself is disconnected too unless agents,
 * reservations or memories belong to it. While another process indexes, its rows are waited for a few seconds, then
 * left to that one.
 */
export async function disconnectRepository(
  app: App,
  { id }: Pick<Repository, "id">,
  options: RemovalOptions = {},
): Promise<Disconnected> {
  const hasClone = await isClonedByUs(app, id)
  const isConnected = await app.db.transaction("repositories", async (tx) => {
    const isUsed = await isRepositoryInUse(tx, id)
    // What was never searched is noted too: the next search over all is not to begin it.
    const documented = await findDocumentedRepository(tx, id)
    if (documented === undefined) await putLetGo(tx, id)
    else await letDocumentationGo(tx, id)
    if (documented?.isWanted === true)
      await recordLettingGo(tx, id, await listDocumentationBranches(tx, id), app.now())
    if (!isUsed) await disconnectRow(tx, id)
    return isUsed
  })
  const isRemoved = await removeWhenFree(app, id, options)
  return { isConnected, isCloneDeleted: hasClone && isRemoved, isRemoved }
}

function putLetGo(tx: Queries, repositoryId: number): Promise<void> {
  return putDocumentedRepository(tx, { repositoryId, isWanted: false, cloneUrl: null, remoteUrl: null })
}

async function isClonedByUs(app: App, id: number): Promise<boolean> {
  const documented = await findDocumentedRepository(app.db, id)
  const place = await findRepositoryPlace(app.db, id)
  return documented?.cloneUrl != null && place !== undefined && isOwnClone(app, place)
}

/** Whether something is left of repositories that were let go. */
export async function isRemovalWanted({ db }: Pick<App, "db">): Promise<boolean> {
  return (await listRemovals(db)).length > 0
}

/** Removes what is left of repositories that were let go; only for who may index. */
export async function removeLeftovers(app: App, isStopped: () => boolean): Promise<void> {
  for (const id of await listRemovals(app.db)) await removeStored(app, id, { isStopped })
}

/**
 * Removes what is left of a repository that is to be searched again; its clone stays where that is to be the same.
 * Fails with `conflict` while another process indexes.
 */
export async function finishRemoval(
  app: App,
  id: number,
  { keepsClone }: { keepsClone: boolean },
): Promise<void> {
  if (!(await listRemovals(app.db)).includes(id)) return
  if (await removeWhenFree(app, id, { keepsClone })) return
  throw new AppError("conflict", "what was removed of this repository is still being deleted", {
    hint: "Try again in a moment.",
  })
}

const POLL_INTERVAL_MS = 50

async function removeWhenFree(
  app: App,
  id: number,
  {
    signal,
    onProgress,
    keepsClone,
    waitMs = DISCONNECT_TIMEOUT_MS,
  }: RemovalOptions & { keepsClone?: boolean },
): Promise<boolean> {
  const untilMs = performance.now() + waitMs
  const isStopped = () => signal?.aborted === true
  while (!isStopped()) {
    const work = () => removeStored(app, id, { isStopped, onProgress, keepsClone })
    const isRemoved = await whileNobodyIndexes(app, work)
    if (isRemoved !== undefined) return isRemoved
    if (performance.now() > untilMs) return false
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS))
  }
  return false
}

interface StoredRemoval {
  isStopped(): boolean
  onProgress?: RemovalOptions["onProgress"]
  keepsClone?: boolean | undefined
}

/** Removes all that is stored of a repository that was let go; returns whether nothing is left. */
async function removeStored(
  app: App,
  id: number,
  { isStopped, onProgress, keepsClone = false }: StoredRemoval,
): Promise<boolean> {
  const total = await app.documents.countRows(app.db, id)
  let done = 0
  const inBatches = async (remove: (tx: Queries) => Promise<number>) => {
    for (let removed = 1; removed > 0; done += removed) {
      if (isStopped()) return
      removed = await app.db.transaction(`documentation:${id}`, async (tx) =>
        (await isLetGo(tx, id)) ? remove(tx) : 0,
      )
      onProgress?.(Math.min(done + removed, total), total)
      // Others of this process come in between.
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  await inBatches((tx) => app.documents.removeRepository(tx, id, REMOVED_ROWS_AT_ONCE))
  await inBatches((tx) => removeSomeChunks(tx, id, REMOVED_ROWS_AT_ONCE))
  for (const branch of await listDocumentationBranches(app.db, id)) {
    await inBatches((tx) => removeSomeFiles(tx, branch.id, REMOVED_ROWS_AT_ONCE))
    if (isStopped()) return false
    await app.db.transaction(`documentation:${id}`, async (tx) => {
      if (await isLetGo(tx, id)) await removeDocumentationBranch(tx, branch.id)
    })
  }
  // They are removed last, since as long as there are any the rest is looked for.
  await inBatches((tx) => removeSomeBlobs(tx, id, REMOVED_ROWS_AT_ONCE))
  if (isStopped()) return false
  if (!keepsClone) await removeClone(app, id)
  await app.db.transaction("repositories", async (tx) => {
    if (!(await isLetGo(tx, id))) return
    // What stays for other reasons is not begun again by the next search over all.
    await removeDocumentedRepository(tx, id)
    if (await isRepositoryInUse(tx, id)) await putLetGo(tx, id)
  })
  return true
}

async function isLetGo(tx: Queries, id: number): Promise<boolean> {
  return (await findDocumentedRepository(tx, id))?.isWanted === false
}

async function removeClone(app: App, id: number): Promise<void> {
  const place = await findRepositoryPlace(app.db, id)
  if (place !== undefined && (await isClonedByUs(app, id)))
    await removeOwned(clonesFolder(app), place.identityPath)
}
