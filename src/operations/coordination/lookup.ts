/** Finding reservations by what they are about: a part of their pattern, or a path that they match. */

import { isAbsolute } from "node:path"
import { LISTING_ROWS_MAX } from "../../config/limits.ts"
import type { Queries } from "../../db/database.ts"
import type { Reservation } from "../../domain/coordination/reservation.ts"
import { compilePattern, GlobError, normalizePattern } from "../../domain/glob/glob.ts"
import { escapePath, literalPath } from "../../domain/glob/literal.ts"
import { matches, plainPath } from "../../domain/glob/matching.ts"
import type { Repository } from "../../domain/project.ts"
import { AppError } from "../../errors.ts"
import {
  countReservations,
  listReservations,
  listReservationsAround,
} from "../../store/coordination/reservations.ts"
import { findRepositoryById } from "../../store/repositories.ts"
import { resolvePattern } from "./patterns.ts"

/** Which reservations of a project are looked for. */
interface Wanted {
  projectId: number
  repositoryId: number | undefined
  agentId: number | undefined
  /** What patterns contain, in any case, or match as a path: relative to the root of their repository, or absolute. */
  text: string | undefined
}

/** Returns the reservations that hold now and are wanted, oldest first, at most 1,000, and how many there are. */
export async function findReservations(
  db: Queries,
  { text, ...filter }: Wanted,
  nowMs: number,
): Promise<{ reservations: Reservation[]; total: number }> {
  if (text === undefined) {
    const reservations = await listReservations(db, filter, nowMs, LISTING_ROWS_MAX)
    const isAll = reservations.length < LISTING_ROWS_MAX
    return { reservations, total: isAll ? reservations.length : await countReservations(db, filter, nowMs) }
  }
  const around = isAbsolute(text)
    ? await listReservations(db, filter, nowMs, Number.MAX_SAFE_INTEGER)
    : await listReservationsAround(db, filter, { text, path: relativePath(text) ?? text }, nowMs)
  const places = new Map<number, Place | undefined>()
  const found: Reservation[] = []
  for (const reservation of around) {
    const { repositoryId, pathPattern } = reservation
    if (!places.has(repositoryId)) places.set(repositoryId, await placeIn(db, repositoryId, text))
    if (contains(pathPattern, text) || isMatched(pathPattern, places.get(repositoryId)))
      found.push(reservation)
  }
  return { reservations: found.slice(0, LISTING_ROWS_MAX), total: found.length }
}

function contains(pathPattern: string, text: string): boolean {
  return pathPattern.toLowerCase().includes(text.toLowerCase())
}

/** A path from the root of a repository. */
interface Place {
  path: string
  ignoreCase: boolean
}

function isMatched(pathPattern: string, place: Place | undefined): boolean {
  if (place === undefined) return false
  const { path, ignoreCase } = place
  return matches(compilePattern(pathPattern, { ignoreCase }), plainPath(path, ignoreCase))
}

/** Returns the path that a text is in a repository; undefined where it can be none. */
async function placeIn(db: Queries, repositoryId: number, text: string): Promise<Place | undefined> {
  const repository = await findRepositoryById(db, repositoryId)
  if (repository === undefined) return undefined
  const path = isAbsolute(text) ? await pathFromRoot(repository, text) : relativePath(text)
  return path === undefined ? undefined : { path, ignoreCase: repository.ignoreCase }
}

async function pathFromRoot(repository: Repository, path: string): Promise<string | undefined> {
  try {
    return literalPath(await resolvePattern(repository, path, "path_pattern")) ?? undefined
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

function relativePath(text: string): string | undefined {
  try {
    return literalPath(normalizePattern(escapePath(text))) ?? undefined
  } catch (error) {
    if (error instanceof GlobError) return undefined
    throw error
  }
}
