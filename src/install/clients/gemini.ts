/** Gemini CLI: server and hooks in one `settings.json`; its time-outs are milliseconds. */

import { join } from "node:path"
import type { Client, Trust } from "../client.ts"
import { isTrustedByRules, readOwnSettings } from "../folder-trust.ts"
import { type Machine, type Place, variable } from "../place.ts"
import {
  HOOK_SECONDS,
  type HookPoint,
  hookCommand,
  nestedHooks,
  programVariable,
  serverEntry,
  startFields,
} from "../shapes.ts"

const EDIT_TOOLS = "write_file|replace"

const POINTS: HookPoint[] = [
  { at: "BeforeTool", event: "pre-edit", matcher: EDIT_TOOLS },
  { at: "AfterTool", event: "mail", matcher: EDIT_TOOLS },
  { at: "BeforeAgent", event: "mail" },
  { at: "AfterAgent", event: "turn-end" },
  { at: "SessionStart", event: "session-start" },
  { at: "SessionEnd", event: "session-end" },
]

export const gemini: Client = {
  name: "gemini",
  title: "Gemini CLI",
  traces: (machine) => [join(machine.home, ".gemini")],
  files(place) {
    const hooks = nestedHooks(POINTS, ["hooks"], (event) => ({
      name: `signalbox-${event}`,
      type: "command",
      command: hookCommand("gemini", event, place),
      timeout: HOOK_SECONDS[event] * 1_000,
    }))
    const server = serverEntry({ ...startFields(place), env: programVariable("gemini") })
    return [{ form: "json", path: join(place.root, ".gemini", "settings.json"), entries: [server, ...hooks] }]
  },
  notes: (place) =>
    place.scope === "project"
      ? ["Restart Gemini CLI and accept its warning about the new hooks of this project."]
      : ["Restart Gemini CLI."],
  trust: (place) => (place.scope === "project" ? folderTrust(place) : undefined),
}

/** In a folder that it does not trust it reads no settings, starts no server, and without a terminal ends at once. */
function folderTrust({ machine, root }: Place): Trust {
  const isGiven = isTrusting(machine, root)
  const text = isGiven
    ? "Gemini CLI trusts this folder"
    : "Gemini CLI does not trust this folder: it reads no settings there, and without a terminal it ends with code 55"
  const advice =
    "Start gemini in the folder and trust it when it asks (or /permissions); without a terminal set GEMINI_CLI_TRUST_WORKSPACE=true."
  return { isGiven, text, advice }
}

function isTrusting(machine: Machine, root: string): boolean {
  const said = machine.env.GEMINI_CLI_TRUST_WORKSPACE
  if (said === "true" || said === "false") return said === "true"
  const folder = join(variable(machine, "GEMINI_CLI_HOME", machine.home), ".gemini")
  const { security } = readOwnSettings(join(folder, "settings.json")) as {
    security?: { folderTrust?: { enabled?: unknown } }
  }
  if (security?.folderTrust?.enabled === false) return true
  const rules = variable(machine, "GEMINI_CLI_TRUSTED_FOLDERS_PATH", join(folder, "trustedFolders.json"))
  return isTrustedByRules(readOwnSettings(rules), root) === true
}
