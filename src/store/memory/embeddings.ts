/** Embedding models, and which memories are embedded with them. The vectors themselves are in the index. */

import type { Queries } from "../../db/database.ts"
import type { EmbeddingProgress, StoredModel } from "../../domain/embedding/embedding.ts"
import type { EmbeddingStatus } from "../../domain/memory/memory.ts"
import { DAY_MS } from "../../domain/time-units.ts"
import { nextNumber } from "../numbers.ts"
import { type EmbeddingModelRow, toStoredModel } from "../rows.ts"

const MODEL_COLUMNS = "id, name, source, dimensions, midpoint, slope, state"

export const embeddingStatements = {
  findByState: `SELECT ${MODEL_COLUMNS} FROM embedding_models WHERE state = ? ORDER BY id DESC`,
  findByName: `SELECT ${MODEL_COLUMNS} FROM embedding_models WHERE name = ?`,
  list: `SELECT ${MODEL_COLUMNS} FROM embedding_models ORDER BY id`,
  insert: `
    INSERT INTO embedding_models (name, source, dimensions, midpoint, slope, state, created_at_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING ${MODEL_COLUMNS}`,
  putState: "UPDATE embedding_models SET state = ? WHERE id = ?",
  putEmbedding: `
    INSERT INTO memory_embeddings (memory_id, model_id, status, window_count, number) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (memory_id, model_id) DO UPDATE SET
      status = excluded.status, window_count = excluded.window_count, number = excluded.number`,
  listSince: `
    SELECT m.id FROM memory_embeddings e JOIN memories m ON m.id = e.memory_id
    WHERE e.model_id = ? AND e.number > ? AND m.repository_id = ?`,
  removeOfMemory: "DELETE FROM memory_embeddings WHERE memory_id = ?",
  listPending: `
    SELECT m.id, m.repository_id, m.content, m.content_version
    FROM memory_embeddings e JOIN memories m ON m.id = e.memory_id
    WHERE e.status = 'pending' AND e.model_id = ? AND m.id > ?
    ORDER BY m.id LIMIT ?`,
  listMissing: `
    SELECT m.id, m.repository_id, m.content, m.content_version FROM memories m
    WHERE m.id > ? AND NOT EXISTS (
      SELECT 1 FROM memory_embeddings e
      WHERE e.memory_id = m.id AND e.model_id = ? AND e.status <> 'pending')
    ORDER BY m.id LIMIT ?`,
  status: "SELECT status FROM memory_embeddings WHERE memory_id = ? AND model_id = ?",
  listOfModel: "SELECT memory_id AS id FROM memory_embeddings WHERE model_id = ? LIMIT ?",
  removeOne: "DELETE FROM memory_embeddings WHERE memory_id = ? AND model_id = ?",
  findRetiredInUse: `
    SELECT ${MODEL_COLUMNS} FROM embedding_models m
    WHERE state = 'retired' AND EXISTS (SELECT 1 FROM memory_embeddings e WHERE e.model_id = m.id) LIMIT 1`,
  progress: `
    SELECT (SELECT count(*) FROM memories) AS total,
      (SELECT count(*) FROM memory_embeddings WHERE model_id = ? AND status = 'completed') AS completed,
      (SELECT count(*) FROM memory_embeddings WHERE model_id = ? AND status = 'failed') AS failed`,
  contentVersion: "SELECT content_version FROM memories WHERE id = ?",
  countToday: "SELECT vector_count FROM embedding_days WHERE repository_id = ? AND day = ?",
  addToday: `
    INSERT INTO embedding_days (repository_id, day, vector_count) VALUES (?, ?, ?)
    ON CONFLICT (repository_id, day) DO UPDATE SET vector_count = embedding_days.vector_count + excluded.vector_count`,
}

/** Returns the SQL that gives a new database the model it begins with. */
export function modelSchema({
  name,
  source,
  dimensions,
  calibration,
}: Omit<StoredModel, "id" | "state">): string {
  const values = [`'${name}'`, `'${source}'`, dimensions, calibration.midpoint, calibration.slope]
  return `
    INSERT INTO embedding_models (name, source, dimensions, midpoint, slope, state, created_at_ms)
    VALUES (${values.join(", ")}, 'active', 0);`
}

/** Returns the model in a state: at most one is active, and at most one is being built. */
export async function findModelByState(
  db: Queries,
  state: "active" | "building",
): Promise<StoredModel | undefined> {
  const row = await db.get<EmbeddingModelRow>(embeddingStatements.findByState, [state])
  return row && toStoredModel(row)
}

export async function findModelByName(db: Queries, name: string): Promise<StoredModel | undefined> {
  const row = await db.get<EmbeddingModelRow>(embeddingStatements.findByName, [name])
  return row && toStoredModel(row)
}

export async function listStoredModels(db: Queries): Promise<StoredModel[]> {
  return (await db.all<EmbeddingModelRow>(embeddingStatements.list)).map(toStoredModel)
}

