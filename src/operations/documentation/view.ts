/**
 * What a search has to know of a branch before it asks the index: which chunks are on it, how long they are and
 * which files they belong to. Read once for each state of a branch, and kept for the searches that follow.
 */

import type { Database } from "../../db/database.ts"
import type { BranchFile, DocumentationBranch } from "../../domain/documentation/documentation.ts"
import type { BranchView } from "../../domain/documentation/ranking.ts"
import { pathTerms } from "../../domain/documentation/terms.ts"
import { listBranchFiles } from "../../store/documentation/documents.ts"

/** A branch as the ranking sees it, and its files by their places. */
export interface LoadedView extends BranchView {
  files: readonly BranchFile[]
}

/** Chunks of the views that are kept; 50,000 take about 10 MB. */
const CHUNKS_KEPT_MAX = 1_000_000
const LENGTH_MAX = 65_535

const viewsOf = new WeakMap<Database, Map<string, LoadedView>>()

/** Returns the view of a branch in its present state. */
export async function loadView(db: Database, branch: DocumentationBranch): Promise<LoadedView> {
  const views = viewsOf.get(db) ?? new Map<string, LoadedView>()
  viewsOf.set(db, views)
  const key = `${branch.id}:${branch.version}`
  const known = views.get(key)
  if (known !== undefined) {
    views.delete(key)
    views.set(key, known)
    return known
  }
  const view = viewOf(await listBranchFiles(db, branch.id))
  for (const old of views.keys()) if (old.startsWith(`${branch.id}:`)) views.delete(old)
  views.set(key, view)
  let kept = [...views.values()].reduce((sum, { isLive }) => sum + isLive.length, 0)
  for (const [oldest, { isLive }] of views) {
    if (kept <= CHUNKS_KEPT_MAX || oldest === key) break
    views.delete(oldest)
    kept -= isLive.length
  }
  return view
}

/** Returns the view of some files; where two have one content, its chunks belong to the first. */
export function viewOf(files: readonly BranchFile[]): LoadedView {
  const last = files.reduce((max, file) => Math.max(max, file.firstNumber + file.chunkLengths.length - 1), 0)
  const isLive = new Uint8Array(last + 1)
  const lengths = new Uint16Array(last + 1)
  const fileOf = new Uint32Array(last + 1)
  let chunks = 0
  let words = 0
  for (const [place, { firstNumber, chunkLengths }] of files.entries()) {
    for (const [index, length] of chunkLengths.entries()) {
      const number = firstNumber + index
      if (isLive[number] === 1) continue
      isLive[number] = 1
      lengths[number] = Math.min(LENGTH_MAX, length)
      fileOf[number] = place
      chunks += 1
      words += length
    }
  }
  const paths = files.map(({ path }) => path)
  const filesByTerm = new Map<string, number[]>()
  for (const [place, path] of paths.entries()) {
    for (const term of termsOfPath(path)) {
      const places = filesByTerm.get(term)
      if (places === undefined) filesByTerm.set(term, [place])
      else places.push(place)
    }
  }
  return {
    files,
    isLive,
    lengths,
    fileOf,
    chunks,
    lengthMean: words / Math.max(1, chunks),
    paths,
    filesWith: (term) => filesByTerm.get(term) ?? [],
  }
}

/** Most paths of a branch stay when it moves on. */
const PATHS_REMEMBERED_MAX = 200_000
const rememberedTerms = new Map<string, ReadonlySet<string>>()

function termsOfPath(path: string): ReadonlySet<string> {
  const known = rememberedTerms.get(path)
  if (known !== undefined) return known
  const terms = new Set(pathTerms(path))
  if (rememberedTerms.size >= PATHS_REMEMBERED_MAX) rememberedTerms.clear()
  rememberedTerms.set(path, terms)
  return terms
}
