/** Many memories over HTTP: search, list, waypoints, prune, statistics. */

import * as z from "zod"
import { SECTORS } from "../domain/memory.ts"
import {
  MEMORY_PAGE_DEFAULT,
  MEMORY_PAGE_MAX,
  MEMORY_SEARCH_LIMIT_DEFAULT,
  MEMORY_SEARCH_LIMIT_MAX,
  WAYPOINT_WEIGHT_DEFAULT,
  WAYPOINTS_LIMIT_DEFAULT,
  WAYPOINTS_LIMIT_MAX,
} from "../limits.ts"
import { fraction, maxHops, memoryQuery, sector, tag, tags, threshold } from "../operations/memory-fields.ts"
import { foundJson, memoryJson, pageJson, prunedJson, statisticsJson } from "../operations/memory-json.ts"
import { listMemories, listMemoryWaypoints } from "../operations/memory-listing.ts"
import { searchMemories } from "../operations/memory-search.ts"
import { memoryStatistics, pruneMemories } from "../operations/memory-upkeep.ts"
import {
  data,
  fractionText,
  limitText,
  MEMORIES_PATH,
  MEMORY_ROUTE,
  memoryParameters,
  memoryShape,
  tenantHeaders,
  tenantOf,
} from "./memory-shapes.ts"
import { type AnyRoute, defineRoute } from "./route.ts"

const search = defineRoute({
  ...MEMORY_ROUTE,
  method: "POST",
  path: `${MEMORIES_PATH}/search`,
  summary: "Find memories by words and by meaning",
  description: "Changes nothing, and the same question on the same memories has the same answer.",
  headers: tenantHeaders,
  body: z.object({
    query: memoryQuery(),
    limit: z.int().min(1).max(MEMORY_SEARCH_LIMIT_MAX).default(MEMORY_SEARCH_LIMIT_DEFAULT),
    sector: sector("Only of this sector").optional(),
    tags: tags("Only with all of these").optional(),
    min_salience: fraction("Only what has at least this salience now").optional(),
    expand_waypoints: z.boolean().default(true).describe("Whether to add what the best are connected with"),
    max_hops: maxHops(),
    explain: z.boolean().default(false).describe("Whether to say how each score came about"),
  }),
  responses: {
    200: {
      description: "What was found, the best first",
      schema: z.object({
        data: z.array(
          memoryShape.extend({
            score: z.number().describe("0 to 1, comparable between queries"),
            via: z.array(z.uuid()).optional().describe("The way here, where it is no match itself"),
            explain: z.record(z.string(), z.unknown()).optional(),
          }),
        ),
        meta: z.object({
          total: z.int().describe("Matches before the limit, and what waypoints added to the results"),
          search_time_ms: z.int(),
          waypoints_expanded: z.boolean(),
        }),
      }),
    },
  },
  async run(context, input) {
    const startedMs = performance.now()
    const tenant = await tenantOf(context, input)
    const { body } = input
    const found = await searchMemories(tenant, {
      query: body.query,
      limit: body.limit,
      sector: body.sector,
      tags: body.tags ?? [],
      salienceMin: body.min_salience ?? 0,
      maxHops: body.expand_waypoints ? body.max_hops : 0,
    })
    return { status: 200, body: foundJson(tenant, found, body.explain, performance.now() - startedMs) }
  },
})

const list = defineRoute({
  ...MEMORY_ROUTE,
  method: "GET",
  path: MEMORIES_PATH,
  summary: "List memories, the newest first",
  headers: tenantHeaders,
  query: z.object({
    limit: limitText(MEMORY_PAGE_MAX, MEMORY_PAGE_DEFAULT),
    cursor: z.string().min(1).optional().describe("next_cursor or prev_cursor of another page"),
    sector: sector("Only of this sector").optional(),
    tag: tag("Only with this tag").optional(),
  }),
  responses: {
    200: {
      description: "A page",
      schema: z.object({
        data: z.array(memoryShape),
        meta: z.object({
          next_cursor: z.string().nullable(),
          prev_cursor: z.string().nullable(),
          has_more: z.boolean().describe("Whether there are older ones"),
        }),
      }),
    },
  },
  async run(context, input) {
    const tenant = await tenantOf(context, input)
    const page = await listMemories(tenant, input.query)
    return { status: 200, body: pageJson(tenant, page) }
  },
})

