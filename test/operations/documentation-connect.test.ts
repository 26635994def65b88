import { realpathSync } from "node:fs"
import { describe, expect, test } from "vitest"
import {
  connectRepository,
  disconnectRepository,
  fetchClone,
  repositoryStates,
} from "../../src/operations/documentation-repositories.ts"
import { runIndexing } from "../../src/operations/indexing.ts"
import { findRepositoryById, listRepositories } from "../../src/store/repositories.ts"
import { GUIDE, repositoryWith } from "../support/documentation-files.ts"
import { expectSound, openIndex } from "../support/documentation-index.ts"

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
    expect(await forget(index, second)).toEqual({ isConnected: false, isCloneDeleted: false })
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
    const id = await index.add(`file://${origin.root}`)
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
    const id = await index.add(`file://${origin.root}`)
    expect(await forget(index, id)).toEqual({ isConnected: false, isCloneDeleted: true })
    expect(await index.add(`file://${origin.root}`)).toBe(id)
    const [state] = await repositoryStates(index.app, await listRepositories(index.app.db))
    expect(state?.documented?.cloneUrl).toBe(`file://${origin.root}`)
    expect(await index.filesWith("anvil")).toEqual(["one.md"])
  })
})

test("neither the user nor the password of a remote's address is in the name of a repository", async () => {
  const one = repositoryWith({ "one.md": GUIDE })
  one.git("remote", "add", "origin", "https://user:s3cret@example.com/docs.git")
  const index = await openIndex()
  const repository = await connectRepository(index.app, { target: one.root, branches: [] })
  expect(repository.name).not.toContain("s3cret")
  expect(realpathSync(one.root)).toContain(repository.name)
})
