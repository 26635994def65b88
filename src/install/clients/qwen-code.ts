/** Qwen Code: server and hooks in one `settings.json`; its events are Claude Code's, its time-outs milliseconds. */

import { join } from "node:path"
import type { Client, Trust } from "../client.ts"
import { isTrustedByRules, readOwnSettings } from "../folder-trust.ts"
import { type Place, variable } from "../place.ts"
import {
  claudePoints,
  HOOK_SECONDS,
  hookCommand,
  nestedHooks,
  programVariable,
  STOP,
  serverEntry,
  startFields,
} from "../shapes.ts"

/** A pattern that is looked for anywhere in a tool's name. Versions before 0.16 or so have none for notebooks. */
const EDIT_TOOLS = "^(edit|write_file|notebook_edit)$"

/** Of the form that its settings have, since 0.15. */
const SETTINGS_VERSION = 4

export const qwenCode: Client = {
  name: "qwen-code",
  title: "Qwen Code",
  traces: (machine) => [userFolder(machine)],
  files(place) {
    const hooks = nestedHooks([...claudePoints(EDIT_TOOLS), STOP], ["hooks"], (event) => ({
      name: `signalbox-${event}`,
      type: "command",
      command: hookCommand("qwen-code", event, place),
      timeout: HOOK_SECONDS[event] * 1_000,
    }))
    const server = serverEntry({ ...startFields(place), env: programVariable("qwen-code") })
    const path = join(settingsFolder(place), "settings.json")
    // Qwen Code adds it to a file that lacks it, once it has brought the rest up to date: only a new one is.
    const frame = { $version: SETTINGS_VERSION }
    return [{ form: "json", path, entries: [server, ...hooks], frame, isFrameOfNewOnly: true }]
  },
  notes: (place) =>
    place.scope === "project" ? ["Restart Qwen Code in this folder."] : ["Restart Qwen Code."],
  trust: (place) => (place.scope === "project" ? folderTrust(place) : undefined),
}

/** It asks for trust only where its user has switched that on; in other folders it then reads no settings. */
function folderTrust({ machine, root }: Place): Trust | undefined {
  const { security } = readOwnSettings(join(userFolder(machine), "settings.json")) as {
    security?: { folderTrust?: { enabled?: unknown } }
  }
  if (security?.folderTrust?.enabled !== true) return undefined
  const path = join(userFolder(machine), "trustedFolders.json")
  const rules = readOwnSettings(variable(machine, "QWEN_CODE_TRUSTED_FOLDERS_PATH", path))
  const isGiven = isTrustedByRules(rules, root) === true
  const text = isGiven
    ? "Qwen Code trusts this folder"
    : "Qwen Code does not trust this folder: it reads no settings there"
  return { isGiven, text, advice: "Start qwen in the folder and trust it when it asks (or /trust)." }
}

function settingsFolder(place: Place): string {
  return place.scope === "project" ? join(place.root, ".qwen") : userFolder(place.machine)
}

function userFolder(machine: Place["machine"]): string {
  return variable(machine, "QWEN_HOME", join(machine.home, ".qwen"))
}
