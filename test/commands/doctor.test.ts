/** `signalbox doctor`: what it finds on a machine that works, and on machines where one thing does not. */

import { chmodSync, copyFileSync, existsSync, mkdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, describe, expect, test, vi } from "vitest"
import { openAppAlone } from "../../src/app.ts"
import { doctorCommand, examine } from "../../src/commands/doctor.ts"
import type { Finding } from "../../src/commands/doctor-database.ts"
import { type Config, readConfig } from "../../src/config/config.ts"
import { backupsFolder, dailyBackupPath, makeDailyBackup } from "../../src/db/daily-backups.ts"
import { listenerPaths } from "../../src/http/listener-files.ts"
import { CLIENTS, clientNamed } from "../../src/install/catalogue.ts"
import { findForeignEntries } from "../../src/install/check.ts"
import { openDatabase } from "../../src/operations/database.ts"
import { placeLauncher } from "../../src/runtime/launcher.ts"
import { createLog } from "../../src/runtime/log.ts"
import { ownCommand } from "../../src/runtime/own-command.ts"
import { packageFile } from "../../src/runtime/package-root.ts"
import { createMachine, type TestMachine } from "../install/support.ts"
import { greeterAt } from "../support/greeter.ts"

afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

const DANGER = "can start one that a project ships in its node_modules/.bin"

/** A machine with the hook, one client and a database, where nothing is wrong. */
async function createSoundMachine(): Promise<{ machine: TestMachine; config: Config }> {
  const machine = createMachine()
  const env = { XDG_DATA_HOME: join(machine.home, "data"), XDG_CONFIG_HOME: join(machine.home, ".config") }
  vi.stubEnv("XDG_DATA_HOME", env.XDG_DATA_HOME)
  const config = readConfig({ env, home: machine.home, platform: "linux", workingFolder: machine.project })
  await (await openDatabase(config.databasePath)).close()
  chmodSync(config.dataFolder, 0o700)
  machine.install("cursor", "user")
  mkdirSync(join(machine.dataFolder, "hook"))
  placeLauncher(machine.dataFolder)
  for (const name of ["hook.sh", "hook.cjs"]) {
    const own = packageFile(`dist/${name}`)
    const place = join(machine.dataFolder, "hook", name)
    if (existsSync(own)) copyFileSync(own, place)
    else writeFileSync(place, "exit 0\n")
  }
  return { machine, config }
}

function findingAbout(findings: readonly Finding[], about: string): Finding | undefined {
  return findings.find((finding) => finding.about === about)
}

async function examineSound(
  spoil: (world: { machine: TestMachine; config: Config }) => void | Promise<void>,
) {
  const world = await createSoundMachine()
  await spoil(world)
  return examine(world.config, world.machine.machine)
}

test("a database that is not there yet and cannot be made is a problem; one that can be is none", async () => {
  const { machine, config } = await createSoundMachine()
  const file = join(machine.home, "file")
  writeFileSync(file, "")
  const at = async (databasePath: string) =>
    findingAbout(await examine({ ...config, databasePath }, machine.machine), "database")
  expect(await at(join(file, "below", "signalbox.db"))).toMatchObject({
    state: "problem",
    text: expect.stringContaining(`cannot be made: ${file} is no folder`),
    advice: "Move that file aside, or name another place.",
  })
  expect(await at(join(machine.home, "new", "below", "signalbox.db"))).toMatchObject({ state: "ok" })
})

/** Says beside the database that a listener is at work, which answers with one status. */
async function listen(config: Config, status: number, mode = 0o600): Promise<void> {
  writeRecord(config, { url: await greeterAt(config.databasePath, status), pid: process.pid }, mode)
}

function writeRecord(config: Config, record: object, mode = 0o600): void {
  const path = listenerPaths(config.databasePath).record
  writeFileSync(path, JSON.stringify(record))
  chmodSync(path, mode)
}

