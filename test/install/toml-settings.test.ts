/** Our table in TOML: appended, found again wherever it is, and cut out with nothing else. */

import fc from "fast-check"
import { parse, stringify } from "smol-toml"
import { describe, expect, test } from "vitest"
import type { TomlSettings } from "../../src/install/client.ts"
import { tomlEdit } from "../../src/install/toml-settings.ts"

const FILE: TomlSettings = {
  form: "toml",
  path: "config.toml",
  role: "mcp",
  table: ["mcp_servers", "signalbox"],
  lines: [`command = "npx"`, `args = ["-y", "signalbox"]`, "startup_timeout_sec = 60"],
}
const EDIT = tomlEdit(FILE)
const KEPT = { containers: [], isCreated: false }

test("a table is appended, and is there once however often it is added", () => {
  const { text } = EDIT.add(`model = "x"`)
  expect(text).toBe(
    [
      `model = "x"`,
      "",
      "# Added by `signalbox install`, removed by `signalbox uninstall`.",
      "[mcp_servers.signalbox]",
      ...FILE.lines,
      "",
    ].join("\n"),
  )
  expect(EDIT.add(text).text).toBe(text)
})

test("tables that a client wrote around ours stay when ours goes", () => {
  const added = EDIT.add(`model = "x"\n`).text
  const tools = `\n[mcp_servers.signalbox.tools.send-message]\napproval_mode = "approve"\n`
  const text = `${added}${tools}\n# trusted\n[projects."/a"]\ntrust_level = "trusted"\n`
  expect(EDIT.remove(text, KEPT).text).toBe(
    `model = "x"\n\n# trusted\n[projects."/a"]\ntrust_level = "trusted"\n`,
  )
})

test("what only looks like our table is not cut", () => {
  const note = `note = """\n[mcp_servers.signalbox]\n"""\nlist = [\n  ["mcp_servers.signalbox"],\n]\nraw = '''\n[mcp_servers.signalbox]'''\n`
  expect(EDIT.remove(EDIT.add(note).text, KEPT).text).toBe(note)
})

test("a table of our name that starts something else stays", () => {
  const text = `[mcp_servers.signalbox]\ncommand = "mine"\n`
  const reason = "[mcp_servers.signalbox] is not as we write it, so it stays as it is"
  expect(EDIT.add(text)).toEqual({ text, leftAlone: [reason], containers: [] })
  expect(EDIT.remove(text, KEPT)).toEqual({ text, leftAlone: [reason] })
})

describe("a text that cannot be edited is refused", () => {
  test.each([
    ["a = 1\nb = = 2", "config.toml:2 is no valid TOML"],
    [`mcp_servers = { docs = { command = "x" } }`, "has no place for [mcp_servers.signalbox]"],
    [`mcp_servers = "none"`, "has no place for [mcp_servers.signalbox]"],
  ])("%j", (text, message) => {
    expect(() => EDIT.add(text)).toThrow(message)
  })

  test("when our table is written inline by hand", () => {
    const text = `mcp_servers = { signalbox = { command = "npx", args = ["-y", "signalbox"] } }`
    expect(() => EDIT.remove(text, KEPT)).toThrow("in a form that cannot be cut out")
  })
})

test("for any settings, removing what was added gives back the text", () => {
  const name = fc.oneof(
    fc.constantFrom("mcp_servers", "a", "[b]", "#"),
    fc.string({ minLength: 1, maxLength: 6 }),
  )
  const value = fc.oneof(fc.string({ unit: "grapheme", maxLength: 20 }), fc.integer(), fc.boolean())
  const values = fc.oneof(value, fc.array(value, { maxLength: 3 }))
  const table = fc.dictionary(name, fc.oneof(values, fc.dictionary(name, values, { maxKeys: 3 })), {
    maxKeys: 4,
  })
  fc.assert(
    fc.property(table, fc.constantFrom("\n", "\r\n"), fc.boolean(), (settings, lineBreak, isOpen) => {
      const { mcp_servers: servers, ...rest } = settings
      const kept =
        typeof servers === "object" && !Array.isArray(servers) ? { ...rest, mcp_servers: servers } : rest
      const whole = stringify(kept).replaceAll("\n", lineBreak)
      const text = isOpen ? whole.trimEnd() : whole
      const added = EDIT.add(text).text
      expect(parse(added).mcp_servers).toHaveProperty("signalbox.startup_timeout_sec", 60)
      const left = EDIT.remove(added, KEPT).text ?? ""
      expect(left.trimEnd()).toBe(text.trimEnd())
    }),
    { numRuns: 500 },
  )
})
