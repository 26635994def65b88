import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { personName, userName } from "../../../src/commands/coordination/identity.ts"
import {
  decideOverrideCommand,
  listOverridesCommand,
  requestOverrideCommand,
} from "../../../src/commands/coordination/override.ts"
import { reserveCommand } from "../../../src/commands/coordination/reserve.ts"
import type { Agent } from "../../../src/domain/coordination/agent.ts"
import type { App } from "../../../src/operations/app.ts"
import { createKey } from "../../../src/operations/keys.ts"
import { countInbox } from "../../../src/store/coordination/messages.ts"
import { listAudit } from "../../../src/store/coordination/overrides.ts"
import { findReservation } from "../../../src/store/coordination/reservations.ts"
import type { World } from "../../support/world.ts"
import {
  agentOf,
  type CommandSurroundings,
  configIn,
  presentWorld,
  run,
  runJson,
  server,
} from "../command.ts"

interface Outcome {
  id: number
  status: string
  agent_name: string
  released: { path_pattern: string; agent_name: string }[]
}

interface Held {
  where: World
  app: App
  holder: Agent
}

/** A world in which BlueLake, of session "one", holds src, and the settings of overrides are these. */
async function held(settings: Record<string, boolean> = {}): Promise<Held> {
  const where = presentWorld()
  writeFileSync(
    join(where.repositoryPath, ".signalbox.json"),
    JSON.stringify({ hooks: { preEdit: settings } }),
  )
  const app = await server(where, "one")
  const holder = await agentOf(app, "BlueLake")
  const at = { env: { SIGNALBOX_SESSION: "one" } }
  await runJson(() => reserveCommand(configIn(where, at), ["src"], { mode: "exclusive", json: true }))
  return { where, app, holder }
}

const as = (session: string): CommandSurroundings => ({ env: { SIGNALBOX_SESSION: session } })

/** Requests an override, which may end as a conflict when it has to wait; returns what was printed. */
async function request(where: World, at: CommandSurroundings = {}, reason = "production is down") {
  const { out, error } = await run(() =>
    requestOverrideCommand(configIn(where, at), "src/a.ts", { reason, json: true }),
  )
  const outcome = JSON.parse(out) as Outcome
  expect(error?.code).toBe(outcome.status === "pending" ? "conflict" : undefined)
  return outcome
}

function decide(where: World, id: number, approved: boolean, at: CommandSurroundings = {}) {
  return run(() => decideOverrideCommand(configIn(where, at), id, approved, {}))
}

async function isHeld({ app }: Held): Promise<boolean> {
  return (await findReservation(app.db, 1))?.endedAtMs === null
}