const waypoints = defineRoute({
  ...MEMORY_ROUTE,
  method: "GET",
  path: `${MEMORIES_PATH}/:id/waypoints`,
  summary: "List what a memory is connected with, the strongest first",
  parameters: memoryParameters,
  headers: tenantHeaders,
  query: z.object({
    limit: limitText(WAYPOINTS_LIMIT_MAX, WAYPOINTS_LIMIT_DEFAULT),
    min_weight: fractionText(WAYPOINT_WEIGHT_DEFAULT, "Only connections of at least this weight"),
  }),
  responses: {
    200: {
      description: "The connections",
      schema: z.object({
        data: z.array(
          z.object({
            connected_memory_id: z.uuid(),
            weight: z.number(),
            connected_memory: memoryShape.pick({ id: true, content: true, sector: true, salience: true }),
          }),
        ),
        meta: z.object({ total_waypoints: z.int().describe("Of that weight, before the limit") }),
      }),
    },
  },
  async run(context, input) {
    const tenant = await tenantOf(context, input)
    const { limit: most, min_weight: weightMin } = input.query
    const found = await listMemoryWaypoints(tenant, input.parameters.id, { limit: most, weightMin })
    return {
      status: 200,
      body: {
        data: found.waypoints.map(({ weight, memory }) => {
          const { id, content: text, sector: kind, salience } = memoryJson(tenant, memory)
          return {
            connected_memory_id: id,
            weight: Number(weight.toFixed(4)),
            connected_memory: { id, content: text, sector: kind, salience },
          }
        }),
        meta: { total_waypoints: found.total },
      },
    }
  },
})

const prune = defineRoute({
  ...MEMORY_ROUTE,
  method: "POST",
  path: `${MEMORIES_PATH}/prune`,
  summary: "Delete memories that have faded, or count them",
  headers: tenantHeaders,
  body: z.object({
    threshold: threshold(),
    sector: sector("Only of this sector").optional(),
    dry_run: z.boolean().default(false).describe("Only count"),
  }),
  invalidBodyStatus: 422,
  responses: {
    200: {
      description: "Done",
      schema: data(
        z.object({
          memories_pruned: z.int(),
          threshold_used: z.number(),
          sector_filter: z.enum(SECTORS).nullable(),
          dry_run: z.boolean(),
        }),
      ),
    },
  },
  async run(context, input) {
    const { threshold: used, sector: only, dry_run: dryRun } = input.body
    const request = { threshold: used, sector: only, dryRun }
    const pruned = await pruneMemories(await tenantOf(context, input), request)
    return { status: 200, body: { data: prunedJson(pruned, request) } }
  },
})

const statistics = defineRoute({
  ...MEMORY_ROUTE,
  method: "GET",
  path: `${MEMORIES_PATH}/stats`,
  summary: "Statistics of the memories",
  headers: tenantHeaders,
  responses: {
    200: {
      description: "As they are now",
      schema: data(
        z.object({
          total_memories: z.int(),
          by_sector: z.object(Object.fromEntries(SECTORS.map((name) => [name, z.int()]))),
          avg_salience: z.number(),
          hot_memories: z.int().describe("Of salience 0.7 or more"),
          total_waypoints: z.int().describe("Connected pairs"),
          embeddings_today: z.int().describe("Vectors made since midnight UTC"),
          storage_used_mb: z.number(),
        }),
      ),
    },
  },
  async run(context, input) {
    const totals = await memoryStatistics(await tenantOf(context, input))
    return { status: 200, body: { data: statisticsJson(totals) } }
  },
})

/** The routes of many memories. */
export const memoryListRoutes: readonly AnyRoute[] = [search, list, waypoints, prune, statistics]
