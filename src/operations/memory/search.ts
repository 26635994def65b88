/** Searching memories by words and by meaning together. Nothing is written, whatever is found. */

import { MATCH_SIMILARITY_MIN } from "../../config/limits.ts"
import type { StoredModel } from "../../domain/embedding/embedding.ts"
import { cosineAt } from "../../domain/embedding/similarity.ts"
import type { Memory } from "../../domain/memory/memory.ts"
import {
  builtinCosine,
  compareRanked,
  prepareRanking,
  queryWeight,
  RANKING_TEXT_CHARS_MAX,
  type RankingQuery,
  type Relevance,
  recencyAt,
  relevanceOf,
  roughRelevance,
  scoreOf,
} from "../../domain/memory/ranking.ts"
import { salienceAt, shownSalience } from "../../domain/memory/salience.ts"
import {
  type Reached,
  reachableScoreMax,
  scoreOfReached,
  type WaypointEdge,
  WaypointExpansion,
} from "../../domain/memory/waypoint-expansion.ts"
import { queryWords } from "../../domain/memory/words.ts"
import { contentWords } from "../../domain/text/content-words.ts"
import { irregularForms } from "../../domain/text/irregular-forms.ts"
import { BUILTIN_MODEL } from "../../embed/builtin.ts"
import type { MemoryFilter } from "../../search/index.ts"
import { findMemories, memoryTotals } from "../../store/memory/memories.ts"
import { listEdgesFrom } from "../../store/memory/waypoints.ts"
import { activeModel } from "../embedding/memories.ts"
import { embedQueryWithin } from "../embedding/query.ts"
import type { Input } from "../input.ts"
import type { TenantContext } from "../operation.ts"
import type { searchInput } from "./inputs.ts"
import { type FoundMemories, memoryJson } from "./results.ts"

export type MemorySearch = Input<typeof searchInput> & {
  /** Whether to say how each score came about. */
  explain?: boolean | undefined
  /** Only one of the two lists, to see what each contributes; both unless given. */
  using?: "words" | "vectors" | undefined
}

/** How a score came about; every figure in 0..1. */
interface Explanation {
  /** How much of the query's words is in the memory; rare ones say more. */
  lexical: number
  /** The words of the query that the memory has, in any form. */
  words: string[]
  /** How close the meaning is; null when one of the two has no vector. */
  vector: number | null
  relevance: number
  salience: number
  recency: number
}

/** Words of a query that are looked for; of a text that was pasted whole the first say what it is about. */
const WORDS_MAX = 64
/** How deep the two lists are read, at least; measured: deeper ones change nothing. */
const WORDS_DEPTH = 100
const VECTORS_DEPTH = 50
/** So much text of candidates is read, and at least so many times the number wanted. */
const READ_CHARS_MAX = 24_000
const READ_FACTOR = 2
/** So many times the number wanted are reranked whole. */
const WHOLE_FACTOR = 5
const READ_AT_ONCE = 25
/** Waypoints are followed from this many of the best. */
const SEEDS = 10
/** Of what one hop leads to this many are followed further, and of what they lead to this many are looked at. */
const FOLLOWED_MAX = 16
const REACHED_MAX = 40
/** Ways that are followed from one memory; those that lead to it may be many more than its own eight. */
const EDGES_FOLLOWED = 16

/** Finds the memories that answer a query best: what is found follows from the database, the request and the time. */
export async function searchMemories(context: TenantContext, request: MemorySearch): Promise<FoundMemories> {
  const startedMs = performance.now()
  const search = await prepare(context, request)
  const { matches, total } = await findMatches(search)
  const found = matches.sort(compareRanked).slice(0, request.limit)
  const added = search.maxHops > 0 ? await findConnected(search, matches, found) : []
  const best = [...found, ...added].sort(compareRanked).slice(0, request.limit)
  return {
    data: best.map(({ memory, score, via, explanation }) => ({
      ...memoryJson(context, memory),
      score: shownSalience(score),
      ...(via === undefined ? {} : { via }),
      ...(request.explain === true ? { explain: { ...explanation } } : {}),
    })),
    meta: {
      total: total + best.filter(({ via }) => via !== undefined).length,
      search_time_ms: Math.round(performance.now() - startedMs),
      waypoints_expanded: search.maxHops > 0,
    },
  }
}

/** Everything about one search that does not change while it runs. */
interface Search {
  context: TenantContext
  request: MemorySearch
  /** How far to go along waypoints; 0 for not at all. */
  maxHops: number
  filter: MemoryFilter
  /** What the index of words is asked for. */
  terms: string[]
  ranking: RankingQuery
  model: StoredModel
  /** Null when the query has no vector, or its model is not there. */
  vector: Float32Array | null
}

interface Match extends Candidate {
  memory: Memory
  /** 0 to 1, comparable between queries. */
  score: number
  /** The way along waypoints to a memory that is no match itself: the ids of the memories before it. */
  via: string[] | undefined
  explanation: Explanation
}

