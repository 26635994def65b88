import { describe, expect, test, vi } from "vitest"
import { documentationStatements } from "../../../src/store/documentation/documentation.ts"
import { TestRepository } from "../../git/support.ts"
import { expectSound, Index, openIndex } from "../../support/documentation-index.ts"

const REMOTE = "https://github.com/acme/docs"

const GUIDE = "# Guide\n\nThe anvil is forged in the morning.\n"
const NOTES = "# Notes\n\nA bellows needs leather every year.\n"

/** A repository with two files on `main`, its branch `next` with another text of one, both read. */
async function room(): Promise<{ repository: TestRepository; index: Index; id: number }> {
  const repository = new TestRepository()
  repository.git("remote", "add", "origin", `${REMOTE}.git`)
  repository.commit({ "guide.md": GUIDE })
  repository.commit({ "notes.md": NOTES })
  repository.git("checkout", "--quiet", "-b", "next")
  repository.commit({ "guide.md": GUIDE.replace("anvil", "crucible") })
  repository.git("checkout", "--quiet", "main")
  const index = await openIndex()
  const id = await index.add(repository.root, "next")
  return { repository, index, id }
}

/** Fails the test unless a word is found in these files alone, each as it stands on the branch now. */
async function expectFound(
  { repository, index }: { repository: TestRepository; index: Index },
  word: string,
  files: string[],
  branch?: string,
): Promise<void> {
  const place = branch === undefined ? {} : { branch }
  const { results, notes } = await index.search(word, { using: "words", ...place })
  expect(notes).toEqual([])
  expect(results.map(({ file }) => file).sort(), `where "${word}" is found`).toEqual(files)
  for (const { file, content, url, last_updated, branch: name } of results) {
    const commit = repository.head(name)
    expect(content).toContain(word)
    expect(repository.git("show", `${commit}:${file}`)).toContain(content.trim())
    expect(url).toContain(`${REMOTE}/blob/${commit}/${file}`)
    const seconds = repository.git("log", "-1", "--format=%ct", commit, "--", file)
    expect(Date.parse(last_updated), `when ${file} was changed on ${name}`).toBe(Number(seconds) * 1_000)
  }
}

/** Fails the test unless a search finds nothing that is to be brought up to date: it then writes nothing. */
async function expectUpToDate({ app }: Index): Promise<void> {
  const locks: string[] = []
  const { db } = app
  const watching = new Index({
    ...app,
    db: {
      all: (sql, args) => db.all(sql, args),
      get: (sql, args) => db.get(sql, args),
      run: (sql, args) => db.run(sql, args),
      transaction: (lock, body) => {
        locks.push(lock)
        return db.transaction(lock, body)
      },
      watch: (onChange) => db.watch(onChange),
      close: () => db.close(),
    },
  })
  await watching.search("anvil")
  expect(locks).toEqual([])
}

describe("two branches with different texts of one file", () => {
  test("are searched each by its own text", async () => {
    const where = await room()
    await expectFound(where, "anvil", ["guide.md"])
    await expectFound(where, "crucible", [])
    await expectFound(where, "crucible", ["guide.md"], "next")
    await expectFound(where, "anvil", [], "next")
    await expectFound(where, "bellows", ["notes.md"])
    await expectFound(where, "bellows", ["notes.md"], "next")
    await expectUpToDate(where.index)
    await expectSound(where.index.app)
  })

  test("are searched as they are when one takes the other's text", async () => {
    const where = await room()
    where.repository.commit({ "guide.md": GUIDE.replace("anvil", "crucible") })
    await expectFound(where, "crucible", ["guide.md"])
    await expectFound(where, "crucible", ["guide.md"], "next")
    await expectFound(where, "anvil", [])
    await expectSound(where.index.app)
  })
})

