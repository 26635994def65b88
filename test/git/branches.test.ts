/** Branches as git lists them, and read from its files. */

import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { remove } from "../../scripts/removal.ts"
import {
  branchCommitNow,
  defaultBranchOf,
  findBranch,
  headCommit,
  isBranchName,
  listBranches,
  UNKNOWN_COMMIT,
} from "../../src/git/branches.ts"
import { GitError } from "../../src/git/git-process.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { git, TestRepository } from "./support.ts"

/** A clone that has a branch of its own, one in common with its origin, and one that only the origin has. */
function clonedRepository() {
  const origin = new TestRepository()
  const first = origin.commit({ "a.md": "1" })
  origin.git("branch", "theirs/deep")
  const second = origin.commit({ "a.md": "2" })
  const root = join(temporaryFolder(), "clone")
  git(origin.root, ["clone", "--quiet", origin.url, root])
  git(root, ["branch", "own", first])
  return { origin, root, gitFolder: join(root, ".git"), first, second }
}

describe("the branches of a repository", () => {
  test("are its own and those that only the remote has, by name", async () => {
    const { root, gitFolder, first, second } = clonedRepository()
    git(root, ["update-ref", "refs/remotes/other/main", first])
    git(root, ["update-ref", "refs/heads/main", first])
    expect(await listBranches(gitFolder)).toEqual([
      { name: "main", commit: first, isRemote: false },
      { name: "own", commit: first, isRemote: false },
      { name: "theirs/deep", commit: first, isRemote: true },
    ])
    expect(await findBranch(gitFolder, "theirs/deep")).toEqual({
      name: "theirs/deep",
      commit: first,
      isRemote: true,
    })
    expect(await headCommit(gitFolder)).toBe(first)
    expect(first).not.toBe(second)
  })

  test("are found by their whole name only", async () => {
    const { gitFolder } = clonedRepository()
    for (const name of ["theirs", "deep", "origin/main", "mai", "HEAD", "", "*", "../heads/main", "--all"]) {
      expect(await findBranch(gitFolder, name), name).toBeUndefined()
    }
  })

  test("are none in a repository without commits", async () => {
    const { gitFolder } = new TestRepository()
    expect(await listBranches(gitFolder)).toEqual([])
    expect(await defaultBranchOf(gitFolder)).toBeNull()
    expect(await headCommit(gitFolder)).toBeUndefined()
    expect(branchCommitNow(gitFolder, "main")).toBeUndefined()
  })

  test("cannot be listed where there is no repository", async () => {
    await expect(listBranches(temporaryFolder())).rejects.toThrow(GitError)
  })
})

describe("the branch that is read unless another is named", () => {
  test("is the remote's default, though HEAD is elsewhere", async () => {
    const { root, gitFolder } = clonedRepository()
    git(root, ["checkout", "--quiet", "own"])
    expect(await defaultBranchOf(gitFolder)).toBe("main")
  })

  test("is the one that HEAD stands on where the remote's default is gone and no other is the usual one", async () => {
    const { root, gitFolder } = clonedRepository()
    git(root, ["checkout", "--quiet", "own"])
    git(root, ["branch", "--quiet", "-D", "main"])
    git(root, ["update-ref", "--no-deref", "-d", "refs/remotes/origin/main"])
    expect(await defaultBranchOf(gitFolder)).toBe("own")
  })

  test("is main in a work tree without a remote, whatever is checked out, and HEAD's where there is no main", async () => {
    const alone = new TestRepository()
    alone.commit()
    alone.git("checkout", "--quiet", "-b", "feature")
    expect(await defaultBranchOf(alone.gitFolder)).toBe("main")
    alone.git("branch", "--quiet", "-D", "main")
    expect(await defaultBranchOf(alone.gitFolder)).toBe("feature")
  })

  test.each([
    ["a usual name where HEAD is on none", ["zeta", "trunk"], "trunk"],
    ["the newest of others", ["alpha", "zeta", "beta"], "beta"],
    ["the only one", ["odd"], "odd"],
    ["none where there is none", [], null],
  ])("is %s", async (_, names, expected) => {
    const repository = new TestRepository()
    repository.commit()
    repository.git("checkout", "--quiet", "--detach")
    repository.git("branch", "--quiet", "-D", "main")
    for (const name of names) repository.git("branch", name, repository.commit({ a: name }))
    expect(await defaultBranchOf(repository.gitFolder)).toBe(expected)
  })
})

