/** What a project may have brought: entries of PATH, where `npm run` and its like put its own first, and this package. */

import { existsSync, realpathSync } from "node:fs"
import { homedir } from "node:os"
import { delimiter, dirname, isAbsolute, sep } from "node:path"
import { packageFile } from "./package-root.ts"

/**
 * Returns the entries of PATH, in their order, that are absolute, lie outside the work tree around `folder` and are
 * in no `node_modules`. Without a work tree `folder` itself takes its place; the home folder and the root never do.
 */
export function trustedEntries(path: string, folder: string): string[] {
  const tree = projectAround(folder)
  return path.split(delimiter).filter((entry) => {
    const place = isAbsolute(entry) ? realPlace(entry) : undefined
    return place !== undefined && !isWithin(place, tree) && !place.split(sep).includes("node_modules")
  })
}

/**
 * Whether the project around `folder` has brought this package, in its `node_modules` or elsewhere: it lies in the work
 * tree around `folder`, or in `folder` as above, and is not that tree as a whole, as a clone of signalbox is.
 */
export function isBroughtByProject(
  folder: string,
  packageFolder = dirname(packageFile("package.json")),
): boolean {
  const place = realPlace(packageFolder) ?? packageFolder
  const tree = projectAround(folder)
  return place !== tree && isWithin(place, tree)
}

function projectAround(folder: string): string | undefined {
  return workTreeAround(realPlace(folder) ?? folder)
}

function isWithin(place: string, tree: string | undefined): boolean {
  return tree !== undefined && `${place}${sep}`.startsWith(`${tree}${sep}`)
}

/**
 * Takes what a project may have put on PATH away from this process and its children, so that `git` and others that are
 * started by their names are not the project's. Where nothing is left, the system's own folders are looked in.
 */
export function keepTrustedPath(): void {
  const entries = trustedEntries(process.env.PATH ?? "", process.cwd())
  if (entries.length > 0) process.env.PATH = entries.join(delimiter)
  else if (process.platform !== "win32") process.env.PATH = "/usr/bin:/bin"
}

function workTreeAround(folder: string): string | undefined {
  let tree = folder
  while (!existsSync(`${tree}${sep}.git`)) {
    if (dirname(tree) === tree) {
      tree = folder
      break
    }
    tree = dirname(tree)
  }
  return tree === dirname(tree) || tree === realPlace(homedir()) ? undefined : tree
}

function realPlace(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}
