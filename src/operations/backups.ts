/** What the daily backups still hold of what is deleted, and how it goes from them too. */

import { DAILY_BACKUPS_KEPT } from "../config/limits.ts"
import { listDailyBackups, listKeptCopies, makeDailyBackup } from "../db/daily-backups.ts"
import { emptyLog } from "../db/reclaim.ts"
import { AppError } from "../errors.ts"
import { ownCommand } from "../runtime/own-command.ts"
import { posixWord } from "../runtime/shell-quoting.ts"
import type { App } from "./app.ts"

/** Returns a sentence on the daily backups that hold what was just deleted; null where there are none. */
export function heldByBackups({ config }: Pick<App, "config">): string | null {
  const held = listDailyBackups(config.databasePath).length
  if (held === 0) return null
  return `The daily backups hold it until ${DAILY_BACKUPS_KEPT} newer ones are made, ${DAILY_BACKUPS_KEPT} days of work at most; --purge on the command line drops it from them too.`
}

/** Returns a sentence on the other copies beside the database, which may hold what was just deleted; null where there are none. */
export function heldByKeptCopies({ config }: Pick<App, "config">): string | null {
  const kept = listKeptCopies(config.databasePath)
  if (kept.length === 0) return null
  const names = kept.map((path) => posixWord(path)).join(", ")
  return `Copies that were kept before an upgrade or a restore may hold it too, and are yours to remove: ${names}`
}

/**
 * Makes a new daily backup, of the database as it is now, and removes all earlier ones, with all that they held, where
 * there are any; empties the log, where what is deleted stands until it is overwritten. Fails with `unavailable`, and
 * removes no backup, when there is no room for the new one.
 */
export async function purgeBackups({ config, db, now }: Pick<App, "config" | "db" | "now">): Promise<void> {
  const { databasePath } = config
  await emptyLog(db)
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
        hint: `${error.hint ?? ""} Or remove the files that \`${ownCommand()} restore\` lists.`,
      },
    )
  }
  throw new AppError("conflict", "it is deleted, but another process is making a backup right now", {
    hint: `Remove the files that \`${ownCommand()} restore\` lists when it is done.`,
  })
}
