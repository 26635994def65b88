/** What open patterns cost and how much of it a session may hold, both sides of each figure. */

import { describe, expect, test } from "vitest"
import {
  BRACKET_GROUP_COST,
  COMPARED_RESERVATIONS_MAX,
  CONFLICTS_FOUND_MAX,
  NAMED_CLASS_COST,
  PATTERN_COST_BASE,
  REPOSITORY_PATTERN_COST_MAX,
  SESSION_PATTERN_SHARE,
} from "../../../src/config/limits.ts"
import { patternCost, requireWithinBudget } from "../../../src/domain/coordination/pattern-budget.ts"
import { type Candidate, findConflicts } from "../../../src/domain/coordination/reservation.ts"
import { GlobError } from "../../../src/domain/glob/glob.ts"

describe("a pattern costs", () => {
  test.each([
    ["src/app.ts", 0],
    [String.raw`app/\[id\]/page.tsx`, 0],
    ["(group)/a.ts", 0],
    ["src/*.ts", PATTERN_COST_BASE + 11],
    ["{ab,c}/?", PATTERN_COST_BASE + 7 + 6],
    ["a/[id]", PATTERN_COST_BASE + 2 * 9 + BRACKET_GROUP_COST],
    ["[[:alpha:]]", PATTERN_COST_BASE + 2 * 14 + 2 * BRACKET_GROUP_COST + NAMED_CLASS_COST],
  ])("for %s %d", (pattern, cost) => {
    expect(patternCost(pattern)).toBe(cost)
  })
})

describe("a session may hold", () => {
  const SHARE = REPOSITORY_PATTERN_COST_MAX * SESSION_PATTERN_SHARE
  test.each([
    [SHARE, 0, 0],
    [1, SHARE - 1, 0],
    [1, 0, REPOSITORY_PATTERN_COST_MAX - 8],
    [100, SHARE / 2 - 100, REPOSITORY_PATTERN_COST_MAX / 2],
  ])("%d more beside %d of its own and %d of others, and not one more", (cost, own, others) => {
    expect(() => requireWithinBudget(cost, { own, others })).not.toThrow()
    expect(() => requireWithinBudget(cost + 1, { own, others })).toThrow(GlobError)
    expect(() => requireWithinBudget(cost, { own: own + 1, others })).toThrow(GlobError)
    expect(() => requireWithinBudget(cost, { own, others: others + 8 })).toThrow(GlobError)
  })

  test("200 patterns of three wildcards, also beside four sessions that do", () => {
    const cost = 200 * patternCost("packages/*/src/**/*.test.ts")
    for (let sessions = 0; sessions < 4; sessions++)
      expect(() => requireWithinBudget(cost, { own: 0, others: sessions * cost })).not.toThrow()
  })

  test("never all that is left, so that another one finds room", () => {
    let others = 0
    for (let session = 0; session < 20; session++) {
      let own = 0
      for (; fits(own, others); own += patternCost("*a*b*c")) expect(own).toBeLessThanOrEqual(SHARE)
      expect(own).toBeGreaterThan(0)
      others += own
    }
    expect(others).toBeLessThanOrEqual(REPOSITORY_PATTERN_COST_MAX)
  })
})

function fits(own: number, others: number): boolean {
  try {
    requireWithinBudget(patternCost("*a*b*c"), { own, others })
    return true
  } catch {
    return false
  }
}

describe("looking for conflicts", () => {
  const NOW_MS = 1_000
  const terms = { ignoreCase: false, nowMs: NOW_MS }
  const held = (pathPattern: string, id = 1): Candidate => {
    return { id, agentId: 2, pathPattern, exclusive: true, expiresAtMs: NOW_MS + 1, endedAtMs: null }
  }
  const wanted = (pathPattern: string) => ({ agentId: 1, pathPattern, exclusive: true })

  test("compares one pattern with so many reservations and no more, but a plain path with all", () => {
    const others = Array.from({ length: COMPARED_RESERVATIONS_MAX }, (_, id) => held(`src/f${id}`, id))
    expect(findConflicts(wanted("docs/*"), others, terms)).toEqual([])
    const oneMore = [...others, held("docs/a.md")]
    expect(() => findConflicts(wanted("docs/*"), oneMore, terms)).toThrow(
      /^is too complex beside what is open/,
    )
    expect(findConflicts(wanted("docs/a.md"), oneMore, terms)).toHaveLength(1)
  })

  test("finds so many and no more", () => {
    const others = Array.from({ length: CONFLICTS_FOUND_MAX + 1 }, (_, id) => held(`src/*${id}`, id))
    const found = (path: string, conflictsMax?: number) =>
      findConflicts(wanted(path), others, { ...terms, ...(conflictsMax && { conflictsMax }) }).length
    expect(found("src")).toBe(CONFLICTS_FOUND_MAX)
    expect(found("src", Number.POSITIVE_INFINITY)).toBe(CONFLICTS_FOUND_MAX + 1)
  })

  test("reports what it found where the work ends before all is compared", () => {
    const hard = `{a,b}{a,b,c,d,e}{a,b,c,d,e}${"/a".repeat(190)}*`
    const asked = wanted(`${"**/a/".repeat(90)}{w,x,y,z}`)
    const easy = held(`${"a/".repeat(90)}z`)
    expect(findConflicts(asked, [easy, held(hard)], terms)).toHaveLength(1)
    expect(() => findConflicts(asked, [held(hard), easy], terms)).toThrow(GlobError)
  })

  test("answers for a plain path whatever the patterns are", () => {
    const hostile = [
      "*?".repeat(250),
      "**/a/".repeat(90).slice(0, -1),
      `${"[!a]*".repeat(90)}`,
      "{a,b}".repeat(9),
    ]
    const path = `${"a/".repeat(255)}a`
    expect(() =>
      findConflicts(
        wanted(path),
        hostile.map((pattern) => held(pattern)),
        terms,
      ),
    ).not.toThrow()
  })
})
