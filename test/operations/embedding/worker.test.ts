/** The work behind: that it starts, stops, and goes on after it failed. Time moves only when a test moves it. */

import { describe, expect, onTestFinished, test, vi } from "vitest"
import { AppError } from "../../../src/errors.ts"
import { embedWaiting, modelState, useModel } from "../../../src/operations/embedding/models.ts"
import { startEmbeddingWorker } from "../../../src/operations/embedding/worker.ts"
import {
  EMBEDDED_TOGETHER,
  gate,
  type ModelRoom,
  modelRoom,
  roomWithOne,
} from "../../support/angle-models.ts"

const POLL_INTERVAL_MS = 1_000
const AFTER_FAILURE_MS = 30_000

/** Stops the clock, starts a worker, and closes it with the test. */
function start(where: ModelRoom): ReturnType<typeof startEmbeddingWorker> {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  const worker = startEmbeddingWorker(where.app)
  onTestFinished(async () => {
    await worker.close()
    vi.useRealTimers()
  })
  return worker
}

const passes = (ms: number) => vi.advanceTimersByTimeAsync(ms)

/** Resolves when the worker has found that nothing waits, or has done it all, or has failed: it sets its clock anew. */
async function rests(): Promise<void> {
  while (vi.getTimerCount() === 0) await new Promise((resolve) => setImmediate(resolve))
}

/** Resolves when much else has had its turn that was ready. */
async function others(): Promise<"others"> {
  for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  return "others"
}

/** Keeps what is warned of. */
function warnings(where: ModelRoom): string[] {
  const warned: string[] = []
  const { log } = where.app
  where.app.log = { ...log, warn: (message) => warned.push(message) }
  return warned
}

/** A room in which a memory waits for model one. */
async function roomWithWaiting() {
  const where = await roomWithOne(0)
  where.one.isThere = false
  const memory = await where.create("waiting 0°")
  expect(memory.embeddingStatus).toBe("pending")
  where.one.isThere = true
  return { where, memory }
}

describe("the worker", () => {
  test("does at once what waits, in the time of nobody", async () => {
    const { where, memory } = await roomWithWaiting()
    start(where)
    expect(where.one.passages).toEqual([])
    await passes(0)
    await rests()
    expect(await where.status(memory)).toBe("completed")
  })

  test("has another model take over, and cleans up after the one before", async () => {
    const where = await roomWithOne(2)
    start(where)
    await passes(0)
    await rests()
    await useModel(where.app, where.two.model)
    await passes(POLL_INTERVAL_MS)
    await rests()
    expect((await modelState(where.app.db)).active.name).toBe("two")
    expect(where.left()).toEqual({ two: [2, 2, 2] })
  })

  test("looks every second, and loads no model while nothing waits", async () => {
    const where = await modelRoom()
    let loaded = 0
    const { load } = where.app.embedders
    where.app.embedders.load = (model) => {
      loaded += 1
      return load(model)
    }
    start(where)
    for (let second = 0; second < 5; second += 1) {
      await passes(second === 0 ? 0 : POLL_INTERVAL_MS)
      await rests()
    }
    expect(loaded).toBe(0)
    await useModel(where.app, where.two.model)
    await passes(POLL_INTERVAL_MS - 1)
    expect(loaded).toBe(0)
    await passes(1)
    await rests()
    expect((await modelState(where.app.db)).active.name).toBe("two")
  })

  test("says that it failed, leaves it alone for half a minute, and goes on then", async () => {
    const { where, memory } = await roomWithWaiting()
    where.one.isThere = false
    const warned = warnings(where)
    start(where)
    await passes(0)
    await rests()
    expect(warned).toEqual(["memories could not be embedded"])
    where.one.isThere = true
    await passes(AFTER_FAILURE_MS - 1)
    await others()
    expect(await where.status(memory)).toBe("pending")
    await passes(1)
    await rests()
    expect(await where.status(memory)).toBe("completed")
    expect(warned).toHaveLength(1)
  })
})

describe("closing the worker", () => {
  test("before it began, or when nothing waits, ends it for good", async () => {
    const { where, memory } = await roomWithWaiting()
    await start(where).close()
    await passes(AFTER_FAILURE_MS)
    await others()
    expect(await where.status(memory)).toBe("pending")
    await embedWaiting(where.app)
    const worker = start(where)
    await passes(0)
    await rests()
    await worker.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  test("in the middle ends after what is in work, which is kept, and the next one goes on from there", async () => {
    const where = await roomWithOne(3 * EMBEDDED_TOGETHER)
    const { open, reached, wait } = gate()
    where.two.before = wait
    await useModel(where.app, where.two.model)
    const warned = warnings(where)
    const worker = start(where)
    await passes(0)
    await reached
    const closing = worker.close()
    open()
    await closing
    expect(where.two.passages).toHaveLength(EMBEDDED_TOGETHER)
    const { active, buildingProgress } = await modelState(where.app.db)
    expect(active.name).toBe("one")
    expect(buildingProgress?.completed).toBeLessThanOrEqual(EMBEDDED_TOGETHER)
    expect([warned, vi.getTimerCount()]).toEqual([[], 0])
    start(where)
    await passes(0)
    await rests()
    expect((await modelState(where.app.db)).active.name).toBe("two")
    const done = buildingProgress?.completed ?? 0
    expect(where.two.passages).toHaveLength(EMBEDDED_TOGETHER + 3 * EMBEDDED_TOGETHER - done)
  })

  test("does not wait for a model that is being loaded", async () => {
    const { where } = await roomWithWaiting()
    const { open, reached, wait } = gate()
    where.app.embedders.load = async () => {
      await wait()
      return where.one
    }
    const worker = start(where)
    await passes(0)
    await reached
    const first = await Promise.race([worker.close().then(() => "closed"), others()])
    open()
    expect(first).toBe("closed")
  })

  test("says nothing of what fails because it ends", async () => {
    const { where, memory } = await roomWithWaiting()
    const { open, reached, wait } = gate()
    where.one.before = async () => {
      await wait()
      throw new AppError("unavailable", "the thread was ended")
    }
    const warned = warnings(where)
    const worker = start(where)
    await passes(0)
    await reached
    const closing = worker.close()
    open()
    await closing
    expect(warned).toEqual([])
    expect(await where.status(memory)).toBe("pending")
  })
})
