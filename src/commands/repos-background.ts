/**
 * `signalbox repos sync --background`: the process that a listener starts to read what has changed. It says nothing,
 * gives way to everybody else, and ends with the process that started it.
 */

import { constants, setPriority } from "node:os"
import type { Config } from "../config.ts"
import { AppError } from "../errors.ts"
import { runIndexing } from "../operations/indexing.ts"
import { withApp } from "./with-app.ts"

/**
 * Brings all documentation up to date, until that is done or stdin ends. Nothing is fetched: what a server starts by
 * itself goes to no network. What keeps it from its work is no failure, because whoever started it looks again.
 */
export async function syncInBackground(config: Config): Promise<void> {
  yieldToOthers()
  const stop = new AbortController()
  const onEnd = () => stop.abort()
  process.stdin.on("end", onEnd).on("error", onEnd).resume()
  try {
    await withApp({ ...config, logLevel: "silent" }, (app) => runIndexing(app, { signal: stop.signal }), {
      isMapped: false,
    })
  } catch (error) {
    if (!(error instanceof AppError)) throw error
  } finally {
    // A pipe that is still open would keep the process.
    process.stdin.destroy()
  }
}

function yieldToOthers(): void {
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // Some systems let nobody choose; the work is the same.
  }
}
