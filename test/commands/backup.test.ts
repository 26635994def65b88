import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import BetterSqlite3 from "better-sqlite3"
import { describe, expect, test } from "vitest"
import { remove } from "../../scripts/removal.ts"
import { openAppAlone } from "../../src/app.ts"
import {
  backupCommand,
  listBackupsCommand,
  restoreCommand,
  shrinkCommand,
} from "../../src/commands/backup.ts"
import { addMemoryCommand, forgetMemoryCommand } from "../../src/commands/memory/memory.ts"
import { listDailyBackups, makeDailyBackup } from "../../src/db/daily-backups.ts"
import { SCHEMA_VERSION } from "../../src/db/migrations.ts"
import { createLog } from "../../src/runtime/log.ts"
import { listAgentNames } from "../../src/store/coordination/agents.ts"
import type { World } from "../support/world.ts"
import { agentOf, configIn, presentWorld, run, runJson, server } from "./command.ts"

/** A world whose database holds these agents, with no server running any more. */
async function worldOf(...names: string[]): Promise<World> {
  const where = presentWorld()
  await add(where, ...names)
  return where
}

async function add(where: World, ...names: string[]): Promise<void> {
  const app = await openAppAlone(configIn(where), { log: createLog("silent") })
  for (const name of names) await agentOf({ ...app, config: { ...app.config, namedSession: name } }, name)
  await app.close()
}

async function namesIn(where: World): Promise<string[]> {
  const app = await openAppAlone(configIn(where), { log: createLog("silent") })
  const names = await listAgentNames(app.db, 1)
  await app.close()
  return names
}

function namesInFile(path: string): string[] {
  const db = new BetterSqlite3(path, { readonly: true })
  const names = db
    .prepare<[], string>("SELECT name FROM agents WHERE name <> 'Signalbox' ORDER BY name_key")
    .pluck()
    .all()
  db.close()
  return names
}

const fileIn = (where: World, name: string) => join(where.repositoryPath, name)

async function backUp(where: World, file = "copy.db"): Promise<string> {
  await runJson(() => backupCommand(configIn(where), file, { json: true }))
  return fileIn(where, file)
}

const filesBeside = (where: World) => readdirSync(dirname(where.databasePath)).sort()