describe("the next search answers from", () => {
  test("a commit", async () => {
    const where = await room()
    where.repository.commit({ "guide.md": GUIDE.replace("anvil", "hammer"), "new.md": "# New\n\ntongs\n" })
    await expectFound(where, "hammer", ["guide.md"])
    await expectFound(where, "tongs", ["new.md"])
    await expectFound(where, "anvil", [])
    await expectSound(where.index.app)
  })

  test("a commit on a branch that is not the default one", async () => {
    const where = await room()
    where.repository.git("checkout", "--quiet", "next")
    where.repository.commit({ "new.md": "# New\n\ntongs\n" })
    where.repository.git("checkout", "--quiet", "main")
    await expectFound(where, "tongs", ["new.md"], "next")
    await expectFound(where, "tongs", [])
    await expectSound(where.index.app)
  })

  test("a renamed file", async () => {
    const where = await room()
    where.repository.git("mv", "guide.md", "manual.md")
    where.repository.commit()
    await expectFound(where, "anvil", ["manual.md"])
    await expectFound(where, "crucible", ["guide.md"], "next")
    await expectSound(where.index.app)
  })

  test("a file that only changes the case of its name", async () => {
    const where = await room()
    where.repository.git("mv", "guide.md", "GUIDE.md")
    where.repository.commit()
    await expectFound(where, "anvil", ["GUIDE.md"])
    await expectSound(where.index.app)
  })

  test("a folder that takes the place of a file, and the other way round", async () => {
    const where = await room()
    where.repository.commit({ "guide.md": null })
    where.repository.commit({ "guide.md/part.md": GUIDE })
    await expectFound(where, "anvil", ["guide.md/part.md"])
    where.repository.commit({ "guide.md/part.md": null })
    where.repository.git("rm", "--quiet", "notes.md")
    where.repository.commit({ "notes.md/a.md": NOTES })
    await expectFound(where, "anvil", [])
    await expectFound(where, "bellows", ["notes.md/a.md"])
    await expectSound(where.index.app)
  })

  test("a deleted file, of which no word is left", async () => {
    const where = await room()
    where.repository.commit({ "notes.md": null })
    await expectFound(where, "bellows", [])
    await expectFound(where, "bellows", ["notes.md"], "next")
    await expectSound(where.index.app)
  })

  test("a branch that was rebased", async () => {
    const where = await room()
    const { repository } = where
    repository.commit({ "new.md": "# New\n\ntongs\n" })
    repository.git("checkout", "--quiet", "next")
    repository.tick()
    repository.git("rebase", "--quiet", "main")
    repository.git("checkout", "--quiet", "main")
    await expectFound(where, "tongs", ["new.md"], "next")
    await expectFound(where, "crucible", ["guide.md"], "next")
    await expectSound(where.index.app)
  })

  test("a branch that was forced back, with the times that were true then", async () => {
    const where = await room()
    const { repository } = where
    const before = repository.head()
    repository.commit({ "guide.md": GUIDE.replace("anvil", "hammer"), "notes.md": `${NOTES}\nMore.\n` })
    await expectFound(where, "hammer", ["guide.md"])
    repository.git("reset", "--quiet", "--hard", before)
    await expectFound(where, "anvil", ["guide.md"])
    await expectFound(where, "bellows", ["notes.md"])
    await expectFound(where, "hammer", [])
    await expectSound(where.index.app)
  })

  test("a commit that was amended, also when only its time is another", async () => {
    const where = await room()
    const { repository } = where
    repository.commit({ "guide.md": GUIDE.replace("anvil", "hammer") })
    await expectFound(where, "hammer", ["guide.md"])
    repository.tick(3_600)
    repository.git("commit", "--quiet", "--amend", "--no-edit", "--date=now")
    await expectFound(where, "hammer", ["guide.md"])
    await expectSound(where.index.app)
  })

  test("a change that was taken back, which is as new as its taking back", async () => {
    const where = await room()
    where.repository.commit({ "guide.md": "# Guide\n\nNothing.\n" })
    where.repository.commit({ "guide.md": GUIDE })
    await expectFound(where, "anvil", ["guide.md"])
    await expectSound(where.index.app)
  })

  test("a merge, with the times of the commits that it brings", async () => {
    const where = await room()
    const { repository } = where
    repository.commit({ "notes.md": NOTES.replace("leather", "felt") })
    repository.merge("next")
    await expectFound(where, "crucible", ["guide.md"])
    await expectFound(where, "felt", ["notes.md"])
    await expectFound(where, "crucible", ["guide.md"], "next")
    await expectSound(where.index.app)
  })

  test("a merge of a line that is older than what was read", async () => {
    const where = await room()
    const { repository } = where
    repository.git("checkout", "--quiet", "-b", "old", "main~1")
    repository.commit({ "old.md": "# Old\n\ntongs\n" })
    repository.git("checkout", "--quiet", "main")
    repository.commit({ "notes.md": NOTES.replace("leather", "felt") })
    await expectFound(where, "felt", ["notes.md"])
    repository.merge("old")
    await expectFound(where, "tongs", ["old.md"])
    await expectFound(where, "anvil", ["guide.md"])
    await expectSound(where.index.app)
  })

  test("a default branch that was renamed", async () => {
    const where = await room()
    where.repository.git("branch", "--move", "main", "trunk")
    await expectFound(where, "anvil", ["guide.md"])
    expect((await where.index.search("anvil")).results[0]?.branch).toBe("trunk")
    await expect(where.index.search("anvil", { branch: "main" })).rejects.toThrow(
      'branch "main" was not found; known are: next, trunk',
    )
    await expectSound(where.index.app)
  })

  test("the default branch still when somebody works on another one", async () => {
    const where = await room()
    where.repository.git("checkout", "--quiet", "-b", "topic")
    where.repository.commit({ "new.md": "# New\n\ntongs\n" })
    await expectFound(where, "tongs", [])
    await expectFound(where, "tongs", ["new.md"], "topic")
    await expectSound(where.index.app)
  })

  test("what is left when the default branch goes, and finds it up to date from then on", async () => {
    const where = await room()
    const { repository, index } = where
    await expectFound(where, "anvil", ["guide.md"])
    repository.git("checkout", "--quiet", "next")
    await expectFound(where, "anvil", ["guide.md"])
    repository.git("branch", "-D", "main")
    await expectFound(where, "crucible", ["guide.md"])
    await expectUpToDate(index)
    await expectSound(index.app)
  })

  test("a default branch that comes later, and finds it up to date from then on", async () => {
    const where = await room()
    const { repository, index } = where
    repository.git("checkout", "--quiet", "next")
    repository.git("branch", "-D", "main")
    await expectFound(where, "crucible", ["guide.md"])
    repository.git("branch", "main", "next~1")
    await expectFound(where, "anvil", ["guide.md"])
    await expectUpToDate(index)
    await expectSound(index.app)
  })

  test("the remote's default branch when that is another", async () => {
    const where = await room()
    const { repository } = where
    repository.git("update-ref", "refs/remotes/origin/next", "next")
    repository.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/next")
    await expectFound(where, "crucible", ["guide.md"])
    await expectFound(where, "anvil", ["guide.md"], "main")
    await expectSound(where.index.app)
  })

  test("a branch whose reference was packed", async () => {
    const where = await room()
    where.repository.git("pack-refs", "--all")
    await expectFound(where, "anvil", ["guide.md"])
    where.repository.commit({ "new.md": "# New\n\ntongs\n" })
    await expectFound(where, "tongs", ["new.md"])
    where.repository.git("pack-refs", "--all")
    where.repository.git("gc", "--quiet", "--prune=now")
    await expectFound(where, "tongs", ["new.md"])
    await expectSound(where.index.app)
  })
})

