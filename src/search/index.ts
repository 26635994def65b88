/**
 * The search ports: the one thing written per engine. Rows live in the store's tables; an index only
 * knows how to find their ids again.
 */

import type { Queries } from "../db/database.ts"
import type { Importance } from "../domain/coordination/message.ts"
import type { ChunkTerms, Postings } from "../domain/documentation/documentation.ts"
import type { HalfLives, Sector } from "../domain/memory/memory.ts"
import type { IndexEntry } from "../domain/memory/words.ts"
import type { MessageQuery } from "../domain/text/query-text.ts"

export interface MessageFilter {
  projectId: number
  senderId?: number | undefined
  /** Somebody the message was visibly addressed to; a bcc recipient never counts. */
  recipientId?: number | undefined
  importance?: Importance | undefined
  fromMs?: number | undefined
  toMs?: number | undefined
}

export interface ThreadFilter {
  projectId: number
  participantId?: number | undefined
  fromMs?: number | undefined
}

export interface SearchIndex {
  /** Makes a stored message findable, in the transaction that stores it. */
  putMessage(tx: Queries, message: { id: number; subject: string; body: string }): Promise<void>
  /** Returns the ids of matching messages, most relevant first, newer first among equals, at most `limit`. */
  findMessages(db: Queries, query: MessageQuery, filter: MessageFilter, limit: number): Promise<number[]>
  /** Counts what `findMessages` would return, at most `max`. */
  countMessages(db: Queries, query: MessageQuery, filter: MessageFilter, max: number): Promise<number>
  /** Returns the row ids of threads with matching messages, best message first, at most `limit`. */
  findThreads(db: Queries, query: MessageQuery, filter: ThreadFilter, limit: number): Promise<number[]>
  /** Counts what `findThreads` would return, at most `max`. */
  countThreads(db: Queries, query: MessageQuery, filter: ThreadFilter, max: number): Promise<number>
}

/** What a memory must be to be looked at. */
export interface MemoryFilter {
  repositoryId: number
  sector: Sector | null
  /** The memory has all of them. */
  tags: readonly string[]
  /** 0 lets everything pass. */
  salienceMin: number
  halfLives: HalfLives
  nowMs: number
}

/** A memory that shares a word with a query. */
export interface LexicalMatch {
  id: number
  /** BM25, larger is better. */
  bm25: number
}

/** A memory whose vector is near another. */
export interface Neighbour {
  id: number
  /** That of the memory's nearest window. */
  cosine: number
}

/** Which vectors of which repository are meant. */
export interface VectorSpace {
  repositoryId: number
  modelId: number
}

export interface MemoryIndex {
  /** Makes a stored memory findable by its words, in the transaction that stores it. */
  put(tx: Queries, memory: IndexedMemory): Promise<void>
  /** Takes a memory's words out again; it is given as it was put in. */
  remove(tx: Queries, memory: IndexedMemory): Promise<void>
  /** Stores the vectors of a memory's windows. */
  putVectors(
    tx: Queries,
    space: VectorSpace,
    memoryId: number,
    vectors: readonly Float32Array[],
  ): Promise<void>
  /** Takes a memory's vectors away, those of one model or all. */
  removeVectors(tx: Queries, memoryId: number, modelId?: number): Promise<void>
  /** Returns memories with any of the terms, best first, at most `limit`; a term is one word or several in a row. */
  findByWords(
    db: Queries,
    terms: readonly string[],
    filter: MemoryFilter,
    limit: number,
  ): Promise<LexicalMatch[]>
  /** Counts all that `findByWords` could find. */
  countByWords(db: Queries, terms: readonly string[], filter: MemoryFilter): Promise<number>
  /** Returns the memories nearest to a vector, nearest first, at most `limit`. */
  findNearest(
    db: Queries,
    modelId: number,
    vector: Float32Array,
    filter: MemoryFilter,
    limit: number,
  ): Promise<Neighbour[]>
  /** Returns up to `limit` memories of a space that are nearest to a vector, whatever they are. */
  findNeighbours(db: Queries, space: VectorSpace, vector: Float32Array, limit: number): Promise<Neighbour[]>
  /** Returns the bytes that the vectors of a repository take up. */
  vectorBytes(db: Queries, repositoryId: number): Promise<number>
  /** Returns the cosine of each memory's nearest window; none for memories without vectors. */
  cosines(
    db: Queries,
    modelId: number,
    vector: Float32Array,
    ids: readonly number[],
  ): Promise<Map<number, number>>
}

/** What the index of words holds of a memory. */
export interface IndexedMemory {
  id: number
  repositoryId: number
  entry: IndexEntry
}

/** The index of the chunks of documentation. A repository's chunks are numbered from 1, densely. */
export interface DocumentIndex {
  /** Adds what chunks are found by; their numbers are above all that were added before. */
  putTerms(tx: Queries, repositoryId: number, chunks: readonly NumberedTerms[]): Promise<void>
  /** Takes chunks out again; they are given as they were put in. */
  removeTerms(tx: Queries, repositoryId: number, chunks: readonly NumberedTerms[]): Promise<void>
  /** Returns where each term stands; terms that stand nowhere are left out. */
  postings(db: Queries, repositoryId: number, terms: readonly string[]): Promise<Map<string, Postings>>
  /** Stores the vectors of chunks, one each, in place of those that they had. */
  putVectors(tx: Queries, space: VectorSpace, chunks: readonly NumberedVector[]): Promise<void>
  /** Takes the vectors of chunks away, those of all models. */
  removeVectors(tx: Queries, repositoryId: number, numbers: readonly number[]): Promise<void>
  /** Takes all vectors of a model away. */
  removeModel(tx: Queries, modelId: number): Promise<void>
  /** Counts the rows that a repository has. */
  countRows(db: Queries, repositoryId: number): Promise<number>
  /** Takes rows of a repository away, about `rowsMax` of them; returns how many, 0 when none is left. */
  removeRepository(tx: Queries, repositoryId: number, rowsMax: number): Promise<number>
  /** Returns the chunks nearest to a vector, nearest first, at most `limit`; `isWanted` is 1 at their numbers. */
  findNearest(
    db: Queries,
    space: VectorSpace,
    vector: Float32Array,
    isWanted: Uint8Array,
    limit: number,
  ): Promise<NumberedCosine[]>
  /** Returns the cosines of chunks; none for those without a vector. */
  cosines(
    db: Queries,
    space: VectorSpace,
    vector: Float32Array,
    numbers: readonly number[],
  ): Promise<Map<number, number>>
}

export interface NumberedTerms {
  number: number
  terms: ChunkTerms
}
export interface NumberedVector {
  number: number
  vector: Float32Array
}
export interface NumberedCosine {
  number: number
  cosine: number
}
