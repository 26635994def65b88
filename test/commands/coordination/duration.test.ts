import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { parseDuration } from "../../../src/commands/coordination/duration.ts"

describe("a length of time", () => {
  test.each([
    ["90", 90],
    ["90s", 90],
    ["30m", 1_800],
    ["4h", 14_400],
    ["2h30m", 9_000],
    ["1h1m1s", 3_661],
    ["1H", 3_600],
    [" 5m ", 300],
    ["1", 1],
    ["8h", 28_800],
    ["28800", 28_800],
  ])("%j is %d s", (text, seconds) => {
    expect(parseDuration(text)).toBe(seconds)
  })

  test.each(["0", "0s", "8h1s", "28801", "999999h"])("%j is out of bounds", (text) => {
    expect(() => parseDuration(text)).toThrow(/duration must be 1 s to 28,800 s \(8h\)/)
  })

  test.each(["", "h", "4 h", "1d", "-5m", "1.5h", "30m2h", "4h4h", "٣h", "4h\n5m", "9999999"])(
    "%j is none",
    (text) => {
      expect(() => parseDuration(text)).toThrow(/is no length of time/)
    },
  )

  test("in hours, minutes and seconds is their sum", () => {
    const parts = fc.tuple(fc.nat(7), fc.nat(59), fc.integer({ min: 1, max: 59 }))
    fc.assert(
      fc.property(parts, ([hours, minutes, seconds]) => {
        expect(parseDuration(`${hours}h${minutes}m${seconds}s`)).toBe(hours * 3_600 + minutes * 60 + seconds)
      }),
    )
  })
})
