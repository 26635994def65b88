/** Cline: servers for the user only, and one executable file for each event. */

import { join } from "node:path"
import type { HookEvent } from "../../hook/client-names.ts"
import { shellCommand } from "../../hook/command.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import type { Client, OwnedFile, SettingsFile } from "../client.ts"
import { applicationFolder, type Machine, type Place } from "../place.ts"
import { programVariable, START_SECONDS, serverEntry, startFields } from "../shapes.ts"

const POINTS: [name: string, event: HookEvent][] = [
  ["PreToolUse", "pre-edit"],
  ["TaskStart", "session-start"],
  ["TaskResume", "session-start"],
  ["TaskComplete", "session-end"],
  ["TaskCancel", "session-end"],
  ["UserPromptSubmit", "mail"],
]

export const cline: Client = {
  name: "cline",
  title: "Cline",
  traces: (machine) => [extensionFolder(machine)],
  files(place) {
    const servers: SettingsFile = {
      form: "json",
      path: join(extensionFolder(place.machine), "settings", "cline_mcp_settings.json"),
      entries: [
        serverEntry({
          ...startFields(place),
          env: programVariable("cline"),
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
      ? [`Cline knows MCP servers of the user only: run \`${ownCommand()} install cline\` as well.`]
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
      "# Written by `signalbox install cline`, removed by `signalbox uninstall cline`.",
      `exec ${shellCommand("cline", event)}`,
      "",
    ].join("\n"),
    isExecutable: true,
  }
}

function extensionFolder(machine: Machine): string {
  const folder = join(applicationFolder(machine), "Code", "User", "globalStorage")
  return join(folder, "saoudrizwan.claude-dev")
}
