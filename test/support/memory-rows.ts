/** What a database file holds of memories, read without the product's code, and whether it fits together. */

import BetterSqlite3 from "better-sqlite3"
import { type KnownMemory, type MemoryJournal, possibleContents } from "./memory-work.ts"
import { cosine } from "./vectors.ts"

/** By how much the profile "maintenance" stretches stability at a salience of 1. */
const STRETCH = 1.05
/** Stored vectors are rounded, and so are the weights that can be computed of them again. */
const WEIGHT_ERROR_MAX = 0.05

/** Queries whose every row is a contradiction. */
const CONTRADICTIONS: Record<string, string> = {
  "a memory has no row of its embedding with the active model": `
    SELECT m.id FROM memories m WHERE (
      SELECT count(*) FROM memory_embeddings e JOIN embedding_models o ON o.id = e.model_id
      WHERE e.memory_id = m.id AND o.state = 'active') <> 1`,
  "an embedding is not completed":
    "SELECT memory_id, status FROM memory_embeddings WHERE status <> 'completed'",
  "an embedding without a memory": `
    SELECT memory_id FROM memory_embeddings WHERE memory_id NOT IN (SELECT id FROM memories)`,
  "an embedding counts other windows than there are": `
    SELECT e.memory_id FROM memory_embeddings e WHERE e.window_count <> (
      SELECT count(*) FROM memory_vectors v WHERE v.memory_id = e.memory_id AND v.model_id = e.model_id)`,
  "a vector of another repository": `
    SELECT v.memory_id FROM memory_vectors v JOIN memories m ON m.id = v.memory_id
    WHERE v.repository_id <> m.repository_id`,
  "two vectors in one slot": `
    SELECT min(memory_id) AS id FROM memory_vectors
    GROUP BY repository_id, model_id, block_no, slot HAVING count(*) > 1`,
  "a vector without an embedding": `
    SELECT memory_id FROM memory_vectors v WHERE NOT EXISTS (
      SELECT 1 FROM memory_embeddings e WHERE e.memory_id = v.memory_id AND e.model_id = v.model_id)`,
  "a tag without its memory": `
    SELECT memory_id, tag FROM memory_tags t WHERE NOT EXISTS (
      SELECT 1 FROM memories m, json_each(m.tags) w WHERE m.id = t.memory_id AND w.value = t.tag)`,
  "a memory without a row of one of its tags": `
    SELECT m.id, w.value FROM memories m, json_each(m.tags) w WHERE NOT EXISTS (
      SELECT 1 FROM memory_tags t
      WHERE t.memory_id = m.id AND t.tag = w.value AND t.repository_id = m.repository_id)`,
  "a waypoint without both of its ends": `
    SELECT from_id, to_id FROM memory_waypoints
    WHERE from_id NOT IN (SELECT id FROM memories) OR to_id NOT IN (SELECT id FROM memories)`,
  "a waypoint without the same one back": `
    SELECT w.from_id, w.to_id FROM memory_waypoints w WHERE NOT EXISTS (
      SELECT 1 FROM memory_waypoints b
      WHERE b.from_id = w.to_id AND b.to_id = w.from_id AND b.model_id = w.model_id AND b.weight = w.weight)`,
  "a waypoint to itself": "SELECT from_id FROM memory_waypoints WHERE from_id = to_id",
  "a waypoint between repositories": `
    SELECT w.from_id, w.to_id FROM memory_waypoints w
    JOIN memories a ON a.id = w.from_id JOIN memories b ON b.id = w.to_id
    WHERE a.repository_id <> w.repository_id OR b.repository_id <> w.repository_id`,
  "an entry in the index of words without a memory": `
    SELECT rowid FROM memory_index WHERE rowid NOT IN (SELECT repository_id * 4294967296 - id FROM memories)`,
  "a memory without an entry in the index of words": `
    SELECT id FROM memories WHERE repository_id * 4294967296 - id NOT IN (SELECT rowid FROM memory_index)`,
}

/** As the product's blocks have it. */
const ID_BYTES = 4

interface BlockRow {
  repository_id: number
  model_id: number
  block_no: number
  free_slots: number
  ids: Buffer
  bits: Buffer
}
interface VectorRow {
  repository_id: number
  model_id: number
  block_no: number
  slot: number
  memory_id: number
  vector: Buffer
}

