import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"
import { MODEL_CHARS_MAX } from "../../../src/config/limits.ts"
import { CLIENT_NAMES, type ClientName, type HookEvent } from "../../../src/hook/client-names.ts"
import {
  type HookCall,
  PayloadError,
  readPayload,
  type Surroundings,
} from "../../../src/hook/payload/payload.ts"

interface Golden {
  client: ClientName
  event: HookEvent
  /** Of the client that sent it; those without one are made from its documentation. */
  version?: string
  surroundings?: Partial<Surroundings>
  payload: unknown
  /** What is not named is undefined. */
  expected: Partial<HookCall>
}

const NOWHERE: Surroundings = { folder: undefined, projectFolder: undefined }
const FOLDER = fileURLToPath(new URL("../payloads/", import.meta.url))
const GOLDENS = readdirSync(FOLDER)
  .sort()
  .map((file): [string, Golden] => [file, JSON.parse(readFileSync(`${FOLDER}${file}`, "utf8"))])

test("an edit of more files than can be reserved at once is told, not checked", () => {
  const edit = (count: number) => {
    const edits = Array.from({ length: count }, (_, at) => ({ file_path: `${at}.ts`, new_string: "a" }))
    return JSON.stringify({ tool_name: "MultiEdit", tool_input: { edits } })
  }
  expect(readPayload("claude-code", "pre-edit", edit(5_000), NOWHERE).paths).toHaveLength(5_000)
  expect(() => readPayload("claude-code", "pre-edit", edit(5_001), NOWHERE)).toThrow(
    new PayloadError("the edit names 5001 files, and at most 5000 are checked at once"),
  )
})

describe("payloads as clients send them", () => {
  test.each(GOLDENS)("%s", (_file, { client, event, surroundings, payload, expected }) => {
    const call = readPayload(client, event, JSON.stringify(payload), { ...NOWHERE, ...surroundings })
    expect(call).toEqual({ client, event, isPrompt: false, isPassed: false, isContinued: false, ...expected })
  })

  test.each(CLIENT_NAMES)("%s has an edit, a call that is none, and a session", (name) => {
    const own = GOLDENS.map(([, golden]) => golden).filter(({ client }) => client === name)
    const edits = own
      .filter(({ event }) => event === "pre-edit")
      .map(({ expected }) => expected.paths?.length)
    expect(edits).toContain(1)
    expect(edits).toContain(0)
    expect(own.map(({ expected }) => expected.session)).toEqual(own.map(() => "session-b"))
  })

  test("each is named after its client", () => {
    expect(GOLDENS.filter(([file, { client }]) => !file.startsWith(`${client}.`))).toEqual([])
  })
})

/** Reads a payload of no particular client. */
function read(
  payload: object,
  event: HookEvent = "mail",
  surroundings: Partial<Surroundings> = {},
): HookCall {
  return readPayload("claude-code", event, JSON.stringify(payload), { ...NOWHERE, ...surroundings })
}

test("of Cline's name, what scripts of its editor extension hand over is the extension's", () => {
  const read = (payload: object) => readPayload("cline", "pre-edit", JSON.stringify(payload), NOWHERE).client
  expect(read({ hookName: "PreToolUse" })).toBe("cline-editor")
  expect(read({ hook_event_name: "pre-edit" })).toBe("cline")
})

