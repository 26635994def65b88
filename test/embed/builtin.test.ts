/** The built-in embedder: its vectors against a reference, windows, what it knows nothing of, and its files. */

import { cpSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { makeTemporaryFolder, remove } from "../../scripts/removal.ts"
import { EMBEDDING_WINDOW_PIECES_MAX } from "../../src/config/limits.ts"
import { similarityOf } from "../../src/domain/embedding/similarity.ts"
import { BUILTIN_MODEL, createBuiltinEmbedder } from "../../src/embed/builtin.ts"
import { packageFile } from "../../src/runtime/package-root.ts"
import reference from "./reference.json" with { type: "json" }

const MODEL = packageFile("model")
const embedder = createBuiltinEmbedder(MODEL)

async function queryVector(text: string): Promise<Float32Array> {
  const vector = await embedder.embedQuery(text)
  if (vector === null) throw new Error(`no vector for ${text}`)
  return vector
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, x, i) => sum + x * (b[i] ?? Number.NaN), 0)
}

function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  expect(a.length).toBe(b.length)
  return Array.from(a).reduce((max, x, i) => Math.max(max, Math.abs(x - (b[i] ?? Number.NaN))), 0)
}

describe("a vector", () => {
  const unknown = "日本語のドキュメント検索"
  const whole = reference.items.filter(
    ({ ids, text }) => ids.length < EMBEDDING_WINDOW_PIECES_MAX && text !== unknown,
  )

  it.each(whole)("of $text is that of the reference", async ({ text, vector }) => {
    expect(largestDifference(await queryVector(text), vector)).toBeLessThan(2e-6)
  })

  it("is left out of the reference for two texts only: one that is cut and one of unknown words", () => {
    expect(reference.items.length - whole.length).toBe(2)
  })

  it("has 256 dimensions, length 1, and is the same for a passage and for a query", async () => {
    const texts = ["We store passwords with argon2id.", "!!!", "42"]
    const passages = await embedder.embedPassages(texts)
    for (const [index, text] of texts.entries()) {
      const vector = await queryVector(text)
      expect(vector).toHaveLength(BUILTIN_MODEL.dimensions)
      expect(dot(vector, vector)).toBeCloseTo(1, 6)
      expect(passages[index]).toEqual([vector])
    }
  })
})

describe("a long text", () => {
  it("of at most 256 pieces is one window, of more it is as few as hold it", async () => {
    const lengths = [1, 255, 256, 257, 512, 513, 3_000]
    const passages = await embedder.embedPassages(lengths.map((length) => "lock ".repeat(length)))
    expect(passages.map((windows) => windows.length)).toEqual([1, 1, 1, 2, 2, 3, 12])
  })

  it("is cut into windows of equal size without overlap, in order", async () => {
    const [windows] = await embedder.embedPassages(["lock ".repeat(300) + "table ".repeat(300)])
    const expected = await Promise.all(["lock", "lock table", "table"].map(queryVector))
    expect(windows).toHaveLength(3)
    for (const [index, vector] of expected.entries()) {
      expect(largestDifference(windows?.[index] ?? [], vector)).toBeLessThan(1e-6)
    }
  })

  it("never has a window much shorter than the others", async () => {
    // The last piece alone differs, so its share of the last window tells the size of that window.
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 257, max: 2_000 }), async (length) => {
        const [windows = []] = await embedder.embedPassages([`${"lock ".repeat(length - 1)}table`])
        const count = Math.ceil(length / EMBEDDING_WINDOW_PIECES_MAX)
        const sizes = [Math.floor(length / count), Math.ceil(length / count)]
        const vectors = await Promise.all(
          sizes.map((size) => queryVector(`${"lock ".repeat(size - 1)}table`)),
        )
        expect(windows).toHaveLength(count)
        const last = windows.at(-1) ?? new Float32Array()
        expect(Math.min(...vectors.map((vector) => largestDifference(last, vector)))).toBeLessThan(1e-6)
      }),
      { numRuns: 30 },
    )
  })

  it("is not cut as a query", async () => {
    const long = await queryVector("lock ".repeat(300) + "table ".repeat(300))
    expect(largestDifference(long, await queryVector("lock table"))).toBeLessThan(1e-6)
  })
})

