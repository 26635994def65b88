/**
 * The hook without a listener: opens the database, decides, closes. The hook's Node form imports this from
 * the package, so its one export and the shape of what goes in and out must not change.
 */

import { existsSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { openAppAlone } from "./app.ts"
import { readConfig } from "./config/config.ts"
import { TELLING_WAIT_MS_MAX } from "./config/event-limits.ts"
import type { HookAnswer } from "./hook/answer.ts"
import { answerHook, failOpen, reasonOf } from "./hook/decide.ts"
import type { HookRequest } from "./hook/request.ts"
import { admit } from "./operations/admission.ts"
import type { Caller } from "./operations/caller.ts"
import { createLog } from "./runtime/log.ts"
import { nameOwnCommand } from "./runtime/own-command.ts"

/** Another process may hold the write lock for longer than the edit may wait. */
const CLOSING_MS_MAX = TELLING_WAIT_MS_MAX

/** Returns what the hook prints and how it ends; never fails. */
export async function decideAlone(request: HookRequest): Promise<HookAnswer> {
  try {
    const config = readConfig({ env: process.env, workingFolder: request.folder ?? process.cwd() })
    nameOwnCommand(config.dataFolder)
    // Where there is no database nobody has reserved anything, and a look must not make one.
    if (!existsSync(config.databasePath)) return failOpen(`there is no database ${config.databasePath} yet`)
    const app = await openAppAlone({ ...config, warnings: [] }, { log: createLog("silent") })
    try {
      const { workingFolder: folder } = config
      const caller: Caller = {
        surface: "hook",
        key: "file",
        session: undefined,
        folder,
        homeRepository: undefined,
      }
      return await answerHook(await admit({ app, caller }, { permission: "everything", counts: [] }), request)
    } finally {
      // The decision is made: what is still to be written of it is worth a moment, not the edit.
      const closing = app.close()
      closing.catch(() => {})
      await Promise.race([closing, sleep(CLOSING_MS_MAX)])
    }
  } catch (error) {
    return failOpen(reasonOf(error))
  }
}
