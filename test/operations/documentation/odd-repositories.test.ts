import { execFileSync } from "node:child_process"
import { renameSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { describe, expect, test } from "vitest"
import { remove } from "../../../scripts/removal.ts"
import { isIndexingWanted, runIndexing } from "../../../src/operations/documentation/indexing.ts"
import { git, TestRepository } from "../../git/support.ts"
import {
  expectGood,
  GOOD,
  GUIDE,
  problemsOf,
  repositoryWith,
  write,
} from "../../support/documentation-files.ts"
import { expectSound, indexOf, openIndex } from "../../support/documentation-index.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"

describe("repositories", () => {
  test("that are gone are reported, searched as they were, and do not keep others from being read", async () => {
    const one = repositoryWith({ "guide.md": GUIDE })
    const two = repositoryWith({ "other.md": GUIDE })
    const index = await openIndex()
    const id = await index.add(one.root)
    const other = await index.add(two.root)
    renameSync(one.root, `${one.root}-away`)
    two.commit({ "new.md": "# New\n\ntongs\n" })
    await index.sync()
    expect((await problemsOf(index, id)).whole).toContain("is no longer there")
    expect((await problemsOf(index, other)).whole).toBeNull()
    const { results, notes } = await index.search("anvil tongs", { using: "words" })
    expect(results.map(({ file }) => file).sort()).toEqual(["guide.md", "new.md", "other.md"])
    expect(notes).toEqual([expect.stringContaining("is no longer there")])

    renameSync(`${one.root}-away`, one.root)
    one.commit({ "back.md": "# Back\n\ntongs again\n" })
    expect(await index.filesWith("again", { repository: id })).toEqual(["back.md"])
    expect((await problemsOf(index, id)).whole).toBeNull()
    await expectSound(index.app)
  })

  test("that are damaged do not keep others from being searched", async () => {
    const one = repositoryWith({ "guide.md": GUIDE })
    const two = repositoryWith({ "other.md": GUIDE })
    const index = await openIndex()
    const id = await index.add(one.root)
    await index.add(two.root)
    writeFileSync(join(one.gitFolder, "HEAD"), "garbage\n")
    writeFileSync(join(one.gitFolder, "refs/heads/main"), "garbage\n")
    const { results, notes } = await index.search("anvil", { using: "words" })
    expect(results.map(({ file }) => file).sort()).toEqual(["guide.md", "other.md"])
    expect(notes).toHaveLength(1)
    await index.sync()
    expect((await problemsOf(index, id)).whole).toContain("not a git repository")
  })

  test("that lack a content report it, and have it as soon as it is there", async () => {
    const repository = repositoryWith({ "guide.md": GUIDE })
    const hash = repository.head("HEAD:guide.md")
    const object = join(repository.gitFolder, "objects", hash.slice(0, 2), hash.slice(2))
    renameSync(object, `${repository.root}/kept`)
    const index = await openIndex()
    const id = await index.add(repository.root)
    const { "guide.md": reason } = (await problemsOf(index, id)).files as Record<string, string>
    expect(reason).toMatch(/./)
    expect(reason).not.toContain("larger")
    await expectGood(index)

    renameSync(`${repository.root}/kept`, object)
    repository.commit({ "new.md": "# New\n\ntongs\n" })
    await index.sync()
    expect(await index.filesWith("anvil")).toEqual(["guide.md"])
  })

  test("with submodules say that these are connected by themselves", async () => {
    const inner = repositoryWith({ "inner.md": GUIDE })
    const repository = repositoryWith({})
    repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.url, "sub/module")
    repository.git(
      "-c",
      "protocol.file.allow=always",
      "submodule",
      "--quiet",
      "add",
      inner.url,
      "vendor/module",
    )
    repository.commit()
    const index = await openIndex()
    const id = await index.add(repository.root)
    expect((await problemsOf(index, id)).files).toEqual({
      "sub/module": "is a submodule: connect its repository by itself",
    })
    expect(await index.filesWith("anvil")).toEqual([])
    await expectGood(index)
  })

  test("that are shallow are read, and dated by what there is of their history", async () => {
    const repository = repositoryWith({ "guide.md": GUIDE })
    repository.commit({ "new.md": "# New\n\ntongs\n" })
    const folder = join(temporaryFolder(), "shallow")
    execFileSync("git", ["clone", "--quiet", "--depth=1", repository.url, folder])
    const index = await openIndex()
    await index.add(folder)
    expect(await index.filesWith("anvil")).toEqual(["guide.md"])
    await expectGood(index)

    repository.commit({ "guide.md": GUIDE.replace("anvil", "hammer") })
    git(folder, ["pull", "--quiet"])
    const [result] = (await index.search("hammer", { using: "words" })).results
    const seconds = git(folder, ["log", "-1", "--format=%ct", "--", "guide.md"])
    expect(Date.parse(result?.last_updated ?? "")).toBe(Number(seconds) * 1_000)
    await expectGood(index)
  })

  test("without a work tree are read, and noticed when somebody pushes", async () => {
    const repository = repositoryWith({ "guide.md": GUIDE })
    const folder = join(temporaryFolder(), "bare.git")
    execFileSync("git", ["clone", "--quiet", "--bare", repository.url, folder])
    const index = await openIndex()
    await index.add(folder)
    expect(await index.filesWith("anvil")).toEqual(["guide.md"])
    repository.commit({ "guide.md": GUIDE.replace("anvil", "hammer") })
    repository.git("push", "--quiet", folder, "main")
    expect(await index.filesWith("hammer")).toEqual(["guide.md"])
    expect(await index.filesWith("anvil")).toEqual([])
    await expectGood(index)
  })

  test("are one with all their worktrees", async () => {
    const repository = repositoryWith({ "guide.md": GUIDE })
    const folder = join(temporaryFolder(), "worktree")
    repository.git("worktree", "add", "--quiet", "-b", "side", folder)
    write(folder, { "side.md": "# Side\n\ntongs\n" })
    git(folder, ["add", "--all"])
    git(folder, ["commit", "--quiet", "--message", "Side"])
    const index = await openIndex()
    const id = await index.add(folder)
    expect(await index.connect(repository.root)).toBe(id)
    expect(await index.filesWith("anvil")).toEqual(["guide.md"])
    expect(await index.filesWith("tongs", { branch: "side" })).toEqual(["side.md"])
    await expectGood(index)
    await expectGood(index, "side")
  })

  test("without a commit have nothing to search until their first", async () => {
    const repository = new TestRepository()
    const index = await openIndex()
    const id = await index.add(repository.root)
    expect((await problemsOf(index, id)).whole).toBeNull()
    const { results, notes } = await index.search("bellows")
    expect([results, notes]).toEqual([[], [expect.stringContaining("it has no commit")]])
    repository.commit(GOOD)
    await expectGood(index)
  })

  test("without a commit have nothing to search until their first, when searched first", async () => {
    const repository = new TestRepository()
    const index = await openIndex()
    const id = await index.connect(repository.root)
    for (let time = 0; time < 2; time += 1)
      expect((await index.search("bellows")).notes).toEqual([expect.stringContaining("it has no commit")])
    expect(await isIndexingWanted(index.app)).toBe(false)
    expect((await problemsOf(index, id)).whole).toBeNull()
    repository.commit(GOOD)
    await expectGood(index)
  })

  test("whose hashes are SHA-256 are read, and noticed when they move", async () => {
    const repository = new TestRepository(["--object-format=sha256"])
    repository.commit({ ...GOOD, "guide.md": GUIDE })
    const index = await openIndex()
    await index.add(repository.root)
    repository.commit({ "guide.md": GUIDE.replace("anvil", "hammer") })
    expect(await index.filesWith("hammer")).toEqual(["guide.md"])
    expect(await index.filesWith("anvil")).toEqual([])
    await expectGood(index)
  })

  test("that left out the contents of their remote report them, and find those that come", async () => {
    const repository = repositoryWith({ "guide.md": GUIDE })
    repository.git("config", "uploadpack.allowFilter", "true")
    const folder = join(temporaryFolder(), "partial")
    execFileSync("git", ["clone", "--quiet", "--no-checkout", "--filter=blob:none", repository.url, folder])
    const index = await openIndex()
    const id = await index.add(folder)
    const { files } = await problemsOf(index, id)
    expect(Object.keys(files)).toEqual(["good.md", "guide.md"])
    expect(Object.values(files).join()).not.toContain("larger")
    git(folder, ["checkout", "--quiet", "main"])
    await index.sync()
    expect((await problemsOf(index, id)).files).toEqual({})
    expect(await index.filesWith("anvil")).toEqual(["guide.md"])
    await expectGood(index)
  })

  test.each(["feature/deep/name", "größe", "a@b", "v1.0"])("have branches of any name: %s", async (name) => {
    const repository = repositoryWith({})
    repository.git("update-ref", `refs/heads/${name}`, "main")
    const index = await openIndex()
    await index.add(repository.root, name)
    await expectGood(index, name)
  })

  test("with a detached HEAD are read at their default branch", async () => {
    const repository = repositoryWith({})
    repository.git("checkout", "--quiet", "--detach")
    repository.commit({ "loose.md": GUIDE })
    const index = await openIndex()
    await index.add(repository.root)
    expect(await index.filesWith("anvil")).toEqual([])
    await expectGood(index, "main")
    await expectGood(index)
  })

  test("with a detached HEAD and no branch at all are read at HEAD, wherever it goes", async () => {
    const repository = repositoryWith({ "guide.md": GUIDE })
    repository.git("checkout", "--quiet", "--detach")
    repository.git("branch", "-D", "main")
    const index = await openIndex()
    await index.add(repository.root)
    expect(await index.filesWith("anvil")).toEqual(["guide.md"])
    repository.commit({ "guide.md": GUIDE.replace("anvil", "hammer") })
    expect(await index.filesWith("hammer")).toEqual(["guide.md"])
    expect(await index.filesWith("anvil")).toEqual([])
    await expectGood(index)
    repository.git("checkout", "--quiet", "-b", "main")
    repository.commit({ "guide.md": GUIDE })
    expect(await index.filesWith("anvil")).toEqual(["guide.md"])
    expect((await index.search("anvil")).results[0]?.branch).toBe("main")
    await expectGood(index)
  })
})

