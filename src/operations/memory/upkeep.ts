/** The upkeep of a repository's memories: pruning what has faded, and statistics. */

import { HOT_SALIENCE_MIN } from "../../config/limits.ts"
import { SECTORS, type Sector } from "../../domain/memory/memory.ts"
import { shownSalience } from "../../domain/memory/salience.ts"
import { vectorsToday } from "../../store/memory/embeddings.ts"
import {
  countFading,
  type Fading,
  findMemories,
  listFading,
  totalsBySector,
} from "../../store/memory/memories.ts"
import { countWaypointsIn } from "../../store/memory/waypoints.ts"
import { activeModel } from "../embedding/memories.ts"
import type { Input } from "../input.ts"
import type { CallContext, TenantContext } from "../operation.ts"
import { recordPruning } from "./events.ts"
import type { pruneInput } from "./inputs.ts"
import { eraseMemory, lockOf } from "./memories.ts"
import type { MemoryStatistics, PrunedMemories } from "./results.ts"

/** Memories that are deleted in one transaction: others have to write, too. */
const PRUNED_AT_ONCE = 50

/** Deletes the memories whose salience now, as it is shown, is strictly below a threshold, or only counts them. */
export async function pruneMemories(
  context: TenantContext,
  request: Input<typeof pruneInput>,
): Promise<PrunedMemories> {
  const { app, repository, nowMs } = context
  const { threshold, sector = null, dry_run: isDryRun } = request
  const fading = { repositoryId: repository.id, sector, threshold, halfLives: app.config.halfLives, nowMs }
  return {
    memories_pruned: isDryRun ? await countFading(app.db, fading) : await removeFading(context, fading),
    threshold_used: threshold,
    sector_filter: sector,
    dry_run: isDryRun,
  }
}

async function removeFading(context: CallContext, fading: Fading): Promise<number> {
  const { app } = context
  for (let pruned = 0; ; ) {
    const ids = await app.db.transaction(lockOf(fading.repositoryId), async (tx) => {
      const listed = await listFading(tx, fading, PRUNED_AT_ONCE)
      const memories = await findMemories(tx, listed)
      for (const memory of memories) await eraseMemory(tx, app, memory)
      if (memories.length > 0) await recordPruning(tx, context, fading, memories, app.now())
      return listed
    })
    pruned += ids.length
    if (ids.length < PRUNED_AT_ONCE) return pruned
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const BYTES_PER_MB = 1_000_000

/** Returns the statistics of a repository's memories as they are now. */
export async function memoryStatistics({ app, repository, nowMs }: TenantContext): Promise<MemoryStatistics> {
  const { db, config } = app
  const sectors = await totalsBySector(db, repository.id, config.halfLives, HOT_SALIENCE_MIN, nowMs)
  const sumOf = (one: (totals: (typeof sectors)[number]) => number) =>
    sectors.reduce((sum, totals) => sum + one(totals), 0)
  const total = sumOf(({ memories }) => memories)
  const counts = new Map(sectors.map(({ sector, memories }) => [sector, memories]))
  const bySector = Object.fromEntries(SECTORS.map((sector) => [sector, counts.get(sector) ?? 0]))
  const storedBytes = sumOf(({ bytes }) => bytes) + (await app.memories.vectorBytes(db, repository.id))
  return {
    total_memories: total,
    by_sector: bySector as Record<Sector, number>,
    avg_salience: shownSalience(total === 0 ? 0 : sumOf(({ salience }) => salience) / total),
    hot_memories: sumOf(({ hot }) => hot),
    total_waypoints: await countWaypointsIn(db, repository.id, (await activeModel(db)).id),
    embeddings_today: await vectorsToday(db, repository.id, nowMs),
    storage_used_mb: Number((storedBytes / BYTES_PER_MB).toFixed(3)),
  }
}
