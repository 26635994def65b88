import { type ChildProcessByStdio, spawn } from "node:child_process"
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import type { Readable, Writable } from "node:stream"
import { fileURLToPath } from "node:url"
import BetterSqlite3 from "better-sqlite3"
import { describe, expect, onTestFinished, test } from "vitest"
import { prepareSchema, type Schema } from "../../src/db/migrate.ts"
import { openSqlite } from "../../src/db/sqlite.ts"
import { NOTES_V1, NOTES_V2 } from "../support/migrating-process.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

function temporaryFile(): string {
  const folder = temporaryFolder()
  return join(folder, "test.db")
}

const V1: Schema = { version: 1, sql: NOTES_V1, migrations: [] }
const V3: Schema = {
  version: 3,
  sql: "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL, pid BIGINT, folder TEXT);",
  migrations: [...NOTES_V2.migrations, { version: 3, sql: "ALTER TABLE notes ADD COLUMN folder TEXT;" }],
}
/** Its second step fails after it has changed something. */
const BROKEN: Schema = {
  ...V3,
  migrations: [
    ...NOTES_V2.migrations,
    { version: 3, sql: "UPDATE notes SET text = 'spoilt'; ALTER TABLE nowhere ADD COLUMN folder TEXT;" },
  ],
}

/** Opens a file, prepares its schema and closes it again, as one start of a program does. */
async function prepare(path: string, schema: Schema): Promise<void> {
  const db = await openSqlite(path)
  try {
    await prepareSchema(db, path, schema)
  } finally {
    await db.close()
  }
}

/** What stands in a file: its version, the columns of `notes`, and their texts. */
function contentOf(path: string) {
  const db = new BetterSqlite3(path, { readonly: true })
  try {
    const columns = db.pragma("table_info(notes)") as { name: string }[]
    return {
      version: db.pragma("user_version", { simple: true }),
      columns: columns.map((column) => column.name),
      texts: db.prepare<[], string>("SELECT text FROM notes ORDER BY id").pluck().all(),
    }
  } finally {
    db.close()
  }
}

/** Makes a file of version 1 with one note in it. */
async function fileOfVersion1(): Promise<string> {
  const path = temporaryFile()
  await prepare(path, V1)
  change(path, (db) => db.exec("INSERT INTO notes (text) VALUES ('kept')"))
  return path
}

function change(path: string, work: (db: BetterSqlite3.Database) => void): void {
  const db = new BetterSqlite3(path)
  work(db)
  db.close()
}

describe("a new file", () => {
  test("gets the whole schema at once, its version and the mark of its owner", async () => {
    const path = temporaryFile()
    await prepare(path, V3)
    expect(contentOf(path)).toEqual({ version: 3, columns: ["id", "text", "pid", "folder"], texts: [] })
    change(path, (db) => expect(db.pragma("application_id", { simple: true })).toBe(0x73626f78))
  })

  test("has no backup made of it", async () => {
    const path = temporaryFile()
    await prepare(path, V3)
    expect(readdirSync(join(path, "..")).filter((name) => name.includes("backup"))).toEqual([])
  })

  test("stays empty when its schema fails, and can be prepared afterwards", async () => {
    const path = temporaryFile()
    await expect(prepare(path, { ...V1, sql: `${NOTES_V1} CREATE NONSENSE;` })).rejects.toThrow()
    await prepare(path, V1)
    expect(contentOf(path)).toEqual({ version: 1, columns: ["id", "text"], texts: [] })
  })
})

describe("a file of an older version", () => {
  test("is brought up to date step by step and keeps what is in it", async () => {
    const path = await fileOfVersion1()
    await prepare(path, V3)
    const expected = { version: 3, columns: ["id", "text", "pid", "folder"], texts: ["kept"] }
    expect(contentOf(path)).toEqual(expected)
  })

  test("gets only the steps that it has not had", async () => {
    const path = await fileOfVersion1()
    await prepare(path, NOTES_V2)
    // The step to version 2 would fail on a column that is there already.
    await prepare(path, V3)
    expect(contentOf(path).columns).toEqual(["id", "text", "pid", "folder"])
  })

  test("is copied first, in the state before the first step", async () => {
    const path = await fileOfVersion1()
    await prepare(path, V3)
    expect(contentOf(`${path}.v1.backup`)).toEqual({ version: 1, columns: ["id", "text"], texts: ["kept"] })
  })

  test("is copied with what only the write-ahead log holds yet", async () => {
    const path = await fileOfVersion1()
    const other = new BetterSqlite3(path)
    onTestFinished(() => {
      other.close()
    })
    other.pragma("wal_autocheckpoint = 0")
    other.exec("INSERT INTO notes (text) VALUES ('just now')")
    await prepare(path, V3)
    expect(contentOf(`${path}.v1.backup`).texts).toEqual(["kept", "just now"])
  })

  test("has a backup that its owner alone may read", async () => {
    const path = await fileOfVersion1()
    await prepare(path, V3)
    expect((statSync(`${path}.v1.backup`).mode & 0o777).toString(8)).toBe("600")
  })

  test("is left in its old version when a step fails, all steps undone", async () => {
    const path = await fileOfVersion1()
    await expect(prepare(path, BROKEN)).rejects.toThrow("nowhere")
    expect(contentOf(path)).toEqual({ version: 1, columns: ["id", "text"], texts: ["kept"] })
  })

  test("can be migrated after a failed try", async () => {
    const path = await fileOfVersion1()
    await expect(prepare(path, BROKEN)).rejects.toThrow("nowhere")
    change(path, (db) => db.exec("INSERT INTO notes (text) VALUES ('in between')"))
    await prepare(path, V3)
    expect(contentOf(path)).toMatchObject({ version: 3, texts: ["kept", "in between"] })
    expect(contentOf(`${path}.v1.backup`).texts).toEqual(["kept", "in between"])
  })

  test("is usable at once by the connection that migrated it", async () => {
    const path = await fileOfVersion1()
    const db = await openSqlite(path)
    onTestFinished(() => db.close())
    await prepareSchema(db, path, V3)
    expect(await db.get("SELECT text, folder FROM notes")).toEqual({ text: "kept", folder: null })
  })
})

