import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import BetterSqlite3 from "better-sqlite3"
import { expect, test } from "vitest"
import { openAppAlone } from "../../src/app.ts"
import { reserveCommand } from "../../src/commands/coordination/reserve.ts"
import { sendCommand } from "../../src/commands/coordination/send.ts"
import { addRepositoryCommand } from "../../src/commands/documentation/repos.ts"
import { statusCommand } from "../../src/commands/status.ts"
import { RATES_DEFAULT } from "../../src/config/limits.ts"
import { makeDailyBackup } from "../../src/db/daily-backups.ts"
import { SCHEMA_VERSION } from "../../src/db/migrations.ts"
import { hookFolder } from "../../src/hook/files.ts"
import { passPath, writePass } from "../../src/hook/proven-call.ts"
import { listenerPaths } from "../../src/http/listener-files.ts"
import { createLog } from "../../src/runtime/log.ts"
import { blockedStatements } from "../../src/store/coordination/blocked.ts"
import { insertWait } from "../../src/store/coordination/waits.ts"
import { putIndexingProblem, putIndexingWork } from "../../src/store/documentation/documentation.ts"
import { recordEvent } from "../../src/store/events.ts"
import { insertProcess } from "../../src/store/processes.ts"
import { commitFiles, git } from "../support/documentation.ts"
import { greeterAt } from "../support/greeter.ts"
import type { World } from "../support/world.ts"
import { agentOf, type CommandSurroundings, configIn, presentWorld, run, runJson, server } from "./command.ts"

const status = (where: World, at: CommandSurroundings = {}) =>
  runJson(() => statusCommand(configIn(where, at), { json: true }))

test("status shows a machine without a database and makes none", async () => {
  const where = presentWorld()
  expect(await status(where)).toMatchObject({
    environment: "live",
    key: "local",
    database: { path: where.databasePath, exists: false, schema_version: null },
    listener: null,
    activity: null,
    hook: { is_installed: false },
    limits: RATES_DEFAULT,
  })
  const { out } = await run(() => statusCommand(configIn(where), {}))
  expect(out).toContain("no database yet")
  expect(out).toContain("signalbox install")
  expect(existsSync(dirname(where.databasePath))).toBe(false)
})

test("status names the settings that the project around it weakens", async () => {
  const where = presentWorld()
  const settings = { hooks: { preEdit: { blockConflicts: false } } }
  writeFileSync(join(where.repositoryPath, ".signalbox.json"), JSON.stringify(settings))
  expect(await status(where)).toMatchObject({
    hook: { weakened_by_project: [expect.stringContaining("weakens hooks.preEdit.blockConflicts")] },
  })
  const { out } = await run(() => statusCommand(configIn(where), {}))
  expect(out).toMatch(/Settings +\S+\.signalbox\.json weakens hooks\.preEdit\.blockConflicts/)
})

test("status counts the live servers, the active agents and the reservations that hold", async () => {
  const where = presentWorld()
  const app = await server(where, "one")
  await insertProcess(app.db, { pid: 2 ** 22 + 1, identityMark: "gone", session: "x" }, Date.now())
  await agentOf(app, "BlueLake")
  where.advance(-31 * 60_000)
  await agentOf(app, "GreenHill", "other")
  await run(() => reserveCommand(configIn(where), ["a.ts"], {}))
  expect(await status(where)).toMatchObject({
    database: { exists: true, schema_version: SCHEMA_VERSION },
    // The person who reserved is an agent too.
    activity: { server_processes: 1, repositories: 1, active_agents: 2, active_reservations: 1 },
  })
  const { out } = await run(() => statusCommand(configIn(where), {}))
  expect(out).toContain("1 live session")
  expect(out).toContain("2 at work")
  expect(out).toContain("1 in force, 1 repository connected")
})

test("status names who is at work, in which work tree, on what, with what unread", async () => {
  const where = presentWorld()
  const app = await server(where, "one")
  const { id, projectId } = await agentOf(app, "BlueLake")
  await app.db.run("UPDATE agents SET task_description = 'the login form' WHERE id = ?", [id])
  await run(() => sendCommand(configIn(where), "BlueLake", ["hello"], { urgent: true }))
  expect(await status(where)).toMatchObject({
    activity: {
      at_work: expect.arrayContaining([
        expect.objectContaining({
          name: "BlueLake",
          is_you: false,
          project_id: projectId,
          work_tree: where.repositoryPath,
          branch: "main",
          task: "the login form",
          unread: 1,
          urgent_unread: 1,
        }),
        expect.objectContaining({ is_person: true, is_you: true, unread: 0 }),
      ]),
    },
  })
  const { out } = await run(() => statusCommand(configIn(where), {}))
  expect(out).toContain(`BlueLake in ${where.repositoryPath} on main\n`)
  expect(out).toMatch(/BlueLake.*\n +the login form\n +1 unread, 1 urgent\n/)
})

