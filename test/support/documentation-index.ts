/**
 * An index of documentation for tests, and all that is stored of it, read without the product's operations: as a
 * dump that is equal whenever the same can be found, and as a list of what does not fit together.
 */

import { join } from "node:path"
import BetterSqlite3 from "better-sqlite3"
import { expect, onTestFinished } from "vitest"
import { openAppAlone } from "../../src/app.ts"
import { readConfig } from "../../src/config/config.ts"
import { chunkTerms, embeddedText } from "../../src/domain/documentation/terms.ts"
import type { StoredModel } from "../../src/domain/embedding/embedding.ts"
import { toBits, toInt8 } from "../../src/domain/embedding/quantise.ts"
import type { App } from "../../src/operations/app.ts"
import { commandCall } from "../../src/operations/caller.ts"
import { type IndexingOptions, runIndexing } from "../../src/operations/documentation/indexing.ts"
import { connectRepository } from "../../src/operations/documentation/repositories.ts"
import type { FoundPassage } from "../../src/operations/documentation/results.ts"
import { searchDocumentation } from "../../src/operations/documentation/search.ts"
import { activeModel } from "../../src/operations/embedding/memories.ts"
import { localKey } from "../../src/operations/keys.ts"
import { createLog } from "../../src/runtime/log.ts"
import { DENSE_BLOCK_SLOTS } from "../../src/search/dense-bits.ts"
import { decodePostings } from "../../src/search/postings.ts"
import { BUILTIN } from "./builtin.ts"
import { temporaryFolder } from "./temporary-folder.ts"
import { START_MS } from "./world.ts"

/** An app with a database of its own, in which nothing is connected. */
export class Index {
  readonly app: App
  #isOpen = true

  constructor(app: App) {
    this.app = app
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    await this.app.close()
  }

  /** Connects a folder and reads it; returns its id. */
  async add(target: string, ...branches: string[]): Promise<number> {
    const id = await this.connect(target, ...branches)
    await this.sync()
    return id
  }

  async connect(target: string, ...branches: string[]): Promise<number> {
    return (await connectRepository(this.app, { target, branches })).id
  }

  /** Brings everything up to date. */
  async sync(options: IndexingOptions = {}): Promise<void> {
    expect(await runIndexing(this.app, options)).toBe("done")
  }

  async search(
    query: string,
    { repository, ...place }: Place = {},
  ): Promise<{ results: FoundPassage[]; notes: string[] }> {
    const { app } = this
    const context = { ...commandCall(app), key: await localKey(app), nowMs: app.now() }
    const named = repository === undefined ? {} : { repository: String(repository) }
    const { results, meta } = await searchDocumentation(context, { query, limit: 10, ...named, ...place })
    return { results, notes: meta.notes ?? [] }
  }

  /** The files in which a query is found by its words, each once, by path. */
  async filesWith(query: string, place: Place = {}): Promise<string[]> {
    const { results } = await this.search(query, { using: "words", ...place })
    return [...new Set(results.map(({ file }) => file))].sort()
  }
}

interface Place {
  repository?: string | number
  branch?: string
  using?: "words" | "vectors" | "fusion"
  limit?: number
}

interface IndexOptions {
  /** An existing database, or where one is to be; a new one unless given. */
  databasePath?: string
  /** Globs that are ignored besides the usual ones. */
  ignored?: readonly string[]
}

/** Opens an index that is closed when the test ends. */
export async function openIndex({ databasePath, ignored = [] }: IndexOptions = {}): Promise<Index> {
  const home = temporaryFolder()
  const env = { SIGNALBOX_DB: databasePath ?? join(home, "signalbox.db"), SIGNALBOX_LIMITS: "off" }
  const config = readConfig({ env, home, workingFolder: home })
  const logged: string[] = []
  const app = await openAppAlone(
    { ...config, ignoredDocuments: [...config.ignoredDocuments, ...ignored] },
    { log: createLog("error", (line) => logged.push(line)), now: () => START_MS, builtin: BUILTIN },
  )
  const index = new Index(app)
  onTestFinished(async () => {
    await index.close()
    expect(logged).toEqual([])
  })
  return index
}

/** A chunk, and everything it is found by. */
interface DumpedChunk {
  lines: string
  headings: string[]
  context: string
  text: string
  /** Each term with its counts. */
  terms: string[]
  /** By the name of the model, in hexadecimal. */
  vectors: Record<string, string>
}

interface DumpedFile {
  key: string
  title: string | null
  problem: string | null
  changedAtMs: number | null
  chunks: DumpedChunk[]
}

