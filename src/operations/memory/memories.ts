/** Single memories: creating, reading, changing, reinforcing and deleting them. */

import { randomUUID } from "node:crypto"
import type { Queries } from "../../db/database.ts"
import type { Memory } from "../../domain/memory/memory.ts"
import { freshSalience, reinforce, shownSalience } from "../../domain/memory/salience.ts"
import { classifySector } from "../../domain/memory/sector.ts"
import { type IndexEntry, indexEntryOf } from "../../domain/memory/words.ts"
import { AppError, assert } from "../../errors.ts"
import {
  accessMemory,
  findMemory,
  findMemoryById,
  insertMemory,
  type MemoryChange,
  putSalience,
  removeMemory,
  type StoredSize,
  updateMemory,
} from "../../store/memory/memories.ts"
import type { App } from "../app.ts"
import { embedAtOnce, forgetEmbedding, storeOrPostpone } from "../embedding/memories.ts"
import type { Input } from "../input.ts"
import type { TenantContext } from "../operation.ts"
import { inTransaction } from "../transaction.ts"
import { recordMemoryEvent } from "./events.ts"
import type { changeInput, clearingInput, createInput, reinforceInput } from "./inputs.ts"
import { type CreatedMemory, type MemoryJson, memoryJson, type ReinforcedMemory } from "./results.ts"

/** Stores a memory verbatim: at once it can be found by its words, and by its meaning when its model is ready. */
export async function createMemory(
  context: TenantContext,
  draft: Input<typeof createInput>,
): Promise<CreatedMemory> {
  const { app, repository } = context
  const sector = draft.sector ?? classifySector(draft.content).sector
  const embedded = await embedAtOnce(app, repository.id, draft.content)
  const memory = await inTransaction(context, lockOf(repository.id), async (tx, { nowMs }) => {
    const identity = { uuid: randomUUID(), repositoryId: repository.id, sector }
    const id = await putMemory(tx, app, {
      ...identity,
      content: draft.content,
      salience: freshSalience(nowMs),
      accessCount: 0,
      tags: draft.tags ?? [],
      source: draft.source ?? null,
      metadata: draft.metadata ?? {},
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
      lastAccessedAtMs: null,
    })
    await recordMemoryEvent(tx, context, "memory.created", identity, nowMs)
    await storeOrPostpone(tx, app, { ...identity, id }, embedded, nowMs)
    return requireById(tx, id)
  })
  return { ...memoryJson(context, memory), sector_inferred: draft.sector === undefined }
}

/** Stores a whole memory with its words, without a vector; returns the number of its row. */
export async function putMemory(
  tx: Queries,
  app: App,
  memory: Omit<Memory, "id" | "embeddingStatus" | "contentVersion">,
): Promise<number> {
  const entry = indexEntryOf(memory)
  const id = await insertMemory(tx, { ...memory, ...sizeOf(memory, entry) })
  await app.memories.put(tx, { id, repositoryId: memory.repositoryId, entry })
  return id
}

/** Returns a memory without counting it as an access; fails with `not_found`, also for those of other tenants. */
export async function requireMemory(
  db: Queries,
  { repository }: Pick<TenantContext, "repository">,
  uuid: string,
): Promise<Memory> {
  const memory = await findMemory(db, repository.id, uuid.toLowerCase())
  return memory ?? notFound(uuid, repository.id)
}

function notFound(uuid: string, repositoryId: number): never {
  throw new AppError("not_found", `memory ${uuid} was not found in repository ${repositoryId}`, {
    hint: "List the memories, or search for them, to see their ids.",
  })
}

/** Returns a memory without counting it as an access; fails with `not_found`. */
export async function lookAtMemory(context: TenantContext, uuid: string): Promise<MemoryJson> {
  return memoryJson(context, await requireMemory(context.app.db, context, uuid))
}

/** Returns a memory and counts that as an access, which is already in what is returned. */
export function readMemory(context: TenantContext, uuid: string): Promise<MemoryJson> {
  const { id: repositoryId } = context.repository
  return inTransaction(context, lockOf(repositoryId), async (tx, { nowMs }) => {
    const memory =
      (await accessMemory(tx, repositoryId, uuid.toLowerCase(), nowMs)) ?? notFound(uuid, repositoryId)
    await recordMemoryEvent(tx, context, "memory.accessed", memory, nowMs)
    return memoryJson(context, memory)
  })
}

type PartialChange = Input<typeof clearingInput> & Pick<Input<typeof changeInput>, "content">

/**
 * Changes what is given, and takes away what is given as null; a new content is embedded and connected anew. Nothing
 * given changes nothing.
 */
