/** `signalbox backup --background`: what the process that listens has done behind; it gives way to every other process. */

import { constants, setPriority } from "node:os"
import type { Config } from "../config/config.ts"
import { doUpkeep } from "../operations/upkeep.ts"
import { createLog } from "../runtime/log.ts"
import { withApp } from "./with-app.ts"

/** Makes the daily backup and gives back what is unused of the file, where that is due; tells in the log what fails. */
export async function upkeepCommand(config: Config): Promise<void> {
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // Some systems let no process choose; the work is the same.
  }
  try {
    // The server has told of its settings itself.
    await withApp({ ...config, warnings: [] }, doUpkeep, { isMapped: false })
  } catch (error) {
    // Its stderr is the server's, on which there are lines of JSON only.
    createLog(config.logLevel).warn("the upkeep of the database failed", { error })
  }
}
