/**
 * The contract of file path patterns by example: what conflicts, and what a witness looks like. The general
 * claims are in glob.property.test.ts.
 */

import { describe, expect, it } from "vitest"
import { foldCase } from "../../../src/domain/glob/case-folding.ts"
import { charactersOf } from "../../../src/domain/glob/character-set.ts"
import { compilePattern, GlobError, overlap, positions } from "../../../src/domain/glob/glob.ts"
import { matchesPath } from "../../../src/domain/glob/matching.ts"
import { compare, compile, conflicts, witnessOf } from "../../support/patterns.ts"

describe("what existing tools get wrong", () => {
  it.each([
    ["src/a.ts", "src/**", true],
    ["src/a.ts", "src/*", true],
    ["src/*.ts", "src/a*", true],
    ["src/**/*.ts", "src/api/*", true],
    ["src/**", "src/.env", true],
    ["src", "src/a.ts", true],
    ["./src/a.ts", "src/a.ts", true],
    ["app/[id]/page.tsx", "app/[id]/page.tsx", true],
    ["app/[id]/**", "app/[id]/page.tsx", true],
    ["README.md", "docs/README.md", false],
    ["!x.ts", "!x.ts", true],
    ["!x.ts", "y.ts", false],
    ["#x", "#x", true],
    ["src/[ab].ts", "src/[cd].ts", false],
    ["src/{a,b}.ts", "src/a.ts", true],
    ["src/{api/x,web/y}/*.ts", "src/api/x/f*", true],
    ["tool:/x", "tool:/x", true],
    ["SRC/a.ts", "src/a.ts", false],
  ])("decides %s against %s: %s", (existing, requested, expected) => {
    expect(conflicts(existing, requested)).toBe(expected)
  })

  it("lets SRC/a.ts and src/a.ts conflict where case does not count", () => {
    expect(conflicts("SRC/a.ts", "src/a.ts", { ignoreCase: true })).toBe(true)
  })
})

