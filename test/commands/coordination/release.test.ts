import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import {
  cleanupCommand,
  type ReleaseOptions,
  releaseCommand,
  reserveCommand,
} from "../../../src/commands/coordination/reserve.ts"
import { createKey } from "../../../src/operations/keys.ts"
import { insertReservation, listReservationsIn } from "../../../src/store/coordination/reservations.ts"
import { putAnchors } from "../../../src/store/coordination/sessions.ts"
import { insertProcess, listProcesses, removeProcess } from "../../../src/store/processes.ts"
import { newRepository } from "../../support/documentation.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"
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

interface Released {
  released: Shown[]
}

async function reserve(where: World, paths: string[], at: CommandSurroundings = {}): Promise<void> {
  await runJson(() => reserveCommand(configIn(where, at), paths, { mode: "exclusive", json: true }))
}

function release(where: World, paths: string[], options: ReleaseOptions = {}, at: CommandSurroundings = {}) {
  return run(() => releaseCommand(configIn(where, at), paths, options))
}

async function releasedBy(
  where: World,
  paths: string[],
  options: ReleaseOptions = {},
  at: CommandSurroundings = {},
): Promise<string[]> {
  const { released } = await runJson<Released>(() =>
    releaseCommand(configIn(where, at), paths, { ...options, json: true }),
  )
  return released.map((one) => one.path_pattern)
}

const as = (session: string): CommandSurroundings => ({ env: { SIGNALBOX_SESSION: session } })

describe("release", () => {
  test("releases exactly the paths that are named", async () => {
    const where = presentWorld()
    await reserve(where, ["src/a.ts", "src/b.ts", "docs/**"])
    const { out, error } = await release(where, ["./src//a.ts", "docs/**"])
    expect(error).toBeUndefined()
    expect(out).toMatch(/^✓ Released src\/a\.ts \(.* early, reservation 1\)\n✓ Released docs\/\*\* /)
    expect(await releasedBy(where, [], { all: true })).toEqual(["src/b.ts"])
  })

  test("releases what the hook has reserved under its literal name, and a tool under the typed one", async () => {
    const where = presentWorld()
    mkdirSync(join(where.repositoryPath, "app"))
    const file = "app/[id].ts"
    // Not there yet, so it is a pattern; there, it is the file.
    await reserve(where, [file])
    writeFileSync(join(where.repositoryPath, file), "")
    expect(await releasedBy(where, [file])).toEqual(["app/[id].ts"])
    await reserve(where, [file])
    expect(await releasedBy(where, [file])).toEqual(["app/\\[id\\].ts"])
  })

  test("releases everything of the session's agents with --all, in all projects", async () => {
    const where = presentWorld()
    const app = await server(where, "one")
    await agentOf(app, "BlueLake")
    await reserve(where, ["a.ts"], as("one"))
    where.advance(1_000)
    await agentOf(app, "GreenHill", "other")
    await reserve(where, ["b.ts"], { env: { SIGNALBOX_SESSION: "one", SIGNALBOX_AGENT: "GreenHill" } })
    await reserve(where, ["c.ts"])
    expect((await releasedBy(where, [], { all: true }, as("one"))).sort()).toEqual(["a.ts", "b.ts"])
    expect((await release(where, [], { all: true }, as("one"))).out).toBe(
      "Nothing to release: you hold no reservations.\n",
    )
  })

  test("releases what is held in the repository around with --all, and in any with --everywhere", async () => {
    const where = presentWorld()
    const folder = newRepository(where, "other", { "a.md": "# A\n" })
    await reserve(where, ["a.ts"])
    await reserve(where, ["b.ts"], { folder })
    const { out, error } = await release(where, [], { all: true })
    expect(error).toBeUndefined()
    expect(out).toMatch(
      /^✓ Released a\.ts .*\nYou hold 1 reservation in other repositories: \S+ release --everywhere\n$/,
    )
    expect((await release(where, [], { all: true })).out).toMatch(
      /^Nothing to release: you hold no reservations in this repository\.\nYou hold 1 /,
    )
    const outside = { folder: temporaryFolder() }
    const nowhere = await release(where, [], { all: true }, outside)
    expect(nowhere.error?.code).toBe("not_found")
    expect(nowhere.error?.text).toContain("release --everywhere")
    await reserve(where, ["a.ts"])
    const everything = { all: true, everywhere: true }
    expect((await releasedBy(where, [], everything, outside)).sort()).toEqual(["a.ts", "b.ts"])
    expect((await release(where, [], { everywhere: true })).out).toBe(
      "Nothing to release: you hold no reservations.\n",
    )
  })

  test("releases the named agent's alone", async () => {
    const where = presentWorld()
    const app = await server(where, "one")
    await agentOf(app, "BlueLake")
    await reserve(where, ["a.ts"], { env: { SIGNALBOX_SESSION: "one", SIGNALBOX_AGENT: "BlueLake" } })
    await agentOf(app, "GreenHill")
    await reserve(where, ["b.ts"], { env: { SIGNALBOX_SESSION: "one", SIGNALBOX_AGENT: "GreenHill" } })
    expect(await releasedBy(where, [], { all: true, agent: "BlueLake" }, as("one"))).toEqual(["a.ts"])
    expect((await release(where, ["b.ts"], { agent: "BlueLake" }, as("one"))).error?.code).toBe("conflict")
  })

  test("says whose it is when it is somebody else's, and releases the rest", async () => {
    const where = presentWorld()
    await agentOf(await server(where, "one"), "BlueLake")
    await reserve(where, ["src"], as("one"))
    await reserve(where, ["docs"])
    const { out, error } = await release(where, ["src", "docs"])
    expect(out).toContain("Released docs")
    expect(error?.code).toBe("conflict")
    expect(error?.text).toContain("src was not released, it is not yours: BlueLake holds src (exclusive")
    expect(await releasedBy(where, [], { all: true }, as("one"))).toEqual(["src"])
  })

  test("says when nobody has reserved a path, and which reservation covers it when one does", async () => {
    const where = presentWorld()
    mkdirSync(join(where.repositoryPath, "src"))
    const { error } = await release(where, ["src/a.ts"])
    expect(error?.code).toBe("not_found")
    expect(error?.text).toContain("nobody has reserved it")
    await reserve(where, ["src"])
    const folder = join(where.repositoryPath, "src")
    const covered = await release(where, ["a.ts"], {}, { folder })
    expect(covered.error?.text).toContain("you hold it as part of src. Release that: signalbox release .")
  })

  test.each([
    [[], {}],
    [["a.ts"], { all: true }],
    [["a.ts"], { everywhere: true }],
  ])("needs either paths, --all or --everywhere: %j %j", (paths, options) => {
    expect(() => releaseCommand(configIn(presentWorld()), paths, options)).toThrow(/either paths, --all or/)
  })

  test("leaves alone what the configured key does not reach", async () => {
    const where = presentWorld()
    const app = await server(where, "one")
    await agentOf(app, "BlueLake")
    await reserve(where, ["a.ts"], as("one"))
    const request = { name: "other", plan: "starter", expiresAtMs: null, environment: "live" } as const
    const { text } = await createKey(app, { ...request, scopes: ["project:other:coordination"] })
    const env = { SIGNALBOX_SESSION: "one", SIGNALBOX_API_KEY: text }
    expect((await release(where, [], { all: true }, { env })).error?.code).toBe("forbidden")
    expect((await release(where, ["a.ts"], {}, { env })).error?.code).toBe("forbidden")
    expect(await releasedBy(where, [], { all: true }, as("one"))).toEqual(["a.ts"])
  })
})

