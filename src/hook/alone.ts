/**
 * The hook without a listener: opens the database, decides, closes. The hook's Node form imports this from
 * the package, so its one export and the shape of what goes in and out must not change.
 */

import { existsSync } from "node:fs"
import { openAppAlone } from "../app.ts"
import { readConfig } from "../config.ts"
import { createLog } from "../log.ts"
import { localKey } from "../operations/keys.ts"
import type { HookAnswer } from "./answer.ts"
import { answerHook, letGo } from "./decide.ts"
import type { HookRequest } from "./request.ts"

/** Returns what the hook prints and how it ends; never fails. */
export async function decideAlone(request: HookRequest): Promise<HookAnswer> {
  try {
    const config = readConfig({ env: process.env, workingFolder: request.folder ?? process.cwd() })
    // Where there is no database nobody has reserved anything, and a look must not make one.
    if (!existsSync(config.databasePath)) return letGo(`there is no database ${config.databasePath} yet`)
    const app = await openAppAlone({ ...config, warnings: [] }, { log: createLog("silent") })
    try {
      return await answerHook({ app, key: await localKey(app), nowMs: app.now() }, request)
    } finally {
      await app.close()
    }
  } catch (error) {
    return letGo((error as Error).message)
  }
}
