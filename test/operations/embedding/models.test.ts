/** One embedding model taking over from another: what search says meanwhile, and what is left afterwards. */

import { join } from "node:path"
import { setFlagsFromString } from "node:v8"
import { describe, expect, test, vi } from "vitest"
import { modelName } from "../../../src/embed/models/manifest.ts"
import { importModel } from "../../../src/embed/models/store.ts"
import { measureModel } from "../../../src/embed/transformers/transformers.ts"
import { AppError } from "../../../src/errors.ts"
import {
  embedWaiting,
  isWorkWaiting,
  modelState,
  useModel,
} from "../../../src/operations/embedding/models.ts"
import { localKey } from "../../../src/operations/keys.ts"
import { changeMemory, deleteMemory } from "../../../src/operations/memory/memories.ts"
import { EMBEDDED_TOGETHER, gate, ModelRoom, roomWithOne } from "../../support/angle-models.ts"
import { writeTinyModel } from "../../support/tiny-model.ts"
import { world } from "../../support/world.ts"

// Most of what it takes to load a model is V8's work on the fast form of the runtime, which no test is worth.
setFlagsFromString("--liftoff-only")

describe("while a model is built", () => {
  test("search and waypoints go by the one before, until all is done", async () => {
    const where = await roomWithOne(EMBEDDED_TOGETHER - 3)
    const [a, b, c] = ["a 0° 0°", "b 10° 60°", "c 60° 10°"]
    const first = await where.create(a)
    for (const content of [b, c, "last 90° 90°"]) await where.create(content)
    const { open, reached, wait } = gate()
    where.two.before = (texts) => (texts.some((text) => text.startsWith("last")) ? wait() : undefined)
    await useModel(where.app, where.two.model)
    const working = embedWaiting(where.app)
    await reached
    expect(await modelState(where.app.db)).toMatchObject({
      active: { name: "one", state: "active" },
      activeProgress: { total: 17, completed: 17, failed: 0 },
      building: { name: "two", state: "building" },
      buildingProgress: { total: 17, completed: 16, failed: 0 },
    })
    expect((await where.near("? 0° 0°")).slice(0, 4)).toEqual([a, b, c, "last 90° 90°"])
    expect(await where.connected(first)).toEqual([b])
    expect(where.two.queries).toEqual([])
    open()
    await working
    expect((await where.near("? 0° 0°")).slice(0, 4)).toEqual([a, c, b, "last 90° 90°"])
    expect(await where.connected(first)).toEqual([c])
    expect(await modelState(where.app.db)).toMatchObject({
      active: { name: "two", state: "active" },
      activeProgress: { total: 17, completed: 17, failed: 0 },
      building: undefined,
    })
    expect(await isWorkWaiting(where.app.db)).toBe(false)
  })

  test("what is created, changed and deleted is so for both models", async () => {
    const where = await roomWithOne(0)
    const [changed, deleted, kept] = [
      await where.create("old 0° 0°"),
      await where.create("deleted 0° 0°"),
      await where.create("kept 0° 0°"),
    ]
    const { open, reached, wait } = gate()
    where.two.before = wait
    await useModel(where.app, where.two.model)
    const working = embedWaiting(where.app)
    await reached
    await changeMemory(where.context, changed.uuid, { content: "new 30° 90°" })
    await deleteMemory(where.context, deleted.uuid)
    const created = await where.create("created 40° 80°")
    expect(created.embeddingStatus).toBe("completed")
    expect(await where.near("? 0° 0°")).toEqual(["kept 0° 0°", "new 30° 90°", "created 40° 80°"])
    expect(await where.connected(kept)).toEqual(["new 30° 90°", "created 40° 80°"])
    open()
    await working
    expect(await where.near("? 0° 0°")).toEqual(["kept 0° 0°", "created 40° 80°", "new 30° 90°"])
    expect(await where.connected(created)).toEqual(["new 30° 90°"])
    expect(await where.connected(kept)).toEqual([])
    for (const memory of [changed, kept, created]) expect(await where.status(memory)).toBe("completed")
    expect(where.left()).toEqual({ two: [3, 3, 2] })
  })

  test("stopping leaves the one before at work, and going on embeds nothing twice", async () => {
    const where = await roomWithOne(3 * EMBEDDED_TOGETHER)
    await useModel(where.app, where.two.model)
    const stop = new AbortController()
    await embedWaiting(where.app, stop.signal, () => stop.abort())
    const state = await modelState(where.app.db)
    expect([state.active.name, state.buildingProgress?.completed]).toEqual(["one", EMBEDDED_TOGETHER])
    expect(await isWorkWaiting(where.app.db)).toBe(true)
    const shown: number[] = []
    await embedWaiting(where.app, undefined, (_, { completed }) => shown.push(completed))
    expect(shown).toEqual([2 * EMBEDDED_TOGETHER, 3 * EMBEDDED_TOGETHER])
    expect(where.two.passages).toHaveLength(3 * EMBEDDED_TOGETHER)
    expect((await modelState(where.app.db)).active.name).toBe("two")
  })
})

