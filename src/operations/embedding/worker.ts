/** Background work: the process that listens embeds what waits, a little at a time. */

import type { App } from "../app.ts"
import { embedWaiting, isWorkWaiting } from "./models.ts"

/** How often to look whether something waits, and how long to leave it alone after a failure. */
const POLL_INTERVAL_MS = 1_000
const AFTER_FAILURE_MS = 30_000

/** Starts looking for memories that wait for their vectors; closing it ends after the memory that is in work. */
export function startEmbeddingWorker(app: App): { close(): Promise<void> } {
  const stop = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let working = Promise.resolve()
  const later = (ms: number) => {
    if (stop.signal.aborted) return
    timer = setTimeout(() => {
      working = work()
    }, ms).unref()
  }
  const work = async () => {
    try {
      if (await isWorkWaiting(app.db))
        await embedWaiting(app, stop.signal, undefined, { withDocuments: false })
      later(POLL_INTERVAL_MS)
    } catch (error) {
      if (!stop.signal.aborted) app.log.warn("memories could not be embedded", { error })
      later(AFTER_FAILURE_MS)
    }
  }
  later(0)
  return {
    async close() {
      stop.abort()
      clearTimeout(timer)
      await working
    },
  }
}
