import { statSync } from "node:fs"
import { join } from "node:path"
import BetterSqlite3 from "better-sqlite3"
import { expect, onTestFinished, test } from "vitest"
import { RECLAIM_STEP_MS, RECLAIM_STEP_PAGES_MAX, RECLAIMED_BYTES_MIN } from "../../src/config/limits.ts"
import type { Database } from "../../src/db/database.ts"
import { isReclaimWanted, nextPages, reclaim, shrinkWhole } from "../../src/db/reclaim.ts"
import { openDatabase } from "../../src/operations/database.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

const PAGE_BYTES = 4_096
const INSERT = "INSERT INTO rate_buckets VALUES (?, ?, 1, 1)"

async function database(): Promise<{ path: string; db: Database }> {
  const path = join(temporaryFolder(), "signalbox.db")
  const db = await openDatabase(path)
  onTestFinished(() => db.close())
  return { path, db }
}

/** Fills a database with so many bytes, and deletes them again. */
async function leaveRoom(db: Database, bytes: number): Promise<void> {
  const text = "x".repeat(PAGE_BYTES * 16)
  await db.transaction("test", async (tx) => {
    for (let at = 0; at < bytes / text.length / 2; at += 1) await tx.run(INSERT, [text, String(at)])
  })
  await db.run("DELETE FROM rate_buckets")
}

async function freeBytes(db: Database): Promise<number> {
  return PAGE_BYTES * Number(Object.values((await db.get("PRAGMA freelist_count")) ?? {})[0])
}

test("a new database gives back what is deleted, and stays whole and in use meanwhile", async () => {
  const { path, db } = await database()
  expect(await isReclaimWanted(db)).toBe(false)
  await db.run(INSERT, ["kept", "1"])
  await leaveRoom(db, 2 * RECLAIMED_BYTES_MIN)
  expect(await isReclaimWanted(db)).toBe(true)
  await db.get("PRAGMA wal_checkpoint(TRUNCATE)")
  const before = statSync(path).size
  await db.run(INSERT, ["kept", "2"])
  let pages = 0
  await reclaim(path, { onStep: (taken) => (pages += taken) })
  expect(pages * PAGE_BYTES).toBeGreaterThanOrEqual(RECLAIMED_BYTES_MIN)
  expect(statSync(path).size).toBeLessThan(before - RECLAIMED_BYTES_MIN)
  expect(await freeBytes(db)).toBe(0)
  expect(await db.get("SELECT count(*) AS number FROM rate_buckets")).toEqual({ number: 1 })
  expect(await db.get("PRAGMA integrity_check")).toEqual({ integrity_check: "ok" })
  expect(await isReclaimWanted(db)).toBe(false)
})

test("it begins at so many bytes that are unused, and not below", async () => {
  const row = (value: number) => ({ value })
  const asked = (pages: number): Pick<Database, "get"> => ({
    get: async (sql) =>
      row(sql.endsWith("auto_vacuum") ? 2 : sql.endsWith("page_size") ? 1_000 : pages) as never,
  })
  const pages = RECLAIMED_BYTES_MIN / 1_000
  expect(await isReclaimWanted(asked(pages) as Database)).toBe(true)
  expect(await isReclaimWanted(asked(pages - 1) as Database)).toBe(false)
})

test("what a process that was stopped has left is given back by the next one", async () => {
  const { path, db } = await database()
  await leaveRoom(db, 2 * RECLAIMED_BYTES_MIN)
  let steps = 0
  await reclaim(path, { onStep: () => (steps += 1), isStopped: () => steps > 0 })
  const left = await freeBytes(db)
  expect(left).toBeGreaterThan(0)
  await reclaim(path)
  expect(await freeBytes(db)).toBe(0)
})

test("a step takes half the pages after a long one, twice as many after a short one, within bounds", () => {
  expect(nextPages(64, RECLAIM_STEP_MS + 0.1)).toBe(32)
  expect(nextPages(64, RECLAIM_STEP_MS)).toBe(64)
  expect(nextPages(64, RECLAIM_STEP_MS / 3 - 0.1)).toBe(128)
  expect(nextPages(RECLAIM_STEP_PAGES_MAX, 0)).toBe(RECLAIM_STEP_PAGES_MAX)
  expect(nextPages(9, 1_000)).toBe(8)
  expect(nextPages(8, 1_000)).toBe(8)
})

/** Makes the file such as earlier versions made it. */
function asBefore(path: string): void {
  const db = new BetterSqlite3(path)
  db.pragma("auto_vacuum = NONE")
  db.exec("VACUUM")
  db.close()
}

test("a file that was made before is converted as a whole, with room for it, and gives back from then on", async () => {
  const { path, db } = await database()
  await db.close()
  asBefore(path)
  const old = await openDatabase(path)
  await leaveRoom(old, 2 * RECLAIMED_BYTES_MIN)
  await old.run(INSERT, ["kept", "1"])
  expect(await isReclaimWanted(old), "it cannot be made smaller in steps").toBe(false)
  await old.close()
  const before = statSync(path).size
  const terms = { wayOut: () => "" }
  await expect(shrinkWhole(path, { ...terms, freeAt: () => 2 * before - 1 })).rejects.toThrow(
    "are needed for a moment",
  )
  expect(statSync(path).size).toBe(before)
  const { bytesBefore, bytesAfter } = await shrinkWhole(path, { ...terms, freeAt: () => 2 * before })
  expect(bytesBefore).toBe(before)
  expect(bytesAfter).toBeLessThan(before - RECLAIMED_BYTES_MIN)
  const converted = await openDatabase(path)
  onTestFinished(() => converted.close())
  expect(await converted.get("SELECT count(*) AS number FROM rate_buckets")).toEqual({ number: 1 })
  await leaveRoom(converted, 2 * RECLAIMED_BYTES_MIN)
  expect(await isReclaimWanted(converted)).toBe(true)
})
