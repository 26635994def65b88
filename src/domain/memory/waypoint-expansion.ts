/**
 * Follows waypoints from the best hits of a search to memories that belong with them. Works one hop at a time,
 * so that the caller can fetch the edges of a whole frontier with one query; knows no database.
 */

import { MEMORY_HOPS_MAX } from "../../config/limits.ts"

export interface Seed {
  id: number
  /** 0..1 */
  score: number
}

export interface WaypointEdge {
  fromId: number
  toId: number
  /** 0..1 */
  weight: number
}

/** A memory reached over waypoints. */
export interface Reached {
  id: number
  /** Of the best path: the seed's score, times 0.8 and the edge's weight for each hop. */
  score: number
  seedScore: number
  /** Ids from the seed to the memory, both included. */
  path: number[]
}

const HOP_FACTOR = 0.8
/** A path that has lost this much of its seed is not followed. */
const SCORE_SHARE_MIN = 0.1
const REACHED_SHARE = 0.25

/**
 * An expansion in progress: while `frontier` is not empty, give `advance` the edges that leave it.
 *
 * Each memory keeps the best path that reached it in at most `hopsMax` hops, whatever the order of seeds and
 * edges; of equally good paths the shorter, then the one with the better seed and the smaller ids. Seeds can be
 * reached from other seeds. Cycles are harmless: a path never visits a memory twice, and every hop costs a
 * fifth. `hopsMax` is brought to 0..5.
 */
export class WaypointExpansion {
  readonly #best = new Map<number, Reached>()
  #frontier: Map<number, Reached>
  #hopsLeft: number
  readonly #breadthMax: number

  constructor(seeds: readonly Seed[], hopsMax: number, breadthMax = Number.POSITIVE_INFINITY) {
    this.#breadthMax = breadthMax
    this.#hopsLeft = Math.min(MEMORY_HOPS_MAX, Math.max(0, Math.floor(hopsMax)))
    this.#frontier = new Map()
    for (const { id, score } of seeds) {
      const seedScore = clamp(score)
      if (seedScore > (this.#frontier.get(id)?.score ?? 0)) {
        this.#frontier.set(id, { id, score: seedScore, seedScore, path: [id] })
      }
    }
  }

  /** Ids whose edges are wanted next, ascending; none when the expansion is done. */
  frontier(): number[] {
    return this.#hopsLeft === 0 ? [] : [...this.#frontier.keys()].sort((a, b) => a - b)
  }

  /** Takes one hop along the edges that leave the frontier; other edges are passed over. */
  advance(edges: readonly WaypointEdge[]): void {
    if (this.#hopsLeft === 0) return
    const next = new Map<number, Reached>()
    for (const { fromId, toId, weight } of edges) {
      const from = this.#frontier.get(fromId)
      if (from === undefined || from.path.includes(toId)) continue
      const score = from.score * HOP_FACTOR * clamp(weight)
      if (score < from.seedScore * SCORE_SHARE_MIN) continue
      const reached = { id: toId, score, seedScore: from.seedScore, path: [...from.path, toId] }
      const known = this.#best.get(toId)
      if (known !== undefined && known.score >= score) continue
      const rival = next.get(toId)
      if (rival === undefined || isBetter(reached, rival)) next.set(toId, reached)
    }
    for (const [id, reached] of next) this.#best.set(id, reached)
    const best = [...next.values()]
      .sort((a, b) => b.score - a.score || b.id - a.id)
      .slice(0, this.#breadthMax)
    this.#frontier = new Map(best.map((one) => [one.id, one]))
    this.#hopsLeft--
  }

  /** Returns the memories reached so far, best first, then newest first. */
  reached(): Reached[] {
    return [...this.#best.values()].sort((a, b) => b.score - a.score || b.id - a.id)
  }
}

/**
 * Returns the score of a memory that only waypoints lead to: a quarter of its path's.
 *
 * Measured: letting the path's score itself compete with the scores of what was found costs five points of
 * recall@10, since what is near a good hit is more often beside the point than what the query found.
 */
export function scoreOfReached({ score }: Reached): number {
  return REACHED_SHARE * score
}

/** Returns the highest score that a memory can have which only waypoints lead to, from a best match of a score. */
export function reachableScoreMax(seedScore: number): number {
  return REACHED_SHARE * HOP_FACTOR * seedScore
}

function isBetter(a: Reached, b: Reached): boolean {
  if (a.score !== b.score) return a.score > b.score
  if (a.seedScore !== b.seedScore) return a.seedScore > b.seedScore
  for (let index = 0; index < Math.min(a.path.length, b.path.length); index++) {
    const difference = (a.path[index] ?? 0) - (b.path[index] ?? 0)
    if (difference !== 0) return difference < 0
  }
  return a.path.length < b.path.length
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value))
}
