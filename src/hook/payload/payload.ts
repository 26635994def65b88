/**
 * The hook's way in: what a client's own payload means, in one shape for all clients. Payloads differ in the
 * names of their fields only, so all names are tried in one order and the client is not asked.
 *
 * Sources of the formats: the hook references of Claude Code, Codex, Gemini CLI, Cursor, Copilot, VS Code,
 * Devin, Windsurf, Cline, Kiro and Qwen Code; OpenCode's and those of Cline's command line are
 * made by our own plugins. `test/hook/payloads` has one of each.
 */

import {
  HOOK_EVENT_NAME_CHARS_MAX,
  HOOK_PATHS_MAX,
  HOOK_SESSION_CHARS_MAX,
  MODEL_CHARS_MAX,
} from "../../config/limits.ts"
import type { ClientName, HookEvent } from "../client-names.ts"
import { editedPaths } from "./edit.ts"
import { asObject, asTexts, type JsonObject, parseJson, textAt } from "./json.ts"
import { isAbsolutePath, withoutSlashBeforeDrive } from "./paths.ts"
import { isPersonsPrompt } from "./prompt.ts"

/** What the hook knows besides the payload. */
export interface Surroundings {
  /** The hook's working folder. */
  folder?: string | undefined
  /** The first set of CLAUDE_PROJECT_DIR, DEVIN_PROJECT_DIR and GEMINI_PROJECT_DIR. */
  projectFolder?: string | undefined
}

export interface HookCall {
  client: ClientName
  event: HookEvent
  /** The client's own id of its session, if it gives one. */
  session: string | undefined
  /** The folder that relative paths start from, absolute where known. */
  folder: string | undefined
  /**
   * What is about to be written, created, moved or deleted, as the client names it; absolute or relative;
   * [] when this is no edit.
   */
  paths: string[]
  model: string | undefined
  /** The client's own name of the event, for answers that must repeat it. */
  eventName: string | undefined
  /** Whether a session start goes on with an earlier conversation. */
  continues: boolean
  /** Whether this is a prompt of the person, and none that the client has made up. */
  isPrompt: boolean
  /** Whether nobody may be kept from stopping: a sub-agent stops, or a client that was not seen to hear of it. */
  isPassed: boolean
  /** Whether some hook, ours or another, has kept the agent from stopping since its user's last prompt. */
  isContinued: boolean
}

/** The hook was given something that is no payload of any client. */
export class PayloadError extends Error {
  constructor(message: string) {
    super(message)
    this.name = "PayloadError"
  }
}

const SESSION_FIELDS = ["session_id", "sessionId", "conversation_id", "trajectory_id", "taskId", "sessionID"]
const EVENT_NAME_FIELDS = ["hook_event_name", "hookEventName", "agent_action_name", "hookName"]
const FOLDER_FIELDS = ["cwd", "workspace_roots", "workspaceRoots"]

/** Sources of a session start, and an event, that go on with an earlier conversation. */
const CONTINUING = new Set(["clear", "compact", "resume", "fork", "taskresume"])

/**
 * Returns what a payload says, for any client's dialect; fields of an unexpected type count as missing.
 * Session ids have 1 to 200 characters, models up to the limit of an agent's profile. Throws PayloadError
 * when the text is no JSON object, and when an edit names more than 5,000 files.
 */
export function readPayload(
  client: ClientName,
  event: HookEvent,
  text: string,
  surroundings: Surroundings,
): HookCall {
  const payload = parsePayload(text)
  const eventName = textAt(payload, EVENT_NAME_FIELDS, HOOK_EVENT_NAME_CHARS_MAX)
  return {
    client: clientIn(payload, client),
    event,
    session: textAt(payload, SESSION_FIELDS, HOOK_SESSION_CHARS_MAX),
    folder: folderOf(payload, surroundings),
    paths: event === "pre-edit" ? requireFew(editedPaths(payload, eventName)) : [],
    model: modelOf(payload),
    eventName,
    continues: event === "session-start" && continuesIn(payload, eventName),
    isPrompt: event === "mail" && !isOfSubAgent(payload) && isPersonsPrompt(client, payload),
    isPassed: event === "turn-end" && (isOfSubAgent(payload) || payload.hookEventName !== undefined),
    isContinued: event === "turn-end" && payload.stop_hook_active === true,
  }
}

/** Sub-agents mostly share their session's id; these name them, in Copilot CLI the second. */
function isOfSubAgent({ agent_id, agentId }: JsonObject): boolean {
  return [agent_id, agentId].some((id) => id !== undefined && id !== null && id !== "")
}

/** Hook files of earlier versions call Cline's editor extension by the name that its command line has now. */
function clientIn(payload: JsonObject, client: ClientName): ClientName {
  return client === "cline" && payload.hookName !== undefined ? "cline-editor" : client
}

function parsePayload(text: string): JsonObject {
  // PowerShell puts a byte order mark before what it pipes.
  const value = parseJson(text.replace(/^\uFEFF/, ""))
  if (value === undefined) throw new PayloadError("the payload is not valid JSON")
  const payload = asObject(value)
  if (payload === undefined) throw new PayloadError("the payload is not a JSON object")
  return payload
}

function requireFew(paths: string[]): string[] {
  if (paths.length <= HOOK_PATHS_MAX) return paths
  throw new PayloadError(
    `the edit names ${paths.length} files, and at most ${HOOK_PATHS_MAX} are checked at once`,
  )
}

function folderOf(payload: JsonObject, surroundings: Surroundings): string | undefined {
  const said = FOLDER_FIELDS.flatMap((field) => asTexts(payload[field]).slice(0, 1))
  const folders = [...said, surroundings.projectFolder, surroundings.folder]
    .filter((folder) => folder !== undefined && folder.trim() !== "")
    .map((folder) => withoutSlashBeforeDrive(folder ?? ""))
  return folders.find(isAbsolutePath) ?? folders[0]
}

/** A name, or what Cline has instead: an object with the provider and the model's `slug`. */
function modelOf(payload: JsonObject): string | undefined {
  const named = textAt(payload, ["model", "model_name"], MODEL_CHARS_MAX)
  return named ?? textAt(asObject(payload.model) ?? {}, ["slug", "id"], MODEL_CHARS_MAX)
}

function continuesIn(payload: JsonObject, eventName: string | undefined): boolean {
  const source = textAt(payload, ["source"], HOOK_EVENT_NAME_CHARS_MAX) ?? eventName ?? ""
  return CONTINUING.has(source.toLowerCase())
}
