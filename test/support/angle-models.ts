/**
 * Embedding models for tests, made of what texts themselves say, and a world in which they take over from one
 * another: every text names the angle of its vector for each model, so that models disagree as a test wishes.
 */

import Database from "better-sqlite3"
import { expect } from "vitest"
import type { StoredModel } from "../../src/domain/embedding/embedding.ts"
import type { Memory } from "../../src/domain/memory/memory.ts"
import type { Embedder } from "../../src/embed/embedder.ts"
import { AppError } from "../../src/errors.ts"
import type { App } from "../../src/operations/app.ts"
import type { Call, Caller } from "../../src/operations/caller.ts"
import { embedWaiting, modelState, useModel } from "../../src/operations/embedding/models.ts"
import { localKey } from "../../src/operations/keys.ts"
import { listMemoryWaypoints } from "../../src/operations/memory/listing.ts"
import { createMemory, readMemory, requireMemory } from "../../src/operations/memory/memories.ts"
import type { FoundMemories } from "../../src/operations/memory/results.ts"
import { searchMemories } from "../../src/operations/memory/search.ts"
import type { TenantContext } from "../../src/operations/operation.ts"
import { type World, world } from "./world.ts"

/** Memories that are embedded together. */
export const EMBEDDED_TOGETHER = 16

/** A model of which every text names its vector: the first model takes the first angle of a text, and so on. */
class AngleModel implements Embedder {
  readonly model: Omit<StoredModel, "id" | "state">
  readonly #place: number
  readonly passages: string[] = []
  readonly queries: string[] = []
  isThere = true
  /** Called before texts are embedded; may take its time, or fail. */
  before: (texts: readonly string[]) => Promise<void> | void = () => {}

  constructor(name: string, place: number, dimensions: number) {
    this.model = { name, source: name, dimensions, calibration: { midpoint: 0.5, slope: 10 } }
    this.#place = place
  }

  vectorOf(text: string): Float32Array {
    const degrees = [...text.matchAll(/(-?\d+)°/g)].map(([, number]) => Number(number))[this.#place] ?? 0
    const radians = (degrees * Math.PI) / 180
    const parts = [Math.cos(radians), Math.sin(radians)]
    return Float32Array.from({ length: this.model.dimensions }, (_, at) => parts[at] ?? 0)
  }

  async embedPassages(texts: readonly string[]): Promise<Float32Array[][]> {
    await this.before(texts)
    this.passages.push(...texts)
    return texts.map((text) => [this.vectorOf(text)])
  }

  async embedQuery(text: string): Promise<Float32Array> {
    this.queries.push(text)
    return this.vectorOf(text)
  }

  async close(): Promise<void> {}
}

/** A point that work waits at until it is opened. */
export function gate() {
  let open = () => {}
  let reach = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const reached = new Promise<void>((resolve) => {
    reach = resolve
  })
  const wait = () => {
    reach()
    return opened
  }
  return { open: () => open(), reached, wait }
}

/** An app whose embedders are the given models, and in which no vector meets those of another model. */
function withModels(real: App, models: readonly AngleModel[]): App {
  const named = (name: string) => models.find(({ model }) => model.name === name)
  const fits = (modelId: number, vector: Float32Array) => {
    const stored = new Database(real.config.databasePath, { readonly: true })
    const sql = "SELECT dimensions FROM embedding_models WHERE id = ?"
    expect(vector.length, `a vector for model ${modelId}`).toBe(stored.prepare(sql).pluck().get(modelId))
    stored.close()
  }
  const { memories, embedders } = real
  return {
    ...real,
    memories: {
      ...memories,
      findNearest(db, modelId, vector, ...more) {
        fits(modelId, vector)
        return memories.findNearest(db, modelId, vector, ...more)
      },
      findNeighbours(db, space, vector, limit) {
        fits(space.modelId, vector)
        return memories.findNeighbours(db, space, vector, limit)
      },
      cosines(db, modelId, vector, ids) {
        fits(modelId, vector)
        return memories.cosines(db, modelId, vector, ids)
      },
    },
    embedders: {
      ...embedders,
      ready: (model) => {
        const own = named(model.name)
        return own === undefined ? embedders.ready(model) : own.isThere ? own : undefined
      },
      load: async (model) => {
        const own = named(model.name)
        if (own === undefined) return embedders.load(model)
        if (!own.isThere) throw new AppError("not_found", `the model '${model.name}' is not on this machine`)
        return own
      },
    },
  }
}

export class ModelRoom {
  readonly made: World
  readonly app: App
  readonly one = new AngleModel("one", 0, 16)
  readonly two = new AngleModel("two", 1, 8)
  readonly three = new AngleModel("three", 2, 24)
  readonly #caller: Caller
  readonly #key: TenantContext["key"]

