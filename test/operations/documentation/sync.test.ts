import { describe, expect, test } from "vitest"
import { openProcessLock } from "../../../src/db/process-lock.ts"
import type { IndexingWork } from "../../../src/domain/documentation/documentation.ts"
import type { Repository } from "../../../src/domain/project.ts"
import type { App } from "../../../src/operations/app.ts"
import { runIndexing } from "../../../src/operations/documentation/indexing.ts"
import { disconnectRepository } from "../../../src/operations/documentation/removal.ts"
import type { FoundPassage } from "../../../src/operations/documentation/results.ts"
import { findRepositoryById } from "../../../src/store/repositories.ts"
import { TestRepository } from "../../git/support.ts"
import { expectSound, Index, indexOf, openIndex } from "../../support/documentation-index.ts"

const README = "# Read me\n\nThe anvil is forged in the morning.\n"

/** How many contents an index has got by now, removed ones too, and how many it has. */
async function contentsOf({ app }: Index): Promise<{ given: number; kept: number }> {
  const sql = "SELECT count(*) AS kept, coalesce(max(id), 0) AS given FROM documentation_blobs"
  const [row] = await app.db.all<{ kept: number; given: number }>(sql)
  return { given: row?.given ?? 0, kept: row?.kept ?? 0 }
}

/** Files that are all different, by path. */
function manyFiles(count: number): Record<string, string> {
  const files = Array.from({ length: count }, (_, at) => [
    `part-${at % 7}/file-${at}.md`,
    `# File ${at}\n\nThe anvil of number ${at} is forged in the morning.\n`,
  ])
  return Object.fromEntries(files) as Record<string, string>
}

async function repositoryOf({ app }: Index, id: number): Promise<Repository> {
  const repository = await findRepositoryById(app.db, id)
  if (repository === undefined) throw new Error(`there is no repository ${id}`)
  return repository
}

/** Indexes until so many contents or chunks of a phase are done, as far as what is reported tells. */
function syncUntil({ app }: Index, phase: IndexingWork["phase"], done: number): Promise<string> {
  const stop = new AbortController()
  return runIndexing(app, {
    signal: stop.signal,
    onProgress: (_, work) => {
      if (work.phase === phase && work.done >= done) stop.abort()
    },
  })
}

describe("what is read", () => {
  test("is only what changed, for another branch and for another commit", async () => {
    const repository = new TestRepository()
    repository.commit({ ...manyFiles(20), "README.md": README })
    repository.git("branch", "next")
    const index = await openIndex()
    await index.add(repository.root)
    expect(await contentsOf(index)).toEqual({ given: 21, kept: 21 })

    await index.connect(repository.root, "next")
    await index.sync()
    expect(await contentsOf(index)).toEqual({ given: 21, kept: 21 })

    repository.git("checkout", "--quiet", "next")
    repository.commit({ "README.md": README.replace("anvil", "hammer"), "new.md": "# New\n\ntongs\n" })
    await index.sync()
    expect(await contentsOf(index)).toEqual({ given: 23, kept: 23 })

    repository.git("checkout", "--quiet", "main")
    repository.git("merge", "--quiet", "next")
    repository.git("mv", "part-1", "part-8")
    repository.commit()
    await index.sync()
    expect(await contentsOf(index)).toEqual({ given: 23, kept: 22 })
    await expectSound(index.app)
  })

  test("is one content for all files that have the same text in the same format", async () => {
    const repository = new TestRepository()
    repository.commit({ "a.md": README, "b.md": README, "c/d.md": README, "e.txt": README })
    const index = await openIndex()
    const id = await index.add(repository.root)
    expect(await contentsOf(index)).toEqual({ given: 2, kept: 2 })
    expect(Object.keys(indexOf(index.app, id).main?.files ?? {})).toEqual(["a.md", "b.md", "c/d.md", "e.txt"])
    repository.commit({ "a.md": null, "b.md": null })
    expect(await index.filesWith("anvil")).toEqual(["c/d.md", "e.txt"])
    await expectSound(index.app)
  })

  test("is not read again when nothing has changed", async () => {
    const repository = new TestRepository()
    repository.commit(manyFiles(5))
    const index = await openIndex()
    const id = await index.add(repository.root)
    const before = indexOf(index.app, id)
    const seen: IndexingWork[] = []
    await index.sync({ onProgress: (_, work) => seen.push(work) })
    expect(seen).toEqual([])
    expect(indexOf(index.app, id)).toEqual(before)
  })
})

