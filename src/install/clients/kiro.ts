/** Kiro: `settings/mcp.json`, and a hook file of our own. */

import { join } from "node:path"
import type { Client } from "../client.ts"
import {
  HOOK_SECONDS,
  type HookPoint,
  hookCommand,
  programVariable,
  serverEntry,
  startFields,
} from "../shapes.ts"

/** No end of a session is known to be among its triggers, and an unknown one could cost the whole file. */
const POINTS: HookPoint[] = [
  { at: "PreToolUse", event: "pre-edit", matcher: "fs_write|str_replace|fs_append|delete_file" },
  { at: "SessionStart", event: "session-start" },
  { at: "UserPromptSubmit", event: "mail" },
]

export const kiro: Client = {
  name: "kiro",
  title: "Kiro",
  traces: (machine) => [join(machine.home, ".kiro")],
  files(place) {
    const folder = join(place.root, ".kiro")
    const server = serverEntry({
      ...startFields(place),
      env: programVariable("kiro"),
      disabled: false,
      autoApprove: [],
    })
    return [
      { form: "json", path: join(folder, "settings", "mcp.json"), entries: [server] },
      {
        form: "json",
        path: join(folder, "hooks", "signalbox.json"),
        frame: { version: "v1" },
        entries: POINTS.map(({ at, event, matcher }) => ({
          role: "hook",
          at: ["hooks"],
          value: {
            name: `signalbox-${event}`,
            trigger: at,
            ...(matcher === undefined ? {} : { matcher }),
            action: { type: "command", command: hookCommand("kiro", event, place) },
            timeout: HOOK_SECONDS[event],
            enabled: true,
          },
        })),
      },
    ]
  },
  notes: () => ["Restart Kiro."],
}
