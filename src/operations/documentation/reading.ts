/** Reads the contents that a branch needs and stores them bit by bit, so that a process that goes on finds them. */

import { BRANCH_CHUNKS_MAX } from "../../config/limits.ts"
import type { Queries } from "../../db/database.ts"
import type { DocumentationBranch, IndexingWork } from "../../domain/documentation/documentation.ts"
import type { Repository } from "../../domain/project.ts"
import {
  type IndexedDocument,
  MISSING,
  nothing,
  READER_VERSION,
  type ReadDocument,
  TOO_LARGE,
  withTerms,
} from "../../indexing/read-document.ts"
import { putDocumentationBranch, putIndexingWork } from "../../store/documentation/documentation.ts"
import {
  countBranchFiles,
  countFileChunks,
  findBlob,
  MISSING_PREFIX,
  putBranchFile,
} from "../../store/documentation/documents.ts"
import type { App } from "../app.ts"
import { type ReadContent, storeContents } from "./contents.ts"
import { DocumentReader, type ReaderLimits } from "./document-reader.ts"
import type { DocumentRules } from "./rules.ts"
import type { DocumentSource, SourceContent, SourceEntry } from "./source.ts"

/** What is read of one branch at most, and what reading a document may take; less in tests. */
export interface ReadingLimits extends ReaderLimits {
  entriesMax: number
  documentsMax: number
  chunksMax: number
}

/** How one run goes about its work. */
export interface IndexingRun {
  app: App
  rules: DocumentRules
  limits: Partial<ReadingLimits>
  /** Whether to stop at the next moment that leaves everything in order. */
  isStopped(): boolean
  /** Ends the programs that read for this run. */
  signal: AbortSignal
  onProgress?(repository: Repository, work: IndexingWork): void
}

/** The same for one branch. */
export interface BranchRun extends IndexingRun {
  repository: Repository
  source: DocumentSource
  branch: DocumentationBranch
}

/** What differs between the stored files of a branch and those of a commit. */
export interface BranchChanges {
  /** The commit that the stored files are of, when only what differs from it was looked at. */
  since: string | null
  put: { path: string; key: string; entry: SourceEntry }[]
  removed: string[]
}

/**
 * Contents that are stored together: few enough that no other process waits long for the database, and so many that the
 * words which they share are written once.
 */
const CHUNKS_AT_ONCE = 800
const FILES_AT_ONCE = 200
/** Other work of the process gets its turn this often. */
const TURN_MS = 20

/** A branch with more than is read of one; the message is what is to be told of it. */
export class BranchTooLarge extends Error {
  constructor(max: number, what: string) {
    super(`is too large to be searched: it has more than ${max.toLocaleString("en-US")} ${what}`)
    this.name = "BranchTooLarge"
  }
}

/** Names the content of an entry and how it is read; null when it is no documentation. */
export function keyOf(
  rules: DocumentRules,
  { kind, path, hash, bytes, isOddName }: SourceEntry,
): string | null {
  if (kind === "submodule") return rules.isFolderWanted(path) ? `${hash}:submodule:${READER_VERSION}` : null
  const format = rules.formatOf(path)
  if (format === null) return null
  if (isOddName) return `odd-name:${READER_VERSION}`
  if (hash === null) return `${kind === "file" ? `large-${bytes}` : kind}:${READER_VERSION}`
  return `${hash}:${kind === "file" ? format : kind}:${READER_VERSION}`
}

/** Reads and stores all contents that are new; returns the ids of all by key, or undefined when it was stopped. */
export async function readContents(
  run: BranchRun,
  changes: BranchChanges,
  commit: string,
): Promise<Map<string, number> | undefined> {
  const { app, repository, source } = run
  const { put } = changes
  const ids = new Map<string, number>()
  const unread = new Map<string, SourceEntry>()
  for (const { key, entry } of put) {
    if (ids.has(key) || unread.has(key)) continue
    const id = await findBlob(app.db, repository.id, key)
    if (id === undefined) unread.set(key, entry)
    else ids.set(key, id)
  }
  const countPieces = await app.embedders.pieceCounter()
  const committedAtMs = run.branch.isComplete ? null : await source.committedAt(commit)
  const batch = new ContentBatch(run, put, commit, committedAtMs, ids)
  const entries = [...unread.values()]
  await batch.begin(put.length - entries.length, put.length)
  const keys = [...unread.keys()]
  const files = entries.map((entry, index) => ({ entry, key: keys[index] ?? "" }))
  const readable = files.filter(({ entry }) => isReadable(entry))
  for (const { entry, key } of files)
    if (!isReadable(entry)) await batch.add({ key, ...withTerms(unreadable(entry)) })
  const chunksBefore = await countUnchangedChunks(run, changes)
  const reader = new DocumentReader(countPieces, run.signal, run.limits)
  try {
    await addReadable(run, batch, readable, { reader, chunksBefore })
  } catch (error) {
    // The end of a run also ends the process that reads for it.
    if (!run.isStopped()) throw error
  } finally {
    reader.close()
  }
  // What was read is not read again, even when this ends here.
  await batch.flush()
  return run.isStopped() ? undefined : ids
}

/** Counts the chunks of a branch that stay; none of one that is read from its beginning once more. */
async function countUnchangedChunks(
  { app, branch }: BranchRun,
  { since, put, removed }: BranchChanges,
): Promise<number> {
  if (branch.isComplete && since === null) return 0
  let { chunks } = await countBranchFiles(app.db, branch.id)
  for (const path of new Set([...removed, ...put.map((file) => file.path)]))
    chunks -= await countFileChunks(app.db, branch.id, path)
  return chunks
}

