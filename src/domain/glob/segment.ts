/**
 * One path segment as a small automaton, and the question whether two of them share a name. Owns `*`, `?`,
 * escapes and the two readings of a bracket group. Refuses `/` and `**`: those belong to whole paths.
 */

import { foldCase } from "./case-folding.ts"
import {
  ANY_CHARACTER,
  type Characters,
  charactersOf,
  DOT,
  readBracketGroup,
  type Sample,
  sampleCommon,
} from "./character-set.ts"
import { characterAt } from "./code-points.ts"

/** How the text of a segment is read: as a pattern, as a pattern without bracket classes, or as it stands. */
export type Reading = "pattern" | "brackets as text" | "verbatim"

/** One of the characters leads to position `to`, which is always further on. */
export interface Edge {
  readonly to: number
  readonly characters: Characters
}

/** A segment pattern as an automaton: it starts at position 0 and matches when it stands at the last one. */
export interface Segment {
  /** Edges out of each position; none out of the last. */
  readonly edges: readonly (readonly Edge[])[]
  /** Positions that may swallow any characters without moving on: a `*` stands there. */
  readonly stars: readonly boolean[]
  /** The strongest special thing in the text. */
  readonly special: "none" | "brackets" | "wildcard"
  /** The only name matched (case-folded with `ignoreCase`), when there is just one. */
  readonly name: string | null
  /** That name as it was written. */
  readonly spelling: string | null
  readonly ignoreCase: boolean
  /** What every name matched begins and ends with, without sharing a character (case-folded with `ignoreCase`). */
  readonly head: string
  readonly tail: string
}

/** Matches every segment. */
export const ANY_SEGMENT: Segment = {
  edges: [[]],
  stars: [true],
  special: "wildcard",
  name: null,
  spelling: null,
  ignoreCase: false,
  head: "",
  tail: "",
}

/** Out of the last position, where the next edge is not known yet. */
const NO_EDGES: readonly Edge[] = []

/** Any one character, as taken by two stars; the dot is left out because nothing needs them to take it. */
const ANYTHING: Sample = { plain: 0x61, dot: false }

/**
 * Builds the automaton of one segment of a pattern.
 *
 * The text is not empty and has no `/`. Positions are at most one more than its characters: a star needs no
 * position of its own, an escape only one for both its characters. A bracket group is a run of plain edges (its
 * text) beside one edge that skips over them (its class). An unclosed `[` and a lone last `\` are plain.
 */
export function compileSegment(text: string, reading: Reading, ignoreCase: boolean): Segment {
  const edges: (readonly Edge[])[] = [NO_EDGES]
  const stars = [false]
  let special: Segment["special"] = "none"
  let plain = ""
  let headEnd: number | null = null
  let tailStart = 0
  let impossible = false

  const step = (characters: Characters) => {
    edges[edges.length - 1] = [{ to: edges.length, characters }]
    edges.push(NO_EDGES)
    stars.push(false)
  }
  const stepThrough = (literal: string) => {
    for (const character of literal) {
      const characters = charactersOf(character, ignoreCase)
      if (characters.sample === null) impossible = true
      step(characters)
    }
    plain += literal
  }

  for (let at = 0; at < text.length; ) {
    const unit = reading === "verbatim" ? "" : text[at]
    const group = unit === "[" ? readBracketGroup(text, at, ignoreCase) : null
    if (group !== null) {
      const before = edges.length - 1
      const plainBefore = plain.length
      stepThrough(text.slice(at, group.end))
      if (reading === "pattern") {
        headEnd ??= plainBefore
        tailStart = plain.length
        const plainEdges = edges[before] ?? NO_EDGES
        edges[before] = [...plainEdges, { to: edges.length - 1, characters: group.characters }]
        if (special === "none") special = "brackets"
      }
      at = group.end
    } else if (unit === "*" || unit === "?") {
      special = "wildcard"
      headEnd ??= plain.length
      tailStart = plain.length
      if (unit === "?") step(ANY_CHARACTER)
      else stars[stars.length - 1] = true
      at++
    } else {
      if (unit === "\\" && at + 1 < text.length) at++
      const character = characterAt(text, at)
      stepThrough(character)
      at += character.length
    }
  }

  const isName = special === "none" && !impossible && plain !== "." && plain !== ".."
  const folded = ignoreCase ? foldCase(plain) : plain
  return {
    edges,
    stars,
    special,
    name: isName ? folded : null,
    spelling: isName ? plain : null,
    ignoreCase,
    head: folded.slice(0, headEnd ?? folded.length),
    tail: headEnd === null ? "" : folded.slice(tailStart),
  }
}

/**
 * Decides whether two segments match a common name, and gives the most natural one by `unnaturalness`, or null.
 *
 * Names are never empty, `.` or `..`. Visits each pair of positions at most once, so the work is at most the
 * product of the two position counts. `visit` is called for each pair but the first, in which the caller
 * stands already; it stops the search by throwing.
 */
export function overlapSegments(p: Segment, q: Segment, visit: () => void): string | null {
  if (p.name !== null && q.name !== null && p.ignoreCase === q.ignoreCase) {
    return p.name === q.name ? p.spelling : null
  }
  if (p === ANY_SEGMENT && q.spelling !== null) return q.spelling
  if (q === ANY_SEGMENT && p.spelling !== null) return p.spelling
  const witness = new SegmentSearch(p, q, visit).run()
  // What matches a name in any case matches it as it was written; a reader knows it by that.
  const written = p.ignoreCase === q.ignoreCase ? (p.spelling ?? q.spelling) : null
  return witness === null ? null : (written ?? witness)
}

