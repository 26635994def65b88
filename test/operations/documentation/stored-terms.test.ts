/** Owns that what an earlier version stored under other terms is found by those of this one. */

import BetterSqlite3 from "better-sqlite3"
import { expect, test } from "vitest"
import { READER_VERSION } from "../../../src/indexing/read-document.ts"
import { TestRepository } from "../../git/support.ts"
import { type Index, openIndex } from "../../support/documentation-index.ts"

/** Makes what is stored that of version 1, which stemmed `ypes` to `yp`. */
function asOfVersion1({ app }: Index): void {
  const database = new BetterSqlite3(app.config.databasePath)
  const changed = [
    database.prepare("UPDATE document_postings SET term = 'yp' WHERE term = 'ype'").run(),
    database.prepare("UPDATE documentation_blobs SET key = replace(key, ?, ':1')").run(`:${READER_VERSION}`),
    database
      .prepare("UPDATE documentation_branches SET rules = replace(rules, ?, '1:')")
      .run(`${READER_VERSION}:`),
  ]
  database.close()
  expect(changed.map(({ changes }) => changes)).toEqual([1, 1, 1])
}

test("a word that an earlier version stemmed otherwise is found once it is read again", async () => {
  const repository = new TestRepository()
  repository.commit({ "axes.md": "# Axes\n\nThe ypes of a plot are ticks.\n" })
  const index = await openIndex()
  await index.add(repository.root)
  asOfVersion1(index)
  const { databasePath } = index.app.config
  await index.close()

  const reopened = await openIndex({ databasePath })
  await reopened.sync()
  expect(await reopened.filesWith("ypes")).toEqual(["axes.md"])
})
