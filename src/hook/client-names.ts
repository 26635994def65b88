/** The coding agents and the moments that the hook knows, as its command line names them. */

/** Coding agents with a hook, in the order in which documentation lists them. */
export const CLIENT_NAMES = [
  "claude-code",
  "codex",
  "gemini",
  "cursor",
  "copilot",
  "vscode",
  "devin",
  "windsurf",
  "cline",
  "cline-editor",
  "kiro",
  "opencode",
  "qwen-code",
] as const
export type ClientName = (typeof CLIENT_NAMES)[number]

/**
 * What a client can call the hook for: before an edit, at both ends of a session, where waiting mail
 * may be told (after a tool call, or when the user submits a prompt), and when the agent is about to stop.
 */
export const HOOK_EVENTS = ["pre-edit", "session-start", "session-end", "mail", "turn-end"] as const
export type HookEvent = (typeof HOOK_EVENTS)[number]
