import { describe, expect, test } from "vitest"
import { isIndexingWanted, runIndexing } from "../../../src/operations/documentation/indexing.ts"
import {
  embedWaiting,
  isWorkWaiting,
  modelState,
  useModel,
} from "../../../src/operations/embedding/models.ts"
import { TestRepository } from "../../git/support.ts"
import { gate, type ModelRoom, modelRoom } from "../../support/angle-models.ts"
import { expectSound, Index } from "../../support/documentation-index.ts"

/** More contents than are embedded together. */
const FILES = 60

/** Says which angle a text has for model one, and which for model two. */
function textOf(at: number, one: number, two: number): string {
  return `# File ${at}\n\nIt points to ${one}° and ${two}° of the anvil.\n`
}

interface Room {
  models: ModelRoom
  index: Index
  repository: TestRepository
  id: number
}

/** A repository that model one has embedded: file 0 is at 0° for it, and file 1 for model two. */
async function room(): Promise<Room> {
  const repository = new TestRepository()
  const paths = Array.from({ length: FILES }, (_, at) => `f${String(at).padStart(2, "0")}.md`)
  repository.commit(
    Object.fromEntries(
      paths.map((path, at) => [path, textOf(at, at === 0 ? 0 : 100 + at, at === 1 ? 0 : 100 + at)]),
    ),
  )
  const models = await modelRoom()
  await useModel(models.app, models.one.model)
  const index = new Index(models.app)
  const id = await index.add(repository.root)
  await embedWaiting(models.app)
  await index.sync()
  expect((await modelState(models.app.db)).active.name).toBe("one")
  await expectSound(models.app)
  return { models, index, repository, id }
}

/** The file whose text is nearest to 0° for the active model. */
async function nearest({ index, id }: Pick<Room, "index" | "id">): Promise<string | undefined> {
  return (await index.search("0° 0°", { using: "vectors", repository: id })).results[0]?.file
}

/** How many vectors of documentation each model has. */
async function vectorsOf({ app }: Index): Promise<Record<string, number>> {
  const rows = await app.db.all<{ name: string; number: number }>(
    `SELECT m.name, count(*) AS number FROM document_vectors v JOIN embedding_models m ON m.id = v.model_id
     GROUP BY m.name`,
  )
  return Object.fromEntries(rows.map(({ name, number }) => [name, number]))
}

describe("documentation that is embedded with another model", () => {
  test("is searched by the old vectors until the new ones are complete, and then none of the old are left", async () => {
    const { models, index, id } = await room()
    expect(await nearest({ index, id })).toBe("f00.md")
    const { reached, wait, open } = gate()
    let batches = 0
    models.two.before = () => {
      batches += 1
      return batches === 2 ? wait() : undefined
    }
    await useModel(models.app, models.two.model)
    const working = embedWaiting(models.app)
    await reached
    expect((await vectorsOf(index)).two).toBeGreaterThan(0)
    expect(await nearest({ index, id })).toBe("f00.md")
    open()
    await working
    expect((await modelState(models.app.db)).active.name).toBe("two")
    expect(await nearest({ index, id })).toBe("f01.md")
    await index.sync()
    expect(await vectorsOf(index)).toEqual({ two: FILES })
    await expectSound(models.app)
  })

  test("loses the old vectors without anybody asking for them", async () => {
    const { models, index } = await room()
    await models.use(models.two)
    const isLeft = (await isIndexingWanted(models.app)) || (await isWorkWaiting(models.app.db))
    if (isLeft) await index.sync()
    expect(await vectorsOf(index)).toEqual({ two: FILES })
  })

  test("is embedded by indexing as well, and not twice", async () => {
    const { models, index, id } = await room()
    await useModel(models.app, models.two.model)
    await index.sync()
    expect(models.two.passages).toHaveLength(FILES)
    expect(await nearest({ index, id })).toBe("f00.md")
    await embedWaiting(models.app)
    expect(models.two.passages).toHaveLength(FILES)
    expect(await nearest({ index, id })).toBe("f01.md")
    await index.sync()
    await expectSound(models.app)
  })

  test("goes on where it was stopped", async () => {
    const { models, index } = await room()
    await useModel(models.app, models.two.model)
    const stop = new AbortController()
    models.two.before = () => stop.abort()
    expect(await runIndexing(models.app, { signal: stop.signal })).toBe("stopped")
    models.two.before = () => {}
    await index.sync()
    await embedWaiting(models.app)
    await index.sync()
    expect(models.two.passages).toHaveLength(FILES)
    await expectSound(models.app)
  })

  test("is found by the text of a commit that comes meanwhile", async () => {
    const { models, index, repository, id } = await room()
    await useModel(models.app, models.two.model)
    await index.sync()
    repository.commit({ "f00.md": textOf(0, 170, 170), "f99.md": "# New\n\nThe bellows is at 0° 0° now.\n" })
    expect(await index.filesWith("bellows", { repository: id })).toEqual(["f99.md"])
    expect(await nearest({ index, id })).toBe("f99.md")
    await embedWaiting(models.app)
    await index.sync()
    await expectSound(models.app)
  })

  test("has the vectors of the active model when the other one is given up", async () => {
    const { models, index, id } = await room()
    await useModel(models.app, models.two.model)
    const stop = new AbortController()
    models.two.before = () => stop.abort()
    await runIndexing(models.app, { signal: stop.signal })
    await useModel(models.app, models.one.model)
    await embedWaiting(models.app)
    await index.sync()
    expect(await vectorsOf(index)).toEqual({ one: FILES })
    expect(await nearest({ index, id })).toBe("f00.md")
    await expectSound(models.app)
  })

  test("has vectors when its model is replaced, and taken up again, while an indexing runs", async () => {
    const { models, index, repository, id } = await room()
    repository.commit({ "f99.md": "# New\n\nThe bellows is at 90° 90° now.\n" })
    const { reached, wait, open } = gate()
    models.one.before = wait
    const working = runIndexing(models.app)
    await reached
    await models.use(models.two)
    open()
    await working
    models.one.before = () => {}
    await models.use(models.one)
    await index.sync()
    expect(await vectorsOf(index)).toEqual({ one: FILES + 1 })
    expect(await nearest({ index, id })).toBe("f00.md")
    await expectSound(models.app)
  })

  test("is found by its words when the model is not on this machine, which is noted", async () => {
    const { models, index, repository, id } = await room()
    models.one.isThere = false
    repository.commit({ "f99.md": "# New\n\nThe bellows is at 90° 90° now.\n" })
    expect(await index.filesWith("bellows", { repository: id })).toEqual(["f99.md"])
    const [row] = await models.app.db.all<{ problem: string }>(
      "SELECT problem FROM documentation_repositories",
    )
    expect(row?.problem).toContain("not on this machine")
    models.one.isThere = true
    await index.sync()
    await expectSound(models.app)
  })
})