test("a model that was replaced leaves nothing", async () => {
  const where = await roomWithOne(3)
  expect(where.left()).toEqual({ one: [3, 3, 6] })
  await where.use(where.two)
  expect(where.left()).toEqual({ two: [3, 3, 6] })
  expect([await where.indexed(where.one), await where.indexed(where.two)]).toEqual([0, 3])
  await where.use(where.one)
  expect(where.left()).toEqual({ one: [3, 3, 6] })
  expect([await where.indexed(where.one), await where.indexed(where.two)]).toEqual([3, 0])
})

test("a model that is gone back to at once embeds what waited for it before it takes over", async () => {
  const where = await roomWithOne(1)
  const { app, one, two } = where
  const { open, reached, wait } = gate()
  two.before = wait
  await useModel(app, two.model)
  const stop = new AbortController()
  const working = embedWaiting(app, stop.signal)
  await reached
  one.isThere = false
  const created = await where.create("created 0° 0°")
  expect(created.embeddingStatus).toBe("pending")
  // It ends when two has taken over, before it has cleaned up after one.
  const transaction = app.db.transaction.bind(app.db)
  app.db.transaction = async (lock, body) => {
    const result = await transaction(lock, body)
    if (lock === "models") stop.abort()
    return result
  }
  open()
  await working
  expect((await modelState(app.db)).active.name).toBe("two")
  one.isThere = true
  await where.use(one)
  expect(await where.status(created)).toBe("completed")
  expect(where.left()).toMatchObject({ one: [2, 2, 0] })
})

test("of models that two processes ask for at once one is built, and it takes over", async () => {
  const where = await roomWithOne(1)
  const { app } = await where.made.session({ name: "other" })
  await Promise.all([useModel(where.app, where.two.model), useModel(app, where.three.model)])
  const states = where.rows<{ state: string }>("SELECT state FROM embedding_models ORDER BY state")
  expect(states.map(({ state }) => state)).toEqual(["active", "building", "retired", "retired"])
  const wanted = (await modelState(app.db)).building?.name
  await embedWaiting(where.app)
  expect((await modelState(app.db)).active.name).toBe(wanted)
})

describe("a model that is given up while it is built", () => {
  test("for a third leaves nothing, and is not gone on with", async () => {
    const where = await roomWithOne(4 * EMBEDDED_TOGETHER)
    const { open, reached, wait } = gate()
    where.two.before = (texts) =>
      where.two.passages.length >= EMBEDDED_TOGETHER && texts.length > 0 ? wait() : undefined
    await useModel(where.app, where.two.model)
    const working = embedWaiting(where.app)
    await reached
    await useModel(where.app, where.three.model)
    open()
    await working
    expect((await modelState(where.app.db)).active.name).toBe("three")
    expect(Object.keys(where.left())).toEqual(["three"])
    expect(await where.indexed(where.two)).toBe(0)
    expect(where.two.passages.length).toBeLessThanOrEqual(2 * EMBEDDED_TOGETHER)
  })

  test("for the active one leaves nothing, and that goes on", async () => {
    const where = await roomWithOne(2 * EMBEDDED_TOGETHER)
    const { open, reached, wait } = gate()
    where.two.before = () => (where.two.passages.length >= EMBEDDED_TOGETHER ? wait() : undefined)
    await useModel(where.app, where.two.model)
    const working = embedWaiting(where.app)
    await reached
    expect(await useModel(where.app, where.one.model)).toMatchObject({ name: "one", state: "active" })
    open()
    await working
    expect(await modelState(where.app.db)).toMatchObject({ active: { name: "one" }, building: undefined })
    expect(Object.keys(where.left())).toEqual(["one"])
    expect(await isWorkWaiting(where.app.db)).toBe(false)
  })

  test("may be taken up again before it was cleaned away, and what it had done is not done twice", async () => {
    const where = await roomWithOne(2 * EMBEDDED_TOGETHER)
    await useModel(where.app, where.two.model)
    const stop = new AbortController()
    await embedWaiting(where.app, stop.signal, () => stop.abort())
    await useModel(where.app, where.one.model)
    await where.use(where.two)
    expect(where.two.passages).toHaveLength(2 * EMBEDDED_TOGETHER)
    expect(where.left()).toMatchObject({
      two: [2 * EMBEDDED_TOGETHER, 2 * EMBEDDED_TOGETHER, expect.any(Number)],
    })
  })
})

