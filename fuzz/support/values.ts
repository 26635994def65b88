/** Values that programs stumble over. None of them holds what `texts.ts` looks for. */

import fc from "fast-check"

const REPLACEMENTS = 2_000

const STRINGS = [
  "",
  " ",
  "\0",
  "a\0b",
  "\n",
  "a\r\nb",
  "\u001b[2J\u001b]0;x\u0007",
  "\u0085\u2028\u2029",
  "\u202ereversed\u202c",
  "\ufeff",
  "\ud800",
  "\udc00a",
  "x\ud83d",
  "😀".repeat(50),
  "e\u0301\u0323".repeat(40),
  "ﷺ",
  "İıſK",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "null",
  "true",
  "0",
  "-1",
  "1e309",
  "9007199254740993",
  "2026-02-31",
  "+275760-09-13T00:00:00.001Z",
  "0000-01-01T00:00:00Z",
  "%00",
  "%",
  "%F0%9F",
  "../..",
  "..\\..",
  "C:\\x",
  "//x",
  "~",
  "$HOME",
  "`id`",
  "$(id)",
  "; drop table agents --",
  "' OR 1=1 --",
  "\"'`<>&",
  "</textarea><script>alert(1)</script>",
  "```\n# heading\n```",
  "| a | b |\n|---|---|",
  "[a](javascript:alert)",
  "- [ ] @Alice: by tomorrow",
  "Signalbox",
  "NEAR(a b)",
  '"',
  "*",
  "a* OR b AND NOT c^2 {x y}: z",
  "subject:",
  "-",
  "--",
  '-"',
]

/** Text of any kind, mostly short. */
export const text: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...STRINGS) },
  { weight: 3, arbitrary: fc.string({ unit: "grapheme", maxLength: 40 }) },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 60 }) },
  { weight: 2, arbitrary: fc.lorem({ maxCount: 8 }) },
  {
    weight: 1,
    arbitrary: fc.array(fc.constantFrom(...STRINGS), { maxLength: 6 }).map((all) => all.join("")),
  },
)

/** Text of an exact number of UTF-16 units, of one kind of character. */
export function textOfLength(length: number): fc.Arbitrary<string> {
  const kinds = ["a", "é", "中", "word ", "😀", "\u0301", "*", "{", "\n", "[a-", "# ", "`", "\\"]
  return fc
    .constantFrom(...kinds)
    .map((kind) => kind.repeat(Math.ceil(Math.max(0, length) / kind.length)).slice(0, Math.max(0, length)))
}

/** Encodes any text for a URI; half a surrogate pair, which has no bytes, becomes what stands for it. */
export function percentEncoded(value: string): string {
  return encodeURIComponent(Buffer.from(value).toString())
}

/** Far too much of something. */
export const hugeText: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom(...STRINGS, "a", "word ", "中"), fc.constantFrom(1_000, 30_000, 200_000))
  .map(([piece, length]) => piece.repeat(Math.ceil(length / Math.max(1, piece.length))).slice(0, length))

export const number: fc.Arbitrary<number> = fc.oneof(
  fc.constantFrom(0, -0, -1, 1, 0.5, 1.5, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 2 ** 63, 1e21),
  fc.constantFrom(-(2 ** 31), -(2 ** 53), 5e-324, 1.7976931348623157e308, -1e-7),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)

/** One value in so many is something; all others are `otherwise`. */
export function rarely<T, U>(value: fc.Arbitrary<T>, oneIn: number, otherwise: U): fc.Arbitrary<T | U> {
  return fc.oneof({ weight: oneIn - 1, arbitrary: fc.constant(otherwise) }, { weight: 1, arbitrary: value })
}

/** JSON within JSON, to a depth that no honest caller needs; what is deeper still is written as text, see `brokenJson`. */
export const deepJson: fc.Arbitrary<unknown> = fc
  .tuple(fc.constantFrom(50, 99, 100, 101, 500), fc.boolean())
  .map(([depth, isArray]) => {
    let value: unknown = "x"
    for (let level = 0; level < depth; level += 1) value = isArray ? [value] : { a: value }
    return value
  })

/** An object with names that objects have of their own. */
const strangeObject: fc.Arbitrary<unknown> = fc
  .array(
    fc.tuple(
      fc.constantFrom("__proto__", "constructor", "toString", "length", "then", "toJSON", "", "0", "\0"),
      fc.oneof(text, number, fc.constant(null), fc.constant({ a: 1 })),
    ),
    { maxLength: 4 },
  )
  .map((entries) => Object.fromEntries(entries))

/** Any value that JSON can carry. */
export const anything: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: text },
  { weight: 4, arbitrary: number },
  { weight: 2, arbitrary: fc.constantFrom<unknown>(null, true, false, [], {}, [[]], [null]) },
  { weight: 2, arbitrary: strangeObject },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
  { weight: 1, arbitrary: hugeText },
  { weight: 1, arbitrary: deepJson },
  { weight: 1, arbitrary: fc.array(number, { minLength: 40, maxLength: 1_100 }) },
)

/** Text that is hardly JSON any more, made from some that is. */
export function brokenJson(whole: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.oneof(
    fc
      .tuple(whole, fc.nat(REPLACEMENTS), fc.constantFrom("", "\0", '"', "{", "[", "\\u", "\ud800", ",", "}"))
      .map(
        ([json, at, piece]) =>
          json.slice(0, at % (json.length + 1)) + piece + json.slice((at % (json.length + 1)) + 1),
      ),
    fc.tuple(whole, fc.nat(REPLACEMENTS)).map(([json, at]) => json.slice(0, at % (json.length + 1))),
    fc
      .constantFrom("[", "{", '{"a":', "[{")
      .chain((piece) => fc.constantFrom(200, 20_000, 100_000).map((count) => piece.repeat(count))),
    fc.constantFrom(
      "",
      "null",
      "[]",
      "0",
      '""',
      "\ufeff{}",
      "{}{}",
      "{}\n{}",
      "NUL",
      '{"a":1,"a":2}',
      "1e999",
    ),
    text,
  )
}

/** Bytes made from others: flipped, cut, overwritten, with strange ones in between. */
export function brokenBytes(whole: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
  const change = fc.record({
    kind: fc.constantFrom("flip", "set", "cut", "insert"),
    at: fc.nat(),
    byte: fc.constantFrom(0, 1, 0x7f, 0x80, 0xc0, 0xed, 0xf8, 0xff, 10, 34),
  })
  return fc.tuple(whole, fc.array(change, { maxLength: 6 })).map(([bytes, changes]) => {
    let changed = Uint8Array.from(bytes)
    for (const { kind, at, byte } of changes) {
      const place = at % (changed.length + 1)
      if (kind === "cut") changed = changed.slice(0, place)
      else if (kind === "insert")
        changed = Uint8Array.from([...changed.subarray(0, place), byte, ...changed.subarray(place)])
      else if (place < changed.length)
        changed[place] = kind === "set" ? byte : (changed[place] ?? 0) ^ (1 << (byte & 7))
    }
    return changed
  })
}
