/** Contents of files in the database and the index: how they get in, and how they are gone for good. */

import type { Queries } from "../../db/database.ts"
import type { ChunkTerms, StoredChunk } from "../../domain/documentation/documentation.ts"
import { chunkTerms } from "../../domain/documentation/terms.ts"
import type { IndexedDocument } from "../../indexing/read-document.ts"
import { takeChunkNumbers } from "../../store/documentation/documentation.ts"
import {
  findBlob,
  insertBlob,
  insertChunks,
  listChunks,
  listUnusedBlobs,
  removeBlob,
  type StoredBlob,
} from "../../store/documentation/documents.ts"
import type { App } from "../app.ts"

/** What was read of a file's content, ready to be stored. */
export interface ReadContent extends IndexedDocument {
  /** Names the content and how it was read. */
  key: string
  /** Another key to store it under, when what was read does not follow from the content. */
  storedAs?: string
}

/** Stores contents that are not there yet; returns the id of each by its key. */
export async function storeContents(
  tx: Queries,
  app: App,
  repositoryId: number,
  contents: readonly ReadContent[],
): Promise<Map<string, number>> {
  const ids = new Map<string, number>()
  const numbered: { number: number; terms: ChunkTerms }[] = []
  for (const { key, storedAs = key, title, problem, chunks, entries } of contents) {
    const known = ids.get(key) ?? (await findBlob(tx, repositoryId, storedAs))
    if (known !== undefined) {
      ids.set(key, known)
      continue
    }
    const firstNumber = await takeChunkNumbers(tx, repositoryId, chunks.length)
    const chunkLengths = entries.map(({ length }) => length)
    const blobId = await insertBlob(tx, {
      repositoryId,
      key: storedAs,
      title,
      firstNumber,
      chunkLengths,
      problem,
    })
    await insertChunks(tx, { repositoryId, blobId, firstNumber }, chunks)
    numbered.push(...entries.map(({ terms }, index) => ({ number: firstNumber + index, terms })))
    ids.set(key, blobId)
  }
  await app.documents.putTerms(tx, repositoryId, numbered)
  return ids
}

/** What is removed in one transaction: so many contents, and no more chunks than these unless it is one content. */
const REMOVED_AT_ONCE = 50
const CHUNKS_REMOVED_AT_ONCE = 2_000

/** Removes what no branch of a repository has any more, a little at a time. */
export async function removeUnusedContents(
  app: App,
  repositoryId: number,
  isStopped: () => boolean,
): Promise<void> {
  while (!isStopped()) {
    const blobs = removedAtOnce(await listUnusedBlobs(app.db, repositoryId, REMOVED_AT_ONCE))
    if (blobs.length === 0) return
    const chunks: StoredChunk[] = []
    const terms: ChunkTerms[] = []
    for (const blob of blobs) {
      for (const chunk of await chunksOf(app.db, repositoryId, blob)) {
        chunks.push(chunk)
        terms.push(chunkTerms({ ...chunk, title: blob.title ?? "" }).terms)
      }
    }
    await app.db.transaction(`documentation:${repositoryId}`, async (tx) => {
      // A branch may have got one of them in the meantime; then all are looked at again.
      const unused = new Set((await listUnusedBlobs(tx, repositoryId, REMOVED_AT_ONCE)).map(({ id }) => id))
      if (!blobs.every(({ id }) => unused.has(id))) return
      const numbered = chunks.map(({ number }, index) => ({ number, terms: terms[index] ?? new Map() }))
      await app.documents.removeTerms(tx, repositoryId, numbered)
      await app.documents.removeVectors(
        tx,
        repositoryId,
        chunks.map(({ number }) => number),
      )
      for (const blob of blobs) await removeBlob(tx, repositoryId, blob)
    })
    await new Promise((resolve) => setImmediate(resolve))
  }
}

function removedAtOnce(blobs: readonly StoredBlob[]): StoredBlob[] {
  let chunks = 0
  return blobs.filter(({ chunkCount }, at) => {
    chunks += chunkCount
    return at === 0 || chunks <= CHUNKS_REMOVED_AT_ONCE
  })
}

/** Returns the chunks of a content, in order. */
export function chunksOf(db: Queries, repositoryId: number, blob: StoredBlob): Promise<StoredChunk[]> {
  return listChunks(db, repositoryId, blob.firstNumber, blob.firstNumber + blob.chunkCount - 1)
}
