/**
 * The upkeep of the database file: daily backups, and giving back what is unused. The process that listens looks
 * whether something is to be done, and has it done by a process of its own, since copying a file blocks a thread.
 */

import { type ChildProcess, spawn } from "node:child_process"
import { IDLE_MS_MIN } from "../config/limits.ts"
import { isBackupDue, lastChangeMs, makeDailyBackup } from "../db/daily-backups.ts"
import { isReclaimWanted, reclaim } from "../db/reclaim.ts"
import { ownCommand } from "../runtime/own-command.ts"
import { packageFile } from "../runtime/package-root.ts"
import type { App } from "./app.ts"

/** Servers that are started to be probed live for a moment, and are not to begin anything. */
const FIRST_LOOK_MS = 30_000
const POLL_INTERVAL_MS = 60_000

/** Whether there is something to do now: nothing is done while others write. */
export async function isUpkeepWanted({ db, config, now }: App): Promise<boolean> {
  const { databasePath } = config
  const nowMs = now()
  if (nowMs - lastChangeMs(databasePath) < IDLE_MS_MIN) return false
  return isBackupDue(databasePath, nowMs) || (await isReclaimWanted(db))
}

/** Does all upkeep that is due. Fails with `unavailable` when a backup cannot be made, after all else is done. */
export async function doUpkeep(app: App): Promise<void> {
  const { databasePath } = app.config
  try {
    if (isBackupDue(databasePath, app.now()))
      makeDailyBackup(databasePath, { nowMs: app.now(), hint: backupHint() })
  } finally {
    if (await isReclaimWanted(app.db)) await reclaim(databasePath)
  }
}

/** What helps when the database cannot be copied. */
export function backupHint(): string {
  return `Bring back an earlier state: \`${ownCommand()} restore\` lists the backups.`
}

/** Starts looking for upkeep to do; a process that is at it when this is closed ends, which loses nothing. */
export function startUpkeepWatch(app: App): { close(): Promise<void> } {
  let isClosed = false
  let child: ChildProcess | undefined
  let timer: NodeJS.Timeout | undefined
  const later = (ms: number) => {
    if (!isClosed) timer = setTimeout(() => void look().finally(() => later(POLL_INTERVAL_MS)), ms).unref()
  }
  const look = async () => {
    try {
      if (child !== undefined || !(await isUpkeepWanted(app)) || isClosed) return
      child = startUpkeep(app.config.databasePath)
      const isGone = () => {
        child = undefined
      }
      child.once("close", isGone)
      child.once("error", (error) => {
        isGone()
        app.log.warn("the upkeep of the database cannot be started", { error })
      })
    } catch (error) {
      if (!isClosed) app.log.warn("the upkeep of the database failed", { error })
    }
  }
  later(FIRST_LOOK_MS)
  return {
    async close() {
      isClosed = true
      clearTimeout(timer)
      child?.kill("SIGTERM")
    },
  }
}

function startUpkeep(databasePath: string): ChildProcess {
  const child = spawn(
    process.execPath,
    [packageFile("bin/signalbox.js"), "backup", "--background", "--db", databasePath],
    {
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, SIGNALBOX_DB: databasePath, SIGNALBOX_API_KEY: undefined },
      cwd: "/",
    },
  )
  child.unref()
  return child
}