describe("override", () => {
  test("releases the holder's reservation, tells the holder and keeps a record", async () => {
    const made = await held()
    const { where, app, holder } = made
    const outcome = await request(where)
    expect(outcome).toMatchObject({
      id: 1,
      status: "approved",
      released: [{ path_pattern: "src", agent_name: "BlueLake" }],
    })
    expect(await isHeld(made)).toBe(false)
    expect(await countInbox(app.db, { agentId: holder.id })).toMatchObject({ unread: 1 })
    expect((await listAudit(app.db, 1)).map(({ kind }) => kind)).toEqual([
      "requested",
      "approved",
      "released",
    ])
  })

  test("acts for the agent of the session that it is typed in, else as the person, without any name", async () => {
    const { where } = await held()
    const blocked = await agentOf(await server(where, "two"), "RedFox")
    expect((await request(where, as("two"))).agent_name).toBe(blocked.name)
    await runJson(() =>
      reserveCommand(configIn(where, as("one")), ["src"], { mode: "exclusive", json: true }),
    )
    expect((await request(where)).agent_name).toBe(personName(userName()))
  })

  test("waits for approval where the settings say so, and is decided by a person", async () => {
    const made = await held({ requireAdminApproval: true })
    const { where, app } = made
    const { out, error } = await run(() =>
      requestOverrideCommand(configIn(where, as("two")), "src/a.ts", { reason: "hotfix" }),
    )
    expect(error?.code).toBe("conflict")
    expect(out).toContain("waits for approval")
    expect(out).toContain("signalbox override approve 1")
    expect(await isHeld(made)).toBe(true)
    expect((await decide(where, 1, true)).out).toContain("src of BlueLake (reservation 1)")
    expect(await isHeld(made)).toBe(false)
    const again = await decide(where, 1, false)
    expect(again.error?.code).toBe("conflict")
    expect((await listAudit(app.db, 1)).map(({ kind }) => kind)).toEqual([
      "requested",
      "approved",
      "released",
    ])
  })

  test("is denied without any effect but the record", async () => {
    const made = await held({ requireAdminApproval: true })
    const { id } = await request(made.where, as("two"))
    expect((await decide(made.where, id, false)).out).toContain("is denied")
    expect(await isHeld(made)).toBe(true)
  })

  test("is never decided inside the session of an agent, whatever agent asked or is named", async () => {
    const made = await held({ requireAdminApproval: true })
    const { where } = made
    const { id } = await request(where, as("two"))
    const other = await request(where, as("three"))
    for (const env of [{}, { SIGNALBOX_AGENT: "BlueLake" }]) {
      for (const asked of [id, other.id]) {
        const { error } = await decide(where, asked, true, { env: { SIGNALBOX_SESSION: "two", ...env } })
        expect(error?.code).toBe("forbidden")
        expect(error?.text).toContain("overrides are decided by people")
      }
    }
    expect(await isHeld(made)).toBe(true)
  })

  test("is forbidden where overrides are off", async () => {
    const made = await held({ allowOverrides: false })
    const { error } = await run(() =>
      requestOverrideCommand(configIn(made.where), "src/a.ts", { reason: "x" }),
    )
    expect(error?.code).toBe("forbidden")
    expect(await isHeld(made)).toBe(true)
  })

  test("needs a path that another holds, a reason, and a connected repository", async () => {
    const { where } = await held()
    const failure = async (path: string, reason: string, at: CommandSurroundings = {}) =>
      (await run(() => requestOverrideCommand(configIn(where, at), path, { reason }))).error
    expect((await failure("docs/a.md", "x"))?.code).toBe("not_found")
    expect((await failure("src/a.ts", "x", as("one")))?.code).toBe("not_found")
    expect((await failure("src/a.ts", " "))?.code).toBe("invalid")
    expect((await failure("/elsewhere/a.ts", "x"))?.text).toContain("signalbox repos add")
    expect((await decide(where, 9, true)).error?.text).toContain("signalbox override list")
  })

  test("is decided and listed with an admin key only", async () => {
    const { where, app } = await held({ requireAdminApproval: true })
    await request(where, as("two"))
    const keyFor = async (scope: string) => {
      const made = { name: scope, plan: "starter", expiresAtMs: null, environment: "live" } as const
      return { env: { SIGNALBOX_API_KEY: (await createKey(app, { ...made, scopes: [scope] })).text } }
    }
    const scoped = await keyFor("repo:1:coordination")
    expect((await decide(where, 1, true, scoped)).error?.text).toContain("required scope: admin")
    expect((await run(() => listOverridesCommand(configIn(where, scoped), {}))).error?.code).toBe("forbidden")
    expect((await decide(where, 1, true, await keyFor("admin"))).error).toBeUndefined()
  })

  test("lists requests, the latest first, or only those of a status", async () => {
    const { where } = await held({ requireAdminApproval: true })
    await request(where, as("two"), "first")
    await request(where, as("two"), "second")
    await decide(where, 1, false)
    const list = (status?: "pending" | "approved") =>
      runJson<{ id: number; status: string; reason: string }[]>(() =>
        listOverridesCommand(configIn(where), status === undefined ? { json: true } : { json: true, status }),
      )
    expect(await list()).toMatchObject([
      { id: 2, status: "pending", reason: "second", audit: [{ kind: "requested" }] },
      { id: 1, status: "denied", reason: "first", audit: [{ kind: "requested" }, { kind: "denied" }] },
    ])
    expect(await list("pending")).toMatchObject([{ id: 2 }])
    expect((await run(() => listOverridesCommand(configIn(where), { status: "approved" }))).out).toBe(
      "No approved overrides.\n",
    )
  })
})
