import { expect, test } from "vitest"
import {
  createIndexingProgress,
  indexWithProgress,
  type ProgressOptions,
} from "../../../src/commands/documentation/indexing-progress.ts"
import { percentOf } from "../../../src/commands/documentation/indexing-work.ts"
import type { Screen } from "../../../src/commands/progress.ts"
import { openProcessLock } from "../../../src/db/process-lock.ts"
import type { IndexingWork } from "../../../src/domain/documentation/documentation.ts"
import { workAt } from "../../../src/domain/documentation/documentation.ts"
import { presentWorld, server } from "../command.ts"

const work = (done: number, total: number, more: Partial<IndexingWork> = {}): IndexingWork => ({
  phase: "reading",
  branch: "main",
  done,
  total,
  updatedAtMs: 0,
  ...more,
})

/** Shows work of a repository "docs"; returns what was written. */
function written(
  works: readonly IndexingWork[],
  options: Partial<ProgressOptions & { isTTY: boolean }> = {},
): string {
  let text = ""
  const screen = {
    isTTY: options.isTTY === true,
    columns: 80,
    write: (part: string) => {
      text += part
      return true
    },
  } as Screen
  const progress = createIndexingProgress({ isQuiet: false, screen, ...options })
  for (const one of works) progress.show("docs\u001b[2J", one)
  progress.end()
  return text
}

test("without a terminal each phase is a line, and each tenth", () => {
  const reading = Array.from({ length: 1_001 }, (_, done) => work(done, 1_000))
  const embedding = [0, 50, 51, 100].map((done) => work(done, 100, { phase: "embedding", branch: null }))
  const tenths = Array.from({ length: 10 }, (_, index) => (index + 1) * 10)
  expect(written([...reading, ...embedding]).split("\n")).toEqual([
    "Reading docs␛[2J (main): 1,000 files",
    ...tenths.map((tenth) => `  ${tenth} %, ${tenth === 100 ? "1,000" : tenth * 10} of 1,000 files`),
    "Embedding docs␛[2J: 100 chunks",
    "  50 %, 50 of 100 chunks",
    "  100 %, 100 of 100 chunks",
    "",
  ])
})

test("at a terminal it is a bar, which goes away", () => {
  const text = written([work(1, 4), work(1, 1, { branch: "next" })], { isTTY: true })
  expect(text).toContain("Reading docs␛[2J (main) [######..................]  25 %  1 of 4")
  expect(text).toContain("Reading docs␛[2J (next) [########################] 100 %  1 of 1")
  expect(text.endsWith("\r\u001b[2K")).toBe(true)
})

test("nothing is shown where nothing is to be done, where nobody wants it, and of what is over soon", () => {
  expect(written([work(0, 0)])).toBe("")
  for (const isTTY of [true, false]) {
    expect(written([work(1, 4)], { isTTY, isQuiet: true })).toBe("")
    expect(written([work(1, 4)], { isTTY, afterMs: Number.POSITIVE_INFINITY })).toBe("")
  }
})

test("work counts while somebody notes it", () => {
  const noted = work(1, 4, { updatedAtMs: 100_000 })
  expect(workAt(noted, 160_000)).toBe(noted)
  expect(workAt(noted, 160_001)).toBeNull()
  expect(workAt(null, 0)).toBeNull()
  expect([work(0, 0), work(1, 3), work(3, 3), work(4, 3)].map(percentOf)).toEqual([0, 33, 100, 100])
})

test("another process that reads nothing is not waited for where that is wanted", async () => {
  const where = presentWorld()
  const app = await server(where, "one")
  const lock = openProcessLock(`${where.databasePath}.indexing.lock`)
  expect(lock.tryTake()).toBe(true)
  const { signal } = new AbortController()
  const options = { repositoryIds: [], signal, isQuiet: true }
  expect(await indexWithProgress(app, { ...options, stalledMsMax: 0 })).toBe("done")
  expect(await indexWithProgress(app, { ...options, isWaitedFor: async () => false })).toBe("done")
  expect(await indexWithProgress(app, { ...options, signal: AbortSignal.abort() })).toBe("stopped")
  lock.close()
})
