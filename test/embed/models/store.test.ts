/** Owns the models on disk: what comes in is whole and checked, and nothing leads out of their folder. */

import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { remove } from "../../../scripts/removal.ts"
import {
  MANIFEST_FILE,
  modelFolderName,
  modelName,
  readManifest,
  requireModelId,
} from "../../../src/embed/models/manifest.ts"
import {
  describeDiskError,
  findModel,
  importModel,
  listModels,
  removeModel,
  verifyModel,
} from "../../../src/embed/models/store.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"
import { type TinyModelOptions, writeTinyModel } from "../../support/tiny-model.ts"

/** A folder with a model to import, and one for the models. */
function makeFolders(options: TinyModelOptions = {}) {
  const root = temporaryFolder()
  const folder = join(root, "tiny")
  writeTinyModel(folder, options)
  return { root, folder, modelsFolder: join(root, "models") }
}

describe("importing a model", () => {
  test("copies its files and says where they came from and how it is run", async () => {
    const { folder, modelsFolder } = makeFolders()
    const { manifest, folder: stored } = await importModel({ folder, modelsFolder })
    expect(manifest).toMatchObject({
      id: "local/tiny",
      source: { kind: "folder", path: folder },
      dtype: "fp32",
      pooling: "mean",
      prompts: { query: "", passage: "" },
      piecesMax: 64,
      dimensions: null,
      calibration: null,
    })
    expect(manifest.files.map(({ path }) => path)).toEqual([
      "config.json",
      "tokenizer.json",
      "tokenizer_config.json",
      "onnx/model.onnx",
    ])
    expect(await readManifest(stored)).toEqual(manifest)
    expect(await verifyModel({ folder: stored, manifest })).toEqual([])
    expect(readdirSync(modelsFolder)).toEqual(["local--tiny"])
  })

  test("names every file that is missing, and leaves nothing behind", async () => {
    const { folder, modelsFolder } = makeFolders({ files: { "tokenizer.json": null } })
    remove(join(folder, "onnx"))
    await expect(importModel({ folder, modelsFolder })).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringContaining("it has no tokenizer.json, no onnx/model.onnx"),
    })
    expect(await listModels(modelsFolder)).toEqual([])
  })

  test("refuses a folder that is none", async () => {
    const { root, modelsFolder } = makeFolders()
    const folder = join(root, "nowhere")
    await expect(importModel({ folder, modelsFolder })).rejects.toMatchObject({ code: "invalid" })
  })

  test("prefers quantised weights, takes the form that is named, and finds them beside the other files", async () => {
    const { folder, modelsFolder } = makeFolders()
    writeTinyModel(folder, { onnxFile: "model_quantized.onnx", seed: 2 })
    const preferred = await importModel({ folder, modelsFolder })
    expect(preferred.manifest.dtype).toBe("q8")
    expect(preferred.manifest.files.at(-1)?.path).toBe("onnx/model_quantized.onnx")
    const named = await importModel({ folder, modelsFolder, dtype: "fp32" })
    expect(named.manifest.dtype).toBe("fp32")
    await expect(importModel({ folder, modelsFolder, dtype: "q4" })).rejects.toThrow("onnx/model_q4.onnx")
  })

  test("takes the place of a model with the same id, whose name for vectors changes with the weights", async () => {
    const { folder, modelsFolder } = makeFolders()
    const first = await importModel({ folder, modelsFolder })
    const same = await importModel({ folder, modelsFolder })
    writeTinyModel(folder, { seed: 2 })
    const other = await importModel({ folder, modelsFolder })
    expect(modelName(first.manifest)).toMatch(/^local\/tiny@[0-9a-f]{12}$/)
    expect(modelName(same.manifest)).toBe(modelName(first.manifest))
    expect(modelName(other.manifest)).not.toBe(modelName(first.manifest))
    expect(await listModels(modelsFolder)).toEqual([other])
    expect(readdirSync(modelsFolder)).toEqual(["local--tiny"])
  })

  test("follows links, as the hub's own cache has them", async () => {
    const { folder, modelsFolder } = makeFolders()
    renameSync(join(folder, "config.json"), join(folder, "blob"))
    symlinkSync("blob", join(folder, "config.json"))
    const stored = await importModel({ folder, modelsFolder })
    remove(folder)
    expect(await verifyModel(stored)).toEqual([])
  })

  test("tells how far it is, up to the whole of every file", async () => {
    const { folder, modelsFolder } = makeFolders()
    const last = new Map<string, { bytes: number; bytesTotal: number | null }>()
    const { manifest } = await importModel({
      folder,
      modelsFolder,
      onProgress: ({ file, ...progress }) => last.set(file, progress),
    })
    const whole = manifest.files.map(({ path, bytes }) => [path, { bytes, bytesTotal: bytes }])
    expect([...last]).toEqual(whole)
  })

  test("reads pooling, prompts and the longest input from what sentence-transformers writes", async () => {
    const { folder, modelsFolder } = makeFolders({
      files: {
        "1_Pooling/config.json": { pooling_mode_cls_token: true, pooling_mode_mean_tokens: false },
        "config_sentence_transformers.json": { prompts: { query: "find: ", document: "text: " } },
        "sentence_bert_config.json": { max_seq_length: 48 },
      },
    })
    const { manifest } = await importModel({ folder, modelsFolder })
    expect(manifest).toMatchObject({
      pooling: "cls",
      prompts: { query: "find: ", passage: "text: " },
      piecesMax: 48,
    })
  })

  test("knows the prompts of models that do not say them", async () => {
    const { folder, modelsFolder } = makeFolders()
    const promptsOf = async (name: string) =>
      (await importModel({ folder, modelsFolder, name })).manifest.prompts
    expect(await promptsOf("intfloat/multilingual-e5-small")).toEqual({
      query: "query: ",
      passage: "passage: ",
    })
    expect(await promptsOf("owner/e5-base-v2")).toEqual({ query: "query: ", passage: "passage: " })
    expect(await promptsOf("owner/multilingual-e5-large-instruct")).toEqual({ query: "", passage: "" })
    expect(await promptsOf("owner/mine5-small")).toEqual({ query: "", passage: "" })
  })

  test("never reads more pieces at once than 256, or than roberta has positions for", async () => {
    const roberta = { model_type: "roberta", max_position_embeddings: 130 }
    const { folder, modelsFolder } = makeFolders({ positions: 2_000 })
    expect((await importModel({ folder, modelsFolder })).manifest.piecesMax).toBe(256)
    writeFileSync(join(folder, "config.json"), JSON.stringify(roberta))
    expect((await importModel({ folder, modelsFolder })).manifest.piecesMax).toBe(128)
  })

  test("refuses a pooling that it does not know, and files that are no JSON", async () => {
    const files = { "1_Pooling/config.json": { pooling_mode_max_tokens: true } }
    const { folder, modelsFolder } = makeFolders({ files })
    await expect(importModel({ folder, modelsFolder })).rejects.toThrow("pooling_mode_max_tokens")
    writeFileSync(join(folder, "config.json"), "{")
    await expect(importModel({ folder, modelsFolder })).rejects.toThrow("config.json is no JSON")
    expect(readdirSync(modelsFolder)).toEqual([])
  })
})