describe("a folder without git", () => {
  test("is the branch working-tree, and every edit in it is noticed", async () => {
    const folder = temporaryFolder()
    write(folder, { ...GOOD, "guide.md": GUIDE })
    const index = await openIndex()
    await index.add(folder)
    const [first] = (await index.search("anvil", { using: "words" })).results
    expect([first?.file, first?.branch]).toEqual(["guide.md", "working-tree"])
    expect(first?.url).toBe(`${pathToFileURL(folder).href}/guide.md#L1-L3`)

    write(folder, { "guide.md": GUIDE.replace("anvil", "hammer"), "new.md": "# New\n\ntongs\n" })
    utimesSync(join(folder, "new.md"), 1_700_000_000, 1_700_000_000)
    expect(await index.filesWith("hammer")).toEqual(["guide.md"])
    const [tongs] = (await index.search("tongs", { using: "words" })).results
    expect(tongs?.last_updated).toBe(new Date(1_700_000_000_000).toISOString())
    expect(await index.filesWith("anvil")).toEqual([])
    renameSync(join(folder, "new.md"), join(folder, "old.md"))
    remove(join(folder, "guide.md"))
    expect(await index.filesWith("tongs hammer")).toEqual(["old.md"])
    await expectGood(index)
  })

  test("holds no .git of whatever lies inside it, and stays a folder when it becomes a repository", async () => {
    const folder = temporaryFolder()
    write(folder, { ...GOOD, "inner/.git/description.md": GUIDE, "inner/a.md": "# A\n\ntongs\n" })
    const index = await openIndex()
    const id = await index.add(folder)
    expect(await index.filesWith("anvil")).toEqual([])
    expect(await index.filesWith("tongs")).toEqual(["inner/a.md"])
    execFileSync("git", ["init", "--quiet", folder])
    write(folder, { "b.md": GUIDE })
    expect(await index.filesWith("anvil")).toEqual(["b.md"])
    expect(Object.keys(indexOf(index.app, id))).toEqual(["working-tree"])
    await expectGood(index)
  })

  test("keeps the text of each content when files are exchanged", async () => {
    const folder = temporaryFolder()
    write(folder, { ...GOOD, "a.md": GUIDE, "b.md": GUIDE.replace("anvil", "hammer") })
    const index = await openIndex()
    await index.add(folder)
    renameSync(join(folder, "a.md"), join(folder, "c.md"))
    renameSync(join(folder, "b.md"), join(folder, "a.md"))
    renameSync(join(folder, "c.md"), join(folder, "b.md"))
    expect(await index.filesWith("anvil")).toEqual(["b.md"])
    expect(await index.filesWith("hammer")).toEqual(["a.md"])
    await expectGood(index)
  })

  test("stores a file under what was read of it, though it changes while it is read", async () => {
    const folder = temporaryFolder()
    write(folder, { "a.md": GUIDE, ...GOOD })
    const index = await openIndex()
    await index.connect(folder)
    const { embedders } = index.app
    // Files are listed before they are read, and pieces are counted in between.
    const app = {
      ...index.app,
      embedders: {
        ...embedders,
        pieceCounter: async () => {
          write(folder, { "a.md": GUIDE.replace("anvil", "hammer") })
          return embedders.pieceCounter()
        },
      },
    }
    expect(await runIndexing(app)).toBe("done")
    expect(await index.filesWith("hammer")).toEqual(["a.md"])
    write(folder, { "a.md": GUIDE })
    expect(await index.filesWith("anvil")).toEqual(["a.md"])
    expect(await index.filesWith("hammer")).toEqual([])
    await expectGood(index)
  })
})
