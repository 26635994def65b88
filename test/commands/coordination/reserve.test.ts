import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { userInfo } from "node:os"
import { dirname, join } from "node:path"
import { describe, expect, test } from "vitest"
import { personName } from "../../../src/commands/coordination/identity.ts"
import {
  type ReserveOptions,
  releaseCommand,
  reserveCommand,
} from "../../../src/commands/coordination/reserve.ts"
import { connectFolder } from "../../../src/operations/connect.ts"
import { createKey } from "../../../src/operations/keys.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"
import type { World } from "../../support/world.ts"
import {
  agentOf,
  type CommandSurroundings,
  configIn,
  listenToStderr,
  presentWorld,
  run,
  runJson,
  type Shown,
  server,
} from "../command.ts"

interface Reserved {
  agent: { name: string; project_key: string }
  reservations: (Shown & { renewed: boolean; shared_with: string[] | null })[]
}

const EXCLUSIVE = { mode: "exclusive" } as const

/** Reserves exclusively unless the options say otherwise. */
function reserve(where: World, paths: string[], options: ReserveOptions = {}, at: CommandSurroundings = {}) {
  return runJson<Reserved>(() =>
    reserveCommand(configIn(where, at), paths, { ...EXCLUSIVE, ...options, json: true }),
  )
}

async function patterns(where: World, paths: string[], at: CommandSurroundings = {}): Promise<string[]> {
  return (await reserve(where, paths, {}, at)).reservations.map((one) => one.path_pattern)
}

function refused(where: World, paths: string[], options: ReserveOptions = {}, at: CommandSurroundings = {}) {
  return run(() => reserveCommand(configIn(where, at), paths, { ...EXCLUSIVE, ...options }))
}

const as = (session: string): CommandSurroundings => ({ env: { SIGNALBOX_SESSION: session } })

