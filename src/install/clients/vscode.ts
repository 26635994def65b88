/** VS Code's own chat: `mcp.json`, and a hook file of our own in the folder that it shares with Copilot CLI. */

import { join } from "node:path"
import { shellCommand, windowsCommand } from "../../hook/command.ts"
import type { Client } from "../client.ts"
import { applicationFolder, type Machine } from "../place.ts"
import {
  flatHooks,
  HOOK_SECONDS,
  type HookPoint,
  programVariable,
  serverEntry,
  startFields,
} from "../shapes.ts"
import { copilotHookFolder } from "./copilot.ts"

/** It ignores matchers and has no end of a session. */
const POINTS: HookPoint[] = [
  { at: "PreToolUse", event: "pre-edit" },
  { at: "PostToolUse", event: "mail" },
  { at: "SessionStart", event: "session-start" },
]

export const vscode: Client = {
  name: "vscode",
  title: "VS Code",
  traces: (machine) => [userFolder(machine)],
  files(place) {
    const folder = place.scope === "project" ? join(place.root, ".vscode") : userFolder(place.machine)
    const hooks = flatHooks(POINTS, ["hooks"], (event) => ({
      type: "command",
      command: shellCommand("vscode", event),
      windows: windowsCommand("vscode", event),
      timeout: HOOK_SECONDS[event],
    }))
    const server = { type: "stdio", ...startFields(place), env: programVariable("vscode") }
    return [
      { form: "json", path: join(folder, "mcp.json"), entries: [serverEntry(server, "servers")] },
      {
        form: "json",
        path: join(copilotHookFolder(place), "signalbox-vscode.json"),
        entries: hooks,
        frame: { version: 1 },
      },
    ]
  },
  notes: () => ["Start the server in VS Code when it asks whether you trust it (command MCP: List Servers)."],
}

function userFolder(machine: Machine): string {
  return join(applicationFolder(machine), "Code", "User")
}