describe("a text of which the model knows nothing", () => {
  const FOREIGN = [
    ["without a word", ""],
    ["of blanks", " \n "],
    ["of a symbol without a piece", "🚂"],
    ["in Japanese", "日本語のドキュメント検索"],
    ["in Russian, half of it punctuation", "Привет, мир!"],
    ["in Korean", "한국어 문서."],
    ["in Arabic", "مرحبا بالعالم"],
    ["in Chinese, whose pieces were never learnt", "更多信息"],
  ] as const

  it.each(FOREIGN)("%s, has no vector", async (_, text) => {
    expect(await embedder.embedQuery(text)).toBeNull()
    expect(await embedder.embedPassages([text, "lock"])).toEqual([[], [await queryVector("lock")]])
  })

  it("begins where more words are unknown than known", async () => {
    expect(await embedder.embedQuery("Привет lock")).not.toBeNull()
    expect(await embedder.embedQuery("Привет мир lock")).toBeNull()
  })

  it("can be a window of a text that is known, which then has one vector less", async () => {
    const [windows] = await embedder.embedPassages(["lock ".repeat(400) + "Привет ".repeat(200)])
    expect(windows).toHaveLength(2)
  })
})

describe("a query whose words weigh differently", () => {
  const weighing = (weights: Record<string, number>) => (word: string) => weights[word] ?? 0

  it("has the vector of the words that weigh anything", async () => {
    const vector = await embedder.embedQuery("Lock the table!", weighing({ lock: 1 }))
    expect(largestDifference(vector ?? [], await queryVector("lock"))).toBeLessThan(1e-6)
  })

  it("is the mean of its words, each as much as it weighs", async () => {
    const once = await embedder.embedQuery("lock table", weighing({ lock: 0.75, table: 0.25 }))
    const repeated = await queryVector("lock lock lock table")
    expect(largestDifference(once ?? [], repeated)).toBeLessThan(1e-6)
  })

  it("has the vector of the plain query when all weigh the same, but for what stands between the words", async () => {
    for (const weight of [1, 0.1]) {
      const vector = await embedder.embedQuery("lock, (argon2id) table?", () => weight)
      expect(largestDifference(vector ?? [], await queryVector("lock argon2id table"))).toBeLessThan(1e-6)
    }
  })

  it("gives each word to be weighed as the index folds it", async () => {
    const words: string[] = []
    await embedder.embedQuery("Lock the Café-Table", (word) => words.push(word))
    expect(words).toEqual(["lock", "the", "cafe", "table"])
  })

  it("has none when nothing weighs anything, or nothing is known", async () => {
    expect(await embedder.embedQuery("lock table", () => 0)).toBeNull()
    expect(await embedder.embedQuery("日本語の", () => 1)).toBeNull()
  })
})

describe("the vector of a word", () => {
  it.each(["lock", "a", "42", "argon2id", "xqzzyq"])("is that of the query '%s'", async (word) => {
    const vectorOf = await embedder.wordVectors()
    expect(largestDifference(vectorOf(word)?.unit() ?? [], await queryVector(word))).toBeLessThan(1e-7)
  })

  it.each(["", "日", "привет", "한국어"])("is missing for '%s', of which nothing is known", async (word) => {
    expect((await embedder.wordVectors())(word)).toBeNull()
  })

  it("gives the cosine to any other as their vectors of length 1 do", async () => {
    const vectorOf = await embedder.wordVectors()
    const word = fc.oneof(
      fc.constantFrom("lock", "locks", "mutex", "table", "argon2id", "kubernetes"),
      fc.stringMatching(/^[a-z0-9]{1,12}$/),
    )
    fc.assert(
      fc.property(word, word, (one, other) => {
        const [a, b] = [vectorOf(one), vectorOf(other)]
        if (a === null || b === null) return
        const [unit, otherUnit] = [a.unit(), b.unit()]
        const expected = unit.reduce((sum, x, i) => sum + x * (otherUnit[i] ?? Number.NaN), 0)
        expect(a.cosine(otherUnit)).toBeCloseTo(expected, 9)
        expect(a.cosine(unit)).toBeCloseTo(1, 9)
      }),
    )
  })

  it("puts words of one meaning nearer than others", async () => {
    const vectorOf = await embedder.wordVectors()
    const cosine = (one: string, other: string) =>
      vectorOf(one)?.cosine(vectorOf(other)?.unit() ?? new Float64Array()) ?? Number.NaN
    expect(cosine("lock", "locks")).toBeGreaterThan(cosine("lock", "banana") + 0.3)
  })

  it("is the same after more words than are remembered", async () => {
    const vectorOf = await embedder.wordVectors()
    const before = vectorOf("argon2id")?.unit()
    for (let index = 0; index < 25_000; index++) vectorOf(`${index}`)
    expect(vectorOf("argon2id")?.unit()).toEqual(before)
  })
})

