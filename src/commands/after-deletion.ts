/** What commands that delete do about the daily backups. */

import type { App } from "../operations/app.ts"
import { heldByBackups, purgeBackups } from "../operations/backups.ts"

/** Drops from the daily backups what was deleted, where that was asked for; else returns what they still hold of it. */
export function afterDeletion(app: App, { purge }: { purge?: boolean }): string | null {
  if (purge !== true) return heldByBackups(app)
  purgeBackups(app)
  return null
}
