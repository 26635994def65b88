/** What is at the other end of stdin. */

import { fstatSync } from "node:fs"

/** Whether a client may be there: at the end of a pipe, or as a file of requests. A terminal or /dev/null is none. */
export function hasClient(): boolean {
  try {
    const input = fstatSync(0)
    return input.isFIFO() || input.isSocket() || input.isFile()
  } catch {
    return false
  }
}