describe("a model that cannot be loaded", () => {
  test("leaves search to the words, and memories waiting that are found by them", async () => {
    const where = await roomWithOne(0)
    const before = await where.create("the cache 0°")
    where.one.isThere = false
    const created = await where.create("the cache and the queue 5°")
    expect(created.embeddingStatus).toBe("pending")
    const found = await where.find("cache")
    expect(found.map(({ id }) => id).sort()).toEqual([before.uuid, created.uuid].sort())
    expect(found.map(({ explain }) => explain?.vector)).toEqual([null, null])
    expect(await where.near("? 0°")).toEqual([])
    await expect(embedWaiting(where.app)).rejects.toThrow("is not on this machine")
    expect((await modelState(where.app.db)).activeProgress).toEqual({ total: 2, completed: 1, failed: 0 })
    expect(await where.status(created)).toBe("pending")
    where.one.isThere = true
    await embedWaiting(where.app)
    expect(await where.status(created)).toBe("completed")
    expect(await where.near("? 5°")).toEqual([created.content, before.content])
    expect(await where.connected(before)).toEqual([created.content])
  })

  test("gives way to another, whatever waits for it", async () => {
    const where = await roomWithOne(1)
    where.one.isThere = false
    const waiting = await where.create("waiting 0° 0°")
    expect(waiting.embeddingStatus).toBe("pending")
    await useModel(where.app, where.two.model)
    await embedWaiting(where.app).catch(() => {})
    expect((await modelState(where.app.db)).active.name).toBe("two")
    expect(await where.status(waiting)).toBe("completed")
  })

  test("does not take over, and the one before goes on", async () => {
    const where = await roomWithOne(2)
    where.two.isThere = false
    await useModel(where.app, where.two.model)
    const created = await where.create("created 0°")
    await expect(embedWaiting(where.app)).rejects.toThrow("is not on this machine")
    expect((await where.near("? 0°"))[0]).toBe(created.content)
    expect(await modelState(where.app.db)).toMatchObject({
      active: { name: "one" },
      building: { name: "two" },
      buildingProgress: { total: 3, completed: 0, failed: 0 },
    })
  })

  test("or is not yet, keeps no search waiting for more than five seconds", async () => {
    const where = await roomWithOne(0)
    await where.create("the cache 0°")
    const { reached, wait } = gate()
    where.app.embedders.load = async () => {
      await wait()
      return where.one
    }
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    try {
      const searching = where.find("cache")
      await reached
      await vi.advanceTimersByTimeAsync(5_000)
      expect((await searching).map(({ explain }) => explain?.vector)).toEqual([null])
    } finally {
      vi.useRealTimers()
    }
  })
})

