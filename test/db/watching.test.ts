import { join } from "node:path"
import BetterSqlite3 from "better-sqlite3"
import { expect, onTestFinished, test } from "vitest"
import { openSqlite } from "../../src/db/sqlite.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

async function openFile() {
  const path = join(temporaryFolder(), "watched.db")
  const db = await openSqlite(path)
  onTestFinished(() => db.close())
  await db.run("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)")
  return { path, db }
}

test("a commit of another connection calls those who watch", async () => {
  const { path, db } = await openFile()
  const told = new Promise<void>((resolve) => {
    onTestFinished(db.watch(resolve))
  })
  const other = new BetterSqlite3(path)
  onTestFinished(() => {
    other.close()
  })
  other.exec("INSERT INTO notes (text) VALUES ('theirs')")
  await told
  expect(await db.all("SELECT text FROM notes")).toEqual([{ text: "theirs" }])
})

test("a commit of the same connection calls them too", async () => {
  const { db } = await openFile()
  const told = new Promise<void>((resolve) => {
    onTestFinished(db.watch(resolve))
  })
  await db.transaction("notes", (tx) => tx.run("INSERT INTO notes (text) VALUES ('ours')"))
  await told
})

test("who has stopped watching is called no more, while others are", async () => {
  const { db } = await openFile()
  const calls: string[] = []
  const stop = db.watch(() => calls.push("stopped"))
  const told = new Promise<void>((resolve) => {
    onTestFinished(db.watch(resolve))
  })
  stop()
  await db.run("INSERT INTO notes (text) VALUES ('ours')")
  await told
  expect(calls).toEqual([])
})

test("a closed database calls nobody", async () => {
  const { db } = await openFile()
  db.watch(() => {
    throw new Error("called")
  })
  await db.run("INSERT INTO notes (text) VALUES ('ours')")
  await db.close()
})
