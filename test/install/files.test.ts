/** Installing on disk: backups, modes, links, files shared by clients, and files that cannot be edited. */

import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { parse } from "jsonc-parser"
import { describe, expect, test } from "vitest"
import { remove } from "../../scripts/removal.ts"
import { CLIENTS } from "../../src/install/catalogue.ts"
import { findClients } from "../../src/install/install.ts"
import { readManifest } from "../../src/install/manifest.ts"
import { createMachine } from "./support.ts"

const SETTINGS = `{ "mcpServers": { "other": { "command": "other" } } }\n`

describe("a backup", () => {
  test("holds the original with its mode, is made once and stays", () => {
    const machine = createMachine()
    const path = join(machine.home, ".cursor", "mcp.json")
    machine.write(path, SETTINGS, 0o600)
    machine.install("cursor", "user", { roles: ["mcp"] })
    machine.install("cursor", "user", { roles: ["mcp"] })
    machine.uninstall("cursor", "user")
    expect(readdirSync(dirname(path)).sort()).toEqual(["mcp.json", "mcp.json.signalbox.bak"])
    expect(machine.read(`${path}.signalbox.bak`)).toBe(SETTINGS)
    expect(statSync(`${path}.signalbox.bak`).mode & 0o777).toBe(0o600)
  })

  test("of an earlier time is neither overwritten nor given back", () => {
    const machine = createMachine()
    const path = join(machine.home, ".cursor", "mcp.json")
    machine.write(path, SETTINGS)
    machine.install("cursor", "user", { roles: ["mcp"] })
    machine.uninstall("cursor", "user")
    const later = SETTINGS.replaceAll("other", "newer")
    machine.write(path, later)
    machine.install("cursor", "user", { roles: ["mcp"] })
    expect(machine.read(`${path}.signalbox.bak`)).toBe(SETTINGS)
    expect(machine.read(`${path}.signalbox.bak2`)).toBe(later)
    machine.uninstall("cursor", "user")
    expect(machine.read(path)).toBe(later)
  })

  test.each(["changed", "gone"])("that is %s is not needed to take our part out", (state) => {
    const machine = createMachine()
    const path = join(machine.home, ".cursor", "mcp.json")
    machine.write(path, SETTINGS)
    machine.install("cursor", "user", { roles: ["mcp"] })
    if (state === "gone") remove(`${path}.signalbox.bak`)
    else writeFileSync(`${path}.signalbox.bak`, "{}")
    machine.uninstall("cursor", "user")
    expect(JSON.parse(machine.read(path))).toEqual(JSON.parse(SETTINGS))
  })
})

describe("a change of the user's", () => {
  test("between two installations survives the removal", () => {
    const machine = createMachine()
    const path = join(machine.home, ".gemini", "settings.json")
    machine.write(path, `{\n  "theme": "light"\n}\n`)
    machine.install("gemini", "user", { roles: ["mcp"] })
    machine.write(path, machine.read(path).replace("light", "dark"))
    machine.install("gemini", "user", { roles: ["hook"] })
    machine.uninstall("gemini", "user")
    expect(machine.read(path)).toBe(`{\n  "theme": "dark"\n}\n`)
  })

  test("to a file that we made keeps the file, and our folder with it", () => {
    const machine = createMachine()
    const path = join(machine.home, ".kiro", "hooks", "signalbox.json")
    machine.install("kiro", "user")
    const mine = { name: "mine", trigger: "Stop", action: { type: "command", command: "true" } }
    const settings = JSON.parse(machine.read(path))
    machine.write(path, JSON.stringify({ ...settings, hooks: [...settings.hooks, mine] }))
    machine.uninstall("kiro", "user")
    expect(JSON.parse(machine.read(path))).toEqual({ version: "v1", hooks: [mine] })
    expect(existsSync(join(machine.home, ".kiro", "settings"))).toBe(false)
  })

  test("to a script of ours is left for the user to delete", () => {
    const machine = createMachine()
    const path = join(machine.project, ".clinerules", "hooks", "PreToolUse")
    machine.install("cline-editor", "project")
    machine.write(path, `${machine.read(path)}echo mine\n`)
    const outcome = machine.uninstall("cline-editor", "project").find((one) => one.path === path)
    expect(outcome?.action).toBe("left-alone")
    expect(machine.read(path)).toMatch(/echo mine\n$/)
  })

  test("that deletes a file is taken as it is", () => {
    const machine = createMachine()
    machine.write(join(machine.home, ".cursor", "mcp.json"), SETTINGS)
    machine.install("cursor", "user")
    remove(join(machine.home, ".cursor"))
    const before = machine.tree()
    expect(machine.uninstall("cursor", "user")).toEqual([])
    expect(machine.tree()).toEqual(before)
    expect(readManifest(machine.dataFolder).files).toEqual({})
  })
})

