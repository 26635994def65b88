/**
 * A store of memories of any size, opened in the benchmark's own process: filled in big transactions with all
 * that a created memory has, and beside it the bare tables that searching is compared with.
 */

import { randomUUID } from "node:crypto"
import { dirname } from "node:path"
import BetterSqlite3 from "better-sqlite3"
import { load as loadVectorFunctions } from "sqlite-vec"
import { openAppAlone } from "../../src/app.ts"
import { readConfig } from "../../src/config/config.ts"
import { toBits } from "../../src/domain/embedding/quantise.ts"
import { indexableMemoryText, queryWords } from "../../src/domain/memory/words.ts"
import { contentWords } from "../../src/domain/text/content-words.ts"
import { DAY_MS } from "../../src/domain/time-units.ts"
import type { Embedder } from "../../src/embed/embedder.ts"
import type { App } from "../../src/operations/app.ts"
import { commandCall } from "../../src/operations/caller.ts"
import { activeModel } from "../../src/operations/embedding/memories.ts"
import { localKey } from "../../src/operations/keys.ts"
import { putMemory } from "../../src/operations/memory/memories.ts"
import type { TenantContext } from "../../src/operations/operation.ts"
import { putEmbedding } from "../../src/store/memory/embeddings.ts"
import { putWaypoint } from "../../src/store/memory/waypoints.ts"
import { insertRepository } from "../../src/store/repositories.ts"
import { type CorpusMemory, memoryAt } from "./memory-corpus.ts"
import { seeded } from "./numbers.ts"

const MEMORIES_PER_TRANSACTION = 1_000
/** A memory is connected with this many of its topic that came before it, and with as many that come after. */
const WAYPOINTS_BACK = 4
const BASELINE_DEPTH = 200

/** Everything of a memory but its number in the database. */
interface Prepared {
  memory: CorpusMemory
  uuid: string
  vectors: Float32Array[]
}

export class MemoryStore {
  readonly app: App
  readonly uuids: string[] = []
  readonly baseline: Baseline
  readonly #own: Omit<TenantContext, "nowMs">
  readonly #embedder: Embedder
  readonly #modelId: number
  readonly #latestOfTopic = new Map<number, number[]>()

  private constructor(
    own: Omit<TenantContext, "nowMs">,
    embedder: Embedder,
    modelId: number,
    base: Baseline,
  ) {
    this.app = own.app
    this.#own = own
    this.#embedder = embedder
    this.#modelId = modelId
    this.baseline = base
  }

  /** Opens an empty store with one repository. */
  static async open(databasePath: string, baselinePath: string): Promise<MemoryStore> {
    const folder = dirname(databasePath)
    const env = { SIGNALBOX_DB: databasePath, SIGNALBOX_LOG: "error", SIGNALBOX_LIMITS: "off" }
    const app = await openAppAlone(readConfig({ env, workingFolder: folder, home: folder }))
    const key = await localKey(app)
    const repository = await app.db.transaction("repositories", (tx) =>
      insertRepository(
        tx,
        { name: "bench", rootPath: folder, identityPath: folder, defaultBranch: null, ignoreCase: false },
        app.now(),
      ),
    )
    const model = await activeModel(app.db)
    const embedder = await app.embedders.load(model)
    return new MemoryStore(
      { ...commandCall(app), key, repository },
      embedder,
      model.id,
      new Baseline(baselinePath),
    )
  }

  get repositoryId(): number {
    return this.#own.repository.id
  }

