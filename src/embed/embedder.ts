/**
 * The embedder port: turns texts into vectors whose cosine says how much they are about the same. Vectors
 * of different models are never compared, so every embedder tells which model it is.
 */

import type { Calibration } from "../domain/embedding/similarity.ts"

export interface EmbeddingModel {
  /** Names the model and the version of its weights, such as `builtin-1`. */
  name: string
  dimensions: number
  /** How cosines of this model become similarities in 0..1. */
  calibration: Calibration
}

export interface Embedder {
  readonly model: EmbeddingModel
  /**
   * Embeds texts to be found: for each text one vector of length 1 for every window of at most 256
   * pieces, in order; none for a text of which the model knows nothing.
   */
  embedPassages(texts: readonly string[]): Promise<Float32Array[][]>
  /**
   * Embeds a text to search with; null for one of which the model knows nothing. `weightOf` says in 0..1 how
   * much each of its words tells, folded as the index folds them; models that read a text as a whole pass over it.
   */
  embedQuery(text: string, weightOf?: (word: string) => number): Promise<Float32Array | null>
  /** Gives back threads and memory; the embedder may not be used any more. */
  close(): Promise<void>
}
