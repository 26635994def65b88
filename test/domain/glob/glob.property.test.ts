/**
 * Holds the pattern engine to an independent reference: minimatch, asked once per combination of bracket
 * readings. The reference decides single paths only; whether two patterns meet is what is tested.
 *
 * Where minimatch 11 is odd, what is right here, and how the generators stay away from it:
 * - It expands `{1..3}`, leaves `${a,b}` alone and, like bash, pairs `{a},b}` with its second `}`. Here the
 *   first is text, the second a group, and in the third the first `}` closes and nothing expands: one rule
 *   for all braces. The reference expands by itself, and the comparison with `braceExpand` skips these.
 * - While expanding it drops the escapes of `{ } , .`, so `[\,]{a,b}` becomes `[,]a`. That is harmless to the
 *   class, but not to its text, which is a file name here. The reference keeps escapes.
 * - It joins complements the wrong way round: `[[:graph:][:print:]]` is their intersection and matches no
 *   space, `[![:graph:]a]` matches `b`. A class is the union of its members here; neither name is generated.
 * - `[.]` and `a/[.]/b` match the paths `.` and `a/./b` there. No path here has such a segment.
 * - It takes half a surrogate pair for a character. No pattern and no path here has one.
 * - Case outside ASCII follows Unicode's simple folding there, upper and then lower case here, which differ in
 *   a few letters (`ı` is an `I` here). The cased letters of the alphabets are the same in both.
 */

import fc from "fast-check"
import { braceExpand, Minimatch } from "minimatch"
import { describe, expect, it, vi } from "vitest"
import { patternCost } from "../../../src/domain/coordination/pattern-budget.ts"
import { expandBraces } from "../../../src/domain/glob/braces.ts"
import {
  type CompiledPattern,
  compilePattern,
  GlobError,
  normalizePattern,
  overlap,
  positions,
} from "../../../src/domain/glob/glob.ts"
import { escapePath, literalPath, literalPrefix } from "../../../src/domain/glob/literal.ts"
import { matches, matchesPath, plainPath, witnessAt } from "../../../src/domain/glob/matching.ts"
import { meet } from "../../../src/domain/glob/meeting.ts"
import { Work } from "../../../src/domain/glob/work.ts"

/** `GLOB_RUNS=50000 npx vitest run test/domain/glob/glob.property.test.ts` looks harder than every day. */
const RUNS = Number(process.env.GLOB_RUNS ?? 1_500)
vi.setConfig({ testTimeout: 60_000 + RUNS * 50 })

// --- The reference ---------------------------------------------------------------------------------------

type Matcher = (path: string) => boolean

const POSIX = String.raw`\[:(?:alnum|alpha|digit|lower|upper|punct|space|word|xdigit):\]`
const MEMBER = String.raw`(?:${POSIX}|\\[^/]|(?!${POSIX})[^\]\\/])`
const FIRST_MEMBER = String.raw`(?:\]|${MEMBER})`
const GROUP = String.raw`\[(?:[!^]|(?![!^]))${FIRST_MEMBER}${MEMBER}*\]`
const TOKEN = new RegExp(String.raw`(?<group>${GROUP})|\\[^/]|[\s\S]`, "gu")

function referenceMatcher(pattern: string, nocase = false): Matcher {
  const matchers = referenceExpand(pattern).flatMap((expansion) => {
    const text = referenceNormalise(expansion)
    return text === "" ? [] : readings(text).map((reading) => readingMatcher(reading, nocase))
  })
  return (path) => matchers.some((matches) => matches(path))
}

function readingMatcher(reading: string, nocase: boolean): Matcher {
  const options = { dot: true, noext: true, nonegate: true, nocomment: true, nobrace: true, nocase } as const
  const glob = new Minimatch(reading, { ...options, platform: "linux" })
  const wildcards = [...reading.matchAll(TOKEN)].some(
    ([token, ...rest]) => token === "*" || token === "?" || rest[0] !== undefined,
  )
  if (wildcards) return (path) => glob.match(path)
  const below = new Minimatch(`${reading}/**`, { ...options, platform: "linux" })
  return (path) => glob.match(path) || below.match(path)
}

