/** The command that texts name when they tell people or agents to run signalbox: the one that works on this machine. */

import { existsSync, realpathSync } from "node:fs"
import { delimiter, join } from "node:path"
import { launcherPath, launcherWord } from "./launcher.ts"
import { packageFile } from "./package-root.ts"
import { posixWord } from "./shell-quoting.ts"
import { trustedEntries } from "./trusted-path.ts"

const NAME = "signalbox"

let find = () => NAME
let known: string | undefined

/**
 * Says in which data folder the launcher of this process would lie; until then the command is called by its name. The
 * PATH that counts is the one of this moment, which is that of a shell beside this process.
 */
export function nameOwnCommand(dataFolder: string): void {
  const path = process.env.PATH ?? ""
  find = () => findOwnCommand(dataFolder, path)
  known = undefined
}

/** Returns the command as it is typed into a shell, to be followed by a space and arguments. */
export function ownCommand(): string {
  known ??= find()
  return known
}

/**
 * Returns the launcher where there is one; else `signalbox`, where that is this package by the `path` of a shell, and
 * nothing that a project brought; else this package itself, by its path.
 */
export function findOwnCommand(dataFolder: string, path: string): string {
  if (existsSync(launcherPath(dataFolder))) return launcherWord(dataFolder)
  if (isOnPath(path)) return NAME
  // Another Node that stands first on a PATH may be too old, or unable to load what was built for this one.
  return [process.execPath, packageFile("bin/signalbox.js")].map(posixWord).join(" ")
}

/** Whether a shell in any project finds this package under its name: it stands first, and outside of projects. */
function isOnPath(path: string): boolean {
  const entry = path.split(delimiter).find((one) => existsSync(join(one, NAME)))
  if (entry === undefined || !trustedEntries(path, process.cwd()).includes(entry)) return false
  return realpathSync(join(entry, NAME)) === realpathSync(packageFile("bin/signalbox.js"))
}
