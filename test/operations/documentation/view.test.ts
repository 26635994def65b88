import { expect, test } from "vitest"
import { viewOf } from "../../../src/operations/documentation/view.ts"

const file = (path: string, firstNumber: number, chunkLengths: number[]) => ({
  path,
  blobId: firstNumber,
  changedAtMs: null,
  title: null,
  firstNumber,
  chunkLengths,
})

test("a view knows of each chunk whether it is on the branch, how long it is and which file it is of", () => {
  const view = viewOf([file("a.md", 5, [10, 30]), file("docs/b.md", 2, [20])])
  expect([...view.isLive]).toEqual([0, 0, 1, 0, 0, 1, 1])
  expect([...view.lengths]).toEqual([0, 0, 20, 0, 0, 10, 30])
  expect([2, 5, 6].map((number) => view.paths[view.fileOf[number] ?? -1])).toEqual([
    "docs/b.md",
    "a.md",
    "a.md",
  ])
  expect([view.chunks, view.lengthMean]).toEqual([3, 20])
})

test("a content that two files have counts once, for the first of them", () => {
  const view = viewOf([file("a.md", 1, [10]), file("b.md", 1, [10])])
  expect([view.chunks, view.paths[view.fileOf[1] ?? -1]]).toEqual([1, "a.md"])
})

test("files are found by the words of their paths", () => {
  const view = viewOf([
    file("guides/install.md", 1, [1]),
    file("guides/upgrade.md", 2, [1]),
    file("other.md", 3, [1]),
  ])
  expect(view.filesWith("guid")).toEqual([0, 1])
  expect(view.filesWith("instal")).toEqual([0])
  expect(view.filesWith("nowhere")).toEqual([])
})

test("a branch without files is a view without chunks", () => {
  const view = viewOf([])
  expect([view.chunks, view.lengthMean, [...view.isLive]]).toEqual([0, 0, [0]])
})

test("a chunk longer than the figures hold counts as long as they do", () => {
  expect(viewOf([file("a.md", 1, [70_000])]).lengths[1]).toBe(65_535)
})
