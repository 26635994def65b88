/** Searching documentation: which branches a question goes to, what answers it, and where that stands. */

import { MATCH_SIMILARITY_MIN } from "../../config/limits.ts"
import type { Queries } from "../../db/database.ts"
import { type StoredChunk, WORKING_TREE } from "../../domain/documentation/documentation.ts"
import { hostLink } from "../../domain/documentation/host-link.ts"
import { ownFirst } from "../../domain/documentation/own-first.ts"
import { assemblePassages, type Passage, passageText } from "../../domain/documentation/passage.ts"
import {
  type Candidate,
  type ChunkScores,
  chooseCandidates,
  prepareQuery,
  queryWeightOf,
  type Reranked,
  rerank,
  scoreChunks,
} from "../../domain/documentation/ranking.ts"
import { indexTermsOf, queryTermsOf } from "../../domain/documentation/terms.ts"
import type { StoredModel } from "../../domain/embedding/embedding.ts"
import { cosineAt } from "../../domain/embedding/similarity.ts"
import { builtinCosine } from "../../domain/memory/ranking.ts"
import { BUILTIN_MODEL } from "../../embed/builtin.ts"
import { assert } from "../../errors.ts"
import type { NumberedCosine, VectorSpace } from "../../search/index.ts"
import { findDocumentationBranch } from "../../store/documentation/documentation.ts"
import { listChunks } from "../../store/documentation/documents.ts"
import type { App } from "../app.ts"
import { activeModel } from "../embedding/memories.ts"
import { embedQueryWithin } from "../embedding/query.ts"
import type { Input } from "../input.ts"
import { count, isoTime } from "../markdown.ts"
import type { CallContext } from "../operation.ts"
import { AnswerCache } from "./cache.ts"
import { bringUpToDate, type SearchedBranch } from "./freshness.ts"
import type { searchInput } from "./inputs.ts"
import type { DocumentationAnswer, FoundPassage } from "./results.ts"
import { type LoadedView, loadView } from "./view.ts"

export type DocumentationSearch = Input<typeof searchInput> & {
  /** Only one of the two ways to find candidates, to see what each contributes; both unless given. */
  using?: "words" | "vectors" | "fusion" | undefined
  /**
   * Whom the answer is for, where that counts: what is of the repository around comes first, and identical contents
   * are given once.
   */
  reader?: { repositoryId: number | undefined } | undefined
}

/** How many of the nearest chunks are looked at. */
const NEAREST = 50
/** For so many times as many chunks as results are wanted, what stands around them is read: some become no result. */
const SURROUNDED_FACTOR = 3
/** Chunks that are read before and after such a one. */
const AROUND = 4

/** What can be answered again, for as long as nothing has changed that it depends on. */
interface FoundAnswer {
  results: FoundPassage[]
  /** Chunks that match, before the limit. */
  total: number
  /** Passages left out because one of the results says the same. */
  repeats: number
}

const cache = new AnswerCache<FoundAnswer>()

/** So many times the results that are wanted are looked at where too many of them say the same. */
const REPEATED_FACTOR = 3

/** Branches turn so rarely that a second attempt is nearly always one too many already. */
const ATTEMPTS_MAX = 3

/**
 * Finds the passages that answer a question best. Branches that have moved are indexed first, as far as that takes a
 * moment. Fails with `not_found` for an unknown repository or branch, and with `forbidden` for one that the key does
 * not permit.
 */
export async function searchDocumentation(
  context: CallContext,
  request: DocumentationSearch,
): Promise<DocumentationAnswer> {
  const { app } = context
  const startedMs = performance.now()
  for (let attempt = 1; ; attempt += 1) {
    const { branches, notes } = await bringUpToDate(context, request)
    const model = await activeModel(app.db)
    const key = answerKey(model, request, branches)
    const known = cache.get(app.db, key)
    const found = known ?? (await answerFrom(app, model, request, branches))
    // A branch that turned to another commit meanwhile would give texts of the one under links to the other.
    const isOfOneState = known !== undefined || (await areUnchanged(app, branches))
    if (!isOfOneState && attempt < ATTEMPTS_MAX) continue
    if (known === undefined && isOfOneState) cache.put(app.db, key, found)
    const { results, total, repeats } = found
    if (repeats > 0) notes.push(`${count(repeats, "passage")} left out, of the same content as one of these.`)
    const meta = {
      total,
      query_time_ms: Math.round(performance.now() - startedMs),
      cached: known !== undefined,
      ...(notes.length === 0 ? {} : { notes }),
    }
    return { results, meta }
  }
}

/** Asks once more, because any process may write. */
async function areUnchanged({ db }: App, branches: readonly SearchedBranch[]): Promise<boolean> {
  for (const { branch } of branches) {
    const now = await findDocumentationBranch(db, branch.repositoryId, branch.name)
    if (now?.version !== branch.version) return false
  }
  return true
}

