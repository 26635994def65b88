/**
 * Copies of the database file, made and put back while other processes may be using it. A copy is one
 * consistent state, whatever is written meanwhile, and stands in one file without a log beside it.
 */

import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs"
import { basename, dirname, join } from "node:path"
import BetterSqlite3 from "better-sqlite3"
import { BACKUP_BUSY_TIMEOUT_MS } from "../config/limits.ts"
import { AppError } from "../errors.ts"
import { newestEventIdIn, raiseEventFloor } from "./event-floor.ts"
import { faultOf, requireMoreThanByte, type WayOut } from "./faults.ts"
import { requireUsable, upgradeCopy } from "./migrate.ts"
import { MIGRATIONS } from "./migrations.ts"

/** What SQLite keeps beside a database: its log, and the index of the log. */
const SIDE_FILES = ["-wal", "-shm"] as const

/** A copy that was checked. */
interface CheckedCopy {
  schemaVersion: number
}

/**
 * Copies the database at `path` to `target`, mode 0600, once it is found to be whole. `target` appears whole
 * or not at all. `hint` says what to do when `path` cannot be copied. Fails with `refused` when it exists and may not be replaced, with `unavailable` when `path` is no
 * database of ours that this version knows, or is damaged.
 */
export function backUp(
  path: string,
  target: string,
  terms: { replaces: boolean; knownVersion: number; hint: string },
): CheckedCopy {
  if (!terms.replaces && existsSync(target)) {
    throw new AppError("refused", `${target} exists`, {
      hint: "Name another file, or replace it with --force.",
    })
  }
  return withPart(target, (part) => {
    const copy = copyChecked(path, part, terms)
    renameSync(part, target)
    return copy
  })
}

/**
 * Puts a checked copy of `source` in the place of the database at `path`, brought to this version's schema, and keeps
 * what was there at `kept`. Events go on under ids above all that either has given; while others still write to what
 * is replaced, which nobody can tell, far above. Fails as `backUp` does and changes nothing then.
 */
export function restore(
  source: string,
  path: string,
  terms: { kept: string; knownVersion: number; hint: string; nowMs: number; isInUse: boolean },
): CheckedCopy {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // A link to the database stays one.
  const place = existsSync(path) ? realpathSync(path) : path
  return withPart(place, (part) => {
    const copy = copyChecked(source, part, terms)
    writeInto(part, source, terms, (connection) => upgradeCopy(connection, MIGRATIONS))
    const isKeptWhole = existsSync(place) && keep(place, terms.kept)
    const given = isKeptWhole && !terms.isInUse ? newestGiven(terms.kept) : undefined
    writeInto(part, source, terms, (connection) => raiseEventFloor(connection, { given, ...terms }))
    // A log of the old file beside the new one would be taken for the new one's.
    for (const side of SIDE_FILES) rmSync(`${place}${side}`, { force: true })
    renameSync(part, place)
    return copy
  })
}

/** Changes a copy before it is put anywhere. */
function writeInto(
  part: string,
  source: string,
  { hint }: { hint: string },
  work: (connection: BetterSqlite3.Database) => void,
): void {
  const connection = open(part, { readonly: false })
  try {
    connection.pragma("secure_delete = ON")
    work(connection)
  } catch (error) {
    const why = `${source} cannot be brought to this version: ${(error as Error).message}`
    throw faultOf(error, part) ?? new AppError("unavailable", why, { hint, cause: error })
  } finally {
    connection.close()
  }
  flush(part)
}

/** Returns the highest id that a kept database has given to events; undefined where it cannot be told. */
function newestGiven(kept: string): number | undefined {
  try {
    const connection = open(kept, { readonly: true })
    try {
      return newestEventIdIn(connection)
    } finally {
      connection.close()
    }
  } catch {
    return undefined
  }
}

/** Returns the schema version of the database at `path` without changing it, or what is wrong with the file. */
export function lookInto(path: string, wayOut: WayOut): { schemaVersion: number } | { fault: AppError } {
  try {
    requireMoreThanByte(path, wayOut)
    const connection = open(path, { readonly: true })
    try {
      requireUsable(connection, path, Number.MAX_SAFE_INTEGER, wayOut)
      return { schemaVersion: versionIn(connection) }
    } finally {
      connection.close()
    }
  } catch (error) {
    const fault = error instanceof AppError ? error : faultOf(error, path, wayOut)
    if (fault === undefined) throw error
    return { fault }
  }
}

