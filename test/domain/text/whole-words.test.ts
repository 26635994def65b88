import { expect, test } from "vitest"
import { cues, openings } from "../../../src/domain/text/whole-words.ts"

test("a cue is a whole word in any case and script", () => {
  for (const text of ["an action", "Action!", "the ACTION:"])
    expect(cues("action|plan").test(text)).toBe(true)
  for (const text of ["transaction", "action-item", "réaction", "actions"])
    expect(cues("action|plan").test(text)).toBe(false)
})

test("an opening stands at the beginning of a text only", () => {
  expect(openings("yes|no").test("Yes, we can")).toBe(true)
  expect(openings("yes|no").test("oh yes")).toBe(false)
  expect(openings("yes|no").test("note this")).toBe(false)
})
