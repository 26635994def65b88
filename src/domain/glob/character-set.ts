/**
 * Sets of characters and the bracket classes that describe them. Owns how `[...]` is read and which
 * character of a set is the most readable. Refuses to know about segments, stars or paths: a class is one
 * character wide and that is all it is.
 */

import { closeUnderCase } from "./case-folding.ts"
import {
  type CharSet,
  characterAt,
  complement,
  mergeRanges,
  PATH_CHARACTERS,
  type Range,
  rangesMatching,
  restrictToPaths,
} from "./code-points.ts"

/** One character out of a set: the most readable one besides the dot, and whether the dot is in it too. */
export interface Sample {
  /** A code point, or 0 when the set holds nothing but the dot. */
  readonly plain: number
  readonly dot: boolean
}

/** A set of characters that a path can contain, with its sample, which is null for the empty set. */
export interface Characters {
  readonly set: CharSet
  readonly sample: Sample | null
}

/** A bracket group found in a pattern. */
interface BracketGroup {
  /** Index just after the closing `]`. */
  readonly end: number
  /** What the class reading matches; the empty set for one that matches nothing, such as `[b-a]`. */
  readonly characters: Characters
}

export const DOT = 0x2e
const REMEMBERED_MAX = 1_000

/** Every character a path segment can contain. */
export const ANY_CHARACTER: Characters = { set: PATH_CHARACTERS, sample: { plain: 0x61, dot: true } }

/** Where a witness character is looked for, best first: letters and digits, other scripts, the rest. */
const READABLE: readonly Range[] = [
  [0x61, 0x7a],
  [0x41, 0x5a],
  [0x30, 0x39],
  [0xc0, 0xd7ff],
  [0x10000, 0x3ffff],
  [0xa1, 0x10ffff],
  [0x21, 0x7e],
  [0x01, 0xa0],
]

/** The Unicode properties minimatch gives to the POSIX names. */
const POSIX: ReadonlyMap<string, RegExp> = new Map([
  ["[:alnum:]", /[\p{L}\p{Nl}\p{Nd}]/u],
  ["[:alpha:]", /[\p{L}\p{Nl}]/u],
  ["[:ascii:]", /\p{ASCII}/u],
  ["[:blank:]", /[\p{Zs}\t]/u],
  ["[:cntrl:]", /\p{Cc}/u],
  ["[:digit:]", /\p{Nd}/u],
  ["[:graph:]", /[^\p{Z}\p{C}]/u],
  ["[:lower:]", /\p{Ll}/u],
  ["[:print:]", /\P{C}/u],
  ["[:punct:]", /[\p{P}\p{S}]/u],
  ["[:space:]", /[\p{Z}\t\r\n\v\f]/u],
  ["[:upper:]", /\p{Lu}/u],
  ["[:word:]", /[\p{L}\p{Nl}\p{Nd}\p{Pc}]/u],
  ["[:xdigit:]", /[A-Fa-f0-9]/u],
])

const posixRanges = new Map<string, CharSet>()
const rememberedGroups = new Map<string, Characters>()
const rememberedCharacters = new Map<string, Characters>()
const rememberedLetters = new Map<string, Characters>()
/** For pairs of many ranges, such as `[[:alpha:]]` has: a comparison meets the same pair many times. */
const rememberedCommon = new WeakMap<Characters, WeakMap<Characters, Sample | null>>()
const RANGES_FEW = 32

/** One character as a set, with all its case variants when `ignoreCase` is set; it is its own sample. */
export function charactersOf(character: string, ignoreCase: boolean): Characters {
  return remember(ignoreCase ? rememberedLetters : rememberedCharacters, character, () => {
    const code = character.codePointAt(0) ?? 0
    const exact: CharSet = restrictToPaths([[code, code]])
    if (exact.length === 0) return { set: exact, sample: null }
    const sample = { plain: code === DOT ? 0 : code, dot: code === DOT }
    return { set: ignoreCase ? closeUnderCase(exact) : exact, sample }
  })
}

/** The most readable character that is in both sets, or null when they share none. */
export function sampleCommon(p: Characters, q: Characters): Sample | null {
  if (p === q || q === ANY_CHARACTER) return p.sample
  if (p === ANY_CHARACTER) return q.sample
  if (p.set.length + q.set.length <= RANGES_FEW) return sampleSets(p.set, q.set)
  let samples = rememberedCommon.get(p)
  if (samples === undefined) {
    samples = new WeakMap()
    rememberedCommon.set(p, samples)
  }
  let sample = samples.get(q)
  if (sample === undefined) {
    sample = sampleSets(p.set, q.set)
    samples.set(q, sample)
  }
  return sample
}

