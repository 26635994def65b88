/**
 * Gives back to the disk what deleted rows have left in a database file. Files that this version made give it back
 * in small steps, each a transaction of a few milliseconds; older ones need one conversion of the whole file.
 */

import { dirname } from "node:path"
import { RECLAIM_STEP_MS, RECLAIM_STEP_PAGES_MAX, RECLAIMED_BYTES_MIN } from "../config/limits.ts"
import { AppError, megabytes } from "../errors.ts"
import { databaseBytes, freeBytesAt } from "./daily-backups.ts"
import type { Queries } from "./database.ts"
import type { WayOut } from "./faults.ts"
import { requireUsable } from "./migrate.ts"
import { SCHEMA_VERSION } from "./migrations.ts"
import { openSqlite, type SqliteDatabase } from "./sqlite.ts"

const INCREMENTAL = 2
const FIRST_STEP_PAGES = 64
const STEP_PAGES_MIN = 8
/** Between two steps, so that whoever waits for the lock gets it. */
const PAUSE_MS = 4
/** After a step in whose neighbourhood others wrote: they come first. */
const OTHERS_PAUSE_MS = 250
/** Steps between two writes of the log into the file, which keep the log short. */
const STEPS_PER_CHECKPOINT = 50

/** Whether enough is unused in a file that can be made smaller in steps. */
export async function isReclaimWanted(db: Queries): Promise<boolean> {
  if ((await pragma(db, "auto_vacuum")) !== INCREMENTAL) return false
  return (await pragma(db, "freelist_count")) * (await pragma(db, "page_size")) >= RECLAIMED_BYTES_MIN
}

async function pragma(db: Queries, name: string): Promise<number> {
  const row = await db.get(`PRAGMA ${name}`)
  return Number(Object.values(row ?? {})[0] ?? 0)
}

interface ReclaimOptions {
  isStopped?: () => boolean
  /** Told of each step: its pages, and how long others could not write. */
  onStep?: (pages: number, ms: number) => void
}

/** Makes the file at `path` as small as what stands in it, a few pages at a time, giving way to all who write. */
export async function reclaim(
  path: string,
  { isStopped = () => false, onStep }: ReclaimOptions = {},
): Promise<void> {
  const database = await openSqlite(path, {
    inspect: (connection) => requireUsable(connection, path, SCHEMA_VERSION),
  })
  try {
    if ((await pragma(database, "auto_vacuum")) !== INCREMENTAL) return
    // The log is written into the file between the steps, when nobody waits for it.
    await pragma(database, "wal_autocheckpoint = 0")
    let pages = FIRST_STEP_PAGES
    let version = await pragma(database, "data_version")
    for (let steps = 1; !isStopped() && (await pragma(database, "freelist_count")) > 0; steps += 1) {
      const ms = await takeStep(database, pages)
      onStep?.(pages, ms)
      pages = nextPages(pages, ms)
      if (steps % STEPS_PER_CHECKPOINT === 0) await pragma(database, "wal_checkpoint(PASSIVE)")
      const before = version
      version = await pragma(database, "data_version")
      await pause(version === before ? PAUSE_MS : OTHERS_PAUSE_MS)
    }
    await pragma(database, "wal_checkpoint(PASSIVE)")
  } finally {
    await database.close()
  }
}

const EMPTYING_TRIES_MAX = 50

/** Writes the log into the file and leaves nothing in it, unless others read or write all the time. */
export async function emptyLog(db: Queries): Promise<void> {
  // The first figure says whether others were in the way.
  for (let tries = 1; (await pragma(db, "wal_checkpoint(TRUNCATE)")) !== 0; tries += 1) {
    if (tries === EMPTYING_TRIES_MAX) return
    await pause(PAUSE_MS)
  }
}

function takeStep(database: SqliteDatabase, pages: number): Promise<number> {
  return database.exclusively((connection) => {
    const startedMs = performance.now()
    // As a statement of its own it would free one page.
    connection.exec(`PRAGMA incremental_vacuum(${pages})`)
    return performance.now() - startedMs
  })
}

/** Returns how many pages the next step takes, by how long the last one took. */
export function nextPages(pages: number, ms: number): number {
  if (ms > RECLAIM_STEP_MS) return Math.max(STEP_PAGES_MIN, Math.floor(pages / 2))
  return ms < RECLAIM_STEP_MS / 3 ? Math.min(RECLAIM_STEP_PAGES_MAX, pages * 2) : pages
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** What a conversion of the whole file made of it. */
interface Shrunk {
  bytesBefore: number
  bytesAfter: number
}

/**
 * Writes the whole file at `path` anew, as small as it can be, so that from then on it gives back by itself what is
 * deleted. Nobody else can write meanwhile. Fails with `unavailable`, and changes nothing, where the disk has no
 * room for two more copies.
 */
export async function shrinkWhole(
  path: string,
  { wayOut, freeAt = freeBytesAt }: { wayOut: WayOut; freeAt?: (folder: string) => number },
): Promise<Shrunk> {
  const bytesBefore = databaseBytes(path)
  const folder = dirname(path)
  const [needed, free] = [2 * bytesBefore, freeAt(folder)]
  if (free < needed)
    throw new AppError(
      "unavailable",
      `${path} cannot be made smaller: ${folder} has ${megabytes(free)} of free space, ${megabytes(needed)} are needed for a moment`,
      { hint: "Free some space on that disk, then try again." },
    )
  // What is written on the way is as private as the database, and its folder has the room for it.
  process.env.SQLITE_TMPDIR = folder
  const database = await openSqlite(path, {
    wayOut,
    inspect: (connection) => requireUsable(connection, path, SCHEMA_VERSION, wayOut),
  })
  try {
    await database.exclusively((connection) => {
      connection.pragma("auto_vacuum = INCREMENTAL")
      connection.exec("VACUUM")
      connection.pragma("wal_checkpoint(TRUNCATE)")
    })
  } finally {
    await database.close()
  }
  return { bytesBefore, bytesAfter: databaseBytes(path) }
}