describe("a file of the same version", () => {
  test("is not touched", async () => {
    const path = await fileOfVersion1()
    const before = readFileSync(path)
    await prepare(path, V1)
    expect(readFileSync(path).equals(before)).toBe(true)
    expect(existsSync(`${path}.v1.backup`)).toBe(false)
  })
})

describe("a file that is not ours to change", () => {
  test("of a newer version is refused with both versions and the way out, and stays as it is", async () => {
    const path = temporaryFile()
    await prepare(path, V3)
    const before = readFileSync(path)
    const refused = prepare(path, V1)
    await expect(refused).rejects.toMatchObject({
      code: "unavailable",
      hint: expect.stringContaining("Update"),
    })
    await expect(refused).rejects.toThrow(/version 3.*up to 1$/)
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  test.each<[string, (db: BetterSqlite3.Database) => unknown]>([
    ["with a table and no version", (db) => db.exec("CREATE TABLE bookmarks (url TEXT)")],
    [
      "with a table and our version",
      (db) => db.exec("CREATE TABLE bookmarks (url TEXT); PRAGMA user_version = 1"),
    ],
    ["with a version only", (db) => db.pragma("user_version = 7")],
    ["with another owner's mark", (db) => db.pragma("application_id = 1")],
  ])("of another program, %s, is refused", async (_, make) => {
    const path = temporaryFile()
    change(path, (db) => make(db))
    await expect(prepare(path, V3)).rejects.toMatchObject({ code: "unavailable" })
    change(path, (db) => expect(db.pragma("table_info(notes)")).toEqual([]))
  })

  test("of ours that has lost its version is damaged, and stays as it is", async () => {
    const path = temporaryFile()
    await prepare(path, V3)
    change(path, (db) => db.pragma("user_version = 0"))
    await expect(prepare(path, V3)).rejects.toMatchObject({
      code: "unavailable",
      message: `the database ${path} is damaged: it holds tables, and says that it has none`,
    })
    change(path, (db) => expect(db.pragma("user_version", { simple: true })).toBe(0))
  })
})

describe("many processes at once", () => {
  const SCRIPT = fileURLToPath(new URL("../support/migrating-process.ts", import.meta.url))
  const PROCESSES = 8

  /** Starts the processes, lets all of them open the file at the same instant, and returns their pids. */
  async function openAtOnce(path: string): Promise<number[]> {
    const children = Array.from({ length: PROCESSES }, () =>
      spawn(process.execPath, ["--import", "tsx", SCRIPT, path], { stdio: ["pipe", "pipe", "inherit"] }),
    )
    const endings = children.map((child) => new Promise((resolve) => child.once("close", resolve)))
    await Promise.all(children.map(ready))
    for (const child of children) child.stdin.write("go\n")
    expect(await Promise.all(endings)).toEqual(children.map(() => 0))
    return children.map((child) => child.pid ?? 0)
  }

  function ready(child: ChildProcessByStdio<Writable, Readable, null>): Promise<unknown> {
    return new Promise((resolve) => createInterface({ input: child.stdout }).once("line", resolve))
  }

  function pidsIn(path: string): unknown[] {
    const db = new BetterSqlite3(path, { readonly: true })
    onTestFinished(() => {
      db.close()
    })
    expect(db.pragma("integrity_check", { simple: true })).toBe("ok")
    return db.prepare("SELECT pid FROM notes WHERE pid IS NOT NULL ORDER BY pid").pluck().all()
  }

  test("that open one cold file all find the schema, and all can write", async () => {
    const path = temporaryFile()
    const pids = await openAtOnce(path)
    expect(pidsIn(path)).toEqual(pids.sort((a, b) => a - b))
    expect(contentOf(path)).toMatchObject({ version: 2, columns: ["id", "text", "pid"] })
  })

  test("that open one file of an older version migrate it once", async () => {
    const path = await fileOfVersion1()
    const pids = await openAtOnce(path)
    expect(pidsIn(path)).toEqual(pids.sort((a, b) => a - b))
    expect(contentOf(path)).toMatchObject({ version: 2, columns: ["id", "text", "pid"] })
    expect(contentOf(`${path}.v1.backup`)).toMatchObject({ version: 1, texts: ["kept"] })
  })
})
