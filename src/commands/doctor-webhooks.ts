/** What doctor says of webhooks: which ones get nothing any more, or nothing just now, and why. */

import { existsSync } from "node:fs"
import type { Config } from "../config/config.ts"
import { lookInto } from "../db/backup.ts"
import { SCHEMA_VERSION } from "../db/migrations.ts"
import { visibleLine } from "../domain/foreign-text/visible.ts"
import { AppError } from "../errors.ts"
import { openDatabase, wayOutOf } from "../operations/database.ts"
import { count } from "../operations/markdown.ts"
import { allWebhooks, type ShownWebhook } from "../operations/webhooks/webhooks.ts"
import { ownCommand } from "../runtime/own-command.ts"
import type { Finding } from "./doctor-database.ts"

/** Checks the webhooks of a database that can be used. */
export async function checkWebhooks(config: Config): Promise<Finding[]> {
  const webhooks = await webhooksIn(config)
  const wrong = webhooks.filter(({ state, pause_reason }) => state === "failing" || pause_reason !== null)
  if (webhooks.length === 0 || wrong.length > 0) return wrong.map(findingOf)
  return [{ about: "webhooks", state: "ok", text: count(webhooks.length, "webhook") }]
}

/** Opens nothing but the file: opening all that belongs to it would close to others what doctor finds open. */
async function webhooksIn({ databasePath }: Config): Promise<ShownWebhook[]> {
  if (!existsSync(databasePath)) return []
  const look = lookInto(databasePath, () => wayOutOf(databasePath))
  if ("fault" in look || look.schemaVersion !== SCHEMA_VERSION) return []
  const db = await openDatabase(databasePath)
  try {
    return await allWebhooks({ db })
  } catch (error) {
    // Of a damaged file the check of the database tells.
    if (error instanceof AppError) return []
    throw error
  } finally {
    await db.close()
  }
}

function findingOf({ id, name, url, state, pause_reason: reason, last_error: error }: ShownWebhook): Finding {
  const about = "webhooks"
  const what = `webhook ${id} (${visibleLine(name)}, ${url})`
  if (state === "failing")
    return {
      about,
      state: "warning",
      text: `${what} fails and is tried again: ${error}`,
      advice: `Try it: ${ownCommand()} webhooks test ${id}`,
    }
  return {
    about,
    state: "problem",
    text: `${what} is paused, because ${reason}: ${error}`,
    advice: `Correct its receiver, then run: ${ownCommand()} webhooks resume ${id}, or remove ${id}`,
  }
}
