/**
 * A lock that one process holds and that the kernel takes back when it dies, however it dies: an exclusive
 * transaction on an empty SQLite file of its own. SQLite brings the locks of every platform.
 */

import { closeSync, openSync } from "node:fs"
import BetterSqlite3 from "better-sqlite3"

export interface ProcessLock {
  /** Takes the lock if no process has it, and says whether it is held now. Cheap enough to be asked every moment. */
  tryTake(): boolean
  /** Gives the lock back, if it is held, and closes the file. */
  close(): void
}

/** Opens the lock file at `path`, creating it with mode 0600; fails when that is not possible. */
export function openProcessLock(path: string): ProcessLock {
  createFile(path)
  const connection = new BetterSqlite3(path, { timeout: 0 })
  return {
    tryTake() {
      if (connection.inTransaction) return true
      try {
        connection.exec("BEGIN EXCLUSIVE")
        return true
      } catch (error) {
        // Two processes that ask at once may both be told so; one that asks again later gets it.
        if (error instanceof BetterSqlite3.SqliteError && error.code.startsWith("SQLITE_BUSY")) return false
        throw error
      }
    },
    close() {
      connection.close()
    },
  }
}

function createFile(path: string): void {
  try {
    // Never opened when it is there: on POSIX, closing any handle of a file gives up all locks on it.
    closeSync(openSync(path, "wx", 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  }
}