describe("many texts", () => {
  it("get their vectors in order, and other work gets its turn before the last", async () => {
    const texts = Array.from({ length: 200 }, (_, index) => `lock ${index}`)
    const alone = await Promise.all(texts.map(queryVector))
    let hadItsTurn = false
    setImmediate(() => {
      hadItsTurn = true
    })
    const passages = await embedder.embedPassages(texts)
    expect(hadItsTurn).toBe(true)
    expect(passages).toEqual(alone.map((vector) => [vector]))
  })
})

describe("the calibration", () => {
  const NOTES = [
    ["Use pnpm, not npm, to install packages.", "Install packages with pnpm, never with npm."],
    [
      "The nightly backup failed because the disk was full.",
      "No disk space left, so the nightly backup failed.",
    ],
    ["Cache keys carry the tenant id.", "Every cache key must start with the id of the tenant."],
    ["Kim wants release notes in plain English.", "Write the release notes in plain English for Kim."],
    ["The login page hung on a slow LDAP server.", "Login was slow because the LDAP server hung."],
    ["Rename the column in two steps.", "Renaming a column takes two steps, first add, then drop."],
  ] as const

  async function similarity(a: string, b: string): Promise<number> {
    return similarityOf(dot(await queryVector(a), await queryVector(b)), BUILTIN_MODEL.calibration)
  }

  it.each(NOTES)("puts '%s' and '%s' at 0.75 or above", async (a, b) => {
    expect(await similarity(a, b)).toBeGreaterThanOrEqual(0.75)
  })

  it("puts notes about different things below 0.5", async () => {
    for (const [i, pair] of NOTES.entries()) {
      for (const other of NOTES.slice(i + 1)) {
        for (const a of pair) for (const b of other) expect(await similarity(a, b)).toBeLessThan(0.5)
      }
    }
  })

  it.each([
    ["Restart the print server after an update.", "Update the price list every quarter."],
    ["The build server runs out of memory.", "Memory of the meeting is kept in the wiki."],
  ])("puts '%s' and '%s' below 0.5, though they share a word", async (a, b) => {
    expect(await similarity(a, b)).toBeLessThan(0.5)
  })

  it("puts a note and itself at 0.98 or above", async () => {
    for (const note of NOTES.flat()) expect(await similarity(note, note)).toBeGreaterThanOrEqual(0.98)
  })
})

describe("the files of the model", () => {
  let folder: string

  beforeEach(() => {
    folder = makeTemporaryFolder()
    cpSync(MODEL, folder, { recursive: true })
  })

  afterEach(() => remove(folder))

  it("are read at the first embedding and not again", async () => {
    const lazy = createBuiltinEmbedder(folder)
    const before = await lazy.embedQuery("lock")
    remove(folder)
    expect(await lazy.embedQuery("lock")).toEqual(before)
  })

  it.each(["tokenizer.json", "embeddings.i8", "scales.f32"])("are named when %s is missing", async (name) => {
    remove(join(folder, name))
    const lazy = createBuiltinEmbedder(folder)
    await expect(lazy.embedQuery("lock")).rejects.toThrow(join(folder, name))
    await expect(lazy.embedPassages(["lock"])).rejects.toThrow(join(folder, name))
    await expect(lazy.wordVectors()).rejects.toThrow(join(folder, name))
  })

  it("are asked for again after a failure", async () => {
    remove(join(folder, "scales.f32"))
    const lazy = createBuiltinEmbedder(folder)
    await expect(lazy.embedQuery("lock")).rejects.toThrow("scales.f32")
    cpSync(join(MODEL, "scales.f32"), join(folder, "scales.f32"))
    expect(await lazy.embedQuery("lock")).toEqual(await queryVector("lock"))
  })

  it.each([["embeddings.i8"], ["scales.f32"]])("are refused when %s was cut short", async (name) => {
    truncateSync(join(folder, name), 1_000)
    await expect(createBuiltinEmbedder(folder).embedQuery("lock")).rejects.toThrow(
      new RegExp(`${name}.*it has 1000 bytes in place of`),
    )
  })

  it("are refused when the tokenizer is damaged", async () => {
    writeFileSync(join(folder, "tokenizer.json"), "{")
    await expect(createBuiltinEmbedder(folder).embedQuery("lock")).rejects.toThrow("tokenizer.json")
  })
})
