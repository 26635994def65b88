/** Copies of the database file and other processes that make some at the same time. */

import { readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { backUp, restore } from "../../src/db/backup.ts"
import { SCHEMA_VERSION } from "../../src/db/migrations.ts"
import { openDatabase } from "../../src/operations/database.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

const TERMS = { knownVersion: SCHEMA_VERSION, hint: "" }

test("a copy leaves alone what another process is writing for the same target, and clears away what one has left", async () => {
  const folder = temporaryFolder()
  const path = join(temporaryFolder(), "signalbox.db")
  await (await openDatabase(path)).close()
  const names = ["copy.db.part", "copy.db.1.part", "copy.db.2.part", "copy.db.2.part-journal"]
  for (const name of names) {
    writeFileSync(join(folder, name), "of another")
    if (name !== "copy.db.1.part") utimesSync(join(folder, name), 1_000, 1_000)
  }
  backUp(path, join(folder, "copy.db"), { ...TERMS, replaces: false })
  expect(readdirSync(folder).sort()).toEqual(["copy.db", "copy.db.1.part", "copy.db.part"])
  expect(readFileSync(join(folder, "copy.db.1.part"), "utf8")).toBe("of another")
})

test("a restore never takes the place of what an earlier one kept, and then changes nothing", async () => {
  const folder = temporaryFolder()
  const [path, source, kept] = ["signalbox.db", "copy.db", "kept.db"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const db = await openDatabase(path)
  backUp(path, source, { ...TERMS, replaces: false })
  await db.run("INSERT INTO rate_buckets VALUES ('a', 'b', 1, 1)")
  await db.close()
  writeFileSync(kept, "the first state")
  expect(() => restore(source, path, { ...TERMS, kept, nowMs: 0, isInUse: false })).toThrow("EEXIST")
  expect(readFileSync(kept, "utf8")).toBe("the first state")
  expect(readdirSync(folder).sort()).toEqual(["copy.db", "kept.db", "signalbox.db"])
  const again = await openDatabase(path)
  expect(await again.get("SELECT count(*) AS number FROM rate_buckets")).toEqual({ number: 1 })
  await again.close()
})