describe("permissions", () => {
  test("that are too wide are a problem each, with the command that mends it", async () => {
    let config: Config | undefined
    const findings = await examineSound((sound) => {
      config = sound.config
      chmodSync(config.databasePath, 0o644)
      chmodSync(sound.machine.dataFolder, 0o755)
      sound.machine.write(config.userConfigPath, "{}")
      chmodSync(config.userConfigPath, 0o666)
      makeDailyBackup(config.databasePath, { nowMs: 0, hint: "" })
      chmodSync(backupsFolder(config.databasePath), 0o755)
      chmodSync(dailyBackupPath(config.databasePath, 0), 0o640)
      sound.machine.write(`${config.databasePath}.v1.backup`, "")
      chmodSync(`${config.databasePath}.v1.backup`, 0o604)
    })
    const about = findings.filter((finding) => finding.about === "permissions")
    const path = config?.databasePath ?? ""
    const paths = [path, backupsFolder(path), dailyBackupPath(path, 0), `${path}.v1.backup`]
    expect(about.map(({ state, advice }) => [state, advice])).toEqual([
      ["problem", `Run: chmod go= ${config?.dataFolder}`],
      ...paths.map((path) => ["problem", `Run: chmod go= ${path}`]),
      ["problem", `Run: chmod go-w ${config?.userConfigPath}`],
    ])
  })

  test("with which others can read where the listener is, and its token, are a problem", async () => {
    const findings = await examineSound(({ config }) => listen(config, 200, 0o644))
    expect(findingAbout(findings, "permissions")).toMatchObject({
      state: "problem",
      advice: expect.stringMatching(/^Run: chmod go= \S+listener\.json$/),
    })
  })

  test("of the user's own files are tightened by whoever opens the database, and the rest is told", async () => {
    const { machine, config } = await createSoundMachine()
    machine.write(config.userConfigPath, "{}")
    chmodSync(config.userConfigPath, 0o666)
    chmodSync(config.databasePath, 0o644)
    chmodSync(machine.dataFolder, 0o777)
    const logged: string[] = []
    const log = createLog("warn", (line) => logged.push(line))
    await (await openAppAlone(config, { log })).close()
    expect([config.databasePath, machine.dataFolder].map((path) => statSync(path).mode & 0o777)).toEqual([
      0o600, 0o700,
    ])
    expect(logged).toEqual([expect.stringContaining(`may write to ${config.userConfigPath}`)])
  })
})

describe("on a sound machine", () => {
  test("nothing is a problem, and the files that matter are named", async () => {
    const { machine, config } = await createSoundMachine()
    await listen(config, 200)
    const before = machine.tree()
    const findings = await examine(config, machine.machine)
    expect(findings.filter(({ state }) => state === "problem")).toEqual([])
    expect(findingAbout(findings, "runtime")?.text).toBe(`Node ${process.versions.node}`)
    expect(findingAbout(findings, "database")?.text).toMatch(/signalbox\.db, [\d.]+ MB, schema \d+$/)
    expect(findingAbout(findings, "listener")?.text).toMatch(/^http:\S+ answers/)
    expect(findingAbout(findings, "hook run")?.state).toBe("ok")
    expect(findingAbout(findings, "Cursor")?.state).toBe("ok")
    expect(machine.tree()).toEqual(before)
  })

  test("the command prints JSON and returns", async () => {
    const { machine, config } = await createSoundMachine()
    const written = vi.spyOn(process.stdout, "write").mockReturnValue(true)
    await doctorCommand(config, { json: true }, machine.machine)
    const [text] = written.mock.calls[0] ?? []
    expect(JSON.parse(String(text)).findings).toContainEqual(expect.objectContaining({ about: "runtime" }))
  })
})

describe("the database", () => {
  test("may be missing before the first call", async () => {
    const machine = createMachine()
    const config = readConfig({
      env: {},
      home: machine.home,
      platform: "linux",
      workingFolder: machine.project,
    })
    const finding = findingAbout(await examine(config, machine.machine), "database")
    expect(finding).toMatchObject({ state: "ok", text: expect.stringContaining("not there yet") })
    expect(existsSync(config.databasePath)).toBe(false)
  })

  test("that is none is a problem", async () => {
    const findings = await examineSound(({ config }) =>
      writeFileSync(config.databasePath, "no database".repeat(99)),
    )
    expect(findingAbout(findings, "database")).toMatchObject({ state: "problem", advice: expect.any(String) })
  })
})

