import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  blockersOf,
  circleThrough,
  type Waiter,
  whoseTurn,
} from "../../../src/domain/coordination/waiting.ts"

const TERMS = { ignoreCase: false, nowMs: 0 }

function waiter(id: number, pathPattern: string, over: Partial<Waiter> = {}): Waiter {
  const agentId = over.agentId ?? id
  return { id, agentId, ownAgentIds: new Set([agentId]), pathPattern, exclusive: true, held: [], ...over }
}

function held(agentId: number, pathPattern: string, exclusive = true) {
  return { id: agentId, agentId, pathPattern, exclusive, expiresAtMs: 1, endedAtMs: null }
}

const ids = (queue: readonly Waiter[]) => whoseTurn(queue, TERMS).map(({ id }) => id)

describe("whose turn it is", () => {
  test("is the one who has waited longest of those that want the same", () => {
    expect(ids([waiter(1, "a"), waiter(2, "a"), waiter(3, "b")])).toEqual([1, 3])
  })

  test("is nobody's while others hold it, and those behind do not overtake", () => {
    expect(ids([waiter(1, "src/**", { held: [held(9, "src/x")] }), waiter(2, "src/a")])).toEqual([])
  })

  test("is that of all who share at the head, up to the first who does not", () => {
    const shared = { exclusive: false }
    expect(
      ids([waiter(1, "a", shared), waiter(2, "a", shared), waiter(3, "a"), waiter(4, "a", shared)]),
    ).toEqual([1, 2])
  })

  test("is not kept from anybody by what its own session holds or waits for", () => {
    const own = { agentId: 1, ownAgentIds: new Set([1, 9]) }
    expect(ids([waiter(1, "a", { ...own, held: [held(9, "a")] }), waiter(2, "a", own)])).toEqual([1, 2])
  })

  test("never comes for a pattern that is too complex to compare, which keeps nobody else waiting for an answer", () => {
    const many = Array.from({ length: 5_000 }, (_, index) => held(9, `src/${index}*`))
    expect(ids([waiter(1, "src/*", { held: many }), waiter(2, "b")])).toEqual([2])
  })
})

const PATTERNS = ["a", "b", "src/**", "src/x", "src/y", "**"]
const someone = fc.record({
  pathPattern: fc.constantFrom(...PATTERNS),
  exclusive: fc.boolean(),
  isHeld: fc.boolean(),
})

test("those whose turn it is never conflict with each other or with anybody before them, and a free queue never stands", () => {
  fc.assert(
    fc.property(fc.array(someone, { maxLength: 8 }), (some) => {
      const queue = some.map(({ pathPattern, exclusive, isHeld }, index) =>
        waiter(index + 1, pathPattern, { exclusive, held: isHeld ? [held(99, pathPattern)] : [] }),
      )
      const turn = whoseTurn(queue, TERMS)
      for (const one of turn) {
        expect(blockersOf(one, queue.slice(0, queue.indexOf(one)), TERMS)).toEqual([])
        const others = turn.filter((other) => other !== one)
        expect(blockersOf(one, others, TERMS)).toEqual([])
      }
      if (queue[0] !== undefined && queue[0].held.length === 0) expect(turn[0]).toBe(queue[0])
    }),
    { numRuns: 200 },
  )
})

test("a circle is found exactly where the start can be reached from itself, and each of its steps is one of waiting", () => {
  const edges = fc.array(fc.tuple(fc.nat({ max: 7 }), fc.nat({ max: 7 })), { maxLength: 14 })
  fc.assert(
    fc.property(edges, (pairs) => {
      const waitsFor = new Map<number, number[]>()
      for (const [from, to] of pairs) waitsFor.set(from, [...(waitsFor.get(from) ?? []), to])
      const reached = new Set(waitsFor.get(0) ?? [])
      for (const one of reached) for (const other of waitsFor.get(one) ?? []) reached.add(other)
      const circle = circleThrough(0, waitsFor)
      expect(circle !== undefined).toBe(reached.has(0))
      for (const [index, one] of (circle ?? []).entries())
        expect(waitsFor.get(one)).toContain(circle?.[(index + 1) % circle.length])
    }),
    { numRuns: 300 },
  )
})
