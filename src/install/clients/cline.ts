/** Cline's command line: servers for the user only, and a plugin file of our own that calls the hook. */

import { join } from "node:path"
import { ownCommand } from "../../runtime/own-command.ts"
import type { Client, SettingsFile } from "../client.ts"
import { type Machine, variable } from "../place.ts"
import { programVariable, START_SECONDS, serverEntry, startFields } from "../shapes.ts"
import { PLUGIN, PLUGIN_FILE } from "./cline-plugin.ts"

export const cline: Client = {
  name: "cline",
  title: "Cline CLI",
  traces: (machine) => [userFolder(machine)],
  files(place) {
    const isProject = place.scope === "project"
    const folder = isProject ? join(place.root, ".cline") : userFolder(place.machine)
    const plugin: SettingsFile = {
      form: "owned",
      path: join(folder, "plugins", PLUGIN_FILE),
      role: "hook",
      text: PLUGIN,
      isExecutable: false,
    }
    if (isProject) return [plugin]
    const server = { ...startFields(place), env: programVariable("cline"), timeout: START_SECONDS }
    return [{ form: "json", path: serverFile(place.machine), entries: [serverEntry(server)] }, plugin]
  },
  notes: (place) => [
    "Start Cline anew: plugins are loaded when a session begins.",
    ...(place.scope === "project"
      ? [`Cline knows MCP servers of the user only: run \`${ownCommand()} install cline\` as well.`]
      : []),
  ],
}

function userFolder(machine: Machine): string {
  return variable(machine, "CLINE_DIR", join(machine.home, ".cline"))
}

function serverFile(machine: Machine): string {
  const data = variable(machine, "CLINE_DATA_DIR", join(userFolder(machine), "data"))
  return variable(machine, "CLINE_MCP_SETTINGS_PATH", join(data, "settings", "cline_mcp_settings.json"))
}
