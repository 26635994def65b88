import { existsSync, readdirSync, renameSync } from "node:fs"
import { pathToFileURL } from "node:url"
import BetterSqlite3 from "better-sqlite3"
import { describe, expect, test } from "vitest"
import { reserveCommand } from "../../../src/commands/coordination/reserve.ts"
import {
  addRepositoryCommand,
  listRepositoriesCommand,
  removeRepositoryCommand,
  syncRepositoriesCommand,
} from "../../../src/commands/documentation/repos.ts"
import { exitCodeOf } from "../../../src/commands/exit-codes.ts"
import { addMemoryCommand } from "../../../src/commands/memory/memory.ts"
import { createKey } from "../../../src/operations/keys.ts"
import { commitFiles, git, newRepository } from "../../support/documentation.ts"
import { configIn, refusal, run, server } from "../command.ts"
import {
  add,
  documentedWorld,
  FILES,
  list,
  noteWork,
  otherProcess,
  remove,
  type Shown,
  sync,
} from "./repos-command.ts"

describe("repos sync", () => {
  test("brings all that is searched up to date, or what is named", async () => {
    const { where } = documentedWorld()
    const folder = newRepository(where, "other", FILES)
    expect(await sync(where)).toEqual([])
    expect((await run(() => syncRepositoriesCommand(configIn(where), [], {}))).out).toContain(
      "Nothing is searched yet.",
    )
    await add(where, ".")
    await add(where, folder)
    for (const one of [where.repositoryPath, folder]) commitFiles(one, { "new.md": "# New\n\nNews.\n" })
    const filesOf = (shown: Shown[]) => shown.map(({ name, branches }) => [name, branches[0]?.files])
    expect(filesOf(await sync(where, "2", "other"))).toEqual([["other", 3]])
    expect((await list(where))[0]?.branches[0]?.files).toBe(2)
    expect(filesOf(await sync(where))).toEqual([
      ["repository", 3],
      ["other", 3],
    ])
    const unknown = await refusal("not_found", () => syncRepositoriesCommand(configIn(where), ["x"], {}))
    expect(unknown).toContain('repository "x" was not found')
    expect(unknown).toContain("signalbox repos list")
  })

  test("reads what can be read, then fails for what cannot, and says why", async () => {
    const { where } = documentedWorld()
    const folder = newRepository(where, "other", FILES)
    await add(where, folder)
    await add(where, ".")
    renameSync(folder, `${folder}-away`)
    commitFiles(where.repositoryPath, { "new.md": "# New\n\nNews.\n" })
    const { out, error } = await run(() => syncRepositoriesCommand(configIn(where), [], {}))
    expect(error?.code).toBe("unavailable")
    expect(error?.text).toMatch(/^other cannot be brought up to date: .* is no longer there/)
    expect(out).toContain("✗ other: ")
    expect(out).toContain("main (default): 3 files, 3 chunks")
    expect((await run(() => listRepositoriesCommand(configIn(where), {}))).out).toContain("problem: ")
    renameSync(`${folder}-away`, folder)
    expect(await sync(where)).toMatchObject([
      { state: "searchable", problem: null },
      { state: "searchable", problem: null },
    ])
  })

  test("waits for another process that is at it, shows how far that is, and looks again", async () => {
    const { where, said } = documentedWorld()
    await add(where, ".", { sync: false })
    const other = otherProcess(where)
    await noteWork(where, 14)
    const work = run(() => syncRepositoriesCommand(configIn(where), [], {}))
    await expect
      .poll(() => said.text)
      .toContain("Reading repository (main): 40 files\n  30 %, 14 of 40 files\n")
    await noteWork(where, 22)
    await expect.poll(() => said.text).toContain("  50 %, 22 of 40 files\n")
    other.close()
    const { out, error } = await work
    expect(error).toBeUndefined()
    expect(out).toContain("✓ repository is searchable.")
  })

  test("ends with 1 at Ctrl+C, and says how it goes on", async () => {
    const { where, said } = documentedWorld()
    await add(where, ".", { sync: false })
    const other = otherProcess(where)
    await noteWork(where, 14)
    const before = process.listenerCount("SIGINT")
    const work = run(() => syncRepositoriesCommand(configIn(where), [], {}))
    await expect.poll(() => said.text).toContain("14 of 40 files")
    process.emit("SIGINT")
    const { error } = await work
    expect(process.listenerCount("SIGINT")).toBe(before)
    expect(error?.text).toContain("stopped: repository is not read to the end")
    expect(error?.text).toContain("`signalbox repos sync` goes on where it stopped")
    expect(error && exitCodeOf(error.code)).toBe(1)
    other.close()
    expect(await sync(where)).toMatchObject([{ state: "searchable" }])
  })
})

