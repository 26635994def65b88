/**
 * Brace expansion: `{a,b}` written out as text, before anything else in a pattern is read. Owns which braces
 * are alternatives and which are plain characters. Refuses ranges (`{1..3}` is literal) and refuses to write
 * out more alternatives than it was allowed.
 */

/** A brace pair with at least one comma of its own, by text indices. */
interface BraceGroup {
  readonly open: number
  readonly close: number
  readonly commas: readonly number[]
}

/**
 * Every text a pattern stands for, in reading order, or null when there are more than `max`.
 *
 * Groups nest, alternatives may be empty or contain `/`. A pair without a comma of its own, an unpaired brace
 * and an escaped brace stay in the text. Texts are counted before the first one is written, so the cost is
 * the length of the pattern times the number returned. No result is longer than the pattern.
 */
export function expandBraces(pattern: string, max: number): string[] | null {
  const groups = findGroups(pattern)
  if (groups.size === 0) return max < 1 ? null : [pattern]
  if (countBetween(pattern, groups, 0, pattern.length, max) > max) return null
  return expandBetween(pattern, groups, 0, pattern.length)
}

/** Splits a pattern at every `/` that is outside of all alternatives; a piece may keep some inside. */
export function splitOutsideBraces(pattern: string): string[] {
  const groups = findGroups(pattern)
  const pieces: string[] = []
  let start = 0
  for (let at = 0; at < pattern.length; at++) {
    const group = groups.get(at)
    if (group !== undefined) at = group.close
    else if (pattern[at] === "/") {
      pieces.push(pattern.slice(start, at))
      start = at + 1
    }
  }
  pieces.push(pattern.slice(start))
  return pieces
}

/** Pairs each `}` with the nearest open `{`; keeps the pairs that own a comma, by the index of their `{`. */
function findGroups(pattern: string): ReadonlyMap<number, BraceGroup> {
  const groups = new Map<number, BraceGroup>()
  const pending: { open: number; commas: number[] }[] = []
  for (let at = 0; at < pattern.length; at++) {
    const unit = pattern[at]
    if (unit === "\\") at++
    else if (unit === "{") pending.push({ open: at, commas: [] })
    else if (unit === ",") pending.at(-1)?.commas.push(at)
    else if (unit === "}") {
      const group = pending.pop()
      if (group !== undefined && group.commas.length > 0) groups.set(group.open, { ...group, close: at })
    }
  }
  return groups
}

/** Number of texts between two indices; any figure above `max` stands for "too many". */
function countBetween(
  pattern: string,
  groups: ReadonlyMap<number, BraceGroup>,
  from: number,
  to: number,
  max: number,
): number {
  let product = 1
  for (let at = from; at < to && product <= max; at++) {
    const group = groups.get(at)
    if (group === undefined) continue
    let sum = 0
    for (const [start, end] of alternatives(group)) sum += countBetween(pattern, groups, start, end, max)
    product *= sum
    at = group.close
  }
  return product
}

function expandBetween(
  pattern: string,
  groups: ReadonlyMap<number, BraceGroup>,
  from: number,
  to: number,
): string[] {
  let texts = [""]
  let plainFrom = from
  for (let at = from; at < to; at++) {
    const group = groups.get(at)
    if (group === undefined) continue
    const plain = pattern.slice(plainFrom, at)
    const choices = alternatives(group).flatMap(([start, end]) => expandBetween(pattern, groups, start, end))
    texts = texts.flatMap((text) => choices.map((choice) => text + plain + choice))
    at = group.close
    plainFrom = at + 1
  }
  const rest = pattern.slice(plainFrom, to)
  return texts.map((text) => text + rest)
}

function alternatives({ open, close, commas }: BraceGroup): [start: number, end: number][] {
  const starts = [open, ...commas].map((index) => index + 1)
  return starts.map((start, nth) => [start, commas[nth] ?? close])
}
