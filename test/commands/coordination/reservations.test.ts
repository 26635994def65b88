import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import {
  type ReservationsOptions,
  reservationsCommand,
} from "../../../src/commands/coordination/reservations.ts"
import { type ReserveOptions, reserveCommand } from "../../../src/commands/coordination/reserve.ts"
import { connectFolder } from "../../../src/operations/connect.ts"
import { createKey } from "../../../src/operations/keys.ts"
import type { World } from "../../support/world.ts"
import {
  agentOf,
  type CommandSurroundings,
  configIn,
  presentWorld,
  run,
  runJson,
  type Shown,
  server,
} from "../command.ts"

async function reserve(
  where: World,
  path: string,
  options: ReserveOptions = {},
  at: CommandSurroundings = {},
) {
  await runJson(() =>
    reserveCommand(configIn(where, at), [path], { mode: "exclusive", ...options, json: true }),
  )
}

async function listed(where: World, options: ReservationsOptions = {}, at: CommandSurroundings = {}) {
  const shown = await runJson<Shown[]>(() =>
    reservationsCommand(configIn(where, at), { ...options, json: true }),
  )
  return shown.map((one) => one.path_pattern)
}

/** A world in which BlueLake shares docs and a person holds src. */
async function twoHolders(): Promise<World> {
  const where = presentWorld()
  await agentOf(await server(where, "one"), "BlueLake")
  await reserve(
    where,
    "docs",
    { mode: "shared", reason: "two\nlines" },
    { env: { SIGNALBOX_SESSION: "one" } },
  )
  await reserve(where, "src")
  return where
}

describe("reservations", () => {
  test("lists what is held here as a table", async () => {
    const where = await twoHolders()
    const { out } = await run(() => reservationsCommand(configIn(where), {}))
    const [heading, first, second] = out.split("\n")
    expect(heading).toMatch(/^ID {2}PATTERN {2}AGENT +MODE +LEFT +REASON$/)
    expect(first).toMatch(/^1 +docs +BlueLake +shared +(2 h|1 h 59 min.*) +two ⏎ lines$/)
    expect(second).toMatch(/^2 +src /)
  })

  test("lists only an agent's, in any case, or only those of a mode", async () => {
    const where = await twoHolders()
    expect(await listed(where)).toEqual(["docs", "src"])
    expect(await listed(where, { agent: "bluelake" })).toEqual(["docs"])
    expect(await listed(where, { mode: "exclusive" })).toEqual(["src"])
    expect(await listed(where, { mode: "exclusive", agent: "BlueLake" })).toEqual([])
    const { out } = await run(() => reservationsCommand(configIn(where), { mode: "shared", agent: "Nobody" }))
    expect(out).toBe("No shared reservations of Nobody in this repository.\n")
  })

  test("lists this repository's, or with --all those of every connected one", async () => {
    const where = await twoHolders()
    const folder = join(where.folder, "second")
    mkdirSync(folder)
    const app = await server(where, "two")
    await connectFolder(app.db, folder, Date.now())
    await reserve(where, "third", {}, { folder })
    expect(await listed(where, {}, { folder })).toEqual(["third"])
    expect(await listed(where, { all: true })).toEqual(["docs", "src", "third"])
    const { out } = await run(() => reservationsCommand(configIn(where), { all: true }))
    expect(out).toMatch(/^ID {2}REPOSITORY /)
    const { error } = await run(() => reservationsCommand(configIn(where, { folder: where.folder }), {}))
    expect(error?.text).toContain("signalbox repos add")
  })

  test("lists only what the configured key reaches", async () => {
    const where = await twoHolders()
    const app = await server(where, "two")
    await agentOf(app, "RedFox", "other")
    await reserve(where, "tests", {}, { env: { SIGNALBOX_SESSION: "two" } })
    const request = { name: "other", plan: "starter", expiresAtMs: null, environment: "live" } as const
    const { text } = await createKey(app, { ...request, scopes: ["project:other:coordination"] })
    expect(await listed(where, {}, { env: { SIGNALBOX_API_KEY: text } })).toEqual(["tests"])
    expect(await listed(where)).toEqual(["docs", "src", "tests"])
  })
})
