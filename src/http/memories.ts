/** Single memories over HTTP: create, read, change, delete, reinforce. */

import * as z from "zod"
import { isoTime } from "../operations/markdown.ts"
import {
  changeMemory,
  createMemory,
  deleteMemory,
  readMemory,
  reinforceMemory,
} from "../operations/memories.ts"
import { content, metadata, profile, sector, source, tags } from "../operations/memory-fields.ts"
import { memoryJson, reinforcedJson } from "../operations/memory-json.ts"
import {
  data,
  MEMORIES_PATH,
  MEMORY_ROUTE,
  memoryParameters,
  memoryShape,
  tenantHeaders,
  tenantOf,
} from "./memory-shapes.ts"
import { type AnyRoute, defineRoute } from "./route.ts"

const create = defineRoute({
  ...MEMORY_ROUTE,
  method: "POST",
  path: MEMORIES_PATH,
  summary: "Remember something",
  headers: tenantHeaders,
  body: z.object({
    content: content(),
    sector: sector("Default: as its words suggest").optional(),
    tags: tags("For filtering").optional(),
    source: source().optional(),
    metadata: metadata().optional(),
  }),
  invalidBodyStatus: 422,
  responses: {
    201: {
      description: "Stored",
      schema: data(memoryShape.extend({ sector_inferred: z.boolean().describe("It was not given") })),
    },
  },
  async run(context, input) {
    const tenant = await tenantOf(context, input)
    const { memory, sectorInferred } = await createMemory(tenant, input.body)
    return { status: 201, body: { data: { ...memoryJson(tenant, memory), sector_inferred: sectorInferred } } }
  },
})

const read = defineRoute({
  ...MEMORY_ROUTE,
  method: "GET",
  path: `${MEMORIES_PATH}/:id`,
  summary: "Read a memory, which counts as an access",
  parameters: memoryParameters,
  headers: tenantHeaders,
  responses: { 200: { description: "The memory", schema: data(memoryShape) } },
  async run(context, input) {
    const tenant = await tenantOf(context, input)
    return { status: 200, body: { data: memoryJson(tenant, await readMemory(tenant, input.parameters.id)) } }
  },
})

const update = defineRoute({
  ...MEMORY_ROUTE,
  method: "PATCH",
  path: `${MEMORIES_PATH}/:id`,
  summary: "Change a memory; its sector stays",
  parameters: memoryParameters,
  headers: tenantHeaders,
  body: z.object({
    content: content().optional(),
    tags: tags("Take the place of all it had").optional(),
    source: source().optional(),
    metadata: metadata().optional(),
    sector: z
      .unknown()
      .refine((value) => value === undefined, "cannot be changed; store a new memory for another sector")
      .optional(),
  }),
  invalidBodyStatus: 422,
  responses: {
    200: {
      description: "Changed",
      schema: data(memoryShape.pick({ id: true, content: true, tags: true, updated_at: true })),
    },
  },
  async run(context, input) {
    const tenant = await tenantOf(context, input)
    const { sector: _, ...change } = input.body
    const memory = await changeMemory(tenant, input.parameters.id, change)
    const { uuid, tags: changedTags, updatedAtMs } = memory
    return {
      status: 200,
      body: {
        data: { id: uuid, content: memory.content, tags: changedTags, updated_at: isoTime(updatedAtMs) },
      },
    }
  },
})

const remove = defineRoute({
  ...MEMORY_ROUTE,
  method: "DELETE",
  path: `${MEMORIES_PATH}/:id`,
  summary: "Delete a memory for good",
  parameters: memoryParameters,
  headers: tenantHeaders,
  responses: { 204: { description: "Deleted" } },
  async run(context, input) {
    await deleteMemory(await tenantOf(context, input), input.parameters.id)
    return { status: 204 }
  },
})

const reinforce = defineRoute({
  ...MEMORY_ROUTE,
  method: "POST",
  path: `${MEMORIES_PATH}/:id/reinforce`,
  summary: "Raise a memory's salience",
  parameters: memoryParameters,
  headers: tenantHeaders,
  body: z.object({ profile: profile() }),
  invalidBodyStatus: 422,
  responses: {
    200: {
      description: "Raised",
      schema: data(
        z.object({
          id: z.uuid(),
          old_salience: z.number(),
          new_salience: z.number(),
          profile_used: z.string(),
          boost_applied: z.number(),
        }),
      ),
    },
  },
  async run(context, input) {
    const used = input.body.profile
    const done = await reinforceMemory(await tenantOf(context, input), input.parameters.id, used)
    return {
      status: 200,
      body: { data: reinforcedJson(done, used) },
    }
  },
})

/** The routes of single memories. */
export const memoryRoutes: readonly AnyRoute[] = [create, read, update, remove, reinforce]
