/** Which chunks of a branch are worth reading for a query: BM25 over the fields, and the nearest by vectors. */

import { inverseFrequency, queryWeight, type WordVectors } from "../memory/ranking.ts"
import { FIELDS, type Postings } from "./documentation.ts"
import type { QueryTerm } from "./terms.ts"

/** The chunks of one branch of one repository, by chunk number. Those of a file have numbers in a row. */
export interface BranchView {
  /** 1 at the numbers of the chunks that are on the branch; nothing beyond its end is. */
  isLive: Uint8Array
  /** In words. */
  lengths: Uint16Array
  /** The place of the chunk's file in `paths`. */
  fileOf: Uint32Array
  /** How many are live. */
  chunks: number
  /** Of those that are live. */
  lengthMean: number
  paths: readonly string[]
  /** The files whose `pathTerms` hold a term. */
  filesWith: (term: string) => readonly number[]
}

/** What a query asks for, with what the branch knows of it. */
export interface PreparedTerm {
  readonly word: string
  /** How much it tells: the rarer on the branch, the more. */
  readonly idf: number
  /** The live chunks that have it, ascending. */
  readonly numbers: Uint32Array
  /** How often each of these has it, an occurrence counting by its field. */
  readonly counts: Float32Array
  /** The files that are named after it. */
  readonly files: ReadonlySet<number>
}

export interface PreparedQuery {
  readonly terms: readonly PreparedTerm[]
  /** Of all terms; at least a little above 0. */
  readonly idfSum: number
  /** How many chunks the branch has. */
  readonly chunks: number
  readonly vectorOf: WordVectors
}

/** How well the words of each live chunk fit a query, 0..1 by number. */
export interface ChunkScores {
  readonly scores: Float32Array
  /** How many chunks have any of the words. */
  readonly matches: number
  readonly view: BranchView
}

export interface Candidate {
  number: number
  /** Its place in the view's `paths`. */
  file: number
  /** How many chunks that file has. */
  fileChunks: number
  /** BM25 over what it would be if every term occurred without end, 0..1. */
  lexical: number
  /** The numbers of up to 8 chunks before and as many after it in its file. */
  around: readonly number[]
  /** Null while unknown, and for a chunk or a query without a vector. */
  cosine: number | null
}

/**
 * What an occurrence counts in each field, in the order of `FIELDS`: none more than another, since an occurrence
 * in a heading comes on top of those in the text. To count headings 2.5 times finds one answer in a hundred less.
 */
const FIELD_WEIGHTS = [1, 1, 1, 1]
/** Saturation of repeated words, and how much length counts. */
const K1 = 0.8
const B = 0.5
/** Chunks before and after a candidate that say what it is about. */
const AROUND = 8
/** Candidates by words; those by vectors come on top. */
const BY_WORDS_MAX = 60
/** Steps in which scores are counted to find the best of many without sorting all. */
const STEPS = 1_024

/**
 * Makes a query ready for a branch: exact frequencies of its terms on the live chunks. An identifier that stands
 * nowhere is left out, since its parts are terms as well.
 */
export function prepareQuery(
  terms: readonly QueryTerm[],
  postings: ReadonlyMap<string, Postings>,
  view: BranchView,
  vectorOf: WordVectors,
): PreparedQuery {
  const prepared: PreparedTerm[] = []
  for (const { word, terms: own, isIdentifier } of terms) {
    const lists = own.flatMap((term) => postings.get(term) ?? []).map((list) => liveOf(list, view))
    const { numbers, counts } = lists.length === 0 ? NOTHING : lists.reduce(merged)
    if (isIdentifier && numbers.length === 0) continue
    const files = new Set(own.flatMap((term) => view.filesWith(term)))
    prepared.push({ word, idf: inverseFrequency(view.chunks, numbers.length), numbers, counts, files })
  }
  const idfSum = prepared.reduce((sum, { idf }) => sum + idf, 0)
  return { terms: prepared, idfSum: Math.max(idfSum, Number.MIN_VALUE), chunks: view.chunks, vectorOf }
}

/**
 * Returns how much each word of the query tells, 0..1, for its vector: by its frequency, and nothing for what is
 * no term, such as a stop word; all count alike when that leaves nothing.
 */
export function queryWeightOf({ terms, chunks }: PreparedQuery): (word: string) => number {
  if (terms.length === 0) return () => 1
  const weights = new Map(terms.map(({ word, numbers }) => [word, queryWeight(chunks, numbers.length)]))
  return (word) => weights.get(word) ?? 0
}

interface Counted {
  numbers: Uint32Array
  counts: Float32Array
}

const NOTHING: Counted = { numbers: new Uint32Array(0), counts: new Float32Array(0) }

