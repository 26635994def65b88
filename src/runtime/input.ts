/** What is at the other end of stdin. */

import { fstatSync } from "node:fs"

/** Whether a client may be there. At a terminal and at /dev/null there is none; where in doubt, there is one. */
export function hasClient(): boolean {
  try {
    return !fstatSync(0).isCharacterDevice()
  } catch {
    return true
  }
}
