/** What is installed for Cline is run: the plugin of its command line, and the scripts of its editor extension. */

import { execFileSync, spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterEach, describe, expect, test, vi } from "vitest"
import { serverInstructions } from "../../src/config/instructions.ts"
import { createMachine, type TestMachine } from "./support.ts"

const HELD = "held by BlueLake"
const EDIT = { path: "/a.ts", old_text: "a", new_text: "b" }

/** Answers every call alike, and adds the call's arguments and input to a file. */
function placeFakeHook(machine: TestMachine, { exitCode = 0, told = "" } = {}): void {
  const ending = exitCode === 2 ? 'exit "$SIGNALBOX_HOOK_BLOCK"' : `exit ${exitCode}`
  const script = `{ echo "$@"; cat; echo; } >> "${calls(machine)}"\nprintf '%s' "${told}"\necho "${HELD}" >&2\n${ending}\n`
  machine.write(join(machine.dataFolder, "hook", "hook.sh"), script)
}

function calls(machine: TestMachine): string {
  return join(machine.home, "data", "calls")
}

/** The hook's calls so far: the event of each, and what it was given. */
function called(machine: TestMachine): [event: string, payload: Record<string, unknown>][] {
  if (!existsSync(calls(machine))) return []
  return [...machine.read(calls(machine)).matchAll(/^cline (\S+)\n(.*)$/gm)].map(
    ([, event = "", payload = ""]) => [event, JSON.parse(payload)],
  )
}

function environment(machine: TestMachine): NodeJS.ProcessEnv {
  const own = { HOME: machine.home, XDG_DATA_HOME: join(machine.home, "data") }
  return { ...process.env, CLINE_CONNECTOR_CLI_LAUNCH: undefined, CLINE_DIR: undefined, ...own }
}

function pluginUrl(machine: TestMachine): string {
  return pathToFileURL(join(machine.home, ".cline", "plugins", "signalbox.js")).href
}