describe("the commit of a branch, read from files", () => {
  test("is the one that git tells, loose, packed, changed since it was packed, and of the remote", async () => {
    const { root, gitFolder, first, second } = clonedRepository()
    const expectAsGit = async () => {
      for (const name of ["main", "own", "theirs/deep", "none"]) {
        expect(branchCommitNow(gitFolder, name), name).toBe((await findBranch(gitFolder, name))?.commit)
      }
    }
    await expectAsGit()
    git(root, ["pack-refs", "--all", "--prune"])
    await expectAsGit()
    git(root, ["update-ref", "refs/heads/own", second])
    expect(branchCommitNow(gitFolder, "own")).toBe(second)
    git(root, ["pack-refs", "--all", "--prune"])
    git(root, ["update-ref", "refs/heads/none", first])
    await expectAsGit()
    git(root, ["branch", "--quiet", "-D", "own"])
    expect(branchCommitNow(gitFolder, "own")).toBeUndefined()
    await expectAsGit()
  })

  test("is followed through a branch that is a link to another", () => {
    const { root, gitFolder, first } = clonedRepository()
    git(root, ["symbolic-ref", "refs/heads/alias", "refs/heads/own"])
    expect(branchCommitNow(gitFolder, "alias")).toBe(first)
    git(root, ["symbolic-ref", "refs/heads/circle", "refs/heads/circle"])
    expect(branchCommitNow(gitFolder, "circle")).toBe(UNKNOWN_COMMIT)
  })

  test("is found in a repository of SHA-256", () => {
    const repository = new TestRepository(["--object-format=sha256"])
    const commit = repository.commit()
    expect(commit).toHaveLength(64)
    expect(branchCommitNow(repository.gitFolder, "main")).toBe(commit)
    repository.git("pack-refs", "--all", "--prune")
    expect(branchCommitNow(repository.gitFolder, "main")).toBe(commit)
  })

  test("is not told apart from the name of a folder of branches", () => {
    const { gitFolder } = clonedRepository()
    expect(branchCommitNow(gitFolder, "theirs")).toBeUndefined()
    expect(branchCommitNow(gitFolder, "main/below")).toBeUndefined()
  })

  test("is unknown where files do not tell: another format, a worktree's folder, no repository, garbage", () => {
    const { root, gitFolder } = clonedRepository()
    const tree = join(temporaryFolder(), "tree")
    git(root, ["worktree", "add", "--quiet", tree, "own"])
    expect(branchCommitNow(join(gitFolder, "worktrees", "tree"), "own")).toBe(UNKNOWN_COMMIT)
    expect(branchCommitNow(temporaryFolder(), "main")).toBe(UNKNOWN_COMMIT)
    writeFileSync(join(gitFolder, "refs/heads/own"), "0123")
    expect(branchCommitNow(gitFolder, "own")).toBe(UNKNOWN_COMMIT)
    const other = temporaryFolder()
    mkdirSync(join(other, "reftable"))
    mkdirSync(join(other, "refs"))
    writeFileSync(join(other, "HEAD"), "ref: refs/heads/.invalid\n")
    writeFileSync(join(other, "refs/heads"), "this repository uses the reftable format\n")
    expect(branchCommitNow(other, "main")).toBe(UNKNOWN_COMMIT)
    remove(join(other, "reftable"))
    expect(branchCommitNow(other, "main")).toBeUndefined()
  })

  test("is never that of a file outside the branches", () => {
    const repository = new TestRepository()
    const commit = repository.commit()
    writeFileSync(join(repository.gitFolder, "ORIG_HEAD"), `${commit}\n`)
    writeFileSync(join(repository.gitFolder, "refs/heads/link"), "ref: refs/heads/../../ORIG_HEAD\n")
    for (const name of [
      "../../ORIG_HEAD",
      "a/../../../ORIG_HEAD",
      "/etc/passwd",
      "main\0",
      ".",
      "..",
      "a//b",
    ]) {
      expect(branchCommitNow(repository.gitFolder, name), name).toBeUndefined()
    }
    expect(branchCommitNow(repository.gitFolder, "link")).toBe(UNKNOWN_COMMIT)
  })
})

test("a name is a branch's when git accepts it", () => {
  const piece = fc.constantFrom(
    ...["a", "B", "-", ".", "..", "/", "@", "@{", "{", "~", "^", ":", "?", "*", "[", "]", "\\", " ", "\t"],
    ...["\x7f", "\u0085", "\u00e9", "\u{1f600}", ".lock", ".lockx", "HEAD", "refs/heads/", "'", "#", "%"],
  )
  const name = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(""))
  fc.assert(
    fc.property(name, (text) => {
      // A single `@` and a leading dash are short for something else only where git takes more than names.
      let isAccepted = !text.startsWith("-") && text !== "HEAD"
      try {
        execFileSync("git", ["check-ref-format", `refs/heads/${text}`], { stdio: "ignore" })
      } catch {
        isAccepted = false
      }
      expect([text, isBranchName(text)]).toEqual([text, isAccepted])
    }),
    { numRuns: 200 },
  )
})
