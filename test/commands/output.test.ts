import { afterEach, expect, test } from "vitest"
import { table } from "../../src/commands/output.ts"

const { isTTY, columns } = process.stdout

afterEach(() => {
  Object.assign(process.stdout, { isTTY, columns })
})

const HEADING = ["ID", "PATH"]
const ROWS = [
  ["1", "src/auth"],
  ["2", ""],
]

test("a table has aligned columns where it fits, and where nobody looks", () => {
  const fitting = "ID  PATH\n1   src/auth\n2"
  Object.assign(process.stdout, { isTTY: true, columns: 12 })
  expect(table(HEADING, ROWS)).toBe(fitting)
  Object.assign(process.stdout, { isTTY: false, columns: 11 })
  expect(table(HEADING, ROWS)).toBe(fitting)
})

test("a table too wide for the terminal is a block for each row, without what is empty", () => {
  Object.assign(process.stdout, { isTTY: true, columns: 11 })
  expect(table(HEADING, ROWS)).toBe("ID    1\nPATH  src/auth\n\nID    2")
})