describe("reserve", () => {
  test("takes mode and duration from the hook's settings of the folder, path by path, unless they are given", async () => {
    const where = presentWorld()
    const plain = async (options: ReserveOptions = {}) => {
      const paths = ["src/a.ts", "db/schema.sql"]
      const { reservations } = await runJson<Reserved>(() =>
        reserveCommand(configIn(where), paths, { ...options, json: true }),
      )
      await run(() => releaseCommand(configIn(where), [], { all: true }))
      return reservations.map(({ mode, seconds_left }) => `${mode} ${Math.ceil(seconds_left / 60)}`)
    }
    const settings = (path: string, preEdit: object) => {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, JSON.stringify({ hooks: { preEdit } }))
    }
    expect(await plain()).toEqual(["shared 120", "exclusive 120"])
    expect(await plain({ mode: "exclusive", duration: "1h" })).toEqual(["exclusive 60", "exclusive 60"])
    settings(join(where.repositoryPath, ".signalbox.json"), { reservationDuration: 1_800 })
    expect(await plain()).toEqual(["shared 30", "exclusive 30"])
    settings(configIn(where).userConfigPath, { defaultMode: "exclusive", reservationDuration: 2_400 })
    expect(await plain()).toEqual(["exclusive 40", "exclusive 40"])
    expect(await plain({ mode: "shared" })).toEqual(["shared 40", "shared 40"])
    settings(join(where.repositoryPath, ".signalbox.json"), { defaultMode: "none" })
    const said = listenToStderr()
    const loud = configIn(where, { env: { SIGNALBOX_LOG: "warn" } })
    await run(() => reserveCommand(loud, ["a.ts", "b.ts"], {}))
    expect(said.text.split("hooks.preEdit.defaultMode must be"), "is told once").toHaveLength(2)
  })

  test("names the other shared holders beside whom it reserves, of which those of the own session are none", async () => {
    const where = presentWorld()
    await agentOf(await server(where, "one"), "BlueLake")
    const shared = { mode: "shared" } as const
    const sharers = async (path: string, at: CommandSurroundings) =>
      (await reserve(where, [path], shared, at)).reservations.map(({ shared_with }) => shared_with)
    expect(await sharers("src", as("one"))).toEqual([[]])
    expect(await sharers("src/a.ts", as("one"))).toEqual([[]])
    expect(await sharers("src/a.ts", {})).toEqual([["BlueLake"]])
    const { out } = await run(() => reserveCommand(configIn(where), ["src/b.ts", "docs"], shared))
    expect(out.match(/^ {2}Shared with .*$/gm)).toEqual(["  Shared with BlueLake"])
  })

  test("reserves a file exclusively for an hour and says how to release it", async () => {
    const where = presentWorld()
    const { out, error } = await refused(where, ["src/a.ts"], { duration: "1h", reason: "new login" })
    expect(error).toBeUndefined()
    expect(out).toMatch(
      /^✓ Reserved src\/a\.ts for 1 h \(exclusive, reservation 1\)\n.*signalbox release src\/a\.ts\n$/,
    )
    const again = await reserve(where, ["src/a.ts"], { duration: "1h" })
    expect(again.reservations).toMatchObject([
      { id: 1, path_pattern: "src/a.ts", mode: "exclusive", renewed: true, reason: "new login" },
    ])
    expect(again.reservations[0]?.seconds_left).toBeGreaterThan(3_500)
    expect(again.reservations[0]?.seconds_left).toBeLessThanOrEqual(3_600)
  })

  test("takes several paths, folders, globs and the whole repository, each pattern once", async () => {
    const where = presentWorld()
    mkdirSync(join(where.repositoryPath, "src"))
    expect(await patterns(where, ["a.ts", "src/", "./src", "lib/**/*.ts", "a.ts"])).toEqual([
      "a.ts",
      "src",
      "lib/**/*.ts",
    ])
    expect(await patterns(where, ["."])).toEqual(["**"])
    expect(await patterns(where, [where.repositoryPath])).toEqual(["**"])
    expect(await patterns(where, [join(where.repositoryPath, "b.ts")])).toEqual(["b.ts"])
  })

  test("reads paths from the current folder", async () => {
    const where = presentWorld()
    const folder = join(where.repositoryPath, "packages", "[web]")
    mkdirSync(folder, { recursive: true })
    expect(await patterns(where, ["a.ts", "../core/*.ts", "."], { folder })).toEqual([
      "packages/[web]/a.ts",
      "packages/core/*.ts",
      "packages/\\[web\\]",
    ])
  })

  test("takes what is there by that name for that file, as the hook does, and all else for a pattern", async () => {
    const where = presentWorld()
    mkdirSync(join(where.repositoryPath, "app/[id]"), { recursive: true })
    writeFileSync(join(where.repositoryPath, "app/[id]/page.tsx"), "")
    writeFileSync(join(where.repositoryPath, "a*b"), "")
    symlinkSync("app/[id]/page.tsx", join(where.repositoryPath, "link.tsx"))
    expect(await patterns(where, ["app/[id]/page.tsx", "a*b", "c*d"])).toEqual([
      "app/\\[id\\]/page.tsx",
      "a\\*b",
      "c*d",
    ])
    expect(await patterns(where, ["link.tsx"])).toEqual(["app/\\[id\\]/page.tsx"])
  })

  test("reserves all or nothing, and reports every conflict with who, what, how long and where", async () => {
    const where = presentWorld()
    await agentOf(await server(where, "one"), "BlueLake")
    await reserve(where, ["src/**"], { reason: "moving files", duration: "2h" }, as("one"))
    const { error } = await refused(where, ["docs/a.md", "src/*.ts"])
    expect(error?.code).toBe("conflict")
    expect(error?.text).toContain("nothing was reserved: 1 conflict")
    expect(error?.text).toMatch(
      /src\/\*\.ts: BlueLake holds src\/\*\* \(exclusive, [^,]+ left, reservation 1\)/,
    )
    expect(error?.text).toMatch(/matched by both: src\/[^/]+\.ts\n/)
    expect(error?.text).toContain("reason: moving files")
    expect(error?.text).toMatch(/signalbox override src\/[^/]+\.ts --reason/)
    const free = await reserve(where, ["docs/a.md"])
    expect(free.reservations).toMatchObject([{ renewed: false }])
  })

  test("says as JSON what stands in the way", async () => {
    const where = presentWorld()
    await agentOf(await server(where, "one"), "BlueLake")
    await reserve(where, ["src"], {}, as("one"))
    const { out, error } = await refused(where, ["src/a.ts"], { json: true })
    expect(error?.code).toBe("conflict")
    expect(JSON.parse(out)).toMatchObject({
      status: "conflict",
      conflicts: [
        { wanted: "src/a.ts", matched_by_both: "src/a.ts", path_pattern: "src", agent_name: "BlueLake" },
      ],
    })
  })

  test("suggests an override by the path as it is typed here, and none where they are off", async () => {
    const where = presentWorld()
    const folder = join(where.repositoryPath, "src")
    mkdirSync(folder)
    await agentOf(await server(where, "one"), "BlueLake")
    await reserve(where, ["src"], {}, as("one"))
    expect((await refused(where, ["a.ts"], {}, { folder })).error?.text).toContain(
      "signalbox override a.ts --reason",
    )
    const off = JSON.stringify({ hooks: { preEdit: { allowOverrides: false } } })
    writeFileSync(join(where.repositoryPath, ".signalbox.json"), off)
    expect((await refused(where, ["a.ts"], {}, { folder })).error?.text).not.toContain("override")
  })

  test("shares with those that share, and says so to whoever would not", async () => {
    const where = presentWorld()
    await agentOf(await server(where, "one"), "BlueLake")
    await reserve(where, ["src"], { mode: "shared" }, as("one"))
    expect((await refused(where, ["src/a.ts"])).error?.text).toContain("`--mode shared` lets you in")
    const shared = await reserve(where, ["src/a.ts"], { mode: "shared" })
    expect(shared.reservations).toMatchObject([{ mode: "shared" }])
  })

  test("refuses paths outside of connected repositories, naming repos add", async () => {
    const where = presentWorld()
    const outside = temporaryFolder()
    for (const at of [{ folder: outside }, {}]) {
      const { error } = await refused(where, [join(outside, "a.ts")], {}, at)
      expect(error?.code).toBe("not_found")
      expect(error?.text).toContain("signalbox repos add")
    }
    const app = await server(where, "one")
    await connectFolder(app.db, outside, Date.now())
    expect(await patterns(where, ["a.ts"], { folder: outside })).toEqual(["a.ts"])
  })

  test.each([[""], ["  "]])("refuses an empty path: %j", async (path) => {
    expect((await refused(presentWorld(), [path])).error?.code).toBe("invalid")
  })

  test("takes 100 paths at a time and no more", async () => {
    const where = presentWorld()
    const many = Array.from({ length: 101 }, (_, index) => `file-${index}.ts`)
    const { error } = await refused(where, many)
    expect(error?.text).toContain("at most 100")
    expect(await patterns(where, many.slice(1))).toHaveLength(100)
  })

  test("takes a reason of 1,000 characters and no more", async () => {
    const where = presentWorld()
    expect(() => reserveCommand(configIn(where), ["a"], { reason: "x".repeat(1_001) })).toThrow(
      /at most 1000/,
    )
    expect((await reserve(where, ["a"], { reason: "x".repeat(1_000) })).reservations).toHaveLength(1)
  })
})

