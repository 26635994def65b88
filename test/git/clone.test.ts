/** Clones by address: what is accepted, what they hold, and what is left when they fail. */

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { describe, expect, test } from "vitest"
import { remove } from "../../scripts/removal.ts"
import { defaultBranchOf, listBranches } from "../../src/git/branches.ts"
import { cloneBare, fetchBranches } from "../../src/git/clone.ts"
import { GitError } from "../../src/git/git-process.ts"
import { listTree } from "../../src/git/objects.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { all, git, TestRepository } from "./support.ts"

function originWithBranches() {
  const origin = new TestRepository()
  origin.commit({ "old.md": "1" })
  const main = origin.commit({ "a.md": "1" })
  origin.git("checkout", "--quiet", "-b", "docs/next")
  const next = origin.commit({ "b.md": "1" })
  origin.git("tag", "v1")
  origin.git("checkout", "--quiet", "main")
  return { origin, main, next, folder: join(temporaryFolder(), "clones", "one.git") }
}

async function heads(folder: string): Promise<Record<string, string>> {
  const branches = await listBranches(folder)
  expect(branches.filter(({ isRemote }) => isRemote)).toEqual([])
  return Object.fromEntries(branches.map(({ name, commit }) => [name, commit]))
}

describe("a clone", () => {
  test("holds the newest commit of the default branch, and no tags, hooks or history", async () => {
    const { origin, main, folder } = originWithBranches()
    const lines: string[] = []
    await cloneBare(origin.url, folder, { onProgress: (text) => lines.push(text) })
    expect(await heads(folder)).toEqual({ main })
    expect(await defaultBranchOf(folder)).toBe("main")
    expect(git(folder, ["rev-list", "--count", "--all"]).trim()).toBe("1")
    expect(git(folder, ["tag"])).toBe("")
    expect(git(folder, ["config", "core.bare"]).trim()).toBe("true")
    expect(existsSync(join(folder, "hooks"))).toBe(false)
    expect((await all(listTree(folder, main))).map(({ path }) => path)).toEqual(["a.md", "old.md"])
    expect(lines.some((line) => line.includes("objects"))).toBe(true)
    expect(lines.every((line) => line === line.trim() && line !== "")).toBe(true)
    expect(readdirSync(join(folder, ".."))).toEqual(["one.git"])
  })

  test("holds the branches that are named and the default one, or all", async () => {
    const { origin, main, next, folder } = originWithBranches()
    await cloneBare(origin.url, folder, { branches: ["docs/next"] })
    expect(await heads(folder)).toEqual({ "docs/next": next, main })
    expect(await defaultBranchOf(folder)).toBe("main")
    await cloneBare(origin.url, `${folder}-all`, { branches: "all" })
    expect(await heads(`${folder}-all`)).toEqual({ "docs/next": next, main })
    expect(await defaultBranchOf(`${folder}-all`)).toBe("main")
  })

  test("is made of repositories of SHA-256, of shallow clones, and of those whose HEAD is on no branch", async () => {
    const wide = new TestRepository(["--object-format=sha256"])
    const commit = wide.commit({ "a.md": "1" })
    const folder = join(temporaryFolder(), "wide.git")
    await cloneBare(wide.url, folder)
    expect(await heads(folder)).toEqual({ main: commit })
    const { origin, main } = originWithBranches()
    const shallow = temporaryFolder()
    git(shallow, ["clone", "--quiet", "--bare", "--depth=1", origin.url, "."])
    await cloneBare(pathToFileURL(shallow).href, `${folder}-2`)
    expect(await heads(`${folder}-2`)).toEqual({ main })
    origin.git("checkout", "--quiet", "--detach", "HEAD~1")
    await cloneBare(origin.url, `${folder}-3`)
    expect(Object.keys(await heads(`${folder}-3`))).toHaveLength(1)
  })

  test("runs nothing that templates or a surrounding git would have it run", async () => {
    const { origin, folder } = originWithBranches()
    const template = temporaryFolder()
    mkdirSync(join(template, "hooks"))
    writeFileSync(join(template, "hooks", "reference-transaction"), "#!/bin/sh\nexit 1\n", { mode: 0o755 })
    const before = { ...process.env }
    try {
      process.env.GIT_TEMPLATE_DIR = template
      process.env.GIT_DIR = join(template, "elsewhere")
      process.env.GIT_ALLOW_PROTOCOL = "https"
      await cloneBare(origin.url, folder)
    } finally {
      for (const name of ["GIT_TEMPLATE_DIR", "GIT_DIR", "GIT_ALLOW_PROTOCOL"]) {
        if (before[name] === undefined) delete process.env[name]
        else process.env[name] = before[name]
      }
    }
    expect(existsSync(join(folder, "hooks"))).toBe(false)
  })
})

