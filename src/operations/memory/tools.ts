/**
 * The tools on single memories: create, get, update, reinforce, delete. What a call needs is loaded by the first
 * call: most server processes are started for other tools, or only to list them.
 */

import * as z from "zod"
import { MEMORY_CONTENT_CHARS_MAX } from "../../config/limits.ts"
import { repositoryId } from "../fields.ts"
import { count, lines } from "../markdown.ts"
import { defineOperation } from "../operation.ts"
import { memoryIdText, memoryNamed } from "./ids.ts"
import { changeInput, content, createInput, reinforceInput, tags } from "./inputs.ts"
import { contentFrom, jsonLine, memoryHead, shownWeight } from "./markdown.ts"
import type { MemoryJson } from "./results.ts"

/** The repository of every tool on memories. */
export const tenant = repositoryId("Repository id; default: the one around the server").optional()

export const createMemoryTool = defineOperation({
  name: "create-memory",
  title: "Create memory",
  category: "memory",
  effect: "write",
  inRepository: true,
  description:
    "Remember a decision, fact, procedure, event, feeling or lesson of this repository, verbatim, for later sessions.",
  input: z.strictObject({ ...createInput, repository_id: tenant }),
  async run(context, input) {
    const { createMemory } = await import("./memories.ts")
    const { listAlike } = await import("./listing.ts")
    const memory = await createMemory(context, input)
    return { memory, alike: await listAlike(context, memory.id) }
  },
  markdown: ({ memory, alike }) =>
    lines(
      "# Memory created",
      "",
      `Memory id: ${memory.id}`,
      `Sector: ${memory.sector}${memory.sector_inferred ? " (inferred)" : ""}`,
      pendingText(memory),
      ...alike.map(({ weight, memory: { id } }) => `Much like: ${id} (${shownWeight(weight)})`),
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
    memory_id: memoryIdText,
    offset: z.int().min(0).max(MEMORY_CONTENT_CHARS_MAX).default(0).describe("First character to show"),
    repository_id: tenant,
  }),
  async run(context, input) {
    const { readMemory } = await import("./memories.ts")
    return {
      memory: await readMemory(context, await memoryNamed(context, input.memory_id)),
      offset: input.offset,
    }
  },
  markdown: ({ memory, offset }) => {
    const isFirst = offset === 0
    const head = lines(
      memoryHead(memory),
      `Accessed: ${count(memory.access_count, "time")}`,
      `Updated: ${memory.updated_at}`,
      memory.source === null ? null : `Source: ${jsonLine(memory.source)}`,
      !isFirst || Object.keys(memory.metadata).length === 0 ? null : `Metadata: ${jsonLine(memory.metadata)}`,
      `Embedding: ${memory.embedding_status}`,
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
    memory_id: memoryIdText,
    ...changeInput,
    content: content.describe("New content").optional(),
    tags: tags.describe("Replace all").optional(),
    repository_id: tenant,
  }),
  async run(context, { memory_id: id, repository_id: _, ...change }) {
    const { changeMemory } = await import("./memories.ts")
    return changeMemory(context, await memoryNamed(context, id), change)
  },
  markdown: (memory) =>
    lines(
      "# Memory updated",
      "",
      `Memory id: ${memory.id}`,
      `Updated: ${memory.updated_at}`,
      pendingText(memory),
    ),
})

function pendingText({ embedding_status: status }: MemoryJson): string | null {
  return status === "completed" ? null : `Embedding: ${status}`
}

export const reinforceMemoryTool = defineOperation({
  name: "reinforce-memory",
  title: "Reinforce memory",
  category: "memory",
  effect: "write",
  inRepository: true,
  description: "Raise a memory's salience because it proved useful; it then fades more slowly.",
  input: z.strictObject({
    memory_id: memoryIdText,
    ...reinforceInput,
    repository_id: tenant,
  }),
  async run(context, input) {
    const { reinforceMemory } = await import("./memories.ts")
    return reinforceMemory(context, await memoryNamed(context, input.memory_id), input)
  },
  markdown: ({ id, old_salience: before, new_salience: after, profile_used: used }) =>
    lines("# Memory reinforced", "", `Memory id: ${id}`, `Salience: ${before} -> ${after} (${used})`),
})

export const deleteMemoryTool = defineOperation({
  name: "delete-memory",
  title: "Delete memory",
  category: "memory",
  effect: "destroy",
  inRepository: true,
  description: "Delete a memory for good.",
  input: z.strictObject({ memory_id: memoryIdText, repository_id: tenant }),
  async run(context, input) {
    const { deleteMemory } = await import("./memories.ts")
    const { heldByBackups } = await import("../backups.ts")
    const id = await memoryNamed(context, input.memory_id)
    return { memory: await deleteMemory(context, id), held: heldByBackups(context.app) }
  },
  markdown: ({ memory, held }) => lines("# Memory deleted", "", `Memory id: ${memory.id}`, held),
})
