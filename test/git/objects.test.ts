/** Trees and contents read from objects, held to what was put into them. */

import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { chmodSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { GitError } from "../../src/git/git-process.ts"
import { changedEntries, listTree, readBlobs, TooManyEntries } from "../../src/git/objects.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { all, git, TestRepository } from "./support.ts"

const MIB = 1024 * 1024

function blobHash(text: string | Buffer): string {
  return createHash("sha1")
    .update(`blob ${Buffer.byteLength(text)}\0`)
    .update(text)
    .digest("hex")
}

/** Makes a tree by hand, with names that no file system need allow; returns its commit. */
function commitTree(repository: TestRepository, entries: readonly (readonly [head: string, name: Buffer])[]) {
  const input = Buffer.concat(
    entries.map(([head, name]) => Buffer.concat([Buffer.from(`${head}\t`), name, Buffer.from("\0")])),
  )
  const tree = execFileSync("git", ["-C", repository.root, "mktree", "-z", "--missing"], { input })
  return repository.git("commit-tree", tree.toString().trim(), "-m", "Made by hand").trim()
}

describe("the tree of a commit", () => {
  test("lists files, links and submodules with path, hash and size, in git's order", async () => {
    const repository = new TestRepository()
    symlinkSync("../a.md", join(repository.root, "link.md"))
    repository.commit({ "a.md": "12345", "b/c.md": "", "b.md": "1", "run.sh": "x" })
    chmodSync(join(repository.root, "run.sh"), 0o755)
    const submodule = repository.head()
    repository.git("update-index", "--add", "--cacheinfo", `160000,${submodule},sub`)
    repository.git("commit", "--quiet", "--message", "Submodule")
    const entries = await all(listTree(repository.gitFolder, repository.head()))
    expect(entries).toEqual([
      { path: "a.md", isOddName: false, kind: "file", hash: blobHash("12345"), bytes: 5 },
      { path: "b.md", isOddName: false, kind: "file", hash: blobHash("1"), bytes: 1 },
      { path: "b/c.md", isOddName: false, kind: "file", hash: blobHash(""), bytes: 0 },
      { path: "link.md", isOddName: false, kind: "link", hash: blobHash("../a.md"), bytes: 7 },
      { path: "run.sh", isOddName: false, kind: "file", hash: blobHash("x"), bytes: 1 },
      { path: "sub", isOddName: false, kind: "submodule", hash: submodule, bytes: null },
    ])
  })

  test("has every name as it is, and says which are not UTF-8", async () => {
    const repository = new TestRepository()
    const blob = repository.git("hash-object", "-w", "--stdin", "--no-filters", "--literally").trim()
    const names = ["\n", '"', "\t tab", "\\303", "gr\u00fcn", "\u{1f600}", "\uFFFD"].sort((a, b) =>
      Buffer.compare(Buffer.from(a), Buffer.from(b)),
    )
    const odd = Buffer.from([0xff, 0x61])
    const commit = commitTree(repository, [
      ...names.map((name) => [`100644 blob ${blob}`, Buffer.from(name)] as const),
      [`100644 blob ${blob}`, odd],
    ])
    const entries = await all(listTree(repository.gitFolder, commit))
    expect(entries.map(({ path, isOddName }) => [path, isOddName])).toEqual([
      ...names.map((name) => [name, false]),
      ["\uFFFDa", true],
    ])
  })

  test("is read from repositories of SHA-256", async () => {
    const repository = new TestRepository(["--object-format=sha256"])
    const commit = repository.commit({ "a.md": "1" })
    const [entry] = await all(listTree(repository.gitFolder, commit))
    expect(entry).toMatchObject({ path: "a.md", bytes: 1 })
    expect(entry?.hash).toHaveLength(64)
    expect(await all(readBlobs(repository.gitFolder, [entry?.hash ?? ""], { bytesMax: 9 }))).toEqual([
      { hash: entry?.hash, bytes: Buffer.from("1"), size: 1 },
    ])
  })

  test("is refused for what is no commit, and for what would be an option", async () => {
    const { gitFolder } = new TestRepository()
    for (const wrong of ["HEAD", "--help", "", "0".repeat(40)]) {
      await expect(all(listTree(gitFolder, wrong)), wrong).rejects.toThrow(GitError)
    }
  })

  test("may be left before its end, and is left on abort with the reason", async () => {
    const repository = new TestRepository()
    repository.commit({ "a.md": "1" })
    const blob = `100644 blob ${blobHash("1")}`
    // More than fits into the pipe between.
    const names = Array.from({ length: 5_000 }, (_, at) => Buffer.from(`${"long".repeat(20)}-${at}.md`))
    const commit = commitTree(
      repository,
      names.map((name) => [blob, name] as const),
    )
    for await (const { kind } of listTree(repository.gitFolder, commit)) {
      expect(kind).toBe("file")
      break
    }
    const stop = new AbortController()
    const reason = new Error("enough")
    const reading = async () => {
      for await (const _ of listTree(repository.gitFolder, commit, stop.signal)) stop.abort(reason)
    }
    await expect(reading()).rejects.toBe(reason)
  })
})

describe("a tree or a difference of very many entries", () => {
  test("is given up once there are more than somebody wants, and git with it", async () => {
    const repository = new TestRepository()
    const from = repository.commit({ "z.txt": "0" })
    const to = repository.commit({ "a.md": "1", "b.md": "2", "c.md": "3" })
    const { gitFolder } = repository
    expect(await all(listTree(gitFolder, to, undefined, 4))).toHaveLength(4)
    await expect(all(listTree(gitFolder, to, undefined, 3))).rejects.toThrow(new TooManyEntries(3))
    expect(await all(changedEntries(gitFolder, from, to, undefined, 3))).toHaveLength(3)
    await expect(all(changedEntries(gitFolder, from, to, undefined, 2))).rejects.toThrow(
      new TooManyEntries(2),
    )
  })
})

describe("the changes between two commits", () => {
  test("are what came, changed in content or kind, and went", async () => {
    const repository = new TestRepository()
    const from = repository.commit({
      "a.md": "1",
      "b.md": "1",
      "gone.md": "1",
      "same.md": "1",
      "old.md": "moved",
    })
    repository.git("mv", "old.md", "new\nname.md")
    repository.commit({ "a.md": "2", "b.md": null, "gone.md": null, "d/e.md": "1" })
    symlinkSync("a.md", join(repository.root, "b.md"))
    const to = repository.commit()
    const changes = await all(changedEntries(repository.gitFolder, from, to))
    const entry = (path: string, kind: string, text: string) => ({
      path,
      isOddName: false,
      entry: { path, isOddName: false, kind, hash: blobHash(text), bytes: null },
    })
    expect(changes).toEqual([
      entry("a.md", "file", "2"),
      entry("b.md", "link", "a.md"),
      entry("d/e.md", "file", "1"),
      { path: "gone.md", isOddName: false, entry: null },
      entry("new\nname.md", "file", "moved"),
      { path: "old.md", isOddName: false, entry: null },
    ])
    expect(await all(changedEntries(repository.gitFolder, to, to))).toEqual([])
  })

  test("are refused from a commit that is not there", async () => {
    const repository = new TestRepository()
    const commit = repository.commit()
    await expect(all(changedEntries(repository.gitFolder, "1".repeat(40), commit))).rejects.toThrow(GitError)
  })
})

describe("contents", () => {
  test("come in the order they were asked for, byte for byte, without what is missing or too large", async () => {
    const repository = new TestRepository()
    const binary = Buffer.from(Array.from({ length: 256 }, (_, at) => at))
    const texts = ["", "\n", "missing\n", "x".repeat(200_000), "y".repeat(1_000)]
    const commit = repository.commit(Object.fromEntries(texts.map((text, at) => [`${at}.md`, text])))
    const stored = execFileSync("git", ["-C", repository.root, "hash-object", "-w", "--stdin"], {
      input: binary,
    })
    const hashes = [...texts.map(blobHash), stored.toString().trim(), "1".repeat(40), commit, blobHash("\n")]
    const read = await all(readBlobs(repository.gitFolder, hashes, { bytesMax: 1_000 }))
    const whole = (text: string | Buffer) => ({
      hash: blobHash(text),
      bytes: Buffer.from(text),
      size: Buffer.byteLength(text),
    })
    expect(read).toEqual([
      whole(""),
      whole("\n"),
      whole("missing\n"),
      { hash: blobHash("x".repeat(200_000)), bytes: null, size: 200_000 },
      whole("y".repeat(1_000)),
      whole(binary),
      { hash: "1".repeat(40), bytes: null, size: null },
      { hash: commit, bytes: null, size: null },
      whole("\n"),
    ])
    expect(await all(readBlobs(repository.gitFolder, [], { bytesMax: 1 }))).toEqual([])
  })

  test("are asked for by whole names only", async () => {
    const repository = new TestRepository()
    const commit = repository.commit({ "a.md": "1" })
    for (const wrong of ["HEAD:a.md", `${commit}:a.md`, commit.slice(0, 10), `${commit}\n${commit}`, ""]) {
      await expect(all(readBlobs(repository.gitFolder, [wrong], { bytesMax: 9 })), wrong).rejects.toThrow(
        GitError,
      )
    }
  })

  test("that are too large are passed over without a place being made for them", async () => {
    const repository = new TestRepository()
    const large = "0123456789abcdef".repeat(MIB / 2)
    repository.commit({ "large.md": large, "small.md": "small" })
    const made: number[] = []
    const { allocUnsafe, concat } = Buffer
    vi.spyOn(Buffer, "allocUnsafe").mockImplementation((size) => {
      made.push(size)
      return allocUnsafe(size)
    })
    vi.spyOn(Buffer, "concat").mockImplementation((pieces, size) => {
      const whole = concat(pieces, size)
      made.push(whole.length)
      return whole
    })
    onTestFinished(() => void vi.restoreAllMocks())
    const hashes = [blobHash(large), blobHash("small")]
    const read = await all(readBlobs(repository.gitFolder, hashes, { bytesMax: 1_000 }))
    expect(read.map(({ bytes, size }) => [bytes?.toString(), size])).toEqual([
      [undefined, large.length],
      ["small", 5],
    ])
    expect(made).toContain(5)
    expect(made.reduce((sum, size) => sum + size, 0)).toBeLessThan(MIB)
  })

  test("wait for whoever reads them, and may be left before the end", async () => {
    const repository = new TestRepository()
    const commit = repository.commit(
      Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`${at}.md`, `${at} `.repeat(1_000)])),
    )
    const hashes = (await all(listTree(repository.gitFolder, commit))).map(({ hash }) => hash)
    let asked = 0
    function* endless() {
      for (;;) {
        asked++
        yield hashes[asked % hashes.length] ?? ""
      }
    }
    let read = 0
    for await (const { bytes } of readBlobs(repository.gitFolder, endless(), { bytesMax: MIB })) {
      expect(bytes?.length).toBeGreaterThan(0)
      if (++read === 100) break
    }
    // What fits into the pipes between.
    expect(asked).toBeLessThan(20_000)
  })

  test("that a partial clone left out are missing, and are not fetched", async () => {
    const repository = new TestRepository()
    const commit = repository.commit({ "a.md": "1" })
    repository.git("config", "uploadpack.allowFilter", "true")
    const clone = temporaryFolder()
    git(clone, ["clone", "--quiet", "--bare", "--filter=blob:none", repository.url, "."])
    const [entry] = await all(listTree(clone, commit))
    expect(entry).toMatchObject({ path: "a.md", hash: blobHash("1"), bytes: null })
    expect(await all(readBlobs(clone, [blobHash("1")], { bytesMax: 9 }))).toEqual([
      { hash: blobHash("1"), bytes: null, size: null },
    ])
  })
})
