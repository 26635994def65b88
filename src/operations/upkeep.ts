/**
 * The upkeep of the database file: daily backups, and giving back what is unused. The process that listens looks
 * whether something is to be done, and has it done by a process of its own, since copying a file blocks a thread.
 */

import { type ChildProcess, spawn } from "node:child_process"
import { IDLE_MS_MIN } from "../config/limits.ts"
import { isBackupDue, isRecent, lastChangeMs, makeDailyBackup } from "../db/daily-backups.ts"
import { isReclaimWanted, reclaim } from "../db/reclaim.ts"
import { ownCommand } from "../runtime/own-command.ts"
import { packageFile } from "../runtime/package-root.ts"
import type { App } from "./app.ts"

/** Servers that are started to be probed live for a moment, and are not to begin anything. */
const FIRST_LOOK_MS = 30_000
const POLL_INTERVAL_MS = 60_000
/** Looks that find others writing, before the work is begun all the same: an hour of them. */
const BUSY_LOOKS_MAX = 60

/** Whether there is something to do. */
async function isUpkeepDue({ db, config, now }: Pick<App, "db" | "config" | "now">): Promise<boolean> {
  return isBackupDue(config.databasePath, now()) || (await isReclaimWanted(db))
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

interface WatchOptions {
  /** Starts the process that does the work. */
  start?: (databasePath: string) => ChildProcess
  firstLookMs?: number
}

/**
 * Starts looking for upkeep to do, which waits until nobody has written for a moment, but no longer than an hour; a
 * process that is at it when this is closed ends, which loses nothing.
 */
export function startUpkeepWatch(
  app: Pick<App, "db" | "config" | "now" | "log">,
  { start = startUpkeep, firstLookMs = FIRST_LOOK_MS }: WatchOptions = {},
): { close(): Promise<void> } {
  const { databasePath } = app.config
  let isClosed = false
  let child: ChildProcess | undefined
  let timer: NodeJS.Timeout | undefined
  let busyLooks = 0
  const later = (ms: number) => {
    if (!isClosed) timer = setTimeout(() => void look().finally(() => later(POLL_INTERVAL_MS)), ms).unref()
  }
  const look = async () => {
    try {
      if (child !== undefined || !(await isUpkeepDue(app)) || isClosed) return
      const isBusy = isRecent(lastChangeMs(databasePath), IDLE_MS_MIN, app.now())
      busyLooks = isBusy ? busyLooks + 1 : 0
      if (isBusy && busyLooks <= BUSY_LOOKS_MAX) return
      busyLooks = 0
      child = start(databasePath)
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
  later(firstLookMs)
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
