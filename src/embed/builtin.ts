/**
 * The built-in embedder: a table with one row of numbers for each piece of a vocabulary; a text is the mean of
 * its rows. It ships with the package, in `model/`, and needs no network and no native code.
 */

import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { EMBEDDING_WINDOW_PIECES_MAX } from "../config/limits.ts"
import { toBits } from "../domain/embedding/quantise.ts"
import type { WordVector, WordVectors } from "../domain/memory/ranking.ts"
import { WordCache } from "../domain/text/word-cache.ts"
import { indexableText } from "../domain/text/words.ts"
import type { Embedder, EmbeddingModel } from "./embedder.ts"
import { createWordpiece, type Wordpiece } from "./wordpiece.ts"

const DIMENSIONS = 256

/**
 * The model and what its cosines mean. Measured on 150 short notes of developers: the cosines of 11,115
 * unrelated pairs have a median of 0.06, 99 % are below 0.27 and 99.9 % below 0.38; 31 related pairs have a
 * median of 0.51, 29 paraphrases one of 0.72. Above 0.36, which maps to 0.5, lie 0.13 % of the unrelated pairs
 * and above 0.47, which maps to 0.75, 0.01 %; a cosine of 0.72 maps to 0.97, one of 1 to 0.998.
 */
export const BUILTIN_MODEL: EmbeddingModel = {
  name: "builtin-1",
  dimensions: DIMENSIONS,
  calibration: { midpoint: 0.36, slope: 10 },
}

/** Rows of pieces that training never met are 0 or nearly so, with scales below 1e-7; all others exceed 1e-4. */
const LEARNT_SCALE_MIN = 1e-6

/** Texts that are embedded before other work gets its turn, a few milliseconds' work. */
const TEXTS_AT_ONCE = 64

/** The same words come up in search after search; some 4 MB when full. */
const WORDS_REMEMBERED_MAX = 20_000

/** The built-in embedder also knows single words, whatever model embeds the memories. */
export interface BuiltinEmbedder extends Embedder {
  /** Returns what gives the vector of a folded word; null for a word of which the model knows nothing. */
  wordVectors(): Promise<WordVectors>
  /** Returns what counts the pieces of a text. */
  pieceCounter(): Promise<(text: string) => number>
}

/** Rows of a whole number times the row's scale. */
interface Table {
  wordpiece: Wordpiece
  rows: Int8Array
  scales: Float32Array
}

/**
 * Returns the embedder whose files `tokenizer.json`, `embeddings.i8` and `scales.f32` lie in a folder.
 *
 * They are read at the first embedding, once; when that fails, embedding throws an Error that names the file,
 * and the next one tries again. A passage of more than 256 pieces becomes windows of nearly equal size without
 * overlap; a query is never cut. A text has no vector when more of its words are unknown than its other
 * pieces have letters or digits, since foreign scripts would all look the same; nor has such a window.
 */
export function createBuiltinEmbedder(folder: string): BuiltinEmbedder {
  let loading: Promise<Table> | undefined
  const words = new WordCache<WordVector | null>(WORDS_REMEMBERED_MAX)
  const load = () => {
    loading ??= readTable(folder).catch((error: unknown) => {
      loading = undefined
      throw error
    })
    return loading
  }
  return {
    model: BUILTIN_MODEL,
    async embedPassages(texts) {
      const table = await load()
      const vectors: Float32Array[][] = []
      for (const [index, text] of texts.entries()) {
        if (index > 0 && index % TEXTS_AT_ONCE === 0) await setImmediate()
        vectors.push(embedWindows(table, text))
      }
      return vectors
    },
    async embedQuery(text, weightOf) {
      const table = await load()
      const ids = table.wordpiece.idsOf(text)
      if (!isKnown(table, ids)) return null
      return weightOf === undefined ? meanRow(table, ids) : weightedMean(table, text, weightOf)
    },
    async wordVectors() {
      const table = await load()
      const vectorFor = (word: string) => vectorOfWord(table, word)
      return (word) => words.get(word, vectorFor)
    },
    async pieceCounter() {
      const { wordpiece } = await load()
      return (text) => wordpiece.idsOf(text).length
    },
    async close() {
      loading = undefined
    },
  }
}

async function readTable(folder: string): Promise<Table> {
  const wordpiece = await readModelFile(folder, "tokenizer.json", (bytes) =>
    createWordpiece(bytes.toString("utf8")),
  )
  const [rows, scales] = await Promise.all([
    readModelFile(folder, "embeddings.i8", (bytes) => {
      requireLength(bytes, wordpiece.size * DIMENSIONS)
      return new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length)
    }),
    readModelFile(folder, "scales.f32", (bytes) => {
      requireLength(bytes, wordpiece.size * 4)
      return Float32Array.from({ length: wordpiece.size }, (_, id) => bytes.readFloatLE(id * 4))
    }),
  ])
  return { wordpiece, rows, scales }
}

async function readModelFile<T>(folder: string, name: string, parse: (bytes: Buffer) => T): Promise<T> {
  const path = join(folder, name)
  try {
    return parse(await readFile(path))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`cannot read ${path} of the built-in embedding model: ${reason}`, { cause: error })
  }
}

function requireLength(bytes: Buffer, expected: number): void {
  if (bytes.length === expected) return
  throw new Error(`it has ${bytes.length} bytes in place of ${expected}`)
}

/** The vectors of the windows of a passage, in order; none where too little is known. */
function embedWindows(table: Table, text: string): Float32Array[] {
  const ids = table.wordpiece.idsOf(text)
  if (!isKnown(table, ids)) return []
  const count = Math.ceil(ids.length / EMBEDDING_WINDOW_PIECES_MAX)
  const bounds = Array.from({ length: count + 1 }, (_, index) => Math.floor((index * ids.length) / count))
  return bounds
    .slice(1)
    .map((to, index) => ids.slice(bounds[index], to))
    .filter((window) => isKnown(table, window))
    .map((window) => meanRow(table, window))
}

