/** The embedders of this process: loaded when they are first wanted, one for each model. */

import { BUILTIN_SOURCE, type StoredModel } from "../domain/embedding/embedding.ts"
import type { WordVectors } from "../domain/memory/ranking.ts"
import type { Log } from "../runtime/log.ts"
import { BUILTIN_MODEL, type BuiltinEmbedder } from "./builtin.ts"
import type { Embedder } from "./embedder.ts"

export interface Embedders {
  /** Returns a model's embedder if it can answer at once; otherwise begins to load it. */
  ready(model: StoredModel): Embedder | undefined
  /** Returns a model's embedder when it is loaded; fails when it cannot be. */
  load(model: StoredModel): Promise<Embedder>
  /** Returns what gives the built-in vectors of single words; the same word has the same vector. */
  wordVectors(): Promise<WordVectors>
  /** Returns what counts the pieces that the built-in model cuts a text into. */
  pieceCounter(): Promise<(text: string) => number>
  close(): Promise<void>
}

interface EmbeddersOptions {
  builtin: BuiltinEmbedder
  /** Where the files of other models are kept. */
  modelsFolder: string
  log: Log
}

/** A model that could not be loaded is tried again after this time. */
const RETRY_AFTER_MS = 30_000

interface Slot {
  loading: Promise<Embedder>
  embedder: Embedder | undefined
  /** By the clock that only ever goes on. */
  failedAtMs: number | undefined
}

/** Makes the embedders of a process; nothing is loaded yet. */
export function createEmbedders({ builtin, modelsFolder, log }: EmbeddersOptions): Embedders {
  const slots = new Map<string, Slot>()

  const open = async (model: StoredModel): Promise<Embedder> => {
    if (model.source !== BUILTIN_SOURCE) {
      const { openTransformersEmbedder } = await import("./transformers/transformers.ts")
      return openTransformersEmbedder({ name: model.name, source: model.source, modelsFolder, log })
    }
    if (model.name !== BUILTIN_MODEL.name)
      throw new Error(`the model ${model.name} came with another version of signalbox`)
    return builtin
  }

  const slotOf = (model: StoredModel): Slot => {
    const known = slots.get(model.name)
    const mayTry = known?.failedAtMs !== undefined && performance.now() - known.failedAtMs >= RETRY_AFTER_MS
    if (known !== undefined && !mayTry) return known
    const slot: Slot = { loading: open(model), embedder: undefined, failedAtMs: undefined }
    slots.set(model.name, slot)
    slot.loading.then(
      (embedder) => {
        slot.embedder = embedder
      },
      (error: unknown) => {
        slot.failedAtMs = performance.now()
        log.warn("an embedding model cannot be loaded", { model: model.name, error })
      },
    )
    return slot
  }

  return {
    ready: (model) => slotOf(model).embedder,
    load: (model) => slotOf(model).loading,
    wordVectors: () =>
      builtin.wordVectors().catch((error: unknown) => {
        // Searches rank without them.
        log.debug("the vectors of words cannot be read", { error })
        throw error
      }),
    pieceCounter: () => builtin.pieceCounter(),
    async close() {
      for (const { embedder } of slots.values()) await embedder?.close()
      slots.clear()
    },
  }
}
