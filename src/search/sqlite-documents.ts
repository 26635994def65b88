/**
 * The documentation index on SQLite: words in blocks of postings, vectors in dense blocks of bits and in rows.
 *
 * The words lie in an index of our own, because the scores need exact counts among the chunks of one branch, which
 * FTS5 does not give. A term has its rows beside each other, so that a query reads one stretch for each; with the
 * blocks first in the key, as quick to write, a query of rare terms took three to five times as long.
 * Vectors are searched in two steps, as those of memories are: by their sign bits, then exactly.
 */

import type { Queries } from "../db/database.ts"
import type { Postings } from "../domain/documentation/documentation.ts"
import { toBits, toInt8 } from "../domain/embedding/quantise.ts"
import {
  clearDense,
  denseBlockOf,
  emptyDenseBlock,
  isEmptyDense,
  nearestDense,
  putDense,
} from "./dense-bits.ts"
import type { DocumentIndex, NumberedCosine, NumberedTerms, VectorSpace } from "./index.ts"
import { decodePostings, encodePostings, type Posting, postingsBlockOf, withoutChunks } from "./postings.ts"

/** The rows of a term are found by what they are, and stand beside each other. */
export const documentSearchSchema = `
  CREATE TABLE document_postings (
    repository_id INTEGER NOT NULL,
    term TEXT NOT NULL,
    block_no INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (repository_id, term, block_no)
  ) WITHOUT ROWID;
  CREATE TABLE document_bits (
    repository_id INTEGER NOT NULL,
    model_id INTEGER NOT NULL,
    block_no INTEGER NOT NULL,
    bits BLOB NOT NULL,
    PRIMARY KEY (repository_id, model_id, block_no)
  ) WITHOUT ROWID;
  CREATE TABLE document_vectors (
    repository_id INTEGER NOT NULL,
    model_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (repository_id, model_id, number)
  ) WITHOUT ROWID;
`

/** Exported so that a test can prepare each of them. */
export const documentStatements = {
  // Joining bytes makes them text, whatever they are; the cast only changes the type back.
  appendPostings: `
    INSERT INTO document_postings (repository_id, term, block_no, data) VALUES (?, ?, ?, ?)
    ON CONFLICT (repository_id, term, block_no) DO UPDATE SET data = CAST(data || excluded.data AS BLOB)`,
  findPostings: `
    SELECT data FROM document_postings WHERE repository_id = ? AND term = ? AND block_no = ?`,
  changePostings: `
    UPDATE document_postings SET data = ? WHERE repository_id = ? AND term = ? AND block_no = ?`,
  removePostings: "DELETE FROM document_postings WHERE repository_id = ? AND term = ? AND block_no = ?",
  postings: `
    SELECT block_no AS blockNo, data FROM document_postings
    WHERE repository_id = ? AND term = ? ORDER BY block_no`,
  putVector: `
    INSERT INTO document_vectors (repository_id, model_id, number, vector) VALUES (?, ?, ?, ?)
    ON CONFLICT (repository_id, model_id, number) DO UPDATE SET vector = excluded.vector`,
  removeVectors: `
    DELETE FROM document_vectors
    WHERE repository_id = ? AND model_id = ? AND number IN (SELECT value FROM json_each(?))`,
  distances: `
    SELECT v.number, vec_distance_cosine(vec_int8(v.vector), vec_int8(?)) AS distance
    FROM json_each(?) w CROSS JOIN document_vectors v
    WHERE v.repository_id = ? AND v.model_id = ? AND v.number = w.value`,
  modelsWithBits: "SELECT DISTINCT model_id AS id FROM document_bits WHERE repository_id = ?",
  blocks: `
    SELECT block_no AS blockNo, bits FROM document_bits
    WHERE repository_id = ? AND model_id = ? ORDER BY block_no`,
  findBlock: "SELECT bits FROM document_bits WHERE repository_id = ? AND model_id = ? AND block_no = ?",
  putBlock: `
    INSERT INTO document_bits (repository_id, model_id, block_no, bits) VALUES (?, ?, ?, ?)
    ON CONFLICT (repository_id, model_id, block_no) DO UPDATE SET bits = excluded.bits`,
  removeBlock: "DELETE FROM document_bits WHERE repository_id = ? AND model_id = ? AND block_no = ?",
  // Wherever a model has vectors it has bits, which are far fewer rows to look through.
  removeModelVectors: `
    DELETE FROM document_vectors
    WHERE model_id = ? AND repository_id IN (SELECT repository_id FROM document_bits WHERE model_id = ?)`,
  removeModelBits: "DELETE FROM document_bits WHERE model_id = ?",
  countRows: `
    SELECT (SELECT count(*) FROM document_postings WHERE repository_id = ?)
      + (SELECT count(*) FROM document_vectors WHERE repository_id = ?) AS number`,
  // Stretches of the tables: whatever is found by a condition on single rows takes several times as long.
  removeSomePostings: `
    DELETE FROM document_postings WHERE repository_id = ? AND term <= (
      SELECT max(term) FROM (
        SELECT term FROM document_postings WHERE repository_id = ? ORDER BY term LIMIT ?))`,
  removeSomeVectors: `
    DELETE FROM document_vectors WHERE (repository_id, model_id, number) IN (
      SELECT repository_id, model_id, number FROM document_vectors WHERE repository_id = ? LIMIT ?)`,
  removeSomeBits: `
    DELETE FROM document_bits WHERE (repository_id, model_id, block_no) IN (
      SELECT repository_id, model_id, block_no FROM document_bits WHERE repository_id = ? LIMIT ?)`,
}

