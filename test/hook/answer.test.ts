import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { answerTo, type HookDecision } from "../../src/hook/answer.ts"
import { CLIENT_NAMES, type ClientName, HOOK_EVENTS, type HookEvent } from "../../src/hook/client-names.ts"
import { clientFacts } from "../../src/hook/clients.ts"

const TEXT = 'BlueLake holds "src/auth/login.ts" (exclusive, 42 min left).\nMessage BlueLake, or wait.'
const FIRST_LINE = 'BlueLake holds "src/auth/login.ts" (exclusive, 42 min left).\n'

/** The answer, with stdout as the JSON that it holds. */
function answer(client: ClientName, event: HookEvent, decision: HookDecision, eventName?: string) {
  const { exitCode, stdout, stderr } = answerTo({ client, event, eventName }, decision)
  return { exitCode, stdout: stdout.startsWith("{") ? JSON.parse(stdout) : stdout, stderr }
}

describe("a blocked edit", () => {
  const block = (client: ClientName, eventName?: string) =>
    answer(client, "pre-edit", { kind: "block", text: TEXT }, eventName)
  const stderr = `${TEXT}\n`

  test.each(["claude-code", "codex", "gemini", "vscode", "devin", "windsurf", "kiro", "opencode"] as const)(
    "of %s is exit code 2 with the text on stderr and nothing on stdout",
    (client) => {
      expect(block(client, "PreToolUse")).toEqual({ exitCode: 2, stdout: "", stderr })
    },
  )

  test("of Cursor says it in JSON too", () => {
    const stdout = { permission: "deny", user_message: TEXT, agent_message: TEXT }
    expect(block("cursor", "preToolUse")).toEqual({ exitCode: 2, stdout, stderr })
  })

  test("of Copilot is JSON and no failure", () => {
    const stdout = { permissionDecision: "deny", permissionDecisionReason: TEXT }
    expect(block("copilot")).toEqual({ exitCode: 0, stdout, stderr })
  })

  test("of Copilot's entry is understood by VS Code, which names the event", () => {
    const denial = { permissionDecision: "deny", permissionDecisionReason: TEXT }
    const stdout = { ...denial, hookSpecificOutput: { hookEventName: "PreToolUse", ...denial } }
    expect(block("copilot", "PreToolUse")).toEqual({ exitCode: 0, stdout, stderr })
  })

  test("of Cline in an editor is a cancelled tool", () => {
    expect(block("cline-editor", "PreToolUse")).toEqual({
      exitCode: 0,
      stdout: { cancel: true, errorMessage: TEXT },
      stderr,
    })
  })

  test.each(CLIENT_NAMES)("of %s has a text even when none was given", (client) => {
    const { stdout, stderr } = answerTo(
      { client, event: "pre-edit", eventName: undefined },
      { kind: "block", text: " \n" },
    )
    expect(stderr).toMatch(/^This edit is blocked.*\.\n$/)
    if (stdout !== "") expect(stdout).toContain("This edit is blocked")
  })
})

