import { copyFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import BetterSqlite3 from "better-sqlite3"
import { describe, expect, onTestFinished, test } from "vitest"
import { faultOf } from "../../src/db/faults.ts"
import { AppError, fileProblem } from "../../src/errors.ts"
import { openDatabase } from "../../src/operations/database.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

const PAGE_BYTES = 4_096

/** Makes a whole database of ours, closed; returns its path. */
async function databaseFile(): Promise<string> {
  const path = join(temporaryFolder(), "signalbox.db")
  await (await openDatabase(path)).close()
  return path
}

/** Opens a database that cannot be used, and asks it everything; returns the error. */
async function errorOf(path: string): Promise<AppError> {
  try {
    const db = await openDatabase(path)
    onTestFinished(() => db.close())
    const tables = await db.all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table'")
    for (const { name } of tables) await db.all(`SELECT * FROM ${name}`)
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error(`${path} can be used`)
}

function overwrite(path: string, from: number, to: number): void {
  const bytes = readFileSync(path)
  bytes.fill(0xa5, from, to)
  writeFileSync(path, bytes)
}

/** Overwrites the first page of a table. */
function damageTable(path: string, table: string): void {
  const db = new BetterSqlite3(path, { readonly: true })
  const page = db
    .prepare<[string], number>("SELECT rootpage FROM sqlite_schema WHERE name = ?")
    .pluck()
    .get(table)
  db.close()
  overwrite(path, ((page ?? 0) - 1) * PAGE_BYTES, (page ?? 0) * PAGE_BYTES)
}

describe("a file that is damaged is named, with what is wrong and the way out", () => {
  test.each<[string, (path: string) => void, RegExp]>([
    ["a text", (path) => writeFileSync(path, "no database\n".repeat(900)), /is no database$/],
    ["one of a single byte", (path) => writeFileSync(path, "x"), /is no database$/],
    ["one of a few bytes", (path) => writeFileSync(path, "xy"), /is no database$/],
    [
      "one that was cut short",
      (path) => truncateSync(path, 5 * PAGE_BYTES),
      /was cut short, under 0\.1 MB of 0\.\d MB are left$/,
    ],
    ["a damaged header", (path) => overwrite(path, 16, 24), /is damaged: its header cannot be read$/],
    [
      "a damaged first page",
      (path) => overwrite(path, 100, PAGE_BYTES),
      /is damaged: what it holds cannot be read$/,
    ],
    [
      "a damaged page further on",
      (path) => damageTable(path, "agents"),
      /is damaged: what it holds cannot be read$/,
    ],
  ])("%s", async (_, spoil, message) => {
    const path = await databaseFile()
    spoil(path)
    const error = await errorOf(path)
    expect(error.code).toBe("unavailable")
    expect(error.message).toMatch(message)
    expect(error.message).toContain(path)
    expect(error.text).toContain(`restore --db ${path}`)
    expect(error.text).not.toMatch(/SQLITE|malformed|not a database/)
  })

  test("a log that was left over beside it is no fault where it is not of that file", async () => {
    const path = await databaseFile()
    writeFileSync(`${path}-wal`, Buffer.alloc(50_000, 0xa5))
    writeFileSync(`${path}-shm`, Buffer.alloc(32_768, 0xa5))
    const db = await openDatabase(path)
    expect(await db.get("SELECT count(*) AS number FROM agents")).toEqual({ number: 0 })
    await db.close()
  })

  test("the log of another database beside it is found out, or does no harm", async () => {
    const [path, other] = [await databaseFile(), await databaseFile()]
    const db = await openDatabase(other)
    await db.run("INSERT INTO rate_buckets VALUES ('a', 'b', 1, 1)")
    copyFileSync(`${other}-wal`, `${path}-wal`)
    await db.close()
    const outcome = await errorOf(path).catch((error: Error) => error)
    expect(outcome.message).toMatch(/is damaged|can be used/)
  })

  test("the newest daily backup is named where there is one", async () => {
    const path = await databaseFile()
    const folder = path.replace(/\.db$/, ".backups")
    mkdirSync(folder)
    for (const name of ["2026-03-09T120000Z.db", "2026-03-10T120000Z.db"])
      writeFileSync(join(folder, name), "")
    truncateSync(path, PAGE_BYTES)
    expect((await errorOf(path)).text).toContain(
      `restore --db ${path} ${join(folder, "2026-03-10T120000Z.db")}`,
    )
  })
})

describe("a place that cannot be used is named, with what to do", () => {
  test.each<[string, (folder: string) => string, RegExp]>([
    ["a folder as the file", (folder) => folder, /cannot be opened: it is a folder/],
    [
      "a file as the folder",
      (folder) => {
        writeFileSync(join(folder, "data"), "")
        return join(folder, "data", "signalbox.db")
      },
      /data cannot be written: a file stands where a folder should be/,
    ],
  ])("%s", async (_, make, message) => {
    const error = await errorOf(make(temporaryFolder()))
    expect(error.code).toBe("unavailable")
    expect(error.message).toMatch(message)
    expect(error.text).toContain("SIGNALBOX_DB names another file.")
    expect(error.text).not.toMatch(/E[A-Z]{4,}/)
  })

  test("a database that is full says so, keeps what it had, and works again when there is room", async () => {
    const path = await databaseFile()
    const db = await openDatabase(path)
    onTestFinished(() => db.close())
    const pages = Object.values((await db.get("PRAGMA page_count")) ?? {})[0]
    const text = "x".repeat(20_000)
    const insert = () =>
      db.transaction("test", (tx) => tx.run("INSERT INTO rate_buckets VALUES (?, 'b', 1, 1)", [text]))
    await db.get(`PRAGMA max_page_count = ${pages}`)
    await expect(insert()).rejects.toMatchObject({
      code: "unavailable",
      message: `the database ${path} cannot be written: its disk is full`,
    })
    expect(await db.get("SELECT count(*) AS number FROM rate_buckets")).toEqual({ number: 0 })
    await db.get("PRAGMA max_page_count = 1000000")
    expect(await insert()).toBe(1)
  })

  test.each(["READONLY_DIRECTORY", "IOERR_WRITE", "CANTOPEN_ISDIR", "FULL"])(
    "SQLITE_%s is told in words",
    (code) => {
      const error = new BetterSqlite3.SqliteError("raw text of SQLite", `SQLITE_${code}`)
      const { text } = faultOf(error, "/data/signalbox.db") ?? { text: "" }
      expect(text).toMatch(/^the database \/data\/signalbox\.db cannot be .+: .+\. \w.+\.$/)
      expect(text).not.toContain("raw text")
    },
  )

  test("what no file is the cause of stays what it is", () => {
    expect(faultOf(new BetterSqlite3.SqliteError("no such table", "SQLITE_ERROR"), "/x")).toBeUndefined()
    expect(fileProblem(new Error("other"))).toBeUndefined()
    expect(fileProblem(Object.assign(new Error("x"), { code: "ENOSPC" }))).toBeUndefined()
    const full = Object.assign(new Error("x"), { code: "ENOSPC", syscall: "write", path: "/data/a" })
    expect(fileProblem(full)?.text).toBe(
      "/data/a cannot be written: the disk is full. Free some space there, then try again.",
    )
  })
})
