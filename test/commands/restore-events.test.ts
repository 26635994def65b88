/** Events across a restore: no id is ever given twice, and whoever reads on from before it is told so. */

import { writeFileSync } from "node:fs"
import { join } from "node:path"
import BetterSqlite3 from "better-sqlite3"
import { describe, expect, test } from "vitest"
import { remove } from "../../scripts/removal.ts"
import { openAppAlone } from "../../src/app.ts"
import { backupCommand, restoreCommand } from "../../src/commands/backup.ts"
import { listDailyBackups } from "../../src/db/daily-backups.ts"
import { SCHEMA_VERSION } from "../../src/db/migrations.ts"
import type { App } from "../../src/operations/app.ts"
import { startWebhookDelivery } from "../../src/operations/webhooks/delivery.ts"
import { addWebhook, removeWebhookById } from "../../src/operations/webhooks/webhooks.ts"
import { createLog } from "../../src/runtime/log.ts"
import { listNamedEventsAfter } from "../../src/store/event-feed.ts"
import { eventHorizon, newestEventId, recordEvent } from "../../src/store/events.ts"
import { receiver } from "../support/receiver.ts"
import { toVersion2 } from "../support/schema-version-2.ts"
import type { World } from "../support/world.ts"
import { configIn, presentWorld, run, runJson, server } from "./command.ts"

const FAR = 1_000_000_000

/** Lets something happen so often; returns the ids that it got, and the state that a reader sees. */
async function happen(where: World, times: number) {
  const { db, close } = await openAppAlone(configIn(where), { log: createLog("silent") })
  const before = await newestEventId(db)
  for (let time = 0; time < times; time += 1)
    await db.transaction("test", (tx) => recordEvent(tx, { kind: "message.sent", data: {} }, Date.now()))
  const ids = (await listNamedEventsAfter(db, before, 1_000)).map(({ id }) => id)
  const horizon = await eventHorizon(db)
  const atHorizon = (await listNamedEventsAfter(db, horizon - 1, 1))[0]
  await close()
  return { ids, before, horizon, atHorizon }
}

const backUpTo = (where: World, file: string) =>
  run(() => backupCommand(configIn(where), file, { force: true }))

async function restoreFrom(where: World, file: string, force = false): Promise<{ kept: string }> {
  return runJson(() => restoreCommand(configIn(where), file, { json: true, force }))
}

/** A world with 5 events in the database and 3 in its backup. */
async function worldWithBackup() {
  const where = presentWorld()
  await happen(where, 3)
  await backUpTo(where, "copy.db")
  await happen(where, 2)
  return where
}

