/** The memory API for tests: a caller with a key and a tenant, and what every answer of the API must look like. */

import { join } from "node:path"
import { expect } from "vitest"
import type { Sector } from "../../src/domain/memory/memory.ts"
import { productRoutes } from "../../src/http/index.ts"
import { expectCommonHeaders, type HttpEntry, type HttpReply, serveHttp } from "./http.ts"
import { initRepository } from "./templates.ts"
import { type Session, type World, type WorldOptions, world } from "./world.ts"

export const MEMORIES = "/api/v1/memories"
export const DAY_MS = 86_400_000
/** The id of no memory. */
export const NO_ID = "0192f5a0-7b3c-7c4e-9d2f-0123456789ab"

/** A memory as the API shows it. */
interface ShownMemory {
  id: string
  content: string
  sector: Sector
  salience: number
  access_count: number
  tags: string[]
  source: string | null
  metadata: Record<string, unknown>
  embedding_status: string
  created_at: string
  updated_at: string
  last_accessed_at: string | null
}
type FoundMemory = ShownMemory & { score: number; via?: string[]; explain?: Record<string, unknown> }
interface ShownWaypoint {
  connected_memory_id: string
  weight: number
  connected_memory: Pick<ShownMemory, "id" | "content" | "sector" | "salience">
}
export interface Reinforced {
  id: string
  old_salience: number
  new_salience: number
  profile_used: string
  boost_applied: number
}
interface Pruned {
  memories_pruned: number
  threshold_used: number
  sector_filter: string | null
  dry_run: boolean
}
export interface Statistics {
  total_memories: number
  by_sector: Record<Sector, number>
  avg_salience: number
  hot_memories: number
  total_waypoints: number
  embeddings_today: number
  storage_used_mb: number
}
export interface Page {
  data: ShownMemory[]
  meta: { next_cursor: string | null; prev_cursor: string | null; has_more: boolean }
}
export interface Found {
  data: FoundMemory[]
  meta: { total: number; search_time_ms: number; waypoints_expanded: boolean }
}

/** One caller of the API: all of its requests carry the same key and the same tenant. */
export class MemoryCaller {
  readonly http: HttpEntry
  readonly #headers: Record<string, string>
  readonly #key: string | null | undefined

  constructor(http: HttpEntry, headers: Record<string, string>, key?: string | null) {
    this.http = http
    this.#headers = headers
    this.#key = key
  }