/** More than any name is long: no number of characters outweighs one seam. */
const SEAM = 2 ** 13

/**
 * How unlike a real file name a name is: seams first, then length. A seam is where two separators meet; the
 * start, the end and all but letters and digits up to U+00A0 are separators. So `a.ts` beats `.ts`, but
 * `.env` is what it is.
 */
export function unnaturalness(name: string): number {
  let cost = 0
  let afterSeparator = true
  for (const character of name) {
    const separator = isSeparator(character.codePointAt(0) ?? 0)
    cost += afterSeparator && separator ? SEAM + 1 : 1
    afterSeparator = separator
  }
  return afterSeparator ? cost + SEAM : cost
}

function isSeparator(code: number): boolean {
  if (code > 0xa0) return false
  const isLetter = (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)
  return !isLetter && (code < 0x30 || code > 0x39)
}

/** The most natural text that leads to a state, as a chain of characters from its last one back. */
interface Prefix {
  readonly before: Prefix | null
  readonly character: number
  readonly cost: number
}

/**
 * What a prefix looks like so far. Nothing, one dot and two dots are no names, so each state keeps the shapes
 * apart: `.*` and `?` meet, but only in `.`. What a name ends with tells whether the next seam is one.
 */
const SHAPE = { empty: 0, oneDot: 1, twoDots: 2, endsInSeparator: 3, name: 4 } as const

/** A pair of positions that some text leads to: its most natural prefix of each shape. */
type State = (Prefix | undefined)[]

/**
 * The product of two segments. Every move takes one character and raises a position or keeps it at a star, so
 * going through the pairs in order meets each of them once, after everything that leads to it. Where both
 * may keep theirs, one character is enough: more of them make no name more natural.
 */
class SegmentSearch {
  private readonly p: Segment
  private readonly q: Segment
  private readonly visit: () => void
  /** Rows appear as they are reached: most searches fail early, and a table for all pairs may be large. */
  private readonly rows: (State | undefined)[][] = []

  constructor(p: Segment, q: Segment, visit: () => void) {
    this.p = p
    this.q = q
    this.visit = visit
  }

  run(): string | null {
    const lastRow = this.p.edges.length - 1
    const lastColumn = this.q.edges.length - 1
    this.stateAt(0, 0)[SHAPE.empty] = { before: null, character: 0, cost: 0 }
    for (let i = 0; i <= lastRow; i++) {
      const row = this.rows[i]
      for (let j = 0; row !== undefined && j <= lastColumn; j++) {
        const state = row[j]
        if (state === undefined) continue
        if (i + j > 0) this.visit()
        this.leave(state, i, j)
      }
    }
    const end = this.rows[lastRow]?.[lastColumn]
    const name = end?.[SHAPE.name]
    const rough = end?.[SHAPE.endsInSeparator]
    if (rough !== undefined && (name === undefined || rough.cost + SEAM < name.cost)) return spell(rough)
    return name === undefined ? null : spell(name)
  }

  /** Takes every move out of a pair of positions; the loop comes first because it changes the pair itself. */
  private leave(state: State, i: number, j: number): void {
    const edgesP = this.p.edges[i] ?? []
    const edgesQ = this.q.edges[j] ?? []
    const starP = this.p.stars[i] === true
    const starQ = this.q.stars[j] === true
    if (starP && starQ) this.move(state, i, j, ANYTHING)
    if (starP) for (const edge of edgesQ) this.move(state, i, edge.to, edge.characters.sample)
    if (starQ) for (const edge of edgesP) this.move(state, edge.to, j, edge.characters.sample)
    for (const left of edgesP) {
      for (const right of edgesQ) {
        this.move(state, left.to, right.to, sampleCommon(left.characters, right.characters))
      }
    }
  }

  /** Appends one character of the sample, if there is one, to every prefix of a state. */
  private move(from: State, i: number, j: number, sample: Sample | null): void {
    if (sample === null) return
    const to = this.stateAt(i, j)
    const code = sample.plain === 0 ? DOT : sample.plain
    const separator = isSeparator(code)
    const nameShape = separator ? SHAPE.endsInSeparator : SHAPE.name
    // From the last shape down: of two equally natural names, the one with fewer dots reads better.
    for (let shape: number = SHAPE.name; shape >= SHAPE.empty; shape--) {
      const before = from[shape]
      if (before === undefined) continue
      const staysDots = shape < SHAPE.twoDots
      if (staysDots && sample.dot) keepBest(to, shape + 1, before, DOT, SEAM + 1)
      if (staysDots && sample.plain === 0) continue
      keepBest(to, nameShape, before, code, separator && shape !== SHAPE.name ? SEAM + 1 : 1)
    }
  }

  private stateAt(i: number, j: number): State {
    this.rows[i] ??= []
    const row = this.rows[i]
    row[j] ??= [undefined, undefined, undefined, undefined, undefined]
    return row[j]
  }
}

function keepBest(state: State, shape: number, before: Prefix, character: number, cost: number): void {
  const known = state[shape]
  const total = before.cost + cost
  if (known === undefined || total < known.cost) state[shape] = { before, character, cost: total }
}

function spell(name: Prefix): string {
  const codes: number[] = []
  for (let at = name; at.before !== null; at = at.before) codes.push(at.character)
  return String.fromCodePoint(...codes.reverse())
}
