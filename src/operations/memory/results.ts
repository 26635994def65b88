/** What the operations on memories return, the same for MCP, HTTP and the command line. */

import * as z from "zod"
import { EMBEDDING_STATUSES, type Memory, SECTORS, type Sector } from "../../domain/memory/memory.ts"
import { salienceAt, shownSalience } from "../../domain/memory/salience.ts"
import { isoTime } from "../markdown.ts"
import type { TenantContext } from "../operation.ts"

/** A memory as everybody sees it; times are ISO 8601 in UTC, the salience is that of now with four decimals. */
export const memoryShape = z.object({
  id: z.uuid(),
  content: z.string(),
  sector: z.enum(SECTORS),
  salience: z.number().describe("0 to 1, as it is now"),
  access_count: z.int(),
  tags: z.array(z.string()),
  source: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()),
  embedding_status: z.enum(EMBEDDING_STATUSES),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  last_accessed_at: z.iso.datetime().nullable(),
})
export type MemoryJson = z.output<typeof memoryShape>

export const createdShape = memoryShape.extend({
  sector_inferred: z.boolean().describe("It was not given"),
})
export type CreatedMemory = z.output<typeof createdShape>

const foundMemoryShape = memoryShape.extend({
  score: z.number().describe("0 to 1, comparable between queries"),
  via: z.array(z.uuid()).optional().describe("The way here, where it is no match itself"),
  explain: z.record(z.string(), z.unknown()).optional(),
})

export const foundShape = z.object({
  data: z.array(foundMemoryShape),
  meta: z.object({
    total: z.int().describe("Matches before the limit, and what waypoints added to the results"),
    search_time_ms: z.int(),
    waypoints_expanded: z.boolean(),
  }),
})
export type FoundMemories = z.output<typeof foundShape>

export const pageShape = z.object({
  data: z.array(memoryShape),
  meta: z.object({
    next_cursor: z.string().nullable(),
    prev_cursor: z.string().nullable(),
    has_more: z.boolean().describe("Whether there are older ones"),
  }),
})
export type MemoryPage = z.output<typeof pageShape>

/** The boost is the difference of the two saliences as they are shown. */
export const reinforcedShape = z.object({
  id: z.uuid(),
  old_salience: z.number(),
  new_salience: z.number(),
  profile_used: z.string(),
  boost_applied: z.number(),
})
export type ReinforcedMemory = z.output<typeof reinforcedShape>

export const prunedShape = z.object({
  memories_pruned: z.int(),
  threshold_used: z.number(),
  sector_filter: z.enum(SECTORS).nullable(),
  dry_run: z.boolean(),
})
export type PrunedMemories = z.output<typeof prunedShape>

/** The average is 0 when there are no memories; a megabyte has 1,000,000 bytes. */
export const statisticsShape = z.object({
  total_memories: z.int(),
  by_sector: z.object(Object.fromEntries(SECTORS.map((name) => [name, z.int()])) as Record<Sector, z.ZodInt>),
  avg_salience: z.number(),
  hot_memories: z.int().describe("Of salience 0.7 or more"),
  total_waypoints: z.int().describe("Connected pairs"),
  embeddings_today: z.int().describe("Vectors made since midnight UTC"),
  storage_used_mb: z.number(),
})
export type MemoryStatistics = z.output<typeof statisticsShape>

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
