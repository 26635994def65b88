import fc from "fast-check"
import { expect, test } from "vitest"
import { visible, visibleJson, visibleLine } from "../../../src/domain/foreign-text/visible.ts"

const ACTING =
  /(?![\n\t])\p{Cc}|[\p{Cs}\u2028\u2029\u200b\u200e\u200f\u061c\u202a-\u202e\u2060-\u206f\ufeff]/u
const anything = fc.string({ unit: "binary", maxLength: 60 })

test("control characters have signs of their own, whatever else is not seen has one a run", () => {
  expect(visible("a\0b\u001b[31mc\u007fd\u009b2J")).toBe("a␀b␛[31mc␡d�2J")
  expect(visible("a\r\nb\tc\rd")).toBe("a\nb\tc␍d")
  for (const hidden of [
    "\u202e",
    "\u2066\u2069",
    "\u200f",
    "\u061c",
    "\u200b\u2060",
    "\ufeff",
    "\u00ad",
    "\u2028",
  ])
    expect(visible(`a${hidden}b`), JSON.stringify(hidden)).toBe("a�b")
  expect(
    visible(`a${[..."hidden"].map((one) => String.fromCodePoint(0xe0000 + one.charCodeAt(0))).join("")}b`),
  ).toBe("a�b")
  expect(visible("a\ud800b\udc00")).toBe("a�b�")
})

test.each(["👨‍👩‍👧 ❤️ 👩🏽‍💻 🏴‍☠️ #️⃣ ☎︎", "می‌خواهم", "क्‍ष", "שלום, עולם", "naïve 漢字 e\u0301"])(
  "the writing of %s stays as it is",
  (text) => {
    expect(visible(text)).toBe(text)
    expect(visibleLine(text)).toBe(text)
  },
)

test("joiners and variation selectors that join or vary nothing are shown", () => {
  expect(visible("a\u200db")).toBe("a�b")
  expect(visible("a\ufe01\ufe02b")).toBe("a�b")
  expect(visible("❤\ufe0f\ufe0f")).toBe("❤\ufe0f�")
})

test("nothing that acts is left of any text, and twice shows what once does", () => {
  fc.assert(
    fc.property(anything, (text) => {
      expect(visible(text)).not.toMatch(ACTING)
      expect(visible(visible(text))).toBe(visible(text))
      expect(visibleLine(text)).not.toMatch(/\p{Cc}/u)
    }),
  )
})

test("a line has a sign for each break, and one space for other white space", () => {
  expect(visibleLine("  one\t\ttwo\u00a0 three ")).toBe("one two three")
  expect(visibleLine("one \r\n\r\n two\u2028three\u0085four\vfive")).toBe("one ⏎ two ⏎ three ⏎ four ⏎ five")
})

test("JSON for a terminal says the same as JSON, without what a terminal would obey", () => {
  fc.assert(
    fc.property(anything, (text) => {
      const value = { [text]: [text, 1, null] }
      expect(JSON.parse(visibleJson(value, 2))).toEqual(JSON.parse(JSON.stringify(value)))
      expect(visibleJson(value)).not.toMatch(/\n/)
      expect(visibleJson(value, 2)).not.toMatch(ACTING)
    }),
  )
  expect(visibleJson("\u001b\u009b\u202e\u{e0041}é")).toBe(String.raw`"\u001b\u009b\u202e\udb40\udc41é"`)
  expect(visibleJson({ a: 1 })).toBe('{"a":1}')
})
