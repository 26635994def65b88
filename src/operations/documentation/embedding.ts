/** Gives the chunks of documentation their vectors, content by content, after their text is in. */

import type { Queries } from "../../db/database.ts"
import type {
  DocumentedRepository,
  IndexingWork,
  StoredChunk,
} from "../../domain/documentation/documentation.ts"
import { embeddedText } from "../../domain/documentation/terms.ts"
import type { StoredModel } from "../../domain/embedding/embedding.ts"
import type { Embedder } from "../../embed/embedder.ts"
import {
  bumpVectorsVersion,
  listDocumentedRepositories,
  putIndexingWork,
} from "../../store/documentation/documentation.ts"
import {
  countUnembeddedChunks,
  listUnembeddedBlobs,
  putBlobModel,
  type StoredBlob,
  type WaitingFor,
} from "../../store/documentation/documents.ts"
import { findModelByState, listStoredModels } from "../../store/memory/embeddings.ts"
import type { App } from "../app.ts"
import { activeModel } from "../embedding/memories.ts"
import { chunksOf } from "./contents.ts"

/** Contents whose chunks are embedded and stored together. */
const CONTENTS_AT_ONCE = 40

interface DocumentEmbedding {
  /** Only contents that have no vectors of any model. */
  isNewOnly?: boolean
  isStopped(): boolean
  /** A model that is being loaded is not waited for any longer. */
  untilMs?: number | undefined
  onProgress?(repositoryId: number, work: IndexingWork): void
}

/** Returns the model that chunks are to have vectors of: the one that is being built, else the active one. */
export async function documentModel(app: App): Promise<StoredModel> {
  return (await findModelByState(app.db, "building")) ?? activeModel(app.db)
}

/** Counts the chunks of all repositories that wait for a vector of a model. */
export async function countWaitingChunks(db: Queries, modelId: number): Promise<number> {
  let count = 0
  for (const { repositoryId } of await listDocumentedRepositories(db))
    count += await countUnembeddedChunks(db, repositoryId, { modelId, isNewOnly: false })
  return count
}

/**
 * Embeds the chunks of a repository that have no vector of a model. Any number of processes may do so at once, and
 * any may be killed. Fails when the model cannot be loaded.
 */
export async function embedDocuments(
  app: App,
  { repositoryId }: Pick<DocumentedRepository, "repositoryId">,
  model: StoredModel,
  { isStopped, onProgress, untilMs, isNewOnly = false }: DocumentEmbedding,
): Promise<void> {
  const waiting = { modelId: model.id, isNewOnly }
  const total = await countUnembeddedChunks(app.db, repositoryId, waiting)
  if (total === 0) return
  const embedder = await loadedBy(app.embedders.load(model), untilMs)
  if (embedder === undefined) return
  for (let done = 0; !isStopped(); ) {
    const blobs = await listUnembeddedBlobs(app.db, repositoryId, waiting, CONTENTS_AT_ONCE)
    if (blobs.length === 0) return
    done += await embedContents(app, repositoryId, waiting, embedder, blobs)
    const work: IndexingWork = { phase: "embedding", branch: null, done, total, updatedAtMs: app.now() }
    await app.db.transaction(`documentation:${repositoryId}`, (tx) => putIndexingWork(tx, repositoryId, work))
    onProgress?.(repositoryId, work)
  }
}

/** Returns what is loaded, or undefined when that takes longer than until a moment of the process's clock. */
async function loadedBy<T>(loading: Promise<T>, untilMs: number | undefined): Promise<T | undefined> {
  if (untilMs === undefined) return loading
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), untilMs - performance.now())
  })
  try {
    return await Promise.race([loading, tooLate])
  } finally {
    clearTimeout(timer)
  }
}

/** Embeds some contents and stores the vectors of those that are still there; returns how many chunks they have. */
async function embedContents(
  app: App,
  repositoryId: number,
  waiting: WaitingFor,
  embedder: Embedder,
  blobs: readonly StoredBlob[],
): Promise<number> {
  const chunks: (StoredChunk & { title: string })[] = []
  for (const blob of blobs) {
    for (const chunk of await chunksOf(app.db, repositoryId, blob))
      chunks.push({ ...chunk, title: blob.title ?? "" })
  }
  const vectors = await embedder.embedPassages(chunks.map(embeddedText))
  await app.db.transaction(`documentation:${repositoryId}`, async (tx) => {
    const now = await listUnembeddedBlobs(tx, repositoryId, waiting, CONTENTS_AT_ONCE)
    // The numbers of chunks are never given twice, as the ids of contents may be.
    const isWaiting = new Set(now.map(({ firstNumber }) => firstNumber))
    const firstNumbers = new Map(blobs.map(({ id, firstNumber }) => [id, firstNumber]))
    const embedded = chunks.flatMap(({ number, blobId }, index) => {
      const vector = vectors[index]?.[0]
      return vector === undefined || !isWaiting.has(firstNumbers.get(blobId) ?? 0) ? [] : [{ number, vector }]
    })
    const { modelId } = waiting
    await app.documents.putVectors(tx, { repositoryId, modelId }, embedded)
    for (const { id, firstNumber } of blobs)
      if (isWaiting.has(firstNumber)) await putBlobModel(tx, id, modelId)
    await bumpVectorsVersion(tx, repositoryId)
  })
  return chunks.length
}

/** Embeds the chunks of all repositories that have no vector of a model. */
export async function embedAllDocuments(
  app: App,
  model: StoredModel,
  isStopped: () => boolean,
): Promise<void> {
  for (const repository of await listDocumentedRepositories(app.db)) {
    await embedDocuments(app, repository, model, { isStopped })
    await app.db.transaction(`documentation:${repository.repositoryId}`, (tx) =>
      putIndexingWork(tx, repository.repositoryId, null),
    )
  }
}

/** Takes away the vectors of models that are no longer used, once all chunks have others. */
export async function removeOldVectors(app: App): Promise<void> {
  const model = await documentModel(app)
  if ((await countWaitingChunks(app.db, model.id)) > 0) return
  await app.db.transaction("models", async (tx) => {
    for (const { id, state } of await listStoredModels(tx))
      if (state === "retired") await app.documents.removeModel(tx, id)
  })
}