/** Every combination of bracket groups left as they are or escaped, one by one, into their text. */
function readings(text: string): string[] {
  let all = [""]
  for (const segment of text.split("/")) {
    let heads = all.map((head) => (head === "" ? "" : `${head}/`))
    for (const token of segment.matchAll(TOKEN)) {
      const asText = token.groups?.group?.replace(/[\s\S]/gu, String.raw`\$&`)
      heads = heads.flatMap((head) => (asText ? [head + token[0], head + asText] : [head + token[0]]))
    }
    all = heads
  }
  return all
}

/** Expands the innermost pair first, with escapes and pairs without a comma hidden as private-use units. */
function referenceExpand(pattern: string): string[] {
  const hidden: string[] = []
  const hide = (text: string) => String.fromCharCode(0xe000 + hidden.push(text) - 1)
  const show = (text: string): string =>
    text.replace(/[\ue000-\uf8ff]/g, (unit) => show(hidden[unit.charCodeAt(0) - 0xe000] ?? ""))
  let texts = [pattern.replace(/\\[\s\S]/g, hide)]
  for (let changed = true; changed; ) {
    changed = false
    texts = texts.flatMap((text) => {
      const innermost = /\{([^{}]*)\}/.exec(text)
      if (innermost === null) return [text]
      changed = true
      const [all, body = ""] = innermost
      const before = text.slice(0, innermost.index)
      const after = text.slice(innermost.index + all.length)
      if (body.includes(",")) return body.split(",").map((choice) => before + hideCommas(choice) + after)
      return [before + hide("{") + hideCommas(body) + hide("}") + after]
    })
  }
  return [...new Set(texts.map(show))]

  // A comma that has been looked at belongs to this pair, not to the one around it.
  function hideCommas(text: string): string {
    return text.replaceAll(",", () => hide(","))
  }
}

function referenceNormalise(expansion: string): string {
  const kept: string[] = []
  for (const segment of expansion.split("/")) {
    if (segment === "..") kept.pop()
    else if (segment !== "" && segment !== ".") kept.push(segment)
  }
  return kept.join("/")
}

// --- The generators --------------------------------------------------------------------------------------

const pieces = fc.constantFrom(
  ..."aabb..AA**??😀𐐀𐐨",
  ...[
    "**",
    "***",
    "[ab]",
    "[!a]",
    "[^b.]",
    "[a-b]",
    "[Z-a]",
    "[.]",
    "[!.]",
    "[b-a]",
    "[!b-a]",
    "[]a]",
    "[!]a]",
  ],
  ...[
    String.raw`[\]a]`,
    "[a-]",
    "[-a]",
    "[*?]",
    "[[:alpha:]]",
    "[[:upper:]b]",
    "[😀]",
    "[!😀]",
    "[😀-😂]",
    "[a-😀]",
    String.raw`[\😁𐐀]`,
    "[![:lower:]]",
    "[a-[:alpha:]]",
  ],
  ...["[[a]", "[", "]", "[]", "[!]", "!", "#", "(a|b)", "+(a)", "-", "^"],
  ...[
    String.raw`\*`,
    String.raw`\?`,
    String.raw`\[`,
    String.raw`\a`,
    String.raw`\\`,
    String.raw`\{`,
    String.raw`\😀`,
    "\\",
  ],
  ...[
    "{a,b}",
    "{a,}",
    "{,.}",
    "{.,..}",
    "{a/b,*}",
    "{**,a}",
    "{[ab],A}",
    "{a,{b,/}}",
    "{a}",
    "{}",
    "{",
    "}",
    ",",
  ],
)
const segment = fc.oneof(
  { weight: 8, arbitrary: fc.array(pieces, { minLength: 1, maxLength: 4 }).map((list) => list.join("")) },
  { weight: 3, arbitrary: fc.constant("**") },
  { weight: 2, arbitrary: fc.constantFrom(".", "..", "..", "", "{a,b/a}", ".{.,a}") },
)
const rawPattern = fc.array(segment, { minLength: 1, maxLength: 4 }).map((list) => list.join("/"))
const pattern = rawPattern.filter((text) => normalised(text) !== null)

