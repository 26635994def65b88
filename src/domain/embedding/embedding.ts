/** Embedding models as the database knows them. */

import type { Calibration } from "./similarity.ts"

/** Search uses the vectors of the active model; those of the one that is being built are made beside them. */
export type ModelState = "active" | "building" | "retired"

export interface StoredModel {
  id: number
  /** Names the model and the version of its weights. */
  name: string
  /** `builtin`, or the name under which its files are kept. */
  source: string
  dimensions: number
  calibration: Calibration
  state: ModelState
}

/** How many memories of all repositories a model has embedded, and how many it cannot. */
export interface EmbeddingProgress {
  total: number
  completed: number
  failed: number
}

/** The source of the model that travels with the product. */
export const BUILTIN_SOURCE = "builtin"
