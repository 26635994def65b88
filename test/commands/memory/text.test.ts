import fc from "fast-check"
import { expect, test } from "vitest"
import { columnsOf, wrapped } from "../../../src/commands/columns.ts"
import {
  createProgress,
  progressLine,
  type Screen,
  untilInterrupted,
} from "../../../src/commands/progress.ts"
import { visible } from "../../../src/domain/foreign-text/visible.ts"
import { megabytes } from "../../../src/errors.ts"

const text = fc.string({
  unit: fc.constantFrom("a", "bc ", " ", "\n", "\t", "漢", "é", "e\u0301", "😀", "-", "\u001b[31m", "\r\n"),
  maxLength: 80,
})

test("a text without what a terminal would obey keeps all of its words", () => {
  fc.assert(
    fc.property(text, (one) => {
      expect(visible(one).replace(/[\n\t]/g, "")).not.toMatch(/\p{Cc}/u)
      expect(visible(visible(one))).toBe(visible(one))
    }),
  )
  expect(visible("a\r\nb\tc")).toBe("a\nb\tc")
  expect(visible("bar\rfoo")).toBe("bar␍foo")
})

test("wrapped lines fit, and lose nothing but blanks", () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 4, max: 40 }), (one, columns) => {
      const rows = wrapped(visible(one), columns)
      for (const row of rows) expect(columnsOf(row)).toBeLessThanOrEqual(columns)
      const withoutBlanks = (all: string) => all.replace(/\s/g, "")
      expect(withoutBlanks(rows.join(""))).toBe(withoutBlanks(visible(one)))
    }),
  )
  expect(wrapped("one two three", 7)).toEqual(["one two", "three"])
  expect(wrapped("a\n\nb", 7)).toEqual(["a", "", "b"])
})

test("wide characters take two columns, combining ones none", () => {
  expect(columnsOf("ab")).toBe(2)
  expect(columnsOf("漢字")).toBe(4)
  expect(columnsOf("e\u0301")).toBe(1)
  expect(columnsOf("😀")).toBe(2)
})

function screen(isTTY: boolean, columns = 80): Screen & { written: string } {
  return {
    isTTY,
    columns,
    written: "",
    write(part: string | Uint8Array) {
      this.written += String(part)
      return true
    },
  }
}

test("a bar is drawn at a terminal, within its columns, and taken away", () => {
  const shown = screen(true, 30)
  const progress = createProgress("Importing", String, shown)
  progress.show(1, 4)
  expect(shown.written).toBe(`\r\u001b[2K${"Importing [#.....]  25 %  1 o"}`)
  progress.end()
  expect(shown.written.endsWith("\r\u001b[2K")).toBe(true)
})

test("nothing is shown where no terminal is", () => {
  const shown = screen(false)
  const progress = createProgress("Importing", String, shown)
  progress.show(1, 4)
  progress.end()
  expect(shown.written).toBe("")
})

test("a line of progress says how far the work is, in words where the end is not known", () => {
  expect(progressLine("Importing", 0, 4, String)).toBe(`Importing [${".".repeat(24)}]   0 %  0 of 4`)
  expect(progressLine("Importing", 4, 4, String)).toBe(`Importing [${"#".repeat(24)}] 100 %  4 of 4`)
  expect(progressLine("Importing", 9, 4, String)).toContain("100 %")
  expect(progressLine("Importing", 1_500_000, null, megabytes)).toBe("Importing  1.5 MB")
})

test("a bar makes room for its figures in few columns, and keeps its length while they grow", () => {
  const bar = (done: number, columns: number) => progressLine("Importing", done, 4_000, String, columns)
  expect(bar(4_000, 56)).toBe(`Importing [${"#".repeat(24)}] 100 %  4000 of 4000`)
  expect(bar(4_000, 55)).toBe(`Importing [${"#".repeat(23)}] 100 %  4000 of 4000`)
  expect(bar(0, 55)).toBe(`Importing [${".".repeat(23)}]   0 %  0 of 4000`)
  expect(bar(4_000, 38)).toBe(`Importing [${"#".repeat(6)}] 100 %  4000 of 4000`)
  expect(bar(4_000, 37)).toBe(`Importing [${"#".repeat(6)}] 100 %  4000 of 400`)
})

test.each([
  [0, "0.0 MB"],
  [49_999, "under 0.1 MB"],
  [50_000, "0.1 MB"],
  [1_500_000, "1.5 MB"],
  [9_900_000, "9.9 MB"],
  [10_000_000, "10 MB"],
  [23_000_000_000, "23000 MB"],
])("%d bytes read as %s", (bytes, figure) => {
  expect(megabytes(bytes)).toBe(figure)
})

test("Ctrl+C asks the work to stop, and a second one is not caught", async () => {
  const before = process.listenerCount("SIGINT")
  const isStopped = await untilInterrupted(async (signal) => {
    expect(process.listenerCount("SIGINT")).toBe(before + 1)
    process.emit("SIGINT")
    expect(process.listenerCount("SIGINT")).toBe(before)
    return signal.aborted
  })
  expect(isStopped).toBe(true)
  expect(process.listenerCount("SIGINT")).toBe(before)
})
