/** What is shown of a document: chunks that stand together, as one passage in whole blocks. */

import { PASSAGE_CHARS_MAX, PASSAGES_PER_FILE_MAX } from "../../config/limits.ts"
import { isWithinCharacter } from "../text/characters.ts"
import type { Reranked } from "./ranking.ts"

/** A chunk of a file, of those that were read. */
export interface FileChunk {
  number: number
  lineStart: number
  lineEnd: number
  headings: readonly string[]
  text: string
  /**
   * Line breaks between the chunk before it and this one, 0 where both are parts of one line; null where they do not
   * stand side by side.
   */
  gap: number | null
}

export interface Passage {
  file: number
  /** Its chunks, in order. */
  numbers: number[]
  /** The file's lines of `passageText`, from 1; both belong to it. */
  lineStart: number
  lineEnd: number
  /** Of the best of its chunks. */
  score: number
  /** Of that chunk. */
  headings: readonly string[]
}

/** A passage while it grows: the places in `chunks` from which and to which it goes. */
interface Draft {
  file: number
  chunks: readonly FileChunk[]
  from: number
  to: number
  best: FileChunk
  score: number
}

/**
 * Makes passages of reranked chunks, best first: each grows by its neighbours in the file as long as it stays within
 * 2,000 characters, so that chunks which stand side by side become one. A file gives at most 3, a search at most `limit`;
 * no chunk is in two of them. `chunksOf` gives the chunks of a file that were read, in order.
 */
export function assemblePassages(
  reranked: readonly Pick<Reranked, "number" | "file" | "score">[],
  chunksOf: (file: number) => readonly FileChunk[],
  limit: number,
): Passage[] {
  const drafts: Draft[] = []
  const read = new Map<number, readonly FileChunk[]>()
  for (const { number, file, score } of reranked) {
    if (drafts.length >= limit) break
    const chunks = read.get(file) ?? chunksOf(file)
    read.set(file, chunks)
    const place = chunks.findIndex((chunk) => chunk.number === number)
    const best = chunks[place]
    const others = drafts.filter((draft) => draft.file === file)
    if (best === undefined || others.some(({ from, to }) => from <= place && place <= to)) continue
    if (others.length >= PASSAGES_PER_FILE_MAX) continue
    const draft = { file, chunks, from: place, to: place, best, score }
    grow(draft, others)
    drafts.push(draft)
  }
  return drafts.map(passageOf)
}

/**
 * By what follows, then by what stands before, whatever section it is in: to prefer the chunk's own section finds
 * one answer in a hundred less.
 */
function grow(draft: Draft, others: readonly Draft[]): void {
  const { chunks } = draft
  const isFree = (place: number) => others.every(({ from, to }) => place < from || to < place)
  for (const step of [1, -1]) {
    for (;;) {
      const place = step > 0 ? draft.to + 1 : draft.from - 1
      const wider = { from: Math.min(draft.from, place), to: Math.max(draft.to, place) }
      if (chunks[place] === undefined || !isFree(place) || !standTogether(chunks, wider)) break
      if (charsOf(chunks, wider) > PASSAGE_CHARS_MAX) break
      draft.from = wider.from
      draft.to = wider.to
    }
  }
}

interface Span {
  from: number
  to: number
}

function standTogether(chunks: readonly FileChunk[], { from, to }: Span): boolean {
  return chunks.slice(from, to).every(({ number }, at) => {
    const next = chunks[from + at + 1]
    return next !== undefined && next.number === number + 1 && next.gap !== null
  })
}

function charsOf(chunks: readonly FileChunk[], { from, to }: Span): number {
  return joined(chunks.slice(from, to + 1)).length
}

function passageOf({ file, chunks, from, to, best, score }: Draft): Passage {
  const own = chunks.slice(from, to + 1)
  return {
    file,
    numbers: own.map(({ number }) => number),
    lineStart: own[0]?.lineStart ?? best.lineStart,
    lineEnd: own.length === 1 ? lineEndOf(best) : (own.at(-1)?.lineEnd ?? best.lineEnd),
    score,
    headings: best.headings,
  }
}

/** Of what is shown of a chunk; where its text is not the lines of the file, it is not known where a cut is in them. */
function lineEndOf(chunk: FileChunk): number {
  const { lineStart, lineEnd, text } = chunk
  const shown = passageText([chunk])
  const isWordForWord = linesIn(text) === lineEnd - lineStart + 1
  return shown.length < text.length && isWordForWord ? lineStart + linesIn(shown) - 1 : lineEnd
}

function linesIn(text: string): number {
  return text.split("\n").length
}

/**
 * Returns the text of chunks that stand side by side, word for word with the blank lines between them. A single
 * chunk that is longer than 2,000 characters is cut after the last line that fits, or within a line that does not.
 */
export function passageText(chunks: readonly Pick<FileChunk, "text" | "gap">[]): string {
  const text = joined(chunks).trimEnd()
  if (text.length <= PASSAGE_CHARS_MAX) return text
  const end = text.lastIndexOf("\n", PASSAGE_CHARS_MAX)
  if (end > 0) return text.slice(0, end).trimEnd()
  return text.slice(0, PASSAGE_CHARS_MAX - (isWithinCharacter(text, PASSAGE_CHARS_MAX) ? 1 : 0))
}

function joined(chunks: readonly Pick<FileChunk, "text" | "gap">[]): string {
  return chunks.map(({ text, gap }, at) => (at === 0 ? text : "\n".repeat(gap ?? 1) + text)).join("")
}