describe("what is no payload", () => {
  test.each(["", " ", "{", "{}}", "undefined", "session_id=1"])("%j is not valid JSON", (text) => {
    expect(() => readPayload("codex", "pre-edit", text, NOWHERE)).toThrow(PayloadError)
    expect(() => readPayload("codex", "pre-edit", text, NOWHERE)).toThrow(/not valid JSON/)
  })

  test.each(["null", "[]", "[{}]", "1", "true", '"text"'])("%j is not a JSON object", (text) => {
    expect(() => readPayload("codex", "pre-edit", text, NOWHERE)).toThrow(PayloadError)
    expect(() => readPayload("codex", "pre-edit", text, NOWHERE)).toThrow(/not a JSON object/)
  })

  test("an empty object says nothing, and a byte order mark does not matter", () => {
    const silent = { session: undefined, folder: undefined, model: undefined, eventName: undefined }
    expect(readPayload("kiro", "session-start", "\uFEFF{}\n", NOWHERE)).toEqual({
      client: "kiro",
      event: "session-start",
      ...silent,
      paths: [],
      continues: false,
      isPrompt: false,
      isPassed: false,
      isContinued: false,
    })
  })

  test("fields of unexpected types count as missing", () => {
    const odd = { session_id: 7, cwd: {}, model: [], hook_event_name: null, source: true, tool_input: 3 }
    const call = read({ ...odd, workspace_roots: [4], tool_name: ["Edit"] }, "session-start")
    expect(call).toEqual(read({}, "session-start"))
  })
})

describe("the session", () => {
  test("is the first of the known names, blanks around it removed", () => {
    expect(read({ session_id: " a ", sessionId: "b" }).session).toBe("a")
    for (const name of ["sessionId", "conversation_id", "trajectory_id", "taskId", "sessionID"])
      expect(read({ session_id: " ", [name]: "a" }).session).toBe("a")
  })

  test("has at most 200 characters, since two cut ones could become one", () => {
    expect(read({ session_id: "x".repeat(200) }).session).toBe("x".repeat(200))
    expect(read({ session_id: "x".repeat(201) }).session).toBeUndefined()
  })
})

describe("the folder", () => {
  const surroundings = { folder: "/hook", projectFolder: "/project" }

  test("is the payload's, then the project's, then the hook's own", () => {
    const roots = { workspace_roots: ["/root", "/other"], workspaceRoots: ["/camel"] }
    expect(read({ cwd: "/cwd", ...roots }, "mail", surroundings).folder).toBe("/cwd")
    expect(read(roots, "mail", surroundings).folder).toBe("/root")
    expect(read({ workspaceRoots: ["/camel"] }, "mail", surroundings).folder).toBe("/camel")
    expect(read({}, "mail", surroundings).folder).toBe("/project")
    expect(read({ cwd: "" }, "mail", { folder: "/hook" }).folder).toBe("/hook")
  })

  test("is absolute where any is", () => {
    expect(read({ cwd: "src" }, "mail", surroundings).folder).toBe("/project")
    expect(read({ cwd: "src" }).folder).toBe("src")
    expect(read({ cwd: "C:\\project" }, "mail", surroundings).folder).toBe("C:\\project")
  })

  test("loses the slash that a URL leaves before a drive", () => {
    expect(read({ workspace_roots: ["/c:/Users/dev"] }).folder).toBe("c:/Users/dev")
  })
})

describe("the model", () => {
  test("is a name, or what an object names", () => {
    expect(read({ model: "opus" }).model).toBe("opus")
    expect(read({ model_name: "SWE-2" }).model).toBe("SWE-2")
    expect(read({ model: { provider: "anthropic", slug: "sonnet" } }).model).toBe("sonnet")
    expect(read({ model: { id: "haiku", display_name: "Haiku" } }).model).toBe("haiku")
  })

  test("has at most as many characters as an agent's profile takes", () => {
    expect(read({ model: "x".repeat(MODEL_CHARS_MAX) }).model).toHaveLength(MODEL_CHARS_MAX)
    expect(read({ model: "x".repeat(MODEL_CHARS_MAX + 1) }).model).toBeUndefined()
  })
})

describe("going on with an earlier conversation", () => {
  test.each(["clear", "compact", "resume", "fork", "Resume"])("a start from %s does", (source) => {
    expect(read({ source }, "session-start").continues).toBe(true)
  })

  test.each(["startup", "new", "", 1])("a start from %j does not", (source) => {
    expect(read({ source }, "session-start").continues).toBe(false)
  })

  test("is said of starts only", () => {
    for (const event of ["pre-edit", "session-end", "mail"] as const)
      expect(read({ source: "resume" }, event).continues).toBe(false)
  })
})
