/** Owns which words of a question are searched for, and by which words sentences are compared. */

import { describe, expect, test } from "vitest"
import { contentWords, sentenceWords } from "../../../src/domain/text/content-words.ts"
import { SENTENCE_STOP_WORDS, STOP_WORDS } from "../../../src/domain/text/stop-words.ts"

describe("the words to search for", () => {
  test("are those that say what is asked for, in order", () => {
    expect(contentWords(["when", "did", "we", "move", "the", "build", "to", "esbuild"])).toEqual([
      "move",
      "build",
      "esbuild",
    ])
  })

  test("leave out what an apostrophe leaves behind", () => {
    expect(contentWords(["what", "s", "anna", "s", "editor"])).toEqual(["anna", "editor"])
  })

  test("are all of them when nothing else is left", () => {
    expect(contentWords(["who", "are", "you"])).toEqual(["who", "are", "you"])
    expect(contentWords([])).toEqual([])
  })

  test("keep negation and order, which change what is meant", () => {
    expect(contentWords(["not", "before", "after", "never", "no"])).toEqual([
      "not",
      "before",
      "after",
      "never",
      "no",
    ])
  })

  test("are compared folded: the lists hold lower-case words of letters only", () => {
    expect([...SENTENCE_STOP_WORDS].filter((word) => !/^[a-z]+$/.test(word))).toEqual([])
  })
})

describe("the words by which sentences are compared", () => {
  test("are in one form, without those that say nothing alone", () => {
    expect(sentenceWords("She wrote and merged it before the review, not after.")).toEqual(
      sentenceWords("Write, merging: reviews!"),
    )
    expect(sentenceWords("We should not do that, please: plan B.")).toEqual(["plan"])
  })

  test("tell numbers apart", () => {
    expect(sentenceWords("PR 41")).toEqual(["pr", "41"])
  })

  test("are pairs of characters in scripts without spaces, none over a gap", () => {
    expect(sentenceWords("迁移完成，好的")).toEqual(["迁移", "移完", "完成", "好的"])
  })

  test("leave out all that a question leaves out", () => {
    expect([...STOP_WORDS].filter((word) => sentenceWords(word).length > 0)).toEqual([])
  })
})