describe("what the model should read", () => {
  const inform = (client: ClientName, event: HookEvent, eventName?: string) =>
    answer(client, event, { kind: "inform", text: TEXT }, eventName)
  const nested = (hookEventName: string) => ({
    exitCode: 0,
    stdout: { hookSpecificOutput: { hookEventName, additionalContext: TEXT } },
    stderr: "",
  })
  const flat = (field: string) => ({ exitCode: 0, stdout: { [field]: TEXT }, stderr: "" })
  const plain = { exitCode: 0, stdout: `${TEXT}\n`, stderr: "" }
  const unheard = { exitCode: 0, stdout: "", stderr: FIRST_LINE }

  test.each(["claude-code", "vscode", "devin"] as const)("reaches that of %s before an edit", (client) => {
    expect(inform(client, "pre-edit", "PreToolUse")).toEqual(nested("PreToolUse"))
  })

  test.each(["codex", "gemini", "cursor", "copilot", "windsurf", "kiro"] as const)(
    "is one line on stderr in %s before an edit",
    (client) => {
      expect(inform(client, "pre-edit", "PreToolUse")).toEqual(unheard)
    },
  )

  test.each(["claude-code", "codex", "gemini", "vscode", "devin"] as const)(
    "reaches that of %s at the start of a session and with the mail",
    (client) => {
      expect(inform(client, "session-start", "SessionStart")).toEqual(nested("SessionStart"))
      expect(inform(client, "mail", "PostToolUse")).toEqual(nested("PostToolUse"))
    },
  )

  test("repeats the client's own name of the event, or the usual one", () => {
    expect(inform("gemini", "mail", "BeforeAgent")).toEqual(nested("BeforeAgent"))
    expect(inform("claude-code", "pre-edit")).toEqual(nested("PreToolUse"))
    expect(inform("claude-code", "session-start")).toEqual(nested("SessionStart"))
    expect(inform("claude-code", "mail")).toEqual(nested("UserPromptSubmit"))
  })

  test("reaches Cursor's and Copilot's models through fields of their own", () => {
    expect(inform("cursor", "session-start", "sessionStart")).toEqual(flat("additional_context"))
    expect(inform("cursor", "mail", "postToolUse")).toEqual(flat("additional_context"))
    expect(inform("copilot", "session-start")).toEqual(flat("additionalContext"))
    expect(inform("copilot", "mail")).toEqual(flat("additionalContext"))
  })

  test("reaches VS Code's model through Copilot's entry", () => {
    const { stdout } = nested("SessionStart")
    expect(inform("copilot", "session-start", "SessionStart")).toEqual({
      exitCode: 0,
      stdout: { additionalContext: TEXT, ...stdout },
      stderr: "",
    })
  })

  test.each([
    ["cursor", "beforeSubmitPrompt"],
    ["copilot", "UserPromptSubmit"],
    ["vscode", "UserPromptSubmit"],
  ] as const)("is one line on stderr where %s drops the output of %s", (client, eventName) => {
    expect(inform(client, "mail", eventName)).toEqual(unheard)
  })

  test("reaches the model of Cline in an editor at every event but the last", () => {
    const stdout = { cancel: false, contextModification: TEXT }
    for (const event of ["pre-edit", "session-start", "mail"] as const)
      expect(inform("cline-editor", event)).toEqual({ exitCode: 0, stdout, stderr: "" })
    expect(inform("cline-editor", "session-end")).toEqual(unheard)
  })

  test("is what Kiro finds on stdout", () => {
    expect(inform("kiro", "session-start", "agentSpawn")).toEqual(plain)
    expect(inform("kiro", "mail")).toEqual(plain)
  })

  test("is what OpenCode's plugin finds on stdout, before an edit too", () => {
    for (const event of ["pre-edit", "session-start", "mail"] as const)
      expect(inform("opencode", event, event)).toEqual(plain)
  })

  test("is never heard in Cascade", () => {
    for (const event of HOOK_EVENTS) expect(inform("windsurf", event)).toEqual(unheard)
  })

  test.each(CLIENT_NAMES)("is not heard in %s at the end of a session", (client) => {
    expect(inform(client, "session-end", "SessionEnd")).toEqual(unheard)
  })
})

describe("in every client and event", () => {
  const CALL = fc.record({
    client: fc.constantFrom(...CLIENT_NAMES),
    event: fc.constantFrom(...HOOK_EVENTS),
    eventName: fc.option(fc.constantFrom("PreToolUse", "preToolUse", "SessionStart", "BeforeAgent"), {
      nil: undefined,
    }),
  })
  const ANY_TEXT = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.constantFrom("", "\n", "{", "[1]"))

  test("nothing is said of what is allowed", () => {
    fc.assert(
      fc.property(CALL, (call) => {
        expect(answerTo(call, { kind: "allow" })).toEqual({ exitCode: 0, stdout: "", stderr: "" })
        expect(answerTo(call, { kind: "inform", text: " " })).toEqual({ exitCode: 0, stdout: "", stderr: "" })
      }),
    )
  })

  test("stdout is empty or one JSON object without consent, whatever the text", () => {
    fc.assert(
      fc.property(CALL, fc.constantFrom("inform", "block"), ANY_TEXT, (call, kind, text) => {
        const { exitCode, stdout } = answerTo(call, { kind, text } as HookDecision)
        expect([0, 2]).toContain(exitCode)
        if (stdout === "" || clientFacts(call.client).contextForms[call.event] === "stdout") return
        const said = JSON.parse(stdout)
        expect(said).toBeTypeOf("object")
        expect([undefined, "deny"]).toContain(said.permission ?? said.permissionDecision)
        expect([undefined, "deny"]).toContain(said.hookSpecificOutput?.permissionDecision)
      }),
    )
  })

  test("only edits are blocked, elsewhere a block is information", () => {
    fc.assert(
      fc.property(CALL, ANY_TEXT, (call, text) => {
        const answered = answerTo(call, { kind: "block", text })
        if (call.event === "pre-edit") expect(answered.stderr.trim()).not.toBe("")
        else expect(answered).toEqual(answerTo(call, { kind: "inform", text }))
      }),
    )
  })
})
