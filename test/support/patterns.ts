/** What the examples of path patterns share: compiling, comparing in both orders, refusals. */

import { expect } from "vitest"
import {
  type CompiledPattern,
  compilePattern,
  GlobError,
  normalizePattern,
  type Overlap,
  overlap,
  positions,
} from "../../src/domain/glob/glob.ts"
import { matchesPath } from "../../src/domain/glob/matching.ts"

/** Normalises and compiles a pattern. */
export function compile(
  pattern: string,
  options: { ignoreCase?: boolean; literal?: boolean } = {},
): CompiledPattern {
  return compilePattern(normalizePattern(pattern), options)
}

/** Compares in both orders, checks that they agree, and checks each witness and the bound on the work. */
export function compare(p: CompiledPattern, q: CompiledPattern): Overlap {
  const bound = positions(p) * positions(q)
  const both = [overlap(p, q), overlap(q, p)] as const
  expect(both[0].overlaps).toBe(both[1].overlaps)
  for (const { overlaps, witness, statesVisited } of both) {
    expect(statesVisited).toBeLessThanOrEqual(bound)
    expect(overlaps).toBe(witness !== null)
    if (witness === null) continue
    expect(normalizePattern(witness)).toBe(witness)
    expect([witness, matchesPath(p, witness), matchesPath(q, witness)]).toEqual([witness, true, true])
  }
  return both[0]
}

/** Whether two patterns conflict. */
export function conflicts(a: string, b: string, options: { ignoreCase?: boolean } = {}): boolean {
  return compare(compile(a, options), compile(b, options)).overlaps
}

/** The path that two patterns share, as it is shown. */
export function witnessOf(a: string, b: string, options: { ignoreCase?: boolean } = {}): string | null {
  return compare(compile(a, options), compile(b, options)).witness
}

/** Why a pattern is refused, or `accepted`. */
export function refusal(pattern: string): string {
  try {
    normalizePattern(pattern)
  } catch (error) {
    if (error instanceof GlobError) return error.message
    throw error
  }
  return "accepted"
}
