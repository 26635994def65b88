/** Owns what a record of installations cannot do: whatever it says, nothing goes that install did not write. */

import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { type FileRecord, readManifest, writeManifest } from "../../src/install/manifest.ts"
import { hashOf } from "../../src/install/settings-file.ts"
import { createMachine, type TestMachine } from "./support.ts"

const NOTES = "what nobody else may touch\n"

/** A machine on which Cursor has been installed, with folders and a file of the user's. */
function createUser() {
  const machine = createMachine()
  vi.stubEnv("HOME", machine.home)
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  mkdirSync(join(machine.home, "empty"))
  const notes = join(machine.home, "notes", "notes.md")
  machine.write(notes, NOTES)
  symlinkSync(dirname(notes), join(machine.home, "link"))
  symlinkSync(notes, join(machine.home, "notes-link.md"))
  const before = machine.tree()
  machine.install("cursor", "user")
  return { machine, notes, before }
}

/** What would be said of a file that install had made whole and nobody changed since. */
function recordOf(machine: TestMachine, text: string): FileRecord {
  return {
    scope: "user",
    root: machine.home,
    clients: { cursor: ["mcp", "hook"] },
    original: null,
    writtenSha256: hashOf(Buffer.from(text)),
    containers: [],
  }
}

test.each([
  ["no files", { version: 1 }],
  ["files that are a list", { version: 1, files: [], folders: [] }],
  ["a file without a record", { version: 1, files: { "/a": {} }, folders: [] }],
  ["a record whose clients are none", { version: 1, files: { "/a": { clients: [1] } }, folders: [] }],
  ["folders that are numbers", { version: 1, files: {}, folders: [1] }],
])("a record with %s cannot be understood, and is no crash", (_, manifest) => {
  const { machine } = createUser()
  machine.write(join(machine.dataFolder, "install.json"), JSON.stringify(manifest))
  for (const { action, reasons } of machine.install("gemini", "user")) {
    expect(action).toBe("failed")
    expect(reasons.join()).toContain("install.json cannot be understood")
  }
})

describe("folders that are recorded", () => {
  test.each<[what: string, folderIn: (home: string) => string]>([
    ["nothing", () => ""],
    ["the folder above the working one", () => ".."],
    ["the root", () => "/"],
    ["the home folder", (home) => home],
    ["the folder above it", (home) => dirname(home)],
    ["an empty folder of the user's", (home) => join(home, "empty")],
    ["an empty folder, by way of ours", (home) => `${home}/.cursor/../empty`],
    ["a link to a folder", (home) => join(home, "link")],
  ])("stay: %s", (_, folderIn) => {
    const { machine, before } = createUser()
    const manifest = readManifest(machine.dataFolder)
    expect(manifest.folders).toEqual([join(machine.home, ".cursor")])
    manifest.folders.push(folderIn(machine.home))
    writeManifest(machine.dataFolder, manifest)
    for (const { action } of machine.uninstall("cursor", "user")) expect(action).toBe("deleted")
    expect(machine.tree()).toEqual(before)
    expect(existsSync(join(machine.home, ".cursor"))).toBe(false)
  })

  test("stay for a file that never was", () => {
    const { machine, before } = createUser()
    const manifest = readManifest(machine.dataFolder)
    manifest.folders.push(join(machine.home, "empty"))
    manifest.files[join(machine.home, "empty", "none")] = recordOf(machine, "")
    writeManifest(machine.dataFolder, manifest)
    machine.uninstall("cursor", "user")
    expect(machine.tree()).toEqual(before)
  })

  test("go behind a link, which stays with the folder that it points at", () => {
    const machine = createMachine()
    const { home } = machine
    mkdirSync(join(home, "settings"))
    symlinkSync(join(home, "settings"), join(home, ".kiro"))
    const before = machine.tree()
    machine.install("kiro", "user")
    expect(readManifest(machine.dataFolder).folders).toContain(join(home, "settings", "hooks"))
    machine.uninstall("kiro", "user")
    expect(machine.tree()).toEqual(before)
    expect(readManifest(machine.dataFolder).folders).toEqual([])
  })
})

describe("files that are recorded", () => {
  test.each<[what: string, pathIn: (home: string) => string]>([
    ["a file of the user's", (home) => join(home, "notes", "notes.md")],
    ["a file, by a path that is not its own", (home) => `${home}/.cursor/../notes/notes.md`],
    ["a file behind a linked folder", (home) => join(home, "link", "notes.md")],
    ["a link to a file", (home) => join(home, "notes-link.md")],
    ["a folder", (home) => join(home, "notes")],
    ["an empty folder", (home) => join(home, "empty")],
    ["the home folder", (home) => home],
    ["the folder above it", (home) => `${home}/..`],
    ["the root", () => "/"],
    ["nothing", () => ""],
    ["a relative one", () => ".."],
  ])("stay: %s", (_, pathIn) => {
    const { machine, notes, before } = createUser()
    const manifest = readManifest(machine.dataFolder)
    manifest.files[pathIn(machine.home)] = recordOf(machine, NOTES)
    writeManifest(machine.dataFolder, manifest)
    machine.uninstall("cursor", "user")
    expect(readFileSync(notes, "utf8")).toBe(NOTES)
    expect(machine.tree()).toEqual(before)
  })

  test("are not overwritten by what is recorded to be their original", () => {
    const { machine, notes, before } = createUser()
    const backup = join(machine.home, "data", "other")
    writeFileSync(backup, "other")
    const manifest = readManifest(machine.dataFolder)
    const original = { backup, sha256: hashOf(Buffer.from("other")) }
    manifest.files[notes] = { ...recordOf(machine, NOTES), original }
    writeManifest(machine.dataFolder, manifest)
    machine.uninstall("cursor", "user")
    expect(machine.tree()).toEqual(before)
  })

  test("that install did write stay once they are another's", () => {
    const { machine } = createUser()
    const settings = join(machine.home, ".cursor", "mcp.json")
    writeFileSync(settings, NOTES)
    const manifest = readManifest(machine.dataFolder)
    manifest.files[settings] = recordOf(machine, NOTES)
    writeManifest(machine.dataFolder, manifest)
    machine.uninstall("cursor", "user")
    expect(machine.read(settings)).toBe(NOTES)
  })
})
