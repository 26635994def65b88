import { afterEach, expect, test, vi } from "vitest"
import { waitUntil } from "../../src/commands/waiting.ts"
import type { Database } from "../../src/db/database.ts"

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** A database that says that it has changed when it is told to. */
function changing() {
  const watchers = new Set<() => void>()
  const watch = (onChange: () => void) => {
    watchers.add(onChange)
    return () => watchers.delete(onChange)
  }
  const change = () => {
    for (const watcher of watchers) watcher()
  }
  return { db: { watch } as unknown as Database, change, watchers }
}

const listening = () => ["SIGTERM", "SIGINT", "SIGHUP"].map((signal) => process.listenerCount(signal))

test("looks at once, and then after changes only, until something is there", async () => {
  const { db, change, watchers } = changing()
  const before = listening()
  const found = [undefined, undefined, "here"]
  let looks = 0
  const look = async () => {
    // What changes during a look is looked at again.
    if (looks === 0) change()
    const value = found[looks]
    looks += 1
    return value
  }
  const waited = waitUntil(db, look, { timeoutMs: undefined })
  await vi.waitFor(() => expect(looks).toBe(2))
  change()
  expect(await waited).toEqual({ value: "here" })
  expect([looks, watchers.size, listening()]).toEqual([3, 0, before])
})

test.each([
  ["time", () => vi.advanceTimersByTimeAsync(5_000)],
  ["signal", async () => process.emit("SIGHUP")],
  [
    "parent",
    async () => {
      vi.spyOn(process, "ppid", "get").mockReturnValue(1)
      await vi.advanceTimersByTimeAsync(1_000)
    },
  ],
])("ends without anything by %s, and leaves nothing behind", async (stopped, end) => {
  vi.useFakeTimers()
  vi.spyOn(process, "ppid", "get").mockReturnValue(7)
  const { db, watchers } = changing()
  const before = listening()
  const waited = waitUntil(db, async () => undefined, { timeoutMs: 5_000 })
  await vi.advanceTimersByTimeAsync(4_000)
  await end()
  expect(await waited).toEqual({ stopped })
  expect([watchers.size, listening(), vi.getTimerCount()]).toEqual([0, before, 0])
})

test("what a look throws ends the waiting", async () => {
  const { db, watchers } = changing()
  const look = () => Promise.reject(new Error("gone"))
  await expect(waitUntil(db, look, { timeoutMs: undefined })).rejects.toThrow("gone")
  expect(watchers.size).toBe(0)
})