describe("a text that a model fails at", () => {
  const poisoned = (texts: readonly string[]) => {
    if (texts.some((text) => text.includes("poison"))) throw new Error("no such text")
  }

  test("is failed, the others of its batch are completed, and it is not tried again", async () => {
    const where = await roomWithOne(EMBEDDED_TOGETHER - 2)
    const [poison, last] = [await where.create("the poison 0° 0°"), await where.create("last 0° 0°")]
    where.two.before = poisoned
    await where.use(where.two)
    expect((await modelState(where.app.db)).activeProgress).toEqual({
      total: EMBEDDED_TOGETHER,
      completed: EMBEDDED_TOGETHER - 1,
      failed: 1,
    })
    expect([await where.status(poison), await where.status(last)]).toEqual(["failed", "completed"])
    expect((await where.find("poison"))[0]).toMatchObject({
      id: poison.uuid,
      explain: { vector: null },
    })
    expect(await isWorkWaiting(where.app.db)).toBe(false)
    const tried = where.two.passages.length
    await embedWaiting(where.app)
    expect(where.two.passages).toHaveLength(tried)
    const change = { content: "the cure 0° 0°" }
    expect((await changeMemory(where.context, poison.uuid, change)).embedding_status).toBe("completed")
    expect(await where.connected(last)).toEqual(["the cure 0° 0°"])
  })

  test("at once waits, and is failed when it was tried again", async () => {
    const where = await roomWithOne(0)
    where.one.before = poisoned
    const poison = await where.create("the poison")
    expect(poison.embeddingStatus).toBe("pending")
    const warn = vi.spyOn(where.app.log, "warn")
    await embedWaiting(where.app)
    expect(await where.status(poison)).toBe("failed")
    const error = expect.objectContaining({ message: "no such text" })
    expect(warn.mock.calls).toEqual([["a memory cannot be embedded", { memory: poison.id, error }]])
    expect(await isWorkWaiting(where.app.db)).toBe(false)
  })

  test("because the model itself is gone stays waiting, as all others do", async () => {
    const where = await roomWithOne(0)
    where.one.before = () => {
      throw new AppError("unavailable", "the thread died")
    }
    const created = [await where.create("a 0°"), await where.create("b 0°")]
    await expect(embedWaiting(where.app)).rejects.toThrow("the thread died")
    for (const memory of created) expect(await where.status(memory)).toBe("pending")
    where.one.before = () => {}
    await embedWaiting(where.app)
    for (const memory of created) expect(await where.status(memory)).toBe("completed")
  })
})

test("two processes at once embed everything, and store nothing twice", async () => {
  const where = await roomWithOne(3 * EMBEDDED_TOGETHER)
  const session = await where.made.session({ name: "other" })
  const other = new ModelRoom(where.made, session, where.context.key)
  const today = () =>
    where.rows<{ sum: number }>("SELECT sum(vector_count) AS sum FROM embedding_days")[0]?.sum ?? 0
  const before = today()
  await useModel(where.app, where.two.model)
  await Promise.all([embedWaiting(where.app), embedWaiting(other.app)])
  expect(where.left()).toMatchObject({
    two: [3 * EMBEDDED_TOGETHER, 3 * EMBEDDED_TOGETHER, expect.any(Number)],
  })
  expect(Object.keys(where.left())).toEqual(["two"])
  expect(today() - before).toBe(3 * EMBEDDED_TOGETHER)
  expect(await where.indexed(where.two)).toBe(3 * EMBEDDED_TOGETHER)
  const oneWay = `SELECT * FROM memory_waypoints w WHERE NOT EXISTS (
    SELECT 1 FROM memory_waypoints b WHERE b.from_id = w.to_id AND b.to_id = w.from_id AND b.weight = w.weight)`
  expect(where.rows(oneWay)).toEqual([])
})

test("a model of transformers.js takes over from the built-in one, and gives way to it again", async () => {
  const made = world()
  const session = await made.session()
  const { app } = session
  const where = new ModelRoom(made, session, await localKey(app))
  const contents = ["read the index of the table", "the worker reads a file", "the lock of the table"]
  for (const content of contents) await where.create(content)
  const builtin = (await modelState(app.db)).active
  const folder = join(made.folder, "tiny")
  writeTinyModel(folder, { kind: "static", hidden: 32 })
  const stored = await importModel({ folder, modelsFolder: join(app.config.dataFolder, "models") })
  const { id: source, dimensions, calibration } = await measureModel(stored)
  if (dimensions === null || calibration === null) throw new Error("the model was measured")
  await useModel(where.app, { name: modelName(stored.manifest), source, dimensions, calibration })
  await embedWaiting(where.app)
  expect((await modelState(app.db)).active).toMatchObject({ source, dimensions: 32 })
  expect(Object.values(where.left())).toEqual([[3, 3, expect.any(Number)]])
  for (const content of contents) expect((await where.near(content))[0]).toBe(content)
  expect((await where.create("a key of the cache")).embeddingStatus).toBe("completed")
  await useModel(where.app, builtin)
  await embedWaiting(where.app)
  expect(Object.keys(where.left())).toEqual([builtin.name])
  expect((await where.near("the worker reads a file"))[0]).toBe("the worker reads a file")
})
