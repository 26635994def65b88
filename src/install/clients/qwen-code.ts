/** Qwen Code: server and hooks in one `settings.json`; its events are Claude Code's, its time-outs milliseconds. */

import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Client } from "../client.ts"
import { type Place, variable } from "../place.ts"
import {
  claudePoints,
  HOOK_SECONDS,
  hookCommand,
  nestedHooks,
  programVariable,
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
    const hooks = nestedHooks(claudePoints(EDIT_TOOLS), ["hooks"], (event) => ({
      name: `signalbox-${event}`,
      type: "command",
      command: hookCommand("qwen-code", event, place),
      timeout: HOOK_SECONDS[event] * 1_000,
    }))
    const server = serverEntry({ ...startFields(place), env: programVariable("qwen-code") })
    const path = join(settingsFolder(place), "settings.json")
    // Qwen Code adds it to a file that lacks it, once it has brought the rest up to date: only a new one is.
    const frame = existsSync(path) ? undefined : { $version: SETTINGS_VERSION }
    return [{ form: "json", path, entries: [server, ...hooks], ...(frame && { frame }) }]
  },
  notes: (place) =>
    place.scope === "project"
      ? ["Restart Qwen Code; where folder trust is switched on, trust this folder (/trust)."]
      : ["Restart Qwen Code."],
}

function settingsFolder(place: Place): string {
  return place.scope === "project" ? join(place.root, ".qwen") : userFolder(place.machine)
}

function userFolder(machine: Place["machine"]): string {
  return variable(machine, "QWEN_HOME", join(machine.home, ".qwen"))
}
