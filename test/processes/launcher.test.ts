/**
 * Owns that a project cannot lend its own programs to the start of the server or to a command that a text names: every
 * client's start is run from a clone that ships programs of the names that are needed, with PATH led by them.
 */

import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { parse as parseJsonc } from "jsonc-parser"
import { parse as parseToml } from "smol-toml"
import { describe, expect, test, vi } from "vitest"
import { remove } from "../../scripts/removal.ts"
import { hookFolder, placeHookFiles } from "../../src/hook/files.ts"
import { CLIENTS } from "../../src/install/catalogue.ts"
import { partOf } from "../../src/install/client.ts"
import type { Place, Scope } from "../../src/install/place.ts"
import { type LauncherParts, launcherPath, posixLauncher } from "../../src/runtime/launcher.ts"
import { findOwnCommand } from "../../src/runtime/own-command.ts"
import { placeFile } from "../../src/runtime/own-file.ts"
import { createMachine, type TestMachine } from "../install/support.ts"
import { editOf, holderAt, runHook } from "../support/hook-process.ts"
import { BINARY, environment, place } from "../support/server-process.ts"

/** Everything that a start could look up by its name. */
const NAMES = ["signalbox", "npx", "node", "sh", "bash", "env", "npm", "cat", "git"]

/** A machine with a launcher of programs that write down how they were called, and a clone of hostile ones. */
class Scene {
  readonly machine: TestMachine = createMachine()
  readonly programs = join(this.machine.home, `it's "the" $HOME`, "bin")
  readonly node = join(this.programs, "node")
  readonly packageFolder = join(this.machine.home, "a package's place")
  readonly clone = this.machine.project
  readonly binaries = join(this.clone, "node_modules", ".bin")
  readonly #calls = join(this.machine.home, "data", "calls")

  constructor() {
    for (const folder of [this.binaries, join(this.clone, "tools"), this.clone])
      for (const name of NAMES) this.writeProgram(join(folder, name), "theirs")
    this.writeProgram(this.node, "ours")
    this.writeProgram(join(this.programs, "npx"), "npx")
    this.machine.write(join(this.packageFolder, "bin", "signalbox.js"), "")
    this.writeLauncher({})
  }

  /** Writes a program that notes who it is, its folder, the one it is told of, its PATH and its arguments. */
  writeProgram(path: string, who: string): void {
    const note = `printf '%s\\n' ${who} "$PWD" "$SIGNALBOX_STARTED_IN" "$PATH" "$*" >> '${this.#calls}'`
    this.machine.write(path, `#!/bin/sh\n${note}\n`, 0o755)
  }

  writeLauncher(parts: Partial<LauncherParts>): void {
    const { node, packageFolder } = this
    const { dataFolder, machine } = this.machine
    const whole = { node, found: node, packageFolder, dataFolder, version: "1.2.3", ...parts }
    placeFile(machine.launcher, posixLauncher(whole), 0o700)
  }