  constructor(made: World, { app, caller }: Call, key: TenantContext["key"]) {
    this.made = made
    this.app = withModels(app, [this.one, this.two, this.three])
    this.#caller = caller
    this.#key = key
  }

  get context(): TenantContext {
    const { homeRepository: repository } = this.#caller
    if (repository === undefined) throw new Error("the world has a repository")
    return { app: this.app, caller: this.#caller, key: this.#key, nowMs: this.made.nowMs, repository }
  }

  async create(content: string): Promise<Memory> {
    const { id } = await createMemory(this.context, { content, sector: "semantic" })
    return requireMemory(this.app.db, this.context, id)
  }

  /** What is found, the best first; by both lists unless one is named. */
  async find(query: string, using?: "words" | "vectors"): Promise<FoundMemories["data"]> {
    const request = { query, limit: 100, expand_waypoints: false, max_hops: 0, explain: true, using }
    return (await searchMemories(this.context, request)).data
  }

  /** What is found by meaning alone, the nearest first. */
  async near(query: string): Promise<string[]> {
    return (await this.find(query, "vectors")).map(({ content }) => content)
  }

  async connected({ uuid }: Memory): Promise<string[]> {
    const { waypoints } = await listMemoryWaypoints(this.context, uuid, { limit: 100, min_weight: 0 })
    return waypoints.map(({ memory }) => memory.content)
  }

  async use(model: AngleModel): Promise<void> {
    await useModel(this.app, model.model)
    await embedWaiting(this.app)
    expect((await modelState(this.app.db)).active.name).toBe(model.model.name)
  }

  async status({ uuid }: Memory): Promise<string> {
    return (await readMemory(this.context, uuid)).embedding_status
  }

  rows<T>(sql: string, ...args: string[]): T[] {
    const db = new Database(this.made.databasePath, { readonly: true })
    try {
      return db.prepare<string[], T>(sql).all(...args)
    } finally {
      db.close()
    }
  }

  /** How many rows each model has in the tables of embeddings, vectors and waypoints; models without any are left out. */
  left(): Record<string, readonly number[]> {
    const rows = this.rows<{ name: string; embeddings: number; vectors: number; waypoints: number }>(
      `SELECT name, (SELECT count(*) FROM memory_embeddings WHERE model_id = m.id) AS embeddings,
         (SELECT count(*) FROM memory_vectors WHERE model_id = m.id) AS vectors,
         (SELECT count(*) FROM memory_waypoints WHERE model_id = m.id) AS waypoints FROM embedding_models m`,
    )
    return Object.fromEntries(
      rows
        .map(({ name, embeddings, vectors, waypoints }) => [name, [embeddings, vectors, waypoints]] as const)
        .filter(([, counts]) => counts.some((count) => count > 0)),
    )
  }

  /** What the index still finds of a model. */
  async indexed(model: AngleModel): Promise<number> {
    const [row] = this.rows<{ id: number }>(
      "SELECT id FROM embedding_models WHERE name = ?",
      model.model.name,
    )
    const space = { repositoryId: 1, modelId: row?.id ?? 0 }
    return (await this.app.memories.findNeighbours(this.app.db, space, model.vectorOf("0°"), 100)).length
  }
}

/** Makes a room in which the built-in model is active and nothing is remembered. */
export async function modelRoom(): Promise<ModelRoom> {
  const made = world()
  const session = await made.session()
  return new ModelRoom(made, session, await localKey(session.app))
}

/** Makes a room in which model one is active, and so many memories more than fill a batch, all of them far from 0°. */
export async function roomWithOne(more = EMBEDDED_TOGETHER): Promise<ModelRoom> {
  const where = await modelRoom()
  await useModel(where.app, where.one.model)
  for (let at = 0; at < more; at += 1) await where.create(`filler ${at} at 180° 180° 180°`)
  await embedWaiting(where.app)
  return where
}
