/**
 * Which model embeds the memories, and the background work: memories that wait for a vector, all of
 * them again for another model, and what a model has left that is no longer used.
 */

import type { Queries } from "../../db/database.ts"
import type { EmbeddingProgress, StoredModel } from "../../domain/embedding/embedding.ts"
import type { Embedder } from "../../embed/embedder.ts"
import { AppError } from "../../errors.ts"
import {
  contentVersionOf,
  embeddingProgress,
  embeddingStatusOf,
  findModelByName,
  findModelByState,
  findRetiredInUse,
  insertModel,
  listMissing,
  listOfModel,
  listPending,
  putEmbedding,
  putModelState,
  removeEmbedding,
  type UndoneMemory,
} from "../../store/memory/embeddings.ts"
import { removeWaypointsOfModel } from "../../store/memory/waypoints.ts"
import type { App } from "../app.ts"
import { countWaitingChunks, embedAllDocuments, removeOldVectors } from "../documentation/embedding.ts"
import { activeModel, storeEmbedding, withNeighbours } from "./memories.ts"

/** Memories that are embedded together, and cleaned up together. */
const BATCH = 16
const CLEANED_AT_ONCE = 50

export interface ModelState {
  active: StoredModel
  activeProgress: EmbeddingProgress
  /** The model that is to take over when all memories are embedded with it. */
  building: StoredModel | undefined
  buildingProgress: EmbeddingProgress | undefined
}

/** Returns which models are at work, and how far. */
export async function modelState(db: Queries): Promise<ModelState> {
  const active = await activeModel(db)
  const building = await findModelByState(db, "building")
  return {
    active,
    activeProgress: await embeddingProgress(db, active.id),
    building,
    buildingProgress: building && (await embeddingProgress(db, building.id)),
  }
}

/**
 * Has all memories embedded with a model. Until that is done the active one goes on; then this one takes its
 * place. The active model itself ends what is being built for another.
 */
export async function useModel(app: App, wanted: Omit<StoredModel, "id" | "state">): Promise<StoredModel> {
  return app.db.transaction("models", async (tx) => {
    const building = await findModelByState(tx, "building")
    const known =
      (await findModelByName(tx, wanted.name)) ??
      (await insertModel(tx, { ...wanted, state: "retired" }, app.now()))
    if (building !== undefined && building.id !== known.id) await putModelState(tx, building.id, "retired")
    if (known.state === "active") return known
    await putModelState(tx, known.id, "building")
    return { ...known, state: "building" }
  })
}

/** How far a model has got, as a watcher sees it. */
type OnProgress = (model: StoredModel, progress: EmbeddingProgress) => void

/** Whether there is anything for `embedWaiting` to do; cheap enough to be asked every second. */
export async function isWorkWaiting(db: Queries): Promise<boolean> {
  if (await isPending(db)) return true
  return (await findModelByState(db, "building")) !== undefined || (await findRetiredInUse(db)) !== undefined
}

/**
 * Does all the work that waits; any number of processes may do so at once, and any may be killed in the
 * middle: what is done is stored bit by bit, and nothing twice. Fails when a model cannot be loaded.
 */
export async function embedWaiting(
  app: App,
  signal?: AbortSignal,
  onProgress?: OnProgress,
  { withDocuments = true }: { withDocuments?: boolean } = {},
): Promise<void> {
  // A model that cannot be loaded must not keep the one that is to take its place from being built.
  const failure = await embedPending(app, signal, onProgress).catch((error: unknown) => error)
  for (let isSettled = false; !isSettled && !isStopped(signal); ) {
    const building = await findModelByState(app.db, "building")
    if (building === undefined) break
    await embedAll(app, building, listMissing, signal, onProgress)
    if (withDocuments) await embedAllDocuments(app, building, () => isStopped(signal))
    isSettled = !isStopped(signal) && (await takeOver(app, building))
    // Another process embeds them; the caller looks again.
    if (!withDocuments && (await countWaitingChunks(app.db, building.id)) > 0) break
  }
  await cleanUp(app, signal)
  if (!isStopped(signal)) await removeOldVectors(app)
  if (failure !== undefined && (await isPending(app.db))) throw failure
}

async function embedPending(app: App, signal?: AbortSignal, onProgress?: OnProgress): Promise<void> {
  if (await isPending(app.db)) await embedAll(app, await activeModel(app.db), listPending, signal, onProgress)
}

/** Whether a memory waits for the active model. */
async function isPending(db: Queries): Promise<boolean> {
  return (await listPending(db, (await activeModel(db)).id, 0, 1)).length > 0
}