describe("the id of a model", () => {
  test.each(["owner/name", "name", "Xenova/all-MiniLM-L6-v2", "a/b.c_d", "0/1"])("may be %s", (id) => {
    expect(requireModelId(id)).toBe(id)
  })

  test.each([
    "",
    ".",
    "..",
    "../name",
    "owner/..",
    "owner/../name",
    "/owner/name",
    "owner/name/",
    "a/b/c",
    "owner\\name",
    "C:/name",
    "owner/na..me",
    "owner/na--me",
    ".hidden/name",
    "owner/name\0",
    "owner/name\n",
    "owner/näme",
    `owner/${"a".repeat(97)}`,
  ])("may not be %j", async (id) => {
    const { folder, modelsFolder } = makeFolders()
    expect(() => requireModelId(id)).toThrow("must be a model's id")
    await expect(importModel({ folder, modelsFolder, name: id })).rejects.toMatchObject({ code: "invalid" })
    await expect(removeModel(modelsFolder, id)).rejects.toMatchObject({ code: "invalid" })
  })

  test("gives every model a folder of its own", () => {
    expect(modelFolderName("owner/name")).toBe("owner--name")
    expect(modelFolderName("owner-name")).toBe("owner-name")
  })

  test("is made of the folder's name, whatever characters that has", async () => {
    const { root, folder, modelsFolder } = makeFolders()
    for (const [name, id] of [
      ["my model (v2)", "local/my-model-v2"],
      ["--..x..--", "local/x"],
      ["é", "local/model"],
    ] as const) {
      mkdirSync(join(root, "named"), { recursive: true })
      const named = join(root, "named", name)
      renameSync(folder, named)
      expect((await importModel({ folder: named, modelsFolder })).manifest.id).toBe(id)
      renameSync(named, folder)
    }
  })
})