async function addReadable(
  { app, repository, source, rules, signal, isStopped, limits }: BranchRun,
  batch: ContentBatch,
  files: readonly { entry: SourceEntry; key: string }[],
  { reader, chunksBefore }: { reader: DocumentReader; chunksBefore: number },
): Promise<void> {
  const { chunksMax = BRANCH_CHUNKS_MAX } = limits
  let chunks = chunksBefore
  const entries = files.map(({ entry }) => entry)
  let at = 0
  for await (const content of source.contents(entries, signal)) {
    const file = files[at]
    at += 1
    if (isStopped()) return
    const format = file && rules.formatOf(file.entry.path)
    if (file === undefined || format === null || format === undefined) continue
    const read = await readContent(file.key, content, (bytes) => reader.read(format, bytes))
    chunks += read.chunks.length
    if (read.problem !== null) {
      const { path } = file.entry
      app.log.warn("a document is left out", { repository: repository.name, path, problem: read.problem })
    }
    if (chunks > chunksMax) throw new BranchTooLarge(chunksMax, "passages")
    await batch.add(read)
  }
}

/** Reads a content; what is not there is no property of it, so it is stored under another key. */
async function readContent(
  key: string,
  content: SourceContent,
  read: (bytes: Uint8Array) => Promise<IndexedDocument>,
): Promise<ReadContent> {
  if (content === "missing")
    return { key, ...withTerms(nothing(MISSING)), storedAs: `${MISSING_PREFIX}${key}` }
  return { key, ...(content === "too large" ? withTerms(nothing(TOO_LARGE)) : await read(content)) }
}

function isReadable({ kind, hash, isOddName }: SourceEntry): boolean {
  return kind === "file" && hash !== null && !isOddName
}

function unreadable({ kind, isOddName }: SourceEntry): ReadDocument {
  const problems = {
    file: TOO_LARGE,
    link: "is a symbolic link, which is not followed",
    submodule: "is a submodule: connect its repository by itself",
    unreadable: "cannot be read: check its permissions",
  }
  return nothing(isOddName ? "has a name that is not UTF-8" : problems[kind])
}

/** Gathers what was read, and stores it when there is enough. */
class ContentBatch {
  readonly #run: BranchRun
  readonly #commit: string
  /** No file of it was changed later; when exactly is found out at the end. */
  readonly #committedAtMs: number | null
  readonly #ids: Map<string, number>
  /** The paths that wait for a content, while files come in one by one. */
  readonly #pathsOf = new Map<string, string[]>()
  #contents: ReadContent[] = []
  #chunks = 0
  #done = 0
  #total = 0
  #turnAtMs = performance.now()

  constructor(
    run: BranchRun,
    put: BranchChanges["put"],
    commit: string,
    committedAtMs: number | null,
    ids: Map<string, number>,
  ) {
    this.#run = run
    this.#commit = commit
    this.#committedAtMs = committedAtMs
    this.#ids = ids
    if (run.branch.isComplete) return
    for (const { key, path } of put) {
      const paths = this.#pathsOf.get(key)
      if (paths === undefined) this.#pathsOf.set(key, [path])
      else paths.push(path)
    }
  }

  /** Puts the files in whose contents were there before. */
  async begin(done: number, total: number): Promise<void> {
    this.#done = done
    this.#total = total
    await this.#store([...this.#ids.keys()])
  }

  async add(content: ReadContent): Promise<void> {
    this.#contents.push(content)
    this.#chunks += content.chunks.length
    this.#done += 1
    if (this.#chunks >= CHUNKS_AT_ONCE || this.#contents.length >= FILES_AT_ONCE) await this.flush()
    if (performance.now() - this.#turnAtMs < TURN_MS) return
    await new Promise((resolve) => setImmediate(resolve))
    this.#turnAtMs = performance.now()
  }

  async flush(): Promise<void> {
    const contents = this.#contents
    this.#contents = []
    this.#chunks = 0
    await this.#store(
      contents.map(({ key }) => key),
      contents,
    )
  }

  async #store(keys: readonly string[], contents: readonly ReadContent[] = []): Promise<void> {
    const { app, repository, branch, onProgress } = this.#run
    const work: IndexingWork = {
      phase: "reading",
      branch: branch.name,
      done: this.#done,
      total: this.#total,
      updatedAtMs: app.now(),
    }
    await app.db.transaction(`documentation:${repository.id}`, async (tx) => {
      for (const [key, id] of await storeContents(tx, app, repository.id, contents)) this.#ids.set(key, id)
      if (!branch.isComplete && keys.length > 0) await this.#putFiles(tx, keys)
      await putIndexingWork(tx, repository.id, work)
    })
    onProgress?.(repository, work)
  }

  async #putFiles(tx: Queries, keys: readonly string[]): Promise<void> {
    const { branch, rules } = this.#run
    for (const key of keys) {
      const blobId = this.#ids.get(key)
      if (blobId === undefined) continue
      for (const path of this.#pathsOf.get(key) ?? [])
        await putBranchFile(tx, branch.id, { path, blobId, changedAtMs: this.#committedAtMs })
    }
    await putDocumentationBranch(tx, {
      ...branch,
      commit: this.#commit,
      rules: rules.name,
      isComplete: false,
    })
  }
}
