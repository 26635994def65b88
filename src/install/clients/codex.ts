/** Codex CLI: the server in `config.toml`, hooks in `hooks.json`, beside each other. */

import { join } from "node:path"
import { shellCommand, windowsCommand } from "../../hook/command.ts"
import type { Client } from "../client.ts"
import type { Machine } from "../place.ts"
import { variable } from "../place.ts"
import {
  claudePoints,
  HOOK_SECONDS,
  nestedHooks,
  SERVER_NAME,
  START_SECONDS,
  startFields,
} from "../shapes.ts"

/** A patch comes through its shell too: `apply_patch <<EOF`, which is all that some models can do. */
const EDIT_TOOLS = "apply_patch|Edit|Write|Bash"

export const codex: Client = {
  name: "codex",
  title: "Codex CLI",
  traces: (machine) => [userFolder(machine)],
  files(place) {
    const folder = place.scope === "project" ? join(place.root, ".codex") : userFolder(place.machine)
    const { command, args } = startFields(place)
    return [
      {
        form: "toml",
        path: join(folder, "config.toml"),
        role: "mcp",
        table: ["mcp_servers", SERVER_NAME],
        lines: [
          `command = ${JSON.stringify(command)}`,
          `args = [${args.map((word) => JSON.stringify(word)).join(", ")}]`,
          `env = { SIGNALBOX_PROGRAM = "codex" }`,
          `startup_timeout_sec = ${START_SECONDS}`,
        ],
      },
      {
        form: "json",
        path: join(folder, "hooks.json"),
        // Codex asks for trust again whenever a definition changes, so it is the same everywhere.
        entries: nestedHooks(claudePoints(EDIT_TOOLS), ["hooks"], (event) => ({
          type: "command",
          command: shellCommand("codex", event),
          commandWindows: windowsCommand("codex", event),
          timeout: HOOK_SECONDS[event],
        })),
      },
    ]
  },
  notes: (place) => [
    ...(place.scope === "project" ? ["Codex reads a project's settings once the project is trusted."] : []),
    "Start Codex, open /hooks and trust the hooks of signalbox: until then it skips them without a word.",
  ],
}

function userFolder(machine: Machine): string {
  return variable(machine, "CODEX_HOME", join(machine.home, ".codex"))
}
