/**
 * The launcher: a script in the data folder by which clients, people and agents start signalbox. In a project
 * `npx signalbox` and `node` may be whatever that project ships, so the script looks nothing up there.
 */

import { existsSync, readFileSync, realpathSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, join } from "node:path"
import { placeFile } from "./own-file.ts"
import { removeOwnedSync } from "./owned-folder.ts"
import { packageFile, packageVersion } from "./package-root.ts"
import { posixQuoted, posixWord } from "./shell-quoting.ts"
import { trustedEntries } from "./trusted-path.ts"

const FOLDER = "bin"
const EXECUTABLE_MODE = 0o700

/** Tells the program which folder it was called in, when the launcher had to leave that. */
const STARTED_IN = "SIGNALBOX_STARTED_IN"

/** What a launcher starts; all paths are absolute. */
export interface LauncherParts {
  /** The Node that ran us last. */
  node: string
  /** Under which name it is found; that name may lead to the next version once this one is gone. */
  found: string
  packageFolder: string
  dataFolder: string
  version: string
}

/** Returns where the launcher lies, whether it is there or not. */
export function launcherPath(dataFolder: string, platform: NodeJS.Platform = process.platform): string {
  return join(dataFolder, FOLDER, platform === "win32" ? "signalbox.cmd" : "signalbox")
}

/** Writes the launcher of this package and of the Node that runs it; returns whether anything changed. */
export function placeLauncher(dataFolder: string): boolean {
  return placeFile(launcherPath(dataFolder), ownLauncher(dataFolder), EXECUTABLE_MODE)
}

/** Whether the launcher is there and starts this package with this Node. */
export function isLauncherCurrent(dataFolder: string): boolean {
  const path = launcherPath(dataFolder)
  return existsSync(path) && readFileSync(path, "utf8") === ownLauncher(dataFolder)
}

/** Removes the launcher; settings that still name it then start nothing. */
export function removeLauncher(dataFolder: string): void {
  removeOwnedSync(dataFolder, join(dataFolder, FOLDER))
}

/**
 * Goes to the folder that the launcher was called in, if that is another than the current one. Called before anything
 * looks at the current folder; children are not told of it.
 */
export function enterStartingFolder(): void {
  const folder = process.env[STARTED_IN]
  delete process.env[STARTED_IN]
  if (folder === undefined || folder === "") return
  try {
    process.chdir(folder)
  } catch {
    // It was deleted meanwhile; a server can go on without it.
  }
}

/** Returns the launcher's path as people type it: from `~` where it lies in the home folder. */
export function launcherWord(dataFolder: string): string {
  const path = launcherPath(dataFolder)
  const home = `${homedir()}/`
  if (process.platform === "win32") return /[ &()^%]/.test(path) ? `"${path}"` : path
  return path.startsWith(home) ? `~/${posixWord(path.slice(home.length))}` : posixWord(path)
}

function ownLauncher(dataFolder: string): string {
  const path = launcherPath(dataFolder)
  const before = existsSync(path) ? readFileSync(path, "utf8") : ""
  const parts: LauncherParts = {
    node: process.execPath,
    found: nameOfNode(process.platform === "win32" ? undefined : foundIn(before)),
    packageFolder: dirname(packageFile("package.json")),
    dataFolder,
    version: packageVersion(),
  }
  return process.platform === "win32" ? windowsLauncher(parts) : posixLauncher(parts)
}

/** Returns the name under which an earlier launcher found its Node. */
function foundIn(script: string): string | undefined {
  return /^found='(.*)'$/m.exec(script)?.[1]?.replaceAll(`'\\''`, `'`)
}

/** Returns a name that leads to this Node and is not its own: on PATH, or the one known before, which PATH may lack today. */
function nameOfNode(known: string | undefined): string {
  const program = process.platform === "win32" ? "node.exe" : "node"
  const entries = trustedEntries(process.env.PATH ?? "", process.cwd())
  const names = [...entries.map((entry) => join(entry, program)), ...(known === undefined ? [] : [known])]
  const isThis = (name: string) =>
    name !== process.execPath && existsSync(name) && realpathSync(name) === realpathSync(process.execPath)
  return names.find(isThis) ?? process.execPath
}

