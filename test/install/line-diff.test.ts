/** The difference of two texts, held against `diff -u` itself. */

import { spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { expect, test } from "vitest"
import { lineDiff } from "../../src/install/line-diff.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

test("changes are shown with three lines around them", () => {
  const before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
  expect(lineDiff("a", before, before.replace("6\n", "six\nand more\n"))).toBe(
    ["--- a", "+++ a", "@@ -3,7 +3,8 @@", " 3", " 4", " 5", "-6", "+six", "+and more", " 7", " 8", " 9"].join(
      "\n",
    ),
  )
})

test("equal texts have no difference, a new file has only additions", () => {
  expect(lineDiff("a", "1\n", "1\n")).toBe("")
  expect(lineDiff("a", "", "1\n2\n")).toBe("--- a\n+++ a\n@@ -0,0 +1,2 @@\n+1\n+2")
})

test("a missing last line break is said", () => {
  expect(lineDiff("a", "1", "1\n")).toBe(
    "--- a\n+++ a\n@@ -1,1 +1,1 @@\n-1\n\\ No newline at end of file\n+1",
  )
})

test("a file in which too many lines differ is replaced as a whole", () => {
  const numbers = Array.from({ length: 3_000 }, (_, index) => index)
  const before = numbers.map((index) => `a${index}\n`).join("")
  const after = numbers.map((index) => `b${index}`).join("\n")
  const lines = lineDiff("a", before, after).split("\n")
  expect(lines.slice(0, 4)).toEqual(["--- a", "+++ a", "@@ -1,3000 +1,3000 @@", "-a0"])
  expect(lines.slice(3_002, 3_004)).toEqual(["-a2999", "+b0"])
  expect(lines.slice(-2)).toEqual(["+b2999", "\\ No newline at end of file"])
  expect(lineDiff("a", "", before).split("\n").slice(2, 4)).toEqual(["@@ -0,0 +1,3000 @@", "+a0"])
})

test("a path stands there as it is", () => {
  expect(lineDiff('/home/jörg/my "settings"', "1\n", "2\n")).toMatch(/^--- \/home\/jörg\/my "settings"\n/)
})

test("patch makes the one text of the other", () => {
  const folder = temporaryFolder()
  const line = fc.constantFrom("a", "b", "c", "{", "}", "")
  const text = fc.array(line, { maxLength: 25 }).map((lines) => lines.map((one) => `${one}\n`).join(""))
  fc.assert(
    fc.property(text, text, (before, after) => {
      fc.pre(before !== after && before !== "" && after !== "")
      writeFileSync(join(folder, "file"), before)
      const diff = lineDiff("file", before, after)
      const { status, stderr } = spawnSync(
        "git",
        ["apply", "-p0", "--unsafe-paths", "--whitespace=nowarn", "-"],
        {
          cwd: folder,
          input: `${diff}\n`,
          encoding: "utf8",
        },
      )
      expect(stderr).toBe("")
      expect(status).toBe(0)
      expect(spawnSync("cat", ["file"], { cwd: folder, encoding: "utf8" }).stdout).toBe(after)
    }),
    { numRuns: 60 },
  )
})
