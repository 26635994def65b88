/** Gives memories their vectors and their waypoints, at once or later. */

import { WAYPOINT_WEIGHT_MIN, WAYPOINTS_PER_MEMORY } from "../../config/limits.ts"
import type { Queries } from "../../db/database.ts"
import { BUILTIN_SOURCE, type StoredModel } from "../../domain/embedding/embedding.ts"
import { cosineAt, similarityOf } from "../../domain/embedding/similarity.ts"
import { assert } from "../../errors.ts"
import { recordEvent } from "../../store/events.ts"
import {
  countVectors,
  findModelByState,
  listEmbeddedSince,
  putEmbedding,
  removeEmbeddings,
} from "../../store/memory/embeddings.ts"
import { idsOfRows } from "../../store/memory/ids.ts"
import { putWaypoint, removeWaypoints } from "../../store/memory/waypoints.ts"
import { lastNumber } from "../../store/numbers.ts"
import type { App } from "../app.ts"

/** What a model makes of a content, before it is stored. */
export interface Embedded {
  model: StoredModel
  /** One a window; none for a text of which the model knows nothing. */
  vectors: Float32Array[]
  /** Memories that may become waypoints, and the last number when they were looked for. */
  nearIds: number[]
  asOf: number
}

/** Returns the model whose vectors search uses. */
export async function activeModel(db: Queries): Promise<StoredModel> {
  const model = await findModelByState(db, "active")
  assert(model !== undefined, "a database has an active embedding model from its first moment")
  return model
}

/**
 * Waits until the active model can embed at once. One that cannot be loaded is no obstacle: what waits for vectors
 * waits on. The cause is in the log.
 */
export async function loadActiveModel(app: App): Promise<void> {
  await app.embedders.load(await activeModel(app.db)).catch(() => undefined)
}

/**
 * Embeds a content for a repository if the active model can do it at once; undefined otherwise, or when it
 * fails: the memory then waits for its vector. Finding its neighbours takes longest of all, so it is done
 * here, before the lock.
 */
export async function embedAtOnce(
  app: App,
  repositoryId: number,
  content: string,
): Promise<Embedded | undefined> {
  const model = await activeModel(app.db)
  const embedder = app.embedders.ready(model) ?? (await builtinOf(app, model))
  if (embedder === undefined) return undefined
  try {
    const [vectors = []] = await embedder.embedPassages([content])
    return await withNeighbours(app, repositoryId, model, vectors)
  } catch (error) {
    app.log.warn("a memory could not be embedded at once", { model: model.name, error })
    return undefined
  }
}

/**
 * The built-in model is read from the disk in a moment; no caller has to come back for it. Why it cannot be loaded is in
 * the log.
 */
async function builtinOf(app: App, model: StoredModel) {
  if (model.source !== BUILTIN_SOURCE) return undefined
  return app.embedders.load(model).catch(() => undefined)
}

/** Finds what a content's vectors are near to. */
export async function withNeighbours(
  app: App,
  repositoryId: number,
  model: StoredModel,
  vectors: Float32Array[],
): Promise<Embedded> {
  const { db, memories } = app
  const space = { repositoryId, modelId: model.id }
  const asOf = await lastNumber(db)
  const nearIds = new Set<number>()
  for (const vector of vectors) {
    const near = await memories.findNeighbours(db, space, vector, WAYPOINTS_PER_MEMORY + 1)
    for (const { id } of near) nearIds.add(id)
  }
  return { model, vectors, nearIds: [...nearIds], asOf }
}

/**
 * Stores a memory's vectors, in the transaction that stores what they were made of, and connects it with its
 * nearest. What came or changed while they were looked for counts as it is now. Nothing is stored by a model
 * that is no longer wanted. Waypoints are told of while search uses them.
 */
export async function storeEmbedding(
  tx: Queries,
  app: App,
  memory: { id: number; repositoryId: number },
  embedded: Embedded,
  { nowMs, isActive }: { nowMs: number; isActive: boolean },
): Promise<void> {
  const { model, vectors, nearIds, asOf } = embedded
  const space = { repositoryId: memory.repositoryId, modelId: model.id }
  await app.memories.putVectors(tx, space, memory.id, vectors)
  await putEmbedding(tx, memory.id, model.id, "completed", vectors.length)
  await countVectors(tx, memory.repositoryId, vectors.length, nowMs)
  const newerIds = await listEmbeddedSince(tx, memory.repositoryId, model.id, asOf)
  const candidates = new Set([...nearIds, ...newerIds])
  candidates.delete(memory.id)
  const nearest = await nearestOf(tx, app, model, vectors, [...candidates])
  for (const { id, weight } of nearest)
    await putWaypoint(tx, memory.repositoryId, model.id, [memory.id, id], weight)
  if (isActive && nearest.length > 0) await recordWaypoints(tx, memory, nearest, nowMs)
}

async function recordWaypoints(
  tx: Queries,
  { id, repositoryId }: { id: number; repositoryId: number },
  nearest: readonly { id: number; weight: number }[],
  nowMs: number,
): Promise<void> {
  const uuids = await idsOfRows(tx, [id, ...nearest.map((other) => other.id)])
  const to = nearest.map((other) => ({ memory_id: uuids.get(other.id), weight: other.weight }))
  const data = { from: uuids.get(id), to }
  await recordEvent(tx, { kind: "waypoint.created", repositoryId, data }, nowMs)
}

async function nearestOf(
  tx: Queries,
  app: App,
  model: StoredModel,
  vectors: readonly Float32Array[],
  ids: readonly number[],
): Promise<{ id: number; weight: number }[]> {
  const best = new Map<number, number>()
  for (const vector of vectors) {
    for (const [id, cosine] of await app.memories.cosines(tx, model.id, vector, ids))
      best.set(id, Math.max(cosine, best.get(id) ?? -1))
  }
  const cosineMin = cosineAt(WAYPOINT_WEIGHT_MIN, model.calibration)
  return [...best]
    .filter(([, cosine]) => cosine > cosineMin)
    .sort(([oneId, one], [otherId, other]) => other - one || otherId - oneId)
    .slice(0, WAYPOINTS_PER_MEMORY)
    .map(([id, cosine]) => ({ id, weight: similarityOf(cosine, model.calibration) }))
}

/**
 * Stores what was made of a memory's content at once, or notes that the memory waits. What a model has made
 * that was replaced in the meantime is not stored.
 */
export async function storeOrPostpone(
  tx: Queries,
  app: App,
  memory: { id: number; repositoryId: number },
  embedded: Embedded | undefined,
  nowMs: number,
): Promise<void> {
  const active = await activeModel(tx)
  if (embedded?.model.id === active.id)
    await storeEmbedding(tx, app, memory, embedded, { nowMs, isActive: true })
  else await putEmbedding(tx, memory.id, active.id, "pending", 0)
}

/** Takes away everything that was made of a memory's content. */
export async function forgetEmbedding(
  tx: Queries,
  app: App,
  memory: { id: number; repositoryId: number },
): Promise<void> {
  await app.memories.removeVectors(tx, memory.id)
  await removeEmbeddings(tx, memory.id)
  await removeWaypoints(tx, memory.id)
}
