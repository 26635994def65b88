/** From the bytes of a file to the chunks that are searched, and why there are none. */

import type { Chunk } from "../domain/documentation.ts"
import { DOCUMENT_BYTES_MAX, DOCUMENT_READ_MS_MAX } from "../limits.ts"
import { chunkOutline } from "./chunks.ts"
import { decodeText } from "./decode.ts"
import { type Format, isGenerated, readOutline } from "./formats.ts"

export interface ReadDocument {
  title: string | null
  chunks: Chunk[]
  /** Why there is nothing to search, as the end of a sentence that begins with the file's path. */
  problem: string | null
}

/** Raised whenever the same bytes are read otherwise than before: what is stored is then read again. */
export const READER_VERSION = 1

/** The problem of a file with too many bytes. */
export const TOO_LARGE = `is larger than ${DOCUMENT_BYTES_MAX / 1_000_000} MB`

/** The problem of a file whose content the repository does not have. */
export const MISSING = "is not in this clone: fetch it, then run signalbox repos sync"

/**
 * Reads a file. Never fails: what cannot be read has a `problem`. The time that it takes grows in step with the size;
 * what takes longer than `DOCUMENT_READ_MS_MAX` all the same is given up between two steps.
 */
export function readDocument(
  format: Format,
  bytes: Uint8Array,
  countPieces: (text: string) => number,
): ReadDocument {
  const decoded = decodeText(bytes)
  if ("problem" in decoded) return nothing(decoded.problem === "empty" ? null : "is not text")
  if (isGenerated(decoded.text)) return nothing("is made by a program")
  const untilMs = performance.now() + DOCUMENT_READ_MS_MAX
  try {
    const outline = readOutline(format, decoded.text)
    if (performance.now() > untilMs) return nothing("takes too long to read")
    const chunks = chunkOutline(outline, countPieces)
    if (performance.now() > untilMs) return nothing("takes too long to read")
    return { title: outline.title, chunks, problem: null }
  } catch (error) {
    return nothing(`cannot be read: ${(error as Error).message}`)
  }
}

function nothing(problem: string | null): ReadDocument {
  return { title: null, chunks: [], problem }
}
