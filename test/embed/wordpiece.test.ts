/** The tokenizer against ids that Hugging Face's own gave, and the laws that hold for every text. */

import { readFileSync } from "node:fs"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { EMBEDDING_WINDOW_PIECES_MAX } from "../../src/config/limits.ts"
import { createWordpiece } from "../../src/embed/wordpiece.ts"
import { packageFile } from "../../src/runtime/package-root.ts"
import reference from "./reference.json" with { type: "json" }

const TOKENIZER_JSON = readFileSync(packageFile("model/tokenizer.json"), "utf8")
const { model } = JSON.parse(TOKENIZER_JSON) as { model: { vocab: Record<string, number> } }
const PIECES = new Map(Object.entries(model.vocab).map(([piece, id]) => [id, piece]))
const wordpiece = createWordpiece(TOKENIZER_JSON)

/** The pieces of a text by name, with a blank between two. */
function spelt(text: string): string {
  return wordpiece
    .idsOf(text)
    .map((id) => PIECES.get(id))
    .join(" ")
}

describe("the ids of the reference", () => {
  it.each(reference.items)("are those of $text", ({ text, ids }) => {
    expect(wordpiece.idsOf(text).slice(0, EMBEDDING_WINDOW_PIECES_MAX)).toEqual(ids)
  })

  it("belong to a vocabulary of 28,000", () => {
    expect(wordpiece.size).toBe(28_000)
    expect(PIECES.get(wordpiece.unknownId)).toBe("[UNK]")
  })
})

describe("a text is cut", () => {
  it.each([
    ["at camel case, of ASCII letters only", "getUser aÉ HTTPServer", "get user ae httpserver"],
    ["at whitespace of every kind", "a\t b\n\r\nc\u00a0d\u3000e\u2028f", "a b c d e f"],
    ["at punctuation, mark by mark", "a--b¿c", "a - - b [UNK] c"],
    [
      "at ASCII signs that Unicode calls symbols",
      "a$b+c<d=e>f^g`h|i~j",
      "a $ b + c < d = e > f ^ g ` h | i ~ j",
    ],
    ["not at other symbols", "a€b", "a ##€ ##b"],
    ["around ideographs", "a的b", "a 的 b"],
    ["into lower case", "THE Kelvin \u212a", "the kelvin k"],
    ["without accents, composed or not", "é e\u0301 Å \u212b", "e e a a"],
    ["without the dot of a Turkish I, but with dotless ones kept", "\u0130 I\u0307 \u0131", "i i [UNK]"],
    ["with sharp s kept, which no piece has, and not turned into ss", "ß ẞ ss", "[UNK] [UNK] ss"],
    [
      "without control characters, which part nothing",
      "t\0h\u0001e t\u200bh\u000be t\u00adhe",
      "the the the",
    ],
    ["without control characters after camel case is seen", "a\0B", "ab"],
    ["without halves of characters", "t\ud800he \udc00the", "the the"],
    ["without U+FFFD and private characters", "th\ufffde th\ue000e", "the the"],
    ["into punctuation that a letter decomposes into", "a\u037eb\u1fefc", "a ; b ` c"],
    ["reading no special tokens", "[MASK] [UNK]", "[ mask ] [ un ##k ]"],
  ])("%s", (_, text, pieces) => {
    expect(spelt(text)).toBe(pieces)
  })

  it("into nothing when nothing is left of it", () => {
    expect(["", "  \n", "\0\u200b", "\u0301"].map(wordpiece.idsOf)).toEqual([[], [], [], []])
  })

  it("with [UNK] for a word of more than 100 characters, counted whole", () => {
    expect(spelt("x".repeat(100))).not.toContain("[UNK]")
    expect(spelt("x".repeat(101))).toBe("[UNK]")
    expect(spelt(`${"x".repeat(101)} ${"x".repeat(500)}.`)).toBe("[UNK] [UNK] .")
    const twoUnitsEach = createWordpiece(tokenizerOf(["😀", "##😀"]))
    expect(twoUnitsEach.idsOf("😀".repeat(100))).toHaveLength(100)
    expect(twoUnitsEach.idsOf("😀".repeat(101))).toEqual([twoUnitsEach.unknownId])
  })
})