/** By the name of a branch, and by path. */
export type Dump = Record<string, { commit: string | null; files: Record<string, DumpedFile> }>

/** Returns everything that is stored of a repository, without ids and numbers. */
export function indexOf(app: App, repositoryId: number): Dump {
  const rows = new StoredRows(app.config.databasePath, repositoryId)
  try {
    const branches = rows.branches.map(({ id, name, commit_hash }) => {
      const files = rows.files
        .filter(({ branch_id }) => branch_id === id)
        .map(({ path, blob_id, changed_at_ms }) => {
          const blob = rows.blob(blob_id)
          const { key = "", title = null, problem = null } = blob ?? {}
          const chunks = rows.chunks.filter((chunk) => chunk.blob_id === blob_id)
          const dumped = chunks.map((chunk) => rows.dumped(chunk))
          return [path, { key, title, problem, changedAtMs: changed_at_ms, chunks: dumped }] as const
        })
      return [name, { commit: commit_hash, files: Object.fromEntries(files) }] as const
    })
    return Object.fromEntries(branches)
  } finally {
    rows.close()
  }
}

/** Fails the test unless everything that is stored of documentation fits together and nothing is left to be done. */
export async function expectSound(app: App): Promise<void> {
  const model = await activeModel(app.db)
  const db = new BetterSqlite3(app.config.databasePath, { readonly: true })
  const faults: string[] = []
  try {
    for (const [name, sql] of Object.entries(CONTRADICTIONS))
      for (const row of db.prepare(sql).all()) faults.push(`${name}: ${JSON.stringify(row)}`)
    const damage = db.pragma("integrity_check", { simple: true })
    if (damage !== "ok") faults.push(`damaged: ${damage}`)
    for (const row of db.pragma("foreign_key_check") as object[])
      faults.push(`no parent: ${JSON.stringify(row)}`)
    const ids = db.prepare<[], number>("SELECT repository_id FROM documentation_repositories").pluck().all()
    for (const id of ids) {
      const rows = new StoredRows(app.config.databasePath, id)
      faults.push(...rows.wrongTerms(), ...rows.wrongBits(), ...(await wrongVectors(app, rows, model)))
      rows.close()
    }
  } finally {
    db.close()
  }
  expect(faults).toEqual([])
}

/** Queries whose every row is a contradiction, or work that is left. */
const CONTRADICTIONS: Record<string, string> = {
  "a chunk without its content": `
    SELECT c.number, c.blob_id FROM documentation_chunks c WHERE NOT EXISTS (
      SELECT 1 FROM documentation_blobs b WHERE b.id = c.blob_id AND b.repository_id = c.repository_id
        AND c.number >= b.first_number AND c.number < b.first_number + b.chunk_count)`,
  "a content with other chunks than it counts": `
    SELECT b.id, b.key FROM documentation_blobs b WHERE b.chunk_count <> json_array_length(b.chunk_lengths)
      OR b.chunk_count <> (SELECT count(*) FROM documentation_chunks c WHERE c.blob_id = b.id)`,
  "a content that no file has": `
    SELECT id, key FROM documentation_blobs WHERE id NOT IN (SELECT blob_id FROM documentation_files)`,
  "a file with a content of another repository": `
    SELECT f.path FROM documentation_files f JOIN documentation_branches r ON r.id = f.branch_id
      JOIN documentation_blobs b ON b.id = f.blob_id WHERE b.repository_id <> r.repository_id`,
  "a file without its branch": `
    SELECT path FROM documentation_files WHERE branch_id NOT IN (SELECT id FROM documentation_branches)`,
  "a file that is not dated": "SELECT path FROM documentation_files WHERE changed_at_ms IS NULL",
  "a branch that is not read": "SELECT name FROM documentation_branches WHERE is_complete = 0",
  "a branch of a repository that is not searched": `
    SELECT name FROM documentation_branches
    WHERE repository_id NOT IN (SELECT repository_id FROM documentation_repositories)`,
  "something of a repository that is not searched": `
    SELECT repository_id, count(*) FROM (
      SELECT repository_id FROM documentation_blobs UNION ALL SELECT repository_id FROM documentation_chunks
      UNION ALL SELECT repository_id FROM document_postings UNION ALL SELECT repository_id FROM document_bits
      UNION ALL SELECT repository_id FROM document_vectors)
    WHERE repository_id NOT IN (SELECT repository_id FROM documentation_repositories) GROUP BY repository_id`,
  "a number that was never given": `
    SELECT c.number FROM documentation_chunks c JOIN documentation_repositories r USING (repository_id)
    WHERE c.number > r.last_number OR c.number < 1`,
  "work that is left": "SELECT repository_id, work FROM documentation_repositories WHERE work IS NOT NULL",
  "a content without vectors of the active model": `
    SELECT id, key FROM documentation_blobs WHERE chunk_count > 0
      AND model_id IS NOT (SELECT id FROM embedding_models WHERE state = 'active')`,
  "a vector without a chunk": `
    SELECT repository_id, number FROM document_vectors EXCEPT
    SELECT repository_id, number FROM documentation_chunks`,
  "a vector of a model that is not in use": `
    SELECT model_id, count(*) FROM (
      SELECT model_id FROM document_vectors UNION ALL SELECT model_id FROM document_bits)
    WHERE model_id IN (SELECT id FROM embedding_models WHERE state = 'retired') GROUP BY model_id`,
}

