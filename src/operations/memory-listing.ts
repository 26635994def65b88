/** Listing memories page by page, and the waypoints of one. */

import { createHash } from "node:crypto"
import type { Memory, Sector } from "../domain/memory.ts"
import { invalid } from "../errors.ts"
import { listNewer, listOlder, type PageFilter, type Place } from "../store/memories.ts"
import { countWaypointsFrom, listWaypoints, type Waypoint } from "../store/waypoints.ts"
import { activeModel } from "./embedding.ts"
import { requireMemory } from "./memories.ts"
import type { TenantContext } from "./operation.ts"

export interface PageRequest {
  limit: number
  cursor?: string | undefined
  sector?: Sector | undefined
  tag?: string | undefined
}

export interface MemoryPage {
  memories: Memory[]
  /** Where the next, older page begins; null on the last page. */
  nextCursor: string | null
  /** Where the page before begins; null on the first page. */
  prevCursor: string | null
}

/** Above every memory there can be. */
const FIRST_PAGE = { createdAtMs: Number.MAX_SAFE_INTEGER, id: Number.MAX_SAFE_INTEGER, isBackward: false }

/**
 * Returns one page of memories, the newest first. A cursor marks a place between two memories, so pages
 * neither repeat nor miss one that was there from the beginning, whatever is written meanwhile. Fails with
 * `invalid` for a cursor that was not made by an earlier page of the same listing.
 */
export async function listMemories(context: TenantContext, request: PageRequest): Promise<MemoryPage> {
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
    memories,
    nextCursor: hasOlder ? writeCursor(last, false, filter) : null,
    prevCursor: hasNewer && cursor !== undefined ? writeCursor(first, true, filter) : null,
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

export interface WaypointRequest {
  limit: number
  weightMin: number
}

/** Returns what a memory is connected with, the strongest first, and how many connections of that weight it has. */
export async function listMemoryWaypoints(
  context: TenantContext,
  uuid: string,
  request: WaypointRequest,
): Promise<{ waypoints: Waypoint[]; total: number }> {
  return listWaypointsOf(context, await requireMemory(context.app.db, context, uuid), request)
}

/** Returns the same of a memory that is at hand. */
export async function listWaypointsOf(
  { app: { db } }: TenantContext,
  { id }: Pick<Memory, "id">,
  { limit, weightMin }: WaypointRequest,
): Promise<{ waypoints: Waypoint[]; total: number }> {
  const model = await activeModel(db)
  return {
    waypoints: await listWaypoints(db, id, model.id, weightMin, limit),
    total: await countWaypointsFrom(db, id, model.id, weightMin),
  }
}
