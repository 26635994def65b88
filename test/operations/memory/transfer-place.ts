import type { Memory } from "../../../src/domain/memory/memory.ts"
import { connectFolder } from "../../../src/operations/connect.ts"
import { localKey } from "../../../src/operations/keys.ts"
import type { MemoryRecord } from "../../../src/operations/memory/lines.ts"
import {
  changeMemory,
  createMemory,
  readMemory,
  reinforceMemory,
} from "../../../src/operations/memory/memories.ts"
import {
  exportMemories,
  type ImportOptions,
  type ImportOutcome,
  importMemories,
} from "../../../src/operations/memory/transfer.ts"
import type { TenantContext } from "../../../src/operations/operation.ts"
import { listOlder } from "../../../src/store/memory/memories.ts"
import { type World, world } from "../../support/world.ts"

export const DAY_MS = 86_400_000

/** A repository whose memories are imported and exported; the time of each call is the world's. */
export interface Place {
  made: World
  context(): TenantContext
}

export async function place(made = world()): Promise<Place> {
  const { app, caller } = await made.session()
  const key = await localKey(app)
  const repository = caller.homeRepository
  if (repository === undefined) throw new Error("the world has a repository")
  return { made, context: () => ({ app, caller, key, nowMs: made.nowMs, repository }) }
}

/** Another repository of the same database. */
export async function beside({ made, context }: Place): Promise<Place> {
  const { app, caller, key } = context()
  const repository = await connectFolder(app.db, made.folder, made.nowMs)
  return { made, context: () => ({ app, caller, key, nowMs: made.nowMs, repository }) }
}

export async function exported(
  { context }: Place,
  filter: Parameters<typeof exportMemories>[1] = {},
): Promise<string> {
  let text = ""
  for await (const page of exportMemories(context(), filter)) text += page.text
  return text
}

export async function* chunked(content: string | Uint8Array, bytes = 64 * 1024): AsyncGenerator<Uint8Array> {
  const all = Buffer.from(content)
  for (let from = 0; from < all.length; from += bytes) yield all.subarray(from, from + bytes)
}

export function imported(
  { context }: Place,
  content: string | Uint8Array,
  options: Partial<ImportOptions> = {},
): Promise<ImportOutcome> {
  return importMemories(context(), chunked(content), { replaces: false, dryRun: false, ...options })
}

/** All memories of a place as they are stored, the newest first. */
export async function all({ context }: Place): Promise<Memory[]> {
  const { app, repository } = context()
  const filter = { repositoryId: repository.id, sector: null, tag: null }
  const ends = { createdAtMs: Number.MAX_SAFE_INTEGER, id: Number.MAX_SAFE_INTEGER }
  return listOlder(app.db, filter, ends, 100)
}

/** Fills a place with memories of every kind, with a past. */
export async function filled(where: Place): Promise<Memory[]> {
  const { made, context } = where
  await createMemory(context(), { content: "We chose PostgreSQL because of its row level security." })
  const { id } = await createMemory(context(), {
    content: "Decision: Postgres as the database,\r\nfor row security policies. \u2028 é 😀 \u0007",
    sector: "reflective",
    tags: ["db", "ünï code", "db"],
    source: "",
    metadata: { b: [1, { a: null }], a: 1e21, "": "x" },
  })
  made.advance(3 * DAY_MS + 1)
  await reinforceMemory(context(), id, { profile: "deep_learning" })
  await readMemory(context(), id)
  made.advance(1_234)
  await changeMemory(context(), id, { source: "adr-7" })
  await createMemory(context(), {
    content: "Images are resized in a queue.",
    sector: "emotional",
    tags: ["db"],
  })
  made.advance(DAY_MS)
  return all(where)
}

/** A memory without what belongs to its database alone. */
export function record({
  id: _,
  repositoryId: __,
  contentVersion: ___,
  embeddingStatus: ____,
  ...rest
}: Memory) {
  return rest satisfies MemoryRecord
}

export function lineOf(change: Record<string, unknown> = {}): string {
  const line = {
    id: "3d4f8d3c-6c5b-4d3e-9b1a-0123456789ab",
    content: "one",
    sector: "semantic",
    salience: { base: 1, anchor: "2026-01-01T00:00:00.000Z", stability: 1 },
    access_count: 0,
    tags: [],
    source: null,
    metadata: {},
    created_at: "2026-01-01T00:00:00.000Z",
    updated_at: "2026-01-01T00:00:00.000Z",
    last_accessed_at: null,
    ...change,
  }
  return `${JSON.stringify(line)}\n`
}

export const uuidOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`
