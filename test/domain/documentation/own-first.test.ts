import { expect, test } from "vitest"
import { ownFirst } from "../../../src/domain/documentation/own-first.ts"

const found = (item: string, score: number, content = item) => ({
  item,
  score,
  isOwn: item.startsWith("own"),
  content,
})

test.each([
  [
    "own ones come first, each group by score",
    [found("b", 0.9), found("own 2", 0.1), found("own 1", 0.2), found("a", 1)],
    ["own 1", "own 2", "a", "b"],
    0,
  ],
  [
    "of identical contents the own one is kept, however low",
    [found("a", 1, "x"), found("own", 0.1, "x")],
    ["own"],
    1,
  ],
  [
    "of identical contents of others the best is kept",
    [found("b", 0.5, "x"), found("a", 1, "x"), found("c", 0.2, "x")],
    ["a"],
    2,
  ],
  [
    "what is beyond the limit is no repeat",
    [1, 2, 3, 4, 5].map((one) => found(`${one}`, 1 / one)),
    ["1", "2", "3", "4"],
    0,
  ],
  ["nothing gives nothing", [], [], 0],
])("%s", (_, all, items, repeats) => {
  expect(ownFirst(all, 4)).toEqual({ items, repeats })
})
