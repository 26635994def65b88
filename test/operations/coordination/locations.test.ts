/** Where a file lies: in which connected repository, under which path there, as which pattern. */

import { mkdirSync, renameSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { remove } from "../../../scripts/removal.ts"
import { compilePattern } from "../../../src/domain/glob/glob.ts"
import { matchesPath } from "../../../src/domain/glob/matching.ts"
import type { App } from "../../../src/operations/app.ts"
import { connectFolder } from "../../../src/operations/connect.ts"
import { claimOf } from "../../../src/operations/coordination/claims.ts"
import { findLocation, locate, repositoryAround } from "../../../src/operations/coordination/locations.ts"
import { listRepositories } from "../../../src/store/repositories.ts"
import { commitAll, git, writeFile } from "../../support/hook.ts"
import { type World, world } from "../../support/world.ts"

async function opened(): Promise<[World, App]> {
  const made = world()
  return [made, (await made.session({ name: "a" })).app]
}

/** Makes a repository in the world's folder that nobody has connected; returns its path. */
function otherRepository(made: World, name = "other"): string {
  const path = join(made.folder, name)
  git(made.folder, "init", "--quiet", path)
  return path
}

const countOf = async (app: App) => (await listRepositories(app.db)).length

describe("a path", () => {
  test.each([
    ["a.ts", "a.ts", "a.ts"],
    ["./src//b.ts", "src/b.ts", "src/b.ts"],
    ["src/../c.ts", "c.ts", "c.ts"],
    ["not/there/yet.ts", "not/there/yet.ts", "not/there/yet.ts"],
    ["app/[id].ts", "app/[id].ts", "app/\\[id\\].ts"],
    ["{a,b}*.ts", "{a,b}*.ts", "\\{a,b\\}\\*.ts"],
    ["-a b'c\n.ts", "-a b'c\n.ts", "-a b'c\n.ts"],
    ["gru\u0308n.ts", "gr\u00fcn.ts", "gr\u00fcn.ts"],
    [".git/config", ".git/config", ".git/config"],
    ["..a", "..a", "..a"],
  ])("%j lies at %j as %j", async (given, path, pathPattern) => {
    const [made, app] = await opened()
    const root = made.repositoryPath
    const located = await locate(app, given, root)
    expect(located).toMatchObject({ path, rootPath: root, repository: { id: 1 } })
    expect(located && claimOf(located, false).pathPattern).toBe(pathPattern)
    expect(await locate(app, `${root}/${given}`, "/")).toMatchObject({ path })
  })

  test.each([".", "", "..", "../a.ts", "/", "/tmp", "src/../.."])(
    "%j lies in no file of the repository",
    async (given) => {
      const [made, app] = await opened()
      expect(await locate(app, given, made.repositoryPath)).toBeUndefined()
    },
  )

  test("has a pattern that matches it and nothing beside it", async () => {
    const [made, app] = await opened()
    const name = fc
      .string({ unit: fc.constantFrom(..."ab*?[]{}\\!#(),. -é"), minLength: 1, maxLength: 8 })
      .filter((text) => !/^\.+$/.test(text))
    await fc.assert(
      fc.asyncProperty(name, name, async (one, other) => {
        const location = await locate(app, one, made.repositoryPath)
        expect(location?.path).toBe(one)
        const pattern = compilePattern(location === undefined ? "" : claimOf(location, false).pathPattern)
        expect(matchesPath(pattern, one)).toBe(true)
        expect(matchesPath(pattern, other)).toBe(one === other)
      }),
      { numRuns: 100 },
    )
  })

  test("through symbolic links is the real one", async () => {
    const [made, app] = await opened()
    const inside = (path: string) => join(made.repositoryPath, path)
    writeFile(inside("src/a.ts"))
    symlinkSync("src/a.ts", inside("link.ts"))
    symlinkSync("src", inside("folder"))
    symlinkSync(made.repositoryPath, join(made.folder, "way"))
    expect(await locate(app, "link.ts", made.repositoryPath)).toMatchObject({ path: "src/a.ts" })
    expect(await locate(app, "folder/new.ts", made.repositoryPath)).toMatchObject({ path: "src/new.ts" })
    const way = join(made.folder, "way")
    expect(await locate(app, "src/a.ts", way)).toMatchObject({
      path: "src/a.ts",
      rootPath: made.repositoryPath,
    })
  })

  test("through a symbolic link that leads out of the repository lies outside", async () => {
    const [made, app] = await opened()
    symlinkSync(made.folder, join(made.repositoryPath, "out"))
    expect(await locate(app, "out/a.ts", made.repositoryPath)).toBeUndefined()
  })

  test("in another work tree of the clone has the path that it has there", async () => {
    const [made, app] = await opened()
    commitAll(made.repositoryPath)
    const tree = join(made.folder, "tree")
    git(made.repositoryPath, "worktree", "add", "--quiet", tree)
    const expected = {
      path: "src/a.ts",
      rootPath: tree,
      repository: { id: 1, rootPath: made.repositoryPath },
    }
    expect(await locate(app, "src/a.ts", tree)).toMatchObject(expected)
    expect(await locate(app, join(tree, "src/a.ts"), made.repositoryPath)).toMatchObject(expected)
    expect(await countOf(app)).toBe(1)
  })

  test("in a submodule lies in that repository", async () => {
    const [made, app] = await opened()
    const source = otherRepository(made)
    commitAll(source)
    git(
      made.repositoryPath,
      "-c",
      "protocol.file.allow=always",
      "submodule",
      "--quiet",
      "add",
      source,
      "module",
    )
    expect(await locate(app, "module/a.ts", made.repositoryPath)).toBeUndefined()
    const module = join(made.repositoryPath, "module")
    const { id } = await connectFolder(app.db, module, made.nowMs)
    expect(await locate(app, "module/a.ts", made.repositoryPath)).toMatchObject({
      path: "a.ts",
      repository: { id },
    })
    expect(await locate(app, "module", made.repositoryPath)).toMatchObject({
      path: "module",
      repository: { id: 1 },
    })
  })
})

describe("a repository that is new", () => {
  test("is connected where the folder lies in it, and not where only the file does", async () => {
    const [made, app] = await opened()
    const path = otherRepository(made)
    expect(await locate(app, join(path, "a.ts"), made.repositoryPath)).toBeUndefined()
    expect(await countOf(app)).toBe(1)
    mkdirSync(join(path, "src"))
    expect(await locate(app, "../a.ts", join(path, "src"))).toMatchObject({
      path: "a.ts",
      repository: { id: 2 },
    })
    expect(await locate(app, join(path, "b.ts"), made.repositoryPath)).toMatchObject({
      repository: { id: 2 },
    })
    expect(await countOf(app)).toBe(2)
  })

  test("is never connected by a look", async () => {
    const [made, app] = await opened()
    const path = otherRepository(made)
    expect(await findLocation(app, join(path, "a.ts"), undefined)).toBeUndefined()
    expect(await countOf(app)).toBe(1)
  })

  test("in the place of an old one is told from it", async () => {
    const [made, app] = await opened()
    const path = otherRepository(made)
    expect(await locate(app, "a.ts", path)).toMatchObject({ repository: { id: 2 } })
    remove(join(path, ".git"))
    expect(await locate(app, join(path, "a.ts"), made.repositoryPath)).toBeUndefined()
    const nested = otherRepository(made, "nested")
    renameSync(join(nested, ".git"), join(path, ".git"))
    expect(await locate(app, "a.ts", path)).toMatchObject({ path: "a.ts", rootPath: path })
  })
})

test("a second repository of the same name gets -2, whatever the case of its letters", async () => {
  const [made, app] = await opened()
  const names: string[] = []
  for (const folder of ["one/Notes", "two/notes", "three/NOTES"]) {
    mkdirSync(join(made.folder, folder), { recursive: true })
    names.push((await connectFolder(app.db, join(made.folder, folder), made.nowMs)).name)
  }
  expect(names).toEqual(["Notes", "notes-2", "NOTES-3"])
})

describe("a folder without git", () => {
  test("is none until it was connected by name, and then with all below it", async () => {
    const [made, app] = await opened()
    const plain = join(made.folder, "plain")
    mkdirSync(join(plain, "deep"), { recursive: true })
    expect(await locate(app, "a.md", plain)).toBeUndefined()
    expect(await repositoryAround(app, plain)).toBeUndefined()
    const { id } = await connectFolder(app.db, plain, made.nowMs)
    expect(await locate(app, "a.md", plain)).toMatchObject({
      path: "a.md",
      rootPath: plain,
      repository: { id },
    })
    expect(await locate(app, "b.md", join(plain, "deep"))).toMatchObject({
      path: "deep/b.md",
      repository: { id },
    })
    expect(await locate(app, join(made.folder, "plainer/a.md"), plain)).toBeUndefined()
    expect(await locate(app, plain, "/")).toBeUndefined()
  })

  test("inside another one that was connected is the inner one's", async () => {
    const [made, app] = await opened()
    const outer = join(made.folder, "outer")
    mkdirSync(join(outer, "inner"), { recursive: true })
    const [{ id: outerId }, { id: innerId }] = [
      await connectFolder(app.db, outer, made.nowMs),
      await connectFolder(app.db, join(outer, "inner"), made.nowMs),
    ]
    expect(await locate(app, "inner/a", outer)).toMatchObject({ path: "a", repository: { id: innerId } })
    expect(await locate(app, "b", outer)).toMatchObject({ path: "b", repository: { id: outerId } })
  })

  test("around a folder is found from anywhere below", async () => {
    const [made, app] = await opened()
    const plain = join(made.folder, "plain")
    mkdirSync(join(plain, "deep"), { recursive: true })
    const { id } = await connectFolder(app.db, plain, made.nowMs)
    expect(await repositoryAround(app, plain)).toMatchObject({ id })
    expect(await repositoryAround(app, join(plain, "deep"))).toMatchObject({ id })
    expect(await repositoryAround(app, join(plain, "not/there"))).toMatchObject({ id })
  })
})

describe("the repository around a folder", () => {
  test("is found from anywhere in it, and connected when it is new", async () => {
    const [made, app] = await opened()
    expect(await repositoryAround(app, join(made.repositoryPath, "not/there"))).toMatchObject({ id: 1 })
    const path = otherRepository(made)
    expect(await repositoryAround(app, path)).toMatchObject({ id: 2, rootPath: path })
    expect(await repositoryAround(app, made.folder)).toBeUndefined()
  })
})

describe("a path of a named repository", () => {
  test("starts at its root", async () => {
    const [made, app] = await opened()
    const repository = await repositoryAround(app, made.repositoryPath)
    expect(await findLocation(app, "src/a.ts", repository)).toMatchObject({ path: "src/a.ts" })
    expect(await findLocation(app, "../a.ts", repository)).toBeUndefined()
  })
})
