/** How much work comparing patterns may take, counted and never timed. */

import { describe, expect, it } from "vitest"
import { PATTERN_POSITIONS_MAX } from "../../../src/config/limits.ts"
import { findConflicts, type Reservation } from "../../../src/domain/coordination/reservation.ts"
import { compilePattern, GlobError, overlap, positions } from "../../../src/domain/glob/glob.ts"
import { matchesPath } from "../../../src/domain/glob/matching.ts"
import { Work, WorkLimitError } from "../../../src/domain/glob/work.ts"
import { compare, compile, refusal } from "../../support/patterns.ts"

describe("hostile patterns stay within positions(p) * positions(q)", () => {
  it.each([
    ["stars on both sides", "a*".repeat(30), "*a".repeat(30)],
    ["stars that never meet", `${"a*".repeat(255)}b`, `${"*a".repeat(255)}c`],
    ["stars and single characters", "*?".repeat(250), `${"?*".repeat(250)}a`],
    ["globstars in a row", `${"**/".repeat(60)}x`, `${"**/".repeat(60)}y`],
    ["globstars between names", `${"**/a/".repeat(60)}x`, `${"**/b/".repeat(60)}y`],
    ["globstars between stars", `${"**/*a*/".repeat(60)}x`, `${"**/*b*/".repeat(60)}y`],
    ["long classes", `[${"a-z".repeat(160)}]`, `[!${"b-y".repeat(160)}]`],
    ["many classes", "[!a]*".repeat(90), "*[!b]".repeat(90)],
    ["many POSIX classes", "[[:alpha:]]*".repeat(40), "*[[:digit:]]".repeat(40)],
    ["unclosed brackets", "[".repeat(500), `${"[".repeat(250)}*`],
    ["groups beside their text", "[a]".repeat(150), "[[]a]".repeat(100)],
    ["a thousand expansions", `${"{a,b}".repeat(9)}*x`, `*${"{a,b}".repeat(4)}y`],
    ["nested braces", `${"{a,".repeat(120)}a${"}".repeat(120)}`, `${"{b,".repeat(60)}b${"}".repeat(60)}`],
    ["literal against star", "a".repeat(512), "*a".repeat(256)],
  ])("%s", (_, p, q) => {
    compare(compile(p), compile(q))
    compare(compile(p, { ignoreCase: true }), compile(q, { ignoreCase: true }))
  })

  it("counts expansions before it writes them out", () => {
    expect(refusal("{a,b}".repeat(40))).toContain("more than 1000 patterns")
    expect(refusal(`${"{a,b}".repeat(9)}${"{,}".repeat(40)}`)).toContain("more than 1000 patterns")
    expect(refusal(`${"{a,{b,{c,".repeat(20)}x${"}}}".repeat(20)}`.repeat(2))).toContain(
      "more than 1000 patterns",
    )
  })

  it("counts at most a pattern's characters and three more as positions, for each expansion", () => {
    expect(positions(compile("src"))).toBe("src".length + 3)
    expect(positions(compile("a?c/b"))).toBe("a?c/b".length + 2)
    expect(positions(compile("src/*.ts"))).toBe("src/*.ts".length + 1)
    expect(positions(compile("{ab,c}/?"))).toBe("ab/?".length + 2 + "c/?".length + 2)
  })
})

describe("the work of one comparison", () => {
  /** Nearly 20,000 positions, and every state of a pattern of stars is reached in each expansion. */
  const large = `{a,b}{a,b,c,d,e}{a,b,c,d,e}${"a".repeat(394)}`
  const stars = (size: number) => `${"*?".repeat(size - 3)}*z`

  it.each([60, 100])("gives a pattern of %d positions its answer against the largest", (size) => {
    const [p, q] = [compile(stars(size)), compile(large)]
    expect([positions(p), positions(q)]).toEqual([size, PATTERN_POSITIONS_MAX])
    const { overlaps, statesVisited } = compare(p, q)
    expect(overlaps).toBe(false)
    expect(statesVisited).toBeGreaterThan((size * PATTERN_POSITIONS_MAX * 3) / 4)
  })

  it("ends in an error past what it is allowed, in both orders, and not at it", () => {
    const p = compile("a*b*c")
    const q = compile("*x*y")
    const whole = new Work()
    expect(overlap(p, q, whole).overlaps).toBe(false)
    for (const [one, other] of [[p, q] as const, [q, p] as const]) {
      expect(overlap(one, other, new Work(whole.spent)).overlaps).toBe(false)
      expect(() => overlap(one, other, new Work(whole.spent - 1))).toThrow(WorkLimitError)
    }
  })

  it("is refused by the name of the pattern wanted where conflicts are looked for", () => {
    const pathPattern = `{a,b}{a,b,c,d,e}{a,b,c,d,e}${"/a".repeat(190)}*`
    const held = { agentId: 2, pathPattern, exclusive: true, endedAtMs: null, expiresAtMs: 2 }
    const wanted = { agentId: 1, pathPattern: `${"**/a/".repeat(90)}{w,x,y,z}`, exclusive: true }
    const find = (candidate: typeof held, asked = wanted) =>
      findConflicts(asked, [candidate as Reservation], { ignoreCase: false, nowMs: 1 })
    expect(() => find(held)).toThrow(
      new GlobError(
        "is too complex beside what is open in this repository: comparing it with 1 reservations takes more than " +
          "2000000 steps or concerns more than 20000. Reserve fewer wildcards, or name folders and files.",
      ),
    )
    expect(find({ ...held, agentId: 1 })).toEqual([])
    expect(find({ ...held, expiresAtMs: 1 })).toEqual([])
    expect(find({ ...held, exclusive: false }, { ...wanted, exclusive: false })).toEqual([])
    expect(find({ ...held, pathPattern: `${"a/".repeat(90)}z` })).toHaveLength(1)
    expect(find(held, { ...wanted, pathPattern: "a/b.z" })).toEqual([])
  })
})

describe("compiled patterns", () => {
  it("are kept apart by their options", () => {
    const options = [{}, { ignoreCase: true }, { literal: true }, { ignoreCase: true, literal: true }]
    const compiled = options.map((option) => compilePattern("A*", option))
    expect(compiled.map((pattern) => matchesPath(pattern, "Ab"))).toEqual([true, true, false, false])
    expect(compiled.map((pattern) => matchesPath(pattern, "a*"))).toEqual([false, true, false, true])
  })

  it("are remembered until there are many newer ones", () => {
    const first = compilePattern("first/**")
    expect(compilePattern("first/**")).toBe(first)
    for (let nth = 0; nth < 600; nth++) compilePattern(`${"x".repeat(400)}${nth}`)
    expect(compilePattern("first/**")).not.toBe(first)
    expect(matchesPath(compilePattern("first/**"), "first/a")).toBe(true)
  })
})