describe("a clone that fails", () => {
  test.each([
    ["an address that is refused", "http://127.0.0.1/a", {}, /https:\/\//],
    ["a repository that is not there", "file:///nowhere/at/all", {}, /nowhere/],
    ["a branch that is not there", undefined, { branches: ["main", "none"] }, /no branch 'none'/],
  ])("leaves nothing behind: %s", async (_, url, options, message) => {
    const { origin, folder } = originWithBranches()
    mkdirSync(join(folder, ".."), { recursive: true })
    const cloning = cloneBare(url ?? origin.url, folder, options)
    await expect(cloning).rejects.toThrow(GitError)
    await expect(cloning).rejects.toThrow(message)
    expect(readdirSync(join(folder, ".."))).toEqual([])
  })

  test("leaves nothing behind when it is aborted, or the repository is empty or broken", async () => {
    const { origin, main, folder } = originWithBranches()
    const reason = new Error("enough")
    const stop = new AbortController()
    const aborted = cloneBare(origin.url, folder, {
      signal: stop.signal,
      onProgress: () => stop.abort(reason),
    })
    await expect(aborted).rejects.toBe(reason)
    await expect(cloneBare(origin.url, folder, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    await expect(cloneBare(new TestRepository().url, folder)).rejects.toThrow(/no branches/)
    const blob = origin.head(`${main}:a.md`)
    remove(join(origin.gitFolder, "objects", blob.slice(0, 2), blob.slice(2)))
    await expect(cloneBare(origin.url, folder)).rejects.toThrow(GitError)
    expect(readdirSync(join(folder, ".."))).toEqual([])
  })

  test("takes away its own folder alone, also below a link or when a link has taken its place", async () => {
    const { origin, folder } = originWithBranches()
    const clones = join(folder, "..")
    const elsewhere = temporaryFolder()
    writeFileSync(join(elsewhere, "mine"), "1")
    symlinkSync(elsewhere, clones)
    const moved = join(elsewhere, "moved")
    const reason = new Error("enough")
    const abortAfter = (work: () => void) => {
      const stop = new AbortController()
      const onProgress = () => {
        if (!stop.signal.aborted) work()
        stop.abort(reason)
      }
      return cloneBare(origin.url, folder, { signal: stop.signal, onProgress })
    }
    await expect(abortAfter(() => undefined)).rejects.toBe(reason)
    expect(readdirSync(elsewhere)).toEqual(["mine"])
    const swap = () => {
      const [partial = ""] = readdirSync(clones).filter((name) => name.startsWith("one.git.partial-"))
      renameSync(join(clones, partial), moved)
      symlinkSync(moved, join(clones, partial))
    }
    await expect(abortAfter(swap)).rejects.toBe(reason)
    expect(readdirSync(elsewhere).sort()).toEqual(["mine", "moved"])
    expect(readdirSync(moved)).toContain("HEAD")
  })

  test("does not touch a folder that is there", async () => {
    const { origin, folder } = originWithBranches()
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, "mine"), "1")
    await expect(cloneBare(origin.url, folder)).rejects.toThrow(/already exists/)
    expect(readdirSync(folder)).toEqual(["mine"])
  })

  test("does not say the password of its address", async () => {
    const folder = join(temporaryFolder(), "a.git")
    const cloning = cloneBare("https://user:secret@127.0.0.1:1/a.git", folder)
    await expect(cloning).rejects.toThrow(/127\.0\.0\.1/)
    await expect(cloning).rejects.not.toThrow(/secret/)
  })
})

describe("a fetch", () => {
  test("moves branches wherever the remote has them, and takes away those that are gone", async () => {
    const { origin, main, folder } = originWithBranches()
    await cloneBare(origin.url, folder, { branches: "all" })
    expect(await fetchBranches(folder, "all")).toEqual({ updated: [], removed: [] })
    const older = origin.head("main~1")
    origin.git("reset", "--quiet", "--hard", older)
    origin.git("branch", "-D", "docs/next")
    // A name that was a folder of names.
    origin.git("branch", "docs", main)
    expect(await fetchBranches(folder, "all")).toEqual({ updated: ["docs", "main"], removed: ["docs/next"] })
    expect(await heads(folder)).toEqual({ docs: main, main: older })
    expect((await all(listTree(folder, older))).map(({ path }) => path)).toEqual(["old.md"])
  })

  test("keeps to the branches that are there, unless others are named, and always to the default one", async () => {
    const { origin, next, folder } = originWithBranches()
    await cloneBare(origin.url, folder)
    const newer = origin.commit({ "a.md": "2" })
    expect(await fetchBranches(folder, undefined)).toEqual({ updated: ["main"], removed: [] })
    expect(await heads(folder)).toEqual({ main: newer })
    expect(await fetchBranches(folder, ["docs/next", "none"])).toEqual({
      updated: ["docs/next"],
      removed: [],
    })
    expect(await heads(folder)).toEqual({ "docs/next": next, main: newer })
    origin.git("branch", "-m", "main", "trunk")
    expect(await fetchBranches(folder, ["main"])).toEqual({
      updated: ["trunk"],
      removed: ["docs/next", "main"],
    })
    expect(await defaultBranchOf(folder)).toBe("trunk")
  })

  test("follows a default branch that has another name now", async () => {
    const { origin, main, folder } = originWithBranches()
    await cloneBare(origin.url, folder, { branches: "all" })
    origin.git("branch", "-m", "main", "trunk")
    await fetchBranches(folder, "all")
    expect(await defaultBranchOf(folder)).toBe("trunk")
    expect(readFileSync(join(folder, "HEAD"), "utf8")).toBe("ref: refs/heads/trunk\n")
    expect((await heads(folder)).trunk).toBe(main)
  })

  test("that fails changes nothing", async () => {
    const { origin, main, folder } = originWithBranches()
    await cloneBare(origin.url, folder)
    git(folder, ["config", "remote.origin.url", "file:///nowhere/at/all"])
    await expect(fetchBranches(folder, "all")).rejects.toThrow(GitError)
    git(folder, ["config", "remote.origin.url", "ext::sh -c 'touch /tmp/never' %S"])
    await expect(fetchBranches(folder, "all")).rejects.toThrow(/ext/)
    expect(await heads(folder)).toEqual({ main })
  })
})
