/** Settings files of coding agents as they may be found: installing and uninstalling gives a reason or gives all back. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import fc from "fast-check"
import { remove } from "../../scripts/removal.ts"
import { AppError } from "../../src/errors.ts"
import { CLIENTS } from "../../src/install/catalogue.ts"
import { type Client, ROLES, type SettingsFile } from "../../src/install/client.ts"
import { installClient } from "../../src/install/install.ts"
import { type Place, SCOPES, type Scope } from "../../src/install/place.ts"
import { uninstallClient } from "../../src/install/uninstall.ts"
import { launcherPath } from "../../src/runtime/launcher.ts"
import { definePart } from "../support/part.ts"
import type { Room } from "../support/room.ts"
import { beginning, require, requireDiscreet } from "../support/texts.ts"
import { anything, brokenBytes, brokenJson, rarely, text } from "../support/values.ts"

interface Input {
  client: Client
  scope: Scope
  content: Uint8Array
  /** Whether a record of an earlier installation is damaged. */
  record: string | undefined
}

const KEYS = [
  "mcpServers",
  "servers",
  "mcp",
  "hooks",
  "signalbox",
  "version",
  "PreToolUse",
  "preToolUse",
  "SessionStart",
  "$schema",
  "__proto__",
]
const { settings } = fc.letrec<{ settings: unknown }>((tie) => ({
  settings: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.oneof(fc.constantFrom<unknown>(null, true, 1, "x", "signalbox"), anything),
    fc.array(tie("settings"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie("settings"), { maxKeys: 4, noNullPrototype: true }),
  ),
}))
const json = settings.map((value) => JSON.stringify(value, null, 2))
const commented = json.map((one) => one.replaceAll("\n", " // a \u202e comment\n").replace("{", "{ /* b */"))

const TOML_PIECES = [
  ...[
    "[mcp_servers]\n",
    "[mcp_servers.signalbox]\n",
    "[[mcp_servers]]\n",
    "mcp_servers = {}\n",
    "mcp_servers.signalbox.command = 'x'\n",
  ],
  ...[
    '[mcp_servers."signalbox"]\n',
    "[ mcp_servers . 'signalbox' ] # x\n",
    'mcp_servers = { signalbox = { command = "a" } }\n',
    "[features]\n",
    "hooks = true\n",
  ],
  ...[
    "a = 1\n",
    "a.b = [1,\n2]\n",
    'b = """\n[mcp_servers.signalbox]\n"""\n',
    "c = '''x'''\n",
    "d = 1979-05-27T07:32:00Z\n",
    "# comment\n",
    "\r\n",
    "\r",
    "\0",
  ],
  ...[
    "e = inf\n",
    "f = nan\n",
    "g = 0xFFFFFFFFFFFFFFFFFF\n",
    "[",
    "]",
    "=",
    '"',
    "'",
    "{",
    "[[",
    "h = 9223372036854775808\n",
    "[__proto__]\n",
    "__proto__.x = 1\n",
  ],
]
const toml = fc.array(fc.constantFrom(...TOML_PIECES), { maxLength: 8 }).map((all) => all.join(""))
const script = fc
  .array(
    fc.constantFrom(
      "#!/bin/sh\n",
      "#!/usr/bin/env node\n",
      "exit 0\n",
      "# >>> signalbox >>>\n",
      "# <<< signalbox <<<\n",
      "x\r\n",
      "\0",
      "",
    ),
    { maxLength: 6 },
  )
  .map((all) => all.join(""))

const content = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.oneof(json, commented, toml, script).map((one) => Buffer.from(one)),
  },
  { weight: 1, arbitrary: brokenJson(json).map((one) => Buffer.from(one)) },
  { weight: 1, arbitrary: brokenBytes(fc.oneof(json, toml).map((one) => Buffer.from(one))) },
  { weight: 1, arbitrary: text.map((one) => Buffer.from(one)) },
)

export const client = definePart<Input>({
  name: "client-settings",
  weight: 3,
  batch: 150,
  async open(makeRoom) {
    const room = await makeRoom()
    return {
      inputs: fc.record({
        client: fc.constantFrom(...CLIENTS),
        scope: fc.constantFrom(...SCOPES),
        content,
        record: rarely(
          fc.oneof(
            brokenJson(json),
            fc.constant('{"version":1}'),
            fc.constant('{"version":1,"files":{"":{}},"folders":[1]}'),
          ),
          12,
          undefined,
        ),
      }),
      begin: async () => ({ run: (input) => install(room, input), end: async () => {} }),
    }
  },
})

async function install(room: Room, input: Input): Promise<number> {
  const home = join(room.folder, "machine")
  const project = join(home, "project")
  mkdirSync(join(project, ".git", "hooks"), { recursive: true })
  try {
    const dataFolder = join(home, "data")
    mkdirSync(dataFolder)
    if (input.record !== undefined) writeFileSync(join(dataFolder, "install.json"), input.record)
    const launcher = launcherPath(dataFolder, "linux")
    const machine = { home, platform: "linux" as const, env: {}, launcher }
    const place: Place = { machine, scope: input.scope, root: input.scope === "user" ? home : project }
    const files = input.client.files(place)
    for (const { path } of files) {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, input.content)
    }
    const options = { dataFolder, roles: ROLES, isDryRun: false }
    apply(input, () => installClient(input.client, place, { ...options, isDryRun: true }))
    requireUntouched(files, input)
    apply(input, () => installClient(input.client, place, options))
    apply(input, () => uninstallClient(input.client, place, options))
    return 3
  } finally {
    remove(home)
  }
}

function apply(
  { client: { name }, record }: Input,
  work: () => readonly { action: string; reasons: string[] }[],
): void {
  try {
    for (const { action, reasons } of work()) requireDiscreet(reasons.join("\n"), `${name}, ${action}`)
  } catch (error) {
    if (!(error instanceof AppError) || record === undefined) throw error
    requireDiscreet(error.text, name)
  }
}

function requireUntouched(files: readonly SettingsFile[], { content: before }: Input): void {
  for (const { path } of files) {
    const isSame = readFileSync(path).equals(before)
    require(isSame, () => `a dry run has changed ${path}: ${beginning(readFileSync(path, "utf8"))}`)
  }
}
