/** Owns what the launcher is made of: which Node it records, under which name, and the folder it hands on. */

import { existsSync, mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { afterEach, describe, expect, test, vi } from "vitest"
import { remove } from "../../scripts/removal.ts"
import {
  enterStartingFolder,
  isLauncherCurrent,
  launcherPath,
  launcherWord,
  placeLauncher,
  removeLauncher,
  windowsLauncher,
} from "../../src/runtime/launcher.ts"
import { packageFile, packageVersion } from "../../src/runtime/package-root.ts"
import { createMachine, type TestMachine } from "../install/support.ts"

afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

/** Makes a folder in which this Node is found under its usual name. */
function linkNode(machine: TestMachine, ...folder: string[]): string {
  const path = join(machine.home, ...folder)
  mkdirSync(path, { recursive: true })
  symlinkSync(process.execPath, join(path, "node"))
  return path
}

function lineOf(machine: TestMachine, name: string): string | undefined {
  const text = machine.read(machine.machine.launcher)
  return text.split("\n").find((line) => line.startsWith(`${name}=`))
}

describe("the launcher", () => {
  test("records the Node that runs us, this package and its version", () => {
    const machine = createMachine()
    expect(isLauncherCurrent(machine.dataFolder)).toBe(false)
    expect(placeLauncher(machine.dataFolder)).toBe(true)
    expect(lineOf(machine, "node")).toBe(`node='${process.execPath}'`)
    expect(lineOf(machine, "package")).toBe(`package='${join(packageFile("package.json"), "..")}'`)
    expect(lineOf(machine, "version")).toBe(`version='${packageVersion()}'`)
    expect(isLauncherCurrent(machine.dataFolder)).toBe(true)
    expect(placeLauncher(machine.dataFolder)).toBe(false)
    removeLauncher(machine.dataFolder)
    expect(existsSync(join(machine.dataFolder, "bin"))).toBe(false)
  })

  test("knows the name that leads to it, and keeps that where PATH lacks it", () => {
    const machine = createMachine()
    const stable = linkNode(machine, "it's", "stable")
    vi.stubEnv("PATH", `${stable}:/usr/bin`)
    placeLauncher(machine.dataFolder)
    const found = lineOf(machine, "found")
    expect(found).toBe(`found='${join(stable, "node").replace("'", "'\\''")}'`)
    vi.stubEnv("PATH", "/nowhere")
    expect(placeLauncher(machine.dataFolder)).toBe(false)
    remove(stable)
    expect(placeLauncher(machine.dataFolder)).toBe(true)
    expect(lineOf(machine, "found")).toBe(`found='${process.execPath}'`)
  })

  test("takes no name from a project", () => {
    const machine = createMachine()
    vi.spyOn(process, "cwd").mockReturnValue(machine.project)
    const own = linkNode(machine, "work", "project", "tools")
    const binaries = linkNode(machine, "other", "node_modules", ".bin")
    vi.stubEnv("PATH", `${own}:${binaries}:work/project/tools:`)
    placeLauncher(machine.dataFolder)
    expect(lineOf(machine, "found")).toBe(`found='${process.execPath}'`)
  })

  test("of Windows quotes what a batch file would replace", () => {
    const text = windowsLauncher({
      node: "C:\\100% Node\\node.exe",
      found: "C:\\n\\node.exe",
      packageFolder: "C:\\p (x86)",
      dataFolder: "C:\\data",
      version: "1.2.3",
    })
    expect(text.split("\r\n")).toEqual(
      expect.arrayContaining([
        `set "_node=C:\\100%% Node\\node.exe"`,
        `set "_package=C:\\p (x86)"`,
        `"%_npx%" -y signalbox@1.2.3 %*`,
      ]),
    )
    // A bracket in a path would end a block of commands.
    expect(text).not.toMatch(/\($/m)
  })

  test.each([
    ["data", "~/data/bin/signalbox"],
    ["it's my data", `~/'it'\\''s my data/bin/signalbox'`],
  ])("is typed from the home folder: %s", (folder, word) => {
    const machine = createMachine()
    vi.stubEnv("HOME", machine.home)
    expect(launcherWord(join(machine.home, folder))).toBe(word)
    expect(launcherWord("/srv/my data")).toBe(`'${launcherPath("/srv/my data")}'`)
  })
})

describe("the folder that the launcher was called in", () => {
  test("is entered, and no child is told of it", () => {
    const enter = vi.spyOn(process, "chdir").mockReturnValue()
    vi.stubEnv("SIGNALBOX_STARTED_IN", "/work")
    enterStartingFolder()
    expect(enter.mock.calls).toEqual([["/work"]])
    expect(process.env).not.toHaveProperty("SIGNALBOX_STARTED_IN")
    enterStartingFolder()
    expect(enter).toHaveBeenCalledTimes(1)
  })

  test("may be gone", () => {
    const enter = vi.spyOn(process, "chdir").mockImplementation(() => {
      throw new Error("ENOENT")
    })
    vi.stubEnv("SIGNALBOX_STARTED_IN", "/gone")
    enterStartingFolder()
    expect(enter).toHaveBeenCalledTimes(1)
  })
})
