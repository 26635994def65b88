/** What is wrong with a database file or its disk, in words: SQLite's own say neither which file it is nor what to do. */

import { closeSync, fstatSync, openSync, readFileSync, readSync, statSync } from "node:fs"
import BetterSqlite3 from "better-sqlite3"
import { AppError, fileProblem, megabytes } from "../errors.ts"

/** Says how a damaged file is replaced, as a sentence; asked only when one is found. */
export type WayOut = () => string

const ASK_FOR_BACKUP = "Ask your user to bring back a backup of it."

/** The file is not what it should be: no database at all, or a damaged one. */
export class DamagedDatabase extends AppError {}

/** Returns the error for a file that is damaged; `why` says what is wrong. */
export function damaged(path: string, why: string, wayOut: WayOut = () => ASK_FOR_BACKUP): DamagedDatabase {
  return new DamagedDatabase("unavailable", `the database ${path} is damaged: ${why}`, { hint: wayOut() })
}

/**
 * Fails for a file of one byte, which SQLite takes for an empty one and would overwrite: on some systems it writes
 * that byte itself, an `S`.
 */
export function requireMoreThanByte(path: string, wayOut?: WayOut): void {
  if (statSync(path, { throwIfNoEntry: false })?.size !== 1 || readFileSync(path, "latin1") === "S") return
  throw noDatabase(path, wayOut)
}

function noDatabase(path: string, wayOut: WayOut = () => ASK_FOR_BACKUP, cause?: Error): DamagedDatabase {
  return new DamagedDatabase("unavailable", `${path} is no database`, { hint: wayOut(), cause })
}

/** What no code of ours causes, by the beginning of SQLite's code, and what helps. */
const PROBLEMS: readonly (readonly [code: string, problem: string, hint: string])[] = [
  ["SQLITE_FULL", "cannot be written: its disk is full", "Free some space there, then try again."],
  [
    "SQLITE_READONLY",
    "cannot be written: the file, its folder or its disk is read-only",
    "Check their permissions, or name another file with SIGNALBOX_DB.",
  ],
  [
    "SQLITE_IOERR",
    "cannot be read or written: its disk refused it",
    "Check the disk and the free space there, then try again.",
  ],
  [
    "SQLITE_CANTOPEN",
    "cannot be opened: it is no file, or not yours to open",
    "Check the permissions of the file and its folder, or name another file with SIGNALBOX_DB.",
  ],
]

/** Returns an error of the file or its disk as `unavailable`, and undefined for every other. */
export function faultOf(error: unknown, path: string, wayOut?: WayOut): AppError | undefined {
  if (!(error instanceof BetterSqlite3.SqliteError)) return fileProblem(error, path)
  if (/^SQLITE_(?:CORRUPT|NOTADB)/.test(error.code)) return damageOf(error, path, wayOut)
  const found = PROBLEMS.find(([code]) => error.code.startsWith(code))
  if (found === undefined) return undefined
  const [, problem, hint] = found
  return new AppError("unavailable", `the database ${path} ${problem}`, { hint, cause: error })
}

function damageOf(
  cause: InstanceType<typeof BetterSqlite3.SqliteError>,
  path: string,
  wayOut: WayOut = () => ASK_FOR_BACKUP,
): AppError {
  const head = headOf(path)
  if (head !== undefined && !head.isDatabase) return noDatabase(path, wayOut, cause)
  const why = cause.code.startsWith("SQLITE_NOTADB") ? "its header cannot be read" : whatIsMissing(head)
  return damaged(path, why ?? "what it holds cannot be read", wayOut)
}

function whatIsMissing(head: Head | undefined): string | undefined {
  if (head === undefined || head.pageBytes === 0) return undefined
  const wholeBytes = head.pages * head.pageBytes
  if (head.bytes >= wholeBytes) return undefined
  return `it was cut short, ${megabytes(head.bytes)} of ${megabytes(wholeBytes)} are left`
}

interface Head {
  isDatabase: boolean
  /** Of the file as it is now. */
  bytes: number
  /** A page's size, and how many there are: as the file says, which may be wrong. */
  pageBytes: number
  pages: number
}

const HEAD_BYTES = 100
const MAGIC = "SQLite format 3\0"

/** Reads what a file says of itself in its first bytes (https://www.sqlite.org/fileformat2.html#the_database_header). */
function headOf(path: string): Head | undefined {
  let file: number | undefined
  try {
    file = openSync(path, "r")
    const head = Buffer.alloc(HEAD_BYTES)
    readSync(file, head, 0, HEAD_BYTES, 0)
    const size = head.readUInt16BE(16)
    return {
      isDatabase: head.toString("latin1", 0, MAGIC.length) === MAGIC,
      bytes: fstatSync(file).size,
      // 65,536 does not fit into two bytes, and stands there as 1.
      pageBytes: size === 1 ? 65_536 : size,
      pages: head.readUInt32BE(28),
    }
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