  /** Runs words in the clone as a client does that was started there by one of the clone's own scripts. */
  run(words: readonly string[], { folder = this.clone, path = "", isLed = true } = {}) {
    const [program = "", ...args] = words
    const { home } = this.machine
    const led = `${this.binaries}:./node_modules/.bin::tools:${this.clone}/tools`
    const ran = spawnSync(program, args, {
      cwd: folder,
      env: {
        HOME: home,
        XDG_DATA_HOME: join(home, "data"),
        PATH: isLed ? `${led}:${path}` : path,
      },
      encoding: "utf8",
    })
    return { status: ran.status, stderr: ran.stderr, error: ran.error, call: this.#lastCall() }
  }

  #lastCall() {
    if (!existsSync(this.#calls)) return undefined
    const [who, folder, startedIn, path, args, ...more] = this.machine.read(this.#calls).split("\n")
    remove(this.#calls)
    return { who, folder, startedIn, path, args, isAlone: more.join("") === "" }
  }

  /** What the package's own program is called with in the clone. */
  get ours() {
    const args = join(this.packageFolder, "bin", "signalbox.js")
    return expect.objectContaining({ who: "ours", folder: this.clone, args, isAlone: true })
  }
}

/** Returns the words by which installed settings start the server; undefined when a client has no servers there. */
function installedStart(machine: TestMachine, client: string, scope: Scope): string[] | undefined {
  for (const { path } of machine.install(client, scope, { roles: ["mcp"] })) {
    const text = machine.read(path)
    const settings = path.endsWith(".toml") ? parseToml(text) : parseJsonc(text)
    const servers = settings.mcpServers ?? settings.servers ?? settings.mcp ?? settings.mcp_servers
    const { command, args = [] } = servers.signalbox
    return [command, args].flat()
  }
  return undefined
}

const NOWHERE = { home: "/nowhere", platform: "linux", env: {}, launcher: "/nowhere/signalbox" } as const
const SCOPES = ["user", "project"] as const
const STARTS = CLIENTS.flatMap((client) => {
  const places = SCOPES.map((scope): Place => ({ machine: NOWHERE, scope, root: NOWHERE.home }))
  return places
    .filter((place) => client.files(place).some((file) => partOf(file, ["mcp"]) !== undefined))
    .map(({ scope }) => [client.name, scope] as const)
})

test("all clients start a server for the user, and most for a project", () => {
  expect(STARTS.filter(([, scope]) => scope === "user")).toHaveLength(CLIENTS.length - 1)
  expect(STARTS.filter(([, scope]) => scope === "project").length).toBeGreaterThanOrEqual(8)
})

describe("in a clone with programs of its own", () => {
  test.each(STARTS)("%s in %s scope starts ours", (client, scope) => {
    const scene = new Scene()
    const start = installedStart(scene.machine, client, scope) ?? []
    expect(scene.run(start)).toMatchObject({ status: 0, call: scene.ours })
  })

  test("the command that texts name starts ours, with its arguments", () => {
    const scene = new Scene()
    vi.stubEnv("HOME", scene.machine.home)
    const command = findOwnCommand(scene.machine.dataFolder, "")
    vi.unstubAllEnvs()
    expect(command).toBe("~/data/signalbox/bin/signalbox")
    const { call } = scene.run(["/bin/sh", "-c", `${command} release --all 'a b'`])
    expect(call).toMatchObject({
      who: "ours",
      args: expect.stringMatching(/signalbox\.js release --all a b$/),
    })
  })

  test("a command on PATH is named only where it is ours whoever stands before it", () => {
    const scene = new Scene()
    const folder = join(scene.machine.home, "global")
    mkdirSync(folder)
    symlinkSync(BINARY, join(folder, "signalbox"))
    const nameWith = (path: string) => findOwnCommand(join(scene.machine.home, "nowhere"), path)
    expect(nameWith(`/usr/bin:${folder}`)).toBe("signalbox")
    expect(nameWith(`${scene.binaries}:${folder}`)).toBe(`${process.execPath} ${BINARY}`)
    expect(nameWith(`/usr/bin:${scene.binaries}`)).toBe(`${process.execPath} ${BINARY}`)
  })
})

test("the program itself runs none of the clone's, not even where PATH holds nothing else", () => {
  const scene = new Scene()
  scene.writeLauncher({ node: process.execPath, packageFolder: dirname(dirname(BINARY)) })
  const { launcher } = scene.machine.machine
  for (const path of ["/usr/bin:/bin", ""])
    expect(scene.run([launcher, "status"], { path })).toMatchObject({ status: 0, call: undefined })
  expect(scene.run([launcher, "repos", "list"])).toMatchObject({ status: 0, call: undefined })
})

describe("a launcher whose package is gone", () => {
  test("has the npx beside its Node bring the same version, in the data folder and without the project's programs", () => {
    const scene = new Scene()
    const { dataFolder, home } = scene.machine
    remove(scene.packageFolder)
    const { call } = scene.run([launcherPath(dataFolder), "status"], { path: `${home}/empty:/usr/bin` })
    expect(call).toEqual({
      who: "npx",
      folder: dataFolder,
      startedIn: scene.clone,
      path: `${scene.programs}:/usr/bin`,
      args: "-y signalbox@1.2.3 status",
      isAlone: true,
    })
  })

  test("says what is missing when there is no npx, and starts nothing", () => {
    const scene = new Scene()
    remove(scene.packageFolder)
    remove(join(scene.programs, "npx"))
    const { status, stderr, call } = scene.run([scene.machine.machine.launcher])
    expect({ status, call }).toEqual({ status: 1, call: undefined })
    expect(stderr).toBe(
      `signalbox: there is no package in ${scene.packageFolder} any more, and no npx beside ${scene.node} to bring it back: install it anew\n`,
    )
  })
})

describe("a launcher whose Node is gone", () => {
  const GONE = "/nowhere/bin/node"

  test("takes the name that it was found under", () => {
    const scene = new Scene()
    scene.writeLauncher({ node: GONE })
    expect(scene.run([scene.machine.machine.launcher]).call).toEqual(scene.ours)
  })

  test("takes the first on PATH that is outside of the project and of every node_modules", () => {
    const scene = new Scene()
    const { home } = scene.machine
    scene.writeLauncher({ node: GONE, found: GONE })
    const foreign = join(home, "other", "node_modules", ".bin")
    scene.writeProgram(join(foreign, "node"), "theirs")
    const linked = join(home, "linked")
    symlinkSync(scene.binaries, linked)
    const path = `${foreign}:${linked}:${scene.programs}:/usr/bin`
    const run = { path, folder: join(scene.clone, "src", "deep") }
    mkdirSync(run.folder, { recursive: true })
    const { call } = scene.run([scene.machine.machine.launcher], run)
    expect(call).toMatchObject({ who: "ours", folder: run.folder, isAlone: true })
  })

  test("takes no program of a folder that is no repository either, but those of the home folder", () => {
    const scene = new Scene()
    const { home } = scene.machine
    scene.writeLauncher({ node: GONE, found: GONE })
    const folder = join(home, "plain")
    scene.writeProgram(join(folder, "tools", "node"), "theirs")
    const run = { path: `${folder}/tools:${scene.programs}`, isLed: false }
    const { launcher } = scene.machine.machine
    expect(scene.run([launcher], { ...run, folder }).call?.who).toBe("ours")
    expect(scene.run([launcher], { ...run, folder: home }).call?.who).toBe("theirs")
  })

  test("says so when there is no other, and starts nothing", () => {
    const scene = new Scene()
    scene.writeLauncher({ node: GONE, found: GONE })
    const { status, stderr, call } = scene.run([scene.machine.machine.launcher])
    expect({ status, call }).toEqual({ status: 1, call: undefined })
    expect(stderr).toBe(
      `signalbox: there is no Node at ${GONE} any more, and none on PATH outside of projects: install it\n`,
    )
  })
})

describe("settings of a project", () => {
  test("say what is missing on a machine without signalbox", () => {
    const scene = new Scene()
    const start = installedStart(scene.machine, "claude-code", "project") ?? []
    remove(dirname(scene.machine.machine.launcher))
    const { status, stderr, call } = scene.run(start)
    expect({ status, call }).toEqual({ status: 1, call: undefined })
    expect(stderr).toMatch(/^signalbox is not installed on this machine/)
  })

  test.each([".local/share", "Library/Application Support"])("start what lies in ~/%s", (folder) => {
    const scene = new Scene()
    const { home, machine } = scene.machine
    const start = installedStart(scene.machine, "claude-code", "project") ?? []
    const text = scene.machine.read(machine.launcher)
    remove(dirname(machine.launcher))
    scene.machine.write(join(home, folder, "signalbox", "bin", "signalbox"), text, 0o700)
    expect(scene.run(start).call).toEqual(scene.ours)
  })

  test("hold nothing in which a client sees a variable of its own", () => {
    for (const [client, scope] of STARTS)
      expect(installedStart(createMachine(), client, scope)?.join(" ")).not.toContain("${")
  })
})

describe("the server itself", () => {
  const INITIALIZE = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
  })

  test.each(["the package", "npx"])("works in the folder that it was started in by %s", (by) => {
    const where = place()
    const launcher = launcherPath(where.dataFolder)
    const programs = join(where.home, "programs")
    mkdirSync(programs)
    symlinkSync(process.execPath, join(programs, "node"))
    const npx = `#!/bin/sh\nshift 2\nexec '${process.execPath}' '${BINARY}' "$@"\n`
    placeFile(join(programs, "npx"), npx, 0o755)
    const node = join(programs, "node")
    const packageFolder = by === "npx" ? "/nowhere" : dirname(dirname(BINARY))
    const { dataFolder } = where
    const parts = { node, found: node, packageFolder, dataFolder, version: "1.2.3" }
    placeFile(launcher, posixLauncher(parts), 0o700)
    const { stdout, status } = spawnSync(launcher, {
      cwd: where.repository,
      env: environment(where),
      input: `${INITIALIZE}\n`,
      encoding: "utf8",
    })
    expect(status).toBe(0)
    expect(JSON.parse(stdout).result.instructions).toContain(`project_key: "${where.repository}"`)
  })

  test("is brought back by the launcher that a hook names when its package is gone", async () => {
    const where = place()
    placeHookFiles(where.dataFolder)
    writeFileSync(join(hookFolder(where.dataFolder), "package"), "/nowhere\n")
    const { exitCode, stderr } = await runHook(where, { form: "node", payload: editOf(where, "src/a.ts") })
    expect(exitCode).toBe(0)
    expect(stderr).toContain(`\`"${launcherPath(where.dataFolder)}" install\` mends it`)
  })

  test("keeps an installed launcher at its version, and a block names it", async () => {
    const where = place()
    placeHookFiles(where.dataFolder)
    await holderAt(where)
    await vi.waitFor(() => expect(existsSync(launcherPath(where.dataFolder))).toBe(true))
    const run = {
      client: "claude-code",
      event: "pre-edit",
      payload: editOf(where, "src/auth/login.ts"),
    } as const
    const { exitCode, stderr } = await runHook(where, run)
    expect(exitCode).toBe(2)
    expect(stderr).toContain("request an override: ~/share/signalbox/bin/signalbox override ")
  })
})
