/** Listing memories page by page, and the waypoints of one. */

import { createHash } from "node:crypto"
import { ALIKE_MEMORIES_SHOWN_MAX } from "../../config/limits.ts"
import type { Memory } from "../../domain/memory/memory.ts"
import { invalid } from "../../errors.ts"
import { listNewer, listOlder, type PageFilter, type Place } from "../../store/memory/memories.ts"
import { countWaypointsFrom, listWaypoints } from "../../store/memory/waypoints.ts"
import { activeModel } from "../embedding/memories.ts"
import type { Input } from "../input.ts"
import type { TenantContext } from "../operation.ts"
import type { listInput, waypointsInput } from "./inputs.ts"
import { requireMemory } from "./memories.ts"
import { type MemoryJson, type MemoryPage, memoryJson } from "./results.ts"

/** Above every memory there can be. */
const FIRST_PAGE = { createdAtMs: Number.MAX_SAFE_INTEGER, id: Number.MAX_SAFE_INTEGER, isBackward: false }

/**
 * Returns one page of memories, the newest first. A cursor marks a place between two memories, so pages
 * neither repeat nor miss one that was there from the beginning, whatever is written meanwhile. Fails with
 * `invalid` for a cursor that was not made by an earlier page of the same listing.
 */
export async function listMemories(
  context: TenantContext,
  request: Input<typeof listInput>,
): Promise<MemoryPage> {
  const { db } = context.app
  const { limit, cursor, sector = null, tag = null } = request
  const filter: PageFilter = { repositoryId: context.repository.id, sector, tag }
  const from = cursor === undefined ? FIRST_PAGE : readCursor(cursor, filter)
  const found = from.isBackward
    ? await listNewer(db, filter, from, limit + 1)
    : await listOlder(db, filter, from, limit + 1)
  const hasMore = found.length > limit
  const kept = found.slice(0, limit)
  const memories = from.isBackward ? kept.reverse() : kept
  // A page may have become empty since its cursor was made. The way back begins with the memory at its place.
  const first = placeOf(memories[0]) ?? { ...from, id: from.id - 1 }
  const last = placeOf(memories.at(-1)) ?? { ...from, id: from.id + 1 }
  const hasOlder = from.isBackward ? (await listOlder(db, filter, last, 1)).length > 0 : hasMore
  const hasNewer = from.isBackward ? hasMore : (await listNewer(db, filter, first, 1)).length > 0
  return {
    data: memories.map((memory) => memoryJson(context, memory)),
    meta: {
      next_cursor: hasOlder ? writeCursor(last, false, filter) : null,
      prev_cursor: hasNewer && cursor !== undefined ? writeCursor(first, true, filter) : null,
      has_more: hasOlder,
    },
  }
}

function placeOf(memory: Memory | undefined): Place | undefined {
  return memory && { createdAtMs: memory.createdAtMs, id: memory.id }
}

const CURSOR = /^([on])([0-9a-z]+)\.([0-9a-z]+)\.([0-9a-f]{16})$/

/** A cursor is opaque: direction, place, and a digest of both with the listing it belongs to, in base64url. */
function writeCursor({ createdAtMs, id }: Place, isBackward: boolean, filter: PageFilter): string {
  const place = `${isBackward ? "n" : "o"}${createdAtMs.toString(36)}.${id.toString(36)}`
  return Buffer.from(`${place}.${digestOf(place, filter)}`).toString("base64url")
}

function readCursor(cursor: string, filter: PageFilter): Place & { isBackward: boolean } {
  const text = Buffer.from(cursor, "base64url").toString("latin1")
  const [, direction = "", createdAt = "", id = "", digest] = CURSOR.exec(text) ?? []
  const isOurs = Buffer.from(text, "latin1").toString("base64url") === cursor
  if (!isOurs || digest !== digestOf(`${direction}${createdAt}.${id}`, filter)) {
    throw invalid(
      "cursor",
      "must be the next_cursor or prev_cursor of an earlier page with the same filters",
      "Leave it out to begin with the first page.",
    )
  }
  return {
    createdAtMs: Number.parseInt(createdAt, 36),
    id: Number.parseInt(id, 36),
    isBackward: direction === "n",
  }
}

function digestOf(place: string, { repositoryId, sector, tag }: PageFilter): string {
  return createHash("sha256")
    .update(JSON.stringify(["memories", place, repositoryId, sector, tag]))
    .digest("hex")
    .slice(0, 16)
}

interface MemoryWaypoints {
  waypoints: { weight: number; memory: MemoryJson }[]
  /** Of that weight, before the limit. */
  total: number
}

/** Returns what a memory is connected with, the strongest first. */
export async function listMemoryWaypoints(
  context: TenantContext,
  uuid: string,
  { limit, min_weight: weightMin }: Input<typeof waypointsInput>,
): Promise<MemoryWaypoints> {
  const { db } = context.app
  const { id } = await requireMemory(db, context, uuid)
  const model = await activeModel(db)
  const found = await listWaypoints(db, id, model.id, weightMin, limit)
  return {
    waypoints: found.map(({ weight, memory }) => ({ weight, memory: memoryJson(context, memory) })),
    total: await countWaypointsFrom(db, id, model.id, weightMin),
  }
}

/** From this weight on, a memory says much the same as another. */
const ALIKE_WEIGHT_MIN = 0.9

/** Returns the memories that say much the same as one, the likest first. */
export async function listAlike(context: TenantContext, uuid: string): Promise<MemoryWaypoints["waypoints"]> {
  const asked = { limit: ALIKE_MEMORIES_SHOWN_MAX, min_weight: ALIKE_WEIGHT_MIN }
  return (await listMemoryWaypoints(context, uuid, asked)).waypoints
}
