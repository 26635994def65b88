/**
 * Cline's editor extension: servers for the user only, and one executable file for each event. Cline's command line
 * runs the same files, where a refusal ends the whole run, so there they leave the word to its plugin.
 */

import { join } from "node:path"
import type { HookEvent } from "../../hook/client-names.ts"
import { shellCommand } from "../../hook/command.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import type { Client, OwnedFile, SettingsFile } from "../client.ts"
import { applicationFolder, type Machine, type Place } from "../place.ts"
import { programVariable, START_SECONDS, serverEntry, startFields } from "../shapes.ts"
import { PLUGIN_FILE } from "./cline-plugin.ts"

const POINTS: [name: string, event: HookEvent][] = [
  ["PreToolUse", "pre-edit"],
  ["TaskStart", "session-start"],
  ["TaskResume", "session-start"],
  ["TaskComplete", "session-end"],
  ["TaskCancel", "session-end"],
  ["UserPromptSubmit", "mail"],
]

/** Set by Cline's command line for all that it starts, and by nothing else. */
const CLI_VARIABLE = "CLINE_CONNECTOR_CLI_LAUNCH"

export const clineEditor: Client = {
  name: "cline-editor",
  title: "Cline in VS Code",
  traces: (machine) => [extensionFolder(machine)],
  files(place) {
    const servers: SettingsFile = {
      form: "json",
      path: join(extensionFolder(place.machine), "settings", "cline_mcp_settings.json"),
      entries: [
        serverEntry({
          ...startFields(place),
          env: programVariable("cline-editor"),
          disabled: false,
          autoApprove: [],
          timeout: START_SECONDS,
        }),
      ],
    }
    // Cline runs hook files on macOS and Linux only.
    const hooks =
      place.machine.platform === "win32" ? [] : POINTS.map(([name, event]) => hookFile(place, name, event))
    return place.scope === "project" ? hooks : [servers, ...hooks]
  },
  notes: (place) => [
    ...(place.machine.platform === "win32"
      ? ["Cline runs no hooks on Windows: reservations are advice there."]
      : ["Switch hooks on in Cline's settings (Features, Enable Hooks)."]),
    ...(place.scope === "project"
      ? [`Cline knows MCP servers of the user only: run \`${ownCommand()} install cline-editor\` as well.`]
      : []),
  ],
}

function hookFile(place: Place, name: string, event: HookEvent): OwnedFile {
  const folder =
    place.scope === "project"
      ? join(place.root, ".clinerules", "hooks")
      : join(place.root, "Documents", "Cline", "Hooks")
  return {
    form: "owned",
    path: join(folder, name),
    role: "hook",
    text: [
      "#!/bin/sh",
      "# Written by `signalbox install cline-editor`, removed by `signalbox uninstall cline-editor`.",
      leaveToPlugin(place),
      `exec ${shellCommand("cline-editor", event)}`,
      "",
    ].join("\n"),
    isExecutable: true,
  }
}

/** Returns the line that ends the file where Cline's command line runs it and has our plugin. */
function leaveToPlugin({ scope }: Place): string {
  const own = `[ -r "\${CLINE_DIR:-$HOME/.cline}/plugins/${PLUGIN_FILE}" ]`
  const hasPlugin = scope === "user" ? own : `{ ${own} || [ -r .cline/plugins/${PLUGIN_FILE} ]; }`
  // Whoever writes to a script that does not read is told of a broken pipe.
  return `if [ -n "$${CLI_VARIABLE}" ] && ${hasPlugin}; then while read -r _; do :; done; exit 0; fi`
}

function extensionFolder(machine: Machine): string {
  const folder = join(applicationFolder(machine), "Code", "User", "globalStorage")
  return join(folder, "saoudrizwan.claude-dev")
}