describe("repos remove", () => {
  test("forgets a repository that nothing else belongs to, and leaves its folder alone", async () => {
    const { where } = documentedWorld()
    await add(where, ".")
    const { out } = await run(() => removeRepositoryCommand(configIn(where), "1", {}))
    expect(out).toContain("✓ Forgot the documentation of repository.")
    expect(out).toContain(`Nothing in ${where.repositoryPath} was touched.`)
    expect(out).toContain("not connected any more")
    expect(await list(where)).toEqual([])
    expect(git(where.repositoryPath, "status", "--porcelain")).toBe("")
    await refusal("not_found", () => removeRepositoryCommand(configIn(where), "repository", {}))
  })

  test("leaves a clone alone that the database says to be the folder of the data, and says so", async () => {
    const { where } = documentedWorld()
    await add(where, pathToFileURL(where.repositoryPath).href, { name: "origin" })
    const clones = where.databasePath.replace(/\.db$/, ".repositories")
    const hostile = `${clones}/..`
    const db = new BetterSqlite3(where.databasePath)
    db.prepare("UPDATE repositories SET identity_path = ?, root_path = ?").run(hostile, hostile)
    db.close()
    const { out } = await run(() => removeRepositoryCommand(configIn(where), "origin", {}))
    expect(out).toContain(`Nothing in ${hostile} was touched.`)
    expect(out).toContain("not connected any more")
    expect(readdirSync(clones)).toHaveLength(1)
    expect(existsSync(where.databasePath)).toBe(true)
  })

  test("keeps memories and reservations, and says so", async () => {
    const { where } = documentedWorld()
    await add(where, ".")
    await run(() => addMemoryCommand(configIn(where), ["Deploys are on Monday."], {}))
    await run(() => reserveCommand(configIn(where), ["a.ts", "b.ts"], {}))
    const { out } = await run(() => removeRepositoryCommand(configIn(where), "repository", {}))
    expect(out).toContain("Kept: 1 memory, 2 reservations, its agents and their history.")
    expect(out).toContain("It stays connected for them, with id 1.")
    expect(await list(where)).toMatchObject([{ id: 1, state: "unsearched", branches: [] }])
    expect(await remove(where, "1")).toEqual({
      id: 1,
      name: "repository",
      is_connected: true,
      clone_deleted: false,
      is_removed: true,
      held_by_backups: false,
      kept: { memories: 1, reservations: 2 },
    })
    expect(await add(where, "."), "it can be connected again").toMatchObject({ id: 1, state: "searchable" })
  })
})

describe("a configured key", () => {
  test("without admin lists its own repositories and changes nothing", async () => {
    const { where } = documentedWorld()
    await add(where, ".")
    await add(where, newRepository(where, "other", FILES))
    const app = await server(where, "one")
    const keyFor = async (...scopes: string[]) => {
      const request = { name: "k", plan: "starter", expiresAtMs: null, environment: "live" } as const
      return { env: { SIGNALBOX_API_KEY: (await createKey(app, { ...request, scopes })).text } }
    }
    const own = await keyFor("repo:2:memory")
    expect((await list(where, own)).map(({ name }) => name)).toEqual(["other"])
    const config = configIn(where, own)
    for (const work of [
      () => addRepositoryCommand(config, ".", {}),
      () => syncRepositoriesCommand(config, [], {}),
      () => removeRepositoryCommand(config, "other", {}),
    ])
      expect(await refusal("forbidden", work)).toContain("admin")
    const admin = await keyFor("admin")
    expect(await list(where, admin)).toHaveLength(2)
    expect(await add(where, ".", {}, admin)).toMatchObject({ id: 1 })
    await refusal("unauthenticated", () =>
      listRepositoriesCommand(configIn(where, { env: { SIGNALBOX_API_KEY: "x" } }), {}),
    )
  })
})
