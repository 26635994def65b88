/** Owns that what is too large to be read is reported, costs the rest of the index nothing, and is not tried again. */

import { expect, test } from "vitest"
import { DOCUMENT_CHUNKS_MAX } from "../../../src/config/limits.ts"
import { isIndexingWanted, runIndexing } from "../../../src/operations/documentation/indexing.ts"
import { repositoryStates } from "../../../src/operations/documentation/repositories.ts"
import { listRepositoriesTool } from "../../../src/operations/documentation/tools.ts"
import { TestRepository } from "../../git/support.ts"
import { writeFiles } from "../../support/documentation.ts"
import { type Index, openIndex } from "../../support/documentation-index.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"

/** What the tool says of the one repository. */
async function listed({ app }: Index, id: number): Promise<string> {
  return listRepositoriesTool.markdown(await repositoryStates(app, [{ id }]))
}

const problemsOf = async ({ app }: Index, id: number) =>
  (await repositoryStates(app, [{ id }])).flatMap(({ branches }) =>
    branches.flatMap((branch) => branch.problems),
  )

test("a file with more passages than are read of one is left out, and one with as many is not", async () => {
  const repository = new TestRepository()
  repository.commit({
    "fits.md": "# a\n".repeat(DOCUMENT_CHUNKS_MAX),
    "large.md": "# a\n".repeat(DOCUMENT_CHUNKS_MAX + 1),
    "other.md": "# Zebras\n\nThey run.\n",
  })
  const index = await openIndex()
  const id = await index.add(repository.root)
  expect(await problemsOf(index, id)).toEqual([
    {
      path: "large.md",
      problem: "is too large: it has 10001 passages to search, and 10000 are the most",
    },
  ])
  expect(await index.filesWith("zebras")).toEqual(["other.md"])
  expect(await listed(index, id)).toContain("- left out: large.md is too large: it has 10001 passages")
})

const LIMITS = [
  ["documents", { documentsMax: 2 }, "2 documents"],
  ["files", { entriesMax: 3 }, "3 files"],
  ["passages", { chunksMax: 2 }, "2 passages"],
] as const

test.each(LIMITS)(
  "a branch with more %s than are read is reported, stays as it was, and is read again once it changes",
  async (_, limits, what) => {
    const repository = new TestRepository()
    repository.commit({ "a.md": "# Zebras\n\nThey run.\n", "b.md": "# Lions\n\nThey sleep.\n", "x.ts": "" })
    const index = await openIndex()
    const id = await index.connect(repository.root)
    await index.sync({ limits })
    expect(await problemsOf(index, id), "as many are read").toEqual([])

    repository.commit({ "c.md": "# Giraffes\n\nThey eat.\n", "1.ts": "", "2.ts": "", "3.ts": "" })
    await index.sync({ limits })
    const problem = `is too large to be searched: it has more than ${what}`
    expect(await problemsOf(index, id)).toEqual([{ path: ".", problem }])
    const text = await listed(index, id)
    expect(text).toContain(`- left out: . ${problem}`)
    expect(text).toContain(`Problem: branch "main" ${problem}.`)
    expect(await isIndexingWanted(index.app)).toBe(false)

    // Nothing keeps it from being read now, but that it was found to be too large.
    const { notes } = await index.search("zebras")
    expect(notes).toEqual([`repository: main ${problem}. This is what it was before.`])
    expect(await index.filesWith("zebras")).toEqual(["a.md"])
    expect(await index.filesWith("giraffes")).toEqual([])

    repository.commit({ "b.md": null, "x.ts": null, "1.ts": null, "2.ts": null, "3.ts": null })
    await index.sync({ limits })
    expect(await problemsOf(index, id)).toEqual([])
    expect(await index.filesWith("giraffes")).toEqual(["c.md"])
    expect((await index.search("zebras")).notes).toEqual([])
  },
)

test("a branch that was too large from the first is told of by a search, and others are searched", async () => {
  const repository = new TestRepository()
  repository.commit({ "a.md": "# Zebras\n\nThey run.\n" })
  repository.git("checkout", "--quiet", "-b", "large")
  repository.commit({ "b.md": "# Lions\n\nThey sleep.\n" })
  repository.git("checkout", "--quiet", "main")
  const index = await openIndex()
  const id = await index.connect(repository.root, "large")
  expect(await runIndexing(index.app, { limits: { documentsMax: 1 } })).toBe("done")
  const problem = "is too large to be searched: it has more than 1 documents"
  expect((await repositoryStates(index.app, [{ id }]))[0]?.documented?.problem).toContain(
    `branch "large" ${problem}`,
  )
  expect(await index.search("lions", { branch: "large" })).toEqual({
    results: [],
    notes: [`repository: large ${problem}.`],
  })
  expect(await index.filesWith("zebras")).toEqual(["a.md"])
})

test("a folder without git that is too large says so and names what can be done", async () => {
  const root = temporaryFolder()
  writeFiles(root, { "a.md": "# Zebras\n", "b.md": "# Lions\n" })
  const index = await openIndex()
  const id = await index.connect(root)
  await index.sync({ limits: { entriesMax: 1 } })
  expect((await repositoryStates(index.app, [{ id }]))[0]?.documented?.problem).toBe(
    'branch "working-tree" is too large to be searched: it has more than 1 files. Folders to leave out are named under documentation.ignore in your config file.',
  )
})
