/**
 * Any feature-extraction model for transformers.js as an embedder: its files are on disk, it runs in a
 * thread of its own, and nothing is ever sent out.
 */

import { AppError } from "../../errors.ts"
import type { Log } from "../../runtime/log.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import type { Embedder, EmbeddingModel } from "../embedder.ts"
import { measureCalibration } from "../models/calibration.ts"
import { type ModelManifest, modelName, writeManifest } from "../models/manifest.ts"
import { findModel, type StoredModel } from "../models/store.ts"
import { ModelThread, type ThreadOptions } from "./thread.ts"

/**
 * Makes an embedder of a model on disk. The thread is started with the first text, and again after it was
 * given back or died. Throws AppError `unavailable` for a model that was not measured; the embedder's calls
 * throw what `ModelThread.embed` throws.
 */
export function createTransformersEmbedder(options: ThreadOptions): Embedder {
  const { manifest } = options
  const model = measured(manifest)
  const thread = new ModelThread(options)
  const embed = async (kind: "passages" | "query", texts: readonly string[]) => {
    const vectors = await thread.embed(kind, texts)
    const odd = vectors.flat().find(({ length }) => length !== model.dimensions)
    if (odd === undefined) return vectors
    throw new AppError(
      "unavailable",
      `the model '${manifest.id}' gave a vector of ${odd.length} numbers instead of ${model.dimensions}`,
    )
  }
  return {
    model,
    embedPassages: (texts) => embed("passages", texts),
    async embedQuery(text) {
      const [vectors] = await embed("query", [text])
      return vectors?.[0] ?? null
    },
    close: () => thread.close(),
  }
}

/**
 * Opens the embedder whose vectors are stored under `name`; `source` is the id of its model. The model is
 * loaded when the promise is kept. Throws AppError `not_found` when it is not on disk, `unavailable` when it
 * is damaged or has other weights than the name says.
 */
export async function openTransformersEmbedder({
  name,
  source,
  modelsFolder,
  log,
}: {
  name: string
  source: string
  modelsFolder: string
  log?: Log
}): Promise<Embedder> {
  const { folder, manifest } = await findModel(modelsFolder, source)
  if (modelName(manifest) !== name) {
    throw new AppError("unavailable", `the model '${source}' has other weights now than ${name}`, {
      hint: `\`${ownCommand()} model use ${source}\` makes all vectors anew with those that are there.`,
    })
  }
  const embedder = createTransformersEmbedder({ modelFolder: folder, manifest, log })
  try {
    await embedder.embedQuery("ready")
    return embedder
  } catch (error) {
    await embedder.close()
    throw error
  }
}

/**
 * Runs a model for the first time: finds out its dimensions and its calibration and writes them to its
 * manifest, which is returned. A model that cannot be used here shows it now. Throws as `ModelThread.embed`.
 */
export async function measureModel({ folder, manifest }: StoredModel, log?: Log): Promise<ModelManifest> {
  const thread = new ModelThread({ modelFolder: folder, manifest, log })
  try {
    const [first] = await thread.embed("passages", ["a test of the cache and the search"])
    const dimensions = first?.[0]?.length
    if (dimensions === undefined) {
      throw new AppError("unavailable", `the model '${manifest.id}' does not know plain English words`)
    }
    const embedPassages = (texts: readonly string[]) => thread.embed("passages", texts)
    const measuredManifest = {
      ...manifest,
      dimensions,
      calibration: await measureCalibration({ embedPassages }),
    }
    await writeManifest(folder, measuredManifest)
    return measuredManifest
  } finally {
    await thread.close()
  }
}

function measured(manifest: ModelManifest): EmbeddingModel {
  const { dimensions, calibration } = manifest
  if (dimensions !== null && calibration !== null)
    return { name: modelName(manifest), dimensions, calibration }
  throw new AppError("unavailable", `the model '${manifest.id}' was never tried out`, {
    hint: `\`${ownCommand()} model use ${manifest.id}\` does so.`,
  })
}
