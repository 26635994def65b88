/** Waiting for files that others hold: whose turn it is, and whether a wait could never end. */

import { GlobError } from "../glob/glob.ts"
import type { Work } from "../glob/work.ts"
import { type Candidate, findConflicts } from "./reservation.ts"

/** Somebody who waits, with what is known of its surroundings. */
export interface Waiter {
  id: number
  agentId: number
  /** All agents that count as the same holder, its own among them. */
  ownAgentIds: ReadonlySet<number>
  pathPattern: string
  exclusive: boolean
  /** What is held that may stand in its way. */
  held: readonly Candidate[]
}

interface QueueTerms {
  ignoreCase: boolean
  nowMs: number
  /** What all comparisons share; without it each has the work of a call. */
  work?: Work
}

/**
 * Returns the agents that a waiter waits for: who holds what it conflicts with, and who waits for such a thing and came
 * earlier. Throws GlobError where its pattern is too complex to be compared with them.
 */
export function blockersOf(waiter: Waiter, earlier: readonly Waiter[], terms: QueueTerms): number[] {
  const places = earlier.map(
    (one): Candidate => ({ ...one, expiresAtMs: Number.POSITIVE_INFINITY, endedAtMs: null }),
  )
  const bounds = { conflictsMax: Number.POSITIVE_INFINITY, ownAgentIds: waiter.ownAgentIds }
  const conflicts = findConflicts(waiter, [...waiter.held, ...places], { ...terms, ...bounds })
  return [...new Set(conflicts.map(({ reservation }) => reservation.agentId))]
}

/**
 * Returns those of a queue, the longest waiting first, whose turn has come: nothing that is held stands in their way,
 * and nobody who came earlier does, whether that one gets something now or not. So nobody is overtaken by who would
 * keep it waiting longer, and those who share come together.
 */
export function whoseTurn<One extends Waiter>(queue: readonly One[], terms: QueueTerms): One[] {
  return queue.filter((waiter, index) => {
    try {
      return blockersOf(waiter, queue.slice(0, index), terms).length === 0
    } catch (error) {
      // Nobody may be kept from releasing by what others wait for.
      if (error instanceof GlobError) return false
      throw error
    }
  })
}

/**
 * Returns the shortest way in which whoever waits would wait for itself, its own number first and left out at the end,
 * or undefined when there is none. `waitsFor` tells whom each waits for.
 */
export function circleThrough(
  start: number,
  waitsFor: ReadonlyMap<number, Iterable<number>>,
): number[] | undefined {
  const cameFrom = new Map<number, number>()
  const next = [start]
  for (const one of next) {
    for (const other of waitsFor.get(one) ?? []) {
      if (other === start) return wayTo(one, cameFrom)
      if (cameFrom.has(other)) continue
      cameFrom.set(other, one)
      next.push(other)
    }
  }
  return undefined
}

function wayTo(end: number, cameFrom: ReadonlyMap<number, number>): number[] {
  const way: number[] = []
  for (let one: number | undefined = end; one !== undefined; one = cameFrom.get(one)) way.unshift(one)
  return way
}
