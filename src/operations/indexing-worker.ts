/**
 * What goes on behind for documentation: the process that listens has another one do the indexing, so that nobody
 * who is served waits for it, and no memory of it stays.
 */

import { type ChildProcess, spawn } from "node:child_process"
import type { Socket } from "node:net"
import type { App } from "./app.ts"
import { isIndexingWanted } from "./indexing.ts"

/** How often to look whether something is to be done, and how long to leave it alone when it was in vain. */
const LOOK_EVERY_MS = 1_000
const AFTER_FAILURE_MS = 30_000

/** Starts looking for documentation to index; closing it ends the process that is at work, which loses nothing. */
export function startIndexingWorker(app: App, command: readonly string[]): { close(): Promise<void> } {
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  let child: ChildProcess | undefined
  let looking = Promise.resolve()
  const later = (ms: number) => {
    if (isClosed) return
    timer = setTimeout(() => {
      looking = look()
    }, ms).unref()
  }
  const look = async () => {
    try {
      if (!(await isIndexingWanted(app)) || isClosed) return later(LOOK_EVERY_MS)
      child = startIndexing(app, command)
      const isDone = await ended(child)
      child = undefined
      if (!isDone && !isClosed) app.log.warn("the process that indexes documentation failed")
      // What cannot be read stays wanted, and is not tried again every second.
      const isLeft = !isClosed && (await isIndexingWanted(app))
      later(isDone && !isLeft ? LOOK_EVERY_MS : AFTER_FAILURE_MS)
    } catch (error) {
      if (!isClosed) app.log.warn("documentation could not be indexed", { error })
      later(AFTER_FAILURE_MS)
    }
  }
  later(LOOK_EVERY_MS)
  return {
    async close() {
      isClosed = true
      clearTimeout(timer)
      child?.stdin?.end()
      child?.kill("SIGTERM")
      await looking
    },
  }
}

/** Its standard input ends with this process, however that ends; and so does it. */
function startIndexing(app: App, [program = "", ...args]: readonly string[]): ChildProcess {
  const child = spawn(program, [...args, "--db", app.config.databasePath], {
    stdio: ["pipe", "ignore", "ignore"],
    env: { ...process.env, SIGNALBOX_DB: app.config.databasePath, SIGNALBOX_API_KEY: undefined },
    cwd: "/",
  })
  // Neither the process nor the way to it keeps this one alive.
  child.unref()
  ;(child.stdin as Socket | null)?.unref()
  return child
}

function ended(child: ChildProcess): Promise<boolean> {
  return new Promise((resolve) => {
    child.once("error", () => resolve(false))
    child.once("exit", (code) => resolve(code === 0))
  })
}
