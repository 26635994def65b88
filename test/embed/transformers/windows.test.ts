/** Owns how a text is cut for a model: nothing lost, nothing too long, everything framed. */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { ModelSettings } from "../../../src/embed/models/manifest.ts"
import { createWindowing, type Tokenizer } from "../../../src/embed/transformers/windows.ts"

const [CLS, SEP, UNKNOWN] = [1, 2, 3]

/** A piece for each character but spaces; `?` is not known. */
function tokenizerWith({ before = [CLS], after = [SEP] } = {}): Tokenizer {
  return {
    unknown: UNKNOWN,
    piecesOf(text, withSpecial) {
      const pieces = [...text]
        .filter((char) => char !== " ")
        .map((char) => (char === "?" ? UNKNOWN : char.charCodeAt(0)))
      return withSpecial ? [...before, ...pieces, ...after] : pieces
    },
  }
}

const settings = (given: Partial<ModelSettings> = {}): ModelSettings => ({
  dtype: "fp32",
  pooling: "mean",
  prompts: { query: "", passage: "" },
  piecesMax: 8,
  ...given,
})

const pieces = (text: string) => [...text].map((char) => char.charCodeAt(0))

describe("a text is cut into windows", () => {
  test("that have the special pieces around their own", () => {
    const { windowsOf } = createWindowing(tokenizerWith(), settings())
    expect(windowsOf("abc", "passages")).toEqual([[CLS, ...pieces("abc"), SEP]])
  })

  test("of nearly equal length, in order and without overlap", () => {
    const { windowsOf } = createWindowing(tokenizerWith(), settings())
    expect(windowsOf("abcdefg", "passages")).toEqual([
      [CLS, ...pieces("abcd"), SEP],
      [CLS, ...pieces("efg"), SEP],
    ])
  })

  test("each with the prompt of its kind, cut where the prompt ends", () => {
    const prompts = { query: "q: ", passage: "p: " }
    const { windowsOf } = createWindowing(tokenizerWith(), settings({ prompts }))
    expect(windowsOf("abcdef", "passages")).toEqual([
      [CLS, ...pieces("p:abc"), SEP],
      [CLS, ...pieces("p:def"), SEP],
    ])
    expect(windowsOf("ab", "query")).toEqual([[CLS, ...pieces("q:ab"), SEP]])
  })

  test("and by itself when the prompt grows together with it", () => {
    const growing: Tokenizer = {
      unknown: undefined,
      piecesOf: (text) => (text.startsWith("p:x") ? [99, ...pieces(text.slice(3))] : pieces(text)),
    }
    const prompts = { query: "", passage: "p:" }
    const { windowsOf } = createWindowing(growing, settings({ prompts }))
    expect(windowsOf("xy", "passages")).toEqual([pieces("p:xy")])
  })

  test("none for a text without pieces, or with more unknown pieces than known ones", () => {
    const { windowsOf } = createWindowing(tokenizerWith(), settings())
    expect(windowsOf("", "passages")).toEqual([])
    expect(windowsOf("   ", "passages")).toEqual([])
    expect(windowsOf("???", "query")).toEqual([])
    expect(windowsOf("ab???", "passages")).toEqual([])
    expect(windowsOf("ab??", "passages")).toHaveLength(1)
  })

  test("at most as long as the model can read, as few as possible, with every piece in its place", () => {
    const special = fc.array(fc.integer({ min: 200, max: 205 }), { maxLength: 2 })
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(..."abcdef "), maxLength: 300 }),
        fc.integer({ min: 8, max: 40 }),
        special,
        special,
        fc.constantFrom("", "p: "),
        (text, piecesMax, before, after, passage) => {
          const tokenizer = tokenizerWith({ before, after })
          const prompts = { query: "", passage }
          const { windowsOf } = createWindowing(tokenizer, settings({ prompts, piecesMax }))
          const windows = windowsOf(text, "passages")
          const lead = [...before, ...tokenizer.piecesOf(passage, false)]
          const inner = windows.map((window) => {
            expect(window.slice(0, lead.length)).toEqual(lead)
            expect(window.length).toBeLessThanOrEqual(piecesMax)
            expect(window.slice(window.length - after.length)).toEqual(after)
            return window.slice(lead.length, window.length - after.length)
          })
          const whole = tokenizer.piecesOf(text, false)
          expect(inner.flat()).toEqual(whole)
          expect(windows).toHaveLength(Math.ceil(whole.length / (piecesMax - lead.length - after.length)))
        },
      ),
    )
  })
})
