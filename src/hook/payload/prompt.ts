/** Telling what a person has typed from prompts that a client makes up by itself. */

import type { ClientName } from "../client-names.ts"
import type { JsonObject } from "./json.ts"

/** Begins what we hand over when an agent is about to stop; Gemini CLI, Copilot CLI and Qwen Code submit it as a prompt. */
export const PUSH_MARK = "signalbox: mail that cannot wait"

/** How clients begin the prompts that they make up, of background work that has ended or of other agents of theirs. */
const MADE_UP = [
  "<task-notification",
  "<teammate-message",
  "<cross-session-message",
  "<system-reminder",
  "<system_notification",
  "<channel",
  "<tick",
  "<hook_prompt",
]

/** What Claude Code calls a prompt from its screen, and one from its command line or its own library. */
const PERSONS_SOURCES: ReadonlySet<unknown> = new Set(["user", "sdk"])

/** Whether a payload tells of a prompt that a person has typed. */
export function isPersonsPrompt(client: ClientName, payload: JsonObject): boolean {
  const { prompt } = payload
  // After a tool it comes without a text.
  if (typeof prompt !== "string" || prompt.trim() === "") return false
  // These say so themselves, newer versions of Claude Code at least.
  if (client === "qwen-code" && payload.submitted_prompt === undefined) return false
  if (client === "claude-code" && !PERSONS_SOURCES.has(payload.source ?? "user")) return false
  const text = prompt.trimStart()
  return !MADE_UP.some((start) => text.startsWith(start)) && !text.split("\n").some(isOurs)
}

/** Other hooks may have said something before us. */
function isOurs(line: string): boolean {
  return line.startsWith(PUSH_MARK)
}
