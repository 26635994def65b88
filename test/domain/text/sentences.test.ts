/** Owns where sentences end, and which of them ask. */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { isQuestion, mayEndSentence, splitSentences } from "../../../src/domain/text/sentences.ts"

const trimmed = (text: string) => splitSentences(text).map((sentence) => sentence.trim())

describe("a sentence does not end", () => {
  test.each([
    "Use a cache, e.g. Redis, i.e. a remote one.",
    "Node v20.11.1 is 1.5 times faster.",
    "The bug is in src/a.ts and lib/b.d.ts today.",
    "Docs are at https://a.test/x.html?y=1.2 for now.",
    "Ask J. Smith for it.",
    "It was 3 p.m. yesterday.",
    "wait... then retry",
    "See Fig. 3 or no. 4 of it.",
    'She asked "why us?" and left.',
    "3. Then tag it.",
  ])("within %s", (text) => {
    expect(splitSentences(text)).toEqual([text])
  })
})

describe("a sentence ends", () => {
  test.each([
    ["It works! Does it? Yes.", ["It works!", "Does it?", "Yes."]],
    ["We moved to src/a.ts. Then we left.", ["We moved to src/a.ts.", "Then we left."]],
    ["We took plan B. It holds.", ["We took plan B.", "It holds."]],
    ["done. will push now", ["done.", "will push now"]],
    ['He said "stop." Then it stopped.', ['He said "stop."', "Then it stopped."]],
    ["迁移完成。下一步是什么？好！", ["迁移完成。", "下一步是什么？", "好！"]],
    ["Tests, docs, etc. Then we ship.", ["Tests, docs, etc.", "Then we ship."]],
    ["why? because\nso what\n\n(Who knows?)\r\nMe.", ["why?", "because", "so what", "(Who knows?)", "Me."]],
  ])("at the marks and lines of %j", (text, sentences) => {
    expect(trimmed(text)).toEqual(sentences)
  })
})

test.each([
  ["Does it hold?", true],
  ["(Who knows?) ", true],
  ['Who said "me?!"\n', true],
  ["谁？", true],
  ["It holds.", false],
  ["See a?b=c", false],
  ["", false],
])("%j asks: %s", (sentence, asks) => {
  expect(isQuestion(sentence)).toBe(asks)
})

test.each([
  ["holds.", true],
  ["**holds!**", true],
  ['(it_is_`so`?)"', true],
  ["好。", true],
  ["e.g.", true],
  ["holds,", false],
  ["v1.2", false],
])("%j may end a sentence of Markdown: %s", (word, may) => {
  expect(mayEndSentence(word)).toBe(may)
})

describe("whatever the text is", () => {
  const part = fc.constantFrom(
    ..."a.|B.|e.g.|etc.|no.|3.|...|?|!|?!|。|'|\"|)| |\n|\r\n|\t|\u00a0|so|Then|plan|\ud83d|🚂|.ts".split(
      "|",
    ),
  )
  const TEXT = fc.oneof(
    fc.array(part, { maxLength: 30 }).map((parts) => parts.join("")),
    fc.string({ unit: "binary" }),
  )

  test("no character is lost, and none is empty", () => {
    fc.assert(
      fc.property(TEXT, (text) => {
        const sentences = splitSentences(text)
        expect(sentences.join("")).toBe(text)
        expect(sentences).not.toContain("")
      }),
    )
  })

  test("a sentence is a single one by itself", () => {
    fc.assert(
      fc.property(TEXT, (text) => {
        for (const sentence of splitSentences(text)) expect(splitSentences(sentence)).toEqual([sentence])
      }),
      { numRuns: 1_000 },
    )
  })

  test.each([".", ". ", "\n", "A. ", "。", '."', "? ", "e.g. "])(
    "it may be 200,000 characters of %j",
    (seed) => {
      const text = seed.repeat(200_000 / seed.length)
      expect(splitSentences(text).join("")).toBe(text)
    },
  )
})
