/** Paths as clients write them, of whichever platform they come from. */

import { posix, win32 } from "node:path"

/** Whether a path is absolute on the platform that it comes from. */
export function isAbsolutePath(path: string): boolean {
  return posix.isAbsolute(path) || win32.isAbsolute(path)
}

/** Turns `/c:/project` into `c:/project`: Cursor takes its folders from URLs on Windows. */
export function withoutSlashBeforeDrive(path: string): string {
  return path.replace(/^\/(?=[a-zA-Z]:[\\/])/, "")
}

/** Puts a path below a folder unless it is absolute; with no folder it stays as it is. */
export function belowFolder(folder: string | undefined, path: string): string {
  if (folder === undefined || folder === "" || isAbsolutePath(path)) return path
  return folder.endsWith("/") ? `${folder}${path}` : `${folder}/${path}`
}