export async function insertModel(
  tx: Queries,
  model: Omit<StoredModel, "id">,
  nowMs: number,
): Promise<StoredModel> {
  const { name, source, dimensions, calibration, state } = model
  const args = [name, source, dimensions, calibration.midpoint, calibration.slope, state, nowMs]
  return toStoredModel(
    (await tx.get<EmbeddingModelRow>(embeddingStatements.insert, args)) as EmbeddingModelRow,
  )
}

export async function putModelState(tx: Queries, id: number, state: StoredModel["state"]): Promise<void> {
  await tx.run(embeddingStatements.putState, [state, id])
}

/** Notes what became of embedding a memory with a model, and in how many windows. */
export async function putEmbedding(
  tx: Queries,
  memoryId: number,
  modelId: number,
  status: EmbeddingStatus,
  windowCount: number,
): Promise<void> {
  await tx.run(embeddingStatements.putEmbedding, [
    memoryId,
    modelId,
    status,
    windowCount,
    await nextNumber(tx),
  ])
}

/** Returns the memories of a repository that a model has embedded since a number was the last. */
export async function listEmbeddedSince(
  db: Queries,
  repositoryId: number,
  modelId: number,
  number: number,
): Promise<number[]> {
  const args = [modelId, number, repositoryId]
  return (await db.all<{ id: number }>(embeddingStatements.listSince, args)).map((row) => row.id)
}

/** Forgets that a memory was embedded, with whatever model. */
export async function removeEmbeddings(tx: Queries, memoryId: number): Promise<void> {
  await tx.run(embeddingStatements.removeOfMemory, [memoryId])
}

/** Returns up to `limit` memories that a model has embedded or tried to. */
export async function listOfModel(db: Queries, modelId: number, limit: number): Promise<number[]> {
  const rows = await db.all<{ id: number }>(embeddingStatements.listOfModel, [modelId, limit])
  return rows.map((row) => row.id)
}

export async function removeEmbedding(tx: Queries, memoryId: number, modelId: number): Promise<void> {
  await tx.run(embeddingStatements.removeOne, [memoryId, modelId])
}

/** Returns a model that is no longer used and still has embeddings. */
export async function findRetiredInUse(db: Queries): Promise<StoredModel | undefined> {
  const row = await db.get<EmbeddingModelRow>(embeddingStatements.findRetiredInUse)
  return row && toStoredModel(row)
}

/** A memory that is still to be embedded. */
export interface UndoneMemory {
  id: number
  repositoryId: number
  content: string
  contentVersion: number
}

/** Returns memories that wait for the active model, with ids above `afterId`, at most `limit`. */
export async function listPending(
  db: Queries,
  modelId: number,
  afterId: number,
  limit: number,
): Promise<UndoneMemory[]> {
  const args = [modelId, afterId, limit]
  return (await db.all<UndoneRow>(embeddingStatements.listPending, args)).map(toUndone)
}

/** Returns memories that a model has not embedded yet, with ids above `afterId`, at most `limit`. */
export async function listMissing(
  db: Queries,
  modelId: number,
  afterId: number,
  limit: number,
): Promise<UndoneMemory[]> {
  const args = [afterId, modelId, limit]
  return (await db.all<UndoneRow>(embeddingStatements.listMissing, args)).map(toUndone)
}

type UndoneRow = { id: number; repository_id: number; content: string; content_version: number }

function toUndone(row: UndoneRow): UndoneMemory {
  return {
    id: row.id,
    repositoryId: row.repository_id,
    content: row.content,
    contentVersion: row.content_version,
  }
}

/** Returns what became of embedding a memory with a model; undefined when it was not begun. */
export async function embeddingStatusOf(
  db: Queries,
  memoryId: number,
  modelId: number,
): Promise<EmbeddingStatus | undefined> {
  const row = await db.get<{ status: string }>(embeddingStatements.status, [memoryId, modelId])
  return row?.status as EmbeddingStatus | undefined
}

/** Returns how many memories of all repositories a model has embedded. */
export async function embeddingProgress(db: Queries, modelId: number): Promise<EmbeddingProgress> {
  const args = [modelId, modelId]
  const row = await db.get<EmbeddingProgress & Record<string, number>>(embeddingStatements.progress, args)
  return row as EmbeddingProgress
}

/** Returns the version of a memory's content; undefined when there is no such memory any more. */
export async function contentVersionOf(db: Queries, memoryId: number): Promise<number | undefined> {
  const row = await db.get<{ content_version: number }>(embeddingStatements.contentVersion, [memoryId])
  return row?.content_version
}

/** Counts vectors that were just made for a repository. */
export async function countVectors(
  tx: Queries,
  repositoryId: number,
  vectorCount: number,
  nowMs: number,
): Promise<void> {
  await tx.run(embeddingStatements.addToday, [repositoryId, Math.floor(nowMs / DAY_MS), vectorCount])
}

/** Returns how many vectors were made for a repository since midnight UTC. */
export async function vectorsToday(db: Queries, repositoryId: number, nowMs: number): Promise<number> {
  const args = [repositoryId, Math.floor(nowMs / DAY_MS)]
  const row = await db.get<{ vector_count: number }>(embeddingStatements.countToday, args)
  return row?.vector_count ?? 0
}
