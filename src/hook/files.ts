/** The hook's files in the data folder: what install puts there, what a listener keeps up to date. */

import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { packageFile } from "../package-root.ts"

/** The two forms of the hook, and the file that says where the package lies. */
const SHELL_FORM = "hook.sh"
const NODE_FORM = "hook.cjs"
const PACKAGE_RECORD = "package"

/** Returns the folder that settings of clients point at. */
export function hookFolder(dataFolder: string): string {
  return join(dataFolder, "hook")
}

/** Whether the hook was installed on this machine. */
export function hasHookFiles(dataFolder: string): boolean {
  return existsSync(join(hookFolder(dataFolder), SHELL_FORM))
}

/** Puts both forms of the hook and the place of this package into the data folder; returns the paths that changed. */
export function placeHookFiles(dataFolder: string): string[] {
  const folder = hookFolder(dataFolder)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const contents: [name: string, content: string][] = [
    [SHELL_FORM, readFileSync(packageFile("dist/hook.sh"), "utf8")],
    [NODE_FORM, readFileSync(packageFile("dist/hook.cjs"), "utf8")],
    [PACKAGE_RECORD, `${dirname(packageFile("package.json"))}\n`],
  ]
  return contents
    .filter(([name, content]) => placeFile(join(folder, name), content))
    .map(([name]) => join(folder, name))
}

/** Removes the hook's files; settings that still point at them then do nothing. */
export function removeHookFiles(dataFolder: string): void {
  rmSync(hookFolder(dataFolder), { recursive: true, force: true })
}

/** Writes a file in one step, since a hook may be reading it; returns whether anything changed. */
function placeFile(path: string, content: string): boolean {
  if (existsSync(path) && readFileSync(path, "utf8") === content) return false
  writeFileSync(`${path}.new`, content, { mode: 0o600 })
  chmodSync(`${path}.new`, 0o600)
  renameSync(`${path}.new`, path)
  return true
}