function versionIn(connection: BetterSqlite3.Database): number {
  return connection.pragma("user_version", { simple: true }) as number
}

/** Copies one consistent state of a database into an empty file, after checking that it is whole and ours. */
function copyChecked(
  source: string,
  target: string,
  { knownVersion, hint }: { knownVersion: number; hint: string },
): CheckedCopy {
  const unusable = (why: string) => new AppError("unavailable", `${source} ${why}`, { hint })
  const connection = open(source, { readonly: true })
  try {
    requireUsable(connection, source, knownVersion)
    const schemaVersion = versionIn(connection)
    if (schemaVersion === 0) throw unusable("is empty")
    const [verdict] = connection.pragma("integrity_check(1)") as { integrity_check: string }[]
    if (verdict?.integrity_check !== "ok") throw unusable(`is damaged: ${verdict?.integrity_check}`)
    connection.prepare("VACUUM INTO ?").run(target)
    flush(target)
    return { schemaVersion }
  } catch (error) {
    const isUnreadable =
      error instanceof BetterSqlite3.SqliteError && /^SQLITE_(?:NOTADB|CORRUPT|ERROR)/.test(error.code)
    if (isUnreadable) throw unusable(`cannot be read as a database: ${error.message}`)
    throw faultOf(error, target) ?? error
  } finally {
    connection.close()
  }
}

function open(path: string, { readonly }: { readonly: boolean }): BetterSqlite3.Database {
  if (!existsSync(path))
    throw new AppError("not_found", `there is no file ${path}`, { hint: "Check the path." })
  try {
    return new BetterSqlite3(path, { readonly, fileMustExist: true, timeout: BACKUP_BUSY_TIMEOUT_MS })
  } catch (error) {
    throw new AppError("unavailable", `${path} cannot be opened: ${(error as Error).message}`, {
      hint: "Name a file that you may read.",
    })
  }
}

/**
 * Keeps the database at `path` as one file, or, when SQLite cannot read it, its files as they are; all or nothing.
 * Returns whether it could be read.
 */
function keep(path: string, kept: string): boolean {
  createEmpty(kept)
  try {
    return copyAsItIs(path, kept)
  } catch (error) {
    for (const part of ["", "-wal"]) rmSync(`${kept}${part}`, { force: true })
    throw error
  }
}

function copyAsItIs(path: string, kept: string): boolean {
  try {
    // The connection that closes last puts the log into the file.
    const connection = open(path, { readonly: false })
    try {
      connection.prepare("VACUUM INTO ?").run(kept)
    } finally {
      connection.close()
    }
    return true
  } catch {
    // A database that SQLite cannot read is what a backup is restored for.
    for (const part of ["", "-wal"])
      if (existsSync(`${path}${part}`)) copyFileSync(`${path}${part}`, `${kept}${part}`)
    return false
  }
}

/** What a process that was killed has left is known by this: one that is at work writes all the time. */
const LEFT_AFTER_MS = 3_600_000

/** Runs `work` with an empty file beside `target`, which is gone afterwards unless `work` has moved it. */
function withPart<T>(target: string, work: (part: string) => T): T {
  // Two processes that write to one target must not meet in one file.
  const part = `${target}.${process.pid}.part`
  try {
    rmSync(part, { force: true })
    createEmpty(part)
    removeLeftParts(target, part)
    return work(part)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error
    throw new AppError("unavailable", `${target} cannot be written: ${(error as Error).message}`, {
      hint: "Check the path, its permissions and the free space.",
    })
  } finally {
    rmSync(part, { force: true })
  }
}

function removeLeftParts(target: string, own: string): void {
  const nowMs = statSync(own).mtimeMs
  const folder = dirname(target)
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(`${basename(target)}.`) || !/\.\d+\.part(?:-journal)?$/.test(name)) continue
    const path = join(folder, name)
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats !== undefined && nowMs - stats.mtimeMs > LEFT_AFTER_MS) rmSync(path, { force: true })
  }
}

/** SQLite writes into an empty file, which is made here because all of the mail will be in it. */
function createEmpty(path: string): void {
  closeSync(openSync(path, "wx", 0o600))
}

function flush(path: string): void {
  const file = openSync(path, "r+")
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