describe("two clients that share a file", () => {
  const CLIENTS_OF_FILE = ["claude-code", "copilot"]

  test.each([
    ["in the same order", CLIENTS_OF_FILE],
    ["in the other order", CLIENTS_OF_FILE.toReversed()],
  ])("leave its original bytes when both are gone, %s", (_, order) => {
    const machine = createMachine()
    const path = join(machine.project, ".mcp.json")
    machine.write(path, SETTINGS)
    const original = machine.tree()
    for (const client of CLIENTS_OF_FILE) machine.install(client, "project")
    const [first = "", second = ""] = order
    machine.uninstall(first, "project")
    expect(JSON.parse(machine.read(path)).mcpServers).toHaveProperty("signalbox")
    machine.uninstall(second, "project")
    expect(machine.tree()).toEqual(original)
  })

  test("may be uninstalled after the user changed it", () => {
    const machine = createMachine()
    const path = join(machine.project, ".mcp.json")
    for (const client of CLIENTS_OF_FILE) machine.install(client, "project")
    machine.write(path, machine.read(path).replace(`"mcpServers": {`, `"mcpServers": {\n    "mine": {},`))
    for (const client of CLIENTS_OF_FILE) machine.uninstall(client, "project")
    expect(JSON.parse(machine.read(path))).toEqual({ mcpServers: { mine: {} } })
  })
})

describe("a settings file", () => {
  test("behind a link is edited where it lies, and the link stays", () => {
    const machine = createMachine()
    const target = join(machine.home, "dotfiles", "mcp.json")
    machine.write(target, SETTINGS, 0o600)
    mkdirSync(join(machine.home, ".cursor"))
    const link = join(machine.home, ".cursor", "mcp.json")
    symlinkSync(target, link)
    machine.install("cursor", "user", { roles: ["mcp"] })
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    expect(machine.read(target)).toContain(machine.machine.launcher)
    expect(statSync(target).mode & 0o777).toBe(0o600)
    machine.uninstall("cursor", "user")
    expect(machine.read(target)).toBe(SETTINGS)
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
  })

  test.each([
    ["is no JSON", (path: string) => writeFileSync(path, `{ "a": `), /mcp\.json:1 is no valid JSON/],
    [
      "is no text",
      (path: string) => writeFileSync(path, Buffer.from([0x7b, 0xff, 0x7d])),
      /is not UTF-8 text/,
    ],
    ["is a folder", (path: string) => mkdirSync(path), /is no file/],
    ["is a link to nothing", (path: string) => symlinkSync("/nowhere/mcp.json", path), /is a link to a file/],
  ])("that %s fails alone, and nothing of it changes", (_, make, reason) => {
    const machine = createMachine()
    const path = join(machine.home, ".cursor", "mcp.json")
    mkdirSync(dirname(path))
    make(path)
    const outcomes = machine.install("cursor", "user")
    expect(outcomes.map(({ action }) => action)).toEqual(["failed", "created"])
    expect(outcomes[0]?.reasons.join()).toMatch(reason)
    expect(readdirSync(dirname(path)).sort()).toEqual(["hooks.json", "mcp.json"])
    const removed = machine.uninstall("cursor", "user")
    expect(removed.map(({ action }) => action)).toEqual(["failed", "deleted"])
  })

  test.runIf(process.getuid?.() !== 0)("in a folder that cannot be written fails with the reason", () => {
    const machine = createMachine()
    const folder = join(machine.home, ".cursor")
    mkdirSync(folder)
    chmodSync(folder, 0o500)
    const reasons = machine.install("cursor", "user").flatMap((outcome) => outcome.reasons)
    chmodSync(folder, 0o700)
    expect(reasons.join()).toMatch(/EACCES.*Check its permissions/)
  })

  test("that a client reads no longer still gets its bytes back", () => {
    const machine = createMachine()
    const folder = join(machine.home, ".config", "opencode")
    machine.write(join(folder, "opencode.json"), "{}")
    machine.install("opencode", "user")
    machine.write(join(folder, "opencode.jsonc"), "{ /* mine */ }")
    machine.uninstall("opencode", "user")
    expect(machine.read(join(folder, "opencode.json"))).toBe("{}")
    expect(machine.read(join(folder, "opencode.jsonc"))).toBe("{ /* mine */ }")
  })

  test("without a record is cleaned of what looks like ours", () => {
    const machine = createMachine()
    machine.write(join(machine.home, ".cursor", "mcp.json"), SETTINGS)
    machine.install("cursor", "user")
    remove(join(machine.dataFolder, "install.json"))
    machine.uninstall("cursor", "user")
    expect(JSON.parse(machine.read(join(machine.home, ".cursor", "mcp.json")))).toEqual(JSON.parse(SETTINGS))
    expect(machine.read(join(machine.home, ".cursor", "hooks.json"))).not.toContain("signalbox")
  })
})

