/** What was installed is run, with a hook in its place that writes down how it was called. */

import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterEach, describe, expect, test, vi } from "vitest"
import { createMachine, type TestMachine } from "./support.ts"

/** Answers every call with one exit code, to block as the hook does, and tells something where it allows; the call's arguments and input are added to a file. */
function placeFakeHook(machine: TestMachine, exitCode: number): void {
  const ending = exitCode === 2 ? 'exit "$SIGNALBOX_HOOK_BLOCK"' : `echo "told at $2"\nexit ${exitCode}`
  const script = `{ echo "$@"; cat; echo; } >> "${calls(machine)}"\necho "held by BlueLake" >&2\n${ending}\n`
  machine.write(join(machine.dataFolder, "hook", "hook.sh"), script)
}

function calls(machine: TestMachine): string {
  return join(machine.home, "data", "calls")
}

function environment(machine: TestMachine): NodeJS.ProcessEnv {
  const identity = {
    GIT_AUTHOR_NAME: "a",
    GIT_AUTHOR_EMAIL: "a@b.c",
    GIT_COMMITTER_NAME: "a",
    GIT_COMMITTER_EMAIL: "a@b.c",
  }
  return { ...process.env, ...identity, HOME: machine.home, XDG_DATA_HOME: join(machine.home, "data") }
}

function git(machine: TestMachine, ...args: string[]) {
  return spawnSync("git", ["-C", machine.project, ...args], { env: environment(machine), encoding: "utf8" })
}

/** Commits one file; its name is no plain ASCII. */
function commit(machine: TestMachine) {
  machine.write(join(machine.project, "Grüße.txt"), `${Math.random()}`)
  git(machine, "add", ".")
  return git(machine, "commit", "--message", "one")
}

describe("git hooks", () => {
  test("hand the paths of a commit to the hook, before and after it", () => {
    const machine = createMachine()
    placeFakeHook(machine, 0)
    machine.install("git", "project")
    expect(commit(machine).status).toBe(0)
    expect(machine.read(calls(machine))).toBe("git pre-commit\nGrüße.txt\n\ngit post-commit\nGrüße.txt\n\n")
  })

  test("stop a commit when the hook objects, and show why", () => {
    const machine = createMachine()
    placeFakeHook(machine, 2)
    machine.install("git", "project")
    const { status, stderr } = commit(machine)
    expect(status).not.toBe(0)
    expect(stderr).toContain("held by BlueLake")
    expect(existsSync(join(machine.project, ".git", "refs", "heads", "main"))).toBe(false)
  })

  test("let commits pass on a machine without the hook", () => {
    const machine = createMachine()
    machine.install("git", "project")
    expect(commit(machine).status).toBe(0)
  })

  test("run beside those that were there, wherever git looks for them", () => {
    const machine = createMachine()
    placeFakeHook(machine, 0)
    git(machine, "config", "core.hooksPath", ".hooks")
    const hook = `#!/bin/bash\nset -euo pipefail\necho theirs >> "${calls(machine)}"\nexit 0\n`
    machine.write(join(machine.project, ".hooks", "pre-commit"), hook, 0o755)
    machine.install("git", "project")
    expect(commit(machine).status).toBe(0)
    expect(machine.read(calls(machine))).toMatch(/^git pre-commit\n(.*\n)+theirs\ngit post-commit\n/)
  })
})

/** The hooks that version 1 of OpenCode takes from the plugin. */
interface Plugin {
  "tool.execute.before"(input: object, output: object): Promise<void>
  "tool.execute.after"(input: object, output: { output: string }): Promise<void>
  "experimental.chat.system.transform"(input: object, output: { system: string[] }): Promise<void>
  event(input: { event: { type: string; properties: object } }): Promise<void>
  dispose(): Promise<void>
}

