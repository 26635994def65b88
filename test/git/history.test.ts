/** The times of last changes, held to git's own answer for each path. */

import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { GitError } from "../../src/git/git-process.ts"
import { lastChanges } from "../../src/git/history.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { git, TestRepository } from "./support.ts"

/** What git says of each path of a commit, one by one. */
function answersOfGit(root: string, commit: string, paths: Iterable<string>): Map<string, number> {
  const answers = new Map<string, number>()
  for (const path of paths) {
    const answer = git(root, ["log", "-1", "--format=%ct", commit, "--", path]).trim()
    if (answer !== "") answers.set(path, Number(answer) * 1_000)
  }
  return answers
}

function sorted(times: ReadonlyMap<string, number>): [string, number][] {
  return [...times].sort(([a], [b]) => (a < b ? -1 : 1))
}

async function expectAsGit(repository: TestRepository, commit: string, paths: readonly string[]) {
  const times = await lastChanges(repository.gitFolder, commit, new Set(paths))
  expect(sorted(times)).toEqual(sorted(answersOfGit(repository.root, commit, paths)))
  return times
}

describe("the time of a path's last change", () => {
  test("is the committer's time of the last commit that touched it, not the author's", async () => {
    const repository = new TestRepository()
    repository.commit({ "a.md": "1" })
    repository.commit({ "b.md": "1" })
    repository.git("commit", "--quiet", "--amend", "--no-edit", "--date=@1000000000 +0000")
    const seconds = repository.tick(0)
    const times = await expectAsGit(repository, repository.head(), ["a.md", "b.md", "never.md"])
    expect(sorted(times)).toEqual([
      ["a.md", (seconds - 60) * 1_000],
      ["b.md", seconds * 1_000],
    ])
  })

  test("is that of the change that was kept when two lines met", async () => {
    const repository = new TestRepository()
    repository.commit({ "a.md": "1", "b.md": "1", "c.md": "1" })
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit({ "a.md": "side" })
    repository.git("checkout", "--quiet", "main")
    repository.commit({ "b.md": "main" })
    repository.merge("side")
    await expectAsGit(repository, repository.head(), ["a.md", "b.md", "c.md"])
  })

  test("is the merge's own for what it has from no parent", async () => {
    const repository = new TestRepository()
    repository.commit({ "a.md": "1", "b.md": "1" })
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit({ "a.md": "side" })
    repository.git("checkout", "--quiet", "main")
    repository.commit({ "a.md": "main" })
    const merge = repository.merge("side", { "a.md": "both", "new.md": "evil" })
    const times = await expectAsGit(repository, merge, ["a.md", "b.md", "new.md"])
    expect(times.get("a.md")).toBe(repository.tick(0) * 1_000)
    expect(times.get("new.md")).toBe(repository.tick(0) * 1_000)
  })

  test("leaves out a change that a merge threw away", async () => {
    const repository = new TestRepository()
    repository.commit({ "a.md": "1" })
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit({ "a.md": "side" })
    repository.git("checkout", "--quiet", "main")
    repository.commit({ "b.md": "1" })
    repository.git("merge", "--quiet", "--no-ff", "--strategy=ours", "side", "--message", "Merge")
    await expectAsGit(repository, repository.head(), ["a.md", "b.md"])
  })

  test("is found where a merge has all as one parent had it", async () => {
    const repository = new TestRepository()
    repository.commit({ "a.md": "1", "b.md": "1" })
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit({ "a.md": "2" })
    repository.git("checkout", "--quiet", "main")
    repository.merge("side")
    repository.git("checkout", "--quiet", "-b", "third", "HEAD~1")
    repository.commit({ "b.md": "2" })
    repository.git("checkout", "--quiet", "main")
    repository.git("merge", "--quiet", "--strategy=octopus", "side", "third", "--message", "Octopus")
    await expectAsGit(repository, repository.head(), ["a.md", "b.md"])
  })

  test("is that of a revert, a rename, a change of mode, of kind and of a name that is a folder now", async () => {
    const repository = new TestRepository()
    repository.commit({ "a.md": "1", "b.md": "1", "c.md": "1", "d.md": "1", e: "1" })
    repository.commit({ "a.md": "2" })
    repository.git("revert", "--no-edit", "HEAD")
    repository.git("mv", "b.md", "moved.md")
    repository.commit()
    repository.git("update-index", "--chmod=+x", "c.md")
    repository.git("commit", "--quiet", "--message", "Mode")
    repository.commit({ e: null })
    repository.commit({ "e/f.md": "1" })
    const paths = ["a.md", "b.md", "moved.md", "c.md", "d.md", "e", "e/f.md"]
    // Asked for a folder's path, git answers for what is below; nobody asks for the time of a folder here.
    await expectAsGit(
      repository,
      repository.head(),
      paths.filter((path) => path !== "e"),
    )
  })

  test("is right for commits that are dated before their parents", async () => {
    const repository = new TestRepository()
    repository.commit({ "a.md": "1", "b.md": "1" })
    repository.git("checkout", "--quiet", "-b", "side")
    repository.tick(100_000)
    repository.commit({ "a.md": "side" })
    repository.tick(-200_000)
    repository.commit({ "b.md": "side" })
    repository.git("checkout", "--quiet", "main")
    repository.commit({ "c.md": "1" })
    repository.merge("side")
    await expectAsGit(repository, repository.head(), ["a.md", "b.md", "c.md"])
  })

  test.each([
    ["odd names", ["gr\u00fcn.md", 'qu"ote.md', "line\nbreak.md", "-dash.md", ":(top)x.md", "[a]*.md", "M"]],
    ["more names at the top than git is told of", Array.from({ length: 40 }, (_, at) => `folder-${at}/a.md`)],
  ])("is found for %s", async (_, paths) => {
    const repository = new TestRepository()
    for (const path of paths) repository.commit({ [path]: "1" })
    const times = await lastChanges(repository.gitFolder, repository.head(), new Set(paths))
    const first = 1_700_000_060
    expect(times).toEqual(new Map(paths.map((path, at) => [path, (first + at * 60) * 1_000])))
  })

  test("is found in a repository of SHA-256 and in a bare one", async () => {
    const repository = new TestRepository(["--object-format=sha256"])
    repository.commit({ "a.md": "1" })
    repository.commit({ "b.md": "1" })
    await expectAsGit(repository, repository.head(), ["a.md", "b.md"])
    const bare = temporaryFolder()
    git(bare, ["clone", "--quiet", "--bare", repository.url, "."])
    const times = await lastChanges(bare, repository.head(), new Set(["a.md", "b.md"]))
    expect(sorted(times)).toEqual(sorted(answersOfGit(bare, repository.head(), ["a.md", "b.md"])))
  })

  test("is not looked for beyond so many commits", async () => {
    const repository = new TestRepository()
    repository.commit({ "old.md": "1" })
    repository.commit({ "new.md": "1" })
    repository.commit({ "newest.md": "1" })
    const paths = new Set(["old.md", "new.md", "newest.md"])
    const datedWithin = async (commitsMax: number) => [
      ...(await lastChanges(repository.gitFolder, repository.head(), paths, { commitsMax })).keys(),
    ]
    expect((await datedWithin(3)).sort()).toEqual(["new.md", "newest.md", "old.md"])
    expect((await datedWithin(2)).sort()).toEqual(["new.md", "newest.md"])
    expect(await datedWithin(1)).toEqual(["newest.md"])
  })

  test("is that of the oldest commit there is in a shallow clone", async () => {
    const repository = new TestRepository()
    repository.commit({ "a.md": "1", "b.md": "1" })
    repository.commit({ "c.md": "1" })
    repository.commit({ "b.md": "2" })
    const clone = temporaryFolder()
    git(clone, ["clone", "--quiet", "--bare", "--depth=2", repository.url, "."])
    const times = await lastChanges(clone, repository.head(), new Set(["a.md", "b.md", "c.md"]))
    expect(sorted(times)).toEqual(sorted(answersOfGit(clone, repository.head(), ["a.md", "b.md", "c.md"])))
    expect(times.get("a.md")).toBe((repository.tick(0) - 60) * 1_000)
  })

  test("is not asked of git for no path at all", async () => {
    const { gitFolder } = new TestRepository()
    expect(await lastChanges(gitFolder, "0".repeat(40), new Set())).toEqual(new Map())
  })
})

