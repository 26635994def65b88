import { existsSync, mkdirSync, readdirSync, realpathSync, symlinkSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import BetterSqlite3 from "better-sqlite3"
import { describe, expect, test } from "vitest"
import { fetchClone } from "../../../src/operations/documentation/clones.ts"
import { runIndexing } from "../../../src/operations/documentation/indexing.ts"
import { disconnectRepository } from "../../../src/operations/documentation/removal.ts"
import { connectRepository, repositoryStates } from "../../../src/operations/documentation/repositories.ts"
import { findRepositoryById, listRepositories } from "../../../src/store/repositories.ts"
import { GUIDE, repositoryWith } from "../../support/documentation-files.ts"
import { expectSound, openIndex } from "../../support/documentation-index.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"

async function forget(index: Awaited<ReturnType<typeof openIndex>>, id: number) {
  const repository = await findRepositoryById(index.app.db, id)
  if (repository === undefined) throw new Error(`repository ${id} is not connected`)
  return disconnectRepository(index.app, repository)
}

describe("a repository that is let go", () => {
  test("leaves its id to nobody else, and gets it back when it is connected again", async () => {
    const [one, two, three] = ["one", "two", "three"].map((name) => repositoryWith({ [`${name}.md`]: GUIDE }))
    const index = await openIndex()
    await index.add(one?.root ?? "")
    const second = await index.add(two?.root ?? "")
    expect(await forget(index, second)).toEqual({
      isConnected: false,
      isCloneDeleted: false,
      isRemoved: true,
    })
    expect((await listRepositories(index.app.db)).map(({ id }) => id)).toEqual([1])
    expect(await index.add(three?.root ?? "")).toBe(second + 1)
    expect(await index.filesWith("anvil")).toEqual(["one.md", "three.md"])
    expect(await index.add(two?.root ?? "")).toBe(second)
    expect(await index.filesWith("anvil")).toEqual(["one.md", "three.md", "two.md"])
    await expectSound(index.app)
  })

  test("is not read again by whoever names all ids", async () => {
    const one = repositoryWith({ "one.md": GUIDE })
    const index = await openIndex()
    const id = await index.add(one.root)
    await forget(index, id)
    expect(await runIndexing(index.app, { repositoryIds: [id] })).toBe("done")
    expect(await index.filesWith("anvil")).toEqual([])
    await expectSound(index.app)
  })
})

describe("a connection that is refused", () => {
  test("leaves nothing connected", async () => {
    const one = repositoryWith({ "one.md": GUIDE })
    const index = await openIndex()
    await expect(connectRepository(index.app, { target: one.root, branches: ["mian"] })).rejects.toThrow(
      'branch "mian" was not found; known are: main',
    )
    expect(await listRepositories(index.app.db)).toEqual([])
    expect(await index.filesWith("anvil")).toEqual([])
  })

  test("of one that was connected before leaves that as it was", async () => {
    const one = repositoryWith({ "one.md": GUIDE })
    const index = await openIndex()
    const id = await index.add(one.root)
    await expect(connectRepository(index.app, { target: one.root, branches: ["mian"] })).rejects.toThrow(
      "mian",
    )
    expect(await index.filesWith("anvil", { repository: id })).toEqual(["one.md"])
  })
})

describe("a clone", () => {
  test("follows a default branch that the remote has renamed", async () => {
    const origin = repositoryWith({ "one.md": GUIDE })
    const index = await openIndex()
    const id = await index.add(origin.url)
    origin.git("branch", "-m", "main", "trunk")
    origin.commit({ "new.md": "# New\n\ntongs\n" })
    const repository = (await listRepositories(index.app.db))[0]
    if (repository === undefined) throw new Error("nothing is connected")
    await fetchClone(index.app, repository)
    await index.sync()
    expect(await index.filesWith("tongs", { repository: id })).toEqual(["new.md"])
  })

  test("that is let go is deleted from the disk, and can be cloned again", async () => {
    const origin = repositoryWith({ "one.md": GUIDE })
    const index = await openIndex()
    const id = await index.add(origin.url)
    expect(await forget(index, id)).toEqual({ isConnected: false, isCloneDeleted: true, isRemoved: true })
    expect(await index.add(origin.url)).toBe(id)
    const [state] = await repositoryStates(index.app, await listRepositories(index.app.db))
    expect(state?.documented?.cloneUrl).toBe(origin.url)
    expect(await index.filesWith("anvil")).toEqual(["one.md"])
  })
})

describe("of a clone that the database says to be elsewhere", () => {
  const CLONES = "signalbox.repositories"
  test.each<[what: string, pathIn: (data: string) => string]>([
    ["the folder of the data, by a name in the folder of clones", (data) => `${data}/${CLONES}/..`],
    ["the folder of clones", (data) => join(data, CLONES)],
    ["the folder of clones, with a slash", (data) => `${data}/${CLONES}/`],
    ["a part of a clone", (data) => join(data, CLONES, readdirSync(join(data, CLONES))[0] ?? "", "refs")],
    ["the folder of the data", (data) => data],
    ["a folder beside that of clones", (data) => join(data, "mine")],
    ["a folder beside, by way of it", (data) => `${data}/${CLONES}/../mine`],
    ["a folder behind a link", (data) => join(data, CLONES, "link", "deep")],
    ["nothing", () => ""],
    ["a relative one", () => "mine"],
  ])("nothing is deleted: %s", async (_, pathIn) => {
    const origin = repositoryWith({ "one.md": GUIDE })
    const index = await openIndex()
    const { databasePath } = index.app.config
    const data = dirname(databasePath)
    const id = await index.add(origin.url)
    mkdirSync(join(data, "mine", "deep"), { recursive: true })
    symlinkSync(join(data, "mine"), join(data, CLONES, "link"))
    setIdentityPath(databasePath, id, pathIn(data))
    const before = foldersIn(data)
    expect(before).toContain(join("mine", "deep"))
    expect(await forget(index, id)).toEqual({ isConnected: false, isCloneDeleted: false, isRemoved: true })
    expect(foldersIn(data)).toEqual(before)
    expect(await listRepositories(index.app.db), "it is let go all the same").toEqual([])
  })

  test("a link in the folder of clones is taken away, and not what it points at", async () => {
    const origin = repositoryWith({ "one.md": GUIDE })
    const index = await openIndex()
    const { databasePath } = index.app.config
    const data = dirname(databasePath)
    const id = await index.add(origin.url)
    mkdirSync(join(data, "mine", "deep"), { recursive: true })
    const link = join(data, CLONES, "link")
    symlinkSync(join(data, "mine"), link)
    setIdentityPath(databasePath, id, link)
    expect(await forget(index, id)).toEqual({ isConnected: false, isCloneDeleted: true, isRemoved: true })
    expect(existsSync(link)).toBe(false)
    expect(existsSync(join(data, "mine", "deep"))).toBe(true)
    expect(readdirSync(join(data, CLONES))).toHaveLength(1)
  })
})

test("a clone below a link to the folder of the data is deleted, and nothing else there", async () => {
  const one = repositoryWith({ "one.md": GUIDE })
  const two = repositoryWith({ "two.md": GUIDE })
  const real = temporaryFolder()
  const link = join(temporaryFolder(), "data")
  symlinkSync(real, link)
  const index = await openIndex({ databasePath: join(link, "signalbox.db") })
  const first = await index.add(one.url)
  await index.add(two.url)
  const clones = readdirSync(join(real, "signalbox.repositories"))
  expect(clones).toHaveLength(2)
  const gone = await findRepositoryById(index.app.db, first)
  expect(await forget(index, first)).toEqual({ isConnected: false, isCloneDeleted: true, isRemoved: true })
  const left = clones.filter((name) => name !== basename(gone?.identityPath ?? ""))
  expect(readdirSync(join(link, "signalbox.repositories"))).toEqual(left)
  expect(left).toHaveLength(1)
})

/** Writes into the database what signalbox never would. */
function setIdentityPath(databasePath: string, id: number, path: string): void {
  const db = new BetterSqlite3(databasePath)
  const { changes } = db.prepare("UPDATE repositories SET identity_path = ? WHERE id = ?").run(path, id)
  db.close()
  expect(changes).toBe(1)
}

/** Everything below a folder but the files of the database, which come and go. */
function foldersIn(data: string): string[] {
  const all = readdirSync(data, { recursive: true, encoding: "utf8" })
  return all.filter((path) => !path.startsWith("signalbox.db")).sort()
}

test("neither the user nor the password of a remote's address is in the name of a repository", async () => {
  const one = repositoryWith({ "one.md": GUIDE })
  one.git("remote", "add", "origin", "https://user:s3cret@example.com/docs.git")
  const index = await openIndex()
  const repository = await connectRepository(index.app, { target: one.root, branches: [] })
  expect(repository.name).not.toContain("s3cret")
  expect(realpathSync(one.root)).toContain(repository.name)
})
