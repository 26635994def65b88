/** What the settings of several coding agents have in common: how the server starts, and two ways to list hooks. */

import type { ClientName, HookEvent } from "../hook/client-names.ts"
import { shellCommand, windowsCommand } from "../hook/command.ts"
import { cloneStart, PUBLISHED_START } from "../package-root.ts"
import type { Json, JsonEntry } from "./client.ts"
import type { Place } from "./place.ts"

/** The name of our entry among a client's MCP servers. */
export const SERVER_NAME = "signalbox"

/**
 * How long a client waits for the hook, in seconds. The hook ends itself sooner; these are for the case
 * that it cannot. Codex caps the end of a session at 3 s and warns about more.
 */
export const HOOK_SECONDS: Record<HookEvent, number> = {
  "pre-edit": 5,
  "session-start": 5,
  "session-end": 3,
  mail: 5,
}

/** How long a client waits for the server to start: a cold npx has to fetch the package first. */
export const START_SECONDS = 60

const START = [...PUBLISHED_START]
/** npx is a batch file on Windows, which many clients cannot start themselves. */
const WINDOWS_START = ["cmd", "/c", ...START]

/** A moment at which a client calls the hook, by the client's own name for it. */
export interface HookPoint {
  at: string
  event: HookEvent
  /** Which tools it is about, in the client's own pattern language. */
  matcher?: string
}

/**
 * Returns the words that start the server. Files meant to be committed hold the form that runs everywhere;
 * the user's own may name a copy on this machine.
 */
export function startWords(place: Place): string[] {
  const { ownStart } = place.machine
  if (place.scope === "user" && ownStart !== undefined) return [...ownStart]
  return isWindowsUser(place) ? WINDOWS_START : START
}

/** Returns `command` and `args` as most clients spell them. */
export function startFields(place: Place): { command: string; args: string[] } {
  const [command = "", ...args] = startWords(place)
  return { command, args }
}

/** Whether an MCP entry, in whatever shape, starts our server. */
export function startsOurServer(entry: unknown): boolean {
  const { command, args } = (entry ?? {}) as { command?: unknown; args?: unknown }
  const words = [command, args].flat().filter((word) => word !== undefined)
  const starts = [START, WINDOWS_START, cloneStart() ?? START]
  return starts.some((start) => start.join("\n") === words.join("\n"))
}

/** Returns the variable that tells the server which program it serves. */
export function programVariable(client: ClientName): { SIGNALBOX_PROGRAM: string } {
  return { SIGNALBOX_PROGRAM: client }
}

/** Returns the one command of a hook for clients that know no command per platform. */
export function hookCommand(client: ClientName, event: HookEvent, place: Place): string {
  return isWindowsUser(place) ? windowsCommand(client, event) : shellCommand(client, event)
}

/** Returns the MCP entry of clients that keep `mcpServers`, with whatever else theirs has. */
export function serverEntry(value: { [key: string]: Json }, at = "mcpServers"): JsonEntry {
  return { role: "mcp", at: [at], key: SERVER_NAME, value }
}

/** Returns the events of Claude Code, which others took over with their names; `editTools` is a matcher. */
export function claudePoints(editTools: string): HookPoint[] {
  return [
    { at: "PreToolUse", event: "pre-edit", matcher: editTools },
    { at: "PostToolUse", event: "mail", matcher: editTools },
    { at: "UserPromptSubmit", event: "mail" },
    { at: "SessionStart", event: "session-start" },
    { at: "SessionEnd", event: "session-end" },
  ]
}

/** Returns hooks in the nested form: an event's array holds groups, and a group its matcher and handlers. */
export function nestedHooks(
  points: readonly HookPoint[],
  at: readonly string[],
  handler: (event: HookEvent) => { [key: string]: Json },
): JsonEntry[] {
  return points.map((point) => ({
    role: "hook",
    at: [...at, point.at],
    value: { ...matcherOf(point), hooks: [handler(point.event)] },
  }))
}

/** Returns hooks in the flat form: an event's array holds the handlers themselves. */
export function flatHooks(
  points: readonly HookPoint[],
  at: readonly string[],
  handler: (event: HookEvent) => { [key: string]: Json },
): JsonEntry[] {
  return points.map((point) => ({
    role: "hook",
    at: [...at, point.at],
    value: { ...handler(point.event), ...matcherOf(point) },
  }))
}

function matcherOf(point: HookPoint): { matcher?: string } {
  return point.matcher === undefined ? {} : { matcher: point.matcher }
}

/** A file in a project may be committed and read on any platform; the user's own is read on this one. */
function isWindowsUser(place: Place): boolean {
  return place.scope === "user" && place.machine.platform === "win32"
}