const name = fc
  .oneof(
    fc.string({ unit: fc.constantFrom(..."ab.A😀𐐀𐐨"), minLength: 1, maxLength: 3 }),
    fc.string({ unit: fc.constantFrom(..."ab.A[]!*?-\\{},^:😀😁"), minLength: 1, maxLength: 5 }),
    fc.constantFrom("[ab]", "[!a]", "[b-a]", "[]a]", "[[:alpha:]]", "{a}", ".a", "a.b"),
  )
  .filter((text) => text !== "." && text !== "..")
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((list) => list.join("/"))

/** A pattern with a path; half of the paths are made from the pattern, or few of them would be matched. */
const patternAndPath = fc.oneof(
  fc.tuple(pattern, path),
  fc
    .tuple(pattern, fc.array(fc.nat(11), { minLength: 11, maxLength: 11 }))
    .map(([p, choices]): [string, string] => [p, pathNear(p, choices)])
    .filter(([, near]) => isRealPath(near)),
)

/** Writes something plausible for each special thing in a pattern, and sometimes goes on below. */
function pathNear(text: string, choices: readonly number[]): string {
  let asked = 0
  const choose = (...options: string[]) =>
    options[(choices[asked++ % choices.length] ?? 0) % options.length] ?? ""
  const expansion = referenceNormalise(choose(...referenceExpand(text)))
  const segments = expansion.split("/").map((segment) => {
    if (segment === "**") return choose("", "a", "b/.a")
    return segment.replace(TOKEN, (token, group?: string) => {
      if (group !== undefined) return choose(group, group, "a", "b", "-", "😁", "𐐨")
      if (token === "*") return choose("", "a", "b.", "😀")
      if (token === "?") return choose("a", "b", ".", "😀")
      return token.startsWith("\\") && token.length > 1 ? token.slice(1) : token
    })
  })
  return segments
    .concat(choose("", "", "a"))
    .filter(Boolean)
    .join("/")
}

function isRealPath(text: string): boolean {
  return !/(^|\/)\.{0,2}(\/|$)/.test(text)
}

function normalised(text: string): string | null {
  try {
    return normalizePattern(text)
  } catch (error) {
    if (error instanceof GlobError) return null
    throw error
  }
}

function compile(raw: string, ignoreCase = false): CompiledPattern {
  return compilePattern(normalizePattern(raw), { ignoreCase })
}

function check<T>(property: fc.IRawProperty<T>, share = 1): void {
  fc.assert(property, { numRuns: Math.ceil(RUNS * share) })
}

// --- The properties --------------------------------------------------------------------------------------

describe.each([
  { how: "with exact case", ignoreCase: false },
  { how: "without regard to case", ignoreCase: true },
])("two patterns conflict exactly when some path is matched by both, $how", ({ ignoreCase }) => {
  it("matches the paths the reference matches", () => {
    check(
      fc.property(patternAndPath, ([p, candidate]) => {
        expect(matchesPath(compile(p, ignoreCase), candidate)).toBe(
          referenceMatcher(p, ignoreCase)(candidate),
        )
      }),
    )
  })

  it("finds a conflict wherever a path is matched by both", () => {
    check(
      fc.property(patternAndPath, pattern, ([p, candidate], q) => {
        const shared =
          referenceMatcher(p, ignoreCase)(candidate) && referenceMatcher(q, ignoreCase)(candidate)
        if (shared) expect(overlap(compile(p, ignoreCase), compile(q, ignoreCase)).overlaps).toBe(true)
      }),
    )
  })

  it("proves every conflict with a real path that both match", () => {
    check(
      fc.property(pattern, pattern, (p, q) => {
        const { witness } = overlap(compile(p, ignoreCase), compile(q, ignoreCase))
        if (witness !== null) expectMatchedByBoth(p, q, witness, ignoreCase)
      }),
    )
  })

  it("misses no short path among all of them and shows the least odd", () => {
    const paths = allPaths("abA.[]/", 4).concat(allPaths("ab./", 5), allPaths("a.😀😁𐐀𐐨", 3))
    const tiny = fc
      .string({ unit: fc.constantFrom(..."abA.**??[[]]!-/{},\\😀𐐀"), minLength: 1, maxLength: 6 })
      .filter((text) => normalised(text) !== null)
    check(
      fc.property(fc.array(tiny, { minLength: 4, maxLength: 4 }), (patterns) => {
        const matched = patterns.map((p) => new Set(paths.filter(referenceMatcher(p, ignoreCase))))
        patterns.forEach((p, i) => {
          patterns.forEach((q, j) => {
            const common = paths.find((candidate) => matched[i]?.has(candidate) && matched[j]?.has(candidate))
            const [left, right] = [compile(p, ignoreCase), compile(q, ignoreCase)]
            const { overlaps, witness } = overlap(left, right)
            if (common !== undefined) expect([p, q, common, overlaps]).toEqual([p, q, common, true])
            if (witness === null) return
            expectMatchedByBoth(p, q, witness, ignoreCase)
            if (left.alternatives.length > 1 || right.alternatives.length > 1) return
            const least = paths.every(
              (other) =>
                !(matched[i]?.has(other) && matched[j]?.has(other)) || oddity(other) >= oddity(witness),
            )
            expect([p, q, witness, least]).toEqual([p, q, witness, true])
          })
        })
      }),
      0.1,
    )
  })
})