describe("the models on disk", () => {
  test("are listed by id, without unfinished ones and folders that are none", async () => {
    const { folder, modelsFolder } = makeFolders()
    expect(await listModels(modelsFolder)).toEqual([])
    const b = await importModel({ folder, modelsFolder, name: "b/model" })
    const a = await importModel({ folder, modelsFolder, name: "a/model" })
    mkdirSync(join(modelsFolder, ".download-c--model"))
    mkdirSync(join(modelsFolder, "something"))
    expect(await listModels(modelsFolder)).toEqual([a, b])
    expect(await findModel(modelsFolder, "a/model")).toEqual(a)
    await expect(findModel(modelsFolder, "c/model")).rejects.toMatchObject({ code: "not_found" })
  })

  test("are removed with all that is theirs", async () => {
    const { folder, modelsFolder } = makeFolders()
    await importModel({ folder, modelsFolder, name: "a/model" })
    mkdirSync(join(modelsFolder, ".download-a--model"))
    expect(await removeModel(modelsFolder, "a/model")).toBe(true)
    expect(readdirSync(modelsFolder)).toEqual([])
    expect(await removeModel(modelsFolder, "a/model")).toBe(false)
  })

  test("are removed by an id alone, never by a path", async () => {
    const { root, folder, modelsFolder } = makeFolders()
    await importModel({ folder, modelsFolder, name: "a/model" })
    const before = readdirSync(root, { recursive: true })
    for (const id of [
      "",
      ".",
      "..",
      "../models",
      "a/..",
      "a/model/..",
      root,
      `${root}/tiny`,
      "a--model/..",
    ]) {
      await expect(removeModel(modelsFolder, id), id).rejects.toMatchObject({ code: "invalid" })
      if (id !== "") await expect(importModel({ folder, modelsFolder, name: id }), id).rejects.toThrow("id")
    }
    expect(readdirSync(root, { recursive: true })).toEqual(before)
  })

  test("are removed and replaced without what links among them point at, below a link too", async () => {
    const { root, folder, modelsFolder } = makeFolders()
    const mine = join(root, "mine")
    for (const name of ["mine", "real"]) mkdirSync(join(root, name))
    writeFileSync(join(mine, "file"), "mine")
    symlinkSync(join(root, "real"), modelsFolder)
    await importModel({ folder, modelsFolder, name: "b/model" })
    for (const name of ["a--model", ".download-a--model"]) symlinkSync(mine, join(modelsFolder, name))
    expect(await removeModel(modelsFolder, "a/model")).toBe(true)
    expect(readdirSync(modelsFolder)).toEqual(["b--model"])
    symlinkSync(mine, join(modelsFolder, "a--model"))
    await importModel({ folder, modelsFolder, name: "a/model" })
    await importModel({ folder, modelsFolder, name: "a/model" })
    expect(readdirSync(join(root, "real"))).toEqual(["a--model", "b--model"])
    expect(readdirSync(mine)).toEqual(["file"])
    expect(readdirSync(root).sort()).toEqual(["mine", "models", "real", "tiny"])
  })

  test("say which files have been changed, cut short or lost", async () => {
    const { folder, modelsFolder } = makeFolders()
    const stored = await importModel({ folder, modelsFolder })
    const config = join(stored.folder, "config.json")
    const tokenizer = stored.manifest.files.find(({ path }) => path === "tokenizer.json")
    writeFileSync(join(stored.folder, "tokenizer.json"), "x".repeat(tokenizer?.bytes ?? 0))
    writeFileSync(config, "{}")
    remove(join(stored.folder, "onnx/model.onnx"))
    expect(await verifyModel(stored)).toEqual([
      expect.stringMatching(/^config\.json has 2 bytes and should have \d+\.$/),
      expect.stringContaining("tokenizer.json is not what it was"),
      "onnx/model.onnx is missing.",
    ])
  })

  test("whose manifest is damaged or leads out of the folder are not read", async () => {
    const { folder, modelsFolder } = makeFolders()
    const stored = await importModel({ folder, modelsFolder })
    const path = join(stored.folder, MANIFEST_FILE)
    const escaping = [{ path: "../../secret", bytes: 1, sha256: "" }]
    for (const text of ["{", "{}", JSON.stringify({ format: 1, ...stored.manifest, files: escaping })]) {
      writeFileSync(path, text)
      await expect(readManifest(stored.folder)).rejects.toMatchObject({ code: "unavailable" })
      expect(await listModels(modelsFolder)).toEqual([])
    }
    expect(existsSync(stored.folder)).toBe(true)
  })

  test("that do not fit on the disk end in an error that says so", () => {
    const full = Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" })
    expect(describeDiskError(full, "/models")).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("the disk is full"),
    })
    const other = new Error("other")
    expect(describeDiskError(other, "/models")).toBe(other)
  })
})
