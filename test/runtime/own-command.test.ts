/** Owns that texts name the command as it is installed, and none of them by a name that a project may have taken. */

import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { ownCommand } from "../../src/runtime/own-command.ts"

const SRC = fileURLToPath(new URL("../../src", import.meta.url))

/**
 * Where our name stands before a command's and nobody is told to type it: marks that files are recognised by, the
 * documentation, and what is said to callers without a right, who are told no path of this machine.
 */
const EXEMPT = [
  "config/hook-settings.ts",
  "http/openapi.ts",
  "install/clients/opencode-plugin.ts",
  "install/toml-settings.ts",
  "operations/admission.ts",
  "operations/keys.ts",
  // A text of the database, which may outlive the installation.
  "indexing/read-document.ts",
]

const COMMANDS =
  "install|uninstall|doctor|keys|repos|model|memory|override|reserve|reservations|release|restore|backup|status|docs|serve|cleanup|completion|demo|--help"

/** Lines that tell somebody to run signalbox by its bare name, or npx, outside of comments. */
function bareCommands(text: string): string[] {
  const bare = new RegExp(`(?<![\\w/-])signalbox (?:${COMMANDS})\\b|\\bnpx -y`)
  return text
    .split("\n")
    .filter((line) => bare.test(line) && !/^\s*(?:\/?\*|\/\/)/.test(line) && !/Written by/.test(line))
}

test("no text names a command by what a project may have called its own", () => {
  const paths = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"))
  const found = paths
    .filter((path) => !EXEMPT.includes(path))
    .flatMap((path) =>
      bareCommands(readFileSync(join(SRC, path), "utf8")).map((line) => `${path}: ${line.trim()}`),
    )
    // The one hint for a package that a project has brought: the command leaves the project first.
    .filter(
      (line) =>
        !line.startsWith(
          'commands/install.ts: hint: "Run it outside of any project (`cd ~ && npx -y signalbox install`)',
        ),
    )
    // The one hint for a program that is older than its database.
    .filter(
      (line) =>
        !line.startsWith('db/migrate.ts: { hint: "Update signalbox: `npx -y signalbox@latest install`'),
    )
  expect(found).toEqual([])
  expect(bareCommands("hint: `Run signalbox repos add .`\n// npx -y signalbox")).toHaveLength(1)
})

test("until it is known how this is started, the command has its name", () => {
  expect(ownCommand()).toBe("signalbox")
})
