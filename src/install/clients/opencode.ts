/** OpenCode: the server in its configuration, and a plugin file of our own that calls the hook. */

import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Client, Json } from "../client.ts"
import { type Machine, xdgConfigFolder } from "../place.ts"
import { programVariable, START_SECONDS, serverEntry, startWords } from "../shapes.ts"
import { PLUGIN } from "./opencode-plugin.ts"

export const opencode: Client = {
  name: "opencode",
  title: "OpenCode",
  traces: (machine) => [userFolder(machine)],
  files(place) {
    const server: { [key: string]: Json } = {
      type: "local",
      command: startWords(place),
      environment: programVariable("opencode"),
      enabled: true,
      timeout: START_SECONDS * 1_000,
    }
    const isProject = place.scope === "project"
    const plugins = join(isProject ? join(place.root, ".opencode") : userFolder(place.machine), "plugins")
    return [
      {
        form: "json",
        path: configFile(isProject ? place.root : userFolder(place.machine)),
        entries: [serverEntry(server, "mcp")],
        // OpenCode adds it to a file that lacks it, which would not be as we wrote it then.
        frame: { $schema: "https://opencode.ai/config.json" },
      },
      {
        form: "owned",
        path: join(plugins, "signalbox.js"),
        role: "hook",
        text: PLUGIN,
        isExecutable: false,
      },
    ]
  },
  notes: () => ["Restart OpenCode."],
}

/** Returns the configuration file that a folder has; OpenCode reads both names. */
function configFile(folder: string): string {
  const withComments = join(folder, "opencode.jsonc")
  return existsSync(withComments) ? withComments : join(folder, "opencode.json")
}

function userFolder(machine: Machine): string {
  return join(xdgConfigFolder(machine), "opencode")
}
