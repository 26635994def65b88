/**
 * What is known of each coding agent that can run the hook: one table for everything that reads a client's
 * payload, answers it, or looks for it among processes. Only data; `payload/payload.ts` and `answer.ts` act on it.
 */

import type { ClientName, HookEvent } from "./client-names.ts"

/**
 * How a client is told that an edit is refused, beside the text on stderr that each of them gets:
 * - `exit-code`: exit code 2, nothing on stdout;
 * - `permission`: exit code 2 and `{"permission":"deny","user_message","agent_message"}`;
 * - `permissionDecision`: exit code 0 and `{"permissionDecision":"deny","permissionDecisionReason"}`;
 * - `cancel`: exit code 0 and `{"cancel":true,"errorMessage"}`.
 */
export type BlockForm = "exit-code" | "permission" | "permissionDecision" | "cancel"

/**
 * Where a client takes text for its model from: a field of a JSON object on stdout, by its name
 * (`hookSpecificOutput` holds `hookEventName` and `additionalContext`), or stdout as it is. `decision` is
 * `{"decision":"block","reason"}`, which keeps an agent that is about to stop at work.
 */
export type ContextForm =
  | "hookSpecificOutput"
  | "additionalContext"
  | "additional_context"
  | "contextModification"
  | "decision"
  | "stdout"

export interface ClientFacts {
  name: ClientName
  /** As its makers write it. */
  title: string
  /** Whether it passes its session's id to MCP servers in the environment. */
  tellsServersItsSession: boolean
  /**
   * Names under which it is found among the hook's ancestor processes: of executables without `.exe`, of
   * applications without `.app`, of package folders; in lower case.
   */
  processNames: readonly string[]
  blockForm: BlockForm
  /** The events whose output is known to reach the model, and how; no other does. */
  contextForms: Readonly<Partial<Record<HookEvent, ContextForm>>>
  /** Whether its model hears nothing when a session starts, and so is told at the first event that it does hear. */
  hearsStartLater?: boolean
  /** Whether what keeps its agent at work, whoever says it, comes back as a prompt that looks like the user's. */
  submitsWhatHolds?: boolean
  /** The client's own names of events that drop their output although others of the same kind do not. */
  deafEvents: readonly string[]
}

/** An application on Electron runs its extensions in helper processes, which have names of their own. */
function electron(...names: string[]): string[] {
  return names.flatMap((name) => [
    name,
    `${name} helper`,
    `${name} helper (plugin)`,
    `${name} helper (renderer)`,
  ])
}

/** On a remote machine all editors of VS Code's family run their extensions in a Node process of this name. */
const REMOTE_HOST = "bootstrap-fork"
const VSCODE_PROCESSES = [
  ...electron("code", "code - insiders", "code-insiders", "code-oss", "codium", "vscodium"),
  ...["visual studio code", "visual studio code - insiders", "code-server", REMOTE_HOST],
]
const CURSOR_PROCESSES = [...electron("cursor"), "cursor-agent", REMOTE_HOST]
const DEVIN_PROCESSES = [...electron("devin", "devin desktop"), REMOTE_HOST]
/** Windsurf became Devin Desktop, which still runs Cascade's hooks. */
const WINDSURF_PROCESSES = [...electron("windsurf", "windsurf-next"), ...DEVIN_PROCESSES]

const EDITOR_PROCESSES = new Set([...VSCODE_PROCESSES, ...CURSOR_PROCESSES, ...WINDSURF_PROCESSES])

/** Claude Code's way, which others took over. */
const CLAUDE_CONTEXT = {
  "pre-edit": "hookSpecificOutput",
  "session-start": "hookSpecificOutput",
  mail: "hookSpecificOutput",
} as const

/** An agent that is about to stop is told something only in clients that were seen to go on with it. */
const HOLDS = { "turn-end": "decision" } as const

