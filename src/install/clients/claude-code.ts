/** Claude Code: servers in its state file or `.mcp.json`, hooks in `settings.json`. */

import { join } from "node:path"
import type { Client } from "../client.ts"
import type { Machine, Place } from "../place.ts"
import { variable } from "../place.ts"
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

/** MultiEdit is gone from new versions and still there in old ones. */
const EDIT_TOOLS = "Edit|Write|MultiEdit|NotebookEdit"

export const claudeCode: Client = {
  name: "claude-code",
  title: "Claude Code",
  traces: (machine) => [settingsFolder(machine), stateFile(machine)],
  files(place) {
    const isProject = place.scope === "project"
    const hooks = nestedHooks([...claudePoints(EDIT_TOOLS), STOP], ["hooks"], (event) => ({
      type: "command",
      command: hookCommand("claude-code", event, place),
      timeout: HOOK_SECONDS[event],
    }))
    const settings = isProject ? join(place.root, ".claude") : settingsFolder(place.machine)
    return [
      isProject ? sharedProjectServers(place) : userServers(place),
      { form: "json", path: join(settings, "settings.json"), entries: hooks },
    ]
  },
  notes: (place) =>
    place.scope === "project"
      ? ["Restart Claude Code and approve the server of .mcp.json when it asks."]
      : ["Restart Claude Code."],
}

/** `.mcp.json` is read by Copilot CLI too, so the entry there names no program. */
export function sharedProjectServers(place: Place) {
  return {
    form: "json" as const,
    path: join(place.root, ".mcp.json"),
    entries: [serverEntry({ type: "stdio", ...startFields(place) })],
  }
}

function userServers(place: Place) {
  const value = { type: "stdio", ...startFields(place), env: programVariable("claude-code") }
  return { form: "json" as const, path: stateFile(place.machine), entries: [serverEntry(value)] }
}

function settingsFolder(machine: Machine): string {
  return variable(machine, "CLAUDE_CONFIG_DIR", join(machine.home, ".claude"))
}

/** Its own folder holds the state file too when that folder was moved. */
function stateFile(machine: Machine): string {
  return join(variable(machine, "CLAUDE_CONFIG_DIR", machine.home), ".claude.json")
}
