/**
 * Whether a pattern covers a path that is plain text. This is asked of every open reservation before each edit, so
 * a segment's positions are the bits of a few words and a character of the name moves all of them at once.
 * Refuses to compare two patterns: that is `meeting.ts`.
 */

import { foldCase } from "./case-folding.ts"
import { ANY_CHARACTER } from "./character-set.ts"
import type { CharSet } from "./code-points.ts"
import type { CompiledPattern, PathAutomaton } from "./glob.ts"
import { ANY_SEGMENT, overlapSegments, type Segment } from "./segment.ts"
import { Work } from "./work.ts"

/** A path taken apart once, to be asked of many patterns. */
export interface PlainPath {
  readonly text: string
  readonly ignoreCase: boolean
  /** Its names, case-folded with `ignoreCase`; none for a text that is no path, which nothing covers. */
  readonly names: readonly string[]
}

/** Returns a repository-relative path, plain text, as it is asked of patterns compiled with the same `ignoreCase`. */
export function plainPath(path: string, ignoreCase: boolean): PlainPath {
  const text = path.normalize("NFC")
  const isPath = !/\p{Surrogate}|\0/u.test(text)
  const names = isPath ? (ignoreCase ? foldCase(text) : text).split("/") : []
  return { text, ignoreCase, names: names.filter((name) => name !== "" && name !== ".") }
}

/** Whether the pattern covers exactly this repository-relative path, which is plain text, not a pattern. */
export function matchesPath(p: CompiledPattern, path: string): boolean {
  return matches(p, plainPath(path, p.ignoreCase))
}

/** Whether one of several patterns covers a path, case told apart. */
export function anyMatchesPath(patterns: readonly CompiledPattern[], path: string): boolean {
  const exact = plainPath(path, false)
  return patterns.some((pattern) => matches(pattern, exact))
}

/**
 * Whether the pattern covers exactly this path.
 *
 * Always answers: the steps, which `work` counts, are at most `positions(p)` times one more than the path's
 * UTF-16 units.
 */
export function matches(p: CompiledPattern, path: PlainPath, work = new Work()): boolean {
  return p.alternatives.some((automaton) => furthest(automaton, path, work) === automaton.segments.length)
}

/**
 * Returns a path that the pattern covers and that is this one or lies below it, or null when there is none: the
 * witness that `overlap` gives for the path as a pattern. Bounded as `matches` is.
 */
export function witnessAt(p: CompiledPattern, path: PlainPath, work = new Work()): string | null {
  for (const automaton of p.alternatives) {
    const reached = furthest(automaton, path, work)
    // What is left after a position less far on ends with the same segments.
    const rest = reached < 0 ? null : someNames(automaton.segments.slice(reached))
    if (rest !== null) return [path.text, ...rest].join("/")
  }
  return null
}

/** The last position that the path leads to, or -1 when it leads nowhere. */
function furthest({ segments, globstars }: PathAutomaton, { names }: PlainPath, work: Work): number {
  if (names.length === 0) return -1
  if (!globstars.includes(true)) {
    const isAll = names.every((name, at) => {
      const segment = segments[at]
      return segment !== undefined && matchesName(segment, name, work)
    })
    return isAll ? names.length : -1
  }
  let live = [0]
  for (const name of names) {
    const next: number[] = []
    for (const at of live) {
      if (globstars[at] === true && next.at(-1) !== at) next.push(at)
      const segment = segments[at]
      if (segment !== undefined && matchesName(segment, name, work)) next.push(at + 1)
    }
    if (next.length === 0) return -1
    live = next
  }
  return live.at(-1) ?? -1
}

/**
 * Whether a segment matches a name of a path, case-folded if the segment ignores case.
 *
 * The steps are at most the segment's positions times one more than the name's UTF-16 units.
 */
export function matchesName(segment: Segment, name: string, work: Work): boolean {
  work.spend(1)
  if (segment === ANY_SEGMENT) return true
  if (segment.name !== null) return segment.name === name
  const { head, tail } = segment
  if (name.length < head.length + tail.length || !name.startsWith(head) || !name.endsWith(tail)) return false
  return run(moverOf(segment), name, work)
}

/** Words of 32 bits, one bit for each position. */
type Bits = Int32Array<ArrayBuffer>

/** Characters that are looked up in an array. */
const ASCII = 128

/** A segment made ready to take names: from which positions each character leads on. */
interface Mover {
  readonly last: number
  readonly words: number
  readonly stars: Bits
  /** For each of the first characters, its words side by side; then for others, and for all that are not named. */
  readonly ascii: Bits
  readonly others: ReadonlyMap<number, Bits>
  readonly wild: Bits
  /** Classes of bracket groups, each beside the text of the group. */
  readonly skips: readonly { readonly from: number; readonly to: number; readonly set: CharSet }[]
}

