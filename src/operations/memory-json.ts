/** How memories read as JSON, over HTTP and on the command line alike. */

import type { EmbeddingStatus, Memory, ReinforceProfile, Sector } from "../domain/memory.ts"
import { salienceAt, shownSalience } from "../domain/salience.ts"
import { isoTime } from "./markdown.ts"
import type { Reinforced } from "./memories.ts"
import type { MemoryPage } from "./memory-listing.ts"
import type { MemorySearchResult } from "./memory-search.ts"
import type { MemoryStatistics, PruneRequest } from "./memory-upkeep.ts"
import type { TenantContext } from "./operation.ts"

const BYTES_PER_MB = 1_000_000

/** A memory as everybody sees it; times are ISO 8601 in UTC, the salience is that of now with four decimals. */
export interface MemoryJson {
  id: string
  content: string
  sector: Sector
  salience: number
  access_count: number
  tags: string[]
  source: string | null
  metadata: Record<string, unknown>
  embedding_status: EmbeddingStatus
  created_at: string
  updated_at: string
  last_accessed_at: string | null
}

/** Returns a memory as it is shown. */
export function memoryJson({ app, nowMs }: TenantContext, memory: Memory): MemoryJson {
  const salience = salienceAt(memory.salience, memory.sector, app.config.halfLives, nowMs)
  return {
    id: memory.uuid,
    content: memory.content,
    sector: memory.sector,
    salience: shownSalience(salience),
    access_count: memory.accessCount,
    tags: memory.tags,
    source: memory.source,
    metadata: memory.metadata,
    embedding_status: memory.embeddingStatus,
    created_at: isoTime(memory.createdAtMs),
    updated_at: isoTime(memory.updatedAtMs),
    last_accessed_at: memory.lastAccessedAtMs === null ? null : isoTime(memory.lastAccessedAtMs),
  }
}

/** Returns what a search found, with how each score came about if that is wanted. */
export function foundJson(
  context: TenantContext,
  { results, total, isExpanded }: MemorySearchResult,
  explains: boolean,
  searchMs: number,
) {
  return {
    data: results.map(({ memory, score, via, explanation }) => ({
      ...memoryJson(context, memory),
      score,
      ...(via === undefined ? {} : { via }),
      ...(explains ? { explain: explanation } : {}),
    })),
    meta: { total, search_time_ms: Math.round(searchMs), waypoints_expanded: isExpanded },
  }
}

/** Returns a page of memories. */
export function pageJson(context: TenantContext, { memories, nextCursor, prevCursor }: MemoryPage) {
  return {
    data: memories.map((memory) => memoryJson(context, memory)),
    meta: { next_cursor: nextCursor, prev_cursor: prevCursor, has_more: nextCursor !== null },
  }
}

/** Returns what reinforcing did; the boost is the difference of the two saliences as they are shown. */
export function reinforcedJson({ memory, before, after }: Reinforced, profile: ReinforceProfile) {
  return {
    id: memory.uuid,
    old_salience: shownSalience(before),
    new_salience: shownSalience(after),
    profile_used: profile,
    boost_applied: shownSalience(shownSalience(after) - shownSalience(before)),
  }
}

/** Returns what pruning did, or would do. */
export function prunedJson(pruned: number, { threshold, sector, dryRun }: PruneRequest) {
  return {
    memories_pruned: pruned,
    threshold_used: threshold,
    sector_filter: sector ?? null,
    dry_run: dryRun,
  }
}

/** Returns statistics as they are shown; a megabyte has 1,000,000 bytes. */
export function statisticsJson(totals: MemoryStatistics) {
  return {
    total_memories: totals.total,
    by_sector: totals.bySector,
    avg_salience: shownSalience(totals.averageSalience),
    hot_memories: totals.hot,
    total_waypoints: totals.waypoints,
    embeddings_today: totals.vectorsToday,
    storage_used_mb: Number((totals.storedBytes / BYTES_PER_MB).toFixed(3)),
  }
}