describe("a run that is stopped", () => {
  test.each([
    ["while the first branch is read", "reading", 100],
    ["while vectors are made", "embedding", 1],
  ] as const)("%s leaves everything in order, and the next one goes on", async (_, phase, done) => {
    const repository = new TestRepository()
    repository.commit(manyFiles(250))
    const index = await openIndex()
    const id = await index.connect(repository.root)
    expect(await syncUntil(index, phase, done)).toBe("stopped")
    const { given } = await contentsOf(index)
    expect(given).toBeGreaterThanOrEqual(done)
    const [stopped] = await index.app.db.all("SELECT work FROM documentation_repositories")
    expect(stopped).toEqual({ work: null })

    await index.sync()
    expect(await contentsOf(index)).toEqual({ given: 250, kept: 250 })
    const fresh = await openIndex()
    expect(indexOf(index.app, id)).toEqual(indexOf(fresh.app, await fresh.add(repository.root)))
    await expectSound(index.app)
  })

  test("has stored what it had read", async () => {
    const repository = new TestRepository()
    repository.commit(manyFiles(90))
    const index = await openIndex()
    await index.connect(repository.root)
    let asked = 0
    const stop = new AbortController()
    const { embedders } = index.app
    const counting: App = {
      ...index.app,
      embedders: {
        ...embedders,
        pieceCounter: async () => {
          const count = await embedders.pieceCounter()
          return (text) => {
            asked += 1
            if (asked === 60) stop.abort()
            return count(text)
          }
        },
      },
    }
    expect(await runIndexing(counting, { signal: stop.signal })).toBe("stopped")
    expect((await contentsOf(index)).given).toBeGreaterThan(10)
  })

  test("before it took away what an update left does not keep it for ever", async () => {
    const repository = new TestRepository()
    const first = repository.commit({ "README.md": README })
    const index = await openIndex()
    await index.add(repository.root)
    repository.commit({ "README.md": README.replace("anvil", "hammer") })
    expect(await syncUntil(index, "reading", 1)).toBe("stopped")
    repository.git("reset", "--quiet", "--hard", first)
    await index.sync()
    expect(await index.filesWith("anvil")).toEqual(["README.md"])
    await expectSound(index.app)
  })

  test("of a branch that moves before the next one leaves nothing of the older commit", async () => {
    const repository = new TestRepository()
    repository.commit(manyFiles(250))
    const index = await openIndex()
    const id = await index.connect(repository.root)
    expect(await syncUntil(index, "reading", 100)).toBe("stopped")
    const files = Object.keys(manyFiles(250))
    repository.commit({
      ...Object.fromEntries(files.slice(0, 120).map((path) => [path, null])),
      ...Object.fromEntries(files.slice(120, 180).map((path) => [path, `# New\n\n${path}\n`])),
    })
    await index.sync()
    const fresh = await openIndex()
    expect(indexOf(index.app, id)).toEqual(indexOf(fresh.app, await fresh.add(repository.root)))
    await expectSound(index.app)
  })
})

