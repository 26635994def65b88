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
  lines: [`command = "/data/signalbox/bin/signalbox"`, "args = []", "startup_timeout_sec = 60"],
}
/** What earlier versions wrote. */
const FORMER = `command = "npx"\nargs = ["-y", "signalbox"]`
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
  const reason =
    "[mcp_servers.signalbox] is not as we write it, so it stays as it is. What starts a program by its name, or by npx, can start one that a project ships in its node_modules/.bin."
  expect(EDIT.add(text)).toEqual({ text, leftAlone: [reason], containers: [] })
  expect(EDIT.remove(text, KEPT)).toEqual({ text, leftAlone: [reason] })
})

describe("a table of an earlier version", () => {
  test.each([
    ["as it was written", `# Added\n[mcp_servers.signalbox]\n${FORMER}\nstartup_timeout_sec = 60\n`],
    ["with CRLF", `[mcp_servers.signalbox]\r\n${FORMER.replace("\n", "\r\n")}\r\n`],
    ["below a quoted header", `a = 1\n[ mcp_servers . "signalbox" ] # ours\n${FORMER}\n[b]\ncommand = 1\n`],
    [
      "with the client's own tables",
      `[mcp_servers.signalbox]\n${FORMER}\n[mcp_servers.signalbox.tools.a]\ncommand = "a"\n`,
    ],
  ])("starts as this one does from then on, and is otherwise as it was: %s", (_, text) => {
    const [command = "", args = ""] = FILE.lines
    const wanted = text.replace(/command = "npx"/, command).replace(`args = ["-y", "signalbox"]`, args)
    expect(EDIT.add(text)).toEqual({ text: wanted, leftAlone: [], containers: [] })
    expect(EDIT.add(wanted).text).toBe(wanted)
  })

  test("is cut out as it stands", () => {
    expect(EDIT.remove(`a = 1\n[mcp_servers.signalbox]\n${FORMER}\n`, KEPT).text).toBe("a = 1\n")
  })
})

describe("a text that cannot be edited is refused with its line and what to do", () => {
  const NO_PLACE = "has no place for [mcp_servers.signalbox]: mcp_servers is written in a form that"
  test.each([
    ["a = 1\nb = = 2", "config.toml:2 is no valid TOML"],
    ["a = 1\na = 2", "config.toml:2 is no valid TOML"],
    ["a = 1\r\n\r\n[b]\r\n[b]\n", "config.toml:4 is no valid TOML"],
    ["a = 1\rb = 2", "config.toml:1 is no valid TOML"],
    [`a = """`, "config.toml:1 is no valid TOML"],
    ["[mcp_servers.signalbox", "config.toml:1 is no valid TOML"],
    [`a = ${"[".repeat(50_000)}`, "config.toml:1 is no valid TOML"],
    [`a = 1\nmcp_servers = { docs = { command = "x" } }`, `config.toml:2 ${NO_PLACE}`],
    [`mcp_servers = "none"`, `config.toml:1 ${NO_PLACE}`],
    [`mcp_servers = 1979-05-27`, `config.toml:1 ${NO_PLACE}`],
    [`mcp_servers = []`, `config.toml:1 ${NO_PLACE}`],
    [`# one\n\n[[mcp_servers]]\nname = "x"`, `config.toml:3 ${NO_PLACE}`],
    [`[[mcp_servers]]\n[mcp_servers.signalbox]\n${FORMER}`, `config.toml:1 ${NO_PLACE}`],
  ])("%j", (text, message) => {
    expect(() => EDIT.add(text)).toThrow(invalidWith(message))
  })

  test.each([
    `[a]\n[mcp_servers]\nsignalbox = { command = "npx", args = ["-y", "signalbox"] }`,
    `a = 1\nmcp_servers.signalbox.command = "npx"\nmcp_servers.signalbox.args = ["-y", "signalbox"]`,
    `a = 1\nmcp_servers = { signalbox = { command = "npx", args = ["-y", "signalbox"] } }`,
    `[a]\n[mcp_servers]\nsignalbox.command = "npx"\nsignalbox.args = ["-y", "signalbox"]`,
  ])("when our table is written inline or with dots by hand: %j", (text) => {
    const held = "config.toml:2 holds [mcp_servers.signalbox] in a form that cannot be"
    expect(() => EDIT.remove(text, KEPT)).toThrow(invalidWith(`${held} cut out`))
    expect(() => EDIT.add(text)).toThrow(invalidWith(`${held} changed`))
  })

  function invalidWith(message: string) {
    return expect.objectContaining({
      code: "invalid",
      message: expect.stringContaining(message),
      hint: expect.stringMatching(/^[A-Z].*\S$/),
    })
  }
})

test.each([
  "big = 9223372036854775807\n",
  "at = 1979-05-27T07:32:00Z\nday = 1979-05-27\ntime = 07:32:00\nno = nan\n",
  "a = 1\r\nb = 2\nc = 3\r\n",
  "a.b.c = 1\n[[d]]\n[[d]]\n[d.e]\n",
  `__proto__ = 1\nconstructor.x = 1\n"" = 2\n`,
])("a table is added to what is odd and valid, and taken out again: %j", (text) => {
  const added = EDIT.add(text).text
  expect(added.startsWith(text)).toBe(true)
  expect(EDIT.remove(added, KEPT).text).toBe(text)
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
