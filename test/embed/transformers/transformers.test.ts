/**
 * Owns models run by transformers.js, end to end: a tiny BERT with random weights is imported, loaded by the
 * built thread, and gives the vectors that the same computation gives in plain TypeScript. The thread is
 * always the one in dist, which is built before the tests run, since a thread needs JavaScript.
 */

import { spawnSync } from "node:child_process"
import { truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setFlagsFromString } from "node:v8"
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { remove } from "../../../scripts/removal.ts"
import { similarityOf } from "../../../src/domain/embedding/similarity.ts"
import type { Embedder } from "../../../src/embed/embedder.ts"
import { RELATED_NOTES } from "../../../src/embed/models/calibration.ts"
import { modelName, readManifest } from "../../../src/embed/models/manifest.ts"
import { importModel, type StoredModel } from "../../../src/embed/models/store.ts"
import { ModelThread } from "../../../src/embed/transformers/thread.ts"
import {
  createTransformersEmbedder,
  measureModel,
  openTransformersEmbedder,
} from "../../../src/embed/transformers/transformers.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"
import { type TinyModel, type TinyModelOptions, writeTinyModel } from "../../support/tiny-model.ts"

// Most of what it takes to load a model is V8's work on the fast form of the runtime, which no test is worth.
setFlagsFromString("--liftoff-only")

interface Made {
  root: string
  modelsFolder: string
  tiny: TinyModel
  stored: StoredModel
}

/** Makes and imports a model. */
async function makeModel(
  options: TinyModelOptions = {},
  atTheEnd: (remove: () => void) => void = onTestFinished,
): Promise<Made> {
  const root = temporaryFolder(atTheEnd)
  const folder = join(root, "tiny")
  const tiny = writeTinyModel(folder, options)
  const modelsFolder = join(root, "models")
  return { root, modelsFolder, tiny, stored: await importModel({ folder, modelsFolder }) }
}

/** Opens an embedder as if the model had been measured: what the cosines mean does not matter here. */
function embedderOf({ stored }: Made, atTheEnd: (close: () => Promise<void>) => void = onTestFinished) {
  const manifest = { ...stored.manifest, dimensions: 32, calibration: { midpoint: 0.5, slope: 8 } }
  const embedder = createTransformersEmbedder({ modelFolder: stored.folder, manifest })
  atTheEnd(() => embedder.close())
  return embedder
}

function threadOf({ stored }: Made): ModelThread {
  const thread = new ModelThread({ modelFolder: stored.folder, manifest: stored.manifest })
  onTestFinished(() => thread.close())
  return thread
}

/** The greatest difference of two vectors, where equal computations differ by rounding only. */
function difference(vector: Float32Array | null | undefined, expected: readonly number[]): number {
  expect(vector?.length).toBe(expected.length)
  return Math.max(...expected.map((value, i) => Math.abs(value - (vector?.[i] ?? Number.NaN))))
}
const ROUNDING = 1e-5

const TEXT = "The index is slow to build."