/**
 * Returns the script for `/bin/sh`. The usual way runs no other program than Node; PATH is looked at only when Node
 * is gone, or when npx needs one. npx runs in the data folder, with the Node it lies beside.
 */
export function posixLauncher({ node, found, packageFolder, dataFolder, version }: LauncherParts): string {
  return `#!/bin/sh
# Starts signalbox in the folder that it is called in, and nothing that this folder brings along.
# Written by \`signalbox install\`, removed by \`signalbox uninstall\`.
node=${posixQuoted(node)}
found=${posixQuoted(found)}
package=${posixQuoted(packageFolder)}
data=${posixQuoted(dataFolder)}
version=${posixQuoted(version)}

fail() {
  printf 'signalbox: %s\\n' "$1" >&2
  exit 1
}

runs() {
  [ -f "$1" ] && [ -x "$1" ]
}

# Leaves in \`path\` the entries of PATH that no project can have put there: absolute ones outside the work
# tree around the current folder, and in no node_modules.
trust() {
  here=$(pwd -P)
  home=$(cd -P "\${HOME:-/}" && pwd -P)
  tree=$here
  while [ -n "$tree" ] && [ ! -e "$tree/.git" ]; do tree=\${tree%/*}; done
  tree=\${tree:-$here}
  case $tree in
    / | "$home") tree=/dev/null ;;
  esac
  path=
  rest=$PATH:
  while [ -n "$rest" ]; do
    entry=\${rest%%:*}
    rest=\${rest#*:}
    case $entry in
      /*) entry=$(cd -P "$entry" && pwd -P) ;;
      *) entry= ;;
    esac
    case $entry/ in
      / | */node_modules/* | "$tree"/*) ;;
      *) path=$path\${path:+:}$entry ;;
    esac
  done
} 2>/dev/null

runs "$node" || node=$found
if ! runs "$node"; then
  trust
  node=$(PATH=\${path:-/dev/null} && command -v node) || fail "there is no Node at $found any more, and none on PATH outside of projects: install it"
fi
[ -r "$package/bin/signalbox.js" ] && exec "$node" "$package/bin/signalbox.js" "$@"

npx=\${node%/*}/npx
runs "$npx" || fail "there is no package in $package any more, and no npx beside $node to bring it back: install it anew"
trust
${STARTED_IN}=$PWD
PATH=\${node%/*}:\${path:-/usr/bin:/bin}
export ${STARTED_IN} PATH
cd "$data" && exec "$npx" -y "signalbox@$version" "$@"
`
}

/** Returns the same as a batch file; PATH is not searched there. */
export function windowsLauncher({ node, found, packageFolder, dataFolder, version }: LauncherParts): string {
  const quoted = (text: string) => text.replaceAll("%", "%%")
  return [
    "@echo off",
    "rem Starts signalbox in the folder that it is called in, and nothing that this folder brings along.",
    "rem Written by `signalbox install`, removed by `signalbox uninstall`.",
    "setlocal",
    `set "_node=${quoted(node)}"`,
    `set "_package=${quoted(packageFolder)}"`,
    `if not exist "%_node%" set "_node=${quoted(found)}"`,
    `if not exist "%_node%" goto no_node`,
    `if not exist "%_package%\\bin\\signalbox.js" goto no_package`,
    `"%_node%" "%_package%\\bin\\signalbox.js" %*`,
    "exit /b %ERRORLEVEL%",
    ":no_package",
    `for %%I in ("%_node%") do set "_npx=%%~dpInpx.cmd"`,
    `if not exist "%_npx%" goto no_npx`,
    `set "${STARTED_IN}=%CD%"`,
    `cd /d "${quoted(dataFolder)}"`,
    `"%_npx%" -y signalbox@${version} %*`,
    "exit /b %ERRORLEVEL%",
    ":no_node",
    `echo signalbox: there is no Node any more where it was ("%_node%"): install signalbox anew 1>&2`,
    "exit /b 1",
    ":no_npx",
    `echo signalbox: there is no package in "%_package%" any more, and no npx beside "%_node%": install it anew 1>&2`,
    "exit /b 1",
    "",
  ].join("\r\n")
}
