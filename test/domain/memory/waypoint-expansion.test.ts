/** Owns the law of waypoint expansion: what is reached, by which path, and what that may do to a score. */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  type Reached,
  type Seed,
  scoreOfReached,
  type WaypointEdge,
  WaypointExpansion,
} from "../../../src/domain/memory/waypoint-expansion.ts"

function expand(seeds: readonly Seed[], edges: readonly WaypointEdge[], hopsMax = 3): Reached[] {
  const expansion = new WaypointExpansion(seeds, hopsMax)
  while (expansion.frontier().length > 0) {
    const wanted = new Set(expansion.frontier())
    expansion.advance(edges.filter(({ fromId }) => wanted.has(fromId)))
  }
  return expansion.reached()
}

const edge = (fromId: number, toId: number, weight: number): WaypointEdge => ({ fromId, toId, weight })

const id = fc.integer({ min: 1, max: 8 })
const unit = fc.double({ min: 0, max: 1, noNaN: true })
const seedList = fc.array(fc.record({ id, score: unit }), { maxLength: 4 })
const edgeList = fc.array(fc.record({ fromId: id, toId: id, weight: unit }), { maxLength: 30 })

describe("an expansion", () => {
  test("loses a fifth and the edge's weight at each hop, and tells its path", () => {
    const [near, far] = expand([{ id: 1, score: 0.5 }], [edge(1, 2, 0.9), edge(2, 3, 0.5)])
    expect(near).toMatchObject({ id: 2, seedScore: 0.5, path: [1, 2] })
    expect(near?.score).toBeCloseTo(0.36, 12)
    expect(far).toMatchObject({ id: 3, path: [1, 2, 3] })
    expect(far?.score).toBeCloseTo(0.144, 12)
  })

  test("keeps the best path, though a worse one came first", () => {
    const edges = [edge(1, 3, 0.2), edge(1, 2, 1), edge(2, 3, 1)]
    expect(expand([{ id: 1, score: 1 }], edges)[1]).toMatchObject({ id: 3, path: [1, 2, 3] })
  })

  test("does not follow a path that has lost nine tenths of its seed", () => {
    expect(expand([{ id: 1, score: 0.3 }], [edge(1, 2, 0.12)])).toEqual([])
    expect(expand([{ id: 1, score: 0.3 }], [edge(1, 2, 0.13)])).toHaveLength(1)
  })

  test("asks for no edges beyond the hops wanted, nor for more than five", () => {
    const chain = Array.from({ length: 9 }, (_, index) => edge(index + 1, index + 2, 1))
    const reach = (hopsMax: number) => expand([{ id: 1, score: 1 }], chain, hopsMax).length
    expect([0, 1, 3, 5, 9, -1].map(reach)).toEqual([0, 1, 3, 5, 5, 0])
  })

  test("reaches seeds from other seeds, but never a memory from itself", () => {
    const edges = [edge(1, 2, 1), edge(2, 1, 1), edge(1, 1, 1)]
    const reached = expand(
      [
        { id: 1, score: 1 },
        { id: 2, score: 0.5 },
      ],
      edges,
    )
    expect(reached.map(({ path }) => path)).toContainEqual([1, 2])
    for (const { path } of reached) expect(new Set(path).size).toBe(path.length)
  })

  test("never gives more than its seed has, less a fifth for each hop, along edges that exist", () => {
    fc.assert(
      fc.property(seedList, edgeList, (seeds, edges) => {
        for (const { id, score, seedScore, path } of expand(seeds, edges)) {
          expect(path.at(-1)).toBe(id)
          expect(seeds).toContainEqual({ id: path[0], score: seedScore })
          expect(score).toBeLessThanOrEqual(seedScore * 0.8 ** (path.length - 1) + 1e-12)
          for (let hop = 1; hop < path.length; hop++) {
            expect(edges.some(({ fromId, toId }) => fromId === path[hop - 1] && toId === path[hop])).toBe(
              true,
            )
          }
        }
      }),
    )
  })

  test("with more hops never loses a memory nor lowers a score", () => {
    fc.assert(
      fc.property(seedList, edgeList, fc.integer({ min: 0, max: 4 }), (seeds, edges, hops) => {
        const further = new Map(expand(seeds, edges, hops + 1).map((found) => [found.id, found.score]))
        for (const { id, score } of expand(seeds, edges, hops)) {
          expect(further.get(id)).toBeGreaterThanOrEqual(score)
        }
      }),
    )
  })

  test("does not depend on the order of seeds and edges", () => {
    fc.assert(
      fc.property(seedList, edgeList, (seeds, edges) => {
        expect(expand([...seeds].reverse(), [...edges].reverse())).toEqual(expand(seeds, edges))
      }),
    )
  })
})

describe("the score of a memory that only waypoints lead to", () => {
  test("is a quarter of its path's", () => {
    expect(scoreOfReached({ id: 2, score: 0.64, seedScore: 0.8, path: [1, 2] })).toBeCloseTo(0.16, 12)
  })

  test("falls by a fifth and more with every hop, and never comes near its seed's", () => {
    fc.assert(
      fc.property(seedList, edgeList, (seeds, edges) => {
        for (const reached of expand(seeds, edges)) {
          const hops = reached.path.length - 1
          expect(scoreOfReached(reached)).toBeLessThanOrEqual(0.25 * 0.8 ** hops * reached.seedScore + 1e-12)
        }
      }),
    )
  })
})
