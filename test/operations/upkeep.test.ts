/** The upkeep that whoever listens has done: when it begins, when it waits, and that it ends with the listener. */

import type { ChildProcess } from "node:child_process"
import { EventEmitter } from "node:events"
import { utimesSync } from "node:fs"
import { join } from "node:path"
import { beforeEach, expect, onTestFinished, test, vi } from "vitest"
import { DAILY_BACKUP_AFTER_MS, IDLE_MS_MIN } from "../../src/config/limits.ts"
import { listDailyBackups } from "../../src/db/daily-backups.ts"
import { openDatabase } from "../../src/operations/database.ts"
import { doUpkeep, startUpkeepWatch } from "../../src/operations/upkeep.ts"
import { createLog } from "../../src/runtime/log.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

const MINUTE_MS = 60_000
const START_MS = Date.parse("2026-03-10T12:00:00Z")

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  onTestFinished(() => void vi.useRealTimers())
})

/** A watch over a database that was last written to at the start; its processes do nothing until they are ended. */
async function watched() {
  const databasePath = join(temporaryFolder(), "signalbox.db")
  const db = await openDatabase(databasePath)
  onTestFinished(() => db.close())
  const clock = { nowMs: START_MS }
  const log: string[] = []
  const app = {
    db,
    config: { databasePath },
    now: () => clock.nowMs,
    log: createLog("warn", (line) => void log.push(line)),
  } as unknown as Parameters<typeof doUpkeep>[0]
  const writtenAt = (ms: number) => {
    for (const suffix of ["", "-wal"]) utimesSync(`${databasePath}${suffix}`, ms / 1_000, ms / 1_000)
  }
  writtenAt(START_MS)
  const started: { child: EventEmitter; signals: unknown[] }[] = []
  const watch = startUpkeepWatch(app, {
    start(path) {
      expect(path).toBe(databasePath)
      const [child, signals] = [new EventEmitter(), [] as unknown[]]
      started.push({ child, signals })
      return Object.assign(child, {
        kill: (signal: unknown) => signals.push(signal),
      }) as unknown as ChildProcess
    },
  })
  onTestFinished(() => watch.close())
  const pass = async (ms: number) => {
    clock.nowMs += ms
    await vi.advanceTimersByTimeAsync(ms)
  }
  return { app, databasePath, watch, started, log, clock, writtenAt, pass }
}

test("the listener has a backup made half a minute after it began, and the next one a day later", async () => {
  const { app, databasePath, started, clock, writtenAt, pass } = await watched()
  await pass(29_999)
  expect(started, "servers that are only probed begin nothing").toHaveLength(0)
  await pass(1)
  expect(started).toHaveLength(1)
  await pass(5 * MINUTE_MS)
  expect(started, "one at a time").toHaveLength(1)
  await doUpkeep(app)
  expect(listDailyBackups(databasePath)).toHaveLength(1)
  started[0]?.child.emit("close")
  const madeMs = clock.nowMs
  writtenAt(madeMs + MINUTE_MS)
  await pass(DAILY_BACKUP_AFTER_MS - MINUTE_MS)
  expect(started).toHaveLength(1)
  await pass(2 * MINUTE_MS)
  expect(started).toHaveLength(2)
})

test("it waits while others write, an hour at most", async () => {
  const { started, clock, writtenAt, pass } = await watched()
  const isWriting = async (ms: number) => {
    writtenAt(clock.nowMs + ms - IDLE_MS_MIN + 1)
    await pass(ms)
  }
  await isWriting(30_000)
  for (let minutes = 1; minutes < 60; minutes += 1) await isWriting(MINUTE_MS)
  expect(started).toHaveLength(0)
  await isWriting(MINUTE_MS)
  expect(started).toHaveLength(1)
})

test("it begins when nobody has written for a moment, and takes a time that is to come for no writing", async () => {
  const one = await watched()
  one.writtenAt(START_MS + 30_000 - IDLE_MS_MIN)
  await one.pass(30_000)
  expect(one.started).toHaveLength(1)
  const other = await watched()
  other.writtenAt(START_MS + DAILY_BACKUP_AFTER_MS)
  await other.pass(30_000)
  expect(other.started).toHaveLength(1)
})

test("it ends the process that is at it when it is closed, begins none any more, and tells of one that cannot start", async () => {
  const { watch, started, log, pass } = await watched()
  await pass(30_000)
  started[0]?.child.emit("error", new Error("no such program"))
  expect(log).toEqual([expect.stringContaining("no such program")])
  await pass(MINUTE_MS)
  expect(started).toHaveLength(2)
  await watch.close()
  expect(started.map(({ signals }) => signals)).toEqual([[], ["SIGTERM"]])
  started[1]?.child.emit("close")
  await pass(DAILY_BACKUP_AFTER_MS)
  expect(started).toHaveLength(2)
})
