/** Gemini CLI: server and hooks in one `settings.json`; its time-outs are milliseconds. */

import { join } from "node:path"
import type { Client } from "../client.ts"
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
}