describe("the plugin of Cline's command line", () => {
  afterEach(() => vi.unstubAllEnvs())

  async function loadPlugin(answer: Parameters<typeof placeFakeHook>[1]) {
    const machine = createMachine()
    placeFakeHook(machine, answer)
    machine.install("cline", "user")
    vi.stubEnv("XDG_DATA_HOME", join(machine.home, "data"))
    const plugin = (await import(pluginUrl(machine))).default
    const rules: { content: string }[] = []
    const api = { registerRule: (rule: { content: string }) => rules.push(rule) }
    plugin.setup(api, { session: { sessionId: "s1" }, workspaceInfo: { rootPath: machine.project } })
    const call = (toolName: string) => ({ toolCall: { toolName }, input: EDIT })
    return {
      machine,
      manifest: plugin.manifest,
      rules,
      beforeRun: (snapshot: object) => plugin.hooks.beforeRun({ snapshot }),
      beforeTool: (tool: string) => plugin.hooks.beforeTool(call(tool)),
      afterTool: (tool: string) => plugin.hooks.afterTool(call(tool)),
    }
  }

  test("lets an edit pass when the hook does, which is given the session, the folder and the call", async () => {
    const { machine, manifest, beforeTool } = await loadPlugin({})
    expect(await beforeTool("editor")).toBeUndefined()
    const about = { session_id: "s1", cwd: machine.project, tool_name: "editor", tool_input: EDIT }
    expect(called(machine)).toEqual([["pre-edit", { hook_event_name: "pre-edit", ...about }]])
    expect(manifest).toEqual({ capabilities: ["hooks", "rules"] })
  })

  test("brings the server's instructions, which Cline itself leaves out", async () => {
    const { rules } = await loadPlugin({})
    expect(rules.map(({ content }) => content)).toEqual([serverInstructions({ program: "cline" })])
  })

  test("has an edit left out, and the model told why, when the hook blocks", async () => {
    const { beforeTool } = await loadPlugin({ exitCode: 2 })
    expect(await beforeTool("apply_patch")).toEqual({ skip: true, reason: HELD })
  })

  test("lets an edit pass when the hook fails, and asks about edits only", async () => {
    const { machine, beforeTool, afterTool } = await loadPlugin({ exitCode: 1 })
    expect(await beforeTool("write_to_file")).toBeUndefined()
    for (const tool of ["read_files", "run_commands", "signalbox__send_message"]) {
      expect(await beforeTool(tool)).toBeUndefined()
      expect(await afterTool(tool)).toBeUndefined()
    }
    expect(called(machine).map(([event]) => event)).toEqual(["pre-edit"])
  })

  test("gives the model what the hook says at a session's start, at later prompts, and around an edit", async () => {
    const { machine, beforeRun, beforeTool, afterTool } = await loadPlugin({ told: "to be told" })
    const context = { appendContext: "to be told" }
    expect(await beforeRun({ messages: [{}] })).toEqual(context)
    expect(await beforeTool("editor")).toEqual(context)
    expect(await afterTool("editor")).toEqual(context)
    expect(await beforeRun({ messages: [{}, {}, {}] })).toEqual(context)
    expect(called(machine).map(([event, { source }]) => [event, source])).toEqual([
      ["session-start", "startup"],
      ["pre-edit", undefined],
      ["mail", undefined],
      ["mail", undefined],
    ])
  })

  test("starts no session for an agent within one, and says of one that goes on that it does", async () => {
    const { machine, beforeRun } = await loadPlugin({})
    await beforeRun({ parentAgentId: "agent-1", messages: [{}] })
    await beforeRun({ messages: [{}, {}] })
    expect(called(machine).map(([event, { source }]) => [event, source])).toEqual([
      ["session-start", "resume"],
    ])
  })

  /** Ends the process of a plugin as Cline does. */
  function endProcess(machine: TestMachine, before: string) {
    const host = join(machine.home, "plugin-sandbox.mjs")
    machine.write(
      host,
      `const { default: plugin } = await import(${JSON.stringify(pluginUrl(machine))})
plugin.setup({}, { session: { sessionId: "s1" } })
${before}
setInterval(() => {}, 1_000)
process.kill(process.pid, "SIGTERM")\n`,
    )
    return spawnSync(process.execPath, [host], { env: environment(machine) })
  }

  test("has the session ended when its process is, without keeping that waiting", async () => {
    const machine = createMachine()
    placeFakeHook(machine)
    machine.install("cline", "user")
    const { status } = endProcess(machine, "await plugin.hooks.beforeRun({ snapshot: {} })")
    expect(status).toBe(0)
    await vi.waitFor(
      () =>
        expect(called(machine)).toEqual([
          ["session-start", expect.objectContaining({ session_id: "s1" })],
          ["session-end", expect.objectContaining({ session_id: "s1" })],
        ]),
      { timeout: 20_000 },
    )
  })
})

describe("a script of Cline's editor extension", () => {
  const COMMAND_LINE = { CLINE_CONNECTOR_CLI_LAUNCH: "{}" }

  function runScript(machine: TestMachine, scope: "user" | "project", env: NodeJS.ProcessEnv = {}): string {
    const folder =
      scope === "user"
        ? join(machine.home, "Documents", "Cline", "Hooks")
        : join(machine.project, ".clinerules", "hooks")
    const options = { env: { ...environment(machine), ...env }, cwd: machine.project, input: "{}" }
    execFileSync(join(folder, "TaskComplete"), { ...options, stdio: "pipe" })
    return existsSync(calls(machine)) ? machine.read(calls(machine)) : ""
  }

  test.each(["user", "project"] as const)("of a %s runs the hook, under the command line too", (scope) => {
    const machine = createMachine()
    placeFakeHook(machine)
    machine.install("cline-editor", scope)
    expect(runScript(machine, scope)).toBe("cline-editor session-end\n{}\n")
    expect(runScript(machine, scope, COMMAND_LINE)).toBe("cline-editor session-end\n{}\n".repeat(2))
  })

  test.each([
    ["user", "user"],
    ["project", "user"],
    ["project", "project"],
  ] as const)(
    "of a %s leaves the word to the plugin of a %s where the command line runs it",
    (scope, other) => {
      const machine = createMachine()
      placeFakeHook(machine)
      machine.install("cline-editor", scope)
      machine.install("cline", other)
      expect(runScript(machine, scope, COMMAND_LINE)).toBe("")
      expect(runScript(machine, scope)).toBe("cline-editor session-end\n{}\n")
    },
  )
})
