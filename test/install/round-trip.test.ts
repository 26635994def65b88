/** Install, install again, uninstall: for every client, scope and layout of its files. */

import { existsSync, readdirSync } from "node:fs"
import { parse as parseJsonc } from "jsonc-parser"
import { parse as parseToml } from "smol-toml"
import { describe, expect, test } from "vitest"
import { CLIENT_NAMES } from "../../src/hook/client-names.ts"
import type { SettingsFile } from "../../src/install/client.ts"
import type { Scope } from "../../src/install/place.ts"
import { REALISTIC_SETTINGS } from "./realistic-settings.ts"
import { createMachine, type TestMachine } from "./support.ts"

const PLACES: [client: string, scope: Scope][] = [
  ...CLIENT_NAMES.flatMap((client): [string, Scope][] => [
    [client, "user"],
    [client, "project"],
  ]),
  ["git", "project"],
]

/** What a file may look like before; undefined when it is missing. */
const LAYOUTS: Record<string, (text: string | undefined, file: SettingsFile) => string | undefined> = {
  "as users have it": (text) => text,
  "with CRLF": (text) => text?.replaceAll("\n", "\r\n"),
  "with tabs": (text, { form }) => (form === "json" ? text?.replace(/^ +/gm, "\t") : text),
  "with a byte order mark": (text, { form }) =>
    form === "json" || form === "toml" ? text && `\ufeff${text}` : text,
  "without a last line break": (text) => text?.trimEnd(),
  "with line breaks at the end": (text) => text && `${text.trimEnd()}\n\n\n`,
  "as an empty object": (_, { form }) => (form === "json" ? "{}" : undefined),
  "as a spread empty object": (_, { form }) => (form === "json" ? "{\n}\n" : undefined),
  empty: (_, { form }) => (form === "owned" ? undefined : ""),
  "with a comment only": (_, { form }) =>
    form === "json" ? "// nothing yet\n" : form === "toml" ? "# nothing yet" : undefined,
  missing: () => undefined,
}

function realisticText(client: string, path: string): string | undefined {
  return Object.entries(REALISTIC_SETTINGS[client] ?? {}).find(([end]) => path.endsWith(end))?.[1]
}

function writeLayout(machine: TestMachine, client: string, scope: Scope, layout: string): void {
  for (const file of machine.files(client, scope)) {
    const text = LAYOUTS[layout]?.(realisticText(client, file.path), file)
    if (text !== undefined) machine.write(file.path, text, file.form === "block" ? 0o755 : 0o640)
  }
}

function parsed(file: SettingsFile, text: string): unknown {
  if (file.form === "toml") return parseToml(text.replace(/^\ufeff/, ""))
  return parseJsonc(text.replace(/^\ufeff/, ""), [], { allowTrailingComma: true }) ?? {}
}

