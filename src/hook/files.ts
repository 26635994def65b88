/** The hook's files in the data folder: what install puts there, what a listener keeps up to date. */

import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { placeFile } from "../runtime/own-file.ts"
import { removeOwnedSync } from "../runtime/owned-folder.ts"
import { packageFile } from "../runtime/package-root.ts"

/** The two forms of the hook, and the files that say where the package lies and which Node ran it last. */
const SHELL_FORM = "hook.sh"
const NODE_FORM = "hook.cjs"
const PACKAGE_RECORD = "package"
const NODE_RECORD = "node"
const PRIVATE_MODE = 0o600

/** Returns the folder that settings of clients point at. */
export function hookFolder(dataFolder: string): string {
  return join(dataFolder, "hook")
}

/** Whether the hook was installed on this machine. */
export function hasHookFiles(dataFolder: string): boolean {
  return existsSync(join(hookFolder(dataFolder), SHELL_FORM))
}

/**
 * Puts both forms of the hook and the places of this package and of the Node that runs it into the data
 * folder; returns the paths that changed. A record is one line with an absolute path.
 */
export function placeHookFiles(dataFolder: string): string[] {
  const folder = hookFolder(dataFolder)
  const contents: [name: string, content: string][] = [
    [SHELL_FORM, readFileSync(packageFile("dist/hook.sh"), "utf8")],
    [NODE_FORM, readFileSync(packageFile("dist/hook.cjs"), "utf8")],
    [PACKAGE_RECORD, `${dirname(packageFile("package.json"))}\n`],
    [NODE_RECORD, `${process.execPath}\n`],
  ]
  return contents
    .filter(([name, content]) => placeFile(join(folder, name), content, PRIVATE_MODE))
    .map(([name]) => join(folder, name))
}

/** Removes the hook's files; settings that still point at them then do nothing. */
export function removeHookFiles(dataFolder: string): void {
  removeOwnedSync(dataFolder, hookFolder(dataFolder))
}