/**
 * Whether the pieces say enough: at least one has a row that was learnt, and of the pieces with letters or
 * digits those are no fewer than the others. Punctuation does not count there, as foreign scripts share it.
 */
function isKnown({ wordpiece, scales }: Table, ids: readonly number[]): boolean {
  let learnt = 0
  let learntWords = 0
  let unknownWords = 0
  for (const id of ids) {
    const isLearnt = id !== wordpiece.unknownId && (scales[id] ?? 0) >= LEARNT_SCALE_MIN
    if (isLearnt) learnt++
    if (isLearnt && wordpiece.isWordlike(id)) learntWords++
    else if (id === wordpiece.unknownId || wordpiece.isWordlike(id)) unknownWords++
  }
  return learnt > 0 && learntWords >= unknownWords
}

const WORD = /[\p{L}\p{N}\p{M}]+/gu

/** The mean of a query's rows, each as much as its word tells; what stands between words is left out. */
function weightedMean(table: Table, text: string, weightOf: (word: string) => number): Float32Array | null {
  const sum = new Float64Array(DIMENSIONS)
  for (const [word] of text.matchAll(WORD)) {
    const weight = weightOf(indexableText(word))
    for (const id of table.wordpiece.idsOf(word)) addRow(table, sum, id, weight)
  }
  return normalized(sum)
}

function vectorOfWord(table: Table, word: string): WordVector | null {
  const ids = table.wordpiece.idsOf(word)
  if (!isKnown(table, ids)) return null
  const length = lengthOf(sumOfRows(table, ids))
  return length === 0 ? null : new PieceVector(table, ids, length)
}

/** A word's vector as the rows of its pieces, most often one: to compare it no vector has to be made. */
class PieceVector implements WordVector {
  readonly #table: Table
  readonly #ids: readonly number[]
  /** The length of the sum of the rows. */
  readonly #length: number
  #bits: Uint32Array | undefined

  constructor(table: Table, ids: readonly number[], length: number) {
    this.#table = table
    this.#ids = ids
    this.#length = length
  }

  unit(): Float64Array {
    return sumOfRows(this.#table, this.#ids).map((x) => x / this.#length)
  }

  bits(): Uint32Array {
    this.#bits ??= new Uint32Array(toBits(Float32Array.from(sumOfRows(this.#table, this.#ids))).buffer)
    return this.#bits
  }

  cosine(unit: Float64Array): number {
    const { rows, scales } = this.#table
    let sum = 0
    for (const id of this.#ids) sum += (scales[id] ?? 0) * dot(rows, id * DIMENSIONS, unit)
    return sum / this.#length
  }
}

/** The product of a row and a vector; four sums at once, so that an addition need not wait for the one before. */
function dot(rows: Int8Array, start: number, vector: Float64Array): number {
  let first = 0
  let second = 0
  let third = 0
  let fourth = 0
  for (let i = 0; i < DIMENSIONS; i += 4) {
    first += (rows[start + i] ?? 0) * (vector[i] ?? 0)
    second += (rows[start + i + 1] ?? 0) * (vector[i + 1] ?? 0)
    third += (rows[start + i + 2] ?? 0) * (vector[i + 2] ?? 0)
    fourth += (rows[start + i + 3] ?? 0) * (vector[i + 3] ?? 0)
  }
  return first + second + third + fourth
}

function sumOfRows(table: Table, ids: readonly number[]): Float64Array {
  const sum = new Float64Array(DIMENSIONS)
  for (const id of ids) addRow(table, sum, id, 1)
  return sum
}

function addRow({ rows, scales }: Table, sum: Float64Array, id: number, weight: number): void {
  const factor = weight * (scales[id] ?? 0)
  const start = id * DIMENSIONS
  for (let i = 0; i < DIMENSIONS; i++) sum[i] = (sum[i] ?? 0) + factor * (rows[start + i] ?? 0)
}

function lengthOf(vector: Float64Array): number {
  let squares = 0
  for (const x of vector) squares += x * x
  return Math.sqrt(squares)
}

function normalized(sum: Float64Array): Float32Array | null {
  const length = lengthOf(sum)
  return length === 0 ? null : new Float32Array(sum.map((x) => x / length))
}

/**
 * The mean of the rows of some pieces, brought to length 1, summed in double precision. Unknown words count
 * with their row, as in training.
 */
function meanRow({ rows, scales }: Table, ids: readonly number[]): Float32Array {
  const sum = new Float64Array(DIMENSIONS)
  const start = (at: number) => (ids[at] ?? 0) * DIMENSIONS
  const scale = (at: number) => scales[ids[at] ?? -1] ?? 0
  // Four rows at once, because what takes time is to load and store the sum.
  for (let at = 0; at < ids.length; at += 4) {
    const [a, b, c, d] = [start(at), start(at + 1), start(at + 2), start(at + 3)]
    const [scaleA, scaleB, scaleC, scaleD] = [scale(at), scale(at + 1), scale(at + 2), scale(at + 3)]
    for (let i = 0; i < DIMENSIONS; i++) {
      const two = scaleA * (rows[a + i] ?? 0) + scaleB * (rows[b + i] ?? 0)
      sum[i] = (sum[i] ?? 0) + two + scaleC * (rows[c + i] ?? 0) + scaleD * (rows[d + i] ?? 0)
    }
  }
  const length = Math.sqrt(sum.reduce((squares, x) => squares + x * x, 0))
  return new Float32Array(sum.map((x) => x / length))
}