export async function changeMemory(
  context: TenantContext,
  uuid: string,
  change: PartialChange,
): Promise<MemoryJson> {
  const { app, repository } = context
  const before = await requireMemory(app.db, context, uuid)
  if (Object.values(change).every((value) => value === undefined)) return memoryJson(context, before)
  const { content } = change
  const embedded = content === undefined ? undefined : await embedAtOnce(app, repository.id, content)
  return inTransaction(context, lockOf(repository.id), async (tx, { nowMs }) => {
    const memory = await requireMemory(tx, context, uuid)
    const changed = { ...memory, ...settled(change) }
    const entry = indexEntryOf(changed)
    await app.memories.remove(tx, { ...memory, entry: indexEntryOf(memory) })
    await updateMemory(tx, memory, { ...changed, ...sizeOf(changed, entry) }, nowMs)
    await app.memories.put(tx, { ...memory, entry })
    await recordMemoryEvent(tx, context, "memory.updated", memory, nowMs)
    if (changed.content !== memory.content) {
      await forgetEmbedding(tx, app, memory)
      await storeOrPostpone(tx, app, memory, embedded, nowMs)
    }
    return memoryJson(context, await requireById(tx, memory.id))
  })
}

/** Raises a memory's salience by a profile's boost. */
export function reinforceMemory(
  context: TenantContext,
  uuid: string,
  { profile }: Input<typeof reinforceInput>,
): Promise<ReinforcedMemory> {
  const { app, repository } = context
  return inTransaction(context, lockOf(repository.id), async (tx, { nowMs }) => {
    const memory = await requireMemory(tx, context, uuid)
    const outcome = reinforce(memory.salience, memory.sector, app.config.halfLives, profile, nowMs)
    await putSalience(tx, memory.id, outcome.state)
    await recordMemoryEvent(tx, context, "memory.reinforced", memory, nowMs)
    const [before, after] = [shownSalience(outcome.before), shownSalience(outcome.after)]
    return {
      id: memory.uuid,
      old_salience: before,
      new_salience: after,
      profile_used: profile,
      boost_applied: shownSalience(after - before),
    }
  })
}

/** Deletes a memory with its words, vectors and waypoints, for good. */
export function deleteMemory(context: TenantContext, uuid: string): Promise<MemoryJson> {
  return inTransaction(context, lockOf(context.repository.id), async (tx, { nowMs }) => {
    const memory = await requireMemory(tx, context, uuid)
    await eraseMemory(tx, context.app, memory)
    await recordMemoryEvent(tx, context, "memory.deleted", memory, nowMs)
    return memoryJson(context, memory)
  })
}

/** Takes everything of a memory away. */
export async function eraseMemory(tx: Queries, app: App, memory: Memory): Promise<void> {
  await app.memories.remove(tx, { ...memory, entry: indexEntryOf(memory) })
  await forgetEmbedding(tx, app, memory)
  await removeMemory(tx, memory.id)
}

/** Names what must not change while the memories of a repository do. */
export function lockOf(repositoryId: number): string {
  return `memories:${repositoryId}`
}

async function requireById(tx: Queries, id: number): Promise<Memory> {
  const memory = await findMemoryById(tx, id)
  assert(memory !== undefined, "a memory that was just stored is there")
  return memory
}

/** Returns what a change sets, null being nothing of its kind. */
function settled({ content, tags, source, metadata }: PartialChange): Partial<MemoryChange> {
  return {
    ...(content === undefined ? {} : { content }),
    ...(tags === undefined ? {} : { tags: tags ?? [] }),
    ...(source === undefined ? {} : { source }),
    ...(metadata === undefined ? {} : { metadata: metadata ?? {} }),
  }
}

/** What the columns of fixed size of a memory, its rows of tags and their keys take up, about. */
const ROW_BYTES = 200
const TAG_ROW_BYTES = 40

/** Returns what a memory takes up in rows and in the index of words, about: each word stands there once more. */
function sizeOf({ content, tags, source, metadata }: MemoryChange, entry: IndexEntry): StoredSize {
  const texts = [content, JSON.stringify(tags), source ?? "", JSON.stringify(metadata)]
  const entryTexts = [entry.content, entry.tags].filter((text) => text !== "")
  const textBytes = [...texts, ...entryTexts].reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  const wordCount = entryTexts.reduce((sum, text) => sum + text.split(" ").length, 0)
  return { storedBytes: ROW_BYTES + textBytes + tags.length * TAG_ROW_BYTES, wordCount }
}
