/**
 * The folder of daily backups beside a database: copies named after the time when they were begun, the newest
 * kept. What time it is, others say.
 */

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { basename, dirname, join } from "node:path"
import {
  DAILY_BACKUP_AFTER_MS,
  DAILY_BACKUP_RETRY_MS,
  DAILY_BACKUPS_KEPT,
  DISK_RESERVE_BYTES,
} from "../config/limits.ts"
import { AppError, megabytes } from "../errors.ts"
import { backUp } from "./backup.ts"
import { faultOf } from "./faults.ts"
import { SCHEMA_VERSION } from "./migrations.ts"
import { openProcessLock } from "./process-lock.ts"

export interface DailyBackup {
  path: string
  /** When it was begun, in ms since 1970. */
  atMs: number
  bytes: number
}

/** One that was made just now. */
interface MadeBackup extends DailyBackup {
  schemaVersion: number
}

/** Returns the folder of the daily backups of a database. */
export function backupsFolder(databasePath: string): string {
  return `${databasePath.replace(/\.db$/, "")}.backups`
}

/** Returns the path of the backup of a database that is begun at a time; the name is UTC. */
export function dailyBackupPath(databasePath: string, atMs: number): string {
  const time = new Date(atMs).toISOString().replace(/\.\d+/, "").replaceAll(":", "")
  return join(backupsFolder(databasePath), `${time}.db`)
}

/** Names tell no times apart that are nearer to each other. */
const NAME_STEP_MS = 1_000
const NAME = /^(\d{4}-\d\d-\d\dT)(\d\d)(\d\d)(\d\d)Z\.db$/

/** Returns the daily backups of a database, newest first; none where the folder cannot be read. */
export function listDailyBackups(databasePath: string): DailyBackup[] {
  const folder = backupsFolder(databasePath)
  return namesIn(folder)
    .flatMap((name): DailyBackup[] => {
      const [, day, hours, minutes, seconds] = NAME.exec(name) ?? []
      const stats = statSync(join(folder, name), { throwIfNoEntry: false })
      if (day === undefined || stats === undefined) return []
      const atMs = Date.parse(`${day}${hours}:${minutes}:${seconds}Z`)
      return [{ path: join(folder, name), atMs, bytes: stats.size }]
    })
    .sort((one, other) => other.atMs - one.atMs)
}

/** When a database was last written to, in ms since 1970; 0 where there is none. */
export function lastChangeMs(databasePath: string): number {
  // Whoever reads makes a log too, an empty one.
  return Math.max(0, ...statsOf(databasePath).map(({ size, mtimeMs }) => (size === 0 ? 0 : mtimeMs)))
}

/** Returns the bytes that a database takes up on the disk, its log included; 0 where there is none. */
export function databaseBytes(databasePath: string): number {
  return statsOf(databasePath).reduce((sum, { size }) => sum + size, 0)
}

function statsOf(databasePath: string): Stats[] {
  // The log stands beside what a link leads to.
  const path = existsSync(databasePath) ? realpathSync(databasePath) : databasePath
  return ["", "-wal"].flatMap((suffix) => statSync(`${path}${suffix}`, { throwIfNoEntry: false }) ?? [])
}

/** Whether something was less than `ms` ago; a time that is to come was told by a clock that was wrong. */
export function isRecent(atMs: number, ms: number, nowMs: number): boolean {
  return atMs <= nowMs && nowMs - atMs < ms
}

/** Whether the newest backup is a day old and something was written since; a failure is left alone for a while. */
export function isBackupDue(databasePath: string, nowMs: number): boolean {
  const isWithin = (atMs: number, ms: number) => isRecent(atMs, ms, nowMs)
  const [newest] = listDailyBackups(databasePath).filter(({ atMs }) => atMs <= nowMs)
  if (newest !== undefined && isWithin(newest.atMs, DAILY_BACKUP_AFTER_MS)) return false
  const problem = backupProblem(databasePath)
  if (problem !== undefined && isWithin(problem.atMs, DAILY_BACKUP_RETRY_MS)) return false
  return lastChangeMs(databasePath) > (newest?.atMs ?? 0)
}

/** Returns the other copies that were made beside a database: before each upgrade, and by restore of what it replaced. */
export function listKeptCopies(databasePath: string): string[] {
  const folder = dirname(databasePath)
  const name = basename(databasePath)
  const restored = `${name.replace(/\.db$/, "")}.before-restore-`
  return namesIn(folder)
    .filter((one) => one.startsWith(restored) || (one.startsWith(`${name}.v`) && one.endsWith(".backup")))
    .sort()
    .map((one) => join(folder, one))
}

