/** The one value through which operations reach the database, the clock and randomness; who calls is a `Caller`. */

import type { Config } from "../config/config.ts"
import type { Database } from "../db/database.ts"
import type { Embedders } from "../embed/embedders.ts"
import type { Log } from "../runtime/log.ts"
import type { DocumentIndex, MemoryIndex, SearchIndex } from "../search/index.ts"
import type { Indexer } from "./documentation/indexer.ts"

/** The nearest client above a process. */
export interface RunningClient {
  /** Its processes, nearest first. */
  anchors: readonly string[]
  /** Those of them below which only agents work. */
  agentAnchors: readonly string[]
  /** Its own id of the session, where the environment tells one. */
  session: string | undefined
}

export interface App {
  config: Config
  db: Database
  search: SearchIndex
  memories: MemoryIndex
  documents: DocumentIndex
  embedders: Embedders
  /** Where this process answers others, what reads documentation for it; commands read it themselves. */
  indexer?: Indexer | undefined
  log: Log
  /** Milliseconds since 1970. */
  now(): number
  /** In 0..1. */
  random(): number
  randomBytes(count: number): Uint8Array
  /** Names this process among all that ever ran on this machine. */
  processName: string
  /** Returns the client that runs this process, as the processes above tell. */
  client(): RunningClient
  /** Tells it from a later process with the same pid. */
  processMark: string
  /** Tells a living process from a dead one; see `processMark`. */
  markOf(pid: number): string | undefined
  close(): Promise<void>
}
