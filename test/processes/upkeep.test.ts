/** The process that whoever listens starts for the upkeep: it makes the backup, and says what fails as a line of its log. */

import { execFile } from "node:child_process"
import { mkdirSync, utimesSync } from "node:fs"
import { dirname } from "node:path"
import { promisify } from "node:util"
import { expect, onTestFinished, test, vi } from "vitest"
import { backupsFolder, listDailyBackups } from "../../src/db/daily-backups.ts"
import { openDatabase } from "../../src/operations/database.ts"
import { startUpkeepWatch } from "../../src/operations/upkeep.ts"
import { createLog } from "../../src/runtime/log.ts"
import { BINARY, environment, place } from "../support/server-process.ts"

test("the watch has a backup made by a process of its own", async () => {
  const { databasePath } = place()
  mkdirSync(dirname(databasePath), { recursive: true })
  const db = await openDatabase(databasePath)
  onTestFinished(() => db.close())
  for (const suffix of ["", "-wal"]) utimesSync(`${databasePath}${suffix}`, 1_000, 1_000)
  const app = { db, config: { databasePath }, now: Date.now, log: createLog("silent") }
  const watch = startUpkeepWatch(app as Parameters<typeof startUpkeepWatch>[0], { firstLookMs: 0 })
  onTestFinished(() => watch.close())
  const isMade = () => expect(listDailyBackups(databasePath)).toHaveLength(1)
  await vi.waitFor(isMade, { timeout: 60_000, interval: 50 })
})

test("what the process cannot do is one line of JSON on stderr, which is the server's", async () => {
  const where = place()
  mkdirSync(dirname(where.databasePath), { recursive: true })
  await (await openDatabase(where.databasePath)).close()
  // A folder that nothing can be made in, even by root.
  mkdirSync(`${backupsFolder(where.databasePath)}/lock`, { recursive: true })
  const args = [BINARY, "backup", "--background", "--db", where.databasePath]
  const said = await promisify(execFile)(process.execPath, args, { env: environment(where) })
  expect(said.stdout).toBe("")
  expect(JSON.parse(said.stderr)).toMatchObject({
    level: "warn",
    message: "the upkeep of the database failed",
  })
})
