/** The one value through which operations reach the database, the clock and chance. */

import type { Config } from "../config.ts"
import type { Database } from "../db/database.ts"
import type { Repository } from "../domain/project.ts"
import type { Embedders } from "../embed/embedders.ts"
import type { Log } from "../log.ts"
import type { DocumentIndex, MemoryIndex, SearchIndex } from "../search/index.ts"

export interface App {
  config: Config
  db: Database
  search: SearchIndex
  memories: MemoryIndex
  documents: DocumentIndex
  embedders: Embedders
  log: Log
  /** Milliseconds since 1970. */
  now(): number
  /** In 0..1. */
  random(): number
  randomBytes(count: number): Uint8Array
  /** Names the session that this process speaks for: the client's own, else the process. */
  session: string
  /** Names this process among all that ever ran on this machine. */
  processName: string
  /** Tells it from a later process with the same pid. */
  processMark: string
  /** Tells a living process from a dead one; see `processMark`. */
  markOf(pid: number): string | undefined
  /** The repository around the working folder, if there is one. */
  homeRepository: Repository | undefined
  close(): Promise<void>
}
