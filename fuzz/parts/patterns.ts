/** File path patterns: accepted or refused, compared, and held to the proof that each overlap names. */

import fc from "fast-check"
import { COMPARISON_STEPS_MAX } from "../../src/config/limits.ts"
import { compilePattern, GlobError, normalizePattern, overlap } from "../../src/domain/glob/glob.ts"
import { matchesPath } from "../../src/domain/glob/matching.ts"
import { meet } from "../../src/domain/glob/meeting.ts"
import { Work, WorkLimitError } from "../../src/domain/glob/work.ts"
import { definePart } from "../support/part.ts"
import { require, requireDiscreet } from "../support/texts.ts"
import { text } from "../support/values.ts"

const PIECES = [
  "a",
  "b",
  "src",
  "é",
  "😀",
  "*",
  "*",
  "**",
  "?",
  "/",
  "/",
  ".",
  "..",
  "\\",
  "\\*",
  "[",
  "]",
  "[a-z]",
  "[!a]",
  "[^b]",
]
const MORE_PIECES = [
  "[]a]",
  "[z-a]",
  "[a-",
  "{",
  "}",
  ",",
  "{a,b}",
  "{a,{b,c}}",
  "{1..3}",
  "{}",
  "{a/b,c}",
  "!",
  "#",
  "(",
  ")",
  " ",
  "İ",
  "ß",
  "\u0301",
]
const REPEATED = [
  "*a",
  "**/",
  "{a,b}",
  "[ab]*",
  "?",
  "a*?",
  "*/",
  "{a,",
  "(",
  "[!a]",
  "**/*a/",
  "{*,?}/",
  "\\",
  "😀*",
]

/** Patterns of every kind, from paths to such as nobody would write. */
export const pattern: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .array(fc.constantFrom(...PIECES, ...MORE_PIECES), { minLength: 1, maxLength: 12 })
      .map((all) => all.join("")),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(...REPEATED), fc.integer({ min: 2, max: 130 }))
      .map(([piece, count]) => piece.repeat(count).slice(0, 512)),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...REPEATED), fc.constantFrom(...REPEATED), fc.integer({ min: 2, max: 40 }))
      .map(([one, other, count]) => (one + other).repeat(count).slice(0, 512)),
  },
  { weight: 1, arbitrary: text },
)

interface Input {
  one: string
  other: string
  ignoreCase: boolean
}

export const patterns = definePart<Input>({
  name: "patterns",
  weight: 4,
  batch: 2_000,
  open: async () => ({
    inputs: fc.record({ one: pattern, other: pattern, ignoreCase: fc.boolean() }),
    begin: async () => ({ run: compare, end: async () => {} }),
  }),
})

async function compare({ one, other, ignoreCase }: Input): Promise<number> {
  try {
    const [p, q] = [normalizePattern(one), normalizePattern(other)]
    require(normalizePattern(p) === p, () => `${JSON.stringify(one)} has no one form`)
    const [left, right] = [compilePattern(p, { ignoreCase }), compilePattern(q, { ignoreCase })]
    const found = overlap(left, right, new Work(COMPARISON_STEPS_MAX))
    const meets = meet(right, left, new Work(COMPARISON_STEPS_MAX))
    require(found.overlaps === meets, () => `whether ${p} and ${q} conflict is said in two ways`)
    if (found.overlaps) {
      // A wildcard before a combining mark stands for letters that no stored path has apart from it.
      const isProven =
        found.witness !== found.witness.normalize("NFC") ||
        (matchesPath(left, found.witness) && matchesPath(right, found.witness))
      require(isProven, () => `${JSON.stringify(found.witness)} is no path of both ${p} and ${q}`)
    }
  } catch (error) {
    if (error instanceof WorkLimitError) return 1
    if (!(error instanceof GlobError)) throw error
    requireDiscreet(error.message, "a pattern's error")
  }
  return 1
}