describe("for every text", () => {
  const text = fc.string({
    unit: fc.oneof(fc.string({ unit: "binary", maxLength: 1 }), words()),
    maxLength: 30,
  })

  it("ids are whole numbers below the size of the vocabulary", () => {
    fc.assert(
      fc.property(text, (any) => {
        const ids = wordpiece.idsOf(any)
        expect(ids.filter((id) => !Number.isInteger(id) || id < 0 || id >= wordpiece.size)).toEqual([])
      }),
    )
  })

  it("two texts with a blank between them have the ids of the one and then of the other", () => {
    fc.assert(
      fc.property(text, text, (left, right) => {
        expect(wordpiece.idsOf(`${left} ${right}`)).toEqual([
          ...wordpiece.idsOf(left),
          ...wordpiece.idsOf(right),
        ])
      }),
    )
  })

  it("of ASCII, the pieces make up the text without its blanks", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme-ascii", maxLength: 90 }), (ascii) => {
        const joined = wordpiece.idsOf(ascii).map((id) => (PIECES.get(id) ?? "").replace(/^##(?=.)/, ""))
        expect(joined.join("")).toBe(ascii.replace(/ /g, "").toLowerCase())
      }),
    )
  })

  it("each piece is the longest that fits, and a word without pieces is unknown", () => {
    const pieces = ["a", "ab", "abc", "b", "##a", "##b", "##bc", "##cab"]
    const small = createWordpiece(tokenizerOf(pieces))
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 12 }),
        (word) => {
          expect(small.idsOf(word)).toEqual(longestPieces(word, ["[UNK]", ...pieces]))
        },
      ),
    )
  })
})

describe("long texts", () => {
  it.each([
    ["marks in an order that has to be mended", "\u0301\u0316", 0],
    ["signs in an order that has to be mended", "\u{1d165}\u302e", 1],
    ["one word", "xy", 1],
    ["blanks", "  ", 0],
    ["punctuation", "..", 300_000],
    ["camel case", "aB", 150_001],
  ])("of 300,000 characters end when they are %s", (_, unit, count) => {
    // What takes n * n steps would take longer than a test may.
    expect(wordpiece.idsOf(unit.repeat(150_000))).toHaveLength(count)
  })
})

describe("letters and digits", () => {
  it("make a piece wordlike; signs and [UNK] are not", () => {
    const isWordlike = (piece: string) => wordpiece.isWordlike(model.vocab[piece] ?? -1)
    expect(["the", "##s", "7", "的"].map(isWordlike)).toEqual([true, true, true, true])
    expect([".", "→", "##─", "[UNK]"].map(isWordlike)).toEqual([false, false, false, false])
  })
})

describe("a file that is no WordPiece tokenizer is refused", () => {
  it.each([
    ["{}"],
    ['{"model":{"type":"BPE","vocab":{"[UNK]":0},"unk_token":"[UNK]"}}'],
    [tokenizerOf([], "[NO]")],
  ])("%s", (json) => {
    expect(() => createWordpiece(json)).toThrow("not a WordPiece tokenizer with a token for unknown words")
  })
})

function tokenizerOf(pieces: readonly string[], unknown = "[UNK]"): string {
  const vocab = Object.fromEntries(["[UNK]", ...pieces].map((piece, id) => [piece, id]))
  return JSON.stringify({
    model: {
      type: "WordPiece",
      unk_token: unknown,
      continuing_subword_prefix: "##",
      max_input_chars_per_word: 100,
      vocab,
    },
  })
}

/** Pieces as they occur in real texts, so that random ones are not unknown words only. */
function words() {
  return fc.constantFrom(
    "get",
    "User",
    "the",
    "ing",
    " ",
    ".",
    "Σ",
    "ΑΣ",
    "é",
    "的",
    "ß",
    "\u0301",
    "\0",
    "7",
  )
}

/** By definition: whatever the word starts with that is longest, then the same with what is left. */
function longestPieces(word: string, pieces: readonly string[]): number[] {
  const ids: number[] = []
  let rest = word
  while (rest !== "") {
    const prefix = rest === word ? "" : "##"
    const fits = pieces.filter((piece) => piece !== "[UNK]" && `${prefix}${rest}`.startsWith(piece))
    const longest = fits
      .filter((piece) => piece.startsWith("##") === (prefix === "##"))
      .sort((a, b) => b.length - a.length)[0]
    if (longest === undefined) return [0]
    ids.push(pieces.indexOf(longest))
    rest = rest.slice(longest.length - prefix.length)
  }
  return ids
}
