/**
 * The ranking of documentation search: how well a chunk answers a query, as an absolute figure in 0..1 that can be
 * compared between queries, branches and repositories. No part of it is relative to the other results.
 */

import { differingBits } from "../embedding/quantise.ts"
import { STOP_WORDS } from "../text/stop-words.ts"
import { comparedForm } from "../text/word-forms.ts"
import { indexableWords, splitAtCapitals } from "../text/words.ts"
import type { Candidate, PreparedQuery, PreparedTerm } from "./candidates.ts"

export {
  type BranchView,
  type Candidate,
  type ChunkScores,
  chooseCandidates,
  type PreparedQuery,
  type PreparedTerm,
  prepareQuery,
  queryWeightOf,
  scoreChunks,
} from "./candidates.ts"

/** A candidate that was read. */
interface ReadCandidate extends Candidate {
  path: string
  /** What the document calls itself; empty when it has no name. */
  title: string
  headings: readonly string[]
  text: string
}

/** The features of a chunk; all in 0..1. */
export interface Features {
  lexical: number
  /** Its share of what the query asks for, by how much each term tells. */
  cover: number
  /** How near its words come to the terms that it lacks, by how much each tells. */
  similar: number
  /** How near some 40 words of it in a row come to all terms. */
  dense: number
  /** How near the words of its file's path and title come to all terms. */
  named: number
  /** Cosine to the query; negative ones count as 0. */
  cosine: number
  /** The mean of the cosines of those around it in its file, as far as they are known. */
  around: number
  /** How small its file is: 1 for a single chunk, less for more of them, that each may be found by chance. */
  small: number
}

export interface Reranked {
  number: number
  file: number
  score: number
  features: Features
}

/**
 * By maximum likelihood, first listwise for the order, then for the share of shown passages that answer; rounded.
 * Fitted on any four of five projects, they put the answer to 83 % of the fifth's questions among ten results.
 */
const WEIGHTS: Features = {
  lexical: 1.8,
  cover: 0.75,
  similar: 1.1,
  dense: 1.5,
  named: 1,
  cosine: 1.8,
  around: 1.5,
  small: 0.5,
}
const FEATURES = Object.keys(WEIGHTS) as (keyof Features)[]
const BIAS = -4.75
/** What is taken for a cosine that is not known: the mean of the candidates. */
const COSINE_UNKNOWN = 0.26
/** Chunks whose words are compared with the terms, the best by all else; 70 find nothing more. */
const READ_CHUNKS_MAX = 40
/** Words of a chunk that are compared with the terms. */
const WORDS_MAX = 400
/** Two of these in a row are as many words as say one thing. */
const BLOCK_WORDS = 20
/** Of the chunks of a file that is not small at all, some 3,000. */
const FILE_CHUNKS_LOG = 8
/** Of two vectors with more signs apart than this share the cosine is not taken. */
const SIMILAR_BITS_SHARE_MAX = 0.48
/** Cosines of words between which they count more and more, from nothing to as much as the word itself. */
const SIMILAR_COSINE_MIN = 0.1
const SIMILAR_COSINE_FULL = 0.5

/**
 * Reranks candidates, and returns them with the best first; of equal ones the lower number. `cosines` are those of
 * the chunks around candidates, by number; without them only candidates around each other help one another. Of
 * more than 40 candidates the others' words are not compared, so that their scores may be too low.
 */
export function rerank(
  query: PreparedQuery,
  candidates: readonly ReadCandidate[],
  cosines: ReadonlyMap<number, number> = new Map(),
): Reranked[] {
  const known = new Map(cosines)
  for (const { number, cosine } of candidates) if (cosine !== null) known.set(number, cosine)
  const similarWords = new SimilarWords(query)
  const named = new Map<number, number>()
  const rough = candidates.map((candidate) => {
    const { file, path, title } = candidate
    const own = named.get(file) ?? similarWords.named(file, `${pathText(path)} ${title}`)
    named.set(file, own)
    return scored(candidate, { ...featuresOf(query, candidate, known), named: own })
  })
  const reranked = rough.sort(compareScored).map((first, place) => {
    if (place >= READ_CHUNKS_MAX) return first
    return scored(first.candidate, { ...first.features, ...similarWords.read(first.candidate) })
  })
  return reranked
    .sort(compareScored)
    .map(({ candidate: { number, file }, score, features }) => ({ number, file, score, features }))
}

interface Scored {
  candidate: ReadCandidate
  features: Features
  score: number
}

function scored(candidate: ReadCandidate, features: Features): Scored {
  return { candidate, features, score: scoreOf(features) }
}

function compareScored(one: Scored, other: Scored): number {
  return other.score - one.score || one.candidate.number - other.candidate.number
}

/** A path as words: without its folders' slashes and the ending of its name. */
function pathText(path: string): string {
  return path.replace(/\.[A-Za-z]{1,8}$/, "").replaceAll("/", " ")
}

/**
 * Returns the score in 0..1 of a chunk's features: a logistic curve over the weighted sum, about the share of
 * passages with that score that answer. Fitted on questions of developers on the documentation of five projects.
 */
export function scoreOf(features: Features): number {
  const sum = FEATURES.reduce((total, name) => total + WEIGHTS[name] * features[name], BIAS)
  return 1 / (1 + Math.exp(-sum))
}

