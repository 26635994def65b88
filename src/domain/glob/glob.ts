/**
 * File path patterns and the question whether two of them conflict: whether some path is matched by both.
 * Owns normalisation, what a pattern covers, and the decision, with a path as its proof. Refuses to touch
 * the file system, absolute paths and reservations: it knows text only.
 */

import {
  BRACE_EXPANSIONS_MAX,
  PATTERN_CHARS_MAX,
  PATTERN_POSITIONS_MAX,
  REPOSITORY_PATTERN_COST_MAX,
} from "../../config/limits.ts"
import { expandBraces, splitOutsideBraces } from "./braces.ts"
import {
  ANY_SEGMENT,
  compileSegment,
  overlapSegments,
  type Reading,
  type Segment,
  unnaturalness,
} from "./segment.ts"
import { Work } from "./work.ts"

/** A pattern that is not accepted; the message starts with a verb, so that a field name can go before it. */
export class GlobError extends Error {
  constructor(message: string) {
    super(message)
    this.name = "GlobError"
  }
}

/** A pattern ready to be compared; opaque to callers. */
export interface CompiledPattern {
  readonly text: string
  readonly ignoreCase: boolean
  /** A path is matched when one of these matches it. */
  readonly alternatives: readonly PathAutomaton[]
}

/** Whether two patterns share a path, one such path, and the work it took to know. */
export type Overlap =
  | { readonly overlaps: true; readonly witness: string; readonly statesVisited: number }
  | { readonly overlaps: false; readonly witness: null; readonly statesVisited: number }

/** A run of segments; it matches when it stands after the last one. */
export interface PathAutomaton {
  readonly segments: readonly Segment[]
  /** Before which segment, or after the last one, any number of further segments may come. */
  readonly globstars: readonly boolean[]
}

/**
 * Brings a pattern to its one stored form: NFC, relative to the repository, segments joined by single `/`.
 *
 * Empty and `.` segments go, `..` takes the segment before it away. Braces stay as written; a `..` that comes
 * after a segment with braces is checked here but only taken away by `compilePattern`. Normalising twice
 * changes nothing. Throws GlobError for a pattern that is empty, longer than 512 UTF-16 units, absolute,
 * leaving the repository, stepping back over `**`, holding NUL or half a surrogate pair, standing for more
 * than 1,000 patterns, or having more than 20,000 `positions`.
 */
export function normalizePattern(input: string): string {
  requireLength(input)
  if (input.includes("\0")) throw new GlobError("must not contain NUL characters; remove them.")
  if (/\p{Surrogate}/u.test(input)) {
    throw new GlobError("must not contain halves of surrogate pairs; write whole characters.")
  }
  if (input.startsWith("/")) {
    throw new GlobError("must be relative to the repository root; remove the leading '/'.")
  }
  const text = input.normalize("NFC")
  requireLength(text)
  const pieces = resolveSegments(splitOutsideBraces(text), (piece) => /[{}]/.test(piece) || piece === "..")
  const normalized = pieces.join("/")
  requireFewPositions(expandToSegments(normalized))
  return normalized
}

/**
 * Patterns compiled last, since the same reservations are compared again and again. Bounded by positions,
 * which is where the memory goes: all that one repository may hold, some 32 MB.
 */
type Remembered = Map<string, { readonly compiled: CompiledPattern; readonly size: number }>
/** By options and then by text: a text is looked up as it is, before each edit thousands of times. */
const remembered: readonly Remembered[] = [new Map(), new Map(), new Map(), new Map()]
let rememberedPositions = 0

/**
 * Prepares a normalised pattern for comparison.
 *
 * With `literal` no character is special, as for a path taken from disk; it covers the path and what is below
 * it. With `ignoreCase` letters match in either case. Throws GlobError as `normalizePattern` does for
 * expansions it cannot resolve, and for an empty pattern.
 */
export function compilePattern(
  pattern: string,
  { ignoreCase = false, literal = false }: { ignoreCase?: boolean; literal?: boolean } = {},
): CompiledPattern {
  const kind = (ignoreCase ? 1 : 0) + (literal ? 2 : 0)
  const known = remembered[kind]?.get(pattern)
  if (known !== undefined) return known.compiled
  const alternatives = literal
    ? [withSubtree(compileSegments(requireSome(resolveText(pattern)), "verbatim", ignoreCase))]
    : expandToSegments(pattern).flatMap((segments) => compileExpansion(segments, ignoreCase))
  const compiled = { text: pattern, ignoreCase, alternatives }
  rememberPattern(kind, compiled)
  return compiled
}

