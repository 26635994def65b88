/** What the daily backups still hold of what is deleted, and how it goes from them too. */

import { DAILY_BACKUPS_KEPT } from "../config/limits.ts"
import { listDailyBackups, makeDailyBackup } from "../db/daily-backups.ts"
import { AppError } from "../errors.ts"
import { ownCommand } from "../runtime/own-command.ts"
import type { App } from "./app.ts"

/** Returns a sentence on the daily backups that hold what was just deleted; null where there are none. */
export function heldByBackups({ config }: Pick<App, "config">): string | null {
  const held = listDailyBackups(config.databasePath).length
  if (held === 0) return null
  return `The daily backups hold it until ${DAILY_BACKUPS_KEPT} newer ones are made, ${DAILY_BACKUPS_KEPT} days of work at most; --purge on the command line drops it from them too.`
}

/**
 * Makes a new daily backup, of the database as it is now, and removes all earlier ones, with all that they held. Fails
 * with `unavailable`, and removes none, when there is no room for the new one.
 */
export function purgeBackups({ config, now }: Pick<App, "config" | "now">): void {
  const { databasePath } = config
  if (listDailyBackups(databasePath).length === 0) return
  try {
    const made = makeDailyBackup(databasePath, { nowMs: now(), kept: 1, hint: "See `status`." })
    if (made !== undefined) return
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new AppError(
      "unavailable",
      `it is deleted, but the daily backups still hold it: ${error.message}`,
      {
        hint: `${error.hint ?? ""} Then run the command with --purge again, or remove the files that \`${ownCommand()} restore\` lists.`,
      },
    )
  }
  throw new AppError("conflict", "it is deleted, but another process is making a backup right now", {
    hint: `Remove the files that \`${ownCommand()} restore\` lists when it is done.`,
  })
}
