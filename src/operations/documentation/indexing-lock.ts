/** One process at a time changes what is indexed of documentation; a lock of the kernel's decides which. */

import { openProcessLock } from "../../db/process-lock.ts"
import type { App } from "../app.ts"

/** Does something while no process indexes, this one included; undefined, and nothing done, when one does. */
export async function whileNobodyIndexes<T>(app: App, work: () => Promise<T>): Promise<T | undefined> {
  const lock = openProcessLock(`${app.config.databasePath}.indexing.lock`)
  try {
    return lock.tryTake() ? await work() : undefined
  } finally {
    lock.close()
  }
}