describe("a restore", () => {
  test("is an event of its own above every id that was given, from which on everything is told", async () => {
    const where = await worldWithBackup()
    await restoreFrom(where, "copy.db")
    const { ids, before, horizon, atHorizon } = await happen(where, 1)
    expect([before, horizon, ids]).toEqual([6, 6, [7]])
    expect(atHorizon).toMatchObject({ id: 6, kind: "database.restored", data: {}, projectId: null })
    expect(Math.abs(Date.now() - (atHorizon?.createdAtMs ?? 0))).toBeLessThan(60_000)
  })

  test("of what has more events than the database is above those of the backup", async () => {
    const where = await worldWithBackup()
    await backUpTo(where, "more.db")
    await restoreFrom(where, "copy.db")
    await restoreFrom(where, "more.db")
    expect(await happen(where, 0)).toMatchObject({ before: 7, horizon: 7 })
  })

  test("never gives an id twice, however often states are brought back", async () => {
    const where = presentWorld()
    const given: number[] = []
    const files: string[] = []
    for (const [step, back] of [0, 0, 1, 0, 2, 1].entries()) {
      given.push(...(await happen(where, (step % 3) + 1)).ids)
      await backUpTo(where, `state-${step}.db`)
      files.push(`state-${step}.db`)
      given.push(...(await happen(where, step % 2)).ids)
      const { kept } = await restoreFrom(where, files[back] ?? "")
      files.push(kept)
    }
    given.push(...(await happen(where, 1)).ids)
    expect(given).toEqual([...new Set(given)].sort((one, other) => one - other))
    expect(given.length).toBe(6 * 2 + 3 + 1)
  })

  test("of a daily backup tells the same", async () => {
    const where = presentWorld()
    await happen(where, 3)
    await run(() => backupCommand(configIn(where), undefined, {}))
    await happen(where, 2)
    await restoreFrom(where, listDailyBackups(where.databasePath)[0]?.path ?? "")
    expect(await happen(where, 0)).toMatchObject({ before: 6, horizon: 6 })
  })

  test("of a backup from before there were events brings it to this version, and leaves the file as it was", async () => {
    const where = await worldWithBackup()
    const file = join(where.repositoryPath, "copy.db")
    toVersion2(file)
    expect(await restoreFrom(where, "copy.db")).toMatchObject({ schema_version: 2 })
    expect([versionOf(file), versionOf(where.databasePath)]).toEqual([2, SCHEMA_VERSION])
    expect(await happen(where, 1)).toMatchObject({ before: 6, horizon: 6, ids: [7] })
  })

  test.each<[string, (where: World) => void]>([
    ["is gone", (where) => remove(where.databasePath)],
    ["cannot be read", (where) => writeFileSync(where.databasePath, "no database any more")],
    ["has no events", (where) => exec(where.databasePath, "DROP TABLE events")],
  ])("goes far above the backup's ids where the database %s", async (_, spoil) => {
    const where = await worldWithBackup()
    spoil(where)
    await restoreFrom(where, "copy.db", true)
    expect(await happen(where, 1)).toMatchObject({ horizon: 3 + FAR, ids: [4 + FAR] })
  })

  test("goes far above what servers may still give to those who do not know of it", async () => {
    const where = await worldWithBackup()
    await server(where, "one")
    await restoreFrom(where, "copy.db", true)
    expect((await happen(where, 0)).horizon).toBeGreaterThanOrEqual(3 + FAR)
  })

  test("refuses a file whose tables are not those of its version, and changes nothing", async () => {
    const where = await worldWithBackup()
    exec(join(where.repositoryPath, "copy.db"), "PRAGMA user_version = 1")
    const { error } = await run(() => restoreCommand(configIn(where), "copy.db", {}))
    expect(error?.text).toMatch(/copy\.db cannot be brought to this version: duplicate column/)
    expect(await happen(where, 1)).toMatchObject({ before: 5, horizon: 0, ids: [6] })
  })
})

/** Does something with the app of a world that has no server. */
async function within<T>(where: World, work: (app: App) => Promise<T>): Promise<T> {
  const app = await openAppAlone(configIn(where), { log: createLog("silent") })
  try {
    return await work(app)
  } finally {
    await app.close()
  }
}

test("a webhook that was removed after the backup comes back, is told once that it missed something, and goes on", async () => {
  const where = presentWorld()
  const to = await receiver()
  const request = { url: to.url, format: "json", includesContent: false, allowsPrivate: true } as const
  const deliver = (app: App) => {
    const delivery = startWebhookDelivery(app)
    return delivery.settle().finally(() => delivery.close())
  }
  await within(where, (app) => addWebhook(app, request))
  await happen(where, 1)
  await within(where, deliver)
  await backUpTo(where, "copy.db")
  await within(where, (app) => removeWebhookById(app, 1))
  await happen(where, 2)
  await within(where, deliver)
  await restoreFrom(where, "copy.db")
  for (let times = 0; times < 2; times += 1) await within(where, deliver)
  await happen(where, 1)
  await within(where, deliver)
  const told = to.received.map(({ json }) => [json.type, json.type === "events.reset" ? json.data : json.id])
  expect(told).toEqual([
    ["message.sent", 1],
    ["events.reset", expect.objectContaining({ missed_after: 1, resume_after: 4 })],
    ["message.sent", 5],
  ])
})

function exec(path: string, sql: string): void {
  const db = new BetterSqlite3(path)
  db.exec(sql)
  db.close()
}

function versionOf(path: string): unknown {
  const db = new BetterSqlite3(path, { readonly: true })
  try {
    return db.pragma("user_version", { simple: true })
  } finally {
    db.close()
  }
}
