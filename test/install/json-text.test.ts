/** Edits of JSON text: nothing but the child in question moves. */

import fc from "fast-check"
import { parse } from "jsonc-parser"
import { describe, expect, test } from "vitest"
import type { JsonSettings } from "../../src/install/client.ts"
import { jsonEdit } from "../../src/install/json-settings.ts"
import { insertChild, parseObject } from "../../src/install/json-text.ts"

const COMMAND = "sh -c 'h=~/.local/share/signalbox/hook/hook.sh; exec sh $h' signalbox cursor pre-edit"
const SERVER = { command: "npx", args: ["-y", "signalbox"] }

const SETTINGS: JsonSettings = {
  form: "json",
  path: "settings.json",
  entries: [
    { role: "mcp", at: ["mcpServers"], key: "signalbox", value: SERVER },
    { role: "hook", at: ["hooks", "preToolUse"], value: { matcher: "Edit", hooks: [{ command: COMMAND }] } },
  ],
}
const EDIT = jsonEdit("cursor", SETTINGS)

function insert(text: string, value: number): string {
  return insertChild(text, parseObject(text, "a.json"), { key: "new", value })
}

test.each(["[", '{"a":'])("a file that is nested without end is refused by its line: %s", (piece) => {
  const text = `{\n  "a": ${piece.repeat(100_000)}`
  expect(() => parseObject(text, "a.json")).toThrow("a.json:2 is nested more than 100 levels deep")
  expect(() => parseObject(`{"a":${"[".repeat(99)}${"]".repeat(99)}}`, "a.json")).not.toThrow()
})

describe("a child is inserted", () => {
  test.each([
    ["in line", `{"a":1}`, `{"a":1,"new":2}`],
    ["in line with gaps", `{ "a": 1, "b": 2 }`, `{ "a": 1, "b": 2, "new": 2 }`],
    ["on a line of its own", `{\n    "a": 1\n}\n`, `{\n    "a": 1,\n    "new": 2\n}\n`],
    ["behind a remark on the last child", `{\n  "a": 1 // one\n}`, `{\n  "a": 1, // one\n  "new": 2\n}`],
    ["behind a trailing comma", `{\n\t"a": 1,\n}`, `{\n\t"a": 1,\n\t"new": 2,\n}`],
    ["with the line breaks of the file", `{\r\n  "a": 1\r\n}`, `{\r\n  "a": 1,\r\n  "new": 2\r\n}`],
    ["into nothing", "{}", `{\n  "new": 2\n}`],
    ["below a remark alone", "{\n  // empty\n}", `{\n  // empty\n  "new": 2\n}`],
    ["below a remark before the brace", "{\n  // empty\n  }", `{\n  // empty\n  "new": 2\n  }`],
  ])("%s", (_, before, after) => expect(insert(before, 2)).toBe(after))
})

describe("our part is taken out", () => {
  const entry = `"signalbox": ${JSON.stringify(SERVER)}`
  const remove = (text: string) => EDIT.remove(text, { containers: [], isCreated: false }).text

  test.each([
    ["from between others", `{"mcpServers":{"a":1, ${entry}, "b":2}}`, `{"mcpServers":{"a":1, "b":2}}`],
    ["from the start", `{"mcpServers":{ ${entry}, "b":2 }}`, `{"mcpServers":{ "b":2 }}`],
    ["from the end", `{"mcpServers":{"a":1,${entry}}}`, `{"mcpServers":{"a":1}}`],
    ["alone", `{"mcpServers":{\n${entry}\n}}`, `{"mcpServers":{}}`],
    [
      "without the remarks around it",
      `{"mcpServers":{\n  "a":1, // first\n  // ours?\n  ${entry}, // yes\n  "b":2\n}}`,
      `{"mcpServers":{\n  "a":1, // first\n  // ours? // yes\n  "b":2\n}}`,
    ],
    [
      "without the remark on the child before it",
      `{"mcpServers":{\n  "a":1, // first\n  ${entry}\n}}`,
      `{"mcpServers":{\n  "a":1 // first\n}}`,
    ],
  ])("%s", (_, before, after) => expect(remove(before)).toBe(after))

  test("with a group of hooks only when nobody else has a hook in it", () => {
    const group = (...commands: string[]) =>
      JSON.stringify({ hooks: { preToolUse: [{ hooks: commands.map((command) => ({ command })) }] } })
    expect(remove(group(COMMAND, "mine"))).toBe(group("mine"))
    expect(remove(group("mine", COMMAND))).toBe(group("mine"))
    expect(remove(group(COMMAND))).toBe(`{"hooks":{"preToolUse":[]}}`)
  })

  test("with containers only when they were made for it and are empty", () => {
    const text = EDIT.add("{}").text
    const containers = [["mcpServers"], ["hooks"], ["hooks", "preToolUse"]]
    expect(EDIT.remove(text, { containers, isCreated: false }).text).toBe("{}")
    expect(parse(EDIT.remove(text, { containers: [["hooks"]], isCreated: false }).text ?? "")).toEqual({
      mcpServers: {},
      hooks: { preToolUse: [] },
    })
  })
})