async function prepare(context: TenantContext, request: MemorySearch): Promise<Search> {
  const { app, repository, nowMs } = context
  const { sector = null, tags = [], min_salience: salienceMin = 0, query } = request
  const { halfLives } = app.config
  const filter = { repositoryId: repository.id, sector, tags, salienceMin, halfLives, nowMs }
  const words = queryWords(query)
  const content = contentWords(words).slice(0, WORDS_MAX)
  const totals = await memoryTotals(app.db, repository.id)
  const counts = new Map<string, number>()
  for (const word of content) {
    const everywhere = { ...filter, sector: null, tags: [], salienceMin: 0 }
    counts.set(word, await app.memories.countByWords(app.db, formsOf(word), everywhere))
  }
  // A stop word is in every other memory, about; to count it would take longer than the rest of the search.
  const countOf = (word: string) => counts.get(word) ?? totals.memories / 2
  const model = await activeModel(app.db)
  const weightOf = (word: string) => queryWeight(totals.memories, countOf(word))
  return {
    context,
    request,
    maxHops: request.expand_waypoints ? request.max_hops : 0,
    filter,
    terms: content.flatMap(formsOf),
    ranking: prepareRanking(
      content,
      {
        memories: totals.memories,
        wordsMean: totals.words / Math.max(1, totals.memories),
        memoriesWith: countOf,
      },
      await app.embedders.wordVectors().catch(() => () => null),
    ),
    model,
    vector: request.using === "words" ? null : await embedQueryWithin(app, model, query, weightOf),
  }
}

function formsOf(word: string): string[] {
  return [...new Set([word, ...irregularForms(word)])]
}

/** A memory that may match, before its text was read. */
interface Candidate {
  id: number
  cosine: number | null
  /** 0 where the index of words did not name it. */
  indexScore: number
}

/** Finds what shares a word with the query or is close to it; what looks best by both is read and reranked. */
async function findMatches(search: Search): Promise<{ matches: Match[]; total: number }> {
  const { context, request, filter, terms, model, vector } = search
  const { db, memories: index } = context.app
  const wordsDepth = request.using === "vectors" ? 0 : Math.max(WORDS_DEPTH, request.limit)
  const vectorsDepth = Math.max(VECTORS_DEPTH, request.limit)
  const lexical = await index.findByWords(db, terms, filter, wordsDepth)
  const near = vector === null ? [] : await index.findNearest(db, model.id, vector, filter, vectorsDepth)
  const named = lexical.map(({ id }) => id)
  const cosines = vector === null ? null : await index.cosines(db, model.id, vector, named)
  const candidates: Candidate[] = lexical.map(({ id, bm25 }) => ({
    id,
    cosine: cosines?.get(id) ?? null,
    indexScore: bm25,
  }))
  // Beyond the depth of the list a memory may share a word all the same, which shows once it is read.
  const isCut = request.using !== "vectors" && lexical.length === wordsDepth
  const isNamed = new Set(named)
  const cosineMin = request.using === "vectors" ? -1 : cosineAt(MATCH_SIMILARITY_MIN, model.calibration)
  for (const { id, cosine } of near)
    if (!isNamed.has(id) && (isCut || cosine > cosineMin)) candidates.push({ id, cosine, indexScore: 0 })
  const reranked = await rerank(search, candidates)
  const matching = reranked.filter(
    ({ id, cosine, explanation }) =>
      isNamed.has(id) || explanation.words.length > 0 || (cosine ?? -1) > cosineMin,
  )
  const read = new Map(reranked.map(({ id, explanation }) => [id, explanation]))
  // What was not read has no word where the list of those with one is whole.
  const hasNoWord = (id: number) => (read.get(id)?.words ?? (isCut ? ["?"] : [])).length === 0
  const byMeaning = candidates.filter(
    ({ id, cosine }) => !isNamed.has(id) && (cosine ?? -1) > cosineMin && hasNoWord(id),
  )
  const byWords = isCut ? await index.countByWords(db, terms, filter) : lexical.length
  return { matches: judgeWhole(search, matching), total: byWords + byMeaning.length }
}

/**
 * Reads memories and scores them, those first that look best without being read. When enough text was read,
 * the others are left out: they would stand far below.
 */
async function rerank(search: Search, candidates: readonly Candidate[]): Promise<Match[]> {
  const { context, request, ranking } = search
  const ordered = candidates
    .map((candidate) => ({ ...candidate, rough: roughRelevance(ranking, scaled(search, candidate)) }))
    .sort((one, other) => other.rough - one.rough || other.id - one.id)
  const matches: Match[] = []
  let charsRead = 0
  for (let from = 0; from < ordered.length; from += READ_AT_ONCE) {
    const some = ordered.slice(from, from + READ_AT_ONCE)
    const ids = some.map(({ id }) => id)
    const memories = new Map((await findMemories(context.app.db, ids)).map((memory) => [memory.id, memory]))
    for (const candidate of some) {
      if (charsRead > READ_CHARS_MAX && matches.length >= READ_FACTOR * request.limit) return matches
      const memory = memories.get(candidate.id)
      if (memory === undefined) continue
      charsRead += Math.min(memory.content.length, RANKING_TEXT_CHARS_MAX)
      matches.push(matchOf(search, memory, candidate, false))
    }
  }
  return matches
}

