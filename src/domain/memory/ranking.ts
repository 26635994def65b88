/**
 * The ranking of a memory search: how well a memory answers a query, as an absolute figure in 0..1 that can be
 * compared between queries and explained, and the order that comes of it. Finding candidates is the index's
 * part; this reads their texts. No part of the score is relative to the other results.
 */

import type { Calibration } from "../embedding/similarity.ts"
import { contentWords } from "../text/content-words.ts"
import { type Passage, readPassages } from "../text/ranking-text.ts"
import { STOP_WORDS } from "../text/stop-words.ts"
import { comparedForm } from "../text/word-forms.ts"
import { DAY_MS } from "../time-units.ts"

/** What the ranking has to know of the store that is searched. */
interface StoreCounts {
  memories: number
  /** Mean number of words of a memory. */
  wordsMean: number
  /** In how many memories a folded word stands in one of its forms. */
  memoriesWith: (word: string) => number
}

/** A query made ready to be compared with many texts; it remembers the words it has met. */
export interface RankingQuery {
  readonly terms: readonly RankingTerm[]
  /** What a memory would have to reach that holds every term without end. */
  readonly lexicalMax: number
  /** What the index's own BM25 would give such a memory. */
  readonly indexScoreMax: number
  readonly wordsMean: number
  readonly vectorOf: WordVectors
  /** The places of the terms by their stems. */
  readonly places: ReadonlyMap<string, number>
  /** The vectors of the terms, of length 1, where they have any. */
  readonly vectors: readonly (Float64Array | null)[]
  /** What is known of each word that was met. */
  readonly seenWords: Map<string, SeenWord>
}

/** What a word of a text has to do with the terms, each of which is named by its place. */
interface SeenWord {
  readonly text: string
  /** The term that it is a form of; -1 for none. */
  readonly term: number
  /** What an occurrence of it counts for that term. */
  readonly count: number
  /** Null where it has none or needs none; undefined before it was asked for. */
  vector: WordVector | null | undefined
  /** Its cosine to each term, NaN before it was asked for. */
  cosines: number[]
}

interface RankingTerm {
  readonly word: string
  readonly stem: string
  /** How much the term tells: the rarer in the store, the more. */
  readonly idf: number
}

/** The vector of a word, in whatever form its model keeps it. */
export interface WordVector {
  /** Returns it brought to length 1. */
  unit(): Float64Array
  /** Returns the signs of its components (see `toBits`), 32 in a number. */
  bits(): Uint32Array
  /** Returns its cosine to a vector of length 1, in -1..1 but for rounding. */
  cosine(unit: Float64Array): number
}

/** Gives a folded word's vector, or null for a word without one. The same word, the same vector. */
export type WordVectors = (word: string) => WordVector | null

export interface RankingCandidate {
  text: string
  /** Cosine to the query on the scale of the built-in model (`builtinCosine`); null when either has no vector. */
  cosine: number | null
  /** The index's BM25 with k1 1.2, as a positive number; 0 when it found no word. */
  indexScore: number
}

/** How well a text answers a query; all in 0..1. */
export interface Relevance {
  lexical: number
  vector: number | null
  relevance: number
  /** The terms of the query that stand in the text, in any form. */
  words: string[]
}

/** A memory with everything its place comes from. */
interface Ranked extends Relevance {
  id: number
  salience: number
  recency: number
  score: number
}

/** Characters of a text that are read; keeps the work for a page of candidates small. */
export const RANKING_TEXT_CHARS_MAX = 2_000

/** Saturation of repeated words, and how much length counts; measured, see `relevanceOf`. */
const K1 = 0.6
const B = 0.5
const INDEX_K1 = 1.2
/** Share of the vectors in the relevance. */
const VECTOR_SHARE = 0.3
/** Words of a text among which the nearest to a term is looked for. */
const SIMILAR_WORDS_MAX = 400
/** Words whose cosine is below this have nothing to do with each other. */
const SIMILAR_COSINE_MIN = 0.2
/** What an occurrence in a question counts: who asks about a thing rarely tells about it. */
const ASKING_SHARE = 0.2
/** What an occurrence of the very word counts against one of another form. */
const EXACT_FACTOR = 1.3
/** Inverse frequency from which on a word of a query counts fully: found in 5 % of the memories or fewer. */
const FULL_WEIGHT_IDF = 3

