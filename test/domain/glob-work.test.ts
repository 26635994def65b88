/** How much work comparing patterns may take, counted and never timed. */

import { describe, expect, it } from "vitest"
import { compilePattern, GlobError, matchesPath, overlap, positions } from "../../src/domain/glob.ts"
import { findConflicts, type Reservation } from "../../src/domain/reservation.ts"
import { OVERLAP_STATES_MAX, PATTERN_POSITIONS_MAX } from "../../src/limits.ts"
import { compare, compile, refusal } from "../support/patterns.ts"

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

  function tooComplexWith(other: string): GlobError {
    return new GlobError(
      `is too complex to compare with '${other}'; ` +
        "use fewer wildcards and alternatives, or split it into several reservations.",
    )
  }

  it("is refused past 2,000,000 states, in both orders", () => {
    const p = `${"**/a/".repeat(90)}{w,x,y,z}`
    const q = `{a,b}{a,b,c,d,e}{a,b,c,d,e}${"/a".repeat(190)}*`
    expect(() => overlap(compile(p), compile(q))).toThrow(tooComplexWith(q))
    expect(() => overlap(compile(q), compile(p))).toThrow(tooComplexWith(p))
  })

  it("is not refused when an answer comes first", () => {
    const { overlaps, statesVisited } = compare(compile(stars(180).replace("z", "a")), compile(large))
    expect([overlaps, statesVisited < OVERLAP_STATES_MAX / 10]).toEqual([true, true])
  })

  it("passes through where conflicts are looked for", () => {
    const held = { agentId: 2, pathPattern: large, exclusive: true, endedAtMs: null, expiresAtMs: 2 }
    const wanted = { agentId: 1, pathPattern: stars(180), exclusive: true }
    const find = (candidate: typeof held) =>
      findConflicts(wanted, [candidate as Reservation], { ignoreCase: false, nowMs: 1 })
    expect(() => find(held)).toThrow(tooComplexWith(large))
    expect(find({ ...held, agentId: 1 })).toEqual([])
    expect(find({ ...held, expiresAtMs: 1 })).toEqual([])
    expect(find({ ...held, pathPattern: "a/b.z" })).toEqual([])
    expect(find({ ...held, pathPattern: `${"a".repeat(180)}z` })).toHaveLength(1)
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
    for (let nth = 0; nth < 300; nth++) compilePattern(`${"x".repeat(400)}${nth}`)
    expect(compilePattern("first/**")).not.toBe(first)
    expect(matchesPath(compilePattern("first/**"), "first/a")).toBe(true)
  })
})