/** Judges the best of a first look whole, which takes longest; only these can be results. */
function judgeWhole(search: Search, matches: readonly Match[]): Match[] {
  return [...matches]
    .sort(compareRanked)
    .slice(0, WHOLE_FACTOR * search.request.limit)
    .map((match) => matchOf(search, match.memory, match, true))
}

/** Returns a candidate with its cosine on the scale that the ranking expects. */
function scaled({ model }: Search, candidate: Candidate): Candidate {
  const { cosine } = candidate
  if (cosine === null) return candidate
  return { ...candidate, cosine: builtinCosine(cosine, model.calibration, BUILTIN_MODEL.calibration) }
}

function relevanceIn(search: Search, memory: Memory, candidate: Candidate, isWhole: boolean): Relevance {
  const { request, ranking } = search
  const text = memory.tags.length === 0 ? memory.content : `${memory.content}\n${memory.tags.join(" ")}`
  const known = scaled(search, candidate)
  const relevance = relevanceOf(ranking, { text, ...known }, isWhole)
  if (request.using === undefined) return relevance
  return { ...relevance, relevance: roughRelevance(ranking, known) }
}

function matchOf(search: Search, memory: Memory, candidate: Candidate, isWhole: boolean): Match {
  const { context, filter } = search
  const relevance = relevanceIn(search, memory, candidate, isWhole)
  const salience = salienceAt(memory.salience, memory.sector, filter.halfLives, context.nowMs)
  const recency = recencyAt(memory.createdAtMs, context.nowMs)
  return {
    id: memory.id,
    cosine: candidate.cosine,
    indexScore: candidate.indexScore,
    memory,
    score: scoreOf(relevance.relevance, salience, recency),
    via: undefined,
    explanation: { ...relevance, salience, recency },
  }
}

/**
 * Finds what waypoints lead to from the best matches, if it passes the filters and can stand among what was
 * found. What was found by itself stays as it is: measured, to draw it towards the match that leads to it costs
 * more than it gains.
 */
async function findConnected(
  search: Search,
  matches: readonly Match[],
  found: readonly Match[],
): Promise<Match[]> {
  const { context, request, filter } = search
  const own = new Set(matches.map(({ id }) => id))
  const scoreMin = found.length < request.limit ? 0 : (found.at(-1)?.score ?? 0)
  if (reachableScoreMax(found[0]?.score ?? 0) <= scoreMin) return []
  const reached = await followWaypoints(search, matches)
  const ways = reached
    .filter((way) => !own.has(way.id) && scoreOfReached(way) > scoreMin)
    .slice(0, REACHED_MAX)
  const onTheWay = new Set(ways.flatMap(({ path }) => path))
  const memories = await findMemories(context.app.db, [...onTheWay])
  const byId = new Map(memories.map((memory) => [memory.id, memory]))
  return ways.flatMap((way) => {
    const memory = byId.get(way.id)
    const via = way.path.slice(0, -1).flatMap((id) => byId.get(id)?.uuid ?? [])
    if (memory === undefined || !passes(memory, filter) || via.length < way.path.length - 1) return []
    const candidate = { id: way.id, cosine: null, indexScore: 0 }
    const match = matchOf(search, memory, candidate, true)
    return [{ ...match, score: scoreOfReached(way), via }]
  })
}

async function followWaypoints(
  { context, maxHops, model }: Search,
  matches: readonly Match[],
): Promise<Reached[]> {
  const seeds = [...matches].sort(compareRanked).slice(0, SEEDS)
  const expansion = new WaypointExpansion(seeds, maxHops, FOLLOWED_MAX)
  for (let ids = expansion.frontier(); ids.length > 0; ids = expansion.frontier()) {
    const edges: WaypointEdge[] = []
    for (const fromId of ids) {
      for (const { toId, weight } of await listEdgesFrom(context.app.db, fromId, model.id, EDGES_FOLLOWED))
        edges.push({ fromId, toId, weight })
    }
    expansion.advance(edges)
  }
  return expansion.reached()
}

/** Whether a memory that the index did not choose is one that the filters allow. */
function passes(memory: Memory, { sector, tags, salienceMin, halfLives, nowMs }: MemoryFilter): boolean {
  if (sector !== null && memory.sector !== sector) return false
  if (!tags.every((tag) => memory.tags.includes(tag))) return false
  return shownSalience(salienceAt(memory.salience, memory.sector, halfLives, nowMs)) >= salienceMin
}
