import { describe, expect, test } from "vitest"
import { ageOf, shownCount, timeAndAge } from "../../src/operations/markdown.ts"

const NOON_MS = Date.parse("2026-03-10T12:00:00.217Z")
const MINUTE_MS = 60_000

describe("a time", () => {
  test.each([
    [0, "2026-03-10T12:00:00Z, 0 s ago"],
    [10 * MINUTE_MS - 1, "2026-03-10T12:00:00Z, 10 min ago"],
    [10 * MINUTE_MS, "2026-03-10T12:00Z, 10 min ago"],
    [119 * MINUTE_MS, "2026-03-10T12:00Z, 1 h ago"],
    [49 * 60 * MINUTE_MS, "2026-03-10T12:00Z, 2 d ago"],
  ])("of %i ms ago stands with its age in the largest unit", (ageMs, expected) => {
    expect(timeAndAge(NOON_MS, NOON_MS + ageMs)).toBe(expected)
  })

  test("that is still to come is no time ago", () => {
    expect(ageOf(NOON_MS + 1, NOON_MS)).toBe("0 s ago")
  })
})

describe("the number of what was found", () => {
  test.each([
    [3, 3, "3"],
    [20, 55, "20 shown of 55"],
    [20, 1_000, "20 shown of 1,000"],
    [20, 1_001, "20 shown of more than 1,000"],
  ])("%i of %i", (shown, total, expected) => expect(shownCount(shown, total)).toBe(expected))
})
