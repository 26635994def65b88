/** Owns where a text may be cut. */

import fc from "fast-check"
import { expect, test } from "vitest"
import { isWithinCharacter } from "../../../src/domain/text/characters.ts"

test("a text may be cut everywhere but between the halves of a character", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.nat(20), (text, position) => {
      const isCut = [text.slice(0, position), text.slice(position)].some((part) =>
        /\p{Surrogate}/u.test(part),
      )
      expect(isWithinCharacter(text, position)).toBe(isCut)
    }),
  )
})

test("half a character that stands alone is not within one", () => {
  expect(isWithinCharacter("\ud83d", 1)).toBe(false)
  expect(isWithinCharacter("a\udc00", 1)).toBe(false)
})
