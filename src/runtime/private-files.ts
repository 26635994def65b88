/** Keeps what is the user's alone from other users of the machine: permission bits, as POSIX has them. */

import { chmodSync, existsSync, statSync } from "node:fs"

/** What others than the owner may do with a file or a folder. */
const OTHERS = 0o077
/** Others may write, and so replace what lies in a folder, unless the sticky bit forbids that. */
const OTHERS_WRITE = 0o022
const STICKY = 0o1000

/** Returns those of some files and folders that others than their owner may use; what is not there is left out. */
export function openToOthers(paths: readonly string[]): string[] {
  return paths.filter((path) => (modeOf(path) & OTHERS) !== 0)
}

/** Takes from others what they may do with files and folders; returns those where that failed. */
export function closeToOthers(paths: readonly string[]): string[] {
  return openToOthers(paths).filter((path) => {
    try {
      chmodSync(path, modeOf(path) & 0o700)
      return false
    } catch {
      return true
    }
  })
}

/** Whether others may replace what lies in a folder, or what stands in a file. */
export function isWritableByOthers(path: string): boolean {
  const mode = modeOf(path)
  return (mode & OTHERS_WRITE) !== 0 && (mode & STICKY) === 0
}

/** Returns the permission bits, none for what is not there; Windows keeps a user's data to itself by other means. */
function modeOf(path: string): number {
  if (process.platform === "win32") return 0
  if (!existsSync(path)) return 0
  return (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o7777
}