/** Relevance keeps 90 % of the score; salience already fades with time, so recency gets less of the rest. */
const RELEVANCE_SHARE = 0.9
const SALIENCE_SHARE = 0.06
const RECENCY_SHARE = 1 - RELEVANCE_SHARE - SALIENCE_SHARE
const RECENCY_HALF_LIFE_DAYS = 30

/** Inverse document frequency: ln(1 + (N - n + 0.5) / (n + 0.5)), never negative. Counts are brought to 0 <= n <= N. */
export function inverseFrequency(memories: number, memoriesWith: number): number {
  const total = Math.max(0, memories)
  const found = Math.min(total, Math.max(0, memoriesWith))
  return Math.log(1 + (total - found + 0.5) / (found + 0.5))
}

/**
 * Returns the weight in 0..1 of a word, or a piece, in the mean vector of a query: 1 for what stands in about
 * 5 % of the memories or fewer, falling with frequency. Without it the names that every memory holds decide.
 */
export function queryWeight(memories: number, memoriesWith: number): number {
  return Math.min(1, inverseFrequency(memories, memoriesWith) / FULL_WEIGHT_IDF)
}

/**
 * Brings a cosine of a model to the scale of the built-in one, where unrelated texts are near 0, so that one
 * share fits all models. Linear between the logistic curves of the two; at most 1.
 */
export function builtinCosine(cosine: number, model: Calibration, builtin: Calibration): number {
  return Math.min(1, builtin.midpoint + ((cosine - model.midpoint) * model.slope) / builtin.slope)
}

/**
 * Makes a query ready: `words` are its different folded words, stop words included. `vectorOf` lets words count
 * that are similar to a term; give `() => null` where there are no vectors of words.
 */
export function prepareRanking(
  words: readonly string[],
  counts: StoreCounts,
  vectorOf: WordVectors,
): RankingQuery {
  const terms = new Map<string, RankingTerm>()
  for (const word of contentWords(words)) {
    const stem = comparedForm(word)
    if (terms.has(stem)) continue
    terms.set(stem, { word, stem, idf: inverseFrequency(counts.memories, counts.memoriesWith(word)) })
  }
  const all = [...terms.values()]
  const idfSum = all.reduce((sum, term) => sum + term.idf, 0)
  return {
    terms: all,
    lexicalMax: idfSum * (K1 + 1),
    indexScoreMax: idfSum * (INDEX_K1 + 1),
    wordsMean: Math.max(1, counts.wordsMean),
    vectorOf,
    places: new Map(all.map((term, place) => [term.stem, place])),
    vectors: all.map((term) => vectorOf(term.word)?.unit() ?? null),
    seenWords: new Map(),
  }
}

/**
 * Rates how well a memory answers a query: relevance = 0.7 * lexical + 0.3 * vector, each in 0..1; lexical
 * alone where the vector is missing.
 *
 * `lexical` is BM25 (k1 0.6, b 0.5) over what it would be if every term occurred without end. A term that is
 * missing counts by the nearest word of the text, (cosine - 0.2) / 0.8 of an occurrence; one in a question
 * counts a fifth, the very word 1.3. Without `isWhole` it is a first look, never higher but for long texts: nothing
 * similar counts, and only the first RANKING_TEXT_CHARS_MAX characters are read; of a longer text the index's own figure
 * counts where it is higher, since it knows the rest. BM25: Robertson and Zaragoza, 2009.
 */
export function relevanceOf(query: RankingQuery, candidate: RankingCandidate, isWhole = true): Relevance {
  const charsRead = isWhole ? candidate.text.length : RANKING_TEXT_CHARS_MAX
  const { words, exact } = occurrences(query, readPassages(candidate.text, charsRead))
  const nearest = isWhole ? nearestCosines(query, words.slice(0, SIMILAR_WORDS_MAX), exact) : []
  const norm = K1 * (1 - B + (B * words.length) / query.wordsMean)
  let sum = 0
  query.terms.forEach((term, index) => {
    const found = exact[index] ?? 0
    const similarity = Math.max(0, ((nearest[index] ?? 0) - SIMILAR_COSINE_MIN) / (1 - SIMILAR_COSINE_MIN))
    const count = found > 0 ? found : similarity
    if (count > 0) sum += (term.idf * count * (K1 + 1)) / (count + norm)
  })
  const own = share(sum, query.lexicalMax)
  const isCut = candidate.text.length > charsRead
  const lexical = isCut ? Math.max(own, share(candidate.indexScore, query.indexScoreMax)) : own
  const vector = candidate.cosine === null ? null : clamp(candidate.cosine)
  return {
    lexical,
    vector,
    relevance: vector === null ? lexical : (1 - VECTOR_SHARE) * lexical + VECTOR_SHARE * vector,
    words: query.terms.filter((_, index) => (exact[index] ?? 0) > 0).map((term) => term.word),
  }
}