describe("the listener", () => {
  test.each<[string, (config: Config) => void | Promise<void>, Partial<Finding>]>([
    ["that never started is none", () => {}, { state: "ok" }],
    [
      "of a dead process is none",
      (config) => writeRecord(config, { url: "http://127.0.0.1:1", pid: 2 ** 22 + 1 }),
      { state: "ok" },
    ],
    [
      "that refuses is a problem",
      (config) => writeRecord(config, { url: "http://127.0.0.1:1", pid: process.pid }),
      { state: "problem" },
    ],
    [
      "that answers an error is a problem",
      (config) => listen(config, 500),
      { state: "problem", text: expect.stringContaining("does not answer with the proof") },
    ],
    ["whose record says nothing is a problem", (config) => writeRecord(config, {}), { state: "problem" }],
  ])("%s", async (_, prepare, expected) => {
    const findings = await examineSound(({ config }) => prepare(config))
    expect(findingAbout(findings, "listener")).toMatchObject(expected)
  })
})

describe("the hook", () => {
  test("is a warning when nothing was ever installed", async () => {
    const machine = createMachine()
    const config = readConfig({
      env: {},
      home: machine.home,
      platform: "linux",
      workingFolder: machine.project,
    })
    const findings = await examine(config, machine.machine)
    expect(findingAbout(findings, "hook")?.state).toBe("warning")
    expect(findingAbout(findings, "clients")).toMatchObject({
      state: "warning",
      advice: "Run: signalbox install",
    })
  })

  test("that blocks a harmless call, and differs from ours, is found out", async () => {
    const findings = await examineSound(({ machine }) =>
      machine.write(
        join(machine.dataFolder, "hook", "hook.sh"),
        "echo broken >&2\nexit $SIGNALBOX_HOOK_BLOCK\n",
      ),
    )
    expect(findingAbout(findings, "hook")).toMatchObject({
      state: "warning",
      text: expect.stringContaining("hook.sh"),
    })
    expect(findingAbout(findings, "hook run")).toMatchObject({
      state: "problem",
      text: "it does not let a harmless call pass: broken",
    })
  })
})