const movers = new WeakMap<Segment, Mover>()

function moverOf(segment: Segment): Mover {
  let mover = movers.get(segment)
  if (mover === undefined) {
    mover = makeMover(segment)
    movers.set(segment, mover)
  }
  return mover
}

function makeMover({ edges, stars }: Segment): Mover {
  const words = (edges.length + 31) >> 5
  const starred = new Int32Array(words)
  const wild = new Int32Array(words)
  const skips: Mover["skips"][number][] = []
  edges.forEach((outOf, from) => {
    if (stars[from] === true) setBit(starred, from)
    for (const { to, characters } of outOf) {
      if (to > from + 1) skips.push({ from, to, set: characters.set })
      else if (characters === ANY_CHARACTER) setBit(wild, from)
    }
  })
  const ascii = new Int32Array(ASCII * words)
  for (let code = 0; code < ASCII; code++) ascii.set(wild, code * words)
  const others = new Map<number, Bits>()
  const lead = (from: number, code: number) => {
    if (code < ASCII) return setBit(ascii.subarray(code * words), from)
    const bits = others.get(code) ?? wild.slice()
    setBit(bits, from)
    others.set(code, bits)
  }
  edges.forEach((outOf, from) => {
    for (const { to, characters } of outOf) {
      if (to > from + 1 || characters === ANY_CHARACTER) continue
      for (const [first, end] of characters.set) for (let code = first; code <= end; code++) lead(from, code)
    }
  })
  return { last: edges.length - 1, words, stars: starred, ascii, others, wild, skips }
}

function run(mover: Mover, name: string, work: Work): boolean {
  work.spend(name.length * (mover.words + mover.skips.length))
  return mover.words === 1 && mover.skips.length === 0 ? runWord(mover, name) : runWords(mover, name)
}

/** `runWords` for the usual segment. */
function runWord({ last, stars, ascii, others, wild }: Mover, name: string): boolean {
  const starred = stars[0] ?? 0
  let live = 1
  for (let at = 0; at < name.length && live !== 0; at++) {
    const unit = name.charCodeAt(at)
    let leading = ascii[unit] ?? 0
    if (unit >= ASCII) {
      const code = name.codePointAt(at) ?? 0
      if (code > 0xffff) at++
      leading = (others.get(code) ?? wild)[0] ?? 0
    }
    live = ((live & leading) << 1) | (live & starred)
  }
  return ((live >>> last) & 1) === 1
}

/** Takes the characters one by one, each from every live position at once. */
function runWords({ last, words, stars, ascii, others, wild, skips }: Mover, name: string): boolean {
  let live: Bits = new Int32Array(words)
  let next: Bits = new Int32Array(words)
  live[0] = 1
  for (let at = 0; at < name.length; at++) {
    const code = name.codePointAt(at) ?? 0
    if (code > 0xffff) at++
    const leading = code < ASCII ? ascii : (others.get(code) ?? wild)
    const offset = code < ASCII ? code * words : 0
    let carry = 0
    for (let word = 0; word < words; word++) {
      const here = live[word] ?? 0
      const moved = here & (leading[offset + word] ?? 0)
      next[word] = (moved << 1) | carry | (here & (stars[word] ?? 0))
      carry = moved >>> 31
    }
    for (const { from, to, set } of skips) if (hasBit(live, from) && contains(set, code)) setBit(next, to)
    const spare = live
    live = next
    next = spare
  }
  return hasBit(live, last)
}

function setBit(bits: Bits, at: number): void {
  bits[at >> 5] = (bits[at >> 5] ?? 0) | (1 << (at & 31))
}

function hasBit(bits: Bits, at: number): boolean {
  return ((bits[at >> 5] ?? 0) & (1 << (at & 31))) !== 0
}

function contains(set: CharSet, code: number): boolean {
  let low = 0
  let high = set.length
  while (low < high) {
    const middle = (low + high) >> 1
    const range = set[middle]
    if (range === undefined || code < range[0]) high = middle
    else if (code > range[1]) low = middle + 1
    else return true
  }
  return false
}

const knownNames = new WeakMap<Segment, string | null>()

/** The most natural name that a segment matches, or null when no file can have one. */
export function someName(segment: Segment): string | null {
  let name = knownNames.get(segment)
  if (name === undefined) {
    name = overlapSegments(segment, ANY_SEGMENT, () => {})
    knownNames.set(segment, name)
  }
  return name
}

function someNames(segments: readonly Segment[]): string[] | null {
  const names: string[] = []
  for (const segment of segments) {
    const name = someName(segment)
    if (name === null) return null
    names.push(name)
  }
  return names
}
