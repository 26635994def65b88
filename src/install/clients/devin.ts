/** Devin Desktop and CLI: `mcp_config.json`, and hooks at the top of a file of their own or in the user's `config.json`. */

import { join } from "node:path"
import type { Client } from "../client.ts"
import { type Machine, variable, xdgConfigFolder } from "../place.ts"
import {
  claudePoints,
  HOOK_SECONDS,
  hookCommand,
  nestedHooks,
  programVariable,
  serverEntry,
  startFields,
} from "../shapes.ts"

const EDIT_TOOLS = "edit|write"

export const devin: Client = {
  name: "devin",
  title: "Devin",
  traces: (machine) => [userFolder(machine)],
  files(place) {
    const isProject = place.scope === "project"
    const folder = isProject ? join(place.root, ".devin") : userFolder(place.machine)
    const hooks = nestedHooks(claudePoints(EDIT_TOOLS), isProject ? [] : ["hooks"], (event) => ({
      type: "command",
      command: hookCommand("devin", event, place),
      timeout: HOOK_SECONDS[event],
    }))
    const server = serverEntry({ ...startFields(place), env: programVariable("devin") })
    return [
      { form: "json", path: join(folder, "mcp_config.json"), entries: [server] },
      { form: "json", path: join(folder, isProject ? "hooks.v1.json" : "config.json"), entries: hooks },
    ]
  },
  notes: () => ["Restart Devin."],
}

function userFolder(machine: Machine): string {
  const parent =
    machine.platform === "win32"
      ? variable(machine, "APPDATA", join(machine.home, "AppData", "Roaming"))
      : xdgConfigFolder(machine)
  return join(parent, "devin")
}