test("status shows what documentation is searched, and what is being read", async () => {
  const where = presentWorld()
  const app = await server(where, "one")
  expect(await status(where)).toMatchObject({ activity: { documentation: { repositories: 0, files: 0 } } })
  expect((await run(() => statusCommand(configIn(where), {}))).out).toMatch(
    /- Documentation +none is searched/,
  )
  commitFiles(where.repositoryPath, { "a.md": "# A\n\nOne.\n", "b.md": "# B\n\nTwo.\n" })
  git(where.repositoryPath, "branch", "next")
  await run(() => addRepositoryCommand(configIn(where), ".", { branch: ["next"], json: true }))
  const documentation = {
    repositories: 1,
    branches: 2,
    files: 4,
    chunks: 4,
    problems: 0,
    indexing: [] as object[],
  }
  expect(await status(where)).toMatchObject({ activity: { documentation } })
  const work = {
    phase: "embedding",
    branch: null,
    done: 1_000,
    total: 2_000,
    updatedAtMs: Date.now(),
  } as const
  await app.db.transaction("documentation:1", async (tx) => {
    await putIndexingWork(tx, 1, work)
    await putIndexingProblem(tx, 1, "it is gone")
  })
  const { updatedAtMs: _, ...shown } = work
  expect(await status(where)).toMatchObject({
    activity: {
      documentation: { ...documentation, problems: 1, indexing: [{ repository: "repository", ...shown }] },
    },
  })
  expect((await run(() => statusCommand(configIn(where), {}))).out).toContain(
    "✓ Documentation 4 files, 4 chunks in 2 branches of 1 repository; embedding repository, 1,000 of 2,000 chunks; signalbox repos list says what cannot be read",
  )
})

test("status tells a listener that is up from one that only left its record", async () => {
  const where = presentWorld()
  mkdirSync(dirname(where.databasePath))
  const url = await greeterAt(where.databasePath)
  const record = { pid: 77, started_at: "", token: "t" }
  const { record: file } = listenerPaths(where.databasePath)
  writeFileSync(file, JSON.stringify({ ...record, url }))
  expect(await status(where)).toMatchObject({ listener: { url, pid: 77, is_up: true } })
  writeFileSync(file, JSON.stringify({ ...record, url: "http://127.0.0.1:1" }))
  writeFileSync(
    passPath(where.databasePath),
    writePass({
      port: Number(new URL(url).port),
      token: "token",
      proof: "of another start",
      pid: process.pid,
    }),
  )
  expect(await status(where)).toMatchObject({ listener: { is_up: false } })
  const { out } = await run(() => statusCommand(configIn(where), {}))
  expect(out).toContain("http://127.0.0.1:1 does not answer (process 77)")
})

test("status sees the hook and the limits that are off", async () => {
  const where = presentWorld()
  const config = configIn(where, { env: { SIGNALBOX_LIMITS: "off" } })
  mkdirSync(hookFolder(config.dataFolder), { recursive: true })
  writeFileSync(join(hookFolder(config.dataFolder), "hook.sh"), "")
  const { out } = await run(() => statusCommand(config, {}))
  expect(out).toContain(`installed in ${hookFolder(config.dataFolder)}`)
  expect(out).toContain("unlimited tool calls")
})

test.each([["PRAGMA user_version = 99", 99, "made by a newer signalbox"]])(
  "status changes nothing about a database that is not this version's: %s",
  async (sql, version, text) => {
    const where = presentWorld()
    const app = await openAppAlone(configIn(where), { log: createLog("silent") })
    await app.close()
    const db = new BetterSqlite3(where.databasePath)
    db.exec(sql)
    db.close()
    const before = readdirSync(dirname(where.databasePath)).filter((name) => name.endsWith(".db"))
    expect(await status(where)).toMatchObject({ database: { schema_version: version }, activity: null })
    expect((await run(() => statusCommand(configIn(where), {}))).out).toContain(text)
    expect(readdirSync(dirname(where.databasePath)).filter((name) => name.endsWith(".db"))).toEqual(before)
  },
)

test.each([
  ["that is no database", "root:x:0:0\n".repeat(200), "is no database"],
  ["of another program", null, "is the database of another program"],
])("status gives no good mark to a file %s, and fails", async (_, text, reason) => {
  const where = presentWorld()
  mkdirSync(dirname(where.databasePath))
  if (text === null) {
    const db = new BetterSqlite3(where.databasePath)
    db.exec("CREATE TABLE t (a); PRAGMA application_id = 7")
    db.close()
  } else writeFileSync(where.databasePath, text)
  const shown = await run(() => statusCommand(configIn(where), {}))
  expect(shown.out).toMatch(/^✗ Database /m)
  expect(shown.out).toContain(`${where.databasePath} ${reason}`)
  expect(shown.error?.code).toBe("unavailable")
  const { out } = await run(() => statusCommand(configIn(where), { json: true }))
  expect(JSON.parse(out)).toMatchObject({
    database: { schema_version: null, problem: expect.stringContaining(reason) },
    activity: null,
  })
})

