/** Memories: their rows, listings, and everything that asks for salience as it is now. */

import type { Queries, SqlValue } from "../../db/database.ts"
import type { HalfLives, Memory, SalienceState, Sector } from "../../domain/memory/memory.ts"
import { nextNumber } from "../numbers.ts"
import { type MemoryRow, toMemory } from "../rows.ts"
import { SALIENCE_NOW, SALIENCE_SHOWN, salienceArguments, shownInSql } from "./salience.ts"

const OWN = `id, uuid, repository_id, content, content_version, sector, salience_base, salience_anchor_ms,
  salience_stability, access_count, tags, source, metadata, created_at_ms, updated_at_ms, last_accessed_at_ms`

const COLUMNS = `${OWN.replace(/\w+/g, "m.$&")}, coalesce(e.status, 'pending') AS embedding_status`

const ACTIVE_MODEL = "SELECT id FROM embedding_models WHERE state = 'active'"

const FROM = `memories m LEFT JOIN memory_embeddings e ON e.memory_id = m.id AND e.model_id = (${ACTIVE_MODEL})`

const PAGE_FILTER = `m.repository_id = ? AND (? IS NULL OR m.sector = ?)
  AND (? IS NULL OR EXISTS (
    SELECT 1 FROM memory_tags t WHERE t.repository_id = m.repository_id AND t.tag = ? AND t.memory_id = m.id))`

/** Memories that one statement reads. */
const FOUND_AT_ONCE = 50

