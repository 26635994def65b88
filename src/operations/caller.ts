/** Who makes a call, and from where: what the surface in front knows of it before anything is looked up. */

import type { ApiKey } from "../domain/api-key.ts"
import type { Repository } from "../domain/project.ts"
import type { App } from "./app.ts"
import { processSession } from "./coordination/sessions.ts"

/** The ways in. */
export type Surface = "stdio" | "http" | "hook" | "command line"

export interface Caller {
  surface: Surface
  /**
   * The key, where the surface has checked it, or the way to it: `settings` is SIGNALBOX_API_KEY, else the
   * local key; `file` is the local key for a process that can open the database, as the hook can.
   */
  key: ApiKey | "settings" | "file"
  /** Names the session that the call speaks for; undefined for the one of its key. */
  session: string | undefined
  /** The folder that the caller works in; undefined where none is around it. */
  folder: string | undefined
  /** The repository around that folder, if there is one. */
  homeRepository: Repository | undefined
}

/** A call as it arrives: what it is made to, and by whom. */
export interface Call {
  app: App
  caller: Caller
}

/** Returns a call of the command line. Its repository is not looked for: most commands need none. */
export function commandCall(app: App): Call & { caller: { folder: string } } {
  const caller: Caller & { folder: string } = {
    surface: "command line",
    key: "settings",
    session: processSession(app),
    folder: app.config.workingFolder,
    homeRepository: undefined,
  }
  return { app, caller }
}