describe("changes since an earlier commit", () => {
  test("are given for what changed, and nothing else", async () => {
    const repository = new TestRepository()
    repository.commit({ "a.md": "1", "b.md": "1" })
    const since = repository.commit({ "a.md": "2" })
    repository.commit({ "b.md": "2", "c.md": "1" })
    const paths = new Set(["a.md", "b.md", "c.md"])
    const times = await lastChanges(repository.gitFolder, repository.head(), paths, { since })
    expect([...times.keys()].sort()).toEqual(["b.md", "c.md"])
    expect(await lastChanges(repository.gitFolder, since, paths, { since })).toEqual(new Map())
  })

  test("take in a line of work that began before it, and what a merge brought back", async () => {
    const repository = new TestRepository()
    repository.commit({ "a.md": "1", "b.md": "1", "old.md": "1" })
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit({ "b.md": "side" })
    repository.git("checkout", "--quiet", "main")
    const since = repository.commit({ "a.md": "main" })
    repository.git("checkout", "--quiet", "side")
    repository.git("merge", "--quiet", "--no-ff", "--strategy=ours", "main", "--message", "Merge")
    const paths = ["a.md", "b.md", "old.md"]
    const times = await lastChanges(repository.gitFolder, repository.head(), new Set(paths), { since })
    const full = answersOfGit(repository.root, repository.head(), paths)
    full.delete("old.md")
    expect(sorted(times)).toEqual(sorted(full))
  })
})

