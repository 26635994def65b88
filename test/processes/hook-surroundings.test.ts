/** What surrounds the hook: programs that a project brings along, an environment set against it, and code that hangs. */

import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { hookFolder } from "../../src/hook/files.ts"
import { refusalIn } from "../support/golden-payloads.ts"
import { editOf, expectOneLine, holderAt, runHook } from "../support/hook-process.ts"
import { type Place, place } from "../support/server-process.ts"

const SHELL_FORMS = ["command", "shell", "curl"] as const
const FORMS = [...SHELL_FORMS, "node"] as const

describe.each([true, false])("with a listener: %s", (listens) => {
  const ends: (() => Promise<void> | void)[] = []
  let where: Place
  /** Made by any program of the project's that is run. */
  let trace: string

  beforeAll(async () => {
    where = place((end) => ends.push(end))
    const ada = await holderAt(where)
    if (!listens) await ada.server.stop()
    trace = join(where.home, "trace")
  })

  afterAll(async () => {
    for (const end of ends.reverse()) await end()
  })

  const taken = () => editOf(where, "src/auth/login.ts")

  test.each(SHELL_FORMS)("the %s form runs no program that a project ships", async (form) => {
    const folder = join(where.repository, "node_modules", ".bin")
    mkdirSync(folder, { recursive: true })
    for (const name of ["bash", "cat", "curl", "git", "kill", "mkfifo", "node", "rm", "sh", "sleep"])
      writeFileSync(join(folder, name), `#!/bin/sh\necho ${name} >>"${trace}"\nexit 0\n`, { mode: 0o755 })
    const path = ["node_modules/.bin", folder, process.env.PATH].join(delimiter)
    refusalIn(await runHook(where, { form, payload: taken(), env: { PATH: path } }))
    expect(existsSync(trace)).toBe(false)
  })

  test.each(SHELL_FORMS)("the %s form obeys no environment that is set against it", async (form) => {
    const script = join(where.home, "startup.sh")
    writeFileSync(script, `echo startup >>"${trace}"\n`)
    const module = join(where.home, "startup.cjs")
    writeFileSync(module, `require("node:fs").appendFileSync(${JSON.stringify(trace)}, "node")\n`)
    const env = {
      BASH_ENV: script,
      ENV: script,
      CDPATH: "/",
      IFS: "/",
      NODE_OPTIONS: `--require ${module}`,
      "BASH_FUNC_command%%": `() { echo command >>"${trace}"; }`,
      "BASH_FUNC_printf%%": `() { echo printf >>"${trace}"; }`,
      "BASH_FUNC_read%%": `() { echo read >>"${trace}"; }`,
    }
    refusalIn(await runHook(where, { form, payload: taken(), env }))
    expect(existsSync(trace)).toBe(false)
  })
})

describe.each(FORMS)("the %s form ends in time, with one line", (form) => {
  const ends: (() => Promise<void> | void)[] = []
  let where: Place
  let alone: string

  beforeAll(async () => {
    where = place((end) => ends.push(end))
    await (await holderAt(where)).server.stop()
    const folder = join(where.home, "package", "dist")
    mkdirSync(folder, { recursive: true })
    alone = join(folder, "hook-alone.js")
    writeFileSync(join(where.home, "package", "package.json"), '{"type":"module"}')
    writeFileSync(join(hookFolder(where.dataFolder), "package"), `${join(where.home, "package")}\n`)
  })

  afterAll(async () => {
    for (const end of ends.reverse()) await end()
  })

  test.each<[string, string]>([
    ["runs for ever", "while (true) {}"],
    ["waits for ever", "await new Promise(() => setInterval(() => {}, 1_000))"],
    ["reads for ever", `(await import("node:fs")).readFileSync("PIPE")`],
  ])("when the decision %s", async (_, body) => {
    const pipe = join(where.home, "pipe")
    if (!existsSync(pipe)) execFileSync("mkfifo", [pipe])
    writeFileSync(alone, `export async function decideAlone() { ${body.replace("PIPE", pipe)} }\n`)
    expectOneLine(
      await runHook(where, { form, payload: editOf(where, "src/free.ts") }),
      /there was no time to/,
    )
  })

  test.each([1, 7, 134])("when Node ends with %i", async (code) => {
    writeFileSync(alone, `export async function decideAlone() { process.exit(${code}) }\n`)
    const ending = await runHook(where, { form, payload: editOf(where, "src/free.ts") })
    expectOneLine(ending, /no listener answered, and node failed/)
  })

  test("when Node ends before a commit with what git takes for a refusal", async () => {
    writeFileSync(alone, "export async function decideAlone() { process.exit(1) }\n")
    const ending = await runHook(where, {
      form,
      client: "git",
      event: "pre-commit",
      payload: "src/free.ts\n",
    })
    expectOneLine(ending, /no listener answered, and node failed/)
  })

  test("though not when it refuses a commit", async () => {
    const refused = `{ exitCode: 1, stdout: "", stderr: "reserved" }`
    writeFileSync(alone, `export async function decideAlone() { return ${refused} }\n`)
    const ending = await runHook(where, {
      form,
      client: "git",
      event: "pre-commit",
      payload: "src/free.ts\n",
    })
    expect(ending).toEqual({ exitCode: form === "command" ? 2 : 1, stdout: "", stderr: "reserved\n" })
  })
})