/** As for memories: the coarse step keeps this many times the number wanted, and at least so many. */
const COARSE_FACTOR = 8
const COARSE_CHUNKS_MIN = 192
/** While no more chunks than this are wanted, all of them are compared exactly. */
const EXACT_CHUNKS_MAX = 1_000
/** A row of bits is as large as so many others. */
const BITS_PER_ROWS = 200
/** A count is a byte. */
const COUNT_MAX = 255

export const sqliteDocuments: DocumentIndex = {
  async putTerms(tx, repositoryId, chunks) {
    for (const [term, postings] of postingsByTerm(chunks)) {
      for (const { blockNo, data } of encodePostings(postings))
        await tx.run(documentStatements.appendPostings, [repositoryId, term, blockNo, data])
    }
  },

  async removeTerms(tx, repositoryId, chunks) {
    for (const [term, postings] of postingsByTerm(chunks)) {
      const numbers = postings.map(({ number }) => number)
      for (const [blockNo, gone] of groupedBy(numbers, postingsBlockOf)) {
        const place = [repositoryId, term, blockNo]
        const row = await tx.get<DataRow>(documentStatements.findPostings, place)
        if (row === undefined) continue
        const left = withoutChunks({ blockNo, data: row.data }, gone)
        if (left.length === 0) await tx.run(documentStatements.removePostings, place)
        else await tx.run(documentStatements.changePostings, [left, ...place])
      }
    }
  },

  async postings(db, repositoryId, terms) {
    const found = new Map<string, Postings>()
    for (const term of new Set(terms)) {
      const args = [repositoryId, storedTerm(term)]
      const rows = await db.all<PostingsRow>(documentStatements.postings, args)
      if (rows.length > 0) found.set(term, decodePostings(rows))
    }
    return found
  },

  async putVectors(tx, { repositoryId, modelId }, chunks) {
    for (const [blockNo, inBlock] of groupedBy(chunks, ({ number }) => denseBlockOf(number))) {
      const place = [repositoryId, modelId, blockNo]
      const known = await tx.get<BitsRow>(documentStatements.findBlock, place)
      let block = known?.bits
      for (const { number, vector } of inBlock) {
        const bits = toBits(vector)
        block ??= emptyDenseBlock(bits.length)
        putDense(block, number, bits)
        const row = [repositoryId, modelId, number, asBytes(toInt8(vector))]
        await tx.run(documentStatements.putVector, row)
      }
      if (block !== undefined) await tx.run(documentStatements.putBlock, [...place, block])
    }
  },

  async removeVectors(tx, repositoryId, numbers) {
    const models = await tx.all<IdRow>(documentStatements.modelsWithBits, [repositoryId])
    for (const { id } of models) {
      for (const [blockNo, gone] of groupedBy(numbers, denseBlockOf))
        await clearBits(tx, [repositoryId, id, blockNo], gone)
      await tx.run(documentStatements.removeVectors, [repositoryId, id, JSON.stringify(numbers)])
    }
  },

  async removeModel(tx, modelId) {
    await tx.run(documentStatements.removeModelVectors, [modelId, modelId])
    await tx.run(documentStatements.removeModelBits, [modelId])
  },

  async countRows(db, repositoryId) {
    const row = await db.get<NumberRow>(documentStatements.countRows, [repositoryId, repositoryId])
    return row?.number ?? 0
  },

  async removeRepository(tx, repositoryId, rowsMax) {
    const place = [repositoryId, repositoryId, rowsMax]
    return (
      (await tx.run(documentStatements.removeSomePostings, place)) ||
      (await tx.run(documentStatements.removeSomeVectors, [repositoryId, rowsMax])) ||
      tx.run(documentStatements.removeSomeBits, [repositoryId, Math.ceil(rowsMax / BITS_PER_ROWS)])
    )
  },

  async findNearest(db, space, vector, isWanted, limit) {
    const few = numbersIfFew(isWanted)
    if (few !== undefined) return exactly(db, space, vector, few, limit)
    const blocks = await db.all<BlockRow>(documentStatements.blocks, [space.repositoryId, space.modelId])
    const coarseLimit = Math.max(COARSE_CHUNKS_MIN, limit * COARSE_FACTOR)
    const near = nearestDense(blocks, toBits(vector), isWanted, coarseLimit)
    return exactly(db, space, vector, near, limit)
  },

  async cosines(db, { repositoryId, modelId }, vector, numbers) {
    const args = [asBytes(toInt8(vector)), JSON.stringify(numbers), repositoryId, modelId]
    const rows = await db.all<DistanceRow>(documentStatements.distances, args)
    return new Map(rows.map(({ number, distance }) => [number, cosineFrom(distance)]))
  },
}

