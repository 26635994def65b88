/**
 * The hook's way out: a decision becomes the exit code and the two streams that this client understands. It
 * never speaks for an edit: a printed "allow" would skip the question that the client asks its user.
 */

import type { HookEvent } from "./client-names.ts"
import { type ClientFacts, type ContextForm, clientFacts } from "./clients.ts"
import type { HookCall } from "./payload/payload.ts"

export type HookDecision =
  | { kind: "allow" }
  /** Allowed, and the model should read this text. */
  | { kind: "inform"; text: string }
  | { kind: "block"; text: string }

export interface HookAnswer {
  exitCode: number
  stdout: string
  stderr: string
}

/** Lets the client go on and says nothing. */
export const NO_OUTPUT: HookAnswer = { exitCode: 0, stdout: "", stderr: "" }

type AnsweredCall = Pick<HookCall, "client" | "event" | "eventName">

/** Exit code of a refusal, in every client that goes by the exit code. */
const BLOCKED = 2

/** Codex takes a refusal without a text for a failure, and lets the edit through. */
const BLOCKED_WITHOUT_TEXT = "This edit is blocked: another agent has reserved the file."

/** Names for `hookSpecificOutput`, where the client did not say its own. */
const USUAL_EVENT_NAMES: Record<HookEvent, string> = {
  "pre-edit": "PreToolUse",
  "session-start": "SessionStart",
  "session-end": "SessionEnd",
  mail: "UserPromptSubmit",
  "turn-end": "Stop",
}

/**
 * Returns what the hook prints and exits with. Only an edit can be blocked: elsewhere a block is passed on
 * as information, since a non-zero exit would swallow the user's prompt or hold up the session. A text that
 * cannot reach the model is cut to its first line, on stderr. Forms: `BlockForm` and `ContextForm`.
 */
export function answerTo(call: AnsweredCall, decision: HookDecision): HookAnswer {
  if (decision.kind === "allow") return { exitCode: 0, stdout: "", stderr: "" }
  const text = decision.text.trim()
  const client = clientFacts(call.client)
  return decision.kind === "block" && call.event === "pre-edit"
    ? block(client, call, text || BLOCKED_WITHOUT_TEXT)
    : inform(client, call, text)
}

function block(client: ClientFacts, call: AnsweredCall, text: string): HookAnswer {
  const stderr = `${text}\n`
  switch (client.blockForm) {
    case "exit-code":
      return { exitCode: BLOCKED, stdout: "", stderr }
    case "permission":
      return {
        exitCode: BLOCKED,
        stdout: json({ permission: "deny", user_message: text, agent_message: text }),
        stderr,
      }
    case "permissionDecision": {
      const denial = { permissionDecision: "deny", permissionDecisionReason: text }
      return { exitCode: 0, stdout: json({ ...denial, ...forVsCode(call, denial) }), stderr }
    }
    case "cancel":
      return { exitCode: 0, stdout: json({ cancel: true, errorMessage: text }), stderr }
  }
}

function inform(client: ClientFacts, call: AnsweredCall, text: string): HookAnswer {
  if (text === "") return { exitCode: 0, stdout: "", stderr: "" }
  const form = client.contextForms[call.event]
  const isHeard = call.eventName === undefined || !client.deafEvents.includes(call.eventName)
  if (form === undefined || !isHeard) {
    return { exitCode: 0, stdout: "", stderr: `${text.split(/[\r\n]/, 1).join()}\n` }
  }
  return { exitCode: 0, stdout: contextIn(form, call, text), stderr: "" }
}

function contextIn(form: ContextForm, call: AnsweredCall, text: string): string {
  switch (form) {
    case "stdout":
      return `${text}\n`
    case "hookSpecificOutput":
      return json(hookSpecificOutput(call, { additionalContext: text }))
    case "additionalContext":
      return json({ additionalContext: text, ...forVsCode(call, { additionalContext: text }) })
    case "contextModification":
      return json({ cancel: false, contextModification: text })
    case "decision":
      return json({ decision: "block", reason: text })
    case "additional_context":
      return json({ additional_context: text })
  }
}

/** VS Code runs Copilot's entries too, and looks in one place only; it says the event's name, Copilot need not. */
function forVsCode(call: AnsweredCall, fields: Record<string, string>): Record<string, unknown> {
  return call.eventName === undefined ? {} : hookSpecificOutput(call, fields)
}

function hookSpecificOutput(call: AnsweredCall, fields: Record<string, string>): Record<string, unknown> {
  const hookEventName = call.eventName ?? USUAL_EVENT_NAMES[call.event]
  return { hookSpecificOutput: { hookEventName, ...fields } }
}

function json(value: Record<string, unknown>): string {
  return `${JSON.stringify(value)}\n`
}