export const memoryStatements = {
  insert: `
    INSERT INTO memories (id, uuid, repository_id, content, content_version, sector, salience_base,
      salience_anchor_ms, salience_stability, access_count, tags, source, metadata, stored_bytes,
      word_count, created_at_ms, updated_at_ms, last_accessed_at_ms)
    VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  insertTag: `
    INSERT INTO memory_tags (repository_id, tag, memory_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
  removeTags: "DELETE FROM memory_tags WHERE memory_id = ?",
  findByUuid: `SELECT ${COLUMNS} FROM ${FROM} WHERE m.uuid = ? AND m.repository_id = ?`,
  findById: `SELECT ${COLUMNS} FROM ${FROM} WHERE m.id = ?`,
  findMany: `SELECT ${COLUMNS} FROM ${FROM} WHERE m.id IN (${Array(FOUND_AT_ONCE).fill("?").join(", ")})`,
  exists: "SELECT id FROM memories WHERE uuid = ?",
  update: `
    UPDATE memories SET content = ?, content_version = content_version + ?, tags = ?, source = ?, metadata = ?,
      stored_bytes = ?, word_count = ?, updated_at_ms = ? WHERE id = ?`,
  addToTotals: `
    INSERT INTO memory_totals (repository_id, memory_count, word_count) VALUES (?, ?, ?)
    ON CONFLICT (repository_id) DO UPDATE SET
      memory_count = memory_totals.memory_count + excluded.memory_count,
      word_count = memory_totals.word_count + excluded.word_count`,
  totals: "SELECT memory_count, word_count FROM memory_totals WHERE repository_id = ?",
  wordCount: "SELECT repository_id, word_count FROM memories WHERE id = ?",
  access: `
    UPDATE memories SET access_count = access_count + 1, last_accessed_at_ms = ?
    WHERE uuid = ? AND repository_id = ?
    RETURNING ${OWN}, coalesce((SELECT e.status FROM memory_embeddings e
      WHERE e.memory_id = memories.id AND e.model_id = (${ACTIVE_MODEL})), 'pending') AS embedding_status`,
  putSalience: `
    UPDATE memories SET salience_base = ?, salience_anchor_ms = ?, salience_stability = ? WHERE id = ?`,
  remove: "DELETE FROM memories WHERE id = ?",
  older: `
    SELECT ${COLUMNS} FROM ${FROM}
    WHERE ${PAGE_FILTER} AND (m.created_at_ms, m.id) < (?, ?)
    ORDER BY m.created_at_ms DESC, m.id DESC LIMIT ?`,
  newer: `
    SELECT ${COLUMNS} FROM ${FROM}
    WHERE ${PAGE_FILTER} AND (m.created_at_ms, m.id) > (?, ?)
    ORDER BY m.created_at_ms, m.id LIMIT ?`,
  fading: `
    SELECT m.id FROM memories m
    WHERE m.repository_id = ? AND (? IS NULL OR m.sector = ?) AND ${SALIENCE_SHOWN} < ? LIMIT ?`,
  countFading: `
    SELECT count(*) AS number FROM memories m
    WHERE m.repository_id = ? AND (? IS NULL OR m.sector = ?) AND ${SALIENCE_SHOWN} < ?`,
  bySector: `
    SELECT s.sector, count(*) AS memories, sum(s.salience) AS salience,
      sum(CASE WHEN ${shownInSql("s.salience")} >= ? THEN 1 ELSE 0 END) AS hot, sum(s.stored_bytes) AS bytes
    FROM (
      SELECT m.sector, m.stored_bytes, ${SALIENCE_NOW} AS salience FROM memories m WHERE m.repository_id = ?
    ) s GROUP BY s.sector`,
}

/** What a memory takes up. */
export interface StoredSize {
  storedBytes: number
  /** Words in its index entry. */
  wordCount: number
}

/** What is stored of a memory that does not exist yet. */
type NewMemory = Omit<Memory, "id" | "embeddingStatus" | "contentVersion"> & StoredSize

export async function insertMemory(tx: Queries, memory: NewMemory): Promise<number> {
  const id = await nextNumber(tx)
  await tx.run(memoryStatements.insert, [
    id,
    memory.uuid,
    memory.repositoryId,
    memory.content,
    memory.sector,
    memory.salience.base,
    memory.salience.anchorMs,
    memory.salience.stability,
    memory.accessCount,
    JSON.stringify(memory.tags),
    memory.source,
    JSON.stringify(memory.metadata),
    memory.storedBytes,
    memory.wordCount,
    memory.createdAtMs,
    memory.updatedAtMs,
    memory.lastAccessedAtMs,
  ])
  await putTags(tx, memory.repositoryId, id, memory.tags)
  await tx.run(memoryStatements.addToTotals, [memory.repositoryId, 1, memory.wordCount])
  return id
}

async function putTags(tx: Queries, repositoryId: number, id: number, tags: readonly string[]) {
  for (const tag of tags) await tx.run(memoryStatements.insertTag, [repositoryId, tag, id])
}

/** Finds a memory of one repository; those of others are not found. */
export async function findMemory(
  db: Queries,
  repositoryId: number,
  uuid: string,
): Promise<Memory | undefined> {
  const row = await db.get<MemoryRow>(memoryStatements.findByUuid, [uuid, repositoryId])
  return row && toMemory(row)
}

export async function findMemoryById(db: Queries, id: number): Promise<Memory | undefined> {
  const row = await db.get<MemoryRow>(memoryStatements.findById, [id])
  return row && toMemory(row)
}

/** Returns those of some memories that there are, in no order. */
export async function findMemories(db: Queries, ids: readonly number[]): Promise<Memory[]> {
  const memories: Memory[] = []
  for (let from = 0; from < ids.length; from += FOUND_AT_ONCE) {
    const args = Array.from({ length: FOUND_AT_ONCE }, (_, at) => ids[from + at] ?? 0)
    memories.push(...(await db.all<MemoryRow>(memoryStatements.findMany, args)).map(toMemory))
  }
  return memories
}

/** Whether a memory of any repository has this id. */
export async function isUuidTaken(db: Queries, uuid: string): Promise<boolean> {
  return (await db.get(memoryStatements.exists, [uuid])) !== undefined
}

/** What an update may change. */
export type MemoryChange = Pick<Memory, "content" | "tags" | "source" | "metadata">

export async function updateMemory(
  tx: Queries,
  memory: Memory,
  change: MemoryChange & StoredSize,
  nowMs: number,
): Promise<void> {
  const { content, tags, source, metadata } = change
  const isOtherContent = content === memory.content ? 0 : 1
  const values = [content, isOtherContent, JSON.stringify(tags), source, JSON.stringify(metadata)]
  await takeFromTotals(tx, memory.id)
  await tx.run(memoryStatements.update, [...values, change.storedBytes, change.wordCount, nowMs, memory.id])
  await tx.run(memoryStatements.addToTotals, [memory.repositoryId, 1, change.wordCount])
  await tx.run(memoryStatements.removeTags, [memory.id])
  await putTags(tx, memory.repositoryId, memory.id, tags)
}

/** Counts an access to a memory of one repository and returns it as it is then; those of others are not found. */
export async function accessMemory(
  tx: Queries,
  repositoryId: number,
  uuid: string,
  nowMs: number,
): Promise<Memory | undefined> {
  const row = await tx.get<MemoryRow>(memoryStatements.access, [nowMs, uuid, repositoryId])
  return row && toMemory(row)
}

export async function putSalience(tx: Queries, id: number, salience: SalienceState): Promise<void> {
  const { base, anchorMs, stability } = salience
  await tx.run(memoryStatements.putSalience, [base, anchorMs, stability, id])
}

/** Deletes a memory with its tags, its embeddings and the waypoints that begin or end at it. */
export async function removeMemory(tx: Queries, id: number): Promise<void> {
  await takeFromTotals(tx, id)
  await tx.run(memoryStatements.remove, [id])
}

async function takeFromTotals(tx: Queries, id: number): Promise<void> {
  const row = await tx.get<{ repository_id: number; word_count: number }>(memoryStatements.wordCount, [id])
  if (row !== undefined) await tx.run(memoryStatements.addToTotals, [row.repository_id, -1, -row.word_count])
}

interface MemoryTotals {
  memories: number
  words: number
}

/** Returns how many memories a repository has, and how many words they have together. */
export async function memoryTotals(db: Queries, repositoryId: number): Promise<MemoryTotals> {
  const row = await db.get<{ memory_count: number; word_count: number }>(memoryStatements.totals, [
    repositoryId,
  ])
  return { memories: row?.memory_count ?? 0, words: row?.word_count ?? 0 }
}

export interface PageFilter {
  repositoryId: number
  sector: Sector | null
  tag: string | null
}
/** A place between memories in the order of their creation. */
export interface Place {
  createdAtMs: number
  id: number
}

/** Returns up to `limit` memories created before a place, the newest first. */
export async function listOlder(
  db: Queries,
  filter: PageFilter,
  place: Place,
  limit: number,
): Promise<Memory[]> {
  const args = [...pageArguments(filter, place), limit]
  return (await db.all<MemoryRow>(memoryStatements.older, args)).map(toMemory)
}

/** Returns up to `limit` memories created after a place, the oldest first. */
export async function listNewer(
  db: Queries,
  filter: PageFilter,
  place: Place,
  limit: number,
): Promise<Memory[]> {
  const args = [...pageArguments(filter, place), limit]
  return (await db.all<MemoryRow>(memoryStatements.newer, args)).map(toMemory)
}

function pageArguments({ repositoryId, sector, tag }: PageFilter, { createdAtMs, id }: Place): SqlValue[] {
  return [repositoryId, sector, sector, tag, tag, createdAtMs, id]
}

export interface Fading {
  repositoryId: number
  sector: Sector | null
  threshold: number
  halfLives: HalfLives
  nowMs: number
}

/** Returns the ids of memories whose salience is strictly below a threshold, at most `limit`. */
export async function listFading(db: Queries, fading: Fading, limit: number): Promise<number[]> {
  const rows = await db.all<{ id: number }>(memoryStatements.fading, [...fadingArguments(fading), limit])
  return rows.map((row) => row.id)
}

/** Counts all of what `listFading` lists. */
export async function countFading(db: Queries, fading: Fading): Promise<number> {
  const row = await db.get<{ number: number }>(memoryStatements.countFading, fadingArguments(fading))
  return row?.number ?? 0
}

function fadingArguments({ repositoryId, sector, threshold, halfLives, nowMs }: Fading): SqlValue[] {
  return [repositoryId, sector, sector, ...salienceArguments(halfLives, nowMs), threshold]
}

/** Of the memories of one sector. */
interface SectorTotals {
  sector: Sector
  memories: number
  /** The sum of their saliences. */
  salience: number
  hot: number
  bytes: number
}

/** Returns the totals of those sectors that have memories; hot is what has at least `hotMin`. */
export async function totalsBySector(
  db: Queries,
  repositoryId: number,
  halfLives: HalfLives,
  hotMin: number,
  nowMs: number,
): Promise<SectorTotals[]> {
  const args = [hotMin, ...salienceArguments(halfLives, nowMs), repositoryId]
  return db.all<SectorTotals & Record<string, SqlValue>>(memoryStatements.bySector, args)
}
