import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import BetterSqlite3 from "better-sqlite3"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { ConstraintError, type Queries } from "../../src/db/database.ts"
import { openSqlite, SqliteDatabase, type SqliteOptions } from "../../src/db/sqlite.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

function temporaryFile(): string {
  const folder = temporaryFolder()
  return join(folder, "test.db")
}

const PAGE_BYTES = 4_096

const SCHEMA = `
  CREATE TABLE folders (id INTEGER PRIMARY KEY);
  CREATE TABLE notes (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE,
    folder_id BIGINT REFERENCES folders (id),
    done INTEGER NOT NULL DEFAULT 0 CHECK (done IN (0, 1))
  );`

/** Opens a database with two tables, and a second connection to the same file. */
async function opened(options: SqliteOptions = {}) {
  const path = temporaryFile()
  const other = new BetterSqlite3(path)
  other.exec(SCHEMA)
  onTestFinished(() => {
    other.close()
  })
  const db = await openSqlite(path, options)
  onTestFinished(() => db.close())
  return { path, db, other }
}

const INSERT = "INSERT INTO notes (text) VALUES (?)"
const TEXTS = "SELECT text FROM notes ORDER BY id"

async function textsIn(db: Queries): Promise<string[]> {
  return (await db.all<{ text: string }>(TEXTS)).map((row) => row.text)
}

