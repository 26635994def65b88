/** The difference of two texts, held against `diff -u` itself. */

import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import { expect, onTestFinished, test } from "vitest"
import { lineDiff } from "../../src/install/line-diff.ts"

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

test("patch makes the one text of the other", () => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-diff-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
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