describe("wildcards", () => {
  it.each([
    ["a/**", "a/b/c", true],
    ["a/**/b", "a/b", true],
    ["**", "x", true],
    ["*", "a/b", false],
    ["a*b", "ab", true],
    ["a**b", "a/b", false],
    ["a?c", "ac", false],
    ["a?c", "a/c", false],
    ["*", ".env", true],
    ["*.ts", "*.tsx", false],
    ["*.ts", "*.test.*", true],
    ["**/a/**/b", "**/b/**/a", false],
    ["**/a/**", "**/b/**", true],
  ])("decides %s against %s: %s", (p, q, expected) => {
    expect(conflicts(p, q)).toBe(expected)
  })

  it("asks a last ** for at least one segment", () => {
    expect(matchesPath(compile("a/**"), "a")).toBe(false)
    expect(matchesPath(compile("a/**"), "a/b")).toBe(true)
    expect(conflicts("a/**", "a")).toBe(true)
  })

  it.each([
    [".*", "?"],
    ["..*", "??"],
    ["[.]", "*"],
    ["[.][.]", "**"],
    ["a/[.]/b", "**"],
  ])("never takes . or .. for a name: the common text of %s and %s is no path", (p, q) => {
    // The text reading of `[.]` is a name of its own, so only the class reading is at stake.
    const { witness } = compare(compile(p), compile(q))
    expect(witness === null || /(^|\/)[^/]*\[/.test(witness)).toBe(true)
  })

  it("takes ... and .a for names", () => {
    expect(witnessOf(".*", "???")).toBe(".aa")
    expect(matchesPath(compile("???"), "...")).toBe(true)
    expect(witnessOf("...", "*")).toBe("...")
    expect(witnessOf(".*", "??")).toBe(".a")
  })

  it("treats an escaped dot segment as the path no file can have", () => {
    expect(conflicts(String.raw`a/\./b`, "**")).toBe(false)
    expect(conflicts(String.raw`a/\.\./b`, "**")).toBe(false)
  })
})

describe("bracket groups", () => {
  it.each([
    ["[ab]", "a", true],
    ["[!ab]", "c", true],
    ["[a-c]", "[c-e]", true],
    ["[]a]", "]", true],
    ["[!]a]", "]", false],
    [String.raw`[\]a]`, "]", true],
    ["[a-]", "-", true],
    [String.raw`[a\-z]`, "m", false],
    ["[z-a]", "m", false],
    ["[!z-a]", "m", false],
    ["[+--]", ",", true],
    ["[!a]", "a/b", false],
    ["[.-0]", "[!.0]", false],
    ["[[:digit:]]", "7", true],
    ["[[:alpha:]]", "ß", true],
    ["[![:alpha:]]", "ß", false],
    ["[[:upper:][:digit:]_]", "_", true],
    ["[[:graph:][:space:]]", "a", true],
    ["[a-[:alpha:]]", "b", false],
    ["[[:nonsense:]]", "n]", true],
  ])("decides %s against %s: %s", (p, q, expected) => {
    expect(conflicts(p, q)).toBe(expected)
  })

  it.each([
    ["app/[id]/[ab].ts", "app/i/a.ts"],
    ["app/[id]/[ab].ts", "app/[id]/a.ts"],
    ["app/[id]/[ab].ts", "app/d/[ab].ts"],
    ["app/[id]/[ab].ts", "app/[id]/[ab].ts"],
    ["app/[...slug]/*.ts", "app/[...slug]/page.ts"],
    ["[z-a]", "[z-a]"],
    ["[*?]x", "[*?]x"],
  ])("reads every group of %s both ways, so it matches %s", (pattern, path) => {
    expect(matchesPath(compile(pattern), path)).toBe(true)
    expect(compare(compile(pattern), compilePattern(path, { literal: true })).overlaps).toBe(true)
  })

  it("takes everything inside a group for text in its text reading", () => {
    expect(matchesPath(compile("[*]"), "[x]")).toBe(false)
    expect(matchesPath(compile(String.raw`[\a]`), "[a]")).toBe(false)
    expect(matchesPath(compile(String.raw`[\a]`), String.raw`[\a]`)).toBe(true)
  })

  it.each(["[", "[a", "[!", "[]", "[!]", "a[b/c]d"])("takes the unclosed %s for text", (pattern) => {
    expect(matchesPath(compile(pattern), pattern)).toBe(true)
    expect(matchesPath(compile(pattern), `${pattern}/below`)).toBe(true)
  })
})

describe("what is below a pattern", () => {
  it("is covered when the pattern has no wildcard", () => {
    expect(conflicts("src", "src/a/b.ts")).toBe(true)
    expect(conflicts("src", "srcs")).toBe(false)
    expect(conflicts(String.raw`a\*`, "a*/x")).toBe(true)
    expect(conflicts("{src,test}", "test/a.ts")).toBe(true)
  })

  it("is not covered when the pattern has one", () => {
    expect(conflicts("src/*", "src/a/b")).toBe(false)
    expect(conflicts("src/?", "src/a/b")).toBe(false)
    expect(matchesPath(compile("**/src"), "a/src/b")).toBe(false)
    expect(conflicts("**/src", "a/src/b")).toBe(true)
  })

  it("is covered by the text reading of bracket groups, not by their class reading", () => {
    expect(conflicts("app/[id]", "app/[id]/page.tsx")).toBe(true)
    expect(conflicts("app/[id]", "app/i")).toBe(true)
    expect(conflicts("app/[id]", "app/i/page.tsx")).toBe(false)
    expect(conflicts("[ab]/[cd]", "[ab]/c/x")).toBe(false)
  })
})

describe("braces and escapes", () => {
  it.each([
    ["{a,b{c,d}}", "bd", true],
    ["{a,b{c,d}}", "b", false],
    ["x{,.bak}", "x", true],
    ["src/{,lib}/a", "src/a", true],
    ["src/{a,./b,c/../d}", "src/d", true],
    ["src/{a,b/c}/../x", "src/b/x", true],
    ["{1..3}", "2", false],
    ["{1..3}", "{1..3}", true],
    ["{a}", "{a}", true],
    ["{a,b", "{a,b", true],
    ["{a{b,c}}", "{ab}", true],
    [String.raw`\{a,b\}`, "a", false],
    [String.raw`{a\,b,c}`, "a,b", true],
    [String.raw`a\b`, "ab", true],
    ["a\\", "a?", true],
    [String.raw`\[ab]`, "a", false],
    [String.raw`\?`, "a", false],
    ["@(a|b)", "@(a|b)", true],
  ])("decides %s against %s: %s", (p, q, expected) => {
    expect(conflicts(p, q)).toBe(expected)
  })
})

describe("case", () => {
  it("is ignored on the set of characters, before a class is negated", () => {
    expect(conflicts("[Z-a]", "A", { ignoreCase: true })).toBe(true)
    expect(conflicts("[Z-a]", "b", { ignoreCase: true })).toBe(false)
    expect(conflicts("[!a]", "A", { ignoreCase: true })).toBe(false)
    expect(conflicts("[[:upper:]]", "q", { ignoreCase: true })).toBe(true)
    expect(conflicts("ÄÖ/Σ", "äö/ς", { ignoreCase: true })).toBe(true)
  })

  it("may be ignored by one pattern and not by the other", () => {
    const loose = compile("SRC/A.TS", { ignoreCase: true })
    expect(compare(loose, compile("src/a.ts")).witness).toBe("src/a.ts")
  })
})

describe("literal paths", () => {
  it("have no special characters and cover what is below them", () => {
    const path = "a/{b,c}/[d]*?\\!"
    const literal = compilePattern(path, { literal: true })
    expect(compare(literal, compilePattern(path, { literal: true })).witness).toBe(path)
    expect(compare(literal, compile("a/b/**")).overlaps).toBe(false)
    expect(compare(literal, compile("a/*/*/x")).overlaps).toBe(true)
  })

  it("are matched exactly, not by what is below them", () => {
    expect(matchesPath(compile("src/*/x"), "src/a")).toBe(false)
    expect(matchesPath(compile("src"), "src/a")).toBe(true)
    expect(matchesPath(compile("SRC", { ignoreCase: true }), "src")).toBe(true)
    expect(matchesPath(compile("**"), "")).toBe(false)
  })

  it("must name something", () => {
    expect(() => compilePattern("./", { literal: true })).toThrow(GlobError)
  })
})

describe("a witness", () => {
  it.each([
    ["src/**", "src/auth/*.ts", "src/auth/a.ts"],
    ["src/**", "src/**/*.ts", "src/a.ts"],
    ["src/**", "src/*/x", "src/a/x"],
    ["**", "**/b/**", "b/a"],
    ["**/*.ts", "src/**", "src/a.ts"],
    ["*.ts", "*.test.*", "a.test.ts"],
    ["src/**", "src/page.*", "src/page.a"],
    ["*.*.*", "**", "a.a.a"],
    ["*_test.go", "**", "a_test.go"],
    ["*-*", "?-*", "a-a"],
    ["src/*", "src/*", "src/a"],
    ["Button*", "*", "Button"],
    ["a*c", "*b*", "abc"],
    ["{a,b}*", "b?", "ba"],
    ["?", "[!a-z]", "A"],
    ["?", "[!a-zA-Z0-9]", "À"],
    ["?", "[!a-zA-Z0-9\u{a1}-\u{10ffff}]", "!"],
    ["?", "[!\u{1}-\u{ffff}]", "\u{10000}"],
  ])("of %s and %s looks like a real path: %s", (p, q, expected) => {
    expect(witnessOf(p, q)).toBe(expected)
    expect(witnessOf(q, p)).toBe(expected)
  })

  it.each([
    ["**", ".env", ".env"],
    ["*", ".*", ".a"],
    ["**/.ts", "src/**", "src/.ts"],
    ["**/**/b", "**/a/**", "a/b"],
    ["*/**", "**/*", "a/a"],
  ])("of %s and %s is odd or long only where it must be: %s", (p, q, expected) => {
    expect(witnessOf(p, q)).toBe(expected)
    expect(witnessOf(q, p)).toBe(expected)
  })

  it.each([
    ["src/**", "src/auth/Login.ts", false],
    ["**/*.TS", "src/auth/Login.ts", true],
    ["SRC/AUTH/login.ts", "src/auth/Login.ts", true],
    ["app/**/*.tsx", "app/[id]/page.tsx", false],
    ["app/[id]/page.tsx", "app/[id]/page.tsx", true],
    ["src/[a-z]*", "src/-x", false],
  ])("of %s and the plain path %s is that path, or there is none", (p, path, ignoreCase) => {
    const [left, right] = [compile(p, { ignoreCase }), compile(path, { ignoreCase })]
    const shown = overlap(right, left).witness
    expect(shown === null ? matchesPath(left, path) : shown !== path).toBe(false)
    compare(left, right)
  })

  it("never has half a surrogate pair", () => {
    expect(matchesPath(compile("?"), "\ud83d")).toBe(false)
    const half = compilePattern("\ud83d", { literal: true })
    expect(overlap(half, compile("**")).overlaps).toBe(false)
    expect(overlap(half, half).overlaps).toBe(false)
    expect(witnessOf("?", "[!\u{1}-\u{d7ff}]")).toBe("\u{10000}")
  })
})

describe("characters are code points", () => {
  it.each([
    ["?.ts", "😀.ts", true],
    ["??.ts", "😀.ts", false],
    ["??", "😀😁", true],
    ["[😀]", "[😁]", false],
    ["[😀😁]", "[😁😂]", true],
    ["[😀-😂]", "😁", true],
    ["[😀-😂]", "😃", false],
    ["[!😀]", "😀", false],
    ["[!😀]", "😁", true],
    [String.raw`[\😀-😁]`, "😁", true],
    [String.raw`\😀`, "😀", true],
    ["{😀,a}?", "😀b", true],
    ["[[:alpha:]]", "𐐀", true],
    ["[![:alpha:]]", "𐐀", false],
    ["[[:digit:]]", "𝟘", true],
    ["[[:graph:]]", "\u{10ffff}", false],
    ["𐐀", "𐐨", false],
  ])("decides %s against %s: %s", (p, q, expected) => {
    expect(conflicts(p, q)).toBe(expected)
  })

  it("have their case variants in every plane", () => {
    expect(conflicts("𐐀/[𐐁]", "𐐨/𐐩", { ignoreCase: true })).toBe(true)
    expect(conflicts("[!𐐀]", "𐐨", { ignoreCase: true })).toBe(false)
    for (let code = 1; code <= 0x1ffff; code++) {
      const character = String.fromCodePoint(code)
      const folded = foldCase(character)
      if (folded === character) continue
      const { set } = charactersOf(character, true)
      const variant = folded.codePointAt(0) ?? 0
      const isIn = set.some(([from, to]) => from <= variant && variant <= to)
      expect([character, isIn, folded.length]).toEqual([character, true, character.length])
    }
  })

  it("have no properties in the planes that are not looked at", () => {
    for (let first = 0x40000; first <= 0x10ffff; first += 0x1000) {
      if (first === 0xe0000) continue
      const all = String.fromCodePoint(...Array.from({ length: 0x1000 }, (_, nth) => first + nth))
      expect([first, /^[\p{Unassigned}\p{Private_Use}]*$/u.test(all)]).toEqual([first, true])
    }
  })

  it("are one position each", () => {
    expect(positions(compile("😀?"))).toBe("a?".length + 2)
  })
})