/** The postings on the branch, each with the sum of its counts. */
function liveOf({ numbers, counts }: Postings, { isLive }: BranchView): Counted {
  const live: Counted = { numbers: new Uint32Array(numbers.length), counts: new Float32Array(numbers.length) }
  let length = 0
  for (let at = 0; at < numbers.length; at++) {
    const number = numbers[at] ?? 0
    if (isLive[number] !== 1) continue
    let sum = 0
    for (let field = 0; field < FIELDS.length; field++) {
      sum += (FIELD_WEIGHTS[field] ?? 0) * (counts[at * FIELDS.length + field] ?? 0)
    }
    live.numbers[length] = number
    live.counts[length] = sum
    length++
  }
  return { numbers: live.numbers.subarray(0, length), counts: live.counts.subarray(0, length) }
}

/** Brings two ascending lists into one; the counts of a number in both are added. */
function merged(one: Counted, other: Counted): Counted {
  if (one.numbers.length === 0) return other
  if (other.numbers.length === 0) return one
  const numbers = new Uint32Array(one.numbers.length + other.numbers.length)
  const counts = new Float32Array(numbers.length)
  let length = 0
  let left = 0
  let right = 0
  while (left < one.numbers.length || right < other.numbers.length) {
    const leftNumber = one.numbers[left] ?? Number.POSITIVE_INFINITY
    const rightNumber = other.numbers[right] ?? Number.POSITIVE_INFINITY
    numbers[length] = Math.min(leftNumber, rightNumber)
    if (leftNumber <= rightNumber) counts[length] = (counts[length] ?? 0) + (one.counts[left++] ?? 0)
    if (rightNumber <= leftNumber) counts[length] = (counts[length] ?? 0) + (other.counts[right++] ?? 0)
    length++
  }
  return { numbers: numbers.subarray(0, length), counts: counts.subarray(0, length) }
}

/**
 * Scores every live chunk by the words it has: BM25F (k1 0.8, b 0.5) over its highest value.
 * Source: Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009, section 3.5.
 */
export function scoreChunks(query: PreparedQuery, view: BranchView): ChunkScores {
  const scores = new Float32Array(view.isLive.length)
  const mean = Math.max(1, view.lengthMean)
  let matches = 0
  for (const { idf, numbers, counts } of query.terms) {
    const share = idf / query.idfSum
    for (let at = 0; at < numbers.length; at++) {
      const number = numbers[at] ?? 0
      const count = counts[at] ?? 0
      const before = scores[number] ?? 0
      if (before === 0) matches++
      const norm = K1 * (1 - B + (B * (view.lengths[number] ?? 0)) / mean)
      scores[number] = before + (share * count) / (count + norm)
    }
  }
  return { scores, matches, view }
}

/**
 * Returns the chunks that are worth reading: the 60 best by words, and all that are near by vectors. Those that
 * the vectors did not name have no cosine yet.
 */
export function chooseCandidates(
  { scores, view }: ChunkScores,
  nearest: readonly { number: number; cosine: number }[],
): Candidate[] {
  const cosines = new Map(nearest.map(({ number, cosine }) => [number, cosine]))
  const numbers = new Set([...bestOf(scores, BY_WORDS_MAX), ...cosines.keys()])
  const fileChunks = new Uint32Array(view.paths.length)
  for (let number = 0; number < view.fileOf.length; number++) {
    const file = view.fileOf[number] ?? 0
    if (view.isLive[number] === 1) fileChunks[file] = (fileChunks[file] ?? 0) + 1
  }
  return [...numbers].map((number) => ({
    number,
    file: view.fileOf[number] ?? 0,
    fileChunks: fileChunks[view.fileOf[number] ?? 0] ?? 1,
    lexical: scores[number] ?? 0,
    around: numbersAround(view, number),
    cosine: cosines.get(number) ?? null,
  }))
}

function numbersAround({ isLive, fileOf }: BranchView, number: number): number[] {
  const numbers: number[] = []
  for (let other = Math.max(0, number - AROUND); other <= number + AROUND; other++) {
    if (other !== number && isLive[other] === 1 && fileOf[other] === fileOf[number]) numbers.push(other)
  }
  return numbers
}

/** The numbers of the `limit` highest scores above 0, highest first; of equal ones the lower number. */
function bestOf(scores: Float32Array, limit: number): number[] {
  const counts = new Uint32Array(STEPS + 1)
  for (const score of scores) {
    if (score > 0) {
      const step = stepOf(score)
      counts[step] = (counts[step] ?? 0) + 1
    }
  }
  let step = STEPS
  for (let count = counts[step] ?? 0; step > 0 && count < limit; count += counts[step] ?? 0) step--
  const best: number[] = []
  for (let number = 0; number < scores.length; number++) {
    const score = scores[number] ?? 0
    if (score > 0 && stepOf(score) >= step) best.push(number)
  }
  const byScore = (one: number, other: number) => (scores[other] ?? 0) - (scores[one] ?? 0) || one - other
  return best.sort(byScore).slice(0, limit)
}

function stepOf(score: number): number {
  return Math.min(STEPS, Math.floor(score * STEPS))
}
