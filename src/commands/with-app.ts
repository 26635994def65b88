/** Opens the app for one command and closes it again, whatever happens. */

import { type AppOptions, openAppAlone } from "../app.ts"
import type { Config } from "../config/config.ts"
import type { App } from "../operations/app.ts"

export async function withApp<T>(
  config: Config,
  work: (app: App) => Promise<T>,
  options: AppOptions = {},
): Promise<T> {
  const app = await openAppAlone(config, options)
  try {
    return await work(app)
  } finally {
    await app.close()
  }
}
