/**
 * The one place that removes folders. What a removal is told may come from a database or a file that anybody can
 * write, so that it first proves that the path lies below a folder of ours.
 */

import { mkdtempSync, realpathSync, rmdirSync, rmSync } from "node:fs"
import { rm } from "node:fs/promises"
import { homedir, tmpdir } from "node:os"
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path"
import { AppError } from "../errors.ts"

const REMOVAL = { recursive: true, force: true, maxRetries: 3 } as const

/**
 * Removes a file or a folder with all that is in it, if it is there. Throws AppError `refused`, and removes nothing,
 * unless `path` is absolute and lies below the folder `owned`; links on the way to both are seen through. A path
 * that is a link itself is removed without what it points at. Neither the home folder nor one above it is removed.
 */
export async function removeOwned(owned: string, path: string): Promise<void> {
  await rm(requireOwned(owned, path), REMOVAL)
}

/** Does what `removeOwned` does before it returns. */
export function removeOwnedSync(owned: string, path: string): void {
  rmSync(requireOwned(owned, path), REMOVAL)
}

/** Returns the real place of a path that `removeOwned` may remove; throws AppError `refused` for any other. */
export function requireOwned(owned: string, path: string): string {
  const { place, rule } = check(owned, path)
  if (rule === undefined) return place
  throw new AppError("refused", `'${path}' is not removed: ${rule}`, {
    hint: "Look at it and remove it by hand if it is to go.",
  })
}

/** Whether `removeOwned` may remove a path. */
export function isOwned(owned: string, path: string): boolean {
  return check(owned, path).rule === undefined
}

/**
 * Removes a folder that was made for a file, once nothing is in it, and returns whether it is gone. Any folder that
 * is not above the place of that file stays, as do the home folder and those above it.
 */
export function removeEmptyAbove(file: string, folder: string): boolean {
  if (!isOwned(folder, file) || isHomeOrAbove(realPlace(folder))) return false
  try {
    rmdirSync(folder)
    return true
  } catch {
    // Something lies in it, or it is gone already.
    return false
  }
}

/** A folder for a while. */
interface TemporaryFolder {
  path: string
  /** Removes it with all that is in it. */
  discard(): void
}

/** Makes a folder for this user alone among the system's temporary ones; its name begins with `prefix`. */
export function makeTemporaryFolder(prefix: string): TemporaryFolder {
  const owned = resolve(tmpdir())
  const path = mkdtempSync(join(owned, prefix))
  return { path, discard: () => removeOwnedSync(owned, path) }
}

/** The place that a removal would be at, and the rule that forbids it, if one does. */
function check(owned: string, path: string): { place: string; rule?: string } {
  if (!isAbsolute(owned) || !isAbsolute(path)) return { place: path, rule: "its path must be absolute" }
  const folder = realPlace(owned)
  const place = entryPlace(path)
  if (!isBelow(folder, place)) return { place, rule: `it must lie below ${folder}` }
  if (isHomeOrAbove(place)) return { place, rule: "it is the home folder or holds it" }
  return { place }
}

function isHomeOrAbove(place: string): boolean {
  const home = realPlace(homedir())
  return place === home || isBelow(place, home)
}

function isBelow(folder: string, place: string): boolean {
  const way = relative(folder, place)
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/** Returns where an entry lies, without following it when it is a link. */
function entryPlace(path: string): string {
  const entry = resolve(path)
  return join(realPlace(dirname(entry)), basename(entry))
}

/** Returns a path with links resolved as far as it exists. */
function realPlace(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const above = dirname(path)
    if ((code !== "ENOENT" && code !== "ENOTDIR") || above === path) throw error
    return entryPlace(path)
  }
}