describe("the vectors of a model", () => {
  let made: Made
  let embedder: Embedder
  beforeAll(async () => {
    const later = () => undefined
    made = await makeModel({}, later)
    embedder = embedderOf(made, later)
  })
  afterAll(async () => {
    await embedder.close()
    remove(made.root)
  })

  test("are those of the same network in plain TypeScript, also where short texts are padded", async () => {
    const made = await makeModel()
    const texts = [
      TEXT,
      "cache",
      "a worker reads and writes the rows of a table: one, two, three",
      "lock lock lock",
    ]
    const vectors = await embedder.embedPassages(texts)
    expect(vectors.map(({ length }) => length)).toEqual([1, 1, 1, 1])
    texts.forEach((text, i) => {
      expect(difference(vectors[i]?.[0], made.tiny.vectorOf(made.tiny.piecesOf(text)))).toBeLessThan(ROUNDING)
    })
  })

  test("are pooled as the model says", async () => {
    for (const [mode, pooling] of [
      ["pooling_mode_cls_token", "cls"],
      ["pooling_mode_lasttoken", "last"],
    ] as const) {
      const made = await makeModel({ files: { "1_Pooling/config.json": { [mode]: true } } })
      const [short] = await embedderOf(made).embedPassages(["cache", TEXT])
      expect(difference(short?.[0], made.tiny.vectorOf(made.tiny.piecesOf("cache"), pooling))).toBeLessThan(
        ROUNDING,
      )
    }
  })

  test("have the prompt of their kind before the text", async () => {
    const prompts = { query: "query: ", passage: "passage: " }
    const made = await makeModel({ files: { "config_sentence_transformers.json": { prompts } } })
    const embedder = embedderOf(made)
    const expected = (text: string) => made.tiny.vectorOf(made.tiny.piecesOf(text))
    const [passage] = await embedder.embedPassages([TEXT])
    expect(difference(passage?.[0], expected(`passage: ${TEXT}`))).toBeLessThan(ROUNDING)
    expect(difference(await embedder.embedQuery(TEXT), expected(`query: ${TEXT}`))).toBeLessThan(ROUNDING)
  })

  test("of a long text are one for each window, in the order of the text", async () => {
    const made = await makeModel({ positions: 20 })
    const words = Array.from({ length: 50 }, (_, i) => ["cache", "row", "lock", "slow", "test"][i % 5])
    const pieces = made.tiny.piecesOf(words.join(" "))
    const [vectors] = await embedderOf(made).embedPassages([words.join(" ")])
    expect(vectors).toHaveLength(3)
    const windows = [pieces.slice(0, 17), pieces.slice(17, 33), pieces.slice(33)]
    windows.forEach((window, i) => {
      expect(difference(vectors?.[i], made.tiny.vectorOf(window))).toBeLessThan(ROUNDING)
    })
  })

  test("come back in the order of many texts of different lengths", async () => {
    const texts = Array.from({ length: 30 }, (_, i) =>
      Array(1 + ((i * 7) % 11))
        .fill(`${i % 10} row`)
        .join(" "),
    )
    const vectors = await embedder.embedPassages(texts)
    texts.forEach((text, i) => {
      expect(difference(vectors[i]?.[0], made.tiny.vectorOf(made.tiny.piecesOf(text)))).toBeLessThan(ROUNDING)
    })
  })

  test("are none for a text of which the model knows nothing", async () => {
    expect((await embedder.embedPassages(["", "日本語", TEXT])).map(({ length }) => length)).toEqual([
      0, 0, 1,
    ])
    expect(await embedder.embedQuery("日本語")).toBeNull()
    expect(await embedder.embedPassages([])).toEqual([])
  })

  test("of a static table are the mean of its rows", async () => {
    const made = await makeModel({ kind: "static" })
    const [passage] = await embedderOf(made).embedPassages([TEXT])
    expect(difference(passage?.[0], made.tiny.vectorOf(made.tiny.piecesOf(TEXT)))).toBeLessThan(ROUNDING)
  })

  test("of a query come before those of passages that were asked for earlier", async () => {
    await embedder.embedQuery("cache")
    const order: string[] = []
    const passages = embedder
      .embedPassages(Array.from({ length: 400 }, () => "a worker reads and writes the rows of a table"))
      .then(() => order.push("passages"))
    await embedder.embedQuery(TEXT)
    order.push("query")
    await passages
    expect(order).toEqual(["query", "passages"])
  })
})

describe("a model is measured", () => {
  test("once, and then says its dimensions, what its cosines mean, and the name of its weights", async () => {
    const { modelsFolder, stored } = await makeModel({ kind: "static" })
    const manifest = await measureModel(stored)
    expect(manifest.dimensions).toBe(32)
    expect(await readManifest(stored.folder)).toEqual(manifest)
    const name = modelName(manifest)
    const embedder = await openTransformersEmbedder({ name, source: "local/tiny", modelsFolder })
    onTestFinished(() => embedder.close())
    expect(embedder.model).toEqual({ name, dimensions: 32, calibration: manifest.calibration })

    const [note = ""] = RELATED_NOTES[0] ?? []
    const [[one] = [], [same] = []] = await embedder.embedPassages([note, note])
    const cosine = one?.reduce((total, value, i) => total + value * (same?.[i] ?? 0), 0) ?? 0
    expect(similarityOf(cosine, embedder.model.calibration)).toBeGreaterThanOrEqual(0.98 - 1e-6)
  })

  test("and cannot be used before", async () => {
    const { stored } = await makeModel()
    expect(() =>
      createTransformersEmbedder({ modelFolder: stored.folder, manifest: stored.manifest }),
    ).toThrow("was never tried out")
  })

  test("and is not opened under the name of other weights", async () => {
    const { modelsFolder, stored } = await makeModel()
    await expect(
      openTransformersEmbedder({ name: "local/tiny@000000000000", source: "local/tiny", modelsFolder }),
    ).rejects.toMatchObject({ code: "unavailable" })
    const name = modelName(stored.manifest)
    await expect(openTransformersEmbedder({ name, source: "a/b", modelsFolder })).rejects.toMatchObject({
      code: "not_found",
    })
  })
})