describe("two that index at once", () => {
  test("are one that does and one that is told so, and nothing breaks", async () => {
    const repository = new TestRepository()
    repository.commit(manyFiles(250))
    const index = await openIndex()
    const id = await index.connect(repository.root)
    const other = await openIndex({ databasePath: index.app.config.databasePath })
    const results: Promise<string>[] = []
    const first = runIndexing(index.app, { onProgress: () => results.push(runIndexing(other.app)) })
    expect(await first).toBe("done")
    const told = await Promise.all(results)
    expect(told.length).toBeGreaterThan(3)
    expect(new Set(told.slice(0, 3))).toEqual(new Set(["busy"]))
    const fresh = await openIndex()
    expect(indexOf(index.app, id)).toEqual(indexOf(fresh.app, await fresh.add(repository.root)))
    await expectSound(index.app)
  })

  test("may begin again when the one before has closed its lock", async () => {
    const index = await openIndex()
    const lock = openProcessLock(`${index.app.config.databasePath}.indexing.lock`)
    expect(lock.tryTake()).toBe(true)
    expect(await runIndexing(index.app)).toBe("busy")
    lock.close()
    expect(await runIndexing(index.app)).toBe("done")
  })
})

describe("a repository that is let go", () => {
  test("leaves nothing behind, and lends no answer to the one that comes after it", async () => {
    const one = new TestRepository()
    one.commit({ "a.md": README })
    const two = new TestRepository()
    two.commit({ "b.md": README.replace("morning", "evening") })
    const index = await openIndex()
    const id = await index.add(one.root)
    expect(await index.filesWith("anvil")).toEqual(["a.md"])
    await disconnectRepository(index.app, await repositoryOf(index, id))
    await expectSound(index.app)
    expect(await contentsOf(index)).toEqual({ given: 0, kept: 0 })
    await index.add(two.root)
    expect(await index.filesWith("anvil")).toEqual(["b.md"])
    await expectSound(index.app)
  })

  test.each([
    ["reading", 100],
    ["embedding", 40],
  ] as const)("while another process is %s it ends that work without harm", async (phase, done) => {
    const repository = new TestRepository()
    repository.commit(manyFiles(250))
    const other = new TestRepository()
    other.commit({ "b.md": README })
    const index = await openIndex()
    const id = await index.connect(repository.root)
    const otherId = await index.connect(other.root)
    const second = await openIndex({ databasePath: index.app.config.databasePath })
    let gone: Promise<unknown> | undefined
    await runIndexing(index.app, {
      onProgress: ({ id: at }, work) => {
        if (gone !== undefined || at !== id || work.phase !== phase || work.done < done) return
        gone = repositoryOf(second, id).then((found) => disconnectRepository(second.app, found))
      },
    })
    expect(await gone).toEqual({ isConnected: false, isCloneDeleted: false, isRemoved: true })
    await index.sync()
    expect(await index.filesWith("anvil", { repository: otherId })).toEqual(["b.md"])
    await expectSound(index.app)
  })
})

