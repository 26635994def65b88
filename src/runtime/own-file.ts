/** Writes files of our own outside the package, which other processes may be reading at that moment. */

import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { dirname } from "node:path"

/**
 * Makes a file hold a text in one step, with `mode` as its permission bits, and its folder where it is missing;
 * returns whether anything changed.
 */
export function placeFile(path: string, text: string, mode: number): boolean {
  if (existsSync(path) && readFileSync(path, "utf8") === text && (statSync(path).mode & 0o777) === mode)
    return false
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // Made anew: in a folder of others' there may be a link of theirs under that name.
  rmSync(`${path}.new`, { force: true })
  writeFileSync(`${path}.new`, text, { mode, flag: "wx" })
  chmodSync(`${path}.new`, mode)
  renameSync(`${path}.new`, path)
  return true
}