describe.each(PLACES)("%s in %s scope", (client, scope) => {
  test.each(Object.keys(LAYOUTS))("gives back the original bytes of files %s", (layout) => {
    const machine = createMachine()
    writeLayout(machine, client, scope, layout)
    const original = machine.tree()

    const first = machine.install(client, scope)
    expect(first.filter(({ action }) => action !== "created" && action !== "changed")).toEqual([])
    expect(first.length).toBeGreaterThan(0)
    const installed = machine.tree()
    expect(installed).not.toEqual(original)

    const second = machine.install(client, scope)
    expect(second.map(({ action }) => action)).toEqual(first.map(() => "unchanged"))
    expect(machine.tree()).toEqual(installed)

    const removed = machine.uninstall(client, scope)
    expect(removed.map(({ action }) => action).sort()).toEqual(
      first.map(({ action }) => (action === "created" ? "deleted" : "restored")).sort(),
    )
    expect(machine.tree()).toEqual(original)
    expect(machine.uninstall(client, scope).filter(({ action }) => action !== "unchanged")).toEqual([])
    expect(machine.tree()).toEqual(original)
  })

  test("takes out its own part alone when the user changed the files meanwhile", () => {
    const machine = createMachine()
    writeLayout(machine, client, scope, "as users have it")
    const files = machine.files(client, scope).filter(({ form }) => form !== "owned")
    const before = files.map(({ path }) => (existsSync(path) ? machine.read(path) : ""))
    machine.install(client, scope)
    const extra = {
      json: "\n// of mine\n",
      toml: "\n# of mine\n[mine]\nkey = 1\n",
      block: "\necho mine\n",
      owned: "",
    }
    for (const { path, form } of files) machine.write(path, machine.read(path) + extra[form])

    expect(machine.uninstall(client, scope).filter(({ action }) => action === "failed")).toEqual([])
    for (const [index, file] of files.entries()) {
      const left = machine.read(file.path)
      expect(left).toContain(extra[file.form].trim())
      expect(left).not.toContain("/signalbox/hook/")
      const text = before[index] ?? ""
      if (file.form === "block") {
        expect(left).toBe((text || "#!/bin/sh\n") + extra.block)
      } else if (text === "") {
        expect(Object.keys(parsed(file, left) as object)).toEqual(
          file.form === "toml" ? ["mine"] : Object.keys((file.form === "json" && file.frame) || {}),
        )
      } else {
        const expected = parsed(file, text) as object
        expect(parsed(file, left)).toEqual(
          file.form === "toml" ? { ...expected, mine: { key: 1 } } : expected,
        )
        for (const remark of text.match(/(?:\/\/ |\/\* |# )\w.*/g) ?? []) expect(left).toContain(remark)
      }
    }
  })

  test("takes the files that it made away although they were laid out anew", () => {
    const machine = createMachine()
    const original = machine.tree()
    machine.install(client, scope)
    for (const { form, path } of machine.files(client, scope))
      if (form === "json") machine.write(path, JSON.stringify(JSON.parse(machine.read(path)), null, 7))
    machine.uninstall(client, scope)
    expect(machine.tree()).toEqual(original)
  })

  test("shows in a dry run what it then does, and writes nothing", () => {
    const machine = createMachine()
    writeLayout(machine, client, scope, "as users have it")
    const original = machine.tree()
    const shown = machine.install(client, scope, { isDryRun: true })
    expect(machine.tree()).toEqual(original)
    expect(readdirSync(machine.dataFolder)).toEqual([])
    expect(shown.every(({ diff }) => diff?.includes("\n+"))).toBe(true)

    const done = machine.install(client, scope)
    expect(done.map(({ path, action }) => [path, action])).toEqual(
      shown.map(({ path, action }) => [path, action]),
    )
    const installed = machine.tree()
    const shownRemoval = machine.uninstall(client, scope, { isDryRun: true })
    expect(machine.tree()).toEqual(installed)
    expect(machine.uninstall(client, scope).map(({ action }) => action)).toEqual(
      shownRemoval.map(({ action }) => action),
    )
  })

  test("installs server and hooks apart from each other", () => {
    const machine = createMachine()
    writeLayout(machine, client, scope, "as users have it")
    const original = machine.tree()
    const hooks = machine.install(client, scope, { roles: ["hook"] })
    const servers = machine.install(client, scope, { roles: ["mcp"] })
    expect(
      [...hooks, ...servers].filter(({ action }) => action !== "created" && action !== "changed"),
    ).toEqual([])
    machine.uninstall(client, scope, { roles: ["mcp"] })
    for (const { path } of hooks) expect(machine.read(path)).toContain("/signalbox/hook/")
    machine.uninstall(client, scope, { roles: ["hook"] })
    expect(machine.tree()).toEqual(original)
  })

  test("writes no path of this machine but, for the user alone, that of the launcher", () => {
    const machine = createMachine()
    const { launcher } = machine.machine
    for (const { path } of machine.install(client, scope)) {
      const text = scope === "user" ? machine.read(path).replace(launcher, "") : machine.read(path)
      expect(text).not.toContain(machine.home)
    }
  })
})
