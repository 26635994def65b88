/**
 * The one place of tests, benchmarks and scripts that makes temporary folders and deletes anything: it
 * deletes what lies in a folder that it made, or below a folder of generated files, and nothing else.
 */

import { existsSync, lstatSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path"
import { fileURLToPath } from "node:url"

const made = new Set<string>()

/** What no folder of generated files may be, nor lie above. */
const KEPT = [homedir(), tmpdir(), fileURLToPath(new URL("..", import.meta.url))].map((path) =>
  existsSync(path) ? realpathSync(path) : resolve(path),
)

/** Makes an empty folder in the system's temporary folder, and returns its path without links. */
export function makeTemporaryFolder(): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "signalbox-test-"))
  made.add(folder)
  return folder
}

/**
 * Deletes a folder that `makeTemporaryFolder` made in this process, which may be gone already, or a file,
 * link or folder inside one, which has to be there. A link is deleted, not what it leads to. Throws on
 * every other path, and on one that is not absolute and in its shortest form.
 */
export function remove(path: string): void {
  const place = requireMade(path)
  rmSync(place, { recursive: true, force: made.has(place) })
}

/** Returns the real place of a path that `remove` may delete; throws on every other. */
export function requireMade(path: string): string {
  const place = placeOf(path)
  if (!made.has(place) && ![...made].some((folder) => isInside(folder, place)))
    throw new Error(`${JSON.stringify(path)} stays: it lies in no temporary folder that was made here`)
  return place
}

/**
 * Deletes what lies below a folder of generated files, as `remove` does. Throws on the folder itself, on
 * every path beyond it, and when the folder is a link or holds the checkout, the home or the temporary folder.
 */
export function removeBelow(folder: string, path: string): void {
  rmSync(requireBelow(folder, path), { recursive: true })
}

/** Returns the real place of a path that `removeBelow` may delete; throws on every other. */
export function requireBelow(folder: string, path: string): string {
  const root = placeOf(folder)
  if (!lstatSync(root).isDirectory() || KEPT.some((kept) => kept === root || isInside(root, kept)))
    throw new Error(`${JSON.stringify(folder)} is no folder of generated files`)
  const place = placeOf(path)
  if (!isInside(root, place))
    throw new Error(`${JSON.stringify(path)} stays: it does not lie below ${folder}`)
  return place
}

/** Returns where an entry really lies: its folder without links, and its own name. */
function placeOf(path: string): string {
  if (!isAbsolute(path) || path !== resolve(path))
    throw new Error(`${JSON.stringify(path)} stays: it is not an absolute path in its shortest form`)
  return join(realpathSync(dirname(path)), basename(path))
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== "" && way.split(sep)[0] !== ".." && !isAbsolute(way)
}
