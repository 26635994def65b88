/** What the settings of several coding agents have in common: how the server starts, and two ways to list hooks. */

import { isDeepStrictEqual } from "node:util"
import type { ClientName, HookEvent } from "../hook/client-names.ts"
import { shellCommand, windowsCommand } from "../hook/command.ts"
import { cloneStart, PUBLISHED_START } from "../runtime/package-root.ts"
import { posixQuoted } from "../runtime/shell-quoting.ts"
import type { Json, JsonEntry } from "./client.ts"
import { type Place, variable } from "./place.ts"

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
  "turn-end": 5,
}

/** How long a client waits for the server to start: a package that is gone has to be fetched first. */
export const START_SECONDS = 60

/**
 * Starts the launcher of whoever reads the file. It holds no path of this machine, and no `${`, in which many clients
 * see variables of their own.
 */
const SHARED_SCRIPT = [
  `for signalbox_data in "$XDG_DATA_HOME" "$HOME/.local/share" "$HOME/Library/Application Support"`,
  `do [ -x "$signalbox_data/signalbox/bin/signalbox" ] && exec "$signalbox_data/signalbox/bin/signalbox"`,
  `done`,
  `echo ${posixQuoted("signalbox is not installed on this machine; its README says how")} >&2`,
  "exit 1",
].join("; ")
const SHARED_START = ["/bin/sh", "-c", SHARED_SCRIPT]

/** What earlier versions wrote. In a project npx may find that project's own program of our name. */
const FORMER_STARTS = [[...PUBLISHED_START], ["cmd", "/c", ...PUBLISHED_START], formerCloneStart()]

/** A clone was started by whatever Node stands first on PATH. */
function formerCloneStart(): string[] {
  const [, ...args] = cloneStart() ?? []
  return args.length === 0 ? [] : ["node", ...args]
}

/** How an MCP entry starts its server; some clients keep all words in `command`. */
export interface Start {
  command?: Json
  args?: Json
}

/** A moment at which a client calls the hook, by the client's own name for it. */
export interface HookPoint {
  at: string
  event: HookEvent
  /** Which tools it is about, in the client's own pattern language. */
  matcher?: string
}

/**
 * Returns the words that start the server. Files meant to be committed hold a form without paths of this machine;
 * the user's own name the launcher, which Windows has to be given a shell for.
 */
export function startWords(place: Place): string[] {
  if (place.scope === "project") return SHARED_START
  const { launcher } = place.machine
  if (!isWindowsUser(place)) return [launcher]
  return [variable(place.machine, "ComSpec", "C:\\Windows\\System32\\cmd.exe"), "/c", launcher]
}

/** Returns `command` and `args` as most clients spell them. */
export function startFields(place: Place): { command: string; args: string[] } {
  const [command = "", ...args] = startWords(place)
  return { command, args }
}

/** Returns how an MCP entry, in whatever shape, starts its server. */
export function startOf(entry: unknown): Start {
  const { command, args } = (entry ?? {}) as Start
  return { ...(command !== undefined && { command }), ...(args !== undefined && { args }) }
}

/** Whether an MCP entry, in whatever shape, starts our server: as the wanted one does, or as earlier versions wrote it. */
export function startsOurServer(entry: unknown, wanted: unknown): boolean {
  const words = wordsOf(entry)
  return (
    words.length > 0 && [wordsOf(wanted), ...FORMER_STARTS].some((start) => isDeepStrictEqual(start, words))
  )
}

/** Returns why an entry of our name that starts something else was left alone, and what that may do. */
export function foreignEntry(name: string): string {
  return (
    `${name} is not as we write it, so it stays as it is. What starts a program by its name, or by npx, can start one ` +
    "that a project ships in its node_modules/.bin."
  )
}

function wordsOf(entry: unknown): Json[] {
  const { command = [], args = [] } = startOf(entry)
  return [command, args].flat()
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

/** The end of a turn in Claude Code, and in clients that took its name over; it is no matcher's business. */
export const STOP: HookPoint = { at: "Stop", event: "turn-end" }

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