/** Returns all that an answer depends on. */
function answerKey(
  model: StoredModel,
  { query, limit, using, reader }: DocumentationSearch,
  branches: readonly SearchedBranch[],
): string {
  const state = branches.map(({ repository, branch, documented }) => [
    ...[branch.id, branch.version, documented.vectorsVersion],
    // They stand in the results too.
    ...[repository.name, documented.cloneUrl ?? documented.remoteUrl],
  ])
  const order = reader === undefined ? "" : `for ${reader.repositoryId}`
  return JSON.stringify([query, limit, using ?? "", order, model.id, state])
}

async function answerFrom(
  app: App,
  model: StoredModel,
  request: DocumentationSearch,
  branches: readonly SearchedBranch[],
): Promise<FoundAnswer> {
  const { limit, reader } = request
  const search = async (depth: number) => {
    const wanted = { ...request, limit: depth }
    const found = await Promise.all(branches.map((searched) => searchBranch(app, model, wanted, searched)))
    return {
      passages: found.flatMap(({ passages }) => passages),
      total: found.reduce((sum, { total }) => sum + total, 0),
    }
  }
  const { passages, total } = await search(limit)
  if (reader === undefined) {
    const best = passages.toSorted((one, other) => other.passage.score - one.passage.score).slice(0, limit)
    return { results: best.map(resultOf), total, repeats: 0 }
  }
  const ordered = (found: readonly BranchPassage[]) =>
    ownFirst(
      found.map((one) => readBy(reader, one)),
      limit,
    )
  const first = ordered(passages)
  const isShort = first.items.length < limit && first.repeats > 0
  const { items, repeats } = isShort ? ordered((await search(limit * REPEATED_FACTOR)).passages) : first
  return { results: items, total, repeats }
}

function readBy({ repositoryId }: { repositoryId: number | undefined }, found: BranchPassage) {
  const item = resultOf(found)
  const isOwn = found.searched.repository.id === repositoryId
  return { item, score: item.score, isOwn, content: item.content }
}

interface BranchPassage {
  searched: SearchedBranch
  view: LoadedView
  chunks: ReadonlyMap<number, StoredChunk>
  passage: Passage
}

/** Everything that is found on one branch. */
async function searchBranch(
  app: App,
  model: StoredModel,
  { query, limit, using }: DocumentationSearch,
  searched: SearchedBranch,
): Promise<{ passages: BranchPassage[]; total: number }> {
  const { db, documents: index } = app
  const repositoryId = searched.repository.id
  const view = await loadView(db, searched.branch)
  const terms = queryTermsOf(query)
  const postings = await index.postings(db, repositoryId, indexTermsOf(terms))
  const wordVectors = await app.embedders.wordVectors().catch(() => () => null)
  const prepared = prepareQuery(terms, postings, view, wordVectors)
  const space = { repositoryId, modelId: model.id }
  const vector = using === "words" ? null : await embedQueryWithin(app, model, query, queryWeightOf(prepared))
  const nearest = vector === null ? [] : await index.findNearest(db, space, vector, view.isLive, NEAREST)
  const scores = scoreChunks(prepared, view)
  const matching = using === "vectors" ? nearest : nearest.filter((near) => isMatch(model, scores, near))
  const chosen = chooseCandidates(scores, onBuiltinScale(model, matching))
  const cosines =
    vector === null ? new Map<number, number>() : await cosinesAround(app, model, space, vector, chosen)
  const candidates = chosen.map((own) => ({ ...own, cosine: own.cosine ?? cosines.get(own.number) ?? null }))
  const chunks = await readChunks(
    db,
    repositoryId,
    candidates.map(({ number }) => number),
  )
  const read = candidates.flatMap((candidate) => {
    const chunk = chunks.get(candidate.number)
    const file = view.files[candidate.file]
    if (chunk === undefined || file === undefined) return []
    return [{ ...candidate, ...chunk, path: file.path, title: file.title ?? "" }]
  })
  const reranked = using === undefined ? rerank(prepared, read, cosines) : rerankByWords(using, read)
  await readAround(db, repositoryId, view, chunks, reranked.slice(0, SURROUNDED_FACTOR * limit))
  const passages = assemblePassages(reranked, (file) => fileChunks(view, chunks, file), limit)
  return {
    passages: passages.map((passage) => ({ searched, view, chunks, passage })),
    total:
      scores.matches +
      nearest.filter((near) => sharesNoWord(scores, near) && isMatch(model, scores, near)).length,
  }
}

