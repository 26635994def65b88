/** Owns which part of a text is inline code. */

import fc from "fast-check"
import { expect, test } from "vitest"
import { maskCode } from "../../../src/domain/text/code-spans.ts"

test.each([
  ["no code", "no code"],
  ["run `npm test` now", "run `````````` now"],
  ["a `` ` `` b `c`", "a ``````` b ```"],
  ["`open and ``closed``", "`open and ``````````"],
  ["`a``b`", "``````"],
])("of %j it leaves %j", (text, masked) => {
  expect(maskCode(text)).toBe(masked)
})

test("length and all that is outside stay", () => {
  const text = fc.array(fc.constantFrom("`", "``", "a", " ", ".", "\n", "🚂")).map((parts) => parts.join(""))
  fc.assert(
    fc.property(text, (given) => {
      const masked = maskCode(given)
      expect(masked).toHaveLength(given.length)
      for (let at = 0; at < given.length; at++) {
        if (masked[at] !== "`") expect(masked[at]).toBe(given[at])
      }
    }),
  )
})

test.each(["`", "`` ` ", "`a", "``a`"])("it may be 200,000 characters of %j", (seed) => {
  const text = seed.repeat(200_000 / seed.length)
  expect(maskCode(text)).toHaveLength(text.length)
})
