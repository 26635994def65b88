/** What the main thread and the thread that runs a model say to each other. */

import type { ModelSettings } from "../models/manifest.ts"

/** What the thread is started with. */
export interface WorkerSettings extends ModelSettings {
  modelFolder: string
}

/** Asks for the vectors of texts. Queries go before passages, between two batches of these. */
export interface EmbedRequest {
  id: number
  kind: "passages" | "query"
  texts: readonly string[]
}

/** Answers a request: for each text its windows, whose vectors stand one after the other. */
export interface EmbedAnswer {
  id: number
  /** How many windows each text has. */
  windows: number[]
  dimensions: number
  vectors: Float32Array
}

/** Says that a request failed; `isLoading` when the model could not be loaded at all. */
interface EmbedFailure {
  id: number
  message: string
  isLoading: boolean
}

/** Passes on what the runtime prints. */
interface Printed {
  printed: string
}

export type WorkerMessage = EmbedAnswer | EmbedFailure | Printed
