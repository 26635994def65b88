/**
 * The files of a model in the layout of transformers.js, and what they say about how it is to be run: the
 * files beside the weights that sentence-transformers writes tell pooling, prompts and the longest input.
 */

import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import { EMBEDDING_WINDOW_PIECES_MAX } from "../../config/limits.ts"
import { AppError } from "../../errors.ts"
import {
  type ModelDtype,
  type ModelSettings,
  ONNX_NAMES,
  objectOf,
  type Pooling,
  parseJson,
} from "./manifest.ts"

export const NEEDED_FILES = ["config.json", "tokenizer.json", "tokenizer_config.json"]
/** Taken along when they are there. */
export const OPTIONAL_FILES = [
  "1_Pooling/config.json",
  "config_sentence_transformers.json",
  "sentence_bert_config.json",
]

/** Returns the path of a model's weights below its folder. */
export function onnxPath(dtype: ModelDtype): string {
  return `onnx/${ONNX_NAMES[dtype]}`
}

/** Returns the path of what large models keep outside their ONNX file. */
export function onnxDataPath(dtype: ModelDtype): string {
  return `${onnxPath(dtype)}_data`
}

/** Returns the SHA-256 of a file in hex. */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256")
  await pipeline(createReadStream(path), hash)
  return hash.digest("hex")
}

/** Models that ask for a text before queries and passages but do not always say so in their files. */
const KNOWN_PROMPTS: { model: RegExp; query: string; passage: string }[] = [
  { model: /(?:^|[/-])e5-(?:small|base|large)(?!.*instruct)/i, query: "query: ", passage: "passage: " },
  { model: /nomic-embed-text/i, query: "search_query: ", passage: "search_document: " },
  {
    model: /bge-(?:small|base|large)-en/i,
    query: "Represent this sentence for searching relevant passages: ",
    passage: "",
  },
]

/**
 * Reads from a model's files how it is to be run. Throws AppError `invalid` for files that are no JSON and
 * for a pooling other than mean, first or last piece.
 */
export async function readSettings(
  modelFolder: string,
  id: string,
  dtype: ModelDtype,
): Promise<ModelSettings> {
  const config = await readJson(modelFolder, "config.json")
  const sentences = await readJson(modelFolder, "config_sentence_transformers.json")
  const stated = objectOf(sentences.prompts)
  const name = typeof config._name_or_path === "string" ? config._name_or_path : ""
  const known = KNOWN_PROMPTS.find(({ model }) => model.test(id) || model.test(name))
  const text = (...values: unknown[]) =>
    values.find((value) => typeof value === "string") as string | undefined
  return {
    dtype,
    pooling: poolingOf(await readJson(modelFolder, "1_Pooling/config.json")),
    prompts: {
      query: text(stated.query, known?.query) ?? "",
      passage: text(stated.passage, stated.document, known?.passage) ?? "",
    },
    piecesMax: piecesMaxOf(
      config,
      await readJson(modelFolder, "tokenizer_config.json"),
      await readJson(modelFolder, "sentence_bert_config.json"),
    ),
  }
}

function poolingOf(config: Record<string, unknown>): Pooling {
  const chosen = Object.keys(config).filter((key) => key.startsWith("pooling_mode_") && config[key] === true)
  if (chosen.length === 0 || chosen.includes("pooling_mode_mean_tokens")) return "mean"
  if (chosen.includes("pooling_mode_cls_token")) return "cls"
  if (chosen.includes("pooling_mode_lasttoken")) return "last"
  throw new AppError("invalid", `the model asks for a pooling that is not known here: ${chosen.join(", ")}`, {
    hint: "Take a model that pools by mean, by its first or by its last piece.",
  })
}

/** These count positions from after the padding piece, so that two of them are never used. */
const POSITIONS_OFFSET_TYPES = ["roberta", "xlm-roberta", "camembert", "mpnet"]

function piecesMaxOf(...configs: Record<string, unknown>[]): number {
  const [model = {}, tokenizer = {}, sentences = {}] = configs
  const offset = POSITIONS_OFFSET_TYPES.includes(String(model.model_type)) ? 2 : 0
  const positions = model.max_position_embeddings
  const stated = [
    typeof positions === "number" ? positions - offset : undefined,
    tokenizer.model_max_length,
    sentences.max_seq_length,
  ]
  const limits = stated.filter((value): value is number => typeof value === "number" && value >= 1)
  return Math.floor(Math.min(EMBEDDING_WINDOW_PIECES_MAX, ...limits))
}

/** Returns the fields of a JSON file; none when there is no such file. */
async function readJson(modelFolder: string, path: string): Promise<Record<string, unknown>> {
  let text: string
  try {
    text = await readFile(join(modelFolder, path), "utf8")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {}
    throw error
  }
  const value = parseJson(text)
  if (value === null) throw new AppError("invalid", `the model's ${path} is no JSON`)
  return objectOf(value)
}
