/** From the bytes of a file to the chunks that are searched, and why there are none. */

import {
  DOCUMENT_BYTES_MAX,
  DOCUMENT_CHUNKS_MAX,
  DOCUMENT_READ_MEMORY_MB_MAX,
  DOCUMENT_READ_MS_MAX,
} from "../config/limits.ts"
import type { Chunk, ChunkTerms } from "../domain/documentation/documentation.ts"
import { chunkTerms } from "../domain/documentation/terms.ts"
import { chunkOutline } from "./chunks.ts"
import { decodeText } from "./decode.ts"
import { type Format, isGenerated, readOutline } from "./formats.ts"

export interface ReadDocument {
  title: string | null
  chunks: Chunk[]
  /** Why there is nothing to search, as the end of a sentence that begins with the file's path. */
  problem: string | null
}

/** The same with what each chunk is found by. */
export interface IndexedDocument extends ReadDocument {
  entries: readonly { terms: ChunkTerms; length: number }[]
}

/** Raised whenever the same bytes give other chunks or terms than before: what is stored is then read again. */
export const READER_VERSION = 6

/** The problem of a file with too many bytes. */
export const TOO_LARGE = `is larger than ${DOCUMENT_BYTES_MAX / 1_000_000} MB`

/** The problems of a file that goes beyond what the process that reads may take. */
export const TOO_SLOW = `is too large: it takes more than ${DOCUMENT_READ_MS_MAX / 1_000} seconds of work to read`
export const TOO_MUCH_MEMORY = `is too large: it takes more than ${DOCUMENT_READ_MEMORY_MB_MAX} MB of memory to read`

/** The problem of a file whose content the repository does not have. */
export const MISSING = "is not in this clone: fetch it, then run signalbox repos sync"

/**
 * Reads a file. Never fails: what cannot be read has a `problem`. The work grows in step with the size; a document of 64 KB
 * takes less than a second, whatever is in it.
 */
export function readDocument(
  format: Format,
  bytes: Uint8Array,
  countPieces: (text: string) => number,
): ReadDocument {
  const decoded = decodeText(bytes)
  if ("problem" in decoded) return nothing(decoded.problem === "empty" ? null : "is not text")
  if (isGenerated(decoded.text)) return nothing("is made by a program")
  try {
    const outline = readOutline(format, decoded.text)
    const chunks = chunkOutline(outline, countPieces)
    if (chunks.length > DOCUMENT_CHUNKS_MAX) return nothing(tooManyChunks(chunks.length))
    return { title: outline.title, chunks, problem: null }
  } catch (error) {
    return nothing(`cannot be read: ${(error as Error).message}`)
  }
}

/** Adds what each chunk of a document is found by. */
export function withTerms(read: ReadDocument): IndexedDocument {
  const title = read.title ?? ""
  return { ...read, entries: read.chunks.map((chunk) => chunkTerms({ ...chunk, title })) }
}

function tooManyChunks(count: number): string {
  return `is too large: it has ${count} passages to search, and ${DOCUMENT_CHUNKS_MAX} are the most`
}

/** What is known of a document in which there is nothing to search; `problem` says why. */
export function nothing(problem: string | null): ReadDocument {
  return { title: null, chunks: [], problem }
}
