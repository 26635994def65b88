/** Cursor: `mcp.json` and `hooks.json` in its folder. */

import { join } from "node:path"
import type { Client } from "../client.ts"
import {
  flatHooks,
  HOOK_SECONDS,
  type HookPoint,
  hookCommand,
  programVariable,
  serverEntry,
  startFields,
} from "../shapes.ts"

const EDIT_TOOLS = "Write|StrReplace|Edit|Delete|ApplyPatch"

const POINTS: HookPoint[] = [
  { at: "preToolUse", event: "pre-edit", matcher: EDIT_TOOLS },
  { at: "postToolUse", event: "mail", matcher: EDIT_TOOLS },
  { at: "sessionStart", event: "session-start" },
  { at: "sessionEnd", event: "session-end" },
]

export const cursor: Client = {
  name: "cursor",
  title: "Cursor",
  traces: (machine) => [join(machine.home, ".cursor")],
  files(place) {
    const folder = join(place.root, ".cursor")
    const hooks = flatHooks(POINTS, ["hooks"], (event) => ({
      command: hookCommand("cursor", event, place),
      timeout: HOOK_SECONDS[event],
    }))
    const server = serverEntry({ ...startFields(place), env: programVariable("cursor") })
    return [
      { form: "json", path: join(folder, "mcp.json"), entries: [server] },
      { form: "json", path: join(folder, "hooks.json"), entries: hooks, frame: { version: 1 } },
    ]
  },
  notes: () => ["Switch the signalbox server on in Cursor's settings under MCP if it is off."],
}
