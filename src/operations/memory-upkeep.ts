/** The upkeep of a repository's memories: pruning what has faded, and statistics. */

import { SECTORS, type Sector } from "../domain/memory.ts"
import { HOT_SALIENCE_MIN } from "../limits.ts"
import { vectorsToday } from "../store/embeddings.ts"
import { countFading, findMemories, listFading, totalsBySector } from "../store/memories.ts"
import { countWaypointsIn } from "../store/waypoints.ts"
import { activeModel } from "./embedding.ts"
import { eraseMemory, lockOf } from "./memories.ts"
import type { TenantContext } from "./operation.ts"

export interface PruneRequest {
  threshold: number
  sector?: Sector | undefined
  dryRun: boolean
}

/** Memories that are deleted in one transaction: others have to write, too. */
const PRUNED_AT_ONCE = 50

/** Deletes the memories whose salience now is strictly below a threshold, or only counts them; returns how many. */
export async function pruneMemories(context: TenantContext, request: PruneRequest): Promise<number> {
  const { app, repository, nowMs } = context
  const { threshold, sector = null, dryRun } = request
  const fading = { repositoryId: repository.id, sector, threshold, halfLives: app.config.halfLives, nowMs }
  if (dryRun) return countFading(app.db, fading)
  for (let pruned = 0; ; ) {
    const ids = await app.db.transaction(lockOf(repository.id), async (tx) => {
      const listed = await listFading(tx, fading, PRUNED_AT_ONCE)
      for (const memory of await findMemories(tx, listed)) await eraseMemory(tx, app, memory)
      return listed
    })
    pruned += ids.length
    if (ids.length < PRUNED_AT_ONCE) return pruned
    await new Promise((resolve) => setImmediate(resolve))
  }
}

export interface MemoryStatistics {
  total: number
  bySector: Record<Sector, number>
  /** 0 when there are no memories. */
  averageSalience: number
  hot: number
  waypoints: number
  vectorsToday: number
  storedBytes: number
}

/** Returns the statistics of a repository's memories as they are now. */
export async function memoryStatistics({ app, repository, nowMs }: TenantContext): Promise<MemoryStatistics> {
  const { db, config } = app
  const sectors = await totalsBySector(db, repository.id, config.halfLives, HOT_SALIENCE_MIN, nowMs)
  const sumOf = (one: (totals: (typeof sectors)[number]) => number) =>
    sectors.reduce((sum, totals) => sum + one(totals), 0)
  const total = sumOf(({ memories }) => memories)
  const counts = new Map(sectors.map(({ sector, memories }) => [sector, memories]))
  const bySector = Object.fromEntries(SECTORS.map((sector) => [sector, counts.get(sector) ?? 0]))
  return {
    total,
    bySector: bySector as Record<Sector, number>,
    averageSalience: total === 0 ? 0 : sumOf(({ salience }) => salience) / total,
    hot: sumOf(({ hot }) => hot),
    waypoints: await countWaypointsIn(db, repository.id, (await activeModel(db)).id),
    vectorsToday: await vectorsToday(db, repository.id, nowMs),
    storedBytes: sumOf(({ bytes }) => bytes) + (await app.memories.vectorBytes(db, repository.id)),
  }
}