describe("the OpenCode plugin", () => {
  afterEach(() => vi.unstubAllEnvs())

  async function loadPlugin(exitCode: number) {
    const machine = createMachine()
    placeFakeHook(machine, exitCode)
    machine.install("opencode", "project")
    vi.stubEnv("XDG_DATA_HOME", join(machine.home, "data"))
    const file = pathToFileURL(join(machine.project, ".opencode", "plugins", "signalbox.js")).href
    const plugin = (await import(file)).default
    const v1: Plugin = await plugin.server({ directory: machine.project })
    let v2: ((event: object) => Promise<void>) | undefined
    await plugin.setup({
      tool: {
        hook: async (name: string, handler: (event: object) => Promise<void>) => {
          expect(name).toBe("execute.before")
          v2 = handler
        },
      },
    })
    const args = { filePath: "/a.ts" }
    const before = {
      v1: (tool: string) => v1["tool.execute.before"]({ tool, sessionID: "s1", callID: "c" }, { args }),
      v2: (tool: string) => v2?.({ tool, sessionID: "s1", input: args }),
    }
    return { machine, v1, before }
  }

  test.each(["v1", "v2"] as const)("of %s lets an edit pass when the hook does", async (era) => {
    const { machine, before } = await loadPlugin(0)
    await before[era]("edit")
    const [command, payload = ""] = machine.read(calls(machine)).split("\n")
    expect(command).toBe("opencode pre-edit")
    expect(JSON.parse(payload)).toMatchObject({
      session_id: "s1",
      tool_name: "edit",
      tool_input: { filePath: "/a.ts" },
    })
  })

  test.each(["v1", "v2"] as const)("of %s throws what the hook says when it blocks", async (era) => {
    const { before } = await loadPlugin(2)
    await expect(before[era]("write")).rejects.toThrow("held by BlueLake")
  })

  test("lets an edit pass when the hook fails, and asks about edits only", async () => {
    const { machine, before } = await loadPlugin(1)
    await before.v1("edit")
    await before.v1("read")
    expect(machine.read(calls(machine)).match(/^opencode /gm)).toHaveLength(1)
  })

  test("lets an edit pass when the hook cannot be started, nor be told of it", async () => {
    const { v1 } = await loadPlugin(2)
    const circular: { self?: object } = {}
    circular.self = circular
    const input = { tool: "edit", sessionID: "s1", callID: "c" }
    await expect(v1["tool.execute.before"](input, { args: circular })).resolves.toBeUndefined()
    vi.stubEnv("TOO_LONG", "x".repeat(4_000_000))
    await expect(v1["tool.execute.before"](input, { args: {} })).resolves.toBeUndefined()
  })

  const outputBehind = (v1: Plugin, tool: string) => {
    const output = { title: "", output: "Done.", metadata: {} }
    return v1["tool.execute.after"]({ tool, sessionID: "s1", callID: "c" }, output).then(() => output.output)
  }

  test("tells the model behind an edit what the hook said of it, once, and of the mail", async () => {
    const { machine, v1, before } = await loadPlugin(0)
    await before.v1("edit")
    expect(await outputBehind(v1, "edit")).toBe("Done.\n\ntold at pre-edit\ntold at mail")
    expect(await outputBehind(v1, "edit")).toBe("Done.\n\ntold at mail")
    expect(await outputBehind(v1, "bash")).toBe("Done.")
    expect(machine.read(calls(machine)).match(/^opencode mail/gm)).toHaveLength(2)
  })

  test("says nothing behind an edit when the hook has nothing to say", async () => {
    const { machine, v1 } = await loadPlugin(0)
    machine.write(join(machine.dataFolder, "hook", "hook.sh"), "exit 0\n")
    expect(await outputBehind(v1, "edit")).toBe("Done.")
  })

  test("tells the model in every request what its session was told at its start, announced or not", async () => {
    const { machine, v1 } = await loadPlugin(0)
    for (const sessionID of ["s1", "s1", undefined]) {
      const output = { system: ["You are OpenCode."] }
      await v1["experimental.chat.system.transform"]({ sessionID, model: {} }, output)
      const told = sessionID === undefined ? [] : ["told at session-start"]
      expect(output.system).toEqual(["You are OpenCode.", ...told])
    }
    expect(machine.read(calls(machine)).match(/^opencode .*/gm)).toEqual(["opencode session-start"])
  })

  test("ends every session that it has started when OpenCode exits", async () => {
    const { machine, v1 } = await loadPlugin(0)
    await v1.event({ event: { type: "session.created", properties: { info: { id: "s1" } } } })
    await v1["experimental.chat.system.transform"]({ sessionID: "s2", model: {} }, { system: [] })
    await v1.event({ event: { type: "session.created", properties: { info: { id: "gone" } } } })
    await v1.event({ event: { type: "session.deleted", properties: { info: { id: "gone" } } } })
    await v1.dispose()
    // They end at once, so that what is written of one may stand within what is of another.
    const ended = machine.read(calls(machine)).matchAll(/"session-end","session_id":"(\w+)"/g)
    expect([...ended].map(([, id]) => id).sort()).toEqual(["gone", "s1", "s2"])
  })

  test("takes the session of a sub-agent for that of the agent which has started it", async () => {
    const { machine, v1, before } = await loadPlugin(0)
    const created = (info: object) => v1.event({ event: { type: "session.created", properties: { info } } })
    await created({ id: "outer" })
    await created({ id: "middle", parentID: "outer" })
    // One that goes on in another process is not created there.
    const again = { info: { id: "s1", parentID: "middle" } }
    await v1.event({ event: { type: "session.updated", properties: again } })
    await before.v1("edit")
    await v1.event({ event: { type: "session.deleted", properties: { info: { id: "s1" } } } })
    const made = machine.read(calls(machine)).match(/^opencode .*\n.*/gm) ?? []
    expect(
      made.map((call) => [call.split("\n")[0], JSON.parse(call.split("\n")[1] ?? "").session_id]),
    ).toEqual([
      ["opencode session-start", "outer"],
      ["opencode pre-edit", "outer"],
    ])
  })

  test("tells the hook when a session starts and ends", async () => {
    const { machine, v1 } = await loadPlugin(0)
    const session = { info: { id: "s1" } }
    await v1.event({ event: { type: "session.created", properties: session } })
    await v1.event({ event: { type: "session.updated", properties: session } })
    await v1.event({ event: { type: "session.deleted", properties: session } })
    expect(machine.read(calls(machine)).match(/^opencode .*/gm)).toEqual([
      "opencode session-start",
      "opencode session-end",
    ])
  })
})