describe("a search while another process reads", () => {
  test("answers from what was there, and says that the branch has moved", async () => {
    const repository = new TestRepository()
    repository.git("remote", "add", "origin", "https://github.com/acme/docs.git")
    const commit = repository.commit({ "README.md": README })
    const index = await openIndex()
    await index.add(repository.root)
    const lock = openProcessLock(`${index.app.config.databasePath}.indexing.lock`)
    expect(lock.tryTake()).toBe(true)
    repository.commit({ "README.md": README.replace("anvil", "hammer") })
    const { results, notes } = await index.search("anvil", { using: "words" })
    expect(results.map(({ url }) => url)).toEqual([expect.stringContaining(`/blob/${commit}/README.md`)])
    expect(notes).toHaveLength(1)
    lock.close()
    expect(await index.filesWith("hammer")).toEqual(["README.md"])
    await expectSound(index.app)
  })

  test("does not date files of a branch that is read for the first time before they were made", async () => {
    const repository = new TestRepository()
    repository.commit(manyFiles(250))
    const index = await openIndex()
    await index.connect(repository.root)
    expect(await syncUntil(index, "reading", 100)).toBe("stopped")
    const lock = openProcessLock(`${index.app.config.databasePath}.indexing.lock`)
    expect(lock.tryTake()).toBe(true)
    const { results, notes } = await index.search("anvil", { using: "words" })
    lock.close()
    expect(notes).toHaveLength(1)
    expect(results.length).toBeGreaterThan(0)
    for (const { last_updated } of results)
      expect(Date.parse(last_updated)).toBeGreaterThan(1_600_000_000_000)
  })

  test("answers from one commit alone, though the branch moved while it was read for the first time", async () => {
    const repository = new TestRepository()
    repository.git("remote", "add", "origin", "https://github.com/acme/docs.git")
    repository.commit(manyFiles(250))
    const index = await openIndex()
    await index.connect(repository.root)
    expect(await syncUntil(index, "reading", 100)).toBe("stopped")
    const files = Object.entries(manyFiles(250))
    // The new ones come first, so that the old texts of all others would still be there.
    const first = files.slice(0, 120).map(([path, text]) => [`a-${path}`, `Early.\n\n${text}`] as const)
    const changed = files.map(([path, text]) => [path, `Anew.\n\n${text}`] as const)
    repository.commit({ ...Object.fromEntries(changed), ...Object.fromEntries(first) })
    expect(await syncUntil(index, "reading", 100)).toBe("stopped")
    const lock = openProcessLock(`${index.app.config.databasePath}.indexing.lock`)
    expect(lock.tryTake()).toBe(true)
    const { results } = await index.search("anvil forged", { using: "words", limit: 20 })
    expectOfOneCommit(repository, results)
    lock.close()
    await index.sync()
    await expectSound(index.app)
  })

  test("answers from one commit alone, at whichever moment the branch turns to another", async () => {
    const repository = new TestRepository()
    repository.git("remote", "add", "origin", "https://github.com/acme/docs.git")
    const turn = (time: number) => {
      const lines = Array.from({ length: time % 3 }, () => "Before it.\n")
      repository.commit({
        "README.md": `# Read me\n\n${lines.join("")}The anvil of turn ${time} is forged.\n`,
        [`a-${time % 2}.md`]: `# A ${time}\n\nAnother anvil, ${time}.\n`,
        [`a-${(time + 1) % 2}.md`]: null,
      })
    }
    repository.commit({ "a-1.md": "# A\n" })
    turn(0)
    const writer = await openIndex()
    await writer.add(repository.root)
    const other = await openIndex({ databasePath: writer.app.config.databasePath })
    let isReached = true
    for (let moment = 1; isReached; moment += 1) {
      isReached = false
      let count = 0
      const reader = whenever(other, async () => {
        count += 1
        if (count !== moment) return
        isReached = true
        turn(moment)
        await runIndexing(writer.app)
      })
      // Another query each time, so that none is answered as one before.
      const { results } = await reader.search(`anvil forged ${moment}`, { using: "words" })
      expectOfOneCommit(repository, results)
    }
    await writer.sync()
    await expectSound(writer.app)
  })
})

/** Fails the test unless each result is the text of the commit that its link names, on the lines that it names. */
function expectOfOneCommit(repository: TestRepository, results: readonly FoundPassage[]): void {
  expect(results.length).toBeGreaterThan(0)
  for (const { url, file, content, line_start, line_end } of results) {
    const commit = url.split("/")[6] ?? ""
    const lines = repository.git("show", `${commit}:${file}`).split("\n")
    const expected = lines.slice(line_start - 1, line_end).join("\n")
    expect(content.trim(), `${file} of ${commit}`).toBe(expected.trim())
  }
}

/** Returns an index that has something done before each of its reads outside of a transaction. */
function whenever({ app }: Index, work: () => Promise<void>): Index {
  const { db } = app
  return new Index({
    ...app,
    db: {
      all: async (sql, args) => {
        await work()
        return db.all(sql, args)
      },
      get: async (sql, args) => {
        await work()
        return db.get(sql, args)
      },
      run: (sql, args) => db.run(sql, args),
      transaction: (lock, body) => db.transaction(lock, body),
      watch: (onChange) => db.watch(onChange),
      close: () => db.close(),
    },
  })
}