describe("backup", () => {
  test("copies everything, also what a running server has not yet written back, into one private file", async () => {
    const where = presentWorld()
    const app = await server(where, "one")
    await agentOf(app, "BlueLake")
    expect(statSync(`${where.databasePath}-wal`).size).toBeGreaterThan(0)
    const result = await runJson(() => backupCommand(configIn(where), "copy.db", { json: true }))
    const file = fileIn(where, "copy.db")
    expect(result).toEqual({ file, bytes: statSync(file).size, schema_version: SCHEMA_VERSION })
    expect(namesInFile(file)).toEqual(["BlueLake"])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(where.repositoryPath).sort()).toEqual([".git", "copy.db"])
  })

  test("tells the version of what it copied, which may be older than its own", async () => {
    const where = await worldOf("BlueLake")
    change(where.databasePath, "PRAGMA user_version = 1")
    for (const file of ["copy.db", undefined])
      expect(await runJson(() => backupCommand(configIn(where), file, { json: true }))).toMatchObject({
        schema_version: 1,
      })
  })

  test("is not stopped by a writer in the middle of a transaction, and copies nothing of it", async () => {
    const where = await worldOf("BlueLake")
    const writer = new BetterSqlite3(where.databasePath)
    writer.exec("BEGIN IMMEDIATE; UPDATE agents SET name = 'Changed'")
    try {
      expect(namesInFile(await backUp(where))).toEqual(["BlueLake"])
    } finally {
      writer.close()
    }
  })

  test("replaces a file only with --force", async () => {
    const where = await worldOf("BlueLake")
    const file = fileIn(where, "copy.db")
    writeFileSync(file, "precious")
    const { error } = await run(() => backupCommand(configIn(where), "copy.db", {}))
    expect(error?.code).toBe("refused")
    expect(error?.text).toContain("--force")
    expect(readFileSync(file, "utf8")).toBe("precious")
    await run(() => backupCommand(configIn(where), "copy.db", { force: true }))
    expect(namesInFile(file)).toEqual(["BlueLake"])
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  test("never writes over the database itself", async () => {
    const where = await worldOf("BlueLake")
    symlinkSync(where.databasePath, fileIn(where, "link.db"))
    for (const file of [where.databasePath, "link.db"]) {
      const { error } = await run(() => backupCommand(configIn(where), file, { force: true }))
      expect(error?.code).toBe("invalid")
    }
    expect(await namesIn(where)).toEqual(["BlueLake"])
  })

  test("fails where there is nothing to copy or nowhere to put it, and makes nothing", async () => {
    const empty = presentWorld()
    const nothing = await run(() => backupCommand(configIn(empty), "copy.db", {}))
    expect(nothing.error?.code).toBe("not_found")
    expect(existsSync(empty.databasePath)).toBe(false)
    const where = await worldOf("BlueLake")
    const { error } = await run(() => backupCommand(configIn(where), "no/such/folder/copy.db", {}))
    expect(error?.code).toBe("unavailable")
    expect(error?.text).toContain("cannot be written")
    expect(readdirSync(where.repositoryPath)).toEqual([".git"])
  })
})

describe("restore", () => {
  test("brings back what was saved and keeps what was there", async () => {
    const where = await worldOf("BlueLake")
    const file = await backUp(where)
    await add(where, "GreenHill")
    const result = await runJson<{ kept: string }>(() =>
      restoreCommand(configIn(where), "copy.db", { json: true }),
    )
    expect(result).toMatchObject({ restored_from: file, database: where.databasePath, in_use: [] })
    expect(result.kept).toMatch(/signalbox\.before-restore-\d{8}T\d{6}Z(-\d+)?\.db$/)
    expect(await namesIn(where)).toEqual(["BlueLake"])
    expect(namesInFile(result.kept)).toEqual(["BlueLake", "GreenHill"])
    expect(statSync(result.kept).mode & 0o777).toBe(0o600)
    expect(statSync(where.databasePath).mode & 0o777).toBe(0o600)
  })

  test("keeps every database that it replaces", async () => {
    const where = await worldOf("BlueLake")
    await backUp(where)
    const kept = new Set<string>()
    for (let times = 0; times < 3; times += 1) {
      const restored = () => restoreCommand(configIn(where), "copy.db", { json: true })
      kept.add((await runJson<{ kept: string }>(restored)).kept)
    }
    expect(kept.size).toBe(3)
  })

  test("follows a link to the database, which stays one", async () => {
    const where = await worldOf("BlueLake")
    await backUp(where)
    await add(where, "GreenHill")
    const link = fileIn(where, "link.db")
    symlinkSync(where.databasePath, link)
    const linked = configIn(where, { env: { SIGNALBOX_DB: link } })
    await run(() => restoreCommand(linked, "copy.db", {}))
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    expect(await namesIn(where)).toEqual(["BlueLake"])
  })

  test("makes a database where there was none", async () => {
    const where = await worldOf("BlueLake")
    await backUp(where)
    remove(dirname(where.databasePath))
    const { out } = await run(() => restoreCommand(configIn(where), "copy.db", {}))
    expect(out).not.toContain("kept")
    expect(await namesIn(where)).toEqual(["BlueLake"])
    expect(statSync(dirname(where.databasePath)).mode & 0o777).toBe(0o700)
  })

  test("refuses while servers use the database, naming them, and goes on with --force", async () => {
    const where = await worldOf("BlueLake")
    await backUp(where)
    await agentOf(await server(where, "one"), "GreenHill")
    const { error } = await run(() => restoreCommand(configIn(where), "copy.db", {}))
    expect(error?.code).toBe("refused")
    expect(error?.text).toContain(`server process ${process.pid}`)
    expect(await namesIn(where)).toEqual(["BlueLake", "GreenHill"])
    const forced = await run(() => restoreCommand(configIn(where), "copy.db", { force: true }))
    expect(forced.out).toContain("restart your coding agents")
    // The server's log of the old file must not be read as one of the new file.
    expect(await namesIn(where)).toEqual(["BlueLake"])
  })

  test("refuses while the recorded listener lives", async () => {
    const where = await worldOf("BlueLake")
    await backUp(where)
    const record = { url: "http://127.0.0.1:1", pid: process.pid, started_at: "", token: "x" }
    const file = where.databasePath.replace(/\.db$/, ".listener.json")
    writeFileSync(file, JSON.stringify(record))
    expect((await run(() => restoreCommand(configIn(where), "copy.db", {}))).error?.code).toBe("refused")
    writeFileSync(file, JSON.stringify({ ...record, pid: 2 ** 22 + 1 }))
    expect((await run(() => restoreCommand(configIn(where), "copy.db", {}))).error).toBeUndefined()
  })

  test("replaces a database that cannot be read, and keeps its bytes", async () => {
    const where = await worldOf("BlueLake")
    await backUp(where)
    writeFileSync(where.databasePath, "no database any more")
    writeFileSync(`${where.databasePath}-wal`, "left over")
    const { kept } = await runJson<{ kept: string }>(() =>
      restoreCommand(configIn(where), "copy.db", { json: true }),
    )
    expect(readFileSync(kept, "utf8")).toBe("no database any more")
    expect(existsSync(`${where.databasePath}-wal`)).toBe(false)
    expect(await namesIn(where)).toEqual(["BlueLake"])
  })

  test.each<[string, (path: string) => void, RegExp]>([
    ["that is not there", (path) => remove(path), /there is no file/],
    [
      "that is a text",
      (path) => writeFileSync(path, "hello, this is a text file".repeat(100)),
      /cannot be read/,
    ],
    ["that is empty", (path) => writeFileSync(path, ""), /is empty/],
    ["that is a folder", replaceByFolder, /cannot be opened/],
    ["of another program", (path) => change(path, "PRAGMA application_id = 7"), /another program/],
    ["of a newer signalbox", (path) => change(path, "PRAGMA user_version = 99"), /schema version 99/],
    ["whose index is not its table's", breakIndex, /is damaged: .*agents_by_session/],
    [
      "of a format that SQLite does not know",
      damageFormat,
      /cannot be read as a database: unsupported file format/,
    ],
    ["whose pages are damaged", (path) => damage(path), /is damaged|cannot be read/],
    [
      "that was cut off",
      (path) => writeFileSync(path, readFileSync(path).subarray(0, 20_000)),
      /is damaged|cannot be read/,
    ],
  ])("refuses a file %s and changes nothing", async (_, spoil, reason) => {
    const where = await worldOf("BlueLake")
    const file = await backUp(where)
    await add(where, "GreenHill")
    const before = filesBeside(where)
    spoil(file)
    const { error } = await run(() => restoreCommand(configIn(where), "copy.db", {}))
    expect(error?.text).toMatch(reason)
    expect(filesBeside(where)).toEqual(before)
    expect(await namesIn(where)).toEqual(["BlueLake", "GreenHill"])
  })

  test("refuses to restore the database from itself", async () => {
    const where = await worldOf("BlueLake")
    const { error } = await run(() => restoreCommand(configIn(where), where.databasePath, {}))
    expect(error?.code).toBe("invalid")
  })
})

describe("the daily backups", () => {
  test("are listed with date and size, newest first, with the command that brings one back", async () => {
    const where = await worldOf("BlueLake")
    const none = await run(() => listBackupsCommand(configIn(where), {}))
    expect(none.out).toContain("No daily backups of")
    for (const day of [10, 11])
      makeDailyBackup(where.databasePath, { nowMs: Date.parse(`2026-03-${day}T12:00:00Z`), hint: "" })
    const { out } = await run(() => listBackupsCommand(configIn(where), {}))
    expect(out.split("\n").map((line) => line.slice(0, 34))).toEqual([
      "MADE                      SIZE    ",
      "2026-03-11T12:00:00.000Z  0.5 MB  ",
      "2026-03-10T12:00:00.000Z  0.5 MB  ",
      "Bring one back: signalbox restore ",
      "",
    ])
    const json = await runJson<{ backups: { file: string }[] }>(() =>
      listBackupsCommand(configIn(where), { json: true }),
    )
    expect(json.backups).toHaveLength(2)
    const [newest] = json.backups
    await add(where, "GreenHill")
    await run(() => restoreCommand(configIn(where), newest?.file ?? "", {}))
    expect(await namesIn(where)).toEqual(["BlueLake"])
  })

  test("get one more from backup without a file", async () => {
    const where = await worldOf("BlueLake")
    const { file } = await runJson<{ file: string }>(() =>
      backupCommand(configIn(where), undefined, { json: true }),
    )
    expect(dirname(file)).toBe(where.databasePath.replace(/\.db$/, ".backups"))
    expect(namesInFile(file)).toEqual(["BlueLake"])
  })

  test("hold what is deleted, which is said, until --purge replaces them by one without it", async () => {
    const where = await worldOf("BlueLake")
    const remember = (text: string) =>
      runJson<{ id: string }>(() => addMemoryCommand(configIn(where), [text], { json: true }))
    const [one, two] = [await remember("the first secret"), await remember("the second secret")]
    const nothing = await run(() => forgetMemoryCommand(configIn(where), one.id, {}))
    expect(nothing.out, "there are no backups yet").not.toContain("backups")
    await run(() => backupCommand(configIn(where), undefined, {}))
    const { out } = await run(() => forgetMemoryCommand(configIn(where), two.id, {}))
    expect(out).toContain("The daily backups hold it until 3 newer ones are made")
    const three = await remember("the third secret")
    const [before] = listDailyBackups(where.databasePath)
    expect(readFileSync(before?.path ?? "").includes("the second secret")).toBe(true)
    const json = await runJson(() =>
      forgetMemoryCommand(configIn(where), three.id, { purge: true, json: true }),
    )
    expect(json).toEqual({ id: three.id, deleted: true, held_by_backups: false })
    const left = listDailyBackups(where.databasePath)
    expect(left).toHaveLength(1)
    expect(readFileSync(left[0]?.path ?? "", "latin1")).not.toMatch(/the (first|second|third) secret/)
  })
})

test("--purge leaves nothing of it in the log of a running server, and names the copies that it leaves alone", async () => {
  const where = presentWorld()
  await server(where, "one")
  const { id } = await runJson<{ id: string }>(() =>
    addMemoryCommand(configIn(where), ["the fourth secret"], { json: true }),
  )
  const log = `${where.databasePath}-wal`
  expect(readFileSync(log).includes("the fourth secret")).toBe(true)
  const before = `${where.databasePath}.v1.backup`
  writeFileSync(before, "")
  const { out } = await run(() => forgetMemoryCommand(configIn(where), id, { purge: true }))
  expect(out).toContain(`yours to remove: ${before}`)
  expect(out).not.toContain("daily backups")
  for (const file of [log, where.databasePath])
    expect(readFileSync(file).includes("fourth secret")).toBe(false)
})

describe("doctor --shrink", () => {
  test("makes the file smaller, and refuses while servers use it", async () => {
    const where = await worldOf("BlueLake")
    const result = await runJson<{ bytes_before: number; bytes_after: number }>(() =>
      shrinkCommand(configIn(where), { json: true }),
    )
    expect(result.bytes_after).toBe(statSync(where.databasePath).size)
    await server(where, "one")
    const { error } = await run(() => shrinkCommand(configIn(where), {}))
    expect(error?.code).toBe("refused")
    expect((await run(() => shrinkCommand(configIn(where), { force: true }))).out).toContain("has 0.5 MB now")
    expect(await namesIn(where)).toEqual(["BlueLake"])
  })
})

function replaceByFolder(path: string): void {
  remove(path)
  mkdirSync(path)
}

function change(path: string, sql: string): void {
  const db = new BetterSqlite3(path)
  db.exec(sql)
  db.close()
}

/** Leaves a file that can be read and copied whole, but is wrong: the index was made for another column. */
function breakIndex(path: string): void {
  const db = new BetterSqlite3(path)
  db.unsafeMode(true)
  db.pragma("writable_schema = ON")
  db.exec(
    "UPDATE sqlite_schema SET sql = replace(sql, '(session)', '(program)') WHERE name = 'agents_by_session'",
  )
  db.close()
}

/** Overwrites everything behind the first page, which names the file's kind. */
function damage(path: string): void {
  const bytes = readFileSync(path)
  bytes.fill(0xa5, 4_096)
  writeFileSync(path, bytes)
}

/** Writes a schema format into the header that no version of SQLite has. */
function damageFormat(path: string): void {
  const bytes = readFileSync(path)
  bytes.fill(5, 24, 88)
  writeFileSync(path, bytes)
}
