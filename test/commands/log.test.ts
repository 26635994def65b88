/** What happened, in lines: who may see it, what is asked for, and what comes while it is followed. */

import { expect, test, vi } from "vitest"
import { sendCommand } from "../../src/commands/coordination/send.ts"
import { type LogOptions, logCommand } from "../../src/commands/log.ts"
import { LOG_LIMIT_DEFAULT } from "../../src/config/event-limits.ts"
import { LISTING_ROWS_MAX } from "../../src/config/limits.ts"
import type { App } from "../../src/operations/app.ts"
import { recordEvent } from "../../src/store/events.ts"
import { agentOf, configIn, presentWorld, refusal, run, runJson, server } from "./command.ts"

interface Shown {
  id: number
  kind: string
  actor: { name: string }
}

async function surroundings() {
  const where = presentWorld()
  const app = await server(where, "ada")
  const ada = await agentOf(app, "Ada")
  const bob = await agentOf(await server(where, "bob"), "Bob")
  const configOf = (session: string) => configIn(where, { env: { SIGNALBOX_SESSION: session } })
  const log = (options: LogOptions = {}, session = "ada") =>
    runJson<Shown[]>(() => logCommand(configOf(session), { json: true, ...options }))
  const happen = (count: number, ageMs = 0) => blocked(app, ada.projectId, ada.id, count, Date.now() - ageMs)
  return { where, app, ada, bob, configOf, log, happen }
}

async function blocked(app: App, projectId: number, agentId: number, count: number, nowMs: number) {
  await app.db.transaction(`project:${projectId}`, async (tx) => {
    const event = {
      kind: "edit.blocked",
      projectId,
      agentId,
      data: { path: "a.ts", holders: ["Bob"] },
    } as const
    for (let index = 0; index < count; index += 1) await recordEvent(tx, event, nowMs)
  })
}

/** Lets a command run until what it printed satisfies, then ends it as a reader's terminal does. */
async function followed(work: () => Promise<void>, meanwhile: (printed: () => string) => Promise<void>) {
  let out = ""
  const { write } = process.stdout
  process.stdout.write = ((text: string) => {
    out += text
    return true
  }) as typeof write
  try {
    const done = work()
    await meanwhile(() => out)
    process.emit("SIGHUP")
    await done
    return out
  } finally {
    process.stdout.write = write
  }
}

test("is one aligned line an event, oldest first, in words", async () => {
  const { configOf, happen } = await surroundings()
  await run(() => sendCommand(configOf("bob"), "Ada", ["Hello"], {}))
  await happen(1)
  const { out } = await run(() => logCommand(configOf("ada"), { kind: ["message.sent", "edit.*"] }))
  const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`
  expect(out).toMatch(
    new RegExp(
      `^${time}  message\\.sent {11}Bob sent .*\n${time}  edit\\.blocked {11}Ada was kept from editing a\\.ts, held by Bob\n$`,
    ),
  )
})

test("shows the latest, by default 50, or as many as are asked for, and says that there are earlier ones", async () => {
  const { log, happen, configOf } = await surroundings()
  await happen(LOG_LIMIT_DEFAULT + 1)
  const kind = ["edit.blocked"]
  const shown = await log({ kind })
  expect(shown).toHaveLength(LOG_LIMIT_DEFAULT)
  expect((await log({ kind, limit: 2 })).map(({ id }) => id)).toEqual(shown.slice(-2).map(({ id }) => id))
  expect(await log({ kind, limit: LOG_LIMIT_DEFAULT + 1 })).toHaveLength(LOG_LIMIT_DEFAULT + 1)
  const earlier = /^Earlier ones: /
  expect((await run(() => logCommand(configOf("ada"), { kind }))).out).toMatch(earlier)
  expect((await run(() => logCommand(configOf("ada"), { kind, limit: 51 }))).out).not.toMatch(earlier)
})

test("says that there are earlier ones than the most that it shows", async () => {
  const { configOf, happen } = await surroundings()
  const kind = ["edit.blocked"]
  const since = () => run(() => logCommand(configOf("ada"), { kind, since: "1h" }))
  await happen(LISTING_ROWS_MAX)
  expect((await since()).out).not.toContain("Earlier")
  await happen(1)
  expect((await since()).out).toMatch(/^Earlier ones are left out/)
})

test("leaves out what is older, of other kinds, and of other agents than are asked for", async () => {
  const { log, happen } = await surroundings()
  await happen(1, 3_700_000)
  await happen(2, 3_500_000)
  expect(await log({ since: "1h", kind: ["edit.blocked"] })).toHaveLength(2)
  expect(await log({ since: "2h", kind: ["edit.blocked"] })).toHaveLength(3)
  expect(new Set((await log({ agent: "ada" })).map(({ actor }) => actor.name))).toEqual(new Set(["Ada"]))
  expect((await log({ agent: "Bob" })).some(({ kind }) => kind === "edit.blocked")).toBe(false)
})

test("shows what is between two agents, and a block, to those alone whom it concerns", async () => {
  const { app, ada, bob, log } = await surroundings()
  const { projectId } = ada
  await app.db.transaction("t", async (tx) => {
    const contact = { projectId, agentId: ada.id, partyId: bob.id, data: {} }
    await recordEvent(tx, { kind: "contact.requested", ...contact }, Date.now())
    await recordEvent(tx, { kind: "contact.blocked", ...contact }, Date.now())
  })
  const seen = async (session: string) =>
    (await log({ kind: ["contact.*"] }, session)).map(({ kind }) => kind)
  expect(await seen("ada")).toEqual(["contact.requested", "contact.blocked"])
  expect(await seen("bob")).toEqual(["contact.requested"])
  expect(await seen("somebody else")).toEqual([])
})

test("goes on with what happens, by whatever process, until it is ended, and leaves nothing out", async () => {
  const { app, configOf, happen } = await surroundings()
  await happen(1)
  const work = () => logCommand(configOf("ada"), { follow: true, json: true, kind: ["edit.blocked"] })
  const printed = await followed(work, async (out) => {
    const lines = (count: number) =>
      vi.waitFor(() => expect(out().split("\n")).toHaveLength(count + 1), 5_000)
    await lines(1)
    await happen(2)
    await lines(3)
    // A reset says so, and what comes after it is told.
    await app.db.run("UPDATE event_horizon SET told_after = (SELECT max(id) + 5 FROM events)")
    await lines(4)
    await app.db.run("UPDATE events SET id = id + 100")
    await lines(7)
  })
  const told = printed
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
  expect(told.map((one) => Object.keys(one)[0])).toEqual(["id", "id", "id", "reset", "id", "id", "id"])
  expect(told[3].reset.reason).toBe("pruned")
  expect(told[2].id + 5).toBe(told[3].reset.resume_after)
})

test("names what it does not know", async () => {
  const { configOf } = await surroundings()
  const fails = (code: string, options: LogOptions) =>
    refusal(code, () => logCommand(configOf("ada"), options))
  expect(await fails("invalid", { kind: ["message.send"] })).toContain("message.sent")
  expect(await fails("not_found", { agent: "Bop" })).toContain("Did you mean Bob?")
  expect(await fails("invalid", { since: "721h" })).toMatch(/^since must be 1 s to 2,592,000 s \(720h\)/)
})
