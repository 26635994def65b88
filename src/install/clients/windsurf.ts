/** Windsurf with its Cascade agent: servers for the user only, and no hook at either end of a session. */

import { join } from "node:path"
import { shellCommand, windowsCommand } from "../../hook/command.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import type { Client, SettingsFile } from "../client.ts"
import { flatHooks, programVariable, serverEntry, startFields } from "../shapes.ts"

export const windsurf: Client = {
  name: "windsurf",
  title: "Windsurf",
  traces: (machine) => [join(machine.home, ".codeium", "windsurf")],
  files(place) {
    const isProject = place.scope === "project"
    const folder = isProject ? join(place.root, ".windsurf") : join(place.root, ".codeium", "windsurf")
    const hooks = flatHooks([{ at: "pre_write_code", event: "pre-edit" }], ["hooks"], (event) => ({
      command: shellCommand("windsurf", event),
      powershell: windowsCommand("windsurf", event),
      show_output: true,
    }))
    const server = serverEntry({ ...startFields(place), env: programVariable("windsurf") })
    const servers: SettingsFile = {
      form: "json",
      path: join(folder, "mcp_config.json"),
      entries: [server],
    }
    return [
      ...(isProject ? [] : [servers]),
      { form: "json", path: join(folder, "hooks.json"), entries: hooks },
    ]
  },
  notes: (place) => [
    "Restart Windsurf.",
    ...(place.scope === "project"
      ? [`Windsurf knows MCP servers of the user only: run \`${ownCommand()} install windsurf\` as well.`]
      : []),
  ],
}