describe("the thread of a model", () => {
  test("is started again after it died, and lets nobody wait for ever", async () => {
    const made = await makeModel()
    const thread = threadOf(made)
    await thread.embed("query", [TEXT])
    const waiting = expect(thread.embed("passages", Array(200).fill(TEXT))).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("its thread died"),
    })
    await new Promise((resolve) => setImmediate(resolve))
    await thread.kill()
    await waiting
    const [vectors] = await thread.embed("query", [TEXT])
    expect(difference(vectors?.[0], made.tiny.vectorOf(made.tiny.piecesOf(TEXT)))).toBeLessThan(ROUNDING)
  })

  test("gives its memory back after a time without work, and starts again", async () => {
    const { stored } = await makeModel()
    const thread = new ModelThread({ modelFolder: stored.folder, manifest: stored.manifest, idleMs: 1 })
    onTestFinished(() => thread.close())
    expect(await thread.embed("query", [TEXT])).toHaveLength(1)
    await expect.poll(() => thread.isRunning).toBe(false)
    expect(await thread.embed("query", [TEXT])).toHaveLength(1)
  })

  test("ends with its embedder, and what is awaited fails", async () => {
    const thread = threadOf(await makeModel())
    await thread.embed("query", [TEXT])
    const waiting = expect(thread.embed("passages", Array(200).fill(TEXT))).rejects.toThrow("was closed")
    await new Promise((resolve) => setImmediate(resolve))
    await thread.close()
    await waiting
    expect(thread.isRunning).toBe(false)
    await expect(thread.embed("query", [TEXT])).rejects.toThrow("is not used any more")
  })

  test("says which file is missing or not whole", async () => {
    const made = await makeModel()
    const thread = threadOf(made)
    truncateSync(join(made.stored.folder, "onnx/model.onnx"), 1_000)
    await expect(thread.embed("query", [TEXT])).rejects.toThrow("is damaged: onnx/model.onnx is not whole")
    remove(join(made.stored.folder, "tokenizer.json"))
    await expect(thread.embed("query", [TEXT])).rejects.toThrow("is damaged: tokenizer.json is missing")
  })

  test("says that weights cannot be loaded, and does not try without end", async () => {
    const made = await makeModel()
    const { stored } = made
    writeFileSync(join(stored.folder, "onnx/model.onnx"), "these are no weights")
    const files = stored.manifest.files.map((file) =>
      file.path === "onnx/model.onnx" ? { ...file, bytes: 20 } : file,
    )
    const thread = threadOf({ ...made, stored: { ...stored, manifest: { ...stored.manifest, files } } })
    for (let i = 0; i < 5; i++) {
      await expect(thread.embed("query", [TEXT])).rejects.toMatchObject({
        code: "unavailable",
        message: expect.stringMatching(/^the model 'local\/tiny' cannot be loaded: /),
      })
    }
    expect(thread.failures).toBe(3)
  })

  test("keeps no process alive once it has answered, and prints nothing", async () => {
    const { stored, root } = await makeModel()
    const thread = new URL("../../../src/embed/transformers/thread.ts", import.meta.url).href
    const script = join(root, "user.mts")
    writeFileSync(
      script,
      `import { ModelThread } from ${JSON.stringify(thread)}
      const options = { modelFolder: ${JSON.stringify(stored.folder)}, manifest: ${JSON.stringify(stored.manifest)} }
      const [[vector]] = await new ModelThread(options).embed("query", ["cache"])
      process.stdout.write(String(vector.length))`,
    )
    const packageFolder = join(import.meta.dirname, "../../..")
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ["--liftoff-only", "--import", "tsx", script],
      { cwd: packageFolder, encoding: "utf8", timeout: 25_000 },
    )
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "32", stderr: "" })
  })
})