/** All clients, in the order of `CLIENT_NAMES`. */
export const CLIENTS: readonly ClientFacts[] = [
  {
    name: "claude-code",
    title: "Claude Code",
    tellsServersItsSession: true,
    processNames: ["claude", "claude-code"],
    blockForm: "exit-code",
    contextForms: { ...CLAUDE_CONTEXT, ...HOLDS },
    deafEvents: [],
  },
  {
    name: "codex",
    title: "Codex CLI",
    tellsServersItsSession: false,
    processNames: ["codex"],
    blockForm: "exit-code",
    // Before a tool call it takes a context for a failure of the hook.
    contextForms: { "session-start": "hookSpecificOutput", mail: "hookSpecificOutput", ...HOLDS },
    deafEvents: [],
  },
  {
    name: "gemini",
    title: "Gemini CLI",
    tellsServersItsSession: true,
    processNames: ["gemini", "gemini-cli"],
    blockForm: "exit-code",
    contextForms: { "session-start": "hookSpecificOutput", mail: "hookSpecificOutput", ...HOLDS },
    submitsWhatHolds: true,
    deafEvents: [],
  },
  {
    name: "cursor",
    title: "Cursor",
    tellsServersItsSession: false,
    processNames: CURSOR_PROCESSES,
    blockForm: "permission",
    contextForms: { "session-start": "additional_context", mail: "additional_context" },
    deafEvents: ["beforeSubmitPrompt"],
  },
  {
    name: "copilot",
    title: "GitHub Copilot CLI",
    tellsServersItsSession: false,
    processNames: ["copilot"],
    // It takes every exit code but 0 for a failure, and a failed hook for a refusal without a reason.
    blockForm: "permissionDecision",
    contextForms: { "session-start": "additionalContext", mail: "additionalContext", ...HOLDS },
    submitsWhatHolds: true,
    deafEvents: ["UserPromptSubmit"],
  },
  {
    name: "vscode",
    title: "VS Code",
    tellsServersItsSession: false,
    processNames: VSCODE_PROCESSES,
    blockForm: "exit-code",
    contextForms: CLAUDE_CONTEXT,
    deafEvents: ["UserPromptSubmit"],
  },
  {
    name: "devin",
    title: "Devin",
    tellsServersItsSession: false,
    processNames: DEVIN_PROCESSES,
    blockForm: "exit-code",
    contextForms: CLAUDE_CONTEXT,
    deafEvents: [],
  },
  {
    name: "windsurf",
    title: "Windsurf (Cascade)",
    tellsServersItsSession: false,
    processNames: WINDSURF_PROCESSES,
    blockForm: "exit-code",
    contextForms: {},
    deafEvents: [],
  },
  {
    name: "cline",
    title: "Cline CLI",
    tellsServersItsSession: false,
    processNames: ["cline"],
    // Its hook is called by our own plugin, which takes the texts of both streams as they are.
    blockForm: "exit-code",
    contextForms: { "pre-edit": "stdout", "session-start": "stdout", mail: "stdout" },
    deafEvents: [],
  },
  {
    name: "cline-editor",
    title: "Cline in VS Code",
    tellsServersItsSession: false,
    // An extension, so its processes are those of the editor around it; the command line runs its hooks too.
    processNames: ["cline", "cline-core", ...EDITOR_PROCESSES],
    blockForm: "cancel",
    contextForms: {
      "pre-edit": "contextModification",
      "session-start": "contextModification",
      mail: "contextModification",
    },
    deafEvents: [],
  },
  {
    name: "kiro",
    title: "Kiro",
    tellsServersItsSession: false,
    processNames: [...electron("kiro"), "kiro-cli", "kiro-cli-chat", REMOTE_HOST],
    blockForm: "exit-code",
    contextForms: { "session-start": "stdout", mail: "stdout" },
    deafEvents: [],
  },
  {
    name: "opencode",
    title: "OpenCode",
    tellsServersItsSession: false,
    processNames: ["opencode", "opencode-ai"],
    // Its hook is called by our own plugin, which throws the text of stderr and hands on that of stdout.
    blockForm: "exit-code",
    contextForms: { "pre-edit": "stdout", "session-start": "stdout", mail: "stdout" },
    deafEvents: [],
  },
  {
    name: "qwen-code",
    title: "Qwen Code",
    tellsServersItsSession: false,
    processNames: ["qwen", "qwen-code"],
    blockForm: "exit-code",
    contextForms: { ...CLAUDE_CONTEXT, ...HOLDS },
    // Before 0.24 it dropped what this event says, and without a screen it told neither end of a session.
    deafEvents: ["SessionStart"],
    hearsStartLater: true,
  },
]

/** The process names of all clients: a server does not know which of them started it. */
export const ALL_PROCESS_NAMES: ReadonlySet<string> = new Set(
  CLIENTS.flatMap((client) => client.processNames),
)

const EDITOR_NAMES: ReadonlySet<string> = new Set([
  ...EDITOR_PROCESSES,
  ...CLIENTS.filter(({ name }) => ["cursor", "vscode", "devin", "windsurf", "kiro"].includes(name)).flatMap(
    ({ processNames }) =>
      processNames.filter((process) => !process.endsWith("-agent") && !process.includes("-cli")),
  ),
])

/**
 * The process names under which only agents work. Under an editor there is also the terminal that a person
 * types in, so what runs there is nobody's for sure.
 */
export const TERMINAL_PROCESS_NAMES: ReadonlySet<string> = new Set(
  [...ALL_PROCESS_NAMES].filter((name) => !EDITOR_NAMES.has(name)),
)

const BY_NAME = new Map(CLIENTS.map((client) => [client.name, client]))

/** Returns what is known of a client; every `ClientName` has its row. */
export function clientFacts(name: ClientName): ClientFacts {
  const facts = BY_NAME.get(name)
  if (facts === undefined) throw new Error(`no facts on the client ${name}`)
  return facts
}
