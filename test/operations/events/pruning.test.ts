/** Events go by their age: a batch at a time, the oldest first, and whoever asks for what is gone is told so. */

import { readFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { emptyLog } from "../../../src/db/reclaim.ts"
import { DAY_MS } from "../../../src/domain/time-units.ts"
import { openDatabase } from "../../../src/operations/database.ts"
import { pruneSomeEvents, startEventPruning } from "../../../src/operations/events/pruning.ts"
import { createLog } from "../../../src/runtime/log.ts"
import { listNamedEventsAfter } from "../../../src/store/event-feed.ts"
import { eventHorizon, newestEventId, recordEvent } from "../../../src/store/events.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"
import { START_MS } from "../../support/world.ts"

const AT_ONCE = 500

/** A database in which events were written at these times, in days before now. */
async function room(...daysAgo: number[]) {
  const path = join(temporaryFolder(), "signalbox.db")
  const db = await openDatabase(path)
  onTestFinished(() => db.close())
  const clock = { nowMs: START_MS }
  const logged: string[] = []
  const app = {
    db,
    config: { eventKeepDays: 30 },
    now: () => clock.nowMs,
    log: createLog("warn", (line) => void logged.push(line)),
  }
  const write = (days: readonly number[], data = {}) =>
    db.transaction("test", async (tx) => {
      for (const day of days) await recordEvent(tx, { kind: "key.used", data }, clock.nowMs - day * DAY_MS)
    })
  await write(daysAgo)
  const ids = async () => (await listNamedEventsAfter(db, 0, 10_000)).map(({ id }) => id)
  const pruneAll = async () => {
    while (await pruneSomeEvents(app));
  }
  return { path, app, db, clock, logged, write, ids, pruneAll }
}

const times = (count: number, day: number) => Array<number>(count).fill(day)

describe("pruning", () => {
  test("deletes what is older than the days to keep, to the millisecond, and says up to where", async () => {
    const { db, clock, ids, pruneAll } = await room(31, 30, 29, 0)
    await pruneAll()
    expect([await ids(), await eventHorizon(db)]).toEqual([[2, 3, 4], 1])
    clock.nowMs += 1
    await pruneAll()
    expect([await ids(), await eventHorizon(db)]).toEqual([[3, 4], 2])
  })

  test("never deletes the newest, so that its id is not given again", async () => {
    const { db, ids, write, pruneAll } = await room(90, 80, 70)
    await pruneAll()
    expect([await ids(), await eventHorizon(db)]).toEqual([[3], 2])
    await write([0])
    await pruneAll()
    expect([await ids(), await eventHorizon(db)]).toEqual([[4], 3])
  })

  test.each([AT_ONCE - 1, AT_ONCE, AT_ONCE + 1])("of %d old ones deletes 500 at once", async (count) => {
    const { app, db, ids } = await room(...times(count, 40), 0)
    expect(await pruneSomeEvents(app)).toBe(count >= AT_ONCE)
    expect((await ids()).length - 1).toBe(Math.max(0, count - AT_ONCE))
    expect(await eventHorizon(db)).toBe(Math.min(count, AT_ONCE))
    expect(await pruneSomeEvents(app)).toBe(false)
    expect(await ids()).toEqual([count + 1])
  })

  test("locks nothing while there is nothing to delete", async () => {
    const { app, db } = await room(29, 0)
    const transaction = vi.spyOn(db, "transaction")
    expect(await pruneSomeEvents(app)).toBe(false)
    expect(transaction).not.toHaveBeenCalled()
  })

  test("is not stopped by an event that a wrong clock has dated", async () => {
    const { ids, pruneAll } = await room(-400, 40, 40, 0)
    await pruneAll()
    expect(await ids()).toEqual([4])
  })

  test("never takes back what a restore has said", async () => {
    const { db, pruneAll } = await room(40, 0)
    await db.run("UPDATE event_horizon SET told_after = 1000")
    await pruneAll()
    expect(await eventHorizon(db)).toBe(1_000)
  })

  test("leaves nothing of what it deletes in the file", async () => {
    const { path, db, write, pruneAll } = await room()
    await write(times(50, 40), { name: "the old secret" })
    await write([0])
    await pruneAll()
    await emptyLog(db)
    expect(readFileSync(path).includes("the old secret")).toBe(false)
    expect(await newestEventId(db)).toBe(51)
  })

  test("keeps all that is young, and everything after the horizon, whatever the times", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: -5, max: 60 }), { minLength: 1, maxLength: 30 }),
        async (days) => {
          const { db, ids, pruneAll } = await room(...days)
          await pruneAll()
          const [left, horizon] = [await ids(), await eventHorizon(db)]
          const lastOld = days.slice(0, -1).findLastIndex((day) => day > 30) + 1
          expect(horizon).toBe(lastOld)
          expect(left).toEqual(days.map((_, at) => at + 1).slice(lastOld))
        },
      ),
      { numRuns: 15 },
    )
  })
})

describe("the listener", () => {
  async function watched(...days: number[]) {
    const made = await room(...days)
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    onTestFinished(() => void vi.useRealTimers())
    const watch = startEventPruning(made.app)
    onTestFinished(() => watch.close())
    /** Lets time pass, and what begins then end. */
    const pass = async (ms: number) => {
      await vi.advanceTimersByTimeAsync(ms)
      while (vi.getTimerCount() === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    return { ...made, watch, pass }
  }

  test("looks half a minute after it began, goes on with pauses, and then every ten minutes", async () => {
    const { ids, write, pass } = await watched(...times(2 * AT_ONCE + 1, 40), 0)
    const left = async () => (await ids()).length - 1
    await pass(29_999)
    expect(await left()).toBe(2 * AT_ONCE + 1)
    await pass(1)
    expect(await left()).toBe(AT_ONCE + 1)
    await pass(99)
    expect(await left()).toBe(AT_ONCE + 1)
    await pass(1)
    expect(await left()).toBe(1)
    await pass(100)
    expect(await left()).toBe(0)
    await write([40, 0])
    await pass(599_999)
    expect(await left()).toBe(2)
    await pass(1)
    expect(await left()).toBe(0)
  })

  test("says what is in its way, and looks again later; closed, it looks no more", async () => {
    const { db, ids, logged, pass, watch } = await watched(40, 40, 0)
    const failing = vi.spyOn(db, "transaction").mockRejectedValueOnce(new Error("the disk is full"))
    await pass(30_000)
    expect(logged).toEqual([expect.stringContaining("old events could not be deleted")])
    expect(await ids()).toHaveLength(3)
    failing.mockRestore()
    await pass(600_000)
    expect(await ids()).toEqual([3])
    await watch.close()
    expect(vi.getTimerCount()).toBe(0)
  })
})