/** Goes through both sets once, and no further than the first letter, before which the dot comes. */
function sampleSets(a: CharSet, b: CharSet): Sample | null {
  let plain = 0
  let tier = READABLE.length
  let dot = false
  let i = 0
  let j = 0
  let left = a[i]
  let right = b[j]
  while (left !== undefined && right !== undefined && tier > 0) {
    const from = Math.max(left[0], right[0])
    const to = Math.min(left[1], right[1])
    if (from <= DOT && DOT <= to) dot = true
    for (let better = 0; from <= to && better < tier; better++) {
      const candidate = firstWithin(from, to, READABLE[better])
      if (candidate === 0) continue
      plain = candidate
      tier = better
    }
    if (left[1] < right[1]) left = a[++i]
    else right = b[++j]
  }
  return plain === 0 && !dot ? null : { plain, dot }
}

/**
 * Reads the bracket group that opens at index `open` of a segment, or returns null when it never closes.
 *
 * Follows minimatch's `parseClass`: `!` or `^` first negates, `]` first is a member, a backslash escapes,
 * `-` before the closing bracket is a member, a reversed range adds nothing. A class left without members
 * matches nothing, negated or not, and so does one with a POSIX name as the end of a range. Unlike minimatch,
 * several members always mean their union, also with `[:graph:]` and `[:print:]` among them.
 */
export function readBracketGroup(text: string, open: number, ignoreCase: boolean): BracketGroup | null {
  const members = readMembers(text, open)
  if (members === null) return null
  const { end, negated, sets } = members
  const key = (ignoreCase ? "i" : "c") + text.slice(open, end)
  const characters = remember(rememberedGroups, key, () => {
    const set = classSet(sets, negated, ignoreCase)
    return { set, sample: sampleSets(set, set) }
  })
  return { end, characters }
}

interface Members {
  readonly end: number
  readonly negated: boolean
  readonly sets: readonly CharSet[]
}

function readMembers(text: string, open: number): Members | null {
  const sets: CharSet[] = []
  const negated = text[open + 1] === "!" || text[open + 1] === "^"
  const first = open + (negated ? 2 : 1)
  let rangeFrom: number | null = null
  let impossible = false
  for (let at = first; at < text.length; ) {
    if (text[at] === "]" && at > first) return { end: at + 1, negated, sets: impossible ? [] : sets }
    const name = posixNameAt(text, at)
    if (name !== null) {
      if (rangeFrom === null) sets.push(rangesOfPosix(name))
      else impossible = true
      at += name.length
      continue
    }
    if (text[at] === "\\") at++
    if (at >= text.length) return null
    const character = characterAt(text, at)
    const code = character.codePointAt(0) ?? 0
    at += character.length
    if (rangeFrom !== null) {
      if (rangeFrom <= code) sets.push([[rangeFrom, code]])
      rangeFrom = null
    } else if (text[at] === "-" && text[at + 1] !== "]") {
      rangeFrom = code
      at++
    } else {
      sets.push([[code, code]])
    }
  }
  return null
}

/** Case is closed on the members and only then negated, or `[!a]` would match `A` and so everything. */
function classSet(members: readonly CharSet[], negated: boolean, ignoreCase: boolean): CharSet {
  if (members.length === 0) return []
  const positive = mergeRanges(members.flat())
  const closed = ignoreCase ? closeUnderCase(positive) : positive
  return restrictToPaths(negated ? complement(closed) : closed)
}

function posixNameAt(text: string, at: number): string | null {
  if (!text.startsWith("[:", at)) return null
  const close = text.indexOf(":]", at + 2)
  const name = close < 0 ? "" : text.slice(at, close + 2)
  return POSIX.has(name) ? name : null
}

function rangesOfPosix(name: string): CharSet {
  const known = posixRanges.get(name)
  if (known !== undefined) return known
  const expression = POSIX.get(name)
  const ranges = expression === undefined ? [] : rangesMatching(expression)
  posixRanges.set(name, ranges)
  return ranges
}

/** Classes are many times used and slow to build; when too many are kept, all are forgotten. */
function remember(memory: Map<string, Characters>, key: string, build: () => Characters): Characters {
  let characters = memory.get(key)
  if (characters === undefined) {
    characters = build()
    if (memory.size >= REMEMBERED_MAX) memory.clear()
    memory.set(key, characters)
  }
  return characters
}

/** First character of `from..to` inside the tier that is not the dot, or 0. */
function firstWithin(from: number, to: number, range: Range | undefined): number {
  if (range === undefined) return 0
  const [low, high] = range
  let candidate = Math.max(from, low)
  if (candidate === DOT) candidate++
  return candidate <= Math.min(to, high) ? candidate : 0
}
