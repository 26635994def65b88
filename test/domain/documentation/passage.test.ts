/** Owns how chunks become passages: whole, side by side, within 2,000 characters, three a file. */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { PASSAGE_CHARS_MAX, PASSAGES_PER_FILE_MAX } from "../../../src/config/limits.ts"
import { assemblePassages, type FileChunk, passageText } from "../../../src/domain/documentation/passage.ts"

/** A file of chunks, each of as many lines of 100 characters as given, with blank lines between them. */
function fileOf(lines: readonly number[], firstNumber = 1, blank = 1): FileChunk[] {
  let at = 1
  return lines.map((count, index) => {
    const chunk = {
      number: firstNumber + index,
      lineStart: at,
      lineEnd: at + count - 1,
      headings: [`Part ${index}`],
      text: Array(count).fill("x".repeat(99)).join("\n"),
      gap: index === 0 ? null : blank + 1,
    }
    at += count + blank
    return chunk
  })
}
const reranked = (...numbers: number[]) =>
  numbers.map((number, place) => ({ number, file: 0, score: 1 - place / 100 }))

describe("a passage", () => {
  test("grows by what follows, then by what stands before, within 2,000 characters", () => {
    const [passage] = assemblePassages(reranked(3), () => fileOf([5, 5, 5, 5, 12]), 10)
    expect(passage?.numbers).toEqual([2, 3, 4])
    expect([passage?.lineStart, passage?.lineEnd]).toEqual([7, 23])
  })

  test("has the score and the headings of its best chunk, and takes in the others", () => {
    const passages = assemblePassages(reranked(2, 1), () => fileOf([5, 5]), 10)
    expect(passages).toEqual([
      { file: 0, numbers: [1, 2], lineStart: 1, lineEnd: 11, score: 1, headings: ["Part 1"] },
    ])
  })

  test("reaches over blank lines however many, and shows them", () => {
    const chunks = fileOf([5, 5], 1, 3)
    const [passage] = assemblePassages(reranked(2), () => chunks, 10)
    expect(passage).toMatchObject({ numbers: [1, 2], lineStart: 1, lineEnd: 13 })
    expect(passageText(chunks).split("\n")).toHaveLength(13)
  })

  test("does not reach over lines that no chunk has", () => {
    const chunks = fileOf([5, 5, 5]).map((chunk) => (chunk.number === 3 ? { ...chunk, gap: null } : chunk))
    expect(assemblePassages(reranked(3), () => chunks, 10)[0]?.numbers).toEqual([3])
    expect(assemblePassages(reranked(2), () => chunks, 10)[0]?.numbers).toEqual([1, 2])
  })

  test("of parts of one line is that line, word for word, whichever part is the best", () => {
    const part = (number: number, text: string, gap: number | null): FileChunk => {
      return { number, lineStart: 3, lineEnd: 3, headings: [], text, gap }
    }
    const chunks = [part(1, "One sentence.  ", null), part(2, "Another. ", 0), part(3, "A last one.", 0)]
    for (const number of [1, 2, 3]) {
      const [passage] = assemblePassages(reranked(number), () => chunks, 10)
      expect(passage).toMatchObject({ numbers: [1, 2, 3], lineStart: 3, lineEnd: 3 })
    }
    expect(passageText(chunks)).toBe("One sentence.  Another. A last one.")
    expect(passageText(chunks.slice(0, 1))).toBe("One sentence.")
  })

  test("of a format whose texts are not its lines joins what stands side by side", () => {
    const chunks = fileOf([2, 2]).map((chunk) => ({ ...chunk, lineStart: chunk.lineStart * 10, lineEnd: 99 }))
    expect(assemblePassages(reranked(1), () => chunks, 10)[0]).toMatchObject({ numbers: [1, 2], lineEnd: 99 })
    expect(passageText(chunks).split("\n")).toHaveLength(5)
  })

  test("does not reach over chunks that were not read", () => {
    const chunks = fileOf([5, 5, 5]).filter(({ number }) => number !== 2)
    expect(assemblePassages(reranked(1), () => chunks, 10)[0]?.numbers).toEqual([1])
  })

  test("of a chunk that is too long ends with a whole line, and says which", () => {
    const chunks = fileOf([30])
    expect(passageText(chunks)).toHaveLength(20 * 100 - 1)
    expect(assemblePassages(reranked(1), () => chunks, 10)[0]?.lineEnd).toBe(20)
    expect(passageText([{ gap: null, text: "😀".repeat(2_000) }])).toBe("😀".repeat(1_000))
    expect(passageText([{ gap: null, text: `x${"😀".repeat(2_000)}` }])).toBe(`x${"😀".repeat(999)}`)
  })

  test("of a chunk that is too long, and whose text is not its lines, names them all", () => {
    const chunks = fileOf([30]).map((chunk) => ({ ...chunk, lineEnd: 40 }))
    expect(assemblePassages(reranked(1), () => chunks, 10)[0]?.lineEnd).toBe(40)
  })
})

test("a file gives at most three passages, a search as many as wanted", () => {
  const chunks = fileOf([19, 19, 19, 19, 19])
  expect(assemblePassages(reranked(1, 2, 3, 4, 5), () => chunks, 10)).toHaveLength(PASSAGES_PER_FILE_MAX)
  expect(assemblePassages(reranked(1, 2, 3), () => chunks, 2)).toHaveLength(2)
})

test("a chunk that was not read gives no passage", () => {
  expect(assemblePassages(reranked(9), () => fileOf([5]), 10)).toEqual([])
})

test("passages never overlap, never grow too long, and show the lines that they name", () => {
  const files = fc.array(fc.integer({ min: 1, max: 19 }), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(files, fc.infiniteStream(fc.nat()), (lines, order) => {
      const chunks = fileOf(lines)
      const document = chunks
        .map(({ text }) => text)
        .join("\n\n")
        .split("\n")
      const numbers = [...order.take(8)].map((at) => (at % lines.length) + 1)
      const passages = assemblePassages(reranked(...numbers), () => chunks, 10)
      const shown = passages.flatMap((passage) => passage.numbers)
      expect(new Set(shown).size).toBe(shown.length)
      expect(passages.length).toBeLessThanOrEqual(PASSAGES_PER_FILE_MAX)
      for (const passage of passages) {
        const text = passageText(chunks.filter(({ number }) => passage.numbers.includes(number)))
        expect(text.length).toBeLessThanOrEqual(PASSAGE_CHARS_MAX)
        expect(text).toBe(document.slice(passage.lineStart - 1, passage.lineEnd).join("\n"))
      }
    }),
  )
})
