/**
 * The tools on single memories: create, get, update, reinforce, delete. What a call needs is loaded by the first
 * call: most server processes are started for other tools, or only to list them.
 */

import * as z from "zod"
import { shownSalience } from "../domain/salience.ts"
import { MEMORY_CONTENT_CHARS_MAX } from "../limits.ts"
import { repositoryId } from "./fields.ts"
import { count, isoTime, lines } from "./markdown.ts"
import { content, memoryId, metadata, profile, sector, source, tags } from "./memory-fields.ts"
import { contentFrom, jsonLine, memoryHead, shownWeight } from "./memory-markdown.ts"
import { defineOperation } from "./operation.ts"

/** The repository of every tool on memories. */
export const tenant = () => repositoryId("Repository id; default: the one around the server").optional()

/** From this weight on, a new memory says much the same as an older one. */
const ALIKE_WEIGHT_MIN = 0.9
const ALIKE_SHOWN_MAX = 3

export const createMemoryTool = defineOperation({
  name: "create-memory",
  title: "Create memory",
  category: "memory",
  effect: "write",
  inRepository: true,
  description:
    "Remember a decision, fact, procedure, event, feeling or lesson of this repository, verbatim, for later sessions.",
  input: z.strictObject({
    content: content(),
    sector: sector("Default: as its words suggest").optional(),
    tags: tags("For filtering").optional(),
    source: source().optional(),
    metadata: metadata().optional(),
    repository_id: tenant(),
  }),
  async run(context, input) {
    const { createMemory } = await import("./memories.ts")
    const { listWaypointsOf } = await import("./memory-listing.ts")
    const { memory, sectorInferred } = await createMemory(context, input)
    const asked = { limit: ALIKE_SHOWN_MAX, weightMin: ALIKE_WEIGHT_MIN }
    return { memory, sectorInferred, alike: (await listWaypointsOf(context, memory, asked)).waypoints }
  },
  markdown: ({ memory, sectorInferred, alike }) =>
    lines(
      "# Memory created",
      "",
      `Memory id: ${memory.uuid}`,
      `Sector: ${memory.sector}${sectorInferred ? " (inferred)" : ""}`,
      memory.embeddingStatus === "completed" ? null : `Embedding: ${memory.embeddingStatus}`,
      ...alike.map(({ weight, memory: { uuid } }) => `Much like: ${uuid} (${shownWeight(weight)})`),
    ),
})

export const getMemory = defineOperation({
  name: "get-memory",
  title: "Get memory",
  category: "memory",
  effect: "write",
  inRepository: true,
  description: "Read a memory whole, a very long one in parts; counts as an access.",
  input: z.strictObject({
    memory_id: memoryId(),
    offset: z.int().min(0).max(MEMORY_CONTENT_CHARS_MAX).default(0).describe("First character to show"),
    repository_id: tenant(),
  }),
  async run(context, input) {
    const { readMemory } = await import("./memories.ts")
    return { memory: await readMemory(context, input.memory_id), context, offset: input.offset }
  },
  markdown: ({ memory, context, offset }) => {
    const isFirst = offset === 0
    const head = lines(
      memoryHead(memory, context),
      `Accessed: ${count(memory.accessCount, "time")}`,
      `Updated: ${isoTime(memory.updatedAtMs)}`,
      memory.source === null ? null : `Source: ${jsonLine(memory.source)}`,
      !isFirst || Object.keys(memory.metadata).length === 0 ? null : `Metadata: ${jsonLine(memory.metadata)}`,
      `Embedding: ${memory.embeddingStatus}`,
      "",
    )
    return lines(head, contentFrom(memory.content, offset, head.length))
  },
})

export const updateMemoryTool = defineOperation({
  name: "update-memory",
  title: "Update memory",
  category: "memory",
  effect: "write",
  idempotent: true,
  inRepository: true,
  description: "Change a memory's content, tags, source or metadata; its sector stays.",
  input: z.strictObject({
    memory_id: memoryId(),
    content: content("New content").optional(),
    tags: tags("Replace all").optional(),
    source: source().optional(),
    metadata: metadata().optional(),
    repository_id: tenant(),
  }),
  async run(context, { memory_id: uuid, content, tags, source, metadata }) {
    const { changeMemory } = await import("./memories.ts")
    return changeMemory(context, uuid, { content, tags, source, metadata })
  },
  markdown: (memory) =>
    lines(
      "# Memory updated",
      "",
      `Memory id: ${memory.uuid}`,
      `Updated: ${isoTime(memory.updatedAtMs)}`,
      memory.embeddingStatus === "completed" ? null : `Embedding: ${memory.embeddingStatus}`,
    ),
})

export const reinforceMemoryTool = defineOperation({
  name: "reinforce-memory",
  title: "Reinforce memory",
  category: "memory",
  effect: "write",
  inRepository: true,
  description: "Raise a memory's salience because it proved useful; it then fades more slowly.",
  input: z.strictObject({
    memory_id: memoryId(),
    profile: profile(),
    repository_id: tenant(),
  }),
  async run(context, input) {
    const { reinforceMemory } = await import("./memories.ts")
    return { ...(await reinforceMemory(context, input.memory_id, input.profile)), used: input.profile }
  },
  markdown: ({ memory, before, after, used }) =>
    lines(
      "# Memory reinforced",
      "",
      `Memory id: ${memory.uuid}`,
      `Salience: ${shownSalience(before)} -> ${shownSalience(after)} (${used})`,
    ),
})

export const deleteMemoryTool = defineOperation({
  name: "delete-memory",
  title: "Delete memory",
  category: "memory",
  effect: "destroy",
  inRepository: true,
  description: "Delete a memory for good.",
  input: z.strictObject({ memory_id: memoryId(), repository_id: tenant() }),
  async run(context, input) {
    const { deleteMemory } = await import("./memories.ts")
    return deleteMemory(context, input.memory_id)
  },
  markdown: (memory) => lines("# Memory deleted", "", `Memory id: ${memory.uuid}`),
})