/** All but what takes reading. */
function featuresOf(
  query: PreparedQuery,
  { number, lexical, cosine, around, fileChunks }: ReadCandidate,
  cosines: ReadonlyMap<number, number>,
): Features {
  let cover = 0
  for (const term of query.terms) if (has(term, number)) cover += term.idf
  return {
    lexical: clamp(lexical),
    cover: clamp(cover / query.idfSum),
    similar: 0,
    dense: 0,
    named: 0,
    cosine: clamp(cosine ?? COSINE_UNKNOWN),
    around: meanAround(around, cosines),
    small: clamp(1 - Math.log(Math.max(1, fileChunks)) / FILE_CHUNKS_LOG),
  }
}

/** 0 for a chunk that stands alone: nothing speaks for it. */
function meanAround(around: readonly number[], cosines: ReadonlyMap<number, number>): number {
  if (around.length === 0) return 0
  const known = around.flatMap((number) => cosines.get(number) ?? [])
  if (known.length === 0) return COSINE_UNKNOWN
  return known.reduce((sum, cosine) => sum + clamp(cosine), 0) / known.length
}

/** Whether a chunk has a term, by halving. */
function has({ numbers }: PreparedTerm, number: number): boolean {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((numbers[middle] ?? 0) < number) low = middle + 1
    else high = middle
  }
  return numbers[low] === number
}

/** Compares words with the terms of a query, each word only once, since the chunks of a repository repeat them. */
class SimilarWords {
  readonly #query: PreparedQuery
  readonly #units: readonly (Float64Array | null)[]
  readonly #bits: readonly (Uint32Array | null)[]
  readonly #places: ReadonlyMap<string, number>
  readonly #met = new Map<string, Float64Array | null>()

  constructor(query: PreparedQuery) {
    this.#query = query
    const vectors = query.terms.map(({ word }) => query.vectorOf(word))
    this.#units = vectors.map((vector) => vector?.unit() ?? null)
    this.#bits = vectors.map((vector) => vector?.bits() ?? null)
    this.#places = new Map(query.terms.map(({ word }, place) => [comparedForm(word), place]))
  }

  /** What takes reading a chunk; the terms that it has do not count as similar. */
  read({ number, headings, text }: ReadCandidate): Pick<Features, "similar" | "dense"> {
    const above = this.#nearest(wordsOf(headings.join(" ")))
    const words = wordsOf(text)
    let dense = 0
    let before = this.#nearest([])
    for (let from = 0; from < words.length || from === 0; from += BLOCK_WORDS) {
      const block = this.#nearest(words.slice(from, from + BLOCK_WORDS))
      dense = Math.max(
        dense,
        this.#share((place) => Math.max(before[place] ?? 0, block[place] ?? 0)),
      )
      for (const [place, each] of block.entries()) above[place] = Math.max(above[place] ?? 0, each)
      before = block
    }
    const { terms } = this.#query
    const isLacking = terms.map((term) => !has(term, number))
    return { similar: this.#share((place) => (isLacking[place] ? (above[place] ?? 0) : 0)), dense }
  }

  /** How near words come to all terms, those counting in full after which the file is named. */
  named(file: number, text: string): number {
    const nearest = this.#nearest(wordsOf(text))
    return this.#share((place) => (this.#query.terms[place]?.files.has(file) ? 1 : (nearest[place] ?? 0)))
  }

  /** The sum over the terms, by how much each tells. */
  #share(nearOf: (place: number) => number): number {
    const { terms, idfSum } = this.#query
    return clamp(terms.reduce((sum, { idf }, place) => sum + idf * nearOf(place), 0) / idfSum)
  }

  /** For each term how near the nearest of some words comes, 0..1. */
  #nearest(words: readonly string[]): Float64Array {
    const nearest = new Float64Array(this.#units.length)
    for (const word of words) {
      const near = this.#meet(word)
      if (near === null) continue
      for (let place = 0; place < nearest.length; place++) {
        const each = near[place] ?? 0
        if (each > (nearest[place] ?? 0)) nearest[place] = each
      }
    }
    return nearest
  }

  /** How near a word comes to each term. Function words come near to anything; they would be similar to all. */
  #meet(word: string): Float64Array | null {
    const known = this.#met.get(word)
    if (known !== undefined) return known
    const place = this.#places.get(comparedForm(word))
    const vector = STOP_WORDS.has(word) ? null : this.#query.vectorOf(word)
    const met = vector === null && place === undefined ? null : new Float64Array(this.#units.length)
    if (met !== null && vector !== null) {
      const range = SIMILAR_COSINE_FULL - SIMILAR_COSINE_MIN
      const bits = vector.bits()
      for (let at = 0; at < met.length; at++) {
        const unit = this.#units[at] ?? null
        if (unit === null || !mayBeSimilar(bits, this.#bits[at] ?? bits)) continue
        met[at] = clamp((vector.cosine(unit) - SIMILAR_COSINE_MIN) / range)
      }
    }
    if (met !== null && place !== undefined) met[place] = 1
    this.#met.set(word, met)
    return met
  }
}

/**
 * Whether the signs of two vectors leave room for a cosine that counts. Nearly all pairs of words are far apart, and
 * signs are told apart ten times as fast. Measured: below a share of 0.47 answers are lost, at 0.485 none.
 */
function mayBeSimilar(bits: Uint32Array, others: Uint32Array): boolean {
  return differingBits(bits, 0, others) <= SIMILAR_BITS_SHARE_MAX * 32 * bits.length
}

/** An identifier is similar to what its parts are similar to. */
function wordsOf(text: string): string[] {
  return indexableWords(splitAtCapitals(text)).slice(0, WORDS_MAX)
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value))
}
