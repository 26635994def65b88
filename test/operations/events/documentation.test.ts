/** What is told of documentation: which branch was read or let go, with how much, and never of what changes nothing. */

import { expect, test } from "vitest"
import { runIndexing } from "../../../src/operations/documentation/indexing.ts"
import { disconnectRepository } from "../../../src/operations/documentation/removal.ts"
import { TestRepository } from "../../git/support.ts"
import { openIndex } from "../../support/documentation-index.ts"
import { eventsIn, toldIn } from "../../support/events.ts"

const page = (word: string) => `# ${word}\n\nThe ${word} is forged in the morning.\n`

async function indexed() {
  const repository = new TestRepository()
  repository.commit({ "a.md": page("anvil"), "b.md": page("bellows"), "code.ts": "1" })
  const index = await openIndex()
  const id = await index.add(repository.root)
  const head = () => repository.git("rev-parse", "HEAD").trim()
  const told = () => toldIn(index.app.db, "documentation.")
  return { repository, index, id, head, told }
}

test("a branch that is read for the first time is told of once, with how much of it is searched", async () => {
  const { index, id, head, told } = await indexed()
  await index.sync()
  expect(await told()).toEqual([
    ["documentation.indexed", { branch: "main", commit: head(), files: 2, chunks: 2 }],
  ])
  const [event] = await eventsIn(index.app.db, "documentation.")
  expect(event).toMatchObject({ repositoryId: id, actor: "signalbox" })
})

test("a commit that changes documents is told of, and one that changes none is not", async () => {
  const { repository, index, head, told } = await indexed()
  repository.commit({ "code.ts": "2" })
  await index.sync()
  expect(await told()).toHaveLength(1)
  repository.git("rm", "--quiet", "b.md")
  repository.commit({ "a.md": page("hammer"), "c.md": page("tongs"), "d.md": page("vice") })
  await index.sync()
  await index.sync()
  expect((await told()).slice(1)).toEqual([
    ["documentation.updated", { branch: "main", commit: head(), files: 3, chunks: 3, put: 3, removed: 1 }],
  ])
})

test("a reading that was broken off is told of when another one has finished it", async () => {
  const repository = new TestRepository()
  repository.commit({ "a.md": page("anvil") })
  const index = await openIndex()
  await index.connect(repository.root)
  const stop = new AbortController()
  await runIndexing(index.app, { signal: stop.signal, onProgress: () => stop.abort() })
  expect(await toldIn(index.app.db, "documentation.")).toEqual([])
  await index.sync()
  expect((await toldIn(index.app.db, "documentation.")).map(([kind]) => kind)).toEqual([
    "documentation.indexed",
  ])
})

test("a branch that is gone is told of as deleted, and as indexed when it comes back", async () => {
  const { repository, index, head, told } = await indexed()
  repository.git("branch", "next")
  await index.connect(repository.root, "next")
  await index.sync()
  repository.git("branch", "-D", "next")
  await index.sync()
  repository.git("branch", "next")
  await index.connect(repository.root, "next")
  await index.sync()
  const counts = { branch: "next", commit: head(), files: 2, chunks: 2 }
  expect((await told()).slice(1)).toEqual([
    ["documentation.indexed", counts],
    ["documentation.deleted", { branch: "next", commit: head() }],
    ["documentation.indexed", counts],
  ])
})

test("documentation that somebody lets go is told of once, with its branches, in the same moment", async () => {
  const { repository, index, id, told } = await indexed()
  const stop = AbortSignal.abort()
  await disconnectRepository(index.app, { id }, { signal: stop })
  expect((await told()).slice(1)).toEqual([["documentation.deleted", { branches: ["main"] }]])
  await disconnectRepository(index.app, { id })
  await index.sync()
  expect(await told()).toHaveLength(2)
  await index.add(repository.root)
  expect((await told()).map(([kind]) => kind).slice(2)).toEqual(["documentation.indexed"])
})

test("documentation of which nothing was ever read is let go without a word", async () => {
  const repository = new TestRepository()
  repository.commit({ "a.md": page("anvil") })
  const index = await openIndex()
  const id = await index.connect(repository.root)
  await disconnectRepository(index.app, { id })
  expect(await toldIn(index.app.db, "documentation.")).toEqual([])
})
