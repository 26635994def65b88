/** Which coding agents stand above a process, and by which names a command line goes. */

import { describe, expect, test } from "vitest"
import { ALL_PROCESS_NAMES, CLIENTS } from "../../src/hook/clients.ts"
import { clientProcessesAbove, namesOf } from "../../src/runtime/process-ancestry.ts"
import { clientProcess } from "../support/hook.ts"

const onPosix = test.skipIf(process.platform === "win32")

describe("a command line goes by", () => {
  test.each([
    [["/usr/bin/Claude"], "claude"],
    [["C:\\Programs\\cursor\\Cursor.EXE", "--type=x"], "cursor"],
    [["/Applications/Cursor.app/Contents/MacOS/Cursor"], "cursor"],
    [
      ["/Applications/Kiro.app/Contents/Frameworks/Kiro Helper (Plugin).app/Contents/MacOS/Kiro Helper"],
      "kiro helper (plugin)",
    ],
    [["/Applications/Visual Studio Code.app/Contents/MacOS/Electron"], "visual studio code"],
    [["node", "/usr/local/bin/codex"], "codex"],
    [["/usr/bin/node", "/usr/bin/gemini", "--yolo"], "gemini"],
    [["node", "--max-old-space-size=8192", "--no-warnings", "/usr/bin/gemini"], "gemini"],
    [["bun", "/x/opencode.ts"], "opencode"],
    [["node.exe", "C:\\npm\\node_modules\\@openai\\codex\\bin\\codex.js"], "codex"],
    [["node", "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js"], "claude-code"],
    [["node", "/usr/lib/node_modules/@github/copilot/index.js"], "copilot"],
    [["node", "/n/node_modules/a/node_modules/@google/gemini-cli/dist/index.js"], "gemini-cli"],
    [["node", "/n/node_modules/opencode-ai/bin/x"], "opencode-ai"],
    [["/vscode/node", "/vscode/out/bootstrap-fork", "--type=extensionHost"], "bootstrap-fork"],
    [["/usr/share/code/code", "--type=utility"], "code"],
  ])("%j: %s", (command, name) => {
    expect(namesOf(command)).toContain(name)
  })

  test.each([
    [["vim", "/usr/bin/codex"]],
    [["grep", "claude"]],
    [["/home/claude/bin/bash"]],
    [["node", "/home/me/codex/server.js"]],
    [["node", "/home/me/cursor/node_modules/express/index.js"]],
    [["node", "/usr/lib/node_modules/other/claude/index.js"]],
    [["node", "codex/server.js"]],
    [["sh", "-c", "claude"]],
    [["codex-helper"]],
    [[]],
    [[""]],
  ])("%j: no coding agent", (command) => {
    expect(namesOf(command).filter((name) => ALL_PROCESS_NAMES.has(name))).toEqual([])
  })

  test("names in lower case, none of them empty", () => {
    expect(namesOf(["NODE", "/A/B.MJS"])).not.toContain("")
    for (const name of namesOf(["/X/Cursor.app/Contents/MacOS/Cursor.exe"]))
      expect(name).toBe(name.toLowerCase())
  })

  test("one of each client's names, when that is its program", () => {
    for (const { name, processNames } of CLIENTS) {
      expect(processNames.length, name).toBeGreaterThan(0)
      for (const program of processNames) expect(namesOf([`/opt/${program}`])).toContain(program)
    }
  })
})

describe("the client processes above a process", () => {
  onPosix("are found by name, the process itself among them, each with a mark of its own", async () => {
    const [one, other] = [await clientProcess("codex"), await clientProcess("codex")]
    expect(one.anchors).toHaveLength(1)
    expect(one.anchors[0]).toMatch(new RegExp(`^process:${one.pid}:.+`))
    expect(other.anchors).not.toEqual(one.anchors)
    expect(clientProcessesAbove(one.pid, new Set(["codex"]))).toEqual([
      { anchor: one.anchors[0], names: ["codex"] },
    ])
    expect(clientProcessesAbove(one.pid, new Set(["claude"]))).toEqual([])
  })

  onPosix("are given nearest first", async () => {
    const { pid } = await clientProcess("codex")
    // This process stands above it, and goes by its title or by the program that it runs.
    const own = namesOf([process.execPath, process.title]).concat(namesOf([process.title]))
    const found = clientProcessesAbove(pid, new Set(["codex", ...own]))
    expect(found[0]?.anchor).toMatch(`process:${pid}:`)
    expect(found[1]?.anchor).toMatch(`process:${process.pid}:`)
  })

  test.each([0, -1, 4_194_305, 2_147_483_647, Number.NaN])("of %d, which is no process, are none", (pid) => {
    expect(clientProcessesAbove(pid, ALL_PROCESS_NAMES)).toEqual([])
  })

  test("are none when no name is looked for", () => {
    expect(clientProcessesAbove(process.pid, new Set())).toEqual([])
  })
})