type DataRow = { data: Uint8Array }
type PostingsRow = { blockNo: number; data: Uint8Array }
type BitsRow = { bits: Uint8Array }
type BlockRow = { blockNo: number; bits: Uint8Array }
/** The distance is null where a vector is all zeros. */
type DistanceRow = { number: number; distance: number | null }
type IdRow = { id: number }
type NumberRow = { number: number }

/** Returns the postings of each term, numbers ascending, in an order that is about that of the rows. */
function postingsByTerm(chunks: readonly NumberedTerms[]): [string, Posting[]][] {
  const groups = new Map<string, Posting[]>()
  for (const { number, terms } of [...chunks].sort((one, other) => one.number - other.number)) {
    for (const [term, counts] of terms) {
      const stored = storedTerm(term)
      const group = groups.get(stored)
      const last = group?.at(-1)
      if (group === undefined) groups.set(stored, [{ number, counts }])
      else if (last?.number === number) last.counts = sumOf(last.counts, counts)
      else group.push({ number, counts })
    }
  }
  // Neighbouring rows share pages, and a page that is left is not needed again.
  return [...groups].sort(([one], [other]) => (one < other ? -1 : 1))
}

function groupedBy<T>(items: readonly T[], keyOf: (item: T) => number): Map<number, T[]> {
  const groups = new Map<number, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}

/** Empties slots of a block, and takes the block away when nothing else is in it. */
async function clearBits(tx: Queries, place: readonly number[], numbers: readonly number[]): Promise<void> {
  const row = await tx.get<BitsRow>(documentStatements.findBlock, place)
  if (row === undefined) return
  for (const number of numbers) clearDense(row.bits, number)
  if (isEmptyDense(row.bits)) await tx.run(documentStatements.removeBlock, place)
  else await tx.run(documentStatements.putBlock, [...place, row.bits])
}

/** Returns the numbers that are wanted, or undefined when they are too many to compare all of them exactly. */
function numbersIfFew(isWanted: Uint8Array): number[] | undefined {
  const numbers: number[] = []
  for (let number = 0; number < isWanted.length; number++) {
    if (isWanted[number] !== 1) continue
    if (numbers.length === EXACT_CHUNKS_MAX) return undefined
    numbers.push(number)
  }
  return numbers
}

async function exactly(
  db: Queries,
  space: VectorSpace,
  vector: Float32Array,
  numbers: readonly number[],
  limit: number,
): Promise<NumberedCosine[]> {
  return [...(await sqliteDocuments.cosines(db, space, vector, numbers))]
    .map(([number, cosine]): NumberedCosine => ({ number, cosine }))
    .sort((one, other) => other.cosine - one.cosine || other.number - one.number)
    .slice(0, limit)
}

function cosineFrom(distance: number | null): number {
  return distance === null ? 0 : 1 - distance
}

function asBytes(vector: Int8Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)
}

const HALF_CHARACTER = /[\ud800-\udfff]/
const HALF_CHARACTERS = /\p{Cs}/gu

/** Returns a term as the database keeps it: halves of characters, which UTF-8 has no bytes for, are all one. */
function storedTerm(term: string): string {
  return HALF_CHARACTER.test(term) ? term.replace(HALF_CHARACTERS, "\ufffd") : term
}

/** Returns the counts of terms that the database keeps as one. */
function sumOf(one: Uint8Array, other: Uint8Array): Uint8Array {
  return one.map((count, field) => Math.min(count + (other[field] ?? 0), COUNT_MAX))
}
