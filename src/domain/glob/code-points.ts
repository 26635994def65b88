/**
 * Sets of Unicode code points as ranges. Owns their arithmetic, the characters a path can contain, and the
 * search for everything with a Unicode property. Refuses to know about letters, classes and patterns.
 */

/** Inclusive range of code points. */
export type Range = readonly [from: number, to: number]

/** Sorted, non-touching ranges. */
export type CharSet = readonly Range[]

const LAST = 0x10ffff

/** All but `/` and NUL, and all but halves of surrogate pairs, which are not characters. */
export const PATH_CHARACTERS: CharSet = [
  [0x01, 0x2e],
  [0x30, 0xd7ff],
  [0xe000, LAST],
]

/** The planes in between hold nothing yet, the last two are for private use: no property here is theirs. */
const ASSIGNED: CharSet = [
  [0, 0x3ffff],
  [0xe0000, 0xe0fff],
]

/**
 * Everything that an expression matches, which must have the `u` flag, look at one character, and match
 * neither unassigned nor private characters. Takes some 25 ms, so the result is worth keeping.
 */
export function rangesMatching(expression: RegExp): CharSet {
  const ranges: Range[] = []
  for (const [first, last] of ASSIGNED) {
    let from: number | null = null
    for (let code = first; code <= last + 1; code++) {
      const matches = code <= last && expression.test(String.fromCodePoint(code))
      if (matches && from === null) from = code
      if (!matches && from !== null) {
        ranges.push([from, code - 1])
        from = null
      }
    }
  }
  return ranges
}

/** The character at an index: both halves of a surrogate pair, if one begins there. */
export function characterAt(text: string, at: number): string {
  return text.slice(at, at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1))
}

/** The set of everything in any of the ranges, which may come in any order and overlap. */
export function mergeRanges(ranges: readonly Range[]): CharSet {
  const merged: [number, number][] = []
  for (const [from, to] of [...ranges].sort(([a], [b]) => a - b)) {
    const last = merged.at(-1)
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to)
    else merged.push([from, to])
  }
  return merged
}

/** Everything that is not in the set. */
export function complement(set: CharSet): CharSet {
  const rest: Range[] = []
  let next = 0
  for (const [from, to] of set) {
    if (next < from) rest.push([next, from - 1])
    next = to + 1
  }
  if (next <= LAST) rest.push([next, LAST])
  return rest
}

/** What a path can contain of the set. */
export function restrictToPaths(set: CharSet): CharSet {
  return set.flatMap(([from, to]) =>
    PATH_CHARACTERS.map(([low, high]): Range => [Math.max(from, low), Math.min(to, high)]).filter(
      ([low, high]) => low <= high,
    ),
  )
}