/** Forgets the oldest for the newest, first of the same options. */
function rememberPattern(kind: number, compiled: CompiledPattern): void {
  const size = positions(compiled)
  remembered[kind]?.set(compiled.text, { compiled, size })
  rememberedPositions += size
  for (const at of [kind, 0, 1, 2, 3]) {
    for (const [oldest, entry] of remembered[at] ?? []) {
      if (rememberedPositions <= REPOSITORY_PATTERN_COST_MAX) return
      remembered[at]?.delete(oldest)
      rememberedPositions -= entry.size
    }
  }
}

/** A state keeps the best of several witnesses, which takes about as long as so many steps of a comparison without. */
const STEPS_PER_STATE = 16

/**
 * Decides whether some path is matched by both patterns, and gives one that a person would take for real: for
 * the first pair of alternatives that meet, the one with fewest segments and then the most natural names. It
 * is the path itself where one side is a plain path.
 *
 * Sound and complete for the grammar of this module. Symmetric but for the choice among witnesses. Patterns
 * compiled with `ignoreCase` may meet others without; the witness then matches each in its own way. The work
 * is bounded by `positions(p) * positions(q)`, which `statesVisited` never exceeds; each state counts as 16 steps
 * of `work`, which throws WorkLimitError where it does not suffice for an answer.
 */
export function overlap(p: CompiledPattern, q: CompiledPattern, work = new Work()): Overlap {
  let statesVisited = 0
  const visit = () => {
    work.spend(STEPS_PER_STATE)
    statesVisited++
  }
  for (const left of p.alternatives) {
    for (const right of q.alternatives) {
      const witness = overlapPaths(left, right, visit)
      if (witness !== null) return { overlaps: true, witness, statesVisited }
    }
  }
  return { overlaps: false, witness: null, statesVisited }
}

/**
 * Number of positions of a compiled pattern, the unit in which the work of `overlap` is bounded.
 *
 * For one expansion at most its characters plus two, and one more where everything below it is covered.
 * A sum over expansions for braces; a pattern with bracket groups and no wildcard counts twice, because its
 * literal reading covers more than its class reading.
 */
export function positions(p: CompiledPattern): number {
  return countPositions(p.alternatives)
}

function countPositions(alternatives: readonly PathAutomaton[]): number {
  let total = 0
  for (const { segments, globstars } of alternatives) {
    const behindLast = 1
    total += segments.reduce((sum, segment) => sum + segment.edges.length, behindLast)
    total += globstars.filter(Boolean).length
  }
  return total
}

function requireLength(text: string): void {
  if (text.length <= PATTERN_CHARS_MAX) return
  throw new GlobError(
    `must be at most ${PATTERN_CHARS_MAX} characters, this is ${text.length}; ` +
      "use a shorter pattern, such as a parent folder followed by '/**'.",
  )
}

/** Counts one expansion after the other and stops at the first too many, so the cost has the same limit. */
function requireFewPositions(expansions: readonly string[][]): void {
  let total = 0
  for (const segments of expansions) {
    total += countPositions(compileExpansion(segments, false))
    if (total <= PATTERN_POSITIONS_MAX) continue
    throw new GlobError(
      `must not have more than ${PATTERN_POSITIONS_MAX} positions, which are about the characters of all its ` +
        `${expansions.length} brace expansions together; split it into several reservations.`,
    )
  }
}

/** The segments of every expansion, normalised; expansions without any are left out, as minimatch does. */
function expandToSegments(pattern: string): string[][] {
  const expansions = expandBraces(pattern, BRACE_EXPANSIONS_MAX)
  if (expansions === null) {
    throw new GlobError(
      `must not stand for more than ${BRACE_EXPANSIONS_MAX} patterns after brace expansion; ` +
        "use fewer alternatives, or a wildcard in their place.",
    )
  }
  const distinct = new Map<string, string[]>()
  for (const expansion of expansions) {
    const segments = resolveText(expansion)
    if (segments.length > 0) distinct.set(segments.join("/"), segments)
  }
  return requireSome([...distinct.values()])
}

function requireSome<T>(items: T[]): T[] {
  if (items.length > 0) return items
  throw new GlobError("must name at least one path segment; use '**' for the whole repository.")
}