describe("cleanup", () => {
  test("closes what has expired, forgets the dead, and says how many of each", async () => {
    const where = presentWorld()
    const app = await server(where, "one")
    const agent = await agentOf(app, "BlueLake")
    await reserve(where, ["still-held.ts"], as("one"))
    const wanted = {
      projectId: agent.projectId,
      repositoryId: 1,
      agentId: agent.id,
      exclusive: true,
      reason: null,
    }
    for (const pathPattern of ["a.ts", "b.ts"]) {
      const times = { expiresAtMs: Date.now() - 1_000 }
      await insertReservation(app.db, { ...wanted, ...times, pathPattern, prefixKey: "" }, Date.now() - 5_000)
    }
    await insertProcess(app.db, { pid: 2 ** 22 + 1, identityMark: "gone", session: "process:x" }, Date.now())
    const clean = () => runJson(() => cleanupCommand(configIn(where), { json: true }))
    const ofDead = { released_of_dead_sessions: 0, held_by_dead_sessions: [] }
    expect(await clean()).toEqual({ expired_reservations: 2, dead_server_processes: 1, ...ofDead })
    expect(await clean()).toEqual({ expired_reservations: 0, dead_server_processes: 0, ...ofDead })
    expect(await listProcesses(app.db)).toHaveLength(1)
    expect(await releasedBy(where, [], { all: true }, as("one"))).toEqual(["still-held.ts"])
    const { out } = await run(() => cleanupCommand(configIn(where), {}))
    expect(out).toContain("Nothing to clean up")
  })

  test("offers what a dead session holds, and releases it when told to", async () => {
    const where = presentWorld()
    const app = await server(where, "one")
    await agentOf(app, "BlueLake")
    await reserve(where, ["src/a.ts"], as("one"))
    for (const { id } of await listProcesses(app.db)) await removeProcess(app.db, id)
    const gone = `process:${2 ** 22 + 1}:gone`
    await app.db.transaction("sessions", (tx) => putAnchors(tx, "client:one", [gone], Date.now()))
    const { out } = await run(() => cleanupCommand(configIn(where), {}))
    expect(out).toMatch(/src\/a\.ts: BlueLake \(its session has died; released at .*\)\n.* cleanup --dead/)
    const told = await run(() => cleanupCommand(configIn(where), { dead: true }))
    expect(told.out).toContain("released 1 reservation of dead sessions")
    expect(await listReservationsIn(app.db, 1, Date.now(), 10)).toEqual([])
  })
})
