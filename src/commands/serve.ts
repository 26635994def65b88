/** `signalbox serve`: the HTTP listener without a client on stdin, until a signal ends it. */

import { openAppAlone } from "../app.ts"
import type { Config } from "../config/config.ts"
import { DRAIN_MS_MAX } from "../config/limits.ts"
import { serverSession } from "../operations/coordination/sessions.ts"
import { leaveProcesses, registerProcess } from "../operations/processes.ts"
import { print } from "./output.ts"

interface ServeOptions {
  /** The port to ask for first; 0 for any. */
  port?: number
}

/** The longest pause of a timer; one keeps the process alive, which the listener does not. */
const FOREVER_MS = 2 ** 31 - 1

/** Listens, or stands by while another process does, and says which; resolves after a signal, when all is closed. */
export async function serveCommand(config: Config, options: ServeOptions): Promise<void> {
  const ended = endOfServing()
  const { startListener } = await import("../serve.ts")
  const asked = options.port === undefined ? config : { ...config, port: options.port }
  const app = await openAppAlone(asked, { isServer: true })
  const processId = await registerProcess(app, serverSession(app), [])
  const listener = startListener(app, (state) => {
    const { url } = state
    if (state.is === "listening") print(`signalbox listens on ${url}. Ctrl+C ends it.`)
    else print(`Another signalbox process listens${url === undefined ? "" : ` on ${url}`}. Standing by.`)
  })
  await ended
  setTimeout(() => process.exit(), 2 * DRAIN_MS_MAX).unref()
  await listener.close()
  await leaveProcesses(app, processId)
  await app.close()
}

/** Resolves with the first signal that asks the process to end. */
function endOfServing(): Promise<void> {
  return new Promise((resolve) => {
    const alive = setInterval(() => {}, FOREVER_MS)
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
      process.once(signal, () => {
        clearInterval(alive)
        resolve()
      })
    }
  })
}
