/** What commands that delete do about the backups. */

import type { App } from "../operations/app.ts"
import { heldByBackups, heldByKeptCopies, purgeBackups } from "../operations/backups.ts"
import { lines } from "../operations/markdown.ts"

/** Drops from the daily backups what was deleted, where that was asked for; returns which copies hold it still, if any do. */
export async function afterDeletion(app: App, { purge }: { purge?: boolean }): Promise<string | null> {
  if (purge === true) await purgeBackups(app)
  const held = [purge === true ? null : heldByBackups(app), heldByKeptCopies(app)].filter(
    (text) => text !== null,
  )
  return held.length === 0 ? null : lines(...held)
}
