/**
 * The hook without a listener: opens the database, decides, closes. The hook's Node form imports this from
 * the package, so its one export and the shape of what goes in and out must not change.
 */

import { existsSync } from "node:fs"
import { openAppAlone } from "./app.ts"
import { readConfig } from "./config/config.ts"
import type { HookAnswer } from "./hook/answer.ts"
import { answerHook, failOpen, reasonOf } from "./hook/decide.ts"
import type { HookRequest } from "./hook/request.ts"
import { admit } from "./operations/admission.ts"
import type { Caller } from "./operations/caller.ts"
import { createLog } from "./runtime/log.ts"
import { nameOwnCommand } from "./runtime/own-command.ts"

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
      await app.close()
    }
  } catch (error) {
    return failOpen(reasonOf(error))
  }
}