/** Embeds what a listing gives until it gives nothing more. */
async function embedAll(
  app: App,
  model: StoredModel,
  list: typeof listMissing,
  signal?: AbortSignal,
  onProgress?: OnProgress,
): Promise<void> {
  const embedder = await unlessStopped(app.embedders.load(model), signal)
  if (embedder === undefined) return
  let afterId = 0
  while (!isStopped(signal)) {
    const batch = await list(app.db, model.id, afterId, BATCH)
    const last = batch.at(-1)
    const state = (await findModelByName(app.db, model.name))?.state
    if (last === undefined || state === "retired") return
    afterId = last.id
    const vectors = await embedBatch(app, embedder, batch)
    for (const [index, memory] of batch.entries()) {
      if (isStopped(signal)) return
      await storeLater(app, model, memory, vectors[index])
      // Nothing here waits for anything but the database, and requests want to be answered in between.
      await new Promise((resolve) => setImmediate(resolve))
    }
    if (onProgress !== undefined) onProgress(model, await embeddingProgress(app.db, model.id))
  }
}

/** Embeds texts together, and one by one when that fails; undefined for those that cannot be embedded. */
async function embedBatch(
  app: App,
  embedder: Embedder,
  batch: readonly UndoneMemory[],
): Promise<(Float32Array[] | undefined)[]> {
  try {
    return await embedder.embedPassages(batch.map(({ content }) => content))
  } catch (error) {
    const [only, ...others] = batch
    if (only !== undefined && others.length === 0) {
      if (error instanceof AppError && error.code === "unavailable") throw error
      app.log.warn("a memory cannot be embedded", { memory: only.id, error })
      return [undefined]
    }
  }
  const vectors: (Float32Array[] | undefined)[] = []
  for (const memory of batch) vectors.push(...(await embedBatch(app, embedder, [memory])))
  return vectors
}

/** Stores what was made of a memory, unless it has changed, is gone, or was embedded by another process. */
async function storeLater(
  app: App,
  model: StoredModel,
  memory: UndoneMemory,
  vectors: Float32Array[] | undefined,
): Promise<void> {
  const embedded = vectors && (await withNeighbours(app, memory.repositoryId, model, vectors))
  await app.db.transaction(`memories:${memory.repositoryId}`, async (tx) => {
    if ((await contentVersionOf(tx, memory.id)) !== memory.contentVersion) return
    const status = (await embeddingStatusOf(tx, memory.id, model.id)) ?? "pending"
    const state = (await findModelByName(tx, model.name))?.state
    if (status !== "pending" || state === "retired") return
    if (embedded === undefined) await putEmbedding(tx, memory.id, model.id, "failed", 0)
    else {
      const isActive = state === "active"
      await storeEmbedding(tx, app, memory, embedded, { nowMs: app.now(), isActive })
    }
  })
}

/** Makes a model the active one if nothing is left to be embedded with it; returns whether that is settled. */
async function takeOver(app: App, model: StoredModel): Promise<boolean> {
  return app.db.transaction("models", async (tx) => {
    const building = await findModelByState(tx, "building")
    if (building?.id !== model.id) return building === undefined
    if ((await listMissing(tx, model.id, 0, 1)).length > 0) return false
    if ((await countWaitingChunks(tx, model.id)) > 0) return false
    await putModelState(tx, (await activeModel(tx)).id, "retired")
    await putModelState(tx, model.id, "active")
    return true
  })
}

/** Takes away the vectors and waypoints of models that are no longer used. */
async function cleanUp(app: App, signal?: AbortSignal): Promise<void> {
  while (!isStopped(signal)) {
    const isLeft = await app.db.transaction("models", async (tx) => {
      const retired = await findRetiredInUse(tx)
      if (retired === undefined) return false
      for (const id of await listOfModel(tx, retired.id, CLEANED_AT_ONCE)) {
        await app.memories.removeVectors(tx, id, retired.id)
        await removeWaypointsOfModel(tx, id, retired.id)
        await removeEmbedding(tx, id, retired.id)
      }
      return true
    })
    if (!isLeft) return
    await new Promise((resolve) => setImmediate(resolve))
  }
}

function isStopped(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}

/** Waits for something, but not longer than it is wanted. */
function unlessStopped<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T | undefined> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => resolve(undefined), { once: true })
    if (isStopped(signal)) resolve(undefined)
    work.then(resolve, reject)
  })
}