describe("reserve acts", () => {
  test("for the person at the terminal under the system's name, the same one every time", async () => {
    const where = presentWorld()
    const first = await reserve(where, ["a.ts"])
    expect(first.agent).toMatchObject({
      name: personName(userInfo().username),
      project_key: where.repositoryPath,
    })
    expect((await reserve(where, ["b.ts"])).agent).toEqual(first.agent)
  })

  test("for the person in the project of those that work there", async () => {
    const where = presentWorld()
    await agentOf(await server(where, "one"), "BlueLake")
    expect((await reserve(where, ["a.ts"])).agent.project_key).toBe("demo")
    const env = { SIGNALBOX_PROJECT: "other" }
    expect((await reserve(where, ["a.ts"], {}, { env })).agent.project_key).toBe("other")
  })

  test("for the agent of the session, which its own agents' reservations do not stop", async () => {
    const where = presentWorld()
    const app = await server(where, "one")
    await agentOf(app, "BlueLake")
    expect((await reserve(where, ["src"], {}, as("one"))).agent.name).toBe("BlueLake")
    where.advance(1_000)
    await agentOf(app, "GreenHill")
    expect((await reserve(where, ["src/a.ts"], {}, as("one"))).agent.name).toBe("GreenHill")
  })

  test("for a session without an agent by making one, which registers as itself later", async () => {
    const where = presentWorld()
    const made = await reserve(where, ["src"], {}, as("one"))
    const agent = await agentOf(await server(where, "one"), "BlueLake", where.repositoryPath)
    expect(agent.name).toBe("BlueLake")
    const renewed = await reserve(where, ["src"], {}, as("one"))
    expect(renewed.agent.name).toBe("BlueLake")
    expect(renewed.reservations).toMatchObject([{ id: made.reservations[0]?.id, renewed: true }])
  })

  test("for the agent that is named, by the option before the environment", async () => {
    const where = presentWorld()
    const app = await server(where, "one")
    await agentOf(app, "BlueLake")
    await agentOf(app, "GreenHill")
    const env = { SIGNALBOX_AGENT: "bluelake", SIGNALBOX_SESSION: "one" }
    expect((await reserve(where, ["a.ts"], {}, { env })).agent.name).toBe("BlueLake")
    expect((await reserve(where, ["b.ts"], { agent: "GreenHill" }, { env })).agent.name).toBe("GreenHill")
  })

  test("for nobody whom it does not know, naming the likely one", async () => {
    const where = presentWorld()
    await agentOf(await server(where, "one"), "BlueLake")
    const { error } = await refused(where, ["a.ts"], { agent: "BlueLak" })
    expect(error?.code).toBe("not_found")
    expect(error?.text).toContain("Did you mean BlueLake?")
    expect((await refused(where, ["a.ts"], { agent: "Signalbox" })).error?.code).toBe("invalid")
    const env = { SIGNALBOX_PROJECT: "nowhere" }
    const elsewhere = await refused(where, ["a.ts"], { agent: "BlueLake" }, { env })
    expect(elsewhere.error?.text).toContain('project "nowhere" was not found')
  })

  test("only where the configured key reaches", async () => {
    const where = presentWorld()
    const app = await server(where, "one")
    await agentOf(app, "BlueLake")
    const keyFor = async (scope: string) => {
      const request = { name: scope, scopes: [scope], plan: "starter", expiresAtMs: null } as const
      const { text } = await createKey(app, { ...request, scopes: [scope], environment: "live" })
      return { env: { SIGNALBOX_API_KEY: text, SIGNALBOX_SESSION: "one" } }
    }
    for (const scope of ["project:other:coordination", "repo:7:coordination", "repo:1:memory"]) {
      const { error } = await refused(where, ["a.ts"], {}, await keyFor(scope))
      expect(error?.code, scope).toBe("forbidden")
    }
    for (const scope of ["project:demo:coordination", "repo:1:coordination"])
      expect((await reserve(where, ["a.ts"], {}, await keyFor(scope))).agent.name).toBe("BlueLake")
    const unknown = { env: { SIGNALBOX_API_KEY: "", SIGNALBOX_SESSION: "one" } }
    expect((await refused(where, ["a.ts"], {}, unknown)).error?.code).toBe("unauthenticated")
  })
})
