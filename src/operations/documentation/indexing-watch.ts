/** Background work on documentation: the process that listens looks what is to be done and has it done behind. */

import type { App } from "../app.ts"
import type { Indexer } from "./indexer.ts"
import { isIndexingWanted } from "./indexing.ts"

/** How often to look whether something is to be done, and how long to leave it alone when it was in vain. */
const POLL_INTERVAL_MS = 1_000
const AFTER_FAILURE_MS = 30_000

/** Starts looking for documentation to index; the indexer is closed by whoever made it. */
export function startIndexingWatch(app: App, indexer: Indexer): { close(): Promise<void> } {
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  let looking = Promise.resolve()
  const later = (ms: number) => {
    if (isClosed) return
    timer = setTimeout(() => {
      looking = look()
    }, ms).unref()
  }
  const look = async () => {
    try {
      if (!(await isIndexingWanted(app)) || isClosed) return later(POLL_INTERVAL_MS)
      await indexer.run()
      // What cannot be read stays wanted, and is not tried again every second.
      const isLeft = !isClosed && (await isIndexingWanted(app))
      later(isLeft ? AFTER_FAILURE_MS : POLL_INTERVAL_MS)
    } catch (error) {
      if (!isClosed) app.log.warn("documentation could not be indexed", { error })
      later(AFTER_FAILURE_MS)
    }
  }
  later(POLL_INTERVAL_MS)
  return {
    async close() {
      isClosed = true
      clearTimeout(timer)
      await indexer.close()
      await looking
    },
  }
}