interface MemoryRow {
  id: number
  uuid: string
  content: string
  tags: string
  access_count: number
  salience_stability: number
}

export class MemoryRows {
  readonly #db: BetterSqlite3.Database

  /** Opens a file, also for writing: the check of the index of words is a command to it. */
  constructor(databasePath: string) {
    this.#db = new BetterSqlite3(databasePath)
  }

  close(): void {
    this.#db.close()
  }

  /** How many memories the active model has embedded, by status. */
  statuses(): Record<string, number> {
    const rows = this.#all<{ status: string; number: number }>(
      `SELECT e.status, count(*) AS number FROM memory_embeddings e
       JOIN embedding_models o ON o.id = e.model_id AND o.state = 'active' GROUP BY e.status`,
    )
    return Object.fromEntries(rows.map(({ status, number }) => [status, number]))
  }

  waypointCount(): number {
    return this.#all<{ number: number }>("SELECT count(*) AS number FROM memory_waypoints")[0]?.number ?? 0
  }

  /** How many vectors were made, by the count for statistics. */
  vectorsCounted(): number {
    return (
      this.#all<{ number: number }>("SELECT sum(vector_count) AS number FROM embedding_days")[0]?.number ?? 0
    )
  }

  /** The active model, and the one that is being built. */
  models(): { name: string; state: string }[] {
    return this.#all("SELECT name, state FROM embedding_models ORDER BY id")
  }

  /** Has every memory wait for the active model again, as if it had not been ready. */
  forgetEmbeddings(): void {
    this.#db.transaction(() => {
      for (const table of ["memory_vector_blocks", "memory_vectors", "memory_waypoints"])
        this.#db.prepare(`DELETE FROM ${table}`).run()
      this.#db.prepare("UPDATE memory_embeddings SET status = 'pending', window_count = 0").run()
    })()
  }

  /** What in the file contradicts itself, leaving out what is named. */
  contradictions(...expected: (keyof typeof CONTRADICTIONS)[]): string[] {
    const found = Object.entries(CONTRADICTIONS)
      .filter(([what]) => !expected.includes(what))
      .flatMap(([what, sql]) => this.#all<object>(sql).map((row) => `${what}: ${JSON.stringify(row)}`))
    return [...found, ...this.#misplacedBits(), ...this.#misjudgedWaypoints()]
  }

  /** What SQLite itself finds wrong, in the file and in the index of words. */
  damage(): unknown[] {
    const integrity = this.#db.pragma("integrity_check", { simple: true })
    this.#db.prepare("INSERT INTO memory_index (memory_index) VALUES ('integrity-check')").run()
    return [
      ...(integrity === "ok" ? [] : [integrity]),
      ...(this.#db.pragma("foreign_key_check") as unknown[]),
    ]
  }

  /** Where the file differs from what was acknowledged. */
  differences(journal: MemoryJournal): string[] {
    const rows = new Map(
      this.#all<MemoryRow>(
        "SELECT id, uuid, content, tags, access_count, salience_stability FROM memories",
      ).map((row) => [row.uuid, row]),
    )
    const known = new Map(journal.alive().map((memory) => [memory.id, memory]))
    const unknown = [...rows.keys()]
      .filter((uuid) => !known.has(uuid))
      .map((uuid) => `${uuid} is still there`)
    return [
      ...unknown,
      ...[...known.values()].flatMap((memory) => this.#differencesOf(memory, rows.get(memory.id))),
    ]
  }

  #differencesOf(memory: KnownMemory, row: MemoryRow | undefined): string[] {
    if (row === undefined) return [`${memory.id} is lost`]
    const reinforcements = Math.round(Math.log(row.salience_stability) / Math.log(STRETCH))
    const mark = memory.writings.find(({ content }) => content === row.content)?.mark ?? ""
    const found = this.#all<{ id: number }>(
      "SELECT (rowid + 4294967295) / 4294967296 * 4294967296 - rowid AS id FROM memory_index WHERE memory_index MATCH ?",
      mark === "" ? "nothing" : mark,
    )
    const checks: [isRight: boolean, what: string][] = [
      [possibleContents(memory, Number.POSITIVE_INFINITY).includes(row.content), `holds "${row.content}"`],
      [row.tags === JSON.stringify(memory.tags), `has the tags ${row.tags}`],
      [row.access_count === memory.reads, `counts ${row.access_count} of ${memory.reads} reads`],
      [
        reinforcements === memory.reinforcements,
        `was reinforced ${reinforcements} of ${memory.reinforcements} times`,
      ],
      [found.length === 1 && found[0]?.id === row.id, `is found by ${mark} as ${JSON.stringify(found)}`],
    ]
    return checks.filter(([isRight]) => !isRight).map(([, what]) => `${memory.id} ${what}`)
  }

  /** Where the slots of the blocks and the vectors do not agree, one to one. */
  #misplacedBits(): string[] {
    const vectors = new Map(
      this.#all<VectorRow>(
        "SELECT repository_id, model_id, block_no, slot, memory_id, vector FROM memory_vectors",
      ).map((row) => [`${row.repository_id}/${row.model_id}/${row.block_no}/${row.slot}`, row]),
    )
    const faults: string[] = []
    const blocks = this.#all<BlockRow>("SELECT * FROM memory_vector_blocks")
    for (const { repository_id, model_id, block_no, free_slots, ids, bits } of blocks) {
      const slotCount = ids.length / ID_BYTES
      const slotBytes = bits.length / slotCount
      let free = 0
      for (let slot = 0; slot < slotCount; slot += 1) {
        const id = new Uint32Array(
          Uint8Array.from(ids.subarray(slot * ID_BYTES, (slot + 1) * ID_BYTES)).buffer,
        )[0]
        const place = `${repository_id}/${model_id}/${block_no}/${slot}`
        const row = vectors.get(place)
        vectors.delete(place)
        const own = bits.subarray(slot * slotBytes, (slot + 1) * slotBytes)
        if (id === 0) free += 1
        if ((row?.memory_id ?? 0) !== id) faults.push(`slot ${place} is of ${id}, not of ${row?.memory_id}`)
        else if (!isOfSigns(own, row?.vector)) faults.push(`slot ${place} has other bits`)
      }
      if (free !== free_slots) faults.push(`block ${block_no} counts ${free_slots} of ${free} free slots`)
    }
    return [
      ...faults,
      ...[...vectors.keys()].map((place) => `a vector names the slot ${place} that is not there`),
    ]
  }

  /** Waypoints whose weight is not that of the vectors that are there now. */
  #misjudgedWaypoints(): string[] {
    const models = this.#all<{ id: number; midpoint: number; slope: number }>(
      "SELECT id, midpoint, slope FROM embedding_models",
    )
    return models.flatMap(({ id, midpoint, slope }) => {
      const rows = this.#all<{ memory_id: number; vector: Buffer }>(
        "SELECT memory_id, vector FROM memory_vectors WHERE model_id = ? AND window_no = 0",
        id,
      )
      const vectors = new Map(
        rows.map(({ memory_id, vector }) => [
          memory_id,
          new Int8Array(vector.buffer, vector.byteOffset, vector.length),
        ]),
      )
      return this.#all<{ from_id: number; to_id: number; weight: number }>(
        "SELECT from_id, to_id, weight FROM memory_waypoints WHERE model_id = ?",
        id,
      )
        .filter(({ from_id, to_id, weight }) => {
          const [from, to] = [vectors.get(from_id), vectors.get(to_id)]
          if (from === undefined || to === undefined) return true
          return (
            Math.abs(1 / (1 + Math.exp(-slope * (cosine(from, to) - midpoint))) - weight) > WEIGHT_ERROR_MAX
          )
        })
        .map((row) => `a waypoint is of vectors that are gone: ${JSON.stringify(row)}`)
    })
  }

  #all<T>(sql: string, ...args: (string | number)[]): T[] {
    return this.#db.prepare<(string | number)[], T>(sql).all(...args)
  }
}

/**
 * Whether the bits of a slot are the signs of its vector, the lowest bit of a byte first, and zeros when the slot
 * is free. What was rounded to 0 may have had either sign.
 */
function isOfSigns(bits: Buffer, vector: Buffer | undefined): boolean {
  if (vector === undefined) return bits.every((byte) => byte === 0)
  return vector.every((_, index) => {
    const component = vector.readInt8(index)
    const bit = ((bits[index >> 3] ?? 0) >> (index & 7)) & 1
    return component === 0 || (bit === 1) === component > 0
  })
}