describe("a server that an earlier version wrote", () => {
  test.each([
    [
      "on one line",
      `{"mcpServers":{"signalbox":{"command":"npx","args":["-y","signalbox"],"env":{"A":"b"}}}}`,
    ],
    [
      "on several, with remarks",
      `{\n  "mcpServers": {\n    "signalbox": {\n      // mine\n      "command": "npx",\n      "args": [\n        "-y",\n        "signalbox"\n      ],\n      "env": { "A": "b" }\n    }\n  }\n}\n`,
    ],
    ["without a list", `{"mcpServers":{"signalbox":{"env":{"A":"b"},"command":["npx","-y","signalbox"]}}}`],
  ])("is started by the launcher from then on, and keeps what else it holds: %s", (_, text) => {
    const machine = createMachine()
    const path = join(machine.home, ".cursor", "mcp.json")
    machine.write(path, text)
    const outcomes = () => machine.install("cursor", "user", { roles: ["mcp"] }).map(({ action }) => action)
    expect(outcomes()).toEqual(["changed"])
    const changed = machine.read(path)
    expect(parse(changed).mcpServers.signalbox).toEqual({
      command: machine.machine.launcher,
      args: [],
      env: { A: "b" },
    })
    expect(changed.includes("// mine")).toBe(text.includes("// mine"))
    expect(changed.includes("\n")).toBe(text.includes("\n"))
    expect(outcomes()).toEqual(["unchanged"])
    machine.uninstall("cursor", "user")
    expect(machine.read(path)).toBe(text)
  })
})

describe("somebody else's in our place", () => {
  test("a server of our name is left alone and reported, and the rest is installed", () => {
    const machine = createMachine()
    const path = join(machine.home, ".cursor", "mcp.json")
    const text = `{"mcpServers":{"signalbox":{"command":"node","args":["/src/signalbox/bin/signalbox.js"]}}}`
    machine.write(path, text)
    const outcomes = machine.install("cursor", "user")
    expect(outcomes.map(({ action }) => action)).toEqual(["left-alone", "created"])
    machine.uninstall("cursor", "user")
    expect(machine.read(path)).toBe(text)
    expect(existsSync(`${path}.signalbox.bak`)).toBe(false)
  })

  test("a Cline script of the user's is left alone", () => {
    const machine = createMachine()
    const path = join(machine.project, ".clinerules", "hooks", "PreToolUse")
    machine.write(path, "#!/bin/sh\necho {}\n", 0o755)
    const outcome = machine.install("cline-editor", "project").find((one) => one.path === path)
    expect(outcome).toMatchObject({ action: "left-alone", reasons: [expect.stringContaining("not ours")] })
    machine.uninstall("cline-editor", "project")
    expect(machine.read(path)).toBe("#!/bin/sh\necho {}\n")
  })

  test("a git hook that is no shell script is refused with what to call", () => {
    const machine = createMachine()
    const path = join(machine.project, ".git", "hooks", "pre-commit")
    machine.write(path, "#!/usr/bin/env python3\nprint()\n", 0o755)
    const outcome = machine.install("git", "project").find((one) => one.path === path)
    expect(outcome?.action).toBe("failed")
    expect(outcome?.reasons.join()).toMatch(/is no shell script.*Call this from it: git /)
    expect(machine.read(path)).toBe("#!/usr/bin/env python3\nprint()\n")
  })
})

describe("new files", () => {
  test("are executable where the client runs them, and only there", () => {
    const machine = createMachine()
    machine.install("git", "project")
    machine.install("cline-editor", "project")
    machine.install("cursor", "project")
    const isExecutable = (path: string) => (statSync(join(machine.project, path)).mode & 0o111) !== 0
    expect(
      [".git/hooks/pre-commit", ".clinerules/hooks/TaskStart", ".cursor/mcp.json"].map(isExecutable),
    ).toEqual([true, true, false])
  })

  test("of a client on Windows use its own commands, those in a project the common ones", () => {
    const machine = createMachine("win32", { APPDATA: "/appdata" })
    machine.install("claude-code", "user")
    const { mcpServers } = JSON.parse(machine.read(join(machine.home, ".claude.json")))
    expect(mcpServers.signalbox).toMatchObject({
      command: "C:\\Windows\\System32\\cmd.exe",
      args: ["/c", machine.machine.launcher],
    })
    expect(machine.read(join(machine.home, ".claude", "settings.json"))).toContain("LOCALAPPDATA")
    machine.install("claude-code", "project")
    expect(machine.read(join(machine.project, ".mcp.json"))).not.toContain("cmd")
    expect(machine.read(join(machine.project, ".claude", "settings.json"))).not.toContain("LOCALAPPDATA")
    machine.install("codex", "project")
    const codex = readFileSync(join(machine.project, ".codex", "hooks.json"), "utf8")
    expect(codex).toContain("XDG_DATA_HOME")
    expect(codex).toContain("LOCALAPPDATA")
  })
})

test("clients are found by their folders, but not by those that were made for another client", () => {
  const machine = createMachine()
  const found = () =>
    findClients(CLIENTS, machine.machine, readManifest(machine.dataFolder)).map(({ name }) => name)
  expect(found()).toEqual([])
  mkdirSync(join(machine.home, ".config", "Code", "User"), { recursive: true })
  expect(found()).toEqual(["vscode"])
  machine.install("vscode", "user")
  expect(existsSync(join(machine.home, ".copilot"))).toBe(true)
  expect(found()).toEqual(["vscode"])
  mkdirSync(join(machine.home, ".codex"))
  expect(found()).toEqual(["codex", "vscode"])
})