describe("settings", () => {
  test("that lost our part are a problem, and the command fails after its output", async () => {
    const { machine, config } = await createSoundMachine()
    machine.write(join(machine.home, ".cursor", "hooks.json"), `{"version":1,"hooks":{}}`)
    const findings = await examine(config, machine.machine)
    expect(findingAbout(findings, "Cursor")).toMatchObject({
      state: "problem",
      text: expect.stringContaining("hooks.json does not hold all of signalbox"),
      advice: "Run: signalbox install cursor",
    })
    vi.spyOn(process.stdout, "write").mockReturnValue(true)
    await expect(doctorCommand(config, {}, machine.machine)).rejects.toThrow("1 problem was found")
  })

  test.each([
    ["cursor", ".cursor/mcp.json", "before", { command: "npx", args: ["-y", "signalbox@latest"] }],
    ["claude-code", ".claude.json", "before", { command: "signalbox" }],
    ["claude-code", ".claude.json", "after", { command: "npx", args: ["-y", "signalbox@latest"] }],
  ])(
    "with a server of our name in %s, %s, that was put there %s we were: %j",
    async (client, file, when, start) => {
      let path = ""
      const findings = await examineSound(({ machine }) => {
        path = join(machine.home, file)
        const text = JSON.stringify({ mcpServers: { signalbox: start } })
        // The sound machine has it installed already.
        if (client === "cursor") machine.uninstall(client, "user")
        if (when === "after") machine.install(client, "user")
        machine.write(path, text)
        const outcome = machine.install(client, "user").find((one) => one.path === path)
        expect(outcome?.reasons).toEqual([expect.stringContaining(DANGER)])
        expect(machine.read(path)).toBe(text)
      })
      const { title } = clientNamed(client)
      expect(findings.filter(({ about }) => about === title)).toEqual([
        {
          about: title,
          state: "warning",
          text: expect.stringMatching(/^(\S+): "signalbox" on line 1 .*can start one that a project ships/),
          advice: `Take the entry out of ${path}, then run: ${ownCommand()} install ${client}`,
        },
      ])
      expect(findingAbout(findings, title)?.text).toContain(`${path}: `)
    },
  )

  test.each(CLIENTS.map(({ name }) => name).filter((name) => name !== "git"))(
    "of %s that start signalbox by its name are found",
    (client) => {
      const machine = createMachine()
      const launcher = JSON.stringify(machine.machine.launcher)
      const [outcome] = machine.install(client, "user", { roles: ["mcp"] })
      const path = outcome?.path ?? ""
      machine.write(path, machine.read(path).replaceAll(launcher, `"signalbox"`))
      expect(findForeignEntries(machine.dataFolder, machine.machine)).toEqual([
        expect.objectContaining({ client, scope: "user", path, reason: expect.stringContaining(DANGER) }),
      ])
    },
  )

  test("that a client does not trust are a warning with what to do, and no problem", async () => {
    const trust = async (hash: string | undefined) => {
      const findings = await examineSound(({ machine }) => {
        machine.install("codex", "user")
        const folder = join(machine.home, ".codex")
        const before = ["pre_tool_use", "post_tool_use", "session_start"]
        const events = [...before, "session_end", "user_prompt_submit", "stop"]
        const state = events.map(
          (event) => `[hooks.state."${folder}/hooks.json:${event}:0:0"]\ntrusted_hash = "${hash}"\n`,
        )
        const path = join(folder, "config.toml")
        if (hash !== undefined) machine.write(path, `${machine.read(path)}\n${state.join("\n")}`)
      })
      return findings.filter((finding) => finding.about === "Codex CLI")
    }
    const warned = (text: string) => [
      { about: "Codex CLI", state: "ok", text: "its settings hold signalbox" },
      {
        about: "Codex CLI",
        state: "warning",
        text: expect.stringContaining(text),
        advice: expect.stringContaining("/hooks"),
      },
    ]
    expect(await trust(undefined)).toEqual(warned("6 not trusted yet"))
    expect(await trust("sha256:0")).toEqual(warned("6 trusted as they were before"))
  })

  test("that are broken are a problem", async () => {
    const findings = await examineSound(({ machine }) =>
      machine.write(join(machine.home, ".cursor", "mcp.json"), "{"),
    )
    expect(findingAbout(findings, "Cursor")?.text).toContain("mcp.json:1 is no valid JSON")
  })

  test("of our own that are broken are a problem", async () => {
    const findings = await examineSound(({ machine, config }) => {
      machine.write(join(machine.project, ".signalbox.json"), "[]")
      machine.write(config.userConfigPath, "{}")
    })
    const about = findings.filter((finding) => finding.about === "configuration")
    expect(about.map(({ state }) => state)).toEqual(["ok", "problem"])
    expect(about[1]?.text).toContain(".signalbox.json holds no object")
  })

  test("of a project that weaken ours are named with what to do", async () => {
    const settings = { hooks: { preEdit: { enabled: false } } }
    const findings = await examineSound(({ machine }) =>
      machine.write(join(machine.project, ".signalbox.json"), JSON.stringify(settings)),
    )
    const warning = findings.find(({ about, state }) => about === "configuration" && state === "warning")
    expect(warning?.text).toContain("weakens hooks.preEdit.enabled")
    expect(warning?.advice).toContain("decide it yourself in")
  })

  test("whose record is broken do not hide the rest", async () => {
    const findings = await examineSound(({ machine }) =>
      machine.write(join(machine.dataFolder, "install.json"), "{"),
    )
    expect(findingAbout(findings, "installed clients")?.state).toBe("problem")
    expect(findingAbout(findings, "database")?.state).toBe("ok")
  })
})
