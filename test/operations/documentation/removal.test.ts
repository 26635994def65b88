import { expect, test } from "vitest"
import { REMOVED_ROWS_AT_ONCE } from "../../../src/config/limits.ts"
import { openProcessLock } from "../../../src/db/process-lock.ts"
import { isIndexingWanted, runIndexing } from "../../../src/operations/documentation/indexing.ts"
import { disconnectRepository } from "../../../src/operations/documentation/removal.ts"
import { repositoryWith } from "../../support/documentation-files.ts"
import { expectSound, type Index, openIndex } from "../../support/documentation-index.ts"

/** Enough words of their own that they are not removed in one transaction. */
function wordyFiles(): Record<string, string> {
  const words = (file: number) => Array.from({ length: 150 }, (_, index) => `word${file}x${index}`).join(" ")
  return Object.fromEntries(
    Array.from({ length: 20 }, (_, file) => [`${file}.md`, `# File ${file}\n\nThe anvil. ${words(file)}\n`]),
  )
}

/** Counts what is stored of all documentation. */
async function rowsIn({ app }: Index): Promise<number> {
  let rows = 0
  for (const table of ["document_postings", "document_vectors", "document_bits", ...TABLES])
    rows += (await app.db.get<{ rows: number }>(`SELECT count(*) AS rows FROM ${table}`))?.rows ?? 0
  return rows
}
const TABLES = ["blobs", "branches", "chunks", "files", "repositories"].map((name) => `documentation_${name}`)

async function indexedOnce() {
  const repository = repositoryWith(wordyFiles())
  const index = await openIndex()
  const id = await index.add(repository.root)
  expect(await index.filesWith("anvil", { limit: 20 })).toHaveLength(20)
  return { index, id, repository }
}

/** Lets a repository go, and is stopped when the first rows are gone, as by a kill. */
async function stoppedRemoval() {
  const made = await indexedOnce()
  const stop = new AbortController()
  const steps: [done: number, total: number][] = []
  const onProgress = (done: number, total: number) => {
    steps.push([done, total])
    stop.abort()
  }
  const outcome = await disconnectRepository(
    made.index.app,
    { id: made.id },
    { signal: stop.signal, onProgress },
  )
  expect(outcome).toEqual({ isConnected: false, isCloneDeleted: false, isRemoved: false })
  return { ...made, steps }
}

test("no search shows a repository from the moment on in which it is let go, whatever is left of it", async () => {
  const { index, steps } = await stoppedRemoval()
  expect(await index.filesWith("anvil")).toEqual([])
  const [[done, total] = [0, 0]] = steps
  expect(steps).toHaveLength(1)
  expect(total).toBeGreaterThan(2 * REMOVED_ROWS_AT_ONCE)
  expect(done).toBeLessThanOrEqual(REMOVED_ROWS_AT_ONCE)
  expect(await rowsIn(index)).toBeGreaterThan(0)
})

test("whoever indexes next removes what a process that was stopped has left, and then there is nothing to do", async () => {
  const { index } = await stoppedRemoval()
  expect(await isIndexingWanted(index.app)).toBe(true)
  expect(await runIndexing(index.app)).toBe("done")
  expect(await rowsIn(index)).toBe(0)
  expect(await isIndexingWanted(index.app)).toBe(false)
  await expectSound(index.app)
})

test("a repository that is connected again while some of it is left is read anew, and whole", async () => {
  const { index, repository, id } = await stoppedRemoval()
  expect(await index.add(repository.root)).toBe(id)
  expect(await index.filesWith("anvil", { limit: 20 })).toHaveLength(20)
  await expectSound(index.app)
})

test("while another process indexes it is let go all the same, and its rows are left to that process", async () => {
  const { index, id, repository } = await indexedOnce()
  const lock = openProcessLock(`${index.app.config.databasePath}.indexing.lock`)
  expect(lock.tryTake()).toBe(true)
  const outcome = await disconnectRepository(index.app, { id }, { waitMs: 0 })
  expect(outcome).toMatchObject({ isConnected: false, isRemoved: false })
  expect(await index.filesWith("anvil")).toEqual([])
  lock.close()
  expect(await runIndexing(index.app)).toBe("done")
  expect(await rowsIn(index)).toBe(0)
  expect(await index.add(repository.root)).toBe(id)
})

test("every row is counted as it goes, in batches of a bounded size", async () => {
  const { index, id } = await indexedOnce()
  const steps: number[] = []
  let total = 0
  const onProgress = (done: number, all: number) => {
    steps.push(done)
    total = all
  }
  expect(await disconnectRepository(index.app, { id }, { onProgress })).toMatchObject({ isRemoved: true })
  expect(steps.at(-1)).toBe(total)
  const sizes = steps.map((done, at) => done - (steps[at - 1] ?? 0))
  expect(Math.max(...sizes)).toBeLessThanOrEqual(REMOVED_ROWS_AT_ONCE)
  expect(sizes.filter((size) => size > 0).length).toBeGreaterThan(2)
})
