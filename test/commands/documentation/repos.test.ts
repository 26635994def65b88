import { existsSync, readFileSync, renameSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { describe, expect, test } from "vitest"
import {
  type AddRepositoryOptions,
  addRepositoryCommand,
  listRepositoriesCommand,
  syncRepositoriesCommand,
} from "../../../src/commands/documentation/repos.ts"
import { addMemoryCommand } from "../../../src/commands/memory/memory.ts"
import { putIndexingProblem } from "../../../src/store/documentation/documentation.ts"
import { commitFiles, git, newRepository, writeFiles } from "../../support/documentation.ts"
import type { World } from "../../support/world.ts"
import { configIn, presentWorld, refusal, run, server } from "../command.ts"
import { add, documentedWorld, FILES, list, noteWork, remove, type Shown, sync } from "./repos-command.ts"

describe("repos add", () => {
  test("connects a folder and reads its documentation", async () => {
    const { where, said } = documentedWorld()
    const commit = git(where.repositoryPath, "rev-parse", "HEAD")
    expect(await add(where, ".")).toEqual({
      id: 1,
      name: "repository",
      root_path: where.repositoryPath,
      default_branch: "main",
      state: "searchable",
      problem: null,
      indexing: null,
      chunks_without_vector: 0,
      branches: [
        {
          name: "main",
          is_default: true,
          commit,
          files: 2,
          chunks: 2,
          is_complete: true,
          indexed_at: expect.stringMatching(/^20.*Z$/),
          files_left_out: 0,
          left_out: [],
        },
      ],
    })
    expect(said.text, "JSON is all that is printed").toBe("")
  })

  test("says what is searchable, and on its way what it does, a line each where no terminal is", async () => {
    const { where, said } = documentedWorld()
    symlinkSync("limits.md", join(where.repositoryPath, "docs", "link.md"))
    commitFiles(where.repositoryPath, {})
    const { out } = await run(() => addRepositoryCommand(configIn(where), where.repositoryPath, {}))
    expect(out.split("\n")).toEqual([
      "✓ repository is searchable.",
      "  Id        1",
      `  Root      ${where.repositoryPath}`,
      expect.stringMatching(/^ {2}Branches {2}main \(default\): 2 files, 2 chunks at [0-9a-f]{12}$/),
      "  Left out  1 file",
      "    docs/link.md is a symbolic link, which is not followed",
      "",
    ])
    expect(said.text.split("\n")).toEqual([
      "Reading repository (main): 3 files",
      "  100 %, 3 of 3 files",
      "Embedding repository: 2 chunks",
      "  100 %, 2 of 2 chunks",
      "",
    ])
  })

  test("takes a name and branches, and more branches when it is said again", async () => {
    const { where } = documentedWorld()
    const folder = newRepository(where, "other", FILES)
    for (const branch of ["next", "v1"]) git(folder, "branch", branch)
    const branchesOf = ({ branches }: Shown) => branches.map(({ name }) => name)
    const first = await add(where, "../other", { name: "manual", branch: ["v1"] })
    expect(first).toMatchObject({ name: "manual", root_path: folder })
    expect(branchesOf(first)).toEqual(["main", "v1"])
    const again = await add(where, folder, { name: "manual", branch: ["next"] })
    expect(again).toMatchObject({ id: first.id, name: "manual" })
    expect(branchesOf(again)).toEqual(["main", "next", "v1"])
    expect(branchesOf(await add(where, folder))).toEqual(["main", "next", "v1"])
  })

  test("leaves the reading to others with --no-sync", async () => {
    const { where } = documentedWorld()
    const { out } = await run(() => addRepositoryCommand(configIn(where), ".", { sync: false }))
    expect(out).toContain("✓ repository is connected.")
    expect(out).toContain("`signalbox repos sync`")
    expect(out).toContain("main (default): not read yet")
    expect(await list(where)).toMatchObject([{ state: "waiting", branches: [{ name: "main", files: 0 }] }])
    expect((await run(() => listRepositoriesCommand(configIn(where), {}))).out).toContain("not searched yet")
    expect(await sync(where, "repository")).toMatchObject([{ state: "searchable" }])
  })

  test("reads a folder without git as it is", async () => {
    const { where } = documentedWorld()
    writeFiles(join(where.folder, "notes"), FILES)
    expect(await add(where, join(where.folder, "notes"), { sync: false })).toMatchObject({ state: "waiting" })
    expect(await add(where, join(where.folder, "notes"))).toMatchObject({
      name: "notes",
      state: "searchable",
      branches: [{ name: "working-tree", is_default: true, files: 2 }],
    })
    expect((await run(() => listRepositoriesCommand(configIn(where), {}))).out).toContain("working-tree*")
  })

  test("connects a repository that has no commit yet", async () => {
    const where = presentWorld()
    expect(await add(where, ".")).toMatchObject({ state: "empty", branches: [] })
    const { out } = await run(() => addRepositoryCommand(configIn(where), ".", {}))
    expect(out).toContain(
      "✓ repository is connected. There is nothing to search in it yet, it has no commit.",
    )
  })

  test("refuses what is no folder and no address, and names that are taken or no names", async () => {
    const { where } = documentedWorld()
    newRepository(where, "other", FILES)
    await add(where, ".", { sync: false })
    const refuse = (code: string, target: string, options: AddRepositoryOptions = {}) =>
      refusal(code, () => addRepositoryCommand(configIn(where), target, options))
    expect(await refuse("not_found", "nowhere")).toContain(`${where.repositoryPath}/nowhere is not a folder`)
    for (const address of ["http://example.com/a.git", "git://example.com/a", "ext::sh -c true"])
      expect(await refuse("invalid", address)).toContain("target must be a folder, or an address that begins")
    expect(await refuse("invalid", "../other", { name: "12" })).toContain("name must not be a number")
    expect(await refuse("invalid", "../other", { name: " " })).toContain("name must not be blank")
    expect(await refuse("conflict", "../other", { name: "repository" })).toContain(where.repositoryPath)
    const branch = await refuse("not_found", "../other", { branch: ["nxet"] })
    expect(branch).toContain('branch "nxet" was not found; known are: main')
  })
})

describe("a repository that was cloned", () => {
  /** Makes one on this machine, which stands for one elsewhere. */
  function origin(where: World): { folder: string; url: string } {
    const folder = newRepository(where, "origin", FILES)
    return { folder, url: pathToFileURL(folder).href }
  }

  test("is searched, fetched by sync, and deleted by remove, which touches nothing else", async () => {
    const { where, said } = documentedWorld()
    const { folder, url } = origin(where)
    const added = await add(where, url, { name: "origin" })
    expect(added).toMatchObject({
      name: "origin",
      state: "searchable",
      branches: [{ name: "main", files: 2 }],
    })
    expect(added.root_path.startsWith(where.databasePath.replace(/\.db$/, ""))).toBe(true)
    commitFiles(folder, { "more.md": "# More\n\nMuch more.\n" })
    expect(await sync(where)).toMatchObject([{ branches: [{ files: 3, chunks: 3 }] }])
    expect(said.text).toBe("")
    expect(await remove(where, "origin")).toMatchObject({ is_connected: false, clone_deleted: true })
    expect(existsSync(added.root_path)).toBe(false)
    expect(readFileSync(join(folder, "more.md"), "utf8")).toContain("Much more.")
  })

  test("is searched as it was fetched before when it cannot be fetched, with a warning", async () => {
    const { where, said } = documentedWorld()
    const { folder, url } = origin(where)
    await add(where, url, { name: "origin" })
    renameSync(folder, `${folder}-away`)
    const { out, error } = await run(() => syncRepositoriesCommand(configIn(where), [], {}))
    expect(error).toBeUndefined()
    expect(out).toContain("✓ origin is searchable.")
    expect(said.text).toContain(`signalbox: warning: ${url} cannot be fetched`)
  })

  test("is not connected when it cannot be cloned", async () => {
    const { where } = documentedWorld()
    const url = pathToFileURL(`${where.folder}/nowhere.git`).href
    const text = await refusal("unavailable", () => addRepositoryCommand(configIn(where), url, {}))
    expect(text).toContain(`${url} cannot be cloned`)
    expect(await list(where)).toEqual([])
  })
})

describe("repos list", () => {
  test("shows each repository with its branches, what is in them and its state, a line each", async () => {
    const { where } = documentedWorld()
    expect((await run(() => listRepositoriesCommand(configIn(where), {}))).out).toContain(
      "signalbox repos add",
    )
    git(where.repositoryPath, "branch", "next")
    await add(where, ".", { branch: ["next"] })
    await add(where, newRepository(where, "other", FILES), { sync: false })
    const third = configIn(where, { folder: newRepository(where, "third", FILES) })
    await run(() => addMemoryCommand(third, ["x"], {}))
    const { out } = await run(() => listRepositoriesCommand(configIn(where), {}))
    expect(out.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
      ["ID", "NAME", "BRANCHES", "FILES", "CHUNKS", "STATE", "ROOT"],
      ["1", "repository", "main*, next", "4", "4", "searchable", where.repositoryPath],
      ["2", "other", "main*", "0", "0", "not searched yet", join(where.folder, "other")],
      ["3", "third", "0", "0", "not searched", join(where.folder, "third")],
      [""],
    ])
  })

  test("shows how far work is, and nothing of work that was broken off", async () => {
    const { where } = documentedWorld()
    await add(where, ".")
    await noteWork(where, 14)
    expect((await run(() => listRepositoriesCommand(configIn(where), {}))).out).toContain("indexing 35 %")
    expect(await list(where)).toMatchObject([
      { state: "indexing", indexing: { phase: "reading", branch: "main", done: 14, total: 40 } },
    ])
    await noteWork(where, 14, Date.now() - 61_000)
    expect(await list(where)).toMatchObject([{ state: "searchable", indexing: null }])
  })

  test("shows a problem in one line, without what a terminal would obey", async () => {
    const { where } = documentedWorld()
    await add(where, ".")
    const app = await server(where, "one")
    const problem = `git says:\n\u001b[2J${"no ".repeat(100)}`
    await app.db.transaction("documentation:1", (tx) => putIndexingProblem(tx, 1, problem))
    const { out } = await run(() => listRepositoriesCommand(configIn(where), {}))
    expect(out).toMatch(/ {2}problem: git says: ⏎ ␛\[2Jno no [no ]+… {2}\//)
    expect(await list(where)).toMatchObject([{ state: "problem", problem }])
  })
})
