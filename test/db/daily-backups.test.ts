import {
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import BetterSqlite3 from "better-sqlite3"
import { describe, expect, onTestFinished, test } from "vitest"
import { DAILY_BACKUP_AFTER_MS, DAILY_BACKUP_RETRY_MS, DISK_RESERVE_BYTES } from "../../src/config/limits.ts"
import {
  backupProblem,
  backupsFolder,
  databaseBytes,
  isBackupDue,
  lastChangeMs,
  listDailyBackups,
  makeDailyBackup,
} from "../../src/db/daily-backups.ts"
import { openProcessLock } from "../../src/db/process-lock.ts"
import { openDatabase } from "../../src/operations/database.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

const DAY_MS = DAILY_BACKUP_AFTER_MS
const START_MS = Date.parse("2026-03-10T12:00:00Z")

/** Makes a database, closed and last written to at the start. */
async function databaseFile(): Promise<string> {
  const path = join(temporaryFolder(), "signalbox.db")
  await (await openDatabase(path)).close()
  writtenAt(path, START_MS)
  return path
}

function writtenAt(path: string, ms: number): void {
  utimesSync(path, ms / 1_000, ms / 1_000)
}

const backUp = (path: string, nowMs: number, more = {}) =>
  makeDailyBackup(path, { nowMs, hint: "Hint.", ...more })
const timesOf = (path: string) => listDailyBackups(path).map(({ atMs }) => atMs)

describe("a daily backup is due", () => {
  test("at once where there is none, and then a day after the last one, when something was written since", async () => {
    const path = await databaseFile()
    expect(isBackupDue(path, START_MS + 1)).toBe(true)
    backUp(path, START_MS + 1_000)
    writtenAt(path, START_MS + 2_000)
    expect(isBackupDue(path, START_MS + 1_000 + DAY_MS - 1)).toBe(false)
    expect(isBackupDue(path, START_MS + 1_000 + DAY_MS)).toBe(true)
  })

  test("never while nothing was written since the last one", async () => {
    const path = await databaseFile()
    backUp(path, START_MS + 1_000)
    expect(isBackupDue(path, START_MS + 100 * DAY_MS)).toBe(false)
    writeFileSync(`${path}-wal`, "x")
    writtenAt(`${path}-wal`, START_MS + 3 * DAY_MS)
    expect(isBackupDue(path, START_MS + 100 * DAY_MS), "what the log holds counts").toBe(true)
  })

  test("by what the log of the file holds that a link leads to", async () => {
    const path = await databaseFile()
    const link = join(temporaryFolder(), "link.db")
    symlinkSync(path, link)
    writeFileSync(`${path}-wal`, "x")
    writtenAt(`${path}-wal`, START_MS + DAY_MS)
    expect(lastChangeMs(link)).toBe(START_MS + DAY_MS)
    expect(databaseBytes(link)).toBe(statSync(path).size + 1)
  })

  test("although one is dated in the future, by a clock that was wrong", async () => {
    const path = await databaseFile()
    backUp(path, START_MS + 365 * DAY_MS)
    expect(isBackupDue(path, START_MS + 1)).toBe(true)
  })

  test("again an hour after one that failed", async () => {
    const path = await databaseFile()
    expect(() => backUp(path, START_MS, { freeBytesAt: () => 0 })).toThrow()
    expect(isBackupDue(path, START_MS + DAILY_BACKUP_RETRY_MS - 1)).toBe(false)
    expect(isBackupDue(path, START_MS + DAILY_BACKUP_RETRY_MS)).toBe(true)
  })
})

describe("a daily backup", () => {
  test("is the whole database, in a file and a folder for the user alone", async () => {
    const path = await databaseFile()
    const made = backUp(path, START_MS)
    expect(made?.path).toBe(join(backupsFolder(path), "2026-03-10T120000Z.db"))
    expect(listDailyBackups(path)).toEqual([
      { path: made?.path, atMs: START_MS, bytes: statSync(made?.path ?? "").size },
    ])
    expect(statSync(made?.path ?? "").mode & 0o777).toBe(0o600)
    expect(statSync(backupsFolder(path)).mode & 0o777).toBe(0o700)
    const copy = new BetterSqlite3(made?.path ?? "", { readonly: true })
    expect(copy.pragma("integrity_check", { simple: true })).toBe("ok")
    expect(copy.prepare("SELECT count(*) FROM embedding_models").pluck().get()).toBe(1)
    copy.close()
  })

  test("is made while another process is in the middle of a write, and holds nothing of that", async () => {
    const path = await databaseFile()
    const writer = new BetterSqlite3(path)
    onTestFinished(() => void writer.close())
    writer.exec("BEGIN IMMEDIATE; INSERT INTO rate_buckets VALUES ('a', 'b', 1, 1)")
    const made = backUp(path, START_MS)
    writer.exec("COMMIT")
    const copy = new BetterSqlite3(made?.path ?? "", { readonly: true })
    expect(copy.prepare("SELECT count(*) FROM rate_buckets").pluck().get()).toBe(0)
    copy.close()
  })

  test("is the newest of three that are kept", async () => {
    const path = await databaseFile()
    for (const day of [0, 1, 2]) backUp(path, START_MS + day * DAY_MS)
    expect(timesOf(path)).toEqual([2, 1, 0].map((day) => START_MS + day * DAY_MS))
    backUp(path, START_MS + 3 * DAY_MS)
    expect(timesOf(path)).toEqual([3, 2, 1].map((day) => START_MS + day * DAY_MS))
  })

  test("is the newest also where earlier ones bear later times, and those go first in their turn", async () => {
    const path = await databaseFile()
    for (const day of [300, 301]) backUp(path, START_MS + day * DAY_MS)
    const [wrong] = listDailyBackups(path)
    writeFileSync(wrong?.path ?? "", "the later one of the wrong clock")
    const made = backUp(path, START_MS)
    expect(timesOf(path)).toEqual([0, 1, 2].map((seconds) => START_MS - seconds * 1_000))
    const [newest, second] = listDailyBackups(path)
    expect(newest?.path).toBe(made?.path)
    expect(readFileSync(second?.path ?? "", "utf8")).toBe("the later one of the wrong clock")
    backUp(path, START_MS + DAY_MS)
    expect(timesOf(path)).toEqual([START_MS + DAY_MS, START_MS, START_MS - 1_000])
  })

  test("clears away what a copy that was broken off has left, and no other file", async () => {
    const path = await databaseFile()
    backUp(path, START_MS)
    const folder = backupsFolder(path)
    writeFileSync(join(folder, "2026-03-01T000000Z.db.part"), "")
    writeFileSync(join(folder, "mine.txt"), "")
    backUp(path, START_MS + DAY_MS)
    expect(readdirSync(folder).sort()).toEqual([
      "2026-03-10T120000Z.db",
      "2026-03-11T120000Z.db",
      "lock",
      "mine.txt",
    ])
  })

  test("is left to the process that is making one", async () => {
    const path = await databaseFile()
    backUp(path, START_MS)
    const lock = openProcessLock(join(backupsFolder(path), "lock"))
    expect(lock.tryTake()).toBe(true)
    expect(backUp(path, START_MS + DAY_MS)).toBeUndefined()
    lock.close()
    expect(timesOf(path)).toEqual([START_MS])
  })

  test("needs room for itself and a reserve for others, says so, and then does no harm", async () => {
    const path = await databaseFile()
    const needed = statSync(path).size + DISK_RESERVE_BYTES
    backUp(path, START_MS, { freeBytesAt: () => needed })
    expect(() => backUp(path, START_MS + DAY_MS, { freeBytesAt: () => needed - 1 })).toThrow(
      `no daily backup was made: ${backupsFolder(path)} has 100 MB of free space, 100 MB are needed`,
    )
    expect(timesOf(path)).toEqual([START_MS])
    expect(backupProblem(path)).toEqual({
      atMs: START_MS + DAY_MS,
      text: expect.stringContaining("Free some space"),
    })
    backUp(path, START_MS + 2 * DAY_MS, { freeBytesAt: () => needed })
    expect(backupProblem(path)).toBeUndefined()
  })

  test("of a database that is damaged is never made, so that whole ones stay", async () => {
    const path = await databaseFile()
    for (const day of [0, 1, 2]) backUp(path, START_MS + day * DAY_MS)
    const before = timesOf(path)
    truncateSync(path, 20_000)
    expect(() => backUp(path, START_MS + 3 * DAY_MS)).toThrow()
    expect(timesOf(path)).toEqual(before)
    expect(backupProblem(path)?.text).toContain(path)
    expect(readdirSync(backupsFolder(path)).filter((name) => name.endsWith(".part"))).toEqual([])
  })

  test("replaces all earlier ones, the future's too, when one is kept", async () => {
    const path = await databaseFile()
    for (const day of [0, 1, 300]) backUp(path, START_MS + day * DAY_MS)
    backUp(path, START_MS + 2 * DAY_MS, { kept: 1 })
    expect(timesOf(path)).toEqual([START_MS + 2 * DAY_MS])
  })

  test("where no folder can be made fails with the reason", async () => {
    const path = await databaseFile()
    writeFileSync(backupsFolder(path), "in the way")
    expect(() => backUp(path, START_MS)).toThrow("a file stands where a folder should be")
    expect(readFileSync(backupsFolder(path), "utf8")).toBe("in the way")
    expect(existsSync(path)).toBe(true)
  })
})