/** Resolves after at least one turn of the event loop, whatever phase it is in. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
}

describe("opening", () => {
  test("a fresh file is in WAL mode with synchronous=NORMAL and foreign keys on", async () => {
    const path = temporaryFile()
    const db = await openSqlite(path)
    onTestFinished(() => db.close())
    const settings = await db.exclusively((connection) =>
      ["journal_mode", "synchronous", "foreign_keys"].map((name) =>
        connection.pragma(name, { simple: true }),
      ),
    )
    expect(settings).toEqual(["wal", 1, 1])
  })

  test("a path that cannot be opened is `unavailable` and named", async () => {
    const path = join(temporaryFile(), "no-such-folder", "test.db")
    await expect(openSqlite(path)).rejects.toMatchObject({ code: "unavailable" })
    await expect(openSqlite(path)).rejects.toThrow(path)
  })

  test("an SQLite of another Node is no fault of the file, and is to be installed anew", async () => {
    const message = "The module 'x.node'\nwas compiled against a different Node.js version."
    const inspect = () => {
      throw Object.assign(new Error(message), { code: "ERR_DLOPEN_FAILED" })
    }
    await expect(openSqlite(temporaryFile(), { inspect })).rejects.toMatchObject({
      code: "unavailable",
      message: `SQLite cannot be loaded: ${message.replace("\n", " ")}`,
      hint: expect.stringContaining(process.execPath),
    })
  })

  test("a file that another connection holds exclusively is waited for", async () => {
    const path = temporaryFile()
    const other = new BetterSqlite3(path)
    onTestFinished(() => {
      other.close()
    })
    other.exec("BEGIN EXCLUSIVE")
    const release = vi.fn(() => {
      if (other.inTransaction) other.exec("COMMIT")
      return 0
    })
    const db = await openSqlite(path, { random: release })
    onTestFinished(() => db.close())
    expect(release).toHaveBeenCalled()
  })
})

describe("queries", () => {
  test("all gives every row, get the first or undefined, run the number of changed rows", async () => {
    const { db } = await opened()
    expect(await db.run(INSERT, ["one"])).toBe(1)
    expect(await db.run("INSERT INTO notes (text) VALUES (?), (?)", ["two", "three"])).toBe(2)
    expect(await textsIn(db)).toEqual(["one", "two", "three"])
    expect(await db.get(TEXTS)).toEqual({ text: "one" })
    expect(await db.get("SELECT text FROM notes WHERE id = ?", [99])).toBeUndefined()
    expect(await db.run("UPDATE notes SET done = 1 WHERE id = ?", [99])).toBe(0)
  })

  test("a statement is prepared once, however often it runs and wherever", async () => {
    const connection = new BetterSqlite3(":memory:")
    connection.exec(SCHEMA)
    const prepare = vi.spyOn(connection, "prepare")
    const db = new SqliteDatabase(connection, 1_000, Math.random)
    onTestFinished(() => db.close())
    await db.run(INSERT, ["one"])
    await db.run(INSERT, ["two"])
    await db.transaction("notes", (tx) => tx.run(INSERT, ["three"]))
    expect(prepare.mock.calls.filter(([sql]) => sql === INSERT)).toHaveLength(1)
    expect(await textsIn(db)).toEqual(["one", "two", "three"])
  })

  test("a query that fails does not stand in the way of the next", async () => {
    const { db } = await opened()
    const failing = db.run("INSERT INTO nowhere VALUES (1)")
    const following = db.run(INSERT, ["one"])
    await expect(failing).rejects.toThrow("nowhere")
    expect(await following).toBe(1)
  })

  test.each([
    ["unique", "INSERT INTO notes (text) VALUES ('taken')"],
    ["notnull", "INSERT INTO notes (text) VALUES (NULL)"],
    ["foreignkey", "INSERT INTO notes (text, folder_id) VALUES ('new', 99)"],
    ["check", "INSERT INTO notes (text, done) VALUES ('new', 2)"],
  ])(
    "a refused write is a ConstraintError of kind %s, outside a transaction and inside",
    async (kind, sql) => {
      const { db } = await opened()
      await db.run(INSERT, ["taken"])
      const expected = { name: "ConstraintError", kind }
      await expect(db.run(sql)).rejects.toMatchObject(expected)
      await expect(db.transaction("notes", (tx) => tx.run(sql))).rejects.toMatchObject(expected)
      expect(await textsIn(db)).toEqual(["taken"])
    },
  )

  test("a damaged file is `unavailable` and named, outside a transaction and inside", async () => {
    const { db, path, other } = await opened({ isMapped: false })
    await db.run(INSERT, ["one"])
    const { rootpage } = other
      .prepare<[], { rootpage: number }>("SELECT rootpage FROM sqlite_schema WHERE name = 'notes'")
      .get() ?? { rootpage: 0 }
    other.pragma("wal_checkpoint(TRUNCATE)")
    const bytes = readFileSync(path)
    bytes.fill(0, (rootpage - 1) * PAGE_BYTES, rootpage * PAGE_BYTES)
    writeFileSync(path, bytes)
    const damaged = await openSqlite(path)
    onTestFinished(() => damaged.close())
    const expected = { code: "unavailable", message: expect.stringContaining(`${path} is damaged`) }
    await expect(damaged.all(TEXTS)).rejects.toMatchObject(expected)
    await expect(damaged.transaction("notes", (tx) => tx.run(INSERT, ["two"]))).rejects.toMatchObject(
      expected,
    )
  })

  test("what comes when the database is closed already is told that the process ends", async () => {
    const { db } = await opened()
    await db.close()
    const expected = { code: "unavailable", message: expect.stringContaining("because it ends") }
    await expect(db.all(TEXTS)).rejects.toMatchObject(expected)
    await expect(db.transaction("notes", (tx) => tx.run(INSERT, ["one"]))).rejects.toMatchObject(expected)
  })

  test("a body may catch a ConstraintError and go on", async () => {
    const { db } = await opened()
    await db.run(INSERT, ["taken"])
    await db.transaction("notes", async (tx) => {
      await tx.run(INSERT, ["first"])
      await expect(tx.run(INSERT, ["taken"])).rejects.toBeInstanceOf(ConstraintError)
      await tx.run(INSERT, ["second"])
    })
    expect(await textsIn(db)).toEqual(["taken", "first", "second"])
  })
})

describe("transactions", () => {
  test("those of one process never interleave", async () => {
    const { db } = await opened()
    const names = ["a", "b", "c", "d"]
    const bodies = names.map((name) =>
      db.transaction("notes", async (tx) => {
        for (const step of [1, 2, 3]) {
          await tx.run(INSERT, [`${name}${step}`])
          await tx.all(TEXTS)
        }
      }),
    )
    await Promise.all(bodies)
    expect(await textsIn(db)).toEqual(names.flatMap((name) => [`${name}1`, `${name}2`, `${name}3`]))
  })

  test("the result of the body is the result of the transaction, and is committed", async () => {
    const { db, other } = await opened()
    const result = await db.transaction("notes", async (tx) => ({ changed: await tx.run(INSERT, ["one"]) }))
    expect(result).toEqual({ changed: 1 })
    expect(other.prepare(TEXTS).all()).toEqual([{ text: "one" }])
  })

  test("a body that throws leaves nothing behind, and its error is passed on", async () => {
    const { db } = await opened()
    const failure = new Error("changed my mind")
    const failing = db.transaction("notes", async (tx) => {
      await tx.run(INSERT, ["one"])
      throw failure
    })
    const following = db.transaction("notes", (tx) => tx.run(INSERT, ["two"]))
    await expect(failing).rejects.toBe(failure)
    expect(await following).toBe(1)
    expect(await textsIn(db)).toEqual(["two"])
  })

  test("a query outside waits for the transaction that is open", async () => {
    const { db } = await opened()
    const seen: string[][] = []
    const writing = db.transaction("notes", async (tx) => {
      await tx.run(INSERT, ["one"])
      // Asked for while the transaction is open, and not awaited by it.
      reading = textsIn(db).then((texts) => seen.push(texts))
      await tx.run(INSERT, ["two"])
      expect(seen).toEqual([])
    })
    let reading: Promise<unknown> = Promise.resolve()
    await writing
    await reading
    expect(seen).toEqual([["one", "two"]])
  })

  test("a body that waits for something else and then goes on is refused and rolled back", async () => {
    const { db } = await opened()
    const waiting = db.transaction("notes", async (tx) => {
      await tx.run(INSERT, ["one"])
      await turn()
      await tx.run(INSERT, ["two"])
    })
    await expect(waiting).rejects.toThrow("something other than its own queries")
    expect(await textsIn(db)).toEqual([])
  })

  test("a body that waits for a timer at its end is refused and rolled back", async () => {
    const { db } = await opened()
    const waiting = db.transaction("notes", async (tx) => {
      await tx.run(INSERT, ["one"])
      await new Promise((resolve) => setTimeout(resolve, 5))
    })
    await expect(waiting).rejects.toThrow("something other than its own queries")
    expect(await textsIn(db)).toEqual([])
    expect(await db.transaction("notes", (tx) => tx.run(INSERT, ["two"]))).toBe(1)
  })

  test("queries kept beyond the end of their transaction are refused", async () => {
    const { db } = await opened()
    let kept: Queries | undefined
    await db.transaction("notes", async (tx) => {
      kept = tx
    })
    await expect(kept?.run(INSERT, ["late"])).rejects.toThrow()
    expect(await textsIn(db)).toEqual([])
  })
})

describe("another process in the way", () => {
  /** Opens a database whose write lock another connection holds until the first retry. */
  async function lockedUntilRetry() {
    const release = vi.fn(() => {
      if (world.other.inTransaction) world.other.exec("COMMIT")
      return 0
    })
    const world = await opened({ random: release })
    world.other.exec("BEGIN IMMEDIATE; INSERT INTO notes (text) VALUES ('theirs')")
    return { ...world, release }
  }

  test("a transaction is tried again until the other is done, and sees what it did", async () => {
    const { db, release } = await lockedUntilRetry()
    const seen = await db.transaction("notes", async (tx) => {
      await tx.run(INSERT, ["ours"])
      return textsIn(tx)
    })
    expect(seen).toEqual(["theirs", "ours"])
    expect(release).toHaveBeenCalled()
  })

  test("a write outside a transaction is tried again, and happens once", async () => {
    const { db, release } = await lockedUntilRetry()
    expect(await db.run(INSERT, ["ours"])).toBe(1)
    expect(await textsIn(db)).toEqual(["theirs", "ours"])
    expect(release).toHaveBeenCalled()
  })

  test("reading does not wait for a writer", async () => {
    const { db, release } = await lockedUntilRetry()
    expect(await textsIn(db)).toEqual([])
    expect(release).not.toHaveBeenCalled()
  })

  test("what asks later waits behind the one that waits for the other process", async () => {
    const { db } = await lockedUntilRetry()
    const first = db.transaction("notes", (tx) => tx.run(INSERT, ["first"]))
    const second = db.run(INSERT, ["second"])
    await Promise.all([first, second])
    expect(await textsIn(db)).toEqual(["theirs", "first", "second"])
  })

  test("a writer that waited for waitMs gives up with `unavailable`, and its body never ran", async () => {
    const { db, other } = await opened({ waitMs: 20 })
    other.exec("BEGIN IMMEDIATE")
    const body = vi.fn(async () => {})
    const giving = db.transaction("notes", body)
    await expect(giving).rejects.toMatchObject({ code: "unavailable" })
    await expect(giving).rejects.toThrow("0.02 s")
    expect(body).not.toHaveBeenCalled()
  })

  test("after giving up the next one can succeed", async () => {
    const { db, other } = await opened({ waitMs: 0 })
    other.exec("BEGIN IMMEDIATE")
    await expect(db.run(INSERT, ["one"])).rejects.toMatchObject({ code: "unavailable" })
    other.exec("COMMIT")
    expect(await db.run(INSERT, ["two"])).toBe(1)
    expect(await textsIn(db)).toEqual(["two"])
  })
})