describe("a conflict", () => {
  it("does not depend on the order of the two", () => {
    check(
      fc.property(pattern, pattern, fc.boolean(), (p, q, ignoreCase) => {
        const [left, right] = [compile(p, ignoreCase), compile(q, ignoreCase)]
        expect(overlap(left, right).overlaps).toBe(overlap(right, left).overlaps)
      }),
    )
  })

  it("visits at most positions(p) * positions(q) states", () => {
    check(
      fc.property(pattern, pattern, fc.boolean(), (p, q, ignoreCase) => {
        const [left, right] = [compile(p, ignoreCase), compile(q, ignoreCase)]
        expect(overlap(left, right).statesVisited).toBeLessThanOrEqual(positions(left) * positions(right))
      }),
    )
  })

  it("lets every pattern that conflicts with anything conflict with **", () => {
    check(
      fc.property(pattern, pattern, (p, q) => {
        if (overlap(compile(p), compile(q)).overlaps) {
          expect(overlap(compile(p), compile("**")).overlaps).toBe(true)
        }
      }),
    )
  })

  it("lets a pattern conflict with a literal path exactly when it matches it or something below", () => {
    check(
      fc.property(patternAndPath, path, ([p, candidate], rest) => {
        const taken = overlap(compile(p), compilePattern(candidate, { literal: true }))
        const matches = referenceMatcher(p)
        if (matches(candidate) || matches(`${candidate}/${rest}`)) expect(taken.overlaps).toBe(true)
        if (taken.witness !== null) {
          expect(matches(taken.witness)).toBe(true)
          expect(`${taken.witness}/`.startsWith(`${candidate}/`)).toBe(true)
        }
      }),
    )
  })
})

describe("the engine without witnesses", () => {
  it("agrees with the one that finds them on every two patterns", () => {
    check(
      fc.property(pattern, pattern, fc.boolean(), (p, q, ignoreCase) => {
        const [left, right] = [compile(p, ignoreCase), compile(q, ignoreCase)]
        expect([p, q, meet(left, right, new Work())]).toEqual([p, q, overlap(left, right).overlaps])
      }),
    )
  })

  it("gives a path, or one below it, just as the other does for the path as a pattern", () => {
    check(
      fc.property(patternAndPath, fc.boolean(), ([p, candidate], ignoreCase) => {
        const taken = compilePattern(candidate, { literal: true, ignoreCase })
        const { witness } = overlap(taken, compile(p, ignoreCase))
        expect(witnessAt(compile(p, ignoreCase), plainPath(candidate, ignoreCase))).toBe(witness)
      }),
    )
  })

  it("takes at most positions(p) steps for each unit of a path and one more, and a pattern costs no less", () => {
    const work = { steps: 0 }
    check(
      fc.property(patternAndPath, fc.boolean(), ([p, candidate], ignoreCase) => {
        const compiled = compile(p, ignoreCase)
        const taken = new Work()
        matches(compiled, plainPath(candidate, ignoreCase), taken)
        work.steps += taken.spent
        expect(taken.spent).toBeLessThanOrEqual(positions(compiled) * (candidate.length + 1))
        const cost = patternCost(normalizePattern(p))
        if (cost > 0) expect(positions(compiled)).toBeLessThanOrEqual(cost)
        else expect(literalPath(normalizePattern(p))).not.toBeNull()
      }),
    )
    expect(work.steps).toBeGreaterThan(0)
  })

  it("knows the one path that a pattern without anything special names", () => {
    check(
      fc.property(patternAndPath, ([p, candidate]) => {
        const named = literalPath(normalizePattern(p))
        expect(literalPath(normalizePattern(escapePath(candidate)))).toBe(candidate)
        if (named === null) return
        const isCovered = candidate === named || candidate.startsWith(`${named}/`)
        expect([p, candidate, referenceMatcher(p)(candidate)]).toEqual([p, candidate, isCovered])
      }),
    )
  })
})

