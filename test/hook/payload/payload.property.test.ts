import fc from "fast-check"
import { expect, test } from "vitest"
import { CLIENT_NAMES, HOOK_EVENTS } from "../../../src/hook/client-names.ts"
import { type HookCall, PayloadError, readPayload } from "../../../src/hook/payload/payload.ts"

const CLIENT = fc.constantFrom(...CLIENT_NAMES)
const EVENT = fc.constantFrom(...HOOK_EVENTS)
const NOWHERE = { folder: undefined, projectFolder: undefined }

/** JSON in which the names that clients use are likely, at any depth and with values of any type. */
const FIELD = fc.constantFrom(
  ...["session_id", "cwd", "workspace_roots", "model", "source", "hook_event_name", "preToolUse"],
  ...["tool_name", "toolName", "tool_input", "toolArgs", "tool_info", "parameters", "input", "command"],
  ...["file_path", "path", "files", "edits", "replacements", "content", "patch", "__proto__", "constructor"],
)
const SCALAR = fc.oneof(
  fc.constantFrom(
    "Edit",
    "Read",
    "apply_patch",
    "Bash",
    "src/a.ts",
    "*** Begin Patch\n*** Add File: a",
    "{}",
  ),
  fc.string({ unit: "binary" }),
  fc.jsonValue({ maxDepth: 1 }),
)
const { payload: PAYLOAD } = fc.letrec<{ payload: Record<string, unknown>; value: unknown }>((tie) => ({
  payload: fc.dictionary(FIELD, tie("value"), { maxKeys: 8, noNullPrototype: true }),
  value: fc.oneof({ maxDepth: 4 }, SCALAR, tie("payload"), fc.array(tie("value"), { maxLength: 4 })),
}))

function expectSound(call: HookCall): void {
  expect(Array.isArray(call.paths)).toBe(true)
  expect(call.paths.filter((path) => typeof path !== "string" || path.trim() === "")).toEqual([])
  expect(new Set(call.paths).size).toBe(call.paths.length)
  for (const text of [call.session, call.folder, call.model, call.eventName])
    expect(text === undefined || (typeof text === "string" && text !== "")).toBe(true)
  if (call.event !== "pre-edit") expect(call.paths).toEqual([])
}

test("whatever the text, a call or a PayloadError comes out", () => {
  const text = fc.oneof(
    fc.json(),
    fc.string({ unit: "binary" }),
    PAYLOAD.map((value) => JSON.stringify(value)),
  )
  fc.assert(
    fc.property(CLIENT, EVENT, text, (client, event, payload) => {
      try {
        expectSound(readPayload(client, event, payload, NOWHERE))
      } catch (error) {
        if (!(error instanceof PayloadError)) throw error
      }
    }),
    { numRuns: 1_000 },
  )
})

test("every JSON object is a payload, and its client changes nothing in what it means", () => {
  fc.assert(
    fc.property(CLIENT, CLIENT, EVENT, PAYLOAD, (one, other, event, payload) => {
      const text = JSON.stringify(payload)
      const call = readPayload(one, event, text, NOWHERE)
      expectSound(call)
      expect(readPayload(other, event, text, NOWHERE)).toEqual({ ...call, client: other })
    }),
    { numRuns: 1_000 },
  )
})

test("a tool that reads never has paths", () => {
  const reading = fc.constantFrom("Read", "read_file", "view", "Grep", "glob", "fs_read", "mcp__a__write")
  fc.assert(
    fc.property(CLIENT, reading, PAYLOAD, (client, tool, payload) => {
      const text = JSON.stringify({ ...payload, tool_name: tool })
      expect(readPayload(client, "pre-edit", text, NOWHERE).paths).toEqual([])
    }),
    { numRuns: 500 },
  )
})

test("an edit tool's path is found whatever stands around it", () => {
  const path = fc.string({ minLength: 1 }).filter((text) => text.trim() !== "" && !text.startsWith("/"))
  fc.assert(
    fc.property(CLIENT, path, PAYLOAD, (client, file_path, payload) => {
      const input = { ...payload, command: "create", file_path }
      const text = JSON.stringify({ ...payload, tool_name: "Edit", tool_input: input })
      expect(readPayload(client, "pre-edit", text, NOWHERE).paths).toContain(file_path)
    }),
    { numRuns: 500 },
  )
})

test.each([
  ["objects", `${'{"files":['.repeat(100_000)}{}${"]}".repeat(100_000)}`],
  ["arrays", `{"tool_input":{"edits":${"[".repeat(100_000)}${"]".repeat(100_000)}}}`],
  ["blanks", JSON.stringify({ command: `*** Begin Patch${" \n".repeat(1_000_000)}` })],
  ["headers", JSON.stringify({ command: `cd "a apply_patch *** Begin Patch${"\n ***".repeat(500_000)}` })],
  ["changes of folder", JSON.stringify({ command: `${"cd  ".repeat(200_000)}apply_patch *** Begin Patch` })],
])("much of one thing, %s, is read all the same", (_thing, text) => {
  expectSound(readPayload("codex", "pre-edit", text, NOWHERE))
})