  /** Returns the context of one call, as an interface would make it. */
  context(): TenantContext {
    return { ...this.#own, nowMs: this.app.now() }
  }

  /** Embeds a question; the corpus has none that the model cannot embed. */
  async vectorOf(question: string): Promise<Float32Array> {
    const vector = await this.#embedder.embedQuery(question)
    if (vector === null) throw new Error(`the model knows nothing of: ${question}`)
    return vector
  }

  /** Adds memories of the corpus until there are `count`. */
  async grow(count: number): Promise<void> {
    while (this.uuids.length < count) {
      const from = this.uuids.length
      const length = Math.min(MEMORIES_PER_TRANSACTION, count - from)
      const memories = Array.from({ length }, (_, index) => memoryAt(from + index))
      const embedded = await this.#embedder.embedPassages(memories.map(({ content }) => content))
      const batch = memories.map((memory, index) => ({
        memory,
        uuid: randomUUID(),
        vectors: embedded[index] ?? [],
      }))
      await this.#store(batch)
      this.baseline.add(batch)
      for (const { uuid } of batch) this.uuids.push(uuid)
    }
  }

  async close(): Promise<void> {
    this.baseline.close()
    await this.app.close()
  }

  #store(batch: readonly Prepared[]): Promise<void> {
    const { app, repositoryId } = this
    const nowMs = app.now()
    const space = { repositoryId, modelId: this.#modelId }
    return app.db.transaction("bench", async (tx) => {
      for (const { memory, uuid, vectors } of batch) {
        const { content, sector, tags, salience, ageDays, topic } = memory
        const createdAtMs = Math.round(nowMs - ageDays * DAY_MS)
        const id = await putMemory(tx, app, {
          uuid,
          repositoryId,
          content,
          sector,
          salience: { base: salience, anchorMs: createdAtMs, stability: 1 },
          accessCount: 0,
          tags,
          source: null,
          metadata: {},
          createdAtMs,
          updatedAtMs: createdAtMs,
          lastAccessedAtMs: null,
        })
        await app.memories.putVectors(tx, space, id, vectors)
        await putEmbedding(tx, id, this.#modelId, "completed", vectors.length)
        const random = seeded(id)
        for (const other of this.#connect(topic, id))
          await putWaypoint(tx, repositoryId, this.#modelId, [id, other], 0.5 + 0.5 * random())
      }
    })
  }

  /** Returns the latest memories of a topic, to which this one is added. */
  #connect(topic: number, id: number): number[] {
    const latest = this.#latestOfTopic.get(topic) ?? []
    this.#latestOfTopic.set(topic, [id, ...latest].slice(0, WAYPOINTS_BACK))
    return latest
  }
}

/** The same words and vectors in bare tables, asked with as little as possible around the question. */
export class Baseline {
  readonly #db: BetterSqlite3.Database
  readonly #byWords: BetterSqlite3.Statement<[string, number]>
  readonly #byBits: BetterSqlite3.Statement<[Uint8Array, number]>

  constructor(path: string) {
    this.#db = new BetterSqlite3(path)
    this.#db.pragma("journal_mode = WAL")
    this.#db.pragma("synchronous = NORMAL")
    loadVectorFunctions(this.#db)
    this.#db.exec(`
      CREATE VIRTUAL TABLE texts USING fts5 (content, content = '', tokenize = 'porter ascii');
      CREATE TABLE vectors (id INTEGER PRIMARY KEY, bits BLOB NOT NULL);`)
    this.#byWords = this.#db.prepare(
      "SELECT rowid, rank FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?",
    )
    this.#byBits = this.#db.prepare(
      `SELECT id, vec_distance_hamming(vec_bit(bits), vec_bit(?)) AS distance FROM vectors
       ORDER BY distance LIMIT ?`,
    )
  }

  add(batch: readonly Prepared[]): void {
    const insertText = this.#db.prepare("INSERT INTO texts (rowid, content) VALUES (?, ?)")
    const insertVector = this.#db.prepare("INSERT INTO vectors (id, bits) VALUES (?, ?)")
    this.#db.transaction(() => {
      for (const { memory, vectors } of batch) {
        const [vector] = vectors
        if (vector === undefined) throw new Error(`the model knows nothing of: ${memory.content}`)
        const { lastInsertRowid: id } = insertVector.run(null, toBits(vector))
        insertText.run(id, indexableMemoryText(memory.content))
      }
    })()
  }

  /** Asks both tables for their best. */
  search(question: string, vector: Float32Array): void {
    const words = contentWords(queryWords(question))
    this.#byWords.all(words.map((word) => `"${word}"`).join(" OR "), BASELINE_DEPTH)
    this.#byBits.all(toBits(vector), BASELINE_DEPTH)
  }

  close(): void {
    this.#db.close()
  }
}
