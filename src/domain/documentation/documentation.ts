/** What documentation search knows of a text: the chunks it is cut into, and the fields they are found by. */

/** A part of a document that is found, embedded and shown as one. */
export interface Chunk {
  /** The file's lines that `text` stands on, from 1; both belong to it. */
  lineStart: number
  lineEnd: number
  /** The headings that lead to it, outermost first. */
  headings: readonly string[]
  /** What is shown: those lines, word for word. */
  text: string
  /** What is searched with it but stands elsewhere: the header of a table that was split; else empty. */
  context: string
  /**
   * Line breaks between the chunk before it and this one, 0 where both are parts of one line; null where more than
   * blank lines stands between.
   */
  gap: number | null
}

/** The fields of a chunk in the index of words, in the order of their numbers. */
export const FIELDS = ["title", "headings", "body", "identifiers"] as const
export type Field = (typeof FIELDS)[number]

/** How often a chunk has each of its terms in each field, in the order of `FIELDS`; at most 255 each. */
export type ChunkTerms = ReadonlyMap<string, Uint8Array>

/** Where a term stands: chunks by number, ascending, and for each its counts, `FIELDS.length` bytes. */
export interface Postings {
  numbers: Uint32Array
  counts: Uint8Array
}

/** A repository whose documentation is searched. */
export interface DocumentedRepository {
  repositoryId: number
  /** Whether nobody has let it go. */
  isWanted: boolean
  /** Where it was cloned from; null for what signalbox did not clone. */
  cloneUrl: string | null
  /** The address of its origin remote, for links. */
  remoteUrl: string | null
  /** Another one whenever chunks get vectors; no two states of any repository have the same. */
  vectorsVersion: number
  work: IndexingWork | null
  /** What kept the last look at it from succeeding. */
  problem: string | null
}

/** What is being done with a repository. */
export interface IndexingWork {
  phase: "reading" | "embedding"
  branch: string | null
  /** Files while reading, chunks while embedding. */
  done: number
  total: number
  updatedAtMs: number
}

/** Work of which no process has noted anything for so long was broken off. */
const WORK_STALE_MS = 60_000

/** Returns work that a process is at now; null for what a process that was killed has left. */
export function workAt(work: IndexingWork | null, nowMs: number): IndexingWork | null {
  return work === null || nowMs - work.updatedAtMs > WORK_STALE_MS ? null : work
}

/** A branch whose documentation is searched. */
export interface DocumentationBranch {
  id: number
  repositoryId: number
  name: string
  /** What its files are of; of a folder without git a digest. Null before the first reading. */
  commit: string | null
  /** What decided which files count and how they were read. */
  rules: string
  /** Whether all its files are in. */
  isComplete: boolean
  /** Another one whenever its files change; no two states of any branch have the same. */
  version: number
  indexedAtMs: number | null
}

/** The branch of a folder without git. */
export const WORKING_TREE = "working-tree"

/** A file of a branch, with what is known of its content. */
export interface BranchFile {
  path: string
  blobId: number
  changedAtMs: number | null
  title: string | null
  /** The numbers of its chunks are this and those after it. */
  firstNumber: number
  /** In words. */
  chunkLengths: number[]
}

/** A chunk as it is stored. */
export interface StoredChunk extends Chunk {
  number: number
  blobId: number
}
