/** The one stored form of a pattern, what is refused on the way to it, and the prefix it is found by. */

import { describe, expect, it } from "vitest"
import { BRACE_EXPANSIONS_MAX, PATTERN_CHARS_MAX, PATTERN_POSITIONS_MAX } from "../../../src/config/limits.ts"
import { compilePattern, GlobError, normalizePattern, positions } from "../../../src/domain/glob/glob.ts"
import { literalPrefix } from "../../../src/domain/glob/literal.ts"
import { compile, refusal } from "../../support/patterns.ts"

describe("normalising", () => {
  it.each([
    ["./src//a.ts/", "src/a.ts"],
    ["src/./a/../b", "src/b"],
    ["src/*/../b", "src/b"],
    ["e\u0301.ts", "\u00e9.ts"],
    ["src/{api/x,web/y}/*.ts", "src/{api/x,web/y}/*.ts"],
    ["./src//{a//b,./c}/./d/", "src/{a//b,./c}/d"],
    ["{a/./b}", "{a/b}"],
    ["src/{a,b/c}/../x", "src/{a,b/c}/../x"],
  ])("turns %s into %s", (input, expected) => {
    expect(normalizePattern(input)).toBe(expected)
    expect(normalizePattern(expected)).toBe(expected)
  })

  it.each([["."], ["./"], [""], ["a/.."], ["{,}"], ["{.,}"]])("refuses %j, which names nothing", (input) => {
    expect(refusal(input)).toBe("must name at least one path segment; use '**' for the whole repository.")
  })

  it.each([[".."], ["../x"], ["a/../../b"], ["{a,..}/x"], ["a/{b,../..}"], ["{a,}/../x"], [".{.,x}/a"]])(
    "refuses %s, which leaves the repository",
    (input) => {
      expect(refusal(input)).toBe("must stay inside the repository; remove the '..' that leads out of it.")
    },
  )

  it.each([["**/.."], ["a/**/../b"], ["{a,**}/../b"], ["**/a/../.."]])(
    "refuses %s, a step back over **",
    (input) => {
      expect(refusal(input)).toBe(
        "must not have '..' after '**', which has no one parent; write the path out.",
      )
    },
  )

  it("refuses a leading slash and NUL", () => {
    expect(refusal("/src")).toBe("must be relative to the repository root; remove the leading '/'.")
    expect(refusal("a\0b")).toBe("must not contain NUL characters; remove them.")
  })

  it("refuses half a surrogate pair and accepts a whole one", () => {
    const half = "must not contain halves of surrogate pairs; write whole characters."
    expect([refusal("a\ud83d"), refusal("\ude00b"), refusal("😀")]).toEqual([half, half, "accepted"])
  })

  it("accepts 512 characters and refuses 513", () => {
    expect(normalizePattern("a".repeat(PATTERN_CHARS_MAX))).toHaveLength(512)
    expect(refusal("a".repeat(PATTERN_CHARS_MAX + 1))).toBe(
      "must be at most 512 characters, this is 513; " +
        "use a shorter pattern, such as a parent folder followed by '/**'.",
    )
  })

  it("counts the characters as given, and again after NFC, which can add some", () => {
    expect(refusal(`./${"a".repeat(511)}`)).toContain("this is 513")
    expect(refusal("\u0958".repeat(300))).toContain("this is 600")
  })

  it("accepts 1,000 brace expansions and refuses 1,001", () => {
    const ten = "{0,1,2,3,4,5,6,7,8,9}"
    expect(compile(ten.repeat(3)).alternatives).toHaveLength(BRACE_EXPANSIONS_MAX)
    expect(refusal(`{${ten.repeat(3)},x}`)).toBe(
      "must not stand for more than 1000 patterns after brace expansion; " +
        "use fewer alternatives, or a wildcard in their place.",
    )
  })

  it("accepts 20,000 positions and refuses 20,001", () => {
    const many = `{a,b}{a,b,c,d,e}{a,b,c,d,e}${"x".repeat(393)}`
    const largest = `{${many},${"y".repeat(47)}}`
    expect(positions(compile(largest))).toBe(PATTERN_POSITIONS_MAX)
    expect(refusal(`{${many},${"y".repeat(48)}}`)).toBe(
      "must not have more than 20000 positions, which are about the characters of all its " +
        "51 brace expansions together; split it into several reservations.",
    )
    expect(refusal(`${"{a,b}".repeat(9)}${"x".repeat(400)}`)).toContain("512 brace expansions")
    expect(refusal(`${"{a,b}".repeat(5)}${"[x]".repeat(150)}`)).toContain("more than 20000 positions")
  })

  it("is repeated on compiling, for texts that were never normalised", () => {
    expect(() => compilePattern("a/../..")).toThrow(GlobError)
    expect(() => compilePattern("{a,b}".repeat(10))).toThrow(GlobError)
  })
})

describe("the literal prefix", () => {
  it.each([
    ["src/api/*.ts", "src/api/"],
    ["src/a.ts", "src/a.ts/"],
    ["*.ts", ""],
    ["src/{a,b}", "src/"],
    ["app/[id]/x", "app/"],
    ["SRC/Ä.ts", "src/ä.ts/"],
    [String.raw`src/a\b/c`, "src/ab/c/"],
    [String.raw`app/\[id\]/*.ts`, "app/[id]/"],
    [String.raw`src/a\*\?\{b,c\}\\`, "src/a*?{b,c}\\/"],
    ["src/a\\", "src/a\\/"],
    [String.raw`src/\../a`, "src/"],
    [String.raw`src/\\*`, "src/"],
    ["src/.{.,x}/a", ""],
    ["}/../a/**", ""],
    ["src/{a,b}/../../c", ""],
    ["{a,b}".repeat(20), ""],
  ])("of %s is %j", (pattern, expected) => {
    expect(literalPrefix(pattern)).toBe(expected)
  })

  it("folds a letter the same wherever it stands, as overlap does", () => {
    expect(literalPrefix("ΑΣ/Σ")).toBe(literalPrefix("ας/σ"))
    expect(literalPrefix("ΑΣΑ")).toBe("ασα/")
  })
})