/** What one way alone says of candidates, or both as shares of their best: 0.7 and 0.3, measured on documentation. */
function rerankByWords(
  using: "words" | "vectors" | "fusion",
  candidates: readonly Candidate[],
): Pick<Reranked, "number" | "file" | "score">[] {
  const lexicalMax = Math.max(Number.MIN_VALUE, ...candidates.map(({ lexical }) => lexical))
  const cosineMax = Math.max(Number.MIN_VALUE, ...candidates.map(({ cosine }) => cosine ?? 0))
  const scoreOf = ({ lexical, cosine }: Candidate) => {
    const near = Math.max(0, cosine ?? 0)
    if (using === "fusion") return 0.7 * (lexical / lexicalMax) + 0.3 * (near / cosineMax)
    return using === "words" ? lexical : near
  }
  return candidates
    .map((candidate) => ({ number: candidate.number, file: candidate.file, score: scoreOf(candidate) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score || one.number - other.number)
}

/** The ranking knows the cosines of the built-in model, whatever model made the vectors. */
function onBuiltinScale({ calibration }: StoredModel, found: readonly NumberedCosine[]): NumberedCosine[] {
  return found.map(({ number, cosine }) => ({
    number,
    cosine: builtinCosine(cosine, calibration, BUILTIN_MODEL.calibration),
  }))
}

/** The cosines of candidates that the vectors did not name, and of the chunks around candidates. */
async function cosinesAround(
  { db, documents: index }: App,
  model: StoredModel,
  space: VectorSpace,
  vector: Float32Array,
  candidates: readonly Candidate[],
): Promise<Map<number, number>> {
  const known = new Set(candidates.filter(({ cosine }) => cosine !== null).map(({ number }) => number))
  const numbers = new Set(candidates.flatMap(({ number, around }) => [number, ...around]))
  const asked = [...numbers].filter((number) => !known.has(number))
  const cosines = await index.cosines(db, space, vector, asked)
  const found = [...cosines].map(([number, cosine]) => ({ number, cosine }))
  return new Map(onBuiltinScale(model, found).map(({ number, cosine }) => [number, cosine]))
}

/** Whether a chunk has a word of the query, or means nearly the same: what is merely the nearest there is answers nothing. */
function isMatch({ calibration }: StoredModel, scores: ChunkScores, near: NumberedCosine): boolean {
  return !sharesNoWord(scores, near) || near.cosine >= cosineAt(MATCH_SIMILARITY_MIN, calibration)
}

function sharesNoWord({ scores }: ChunkScores, { number }: NumberedCosine): boolean {
  return (scores[number] ?? 0) === 0
}

/** Reads chunks by their numbers, those in a row at once. */
async function readChunks(
  db: Queries,
  repositoryId: number,
  numbers: readonly number[],
): Promise<Map<number, StoredChunk>> {
  const chunks = new Map<number, StoredChunk>()
  const ascending = [...new Set(numbers)].sort((one, other) => one - other)
  for (let from = 0, to = 0; from < ascending.length; from = to + 1, to = from) {
    while (ascending[to + 1] === (ascending[to] ?? 0) + 1) to += 1
    const read = await listChunks(db, repositoryId, ascending[from] ?? 0, ascending[to] ?? 0)
    for (const chunk of read) chunks.set(chunk.number, chunk)
  }
  return chunks
}

/** Adds what stands around the best: a passage is made of chunks that are next to each other. */
async function readAround(
  db: Queries,
  repositoryId: number,
  view: LoadedView,
  chunks: Map<number, StoredChunk>,
  best: readonly Pick<Reranked, "number" | "file">[],
): Promise<void> {
  const missing: number[] = []
  for (const { number, file } of best) {
    const { firstNumber, chunkLengths } = view.files[file] ?? { firstNumber: number, chunkLengths: [] }
    const first = Math.max(firstNumber, number - AROUND)
    const last = Math.min(firstNumber + chunkLengths.length - 1, number + AROUND)
    for (let near = first; near <= last; near += 1) if (!chunks.has(near)) missing.push(near)
  }
  for (const [number, chunk] of await readChunks(db, repositoryId, missing)) chunks.set(number, chunk)
}

/** The chunks of a file that were read, in order. */
function fileChunks(
  view: LoadedView,
  chunks: ReadonlyMap<number, StoredChunk>,
  place: number,
): StoredChunk[] {
  const file = view.files[place]
  if (file === undefined) return []
  return file.chunkLengths.flatMap((_, index) => chunks.get(file.firstNumber + index) ?? [])
}

function resultOf({ searched, view, chunks, passage }: BranchPassage): FoundPassage {
  const { repository, branch, documented } = searched
  const file = view.files[passage.file]
  assert(file !== undefined, "a passage is of a file on the branch")
  const parts = passage.numbers.flatMap((number) => chunks.get(number) ?? [])
  const { lineStart, lineEnd, headings } = passage
  const place = { path: file.path, lineStart, lineEnd }
  return {
    content: passageText(parts),
    file: file.path,
    repository: repository.name,
    branch: branch.name,
    url: hostLink({
      remoteUrl: documented.cloneUrl ?? documented.remoteUrl,
      rootPath: repository.rootPath,
      isBare: repository.rootPath === repository.identityPath && branch.name !== WORKING_TREE,
      commit: branch.commit ?? "",
      ...place,
    }),
    score: passage.score,
    last_updated: isoTime(file.changedAtMs ?? branch.indexedAtMs ?? 0),
    line_start: lineStart,
    line_end: lineEnd,
    headings,
  }
}
