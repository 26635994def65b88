/** Waypoints: which memories are about the same, and how much. Every pair has two rows, one from each end. */

import type { Queries } from "../../db/database.ts"
import type { Memory } from "../../domain/memory/memory.ts"
import { type MemoryRow, toMemory } from "../rows.ts"

export const waypointStatements = {
  put: `
    INSERT INTO memory_waypoints (from_id, model_id, to_id, weight, repository_id) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (from_id, model_id, to_id) DO UPDATE SET weight = excluded.weight`,
  remove: "DELETE FROM memory_waypoints WHERE from_id = ? OR to_id = ?",
  list: `
    SELECT w.weight, m.id, m.uuid, m.repository_id, m.content, m.content_version, m.sector, m.salience_base,
      m.salience_anchor_ms, m.salience_stability, m.access_count, m.tags, m.source, m.metadata,
      'completed' AS embedding_status, m.created_at_ms, m.updated_at_ms, m.last_accessed_at_ms
    FROM memory_waypoints w JOIN memories m ON m.id = w.to_id
    WHERE w.from_id = ? AND w.model_id = ? AND w.weight >= ?
    ORDER BY w.weight DESC, m.id DESC LIMIT ?`,
  countFrom: `
    SELECT count(*) AS number FROM memory_waypoints WHERE from_id = ? AND model_id = ? AND weight >= ?`,
  countIn: "SELECT count(*) AS number FROM memory_waypoints WHERE repository_id = ? AND model_id = ?",
  edgesFrom: `
    SELECT to_id, weight FROM memory_waypoints WHERE from_id = ? AND model_id = ?
    ORDER BY weight DESC, to_id DESC LIMIT ?`,
  removeOfModel: "DELETE FROM memory_waypoints WHERE model_id = ? AND (from_id = ? OR to_id = ?)",
}

/** Connects two memories, from both ends. */
export async function putWaypoint(
  tx: Queries,
  repositoryId: number,
  modelId: number,
  ends: readonly [number, number],
  weight: number,
): Promise<void> {
  const [one, other] = ends
  await tx.run(waypointStatements.put, [one, modelId, other, weight, repositoryId])
  await tx.run(waypointStatements.put, [other, modelId, one, weight, repositoryId])
}

/** Removes all that begins or ends at a memory, by every model. */
export async function removeWaypoints(tx: Queries, memoryId: number): Promise<void> {
  await tx.run(waypointStatements.remove, [memoryId, memoryId])
}

/** Removes what begins or ends at a memory by one model's judgement. */
export async function removeWaypointsOfModel(tx: Queries, memoryId: number, modelId: number): Promise<void> {
  await tx.run(waypointStatements.removeOfModel, [modelId, memoryId, memoryId])
}

interface Waypoint {
  weight: number
  memory: Memory
}

/** Returns the strongest connections of a memory that have at least a weight, the strongest first. */
export async function listWaypoints(
  db: Queries,
  memoryId: number,
  modelId: number,
  weightMin: number,
  limit: number,
): Promise<Waypoint[]> {
  const args = [memoryId, modelId, weightMin, limit]
  const rows = await db.all<MemoryRow & { weight: number }>(waypointStatements.list, args)
  return rows.map((row) => ({ weight: row.weight, memory: toMemory(row) }))
}

export async function countWaypointsFrom(
  db: Queries,
  memoryId: number,
  modelId: number,
  weightMin: number,
): Promise<number> {
  const args = [memoryId, modelId, weightMin]
  return (await db.get<{ number: number }>(waypointStatements.countFrom, args))?.number ?? 0
}

/** Counts the pairs of a repository that are connected. */
export async function countWaypointsIn(db: Queries, repositoryId: number, modelId: number): Promise<number> {
  const row = await db.get<{ number: number }>(waypointStatements.countIn, [repositoryId, modelId])
  return (row?.number ?? 0) / 2
}

/** The way from one memory to another. */
export interface WaypointEdge {
  toId: number
  weight: number
}

/** Returns the strongest ways from a memory, at most `limit`. */
export async function listEdgesFrom(
  db: Queries,
  memoryId: number,
  modelId: number,
  limit: number,
): Promise<WaypointEdge[]> {
  const args = [memoryId, modelId, limit]
  const rows = await db.all<{ to_id: number; weight: number }>(waypointStatements.edgesFrom, args)
  return rows.map((row) => ({ toId: row.to_id, weight: row.weight }))
}
