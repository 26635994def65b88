/**
 * Whether two patterns share a path, without saying which. Asked of all that is open when a pattern is reserved, so it
 * counts its steps together with the other comparisons of that request; the witness is `glob.ts`'s, for those few
 * pairs that do meet.
 */

import { type Characters, type Sample, sampleCommon } from "./character-set.ts"
import type { CompiledPattern, PathAutomaton } from "./glob.ts"
import { matchesName, someName } from "./matching.ts"
import { ANY_SEGMENT, type Segment } from "./segment.ts"
import type { Work } from "./work.ts"

/**
 * Whether some path is matched by both patterns, compiled with the same `ignoreCase`.
 *
 * Agrees with `overlap`. Throws WorkLimitError when `work` is used up; a comparison takes at most four steps for each
 * pair of positions, and more for bracket classes of many ranges.
 */
export function meet(p: CompiledPattern, q: CompiledPattern, work: Work): boolean {
  return p.alternatives.some((left) => q.alternatives.some((right) => pathsMeet(left, right, work)))
}

function pathsMeet(p: PathAutomaton, q: PathAutomaton, work: Work): boolean {
  const rows = p.globstars.length
  const columns = q.globstars.length
  const reached = new Uint8Array(rows * columns)
  reached[0] = 1
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      const here = i * columns + j
      if (reached[here] === 0) continue
      work.spend(1)
      const left = p.segments[i]
      const right = q.segments[j]
      if (left && right && segmentsMeet(left, right, work)) reached[here + columns + 1] = 1
      if (left && q.globstars[j] && someName(left) !== null) reached[here + columns] = 1
      if (right && p.globstars[i] && someName(right) !== null) reached[here + 1] = 1
    }
  }
  return reached[rows * columns - 1] === 1
}

function segmentsMeet(p: Segment, q: Segment, work: Work): boolean {
  if (p === ANY_SEGMENT) return someName(q) !== null
  if (q === ANY_SEGMENT) return someName(p) !== null
  if (p.name !== null) return matchesName(q, p.name, work)
  if (q.name !== null) return matchesName(p, q.name, work)
  if (!p.head.startsWith(q.head) && !q.head.startsWith(p.head)) return false
  if (!p.tail.endsWith(q.tail) && !q.tail.endsWith(p.tail)) return false
  return new Product(p, q, work).isReached()
}

/**
 * What a text looks like so far, as bits of a set: nothing, one dot and two dots are no names, so texts are kept
 * apart by these shapes.
 */
const EMPTY = 1
const ONE_DOT = 2
const TWO_DOTS = 4
const NAME = 8

/** A star on both sides takes any character; the dot is left out because nothing needs them to take it. */
const ANYTHING: Sample = { plain: 0x61, dot: false }

/** The product of two segments, as in `segment.ts`, with the shapes that reach a pair of positions in place of names. */
class Product {
  private readonly p: Segment
  private readonly q: Segment
  private readonly work: Work
  private readonly columns: number
  private readonly shapes: Uint8Array

  constructor(p: Segment, q: Segment, work: Work) {
    this.p = p
    this.q = q
    this.work = work
    this.columns = q.edges.length
    this.shapes = new Uint8Array(p.edges.length * q.edges.length)
  }

  isReached(): boolean {
    const { shapes, columns } = this
    shapes[0] = EMPTY
    for (let i = 0; i < this.p.edges.length; i++) {
      for (let j = 0; j < columns; j++) if (shapes[i * columns + j] !== 0) this.leave(i, j)
    }
    return ((shapes[shapes.length - 1] ?? 0) & NAME) !== 0
  }

  private leave(i: number, j: number): void {
    this.work.spend(1)
    const edgesP = this.p.edges[i] ?? []
    const edgesQ = this.q.edges[j] ?? []
    const starP = this.p.stars[i] === true
    const starQ = this.q.stars[j] === true
    if (starP && starQ) this.move(i, j, i, j, ANYTHING)
    if (starP) for (const edge of edgesQ) this.move(i, j, i, edge.to, edge.characters.sample)
    if (starQ) for (const edge of edgesP) this.move(i, j, edge.to, j, edge.characters.sample)
    for (const left of edgesP) {
      for (const right of edgesQ) {
        this.move(i, j, left.to, right.to, this.common(left.characters, right.characters))
      }
    }
  }

  private move(i: number, j: number, toRow: number, toColumn: number, sample: Sample | null): void {
    if (sample === null) return
    const from = this.shapes[i * this.columns + j] ?? 0
    let to = sample.plain === 0 ? 0 : NAME
    if (sample.dot) to |= ((from & (EMPTY | ONE_DOT)) << 1) | (from >= TWO_DOTS ? NAME : 0)
    const index = toRow * this.columns + toColumn
    this.shapes[index] = (this.shapes[index] ?? 0) | to
  }

  /** Counted by the ranges that may have to be gone through, also where the answer is remembered. */
  private common(left: Characters, right: Characters): Sample | null {
    if (left === right) return left.sample
    const ranges = left.set.length + right.set.length
    if (ranges > 2) this.work.spend(ranges)
    else if (left.set[0]?.[0] !== right.set[0]?.[0] && isSingle(left) && isSingle(right)) return null
    return sampleCommon(left, right)
  }
}

function isSingle({ set }: Characters): boolean {
  const [range] = set
  return set.length === 1 && range !== undefined && range[0] === range[1]
}
