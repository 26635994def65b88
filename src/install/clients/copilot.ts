/** GitHub Copilot CLI: `mcp-config.json` or the project's `.mcp.json`, and a hook file of our own. */

import { join } from "node:path"
import { shellCommand, windowsCommand } from "../../hook/command.ts"
import type { Client, JsonSettings, Trust } from "../client.ts"
import { isWithinAny, readOwnSettings } from "../folder-trust.ts"
import { type Machine, type Place, variable } from "../place.ts"
import {
  flatHooks,
  HOOK_SECONDS,
  type HookPoint,
  programVariable,
  serverEntry,
  startFields,
} from "../shapes.ts"
import { sharedProjectServers } from "./claude-code.ts"

const EDIT_TOOLS = "edit|create|apply_patch|str_replace_editor"

const POINTS: HookPoint[] = [
  { at: "preToolUse", event: "pre-edit", matcher: EDIT_TOOLS },
  { at: "postToolUse", event: "mail", matcher: EDIT_TOOLS },
  { at: "userPromptSubmitted", event: "mail" },
  { at: "agentStop", event: "turn-end" },
  { at: "sessionStart", event: "session-start" },
  { at: "sessionEnd", event: "session-end" },
]

export const copilot: Client = {
  name: "copilot",
  title: "GitHub Copilot CLI",
  traces: (machine) => [copilotFolder(machine)],
  files(place) {
    const hooks = flatHooks(POINTS, ["hooks"], (event) => ({
      type: "command",
      bash: shellCommand("copilot", event),
      powershell: windowsCommand("copilot", event),
      timeoutSec: HOOK_SECONDS[event],
    }))
    return [
      place.scope === "project" ? sharedProjectServers(place) : userServers(place),
      {
        form: "json",
        path: join(copilotHookFolder(place), "signalbox.json"),
        entries: hooks,
        frame: { version: 1 },
      },
    ]
  },
  notes: (place) =>
    place.scope === "project" ? ["Restart Copilot CLI in this folder."] : ["Restart Copilot CLI."],
  trust: (place) => (place.scope === "project" ? folderTrust(place) : undefined),
}

/** Older versions spelled the list in another way, and a new one takes it over. */
function folderTrust({ machine, root }: Place): Trust {
  const { trustedFolders, trusted_folders } = readOwnSettings(join(copilotFolder(machine), "config.json"))
  const isGiven = isWithinAny(trustedFolders ?? trusted_folders, root)
  const text = isGiven
    ? "Copilot CLI trusts this folder"
    : "Copilot CLI does not trust this folder, and runs neither the hooks nor the servers of it, without a word"
  const advice =
    "Start copilot in the folder and trust it when it asks; for a single prompt start it with --trust-folder."
  return { isGiven, text, advice }
}

/** Returns the folder whose hook files both Copilot CLI and VS Code read. */
export function copilotHookFolder(place: Place): string {
  return place.scope === "project"
    ? join(place.root, ".github", "hooks")
    : join(copilotFolder(place.machine), "hooks")
}

function copilotFolder(machine: Machine): string {
  return variable(machine, "COPILOT_HOME", join(machine.home, ".copilot"))
}

function userServers(place: Place): JsonSettings {
  const value = { type: "local", ...startFields(place), env: programVariable("copilot"), tools: ["*"] }
  return {
    form: "json",
    path: join(copilotFolder(place.machine), "mcp-config.json"),
    entries: [serverEntry(value)],
  }
}