test("what is no commit is refused, and an abort ends the reading with its reason", async () => {
  const repository = new TestRepository()
  const commit = repository.commit({ "a.md": "1" })
  const paths = new Set(["a.md"])
  for (const wrong of ["HEAD", "--all", commit.slice(0, 12), "0".repeat(40)]) {
    await expect(lastChanges(repository.gitFolder, wrong, paths)).rejects.toThrow(GitError)
  }
  await expect(lastChanges(repository.gitFolder, commit, paths, { since: "0".repeat(40) })).rejects.toThrow(
    GitError,
  )
  const reason = new Error("enough")
  await expect(
    lastChanges(repository.gitFolder, commit, paths, { signal: AbortSignal.abort(reason) }),
  ).rejects.toBe(reason)
})

/** One thing that happens to a repository; the numbers choose among branches, files and texts. */
type Event = {
  kind: "commit" | "branch" | "merge" | "evil" | "revert" | "back"
  a: number
  b: number
  c: number
}

const PATHS = ["a.md", "b.md", "docs/a.md", "docs/b.md", "docs/deep/c.md"]

function play(repository: TestRepository, events: readonly Event[]): void {
  repository.commit({ [PATHS[0] ?? ""]: "0", [PATHS[1] ?? ""]: "0" })
  const branches = ["main"]
  for (const { kind, a, b, c } of events) {
    const path = PATHS[b % PATHS.length] ?? ""
    const other = branches[a % branches.length] ?? "main"
    if (kind === "branch") {
      const name = `branch-${branches.length}`
      repository.git("checkout", "--quiet", "-b", name, other)
      branches.push(name)
    } else if (kind === "back") {
      repository.git("checkout", "--quiet", other)
      // A clock that goes wrong now and then.
      repository.tick(c % 4 === 0 ? -600 : 600)
    } else if (kind === "merge" || kind === "evil") {
      const isNews = repository.git("rev-list", "--count", `HEAD..${other}`).trim() !== "0"
      if (isNews) repository.merge(other, kind === "evil" ? { [path]: `evil ${c}` } : {})
    } else if (kind === "revert") {
      // Goes back to the text that a path began with.
      repository.commit({ [path]: "0" })
    } else {
      repository.commit({ [path]: `${c % 3}` })
    }
  }
}

const event: fc.Arbitrary<Event> = fc.record({
  kind: fc.constantFrom("commit", "commit", "branch", "merge", "merge", "evil", "revert", "back", "back"),
  a: fc.nat(20),
  b: fc.nat(20),
  c: fc.nat(20),
})

/** `GIT_RUNS=200 npx vitest run test/git/history.test.ts` looks harder than every day. */
const RUNS = Number(process.env.GIT_RUNS ?? 6)

test("on generated histories every path has the time that git gives it", {
  timeout: 60_000 + RUNS * 4_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 6, maxLength: 18 }), fc.nat(100), async (events, at) => {
      const repository = new TestRepository()
      play(repository, events)
      const commit = repository.head()
      await expectAsGit(repository, commit, PATHS)
      const commits = repository.git("rev-list", "--first-parent", commit).trim().split("\n")
      const since = commits[at % commits.length] ?? commit
      // What is read later on top of an earlier answer has each path that differs, at git's time for it.
      const news = await lastChanges(repository.gitFolder, commit, new Set(PATHS), { since })
      const full = answersOfGit(repository.root, commit, PATHS)
      for (const [path, timeMs] of news) expect([path, timeMs]).toEqual([path, full.get(path)])
      const differing = repository.git("diff", "--name-only", "--no-renames", since, commit).trim()
      const present = new Set(repository.git("ls-tree", "-r", "--name-only", commit).trim().split("\n"))
      for (const path of differing.split("\n")) if (present.has(path)) expect(news.has(path)).toBe(true)
    }),
    { numRuns: RUNS },
  )
})