describe("what is there already", () => {
  test("a hook in a group with others is not added again", () => {
    const hooks = [{ command: "mine" }, { command: COMMAND }]
    const text = JSON.stringify({
      mcpServers: { signalbox: SERVER },
      hooks: { preToolUse: [{ matcher: "Edit", hooks }] },
    })
    expect(EDIT.add(text)).toEqual({ text, leftAlone: [], containers: [] })
  })

  test("a hook of an older version gives way, and others in its group stay", () => {
    const old = { command: `${COMMAND}`, timeout: 99 }
    const text = JSON.stringify({
      mcpServers: {},
      hooks: { preToolUse: [{ matcher: "Edit", hooks: [old, { command: "mine" }] }] },
    })
    expect(parse(EDIT.add(text).text).hooks.preToolUse).toEqual([
      { matcher: "Edit", hooks: [{ command: "mine" }] },
      { matcher: "Edit", hooks: [{ command: COMMAND }] },
    ])
  })

  test("a hook that runs for another client is not ours", () => {
    const text = JSON.stringify({ hooks: { preToolUse: [{ command: COMMAND.replace("cursor", "codex") }] } })
    expect(EDIT.remove(text, { containers: [], isCreated: false }).text).toBe(text)
  })

  test("a server of our name that starts something else stays, when adding and when removing", () => {
    const text = JSON.stringify({ mcpServers: { signalbox: { command: "node", args: ["/my/fork.js"] } } })
    expect(EDIT.add(text).leftAlone).toEqual([
      `"signalbox" on line 1 is not as we write it, so it stays as it is. What starts a program by its name, or by npx, can start one that a project ships in its node_modules/.bin.`,
    ])
    expect(parse(EDIT.add(text).text).mcpServers).toEqual(parse(text).mcpServers)
    const removal = EDIT.remove(text, { containers: [], isCreated: false })
    expect(removal.text).toBe(text)
    expect(removal.leftAlone).toHaveLength(1)
  })
})

describe("a text that cannot be edited is refused", () => {
  test.each([
    [`{"a": 1`, "settings.json:1 is no valid JSON (CloseBraceExpected)"],
    [`{\n"a": 1,\n"b" 2}`, "settings.json:3 is no valid JSON (ColonExpected)"],
    ["[]", "settings.json:1 the file must be an object"],
    [`{"mcpServers": []}`, `settings.json:1 "mcpServers" must be an object`],
    [`{\n"hooks": "none"}`, `settings.json:2 "hooks" must be an object`],
    [`{"hooks":\n\n {"preToolUse": {}}}`, `settings.json:3 "hooks.preToolUse" must be an array`],
    [`{"mcpServers": {},\n"mcpServers": {}}`, `settings.json:2 "mcpServers" stands there twice`],
  ])("%j", (text, message) => {
    expect(() => EDIT.add(text)).toThrow(message)
  })
})

describe("for any settings", () => {
  const key = fc.oneof(
    fc.constantFrom("mcpServers", "hooks", "preToolUse", "a", "__proto__", 'q"\\'),
    fc.string({ maxLength: 5 }),
  )
  const { value: anything } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<unknown>(null, true, 0, -1.5, "", "text // no remark", "/* neither */"),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(key, tie("value"), { maxKeys: 4 }),
    ),
  }))
  const record = (value: fc.Arbitrary<unknown>) => fc.dictionary(key, value, { maxKeys: 4 })
  const settings = fc
    .tuple(
      record(anything),
      fc.record({ mcpServers: record(anything) }, { requiredKeys: [] }),
      fc.record(
        { hooks: fc.record({ preToolUse: fc.array(anything, { maxLength: 3 }) }, { requiredKeys: [] }) },
        { requiredKeys: [] },
      ),
    )
    .map(([rest, servers, hooks]) => {
      const { mcpServers: _, hooks: __, ...others } = rest
      return { ...others, ...servers, ...hooks }
    })
  const layout = fc.constantFrom<[number | string, string]>([0, "\n"], [2, "\n"], [3, "\r\n"], ["\t", "\n"])

  /** Writes a remark before every line, each with a number of its own. */
  function remarked(text: string, lineBreak: string): string {
    const lines = text
      .split("\n")
      .map((line, index) => (index % 2 === 0 ? `${line} // remark ${index}` : line))
    return lines.join(lineBreak)
  }

  test("removing what was added gives equal settings and keeps every remark", () => {
    fc.assert(
      fc.property(settings, layout, (value, [indent, lineBreak]) => {
        const plain = JSON.stringify(value, null, indent)
        const text = indent === 0 ? plain : remarked(plain, lineBreak)
        const added = EDIT.add(text)
        expect(added.leftAlone).toEqual([])
        expect(parse(added.text).mcpServers.signalbox).toEqual(SERVER)
        expect(EDIT.add(added.text).text).toBe(added.text)
        const left = EDIT.remove(added.text, { containers: added.containers, isCreated: false }).text ?? ""
        expect(parse(left)).toEqual(parse(text))
        const remarks = (one: string) => one.match(/\/\/ remark \d+/g)
        expect(remarks(added.text)).toEqual(remarks(text))
        expect(remarks(left)).toEqual(remarks(text))
      }),
      { numRuns: 500 },
    )
  })
})