describe("expanding, normalising and looking up", () => {
  it("expands braces as minimatch does, but for empty results", () => {
    const braced = fc
      .string({ unit: fc.constantFrom(..."ab{{{}}},,,/*"), minLength: 1, maxLength: 12 })
      .filter((text) => !text.startsWith("{}") && !hasUnpairedClose(text))
    check(
      fc.property(braced, (text) => {
        const expected = braceExpand(text).filter(Boolean)
        expect(expandBraces(text, 1_000_000)?.filter(Boolean)).toEqual(expected)
      }),
    )
  })

  it("normalises a normalised pattern to itself", () => {
    check(
      fc.property(pattern, (p) => {
        expect(normalizePattern(normalizePattern(p))).toBe(normalizePattern(p))
      }),
    )
  })

  it("gives conflicting patterns prefixes of which one starts with the other", () => {
    check(
      fc.property(pattern, pattern, fc.boolean(), (p, q, ignoreCase) => {
        if (!overlap(compile(p, ignoreCase), compile(q, ignoreCase)).overlaps) return
        expectComparable(literalPrefix(normalizePattern(p)), literalPrefix(normalizePattern(q)))
      }),
    )
  })

  it("gives a pattern and a literal path it conflicts with such prefixes too", () => {
    check(
      fc.property(patternAndPath, fc.boolean(), ([p, candidate], ignoreCase) => {
        const taken = compilePattern(candidate, { literal: true, ignoreCase })
        if (!overlap(compile(p, ignoreCase), taken).overlaps) return
        expectComparable(literalPrefix(normalizePattern(p)), literalPrefix(escapePath(candidate)))
      }),
    )
  })
})

/** What makes a witness look odd, worst first: more segments, separators side by side, length. */
function oddity(text: string): number {
  const characters = [..."/", ...text, "/"]
  const separators = characters.map((character) => /^[^a-z0-9\u{a1}-\u{10ffff}]$/iu.test(character))
  const seams = separators.filter((separator, at) => separator && separators[at - 1]).length
  return (text.split("/").length * 1_000 + seams) * 1_000 + characters.length
}

function expectMatchedByBoth(p: string, q: string, witness: string, ignoreCase: boolean): void {
  expect([witness, isRealPath(witness) && !/\p{Surrogate}/u.test(witness)]).toEqual([witness, true])
  expect([p, witness, referenceMatcher(p, ignoreCase)(witness)]).toEqual([p, witness, true])
  expect([q, witness, referenceMatcher(q, ignoreCase)(witness)]).toEqual([q, witness, true])
}

function hasUnpairedClose(text: string): boolean {
  let open = 0
  return [...text].some((unit) => {
    if (unit === "{") open++
    return unit === "}" && open-- <= 0
  })
}

function expectComparable(a: string, b: string): void {
  expect([a, b, a.startsWith(b) || b.startsWith(a)]).toEqual([a, b, true])
}

function allPaths(alphabet: string, maxLength: number): string[] {
  let texts = [""]
  const all: string[] = []
  for (let length = 1; length <= maxLength; length++) {
    texts = texts.flatMap((text) => [...alphabet].map((unit) => text + unit))
    all.push(...texts.filter(isRealPath))
  }
  return all
}