  /** Sends a request below `/api/v1/memories`; the answer must have what every answer has. */
  async ask(method: string, path = "", body?: object | string | Buffer): Promise<HttpReply> {
    const key = this.#key === undefined ? {} : { key: this.#key }
    const headers = { ...this.#headers }
    const reply = await this.http.send(`${MEMORIES}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      ...key,
    })
    expectCommonHeaders(reply)
    return reply
  }

  async #good<Body>(status: number, reply: Promise<HttpReply>): Promise<Body> {
    const { status: got, text, json } = await reply
    expect(got, text).toBe(status)
    return json as Body
  }

  async #data<Data>(status: number, reply: Promise<HttpReply>): Promise<Data> {
    return (await this.#good<{ data: Data }>(status, reply)).data
  }

  create(draft: object): Promise<ShownMemory & { sector_inferred: boolean }> {
    return this.#data(201, this.ask("POST", "", draft))
  }

  /** Reads a memory, which counts as an access. */
  read(id: string): Promise<ShownMemory> {
    return this.#data(200, this.ask("GET", `/${id}`))
  }

  change(
    id: string,
    change: object,
  ): Promise<Pick<ShownMemory, "id" | "content" | "tags"> & { updated_at: string }> {
    return this.#data(200, this.ask("PATCH", `/${id}`, change))
  }

  async remove(id: string): Promise<void> {
    const { status, text } = await this.ask("DELETE", `/${id}`)
    expect({ status, text }).toEqual({ status: 204, text: "" })
  }

  reinforce(id: string, body?: object): Promise<Reinforced> {
    return this.#data(200, this.ask("POST", `/${id}/reinforce`, body))
  }

  waypoints(id: string, query = ""): Promise<{ data: ShownWaypoint[]; meta: { total_waypoints: number } }> {
    return this.#good(200, this.ask("GET", `/${id}/waypoints${query}`))
  }

  prune(body?: object): Promise<Pruned> {
    return this.#data(200, this.ask("POST", "/prune", body))
  }

  stats(): Promise<Statistics> {
    return this.#data(200, this.ask("GET", "/stats"))
  }

  list(query: Record<string, string> = {}): Promise<Page> {
    return this.#good(200, this.ask("GET", `?${new URLSearchParams(query)}`))
  }

  search(body: object): Promise<Found> {
    return this.#good(200, this.ask("POST", "/search", body))
  }

  /** Looks at a memory without an access. */
  async look(id: string): Promise<ShownMemory | undefined> {
    for (let cursor: string | null = null; ; ) {
      const page: Page = await this.list({ limit: "100", ...(cursor === null ? {} : { cursor }) })
      const found = page.data.find((memory) => memory.id === id)
      cursor = page.meta.next_cursor
      if (found !== undefined || cursor === null) return found
    }
  }
}

export interface MemoryRoom {
  made: World
  session: Session
  http: HttpEntry
  /** With the local key, in the world's own repository. */
  api: MemoryCaller
  /** Makes a caller with another key or for another tenant; null for no header at all. */
  caller(as: { key?: string | null; tenant?: string | null }): MemoryCaller
}

/** Makes a world whose memory API is served; its own repository is tenant 1. */
export async function memoryRoom(options: WorldOptions = {}): Promise<MemoryRoom> {
  const made = world(options)
  const session = await made.session({ name: "one" })
  const http = await serveHttp(session, { routes: productRoutes() })
  const caller: MemoryRoom["caller"] = ({ key, tenant = "1" }) =>
    new MemoryCaller(http, tenant === null ? {} : { "x-tenant-id": tenant }, key)
  return { made, session, http, api: caller({}), caller }
}

/** Connects a second repository, "elsewhere", which becomes tenant 2. */
export async function secondTenant({ made, caller }: MemoryRoom): Promise<MemoryCaller> {
  const folder = join(made.folder, "elsewhere")
  initRepository(folder)
  const session = await made.session({ name: "one", workingFolder: folder })
  expect(session.caller.homeRepository?.id).toBe(2)
  return caller({ tenant: "2" })
}

/** The body of an error of the API. */
export interface MemoryError {
  message: string
  errors?: Record<string, string[]>
  retry_after?: number
}

/**
 * Fails the test unless a reply is an error in exactly the API's form: `message`, `errors` for just the given
 * fields, and `retry_after` with 429 alone. Returns its body.
 */
export function expectError(reply: HttpReply, status: number, fields: readonly string[] = []): MemoryError {
  expect(reply.status, reply.text).toBe(status)
  expect(reply.headers["content-type"], reply.text).toMatch(/^application\/json/)
  const error = reply.json as MemoryError
  expect(error.message, reply.text).toMatch(/\S/)
  const names = [
    "message",
    ...(fields.length > 0 ? ["errors"] : []),
    ...(status === 429 ? ["retry_after"] : []),
  ]
  expect(Object.keys(error).sort(), reply.text).toEqual(names.sort())
  if (fields.length === 0) return error
  expect(Object.keys(error.errors ?? {}).sort(), reply.text).toEqual([...fields].sort())
  for (const list of Object.values(error.errors ?? {})) {
    expect(Array.isArray(list) && list.length > 0, reply.text).toBe(true)
    for (const text of list) expect(text, reply.text).toMatch(/\S/)
  }
  return error
}

/** Lets something happen while the next writing to the memories waits for its turn, as a busy file makes it. */
export function whileNextWriteWaits({ session }: MemoryRoom, work: () => Promise<unknown>): void {
  const { db } = session.app
  const transaction = db.transaction.bind(db)
  db.transaction = async (lock, body) => {
    if (!lock.startsWith("memories:")) return transaction(lock, body)
    db.transaction = transaction
    await work()
    return transaction(lock, body)
  }
}

/** Makes a room with one memory, which is not to change. */
export async function withMemory(): Promise<MemoryRoom & { id: string }> {
  const room = await memoryRoom()
  const { id } = await room.api.create({
    content: "kept",
    tags: ["kept"],
    source: "kept",
    metadata: { a: 1 },
  })
  return { ...room, id }
}

/** Runs `body`, after which the only memory of a room must be as it was. */
export async function withoutChange({ api, id }: MemoryRoom & { id: string }, body: () => Promise<void>) {
  const before = await api.look(id)
  await body()
  expect((await api.stats()).total_memories).toBe(1)
  expect(await api.look(id)).toEqual(before)
}

export const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id)

/** What a search says. */
interface SearchBody {
  query: string
  limit?: number
  [field: string]: unknown
}

/** Searches, and fails the test unless the answer is in order and within its limit; returns it. */
export async function searched(api: MemoryCaller, body: SearchBody): Promise<Found> {
  const found = await api.search(body)
  const scores = found.data.map(({ score }) => score)
  for (const score of scores) {
    expect(score).toBeGreaterThanOrEqual(0)
    expect(score).toBeLessThanOrEqual(1)
  }
  expect(scores).toEqual([...scores].sort((one, other) => other - one))
  expect(found.data.length).toBeLessThanOrEqual(body.limit ?? 10)
  expect(new Set(idsOf(found)).size).toBe(found.data.length)
  return found
}

/** Makes many memories, some of them at once. */
export async function createMany(api: MemoryCaller, count: number, draft: (number: number) => object) {
  for (let from = 0; from < count; from += 20) {
    const numbers = [...Array(Math.min(20, count - from)).keys()]
    await Promise.all(numbers.map((number) => api.create(draft(from + number))))
  }
}
