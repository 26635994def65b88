/** What is told of keys: made, used for the first time and revoked, each once, and never their text. */

import { writeFileSync } from "node:fs"
import { expect, test } from "vitest"
import { createKey, localKey, localKeyText, revokeKeyById } from "../../../src/operations/keys.ts"
import { eventsIn, toldIn } from "../../support/events.ts"
import { type Session, world } from "../../support/world.ts"

const HOUR_MS = 3_600_000

function makeKey({ app }: Session, scopes: string[]) {
  const request = { name: "bot", environment: "live", plan: "starter", expiresAtMs: null } as const
  return createKey(app, { ...request, scopes })
}

test("the local key is told of when it is made and when it is first used, by nobody's hand", async () => {
  const session = await world().session()
  await session.call("list-memories", {})
  await session.call("list-memories", {})
  const data = { key_id: 1, name: "local", scopes: ["*"] }
  expect(await eventsIn(session.app.db, "key.")).toMatchObject([
    { kind: "key.created", subjectId: 1, actor: "signalbox", data },
    { kind: "key.used", subjectId: 1, data },
  ])
})

test("the replacement of a local key whose file is lost is told as its end and another one's beginning", async () => {
  const { app } = await world().session()
  await localKeyText(app)
  writeFileSync(app.config.databasePath.replace(/\.db$/, ".key"), "lost")
  await localKeyText(app)
  await localKeyText(app)
  const told = (await eventsIn(app.db, "key.")).map(({ kind, subjectId, actor }) => [kind, subjectId, actor])
  expect(told).toEqual([
    ["key.created", 1, "signalbox"],
    ["key.revoked", 1, "signalbox"],
    ["key.created", 2, "signalbox"],
  ])
})

test("a key that somebody makes is told of with its scopes, when it is first used, and when it is revoked", async () => {
  const made = world()
  const local = await made.session()
  const { key, text } = await makeKey(local, ["repo:1:memory", "repo:1:memory"])
  const bot = await made.session({ apiKey: text })
  const before = await eventsIn(local.app.db, "key.")
  expect(before.at(-1)).toMatchObject({
    kind: "key.created",
    subjectId: key.id,
    actor: null,
    data: { key_id: key.id, name: "bot", scopes: ["repo:1:memory"] },
  })
  await bot.call("list-memories", {})
  made.advance(HOUR_MS)
  await bot.call("list-memories", {})
  await revokeKeyById(local.app, key.id)
  await revokeKeyById(local.app, key.id)
  const told = (await toldIn(local.app.db, "key.")).slice(before.length)
  expect(told.map(([kind, { key_id: id }]) => [kind, id])).toEqual([
    ["key.used", key.id],
    ["key.revoked", key.id],
  ])
})

test("two sessions that use a key for the first time at once tell of it once", async () => {
  const made = world()
  const { text } = await makeKey(await made.session(), ["*"])
  const sessions = await Promise.all([1, 2, 3, 4].map(() => made.session({ apiKey: text })))
  await Promise.all(sessions.map((session) => session.call("list-memories", {})))
  const [{ app }] = sessions as [Session]
  expect(await eventsIn(app.db, "key.used")).toHaveLength(1)
})

test("a key that is refused is told of to nobody, and no event holds a key's text or hash", async () => {
  const made = world()
  const local = await made.session()
  const { app } = local
  await expect(makeKey(local, ["nonsense"])).rejects.toThrow("nonsense")
  await expect(revokeKeyById(app, 9)).rejects.toThrow("was not found")
  expect(await eventsIn(app.db, "key.")).toEqual([])
  const { text } = await makeKey(local, ["*"])
  await localKey(app)
  const told = JSON.stringify(await eventsIn(app.db, "key."))
  for (const secret of [text, text.slice(-4), await localKeyText(app), "hash", "last_four"])
    expect(told).not.toContain(secret)
})