/** The braces that are left after expansion are plain text, so nothing stands in the way of a `..`. */
function resolveText(text: string): string[] {
  return resolveSegments(text.normalize("NFC").split("/"), () => false)
}

/** Drops empty and `.` segments and resolves `..`, but keeps a `..` after a segment it cannot remove. */
function resolveSegments(segments: readonly string[], isFixed: (segment: string) => boolean): string[] {
  const resolved: string[] = []
  for (const segment of segments) {
    if (segment === "" || segment === ".") continue
    if (segment !== "..") {
      resolved.push(segment)
      continue
    }
    const previous = resolved.at(-1)
    if (previous === undefined) {
      throw new GlobError("must stay inside the repository; remove the '..' that leads out of it.")
    }
    if (previous === "**") {
      throw new GlobError("must not have '..' after '**', which has no one parent; write the path out.")
    }
    if (isFixed(previous)) resolved.push(segment)
    else resolved.pop()
  }
  return resolved
}

/**
 * What one expansion covers. Without wildcards it covers what is below it too; with bracket groups that holds
 * for its text only, since `app/[id]` may be a folder but `src/[ab].ts` as a class means two files.
 */
function compileExpansion(segments: readonly string[], ignoreCase: boolean): PathAutomaton[] {
  const path = compileSegments(segments, "pattern", ignoreCase)
  if (path.globstars.includes(true)) return [path]
  if (path.segments.some(({ special }) => special === "wildcard")) return [path]
  if (path.segments.every(({ special }) => special === "none")) return [withSubtree(path)]
  // The text comes first, because a witness is taken from the first that has one.
  return [withSubtree(compileSegments(segments, "brackets as text", ignoreCase)), path]
}

function compileSegments(texts: readonly string[], reading: Reading, ignoreCase: boolean): PathAutomaton {
  const segments: Segment[] = []
  const globstars = [false]
  texts.forEach((text, index) => {
    const isGlobstar = text === "**" && reading !== "verbatim"
    if (isGlobstar) globstars[segments.length] = true
    // A last `**` asks for at least one segment, in minimatch too: `a/**` is what is below `a`, not `a`.
    if (isGlobstar && index < texts.length - 1) return
    segments.push(isGlobstar ? ANY_SEGMENT : compileSegment(text, reading, ignoreCase))
    globstars.push(false)
  })
  return { segments, globstars }
}

function withSubtree({ segments, globstars }: PathAutomaton): PathAutomaton {
  return { segments, globstars: globstars.with(-1, true) }
}

/** The most natural path that leads to a state, as a chain of segments from its last one back. */
interface Trail {
  readonly before: Trail | null
  readonly segment: string
  readonly cost: number
}

/** More than all names of a path together can cost, so that fewer segments come before anything else. */
const SEGMENT_COST = 2 ** 26

/**
 * The product of two paths, in the same way as that of two segments: every move takes one segment and raises
 * a position or keeps it at a `**`, and each pair of segments is compared at most once. A comparison begins
 * in the pair of positions already counted, which is why it counts only the states after that.
 */
function overlapPaths(p: PathAutomaton, q: PathAutomaton, visit: () => void): string | null {
  const columns = q.globstars.length
  const trails: (Trail | undefined)[] = [{ before: null, segment: "", cost: 0 }]

  const move = (before: Trail, to: number, left: Segment, right: Segment) => {
    const segment = overlapSegments(left, right, visit)
    if (segment === null) return
    const cost = before.cost + SEGMENT_COST + unnaturalness(segment)
    const known = trails[to]
    if (known === undefined || cost < known.cost) trails[to] = { before, segment, cost }
  }

  for (let i = 0; i < p.globstars.length; i++) {
    for (let j = 0; j < columns; j++) {
      const here = i * columns + j
      const trail = trails[here]
      if (trail === undefined) continue
      visit()
      const left = p.segments[i]
      const right = q.segments[j]
      if (left && right) move(trail, here + columns + 1, left, right)
      if (left && q.globstars[j]) move(trail, here + columns, left, ANY_SEGMENT)
      if (right && p.globstars[i]) move(trail, here + 1, ANY_SEGMENT, right)
    }
  }
  const end = trails[p.globstars.length * columns - 1]
  return end === undefined ? null : spell(end)
}

function spell(path: Trail): string {
  const segments: string[] = []
  for (let at = path; at.before !== null; at = at.before) segments.push(at.segment)
  return segments.reverse().join("/")
}