describe("a branch that is deleted", () => {
  test("is not known at the next search of it, and nothing of it is left", async () => {
    const where = await room()
    where.repository.git("branch", "-D", "next")
    await expect(where.index.search("crucible", { branch: "next" })).rejects.toThrow(
      'branch "next" was not found; known are: main',
    )
    await where.index.sync()
    await expectFound(where, "crucible", [])
    await expectSound(where.index.app)
  })

  test("does not lend its answers to one that is searched after it", async () => {
    const where = await room()
    const { repository } = where
    repository.git("checkout", "--quiet", "-b", "other", "main")
    repository.commit({ "notes.md": NOTES.replace("bellows", "tongs") })
    repository.git("checkout", "--quiet", "main")
    await expectFound(where, "crucible", ["guide.md"], "next")
    repository.git("branch", "-D", "next")
    await where.index.sync()
    // As many steps have led to it as to the one before it.
    await expectFound(where, "tongs", ["notes.md"], "other")
    await expectFound(where, "crucible", [], "other")
    await expectSound(where.index.app)
  })

  test("is searched again when it comes back with other texts", async () => {
    const where = await room()
    const { repository } = where
    repository.git("branch", "-D", "next")
    await where.index.sync()
    repository.git("branch", "next", "main")
    await expectFound(where, "anvil", ["guide.md"], "next")
    await expectFound(where, "crucible", [], "next")
    await expectSound(where.index.app)
  })
})

describe("a link", () => {
  test("leads to the remote that was set after the repository was read", async () => {
    const where = await room()
    const other = "https://gitlab.com/acme/docs"
    where.repository.git("remote", "set-url", "origin", `${other}.git`)
    await where.index.sync()
    const { results } = await where.index.search("anvil")
    expect(results[0]?.url).toContain(`${other}/-/blob/${where.repository.head()}/guide.md`)
  })
})

describe("a file that is ignored", () => {
  test("is found once it no longer is, with the time of its last commit", async () => {
    const repository = new TestRepository()
    repository.git("remote", "add", "origin", `${REMOTE}.git`)
    repository.commit({ "guide.md": GUIDE, "drafts/notes.md": NOTES })
    repository.commit({ "guide.md": GUIDE.replace("anvil", "hammer") })
    const before = await openIndex({ ignored: ["drafts/**"] })
    await before.add(repository.root)
    await expectFound({ repository, index: before }, "bellows", [])
    await expectSound(before.app)

    const index = await openIndex({ databasePath: before.app.config.databasePath })
    await expectFound({ repository, index }, "bellows", ["drafts/notes.md"])
    await expectFound({ repository, index }, "hammer", ["guide.md"])
    await expectSound(index.app)
  })

  test("is gone from what was read before", async () => {
    const where = await room()
    const index = await openIndex({
      databasePath: where.index.app.config.databasePath,
      ignored: ["**/notes.md"],
    })
    await expectFound({ ...where, index }, "bellows", [])
    await index.sync()
    await expectFound({ ...where, index }, "bellows", [], "next")
    await expectSound(index.app)
  })
})

test("a search loads a branch's state once, and looks once more whether anybody has written meanwhile", async () => {
  const { index } = await room()
  const get = vi.spyOn(index.app.db, "get")
  const readsFor = async (query: string) => {
    get.mockClear()
    await index.search(query)
    const countOf = (statement: string) => get.mock.calls.filter(([sql]) => sql === statement).length
    const { findRepository, findBranch } = documentationStatements
    return { repository: countOf(findRepository), branch: countOf(findBranch) }
  }
  expect(await readsFor("anvil")).toEqual({ repository: 1, branch: 2 })
  // The same question again is answered from what was found.
  expect(await readsFor("anvil")).toEqual({ repository: 1, branch: 1 })
})
