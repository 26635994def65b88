/**
 * What Codex has been told to trust. It skips a hook, without a word, until its user has trusted just this definition
 * of it, which it then keeps in `config.toml` under the hook's file and place in it.
 */

import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { parse as parseToml } from "smol-toml"
import { readOwnSettings } from "./folder-trust.ts"
import { runsHookFor } from "./json-settings.ts"
import { realPathOf } from "./settings-file.ts"

/** Where the two files are that trust is about. */
interface CodexFiles {
  hooks: string
  config: string
  platform: NodeJS.Platform
}

/** A handler of ours in Codex's `hooks.json`. */
interface InstalledHook {
  /** The names that Codex may know it by: its file's path may lead over links. */
  keys: string[]
  /** What stands for the definition as it is now. */
  hash: string
}

/** `changed` is what was trusted with another definition, `off` what the user has switched off. */
type HookTrust = "trusted" | "missing" | "changed" | "off"

/** Codex waits for so long where nothing is said, in seconds. */
const TIMEOUT_SECONDS_DEFAULT = 600

/** Returns the table of `config.toml` for each of our hooks, whether it is there or not. */
export function trustTables(files: CodexFiles): string[][] {
  return installedHooks(files).flatMap(({ keys }) => keys.map((key) => ["hooks", "state", key]))
}

/** Returns how Codex takes each of our hooks; [] where none is installed. */
export function readHookTrust(files: CodexFiles): HookTrust[] {
  const { hooks } = readToml(files.config) as { hooks?: { state?: Record<string, unknown> } }
  const state = hooks?.state ?? {}
  return installedHooks(files).map(({ keys, hash }) => {
    const known = keys.map((key) => state[key]).find((value) => value !== undefined)
    const { trusted_hash, enabled } = (known ?? {}) as { trusted_hash?: unknown; enabled?: unknown }
    if (enabled === false) return "off"
    if (trusted_hash === undefined) return "missing"
    return trusted_hash === hash ? "trusted" : "changed"
  })
}

/** Whether Codex reads the settings of a project. */
export function isTrustedProject(config: string, root: string): boolean {
  const { projects } = readToml(config) as { projects?: Record<string, { trust_level?: unknown }> }
  return projects?.[root]?.trust_level === "trusted"
}

function installedHooks({ hooks, platform }: CodexFiles): InstalledHook[] {
  const { hooks: events } = readOwnSettings(hooks) as { hooks?: Record<string, unknown> }
  return Object.entries(events ?? {}).flatMap(([event, groups]) => {
    const label = event.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase()
    return asObjects(groups).flatMap((group, at) =>
      asObjects(group.hooks).flatMap((handler, place): InstalledHook[] => {
        if (!Object.values(handler).some((value) => runsHookFor("codex", String(value)))) return []
        const keys = [...new Set([hooks, realPathOf(hooks)])].map((path) => `${path}:${label}:${at}:${place}`)
        return [{ keys, hash: hashOf(label, group.matcher, handler, platform) }]
      }),
    )
  })
}

/** As Codex 0.169 takes it: of canonical JSON, keys in order, of the event and a group with this one handler. */
function hashOf(
  label: string,
  matcher: unknown,
  handler: Record<string, unknown>,
  platform: NodeJS.Platform,
): string {
  const { command, commandWindows, timeout, statusMessage } = handler
  const normalized = {
    async: false,
    command: platform === "win32" ? (commandWindows ?? command) : command,
    ...(statusMessage !== undefined && { statusMessage }),
    timeout: timeout ?? TIMEOUT_SECONDS_DEFAULT,
    type: "command",
  }
  const identity = { event_name: label, hooks: [normalized], ...(matcher !== undefined && { matcher }) }
  return `sha256:${createHash("sha256").update(JSON.stringify(identity)).digest("hex")}`
}

/** What cannot be read holds nothing; that it cannot be is told where it is edited. */
function readToml(path: string): unknown {
  try {
    return parseToml(readFileSync(path, "utf8"), { integersAsBigInt: "asNeeded" })
  } catch {
    return {}
  }
}

function asObjects(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map((one) => (typeof one === "object" && one !== null ? one : {})) : []
}
