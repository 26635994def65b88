/** Codex CLI: the server in `config.toml`, hooks in `hooks.json`, beside each other. */

import { join } from "node:path"
import { shellCommand, windowsCommand } from "../../hook/command.ts"
import type { Client, Trust } from "../client.ts"
import { isTrustedProject, readHookTrust, trustTables } from "../codex-trust.ts"
import { type Machine, type Place, variable } from "../place.ts"
import {
  claudePoints,
  HOOK_SECONDS,
  nestedHooks,
  SERVER_NAME,
  START_SECONDS,
  STOP,
  startFields,
} from "../shapes.ts"

/**
 * A patch comes through its shell too: `apply_patch <<EOF`, all that some models can do. Codex tells nobody of such a
 * patch afterwards, so what its model hears meanwhile comes behind its other commands.
 */
const EDIT_TOOLS = "apply_patch|Edit|Write|Bash"

export const codex: Client = {
  name: "codex",
  title: "Codex CLI",
  traces: (machine) => [userFolder(machine)],
  files(place) {
    const { folder, hooks } = pathsIn(place)
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
        ...(place.scope === "user" && { further: trustTables(pathsIn(place)) }),
      },
      {
        form: "json",
        path: hooks,
        // Codex asks for trust again whenever a definition changes, so it is the same everywhere.
        entries: nestedHooks([...claudePoints(EDIT_TOOLS), STOP], ["hooks"], (event) => ({
          type: "command",
          command: shellCommand("codex", event),
          commandWindows: windowsCommand("codex", event),
          timeout: HOOK_SECONDS[event],
        })),
      },
    ]
  },
  notes: () => [],
  trust: hookTrust,
}

/** Its user's own file says what is trusted, in projects too. */
function pathsIn({ scope, root, machine }: Place) {
  const folder = scope === "project" ? join(root, ".codex") : userFolder(machine)
  const config = join(userFolder(machine), "config.toml")
  return { folder, hooks: join(folder, "hooks.json"), config, platform: machine.platform }
}

function hookTrust(place: Place): Trust | undefined {
  const paths = pathsIn(place)
  const hooks = readHookTrust(paths)
  if (hooks.length === 0) return undefined
  const open = "Start Codex, open /hooks and trust the hooks of signalbox"
  if (place.scope === "project" && !isTrustedProject(paths.config, place.root)) {
    const text = "Codex does not trust this project, so that it reads none of its settings"
    return {
      isGiven: false,
      text,
      advice: `Start Codex in it and trust it. Then open /hooks and trust the hooks.`,
    }
  }
  const count = (state: string) => hooks.filter((one) => one === state).length
  if (count("trusted") === hooks.length) return { isGiven: true, text: "Codex trusts its hooks", advice: "" }
  const [missing, changed, off] = [count("missing"), count("changed"), count("off")]
  const found = [
    ...(missing > 0 ? [`${missing} not trusted yet`] : []),
    ...(changed > 0 ? [`${changed} trusted as they were before`] : []),
    ...(off > 0 ? [`${off} switched off`] : []),
  ].join(", ")
  const text = `Codex skips hooks without a word until its user trusts them: ${found} (of ${hooks.length})`
  return { isGiven: false, text, advice: `${open}: until then they do nothing.` }
}

function userFolder(machine: Machine): string {
  return variable(machine, "CODEX_HOME", join(machine.home, ".codex"))
}