/** The chunks whose vector is not the one that the model makes of their text. */
async function wrongVectors(app: App, rows: StoredRows, model: StoredModel): Promise<string[]> {
  if (rows.chunks.length === 0) return []
  const embedder = await app.embedders.load(model)
  const texts = rows.chunks.map((chunk) => embeddedText(rows.embedded(chunk)))
  const vectors = await embedder.embedPassages(texts)
  return rows.chunks.flatMap((chunk, index) => {
    const vector = vectors[index]?.[0]
    const expected = vector === undefined ? undefined : Buffer.from(toInt8(vector).buffer).toString("hex")
    const stored = rows.vectors.get(`${model.id}/${chunk.number}`)?.toString("hex")
    return stored === expected ? [] : [`chunk ${chunk.number} has another vector than its text`]
  })
}

type BranchRow = { id: number; name: string; commit_hash: string | null }
type FileRow = { branch_id: number; path: string; blob_id: number; changed_at_ms: number | null }
type BlobRow = {
  id: number
  key: string
  title: string | null
  problem: string | null
  chunk_lengths: string
}
type ChunkRow = {
  number: number
  blob_id: number
  line_start: number
  line_end: number
  headings: string
  context: string
  content: string
}
type PostingsRow = { term: string; blockNo: number; data: Buffer }
type BitsRow = { model_id: number; block_no: number; bits: Buffer }
type VectorRow = { model_id: number; number: number; vector: Buffer }

/** All rows of one repository. */
class StoredRows {
  readonly branches: BranchRow[]
  readonly files: FileRow[]
  readonly chunks: ChunkRow[]
  /** The counts of each term, by the number of the chunk. */
  readonly terms = new Map<number, Map<string, string>>()
  /** By model and number. */
  readonly vectors: Map<string, Buffer>
  readonly #blobs: Map<number, BlobRow>
  readonly #bits: BitsRow[]
  readonly #models: Map<number, string>
  readonly #db: BetterSqlite3.Database

  constructor(path: string, id: number) {
    const db = new BetterSqlite3(path, { readonly: true })
    this.#db = db
    const all = <T>(sql: string) => db.prepare<[number], T>(sql).all(id)
    this.branches = all("SELECT * FROM documentation_branches WHERE repository_id = ? ORDER BY name")
    this.files = all(`
      SELECT f.* FROM documentation_files f JOIN documentation_branches b ON b.id = f.branch_id
      WHERE b.repository_id = ? ORDER BY path`)
    this.chunks = all("SELECT * FROM documentation_chunks WHERE repository_id = ? ORDER BY number")
    const blobs = all<BlobRow>("SELECT * FROM documentation_blobs WHERE repository_id = ?")
    this.#blobs = new Map(blobs.map((blob) => [blob.id, blob]))
    const vectors = all<VectorRow>("SELECT * FROM document_vectors WHERE repository_id = ?")
    this.vectors = new Map(vectors.map((row) => [`${row.model_id}/${row.number}`, row.vector]))
    this.#bits = all("SELECT * FROM document_bits WHERE repository_id = ?")
    const models = db.prepare<[], { id: number; name: string }>("SELECT id, name FROM embedding_models").all()
    this.#models = new Map(models.map((model) => [model.id, model.name]))
    for (const row of all<PostingsRow>(
      "SELECT term, block_no AS blockNo, data FROM document_postings WHERE repository_id = ? ORDER BY block_no",
    ))
      this.#addPostings(row)
  }

  close(): void {
    this.#db.close()
  }

