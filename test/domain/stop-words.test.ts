/** Owns which words of a question are searched for. */

import { describe, expect, test } from "vitest"
import { contentWords, STOP_WORDS } from "../../src/domain/stop-words.ts"

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

  test("are compared folded: the list holds lower-case words of letters only", () => {
    expect([...STOP_WORDS].filter((word) => !/^[a-z]+$/.test(word))).toEqual([])
  })
})
