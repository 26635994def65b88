import { execFileSync } from "node:child_process"
import { expect, test } from "vitest"
import { fishQuoted, posixQuoted, posixWord } from "../../src/runtime/shell-quoting.ts"

const WORDS = [
  "plain/file.ts",
  "a b",
  "it's",
  "''",
  '$HOME `id` \\ "x"',
  "*?[a]{b,c}~#!&|;<>()",
  "a\nb",
  "-n",
  "=",
  "ü",
]

test.each([
  ["posixQuoted", posixQuoted],
  ["posixWord", posixWord],
])("a POSIX shell reads what %s returns as the text itself", (_, quote) => {
  const words = [...WORDS, ""]
  const script = `printf '%s\\0' ${words.map(quote).join(" ")}`
  expect(execFileSync("sh", ["-c", script], { encoding: "utf8" }).split("\0").slice(0, -1)).toEqual(words)
})

test("a word that needs no quotes has none", () => {
  expect(posixWord("src/a-b_c@1+2=3:4,5%.ts")).toBe("src/a-b_c@1+2=3:4,5%.ts")
  expect(posixWord("src/**")).toBe("'src/**'")
})

test("fish escapes quotes and backslashes within single quotes, and nothing else", () => {
  expect(fishQuoted("it's \\ $x")).toBe("'it\\'s \\\\ $x'")
})
