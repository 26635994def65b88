/** Searching documentation: which branches a question goes to, what answers it, and where that stands. */

import type { Queries } from "../db/database.ts"
import { type StoredChunk, WORKING_TREE } from "../domain/documentation.ts"
import {
  type Candidate,
  type ChunkScores,
  chooseCandidates,
  type Judged,
  judge,
  prepareQuery,
  queryWeightOf,
  scoreChunks,
} from "../domain/documentation-ranking.ts"
import { indexTermsOf, queryTermsOf } from "../domain/documentation-terms.ts"
import type { StoredModel } from "../domain/embedding.ts"
import { hostLink } from "../domain/host-link.ts"
import { assemblePassages, type Passage, passageText } from "../domain/passage.ts"
import { builtinCosine } from "../domain/ranking.ts"
import { cosineAt } from "../domain/similarity.ts"
import { BUILTIN_MODEL } from "../embed/builtin.ts"
import { assert } from "../errors.ts"
import { MATCH_SIMILARITY_MIN } from "../limits.ts"
import type { NumberedCosine, VectorSpace } from "../search/index.ts"
import { findDocumentationBranch } from "../store/documentation.ts"
import { listChunks } from "../store/documents.ts"
import type { App } from "./app.ts"
import { AnswerCache } from "./documentation-cache.ts"
import { type SearchedBranch, searchedBranches } from "./documentation-scope.ts"
import { type LoadedView, loadView } from "./documentation-view.ts"
import { activeModel } from "./embedding.ts"
import type { CallContext } from "./operation.ts"
import { embedQueryWithin } from "./query-embedding.ts"

export interface DocumentationRequest {
  query: string
  limit: number
  /** A repository's id or name; all that the key permits unless given. */
  repository?: string | number | undefined
  /** The default branch of each repository unless given. */
  branch?: string | undefined
  /** Only one of the two ways to find candidates, to see what each contributes; both unless given. */
  using?: "words" | "vectors" | "fusion" | undefined
}

export interface DocumentationResult {
  /** The best passage, whole lines of the file, at most 2,000 characters. */
  content: string
  file: string
  repository: string
  branch: string
  url: string
  /** 0 to 1, comparable between queries. */
  score: number
  lastUpdatedMs: number
  lineStart: number
  lineEnd: number
  headings: readonly string[]
}

export interface DocumentationAnswer {
  results: DocumentationResult[]
  /** Chunks that match, before the limit. */
  total: number
  isCached: boolean
  /** What is not searched yet, as sentences. */
  notes: string[]
}

/** How many of the nearest chunks are looked at. */
const NEAREST = 50
/** For so many times as many chunks as results are wanted, what stands around them is read: some become no result. */
const SURROUNDED_FACTOR = 3
/** Chunks that are read before and behind such a one. */
const AROUND = 4

/** What can be answered again, for as long as nothing has changed that it depends on. */
type FoundAnswer = Omit<DocumentationAnswer, "isCached" | "notes">

const cache = new AnswerCache<FoundAnswer>()

/**
 * Finds the passages that answer a question best. Fails with `not_found` for an unknown repository or branch, and
 * with `forbidden` for one that the key does not permit.
 */
export async function searchDocumentation(
  context: CallContext,
  request: DocumentationRequest,
): Promise<DocumentationAnswer> {
  for (let attempt = 1; ; attempt += 1) {
    const { branches, notes } = await searchedBranches(context, request)
    const key = await answerKey(context.app, request, branches)
    const known = cache.get(context.app.db, key)
    if (known !== undefined) return { ...known, isCached: true, notes }
    const answer = await answerFrom(context.app, request, branches)
    // A branch that turned to another commit meanwhile would give texts of the one under links to the other.
    const isOfOneState = await areUnchanged(context.app, branches)
    if (isOfOneState) cache.put(context.app.db, key, answer)
    if (isOfOneState || attempt === ATTEMPTS_MAX) return { ...answer, isCached: false, notes }
  }
}

/** Branches turn so rarely that a second attempt is nearly always one too many already. */
const ATTEMPTS_MAX = 3

async function areUnchanged({ db }: App, branches: readonly SearchedBranch[]): Promise<boolean> {
  for (const { branch } of branches) {
    const now = await findDocumentationBranch(db, branch.repositoryId, branch.name)
    if (now?.version !== branch.version) return false
  }
  return true
}

/** Returns all that an answer depends on. */
async function answerKey(
  { db }: App,
  { query, limit, using }: DocumentationRequest,
  branches: readonly SearchedBranch[],
): Promise<string> {
  const state = branches.map(({ repository, branch, documented }) => [
    ...[branch.id, branch.version, documented.vectorsVersion],
    // They stand in the results too.
    ...[repository.name, documented.cloneUrl ?? documented.remoteUrl],
  ])
  return JSON.stringify([query, limit, using ?? "", (await activeModel(db)).id, state])
}

async function answerFrom(
  app: App,
  request: DocumentationRequest,
  branches: readonly SearchedBranch[],
): Promise<FoundAnswer> {
  const model = await activeModel(app.db)
  const found = await Promise.all(branches.map((searched) => searchBranch(app, model, request, searched)))
  const best = found
    .flatMap(({ passages }) => passages)
    .sort((one, other) => other.passage.score - one.passage.score)
    .slice(0, request.limit)
  return { results: best.map(resultOf), total: found.reduce((sum, { total }) => sum + total, 0) }
}

interface FoundPassage {
  searched: SearchedBranch
  view: LoadedView
  chunks: ReadonlyMap<number, StoredChunk>
  passage: Passage
}

/** Everything that is found on one branch. */
async function searchBranch(
  app: App,
  model: StoredModel,
  { query, limit, using }: DocumentationRequest,
  searched: SearchedBranch,
): Promise<{ passages: FoundPassage[]; total: number }> {
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
  const chosen = chooseCandidates(scores, onBuiltinScale(model, nearest))
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
  const judged = using === undefined ? judge(prepared, read, cosines) : judgePlainly(using, read)
  await readAround(db, repositoryId, view, chunks, judged.slice(0, SURROUNDED_FACTOR * limit))
  const passages = assemblePassages(judged, (file) => fileChunks(view, chunks, file), limit)
  return {
    passages: passages.map((passage) => ({ searched, view, chunks, passage })),
    total: countMatches(model, scores, nearest, passages),
  }
}

/** What one way alone says of candidates, or both as shares of their best: 0.7 and 0.3, measured on documentation. */
function judgePlainly(
  using: "words" | "vectors" | "fusion",
  candidates: readonly Candidate[],
): Pick<Judged, "number" | "file" | "score">[] {
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

/** Chunks with a word of the query, and those without one that mean nearly the same; at least those shown. */
function countMatches(
  { calibration }: StoredModel,
  { scores, matches }: ChunkScores,
  nearest: readonly NumberedCosine[],
  passages: readonly Passage[],
): number {
  const cosineMin = cosineAt(MATCH_SIMILARITY_MIN, calibration)
  const byMeaning = nearest.filter(({ number, cosine }) => cosine > cosineMin && (scores[number] ?? 0) === 0)
  const shown = passages.reduce((sum, { numbers }) => sum + numbers.length, 0)
  return Math.max(matches + byMeaning.length, shown)
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
  best: readonly Pick<Judged, "number" | "file">[],
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

function resultOf({ searched, view, chunks, passage }: FoundPassage): DocumentationResult {
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
    lastUpdatedMs: file.changedAtMs ?? branch.indexedAtMs ?? 0,
    lineStart,
    lineEnd,
    headings,
  }
}
