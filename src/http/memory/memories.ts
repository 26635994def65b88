/** Single memories over HTTP: create, read, change, delete, reinforce. */

import * as z from "zod"
import { invalid } from "../../errors.ts"
import { clearingInput, createInput, reinforceInput } from "../../operations/memory/inputs.ts"
import {
  changeMemory,
  createMemory,
  deleteMemory,
  lookAtMemory,
  readMemory,
  reinforceMemory,
} from "../../operations/memory/memories.ts"
import { createdShape, memoryShape, reinforcedShape } from "../../operations/memory/results.ts"
import { type AnyRoute, defineRoute } from "../route.ts"
import { data, MEMORIES_PATH, MEMORY_ROUTE, memoryParameters, tenantHeaders, tenantOf } from "./shapes.ts"

const create = defineRoute({
  ...MEMORY_ROUTE,
  method: "POST",
  path: MEMORIES_PATH,
  summary: "Remember something",
  headers: tenantHeaders,
  body: z.object(createInput),
  invalidBodyStatus: 422,
  responses: { 201: { description: "Stored", schema: data(createdShape) } },
  async run(context, input) {
    const created = await createMemory(await tenantOf(context, input), input.body)
    return { status: 201, body: { data: created } }
  },
})

const read = defineRoute({
  ...MEMORY_ROUTE,
  method: "GET",
  path: `${MEMORIES_PATH}/:id`,
  summary: "Read a memory, which counts as an access",
  description: "HEAD counts as none.",
  parameters: memoryParameters,
  headers: tenantHeaders,
  responses: { 200: { description: "The memory", schema: data(memoryShape) } },
  async run(context, input) {
    const tenant = await tenantOf(context, input)
    const look = input.isHead ? lookAtMemory : readMemory
    return { status: 200, body: { data: await look(tenant, input.parameters.id) } }
  },
})

const SECTOR_STAYS = "cannot be changed; store a new memory for another sector"

const update = defineRoute({
  ...MEMORY_ROUTE,
  method: "PATCH",
  path: `${MEMORIES_PATH}/:id`,
  summary: "Change a memory; its sector stays",
  parameters: memoryParameters,
  headers: tenantHeaders,
  body: z.object({
    ...clearingInput,
    // Null is refused below: by the schema it would count as not given.
    sector: z
      .unknown()
      .refine((value) => value === undefined || value === null, SECTOR_STAYS)
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
    const { sector, content: text, ...change } = input.body
    if (sector === null) throw invalid("sector", SECTOR_STAYS)
    if (text === null) throw invalid("content", "cannot be taken away", "Delete the memory instead.")
    const tenant = await tenantOf(context, input)
    const memory = await changeMemory(tenant, input.parameters.id, { ...change, content: text })
    const { id, content, tags, updated_at } = memory
    return { status: 200, body: { data: { id, content, tags, updated_at } } }
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
  body: z.object(reinforceInput),
  invalidBodyStatus: 422,
  responses: { 200: { description: "Raised", schema: data(reinforcedShape) } },
  async run(context, input) {
    const reinforced = await reinforceMemory(await tenantOf(context, input), input.parameters.id, input.body)
    return { status: 200, body: { data: reinforced } }
  },
})

export const memoryRoutes: readonly AnyRoute[] = [create, read, update, remove, reinforce]