/**
 * Returns about what `relevanceOf` will, without reading the text: the index's own BM25 in the place of the
 * lexical part. It chooses what is worth reading.
 */
export function roughRelevance(
  query: RankingQuery,
  { cosine, indexScore }: Pick<RankingCandidate, "cosine" | "indexScore">,
): number {
  const lexical = share(indexScore, query.indexScoreMax)
  return cosine === null ? lexical : (1 - VECTOR_SHARE) * lexical + VECTOR_SHARE * clamp(cosine)
}

/** Returns what the age of a memory adds, in 0..1: 1 when new, halved every 30 days. Later times count as now. */
export function recencyAt(createdAtMs: number, nowMs: number): number {
  return 2 ** (-Math.max(0, nowMs - createdAtMs) / (RECENCY_HALF_LIFE_DAYS * DAY_MS))
}

/**
 * Returns the score in 0..1: relevance * (0.9 + 0.06 * salience + 0.04 * recency). Salience and recency move it
 * by 10 % at most, so a memory that is that much more relevant stands first however old and faded it is.
 */
export function scoreOf(relevance: number, salience: number, recency: number): number {
  const factor = RELEVANCE_SHARE + SALIENCE_SHARE * clamp(salience) + RECENCY_SHARE * clamp(recency)
  return clamp(relevance) * Math.min(1, factor)
}

/** Puts the higher score first and, of equal ones, the newer memory, which has the larger id. */
export function compareRanked(a: Pick<Ranked, "id" | "score">, b: Pick<Ranked, "id" | "score">): number {
  return b.score - a.score || b.id - a.id
}

/** Counts the terms in a text, and finds for each that is missing the cosine of the word nearest to it. */
function occurrences(query: RankingQuery, passages: readonly Passage[]) {
  const words: SeenWord[] = []
  const exact = query.terms.map(() => 0)
  for (const passage of passages) {
    const factor = passage.asks ? ASKING_SHARE : 1
    for (const text of passage.words) {
      const word = seenWord(query, text)
      words.push(word)
      if (word.term >= 0) exact[word.term] = (exact[word.term] ?? 0) + word.count * factor
    }
  }
  return { words, exact }
}

/** Texts of one store repeat their words, so each is compared with the query only once. */
function seenWord(query: RankingQuery, text: string): SeenWord {
  const known = query.seenWords.get(text)
  if (known !== undefined) return known
  const term = query.places.get(comparedForm(text)) ?? -1
  const count = query.terms[term]?.word === text ? EXACT_FACTOR : 1
  const word: SeenWord = { text, term, count, vector: undefined, cosines: [] }
  query.seenWords.set(text, word)
  return word
}

/** Returns for each term the highest cosine of any of the words, 0 to 1; 0 for those that stand in the text. */
function nearestCosines(query: RankingQuery, words: readonly SeenWord[], exact: readonly number[]): number[] {
  const nearest = query.terms.map(() => 0)
  const missing = query.vectors.flatMap((unit, term) =>
    unit === null || exact[term] !== 0 ? [] : [{ term, unit }],
  )
  if (missing.length === 0) return nearest
  for (const word of words) {
    if (word.vector === undefined) beginCosines(query, word)
    if (word.vector === null || word.vector === undefined) continue
    const { cosines } = word
    for (const { term, unit } of missing) {
      let cosine = cosines[term] ?? 0
      if (Number.isNaN(cosine)) {
        cosine = word.vector.cosine(unit)
        cosines[term] = cosine
      }
      if (cosine > (nearest[term] ?? 0)) nearest[term] = cosine
    }
  }
  return nearest.map((cosine) => Math.min(1, cosine))
}

/** Function words come near to anything; they would be similar to every term, so they go without a vector. */
function beginCosines(query: RankingQuery, word: SeenWord): void {
  word.vector = STOP_WORDS.has(word.text) ? null : query.vectorOf(word.text)
  if (word.vector !== null) word.cosines = query.terms.map(() => Number.NaN)
}

function share(part: number, whole: number): number {
  return whole > 0 ? clamp(part / whole) : 0
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value))
}