test("status says whether there are daily backups, and what keeps them from being made", async () => {
  const where = presentWorld()
  await (await openAppAlone(configIn(where), { log: createLog("silent") })).close()
  expect(await status(where)).toMatchObject({
    database: { backups: { count: 0, newest_at: null, problem: null } },
  })
  makeDailyBackup(where.databasePath, { nowMs: Date.parse("2026-03-10T12:00:00Z"), hint: "" })
  expect((await run(() => statusCommand(configIn(where), {}))).out).toContain(
    "✓ Backups       1 daily backup, the newest of 2026-03-10T12:00:00.000Z",
  )
  const full = { nowMs: Date.parse("2026-03-11T12:00:00Z"), hint: "", freeBytesAt: () => 0 }
  expect(() => makeDailyBackup(where.databasePath, full)).toThrow("free space")
  expect((await run(() => statusCommand(configIn(where), {}))).out).toMatch(
    /✗ Backups +1 daily backup, .*; no daily backup was made: .* has 0\.0 MB of free space/,
  )
})

test("status tells what was blocked in the last hour: whom, from what, by whom, how often, when last", async () => {
  const where = presentWorld()
  const app = await server(where, "one")
  const { id, projectId } = await agentOf(app, "BlueLake")
  const block = (kind: "edit.blocked" | "reservation.refused", data: object, minutesAgo: number) =>
    app.db.transaction(`project:${projectId}`, (tx) =>
      recordEvent(tx, { kind, projectId, agentId: id, data: { ...data } }, Date.now() - minutesAgo * 60_000),
    )
  expect((await run(() => statusCommand(configIn(where), {}))).out).not.toContain("Blocked")
  await block("edit.blocked", { path: "old.ts", holders: ["Ada"] }, 61)
  await block("edit.blocked", { path: "a.ts", holders: ["Ada"] }, 50)
  await block("reservation.refused", { path_pattern: "src/**", holders: ["Ada", "Bob"] }, 30)
  await block("edit.blocked", { path: "a.ts", holders: ["Bob"] }, 20)
  const { activity } = (await status(where)) as { activity: object }
  expect(activity).toMatchObject({
    blocked_last_hour: [
      { what: "edit", who: "BlueLake", path: "a.ts", holders: ["Bob"], times: 2 },
      { what: "reservation", who: "BlueLake", path: "src/**", holders: ["Ada", "Bob"], times: 1 },
    ],
    waiting: [],
  })
  const { out } = await run(() => statusCommand(configIn(where), {}))
  expect(out).toMatch(/^- Blocked +2 in the last hour$/m)
  expect(out).toMatch(/^ {4}BlueLake: a\.ts, held by Bob, 2 times, 20 min/m)
  expect(out).toMatch(/^ {4}BlueLake: a reservation of src\/\*\*, held by Ada, Bob, 30 min/m)
  for (const path of ["b.ts", "c.ts", "d.ts", "e.ts"]) await block("edit.blocked", { path }, 10)
  // The command that it names lists both kinds.
  expect((await run(() => statusCommand(configIn(where), {}))).out).toMatch(
    /^ {4}and 1 other: .* log --since 1h --kind edit\.blocked,reservation\.refused$/m,
  )
  const plan = await app.db.all(`EXPLAIN QUERY PLAN ${blockedStatements.listSince}`, [0, 10])
  expect(JSON.stringify(plan)).toContain("events_refused_lately")
})

test("status tells who waits for files, but for those whose process has ended", async () => {
  const where = presentWorld()
  const app = await server(where, "one")
  const { id } = await agentOf(app, "BlueLake")
  const nowMs = Date.now()
  const wait = {
    repositoryId: 1,
    agentId: id,
    exclusive: true,
    durationSeconds: 60,
    createdAtMs: nowMs - 120_000,
  }
  const own = { pid: process.pid, identityMark: app.processMark, untilMs: nowMs + 60_000 }
  await insertWait(app.db, { ...wait, ...own, pathPattern: "a.ts" })
  await insertWait(app.db, { ...wait, ...own, pathPattern: "late.ts", untilMs: nowMs - 11_000 })
  await insertWait(app.db, { ...wait, ...own, pathPattern: "dead.ts", pid: 2 ** 22 + 1 })
  expect(await status(where)).toMatchObject({
    activity: { waiting: [{ agent_name: "BlueLake", path_pattern: "a.ts", mode: "exclusive" }] },
  })
  const { out } = await run(() => statusCommand(configIn(where), {}))
  expect(out).toMatch(/^- Waiting +1 for files that others hold\n {4}BlueLake: a\.ts, for 2 min/m)
})