interface DailyBackupTerms {
  nowMs: number
  /** How many are kept, the one that is made included. */
  kept?: number
  /** Returns the bytes that are free on the disk of a folder. */
  freeBytesAt?: (folder: string) => number
  hint: string
}

/**
 * Copies the database at `path` into the folder of daily backups, once it is found to be whole, and drops the oldest. Returns
 * undefined while another process is at it. Fails with `unavailable`, keeps what is there and notes why, when
 * it is damaged or the disk has no room for it and a reserve for others.
 */
export function makeDailyBackup(path: string, terms: DailyBackupTerms): MadeBackup | undefined {
  const { nowMs, kept = DAILY_BACKUPS_KEPT, hint } = terms
  try {
    const folder = backupsFolder(path)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const lock = openProcessLock(join(folder, "lock"))
    try {
      if (!lock.tryTake()) return undefined
      dropBroken(folder)
      requireRoom(path, folder, terms.freeBytesAt ?? freeBytesAt)
      const target = dailyBackupPath(path, nowMs)
      const { schemaVersion } = backUp(path, target, { replaces: true, knownVersion: SCHEMA_VERSION, hint })
      redateLater(path, nowMs)
      const others = listDailyBackups(path).filter((one) => one.path !== target)
      for (const old of others.slice(kept - 1)) rmSync(old.path, { force: true })
      noteBackupProblem(path, null)
      return { path: target, atMs: nowMs, bytes: statSync(target).size, schemaVersion }
    } finally {
      lock.close()
    }
  } catch (error) {
    const known = error instanceof AppError ? error : faultOf(error, backupsFolder(path))
    noteBackupProblem(path, { atMs: nowMs, text: known?.text ?? (error as Error).message })
    throw known ?? error
  }
}

/**
 * Gives the copies that bear a later time than `nowMs` their place before it: a clock was wrong when they were made, or
 * is now, and they are older than what is made now all the same. Else they would be taken for the newest, and stay.
 */
function redateLater(databasePath: string, nowMs: number): void {
  const later = listDailyBackups(databasePath).filter(({ atMs }) => atMs > nowMs)
  let atMs = nowMs
  for (const { path } of later) {
    do atMs -= NAME_STEP_MS
    while (existsSync(dailyBackupPath(databasePath, atMs)))
    renameSync(path, dailyBackupPath(databasePath, atMs))
  }
}

/** Returns the bytes that may be written to the disk of a folder. */
export function freeBytesAt(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

function requireRoom(path: string, folder: string, freeAt: (folder: string) => number): void {
  const [needed, free] = [databaseBytes(path) + DISK_RESERVE_BYTES, freeAt(folder)]
  if (free >= needed) return
  throw new AppError(
    "unavailable",
    `no daily backup was made: ${folder} has ${megabytes(free)} of free space, ${megabytes(needed)} are needed`,
    { hint: "Free some space on that disk." },
  )
}

/** Removes what copies that were broken off have left. */
function dropBroken(folder: string): void {
  for (const name of namesIn(folder)) if (BROKEN.test(name)) rmSync(join(folder, name), { force: true })
}

const BROKEN = /\.part(?:-journal|-wal|-shm)?$/

/** What kept the last daily backup from being made. */
export interface BackupProblem {
  atMs: number
  /** One sentence or more, with what to do. */
  text: string
}

function problemPath(databasePath: string): string {
  return join(backupsFolder(databasePath), "problem.json")
}

/** Notes what kept a backup from being made, for whoever asks; null when nothing does any more. */
function noteBackupProblem(databasePath: string, problem: BackupProblem | null): void {
  const path = problemPath(databasePath)
  try {
    rmSync(path, { force: true })
    if (problem === null) return
    mkdirSync(backupsFolder(databasePath), { recursive: true, mode: 0o700 })
    writeFileSync(path, JSON.stringify(problem), { mode: 0o600, flag: "wx" })
  } catch {
    // On a disk that is full there may be no room for it; that the newest is old is then all that is told.
  }
}

/** Returns what kept the last daily backup from being made, if anything did. */
export function backupProblem(databasePath: string): BackupProblem | undefined {
  try {
    const { atMs, text } = JSON.parse(
      readFileSync(problemPath(databasePath), "utf8"),
    ) as Partial<BackupProblem>
    return typeof atMs === "number" && typeof text === "string" ? { atMs, text } : undefined
  } catch {
    return undefined
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