  blob(id: number): BlobRow | undefined {
    return this.#blobs.get(id)
  }

  dumped(chunk: ChunkRow): DumpedChunk {
    const vectors = [...this.#models].flatMap(([id, name]) => {
      const vector = this.vectors.get(`${id}/${chunk.number}`)
      return vector === undefined ? [] : [[name, vector.toString("hex")] as const]
    })
    return {
      lines: `${chunk.line_start}-${chunk.line_end}`,
      headings: JSON.parse(chunk.headings) as string[],
      context: chunk.context,
      text: chunk.content,
      terms: [...(this.terms.get(chunk.number) ?? [])].map((entry) => entry.join(" ")).sort(),
      vectors: Object.fromEntries(vectors),
    }
  }

  /** A chunk as its title, headings and text are embedded and counted. */
  embedded({ number, blob_id, line_start, line_end, headings, context, content }: ChunkRow) {
    const title = this.blob(blob_id)?.title ?? ""
    const place = { number, blobId: blob_id, lineStart: line_start, lineEnd: line_end }
    return { ...place, title, headings: JSON.parse(headings) as string[], context, text: content }
  }

  /** Where the index of words is not what the live chunks say. */
  wrongTerms(): string[] {
    const faults: string[] = []
    const left = new Set(this.terms.keys())
    const lengths = new Map<number, number[]>()
    for (const chunk of this.chunks) {
      left.delete(chunk.number)
      const { terms, length } = chunkTerms(this.embedded(chunk))
      lengths.set(chunk.blob_id, [...(lengths.get(chunk.blob_id) ?? []), length])
      const stored = this.terms.get(chunk.number) ?? new Map<string, string>()
      for (const term of new Set([...terms.keys(), ...stored.keys()])) {
        const expected = terms.get(term)?.join()
        if (expected === stored.get(term)) continue
        faults.push(`chunk ${chunk.number} has "${term}" ${stored.get(term)}, not ${expected}`)
      }
    }
    for (const number of left) faults.push(`the index has words of chunk ${number}, which is gone`)
    for (const [id, counted] of lengths) {
      const { key = "", chunk_lengths = "" } = this.blob(id) ?? {}
      if (JSON.stringify(counted) !== chunk_lengths) faults.push(`content ${key} has other lengths`)
    }
    return faults
  }

  /** Where bits and vectors do not agree, one to one. */
  wrongBits(): string[] {
    const faults: string[] = []
    const vectors = new Map(this.vectors)
    for (const { model_id, block_no, bits } of this.#bits) {
      const slotBytes = bits.length / DENSE_BLOCK_SLOTS
      if (bits.every((byte) => byte === 0)) faults.push(`block ${block_no} of model ${model_id} is empty`)
      for (let slot = 0; slot < DENSE_BLOCK_SLOTS; slot += 1) {
        const own = bits.subarray(slot * slotBytes, (slot + 1) * slotBytes)
        const place = `${model_id}/${block_no * DENSE_BLOCK_SLOTS + slot}`
        const vector = vectors.get(place)
        vectors.delete(place)
        if (!isOfSigns(own, vector)) faults.push(`the slot of ${place} has other bits than its vector`)
      }
    }
    return [...faults, ...[...vectors.keys()].map((place) => `the vector ${place} has no bits`)]
  }

  #addPostings({ term, blockNo, data }: PostingsRow): void {
    const { numbers, counts } = decodePostings([{ blockNo, data }])
    const width = counts.length / Math.max(1, numbers.length)
    for (const [at, number] of numbers.entries()) {
      const terms = this.terms.get(number) ?? new Map<string, string>()
      const own = counts.subarray(at * width, (at + 1) * width).join()
      const other = terms.get(term)
      terms.set(term, other === undefined ? own : `${other} and ${own}`)
      this.terms.set(number, terms)
    }
  }
}

/** Whether bits are the signs of a vector, and zeros without one; what was rounded to 0 may have had either sign. */
function isOfSigns(bits: Buffer, vector: Buffer | undefined): boolean {
  if (vector === undefined) return bits.every((byte) => byte === 0)
  const components = new Int8Array(vector.buffer, vector.byteOffset, vector.length)
  const signs = toBits(Float32Array.from(components))
  if (signs.every((byte) => byte === 0)) return bits.some((byte) => byte !== 0)
  return components.every((component, at) => {
    const bit = ((bits[at >> 3] ?? 0) >> (at & 7)) & 1
    return component === 0 || (bit === 1) === component > 0
  })
}
