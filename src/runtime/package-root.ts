/** Where the package's own files lie, whether the code runs from source or from the bundle. */

import { existsSync, readFileSync } from "node:fs"
import { dirname, join, sep } from "node:path"
import { fileURLToPath } from "node:url"

/** Returns the absolute path of a file that ships with the package, such as `schema.sql`. */
export function packageFile(name: string): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, "package.json"))) {
    const parent = dirname(folder)
    if (parent === folder) throw new Error(`no package.json above ${fileURLToPath(import.meta.url)}`)
    folder = parent
  }
  return join(folder, name)
}

/** Returns the version in package.json. */
export function packageVersion(): string {
  return (JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as { version: string }).version
}

/** How everybody starts the published package. */
export const PUBLISHED_START: readonly string[] = ["npx", "-y", "signalbox"]

/** Returns the words that start this very copy when it is a clone; undefined when it is installed as a package. */
export function cloneStart(): readonly string[] | undefined {
  const file = packageFile("bin/signalbox.js")
  return file.split(sep).includes("node_modules") ? undefined : [process.execPath, file]
}
