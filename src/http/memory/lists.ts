/** Many memories over HTTP: search, list, waypoints, prune, statistics. */

import * as z from "zod"
import { listInput, pruneInput, searchInput, waypointsInput } from "../../operations/memory/inputs.ts"
import { listMemories, listMemoryWaypoints } from "../../operations/memory/listing.ts"
import {
  foundShape,
  memoryShape,
  pageShape,
  prunedShape,
  statisticsShape,
} from "../../operations/memory/results.ts"
import { searchMemories } from "../../operations/memory/search.ts"
import { memoryStatistics, pruneMemories } from "../../operations/memory/upkeep.ts"
import { type AnyRoute, defineRoute } from "../route.ts"
import {
  data,
  fractionText,
  limitText,
  MEMORIES_PATH,
  MEMORY_ROUTE,
  memoryParameters,
  tenantHeaders,
  tenantOf,
} from "./shapes.ts"

const search = defineRoute({
  ...MEMORY_ROUTE,
  method: "POST",
  path: `${MEMORIES_PATH}/search`,
  summary: "Find memories by words and by meaning",
  description: "Changes nothing, and the same question on the same memories has the same answer.",
  headers: tenantHeaders,
  body: z.object({
    ...searchInput,
    explain: z.boolean().default(false).describe("Whether to say how each score came about"),
  }),
  responses: { 200: { description: "What was found, the best first", schema: foundShape } },
  async run(context, input) {
    return { status: 200, body: await searchMemories(await tenantOf(context, input), input.body) }
  },
})

const list = defineRoute({
  ...MEMORY_ROUTE,
  method: "GET",
  path: MEMORIES_PATH,
  summary: "List memories, the newest first",
  headers: tenantHeaders,
  query: z.object({ ...listInput, limit: limitText(listInput.limit) }),
  responses: { 200: { description: "A page", schema: pageShape } },
  async run(context, input) {
    return { status: 200, body: await listMemories(await tenantOf(context, input), input.query) }
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
    limit: limitText(waypointsInput.limit),
    min_weight: fractionText(waypointsInput.min_weight),
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
    const found = await listMemoryWaypoints(tenant, input.parameters.id, input.query)
    return {
      status: 200,
      body: {
        data: found.waypoints.map(({ weight, memory: { id, content, sector, salience } }) => ({
          connected_memory_id: id,
          weight: Number(weight.toFixed(4)),
          connected_memory: { id, content, sector, salience },
        })),
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
  body: z.object(pruneInput),
  invalidBodyStatus: 422,
  responses: { 200: { description: "Done", schema: data(prunedShape) } },
  async run(context, input) {
    const pruned = await pruneMemories(await tenantOf(context, input), input.body)
    return { status: 200, body: { data: pruned } }
  },
})

const statistics = defineRoute({
  ...MEMORY_ROUTE,
  method: "GET",
  path: `${MEMORIES_PATH}/stats`,
  summary: "Statistics of the memories",
  headers: tenantHeaders,
  responses: { 200: { description: "As they are now", schema: data(statisticsShape) } },
  async run(context, input) {
    return { status: 200, body: { data: await memoryStatistics(await tenantOf(context, input)) } }
  },
})

export const memoryListRoutes: readonly AnyRoute[] = [search, list, waypoints, prune, statistics]
