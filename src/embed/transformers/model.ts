/**
 * A model in this thread, run by transformers.js on WebAssembly: from rows of pieces to vectors. Everything
 * comes from the model's folder; there is no network here.
 */

import { existsSync } from "node:fs"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { AutoModel, AutoTokenizer, env, LogLevel, Tensor } from "@huggingface/transformers"
import { packageFile } from "../../runtime/package-root.ts"
import { onnxDataPath } from "../models/files.ts"
import type { Pooling } from "../models/manifest.ts"
import type { WorkerSettings } from "./messages.ts"
import type { Tokenizer } from "./windows.ts"

export interface LoadedModel {
  tokenizer: Tokenizer
  /** Returns one vector of length 1 for each row of pieces. */
  run(rows: readonly (readonly number[])[]): Promise<Float32Array[]>
}

/** More threads than this bring little for small models, and an agent's machine has other work. */
const THREADS_MAX = 4

/** Loads a model from its folder; fails with the runtime's words when the files do not fit together. */
export async function loadModel(settings: WorkerSettings): Promise<LoadedModel> {
  configure()
  const { modelFolder, dtype, pooling } = settings
  const local = { local_files_only: true } as const
  const tokenizer = await AutoTokenizer.from_pretrained(modelFolder, local)
  const data = onnxDataPath(dtype)
  const externalData = existsSync(join(modelFolder, data))
    ? { externalData: [{ path: data.replace(/^.*\//, ""), data }] }
    : {}
  const model = await AutoModel.from_pretrained(modelFolder, {
    ...local,
    dtype,
    use_external_data_format: false,
    session_options: { intraOpNumThreads: threads(), ...externalData },
  })
  const padding = tokenizer.pad_token_id ?? 0
  return {
    tokenizer: {
      piecesOf: (text, withSpecial) =>
        tokenizer(text, { add_special_tokens: withSpecial, return_tensor: false }).input_ids,
      unknown: tokenizer.unk_token_id,
    },
    async run(rows) {
      const outputs: Record<string, unknown> = await model(inputsOf(rows, padding))
      return vectorsOf(
        outputs,
        rows.map((row) => row.length),
        pooling,
      )
    },
  }
}

function configure(): void {
  env.allowRemoteModels = false
  env.useFSCache = false
  env.useBrowserCache = false
  env.useWasmCache = false
  env.logLevel = LogLevel.NONE
  env.fetch = () => Promise.reject(new Error("there is no network in this thread"))
  const { wasm } = env.backends.onnx
  if (wasm === undefined) throw new Error("the WebAssembly runtime is not there")
  const runtime = (type: string) => pathToFileURL(packageFile(`dist/ort-wasm-simd-threaded.${type}`)).href
  wasm.wasmPaths = { mjs: runtime("mjs"), wasm: runtime("wasm") }
  wasm.numThreads = threads()
}

function threads(): number {
  return Math.max(1, Math.min(THREADS_MAX, Math.floor(availableParallelism() / 2)))
}

/** Pads rows on the right to the same length; the mask tells the model what is padding. */
function inputsOf(rows: readonly (readonly number[])[], padding: number): Record<string, Tensor> {
  const length = Math.max(...rows.map((row) => row.length))
  const ids = new BigInt64Array(rows.length * length).fill(BigInt(padding))
  const mask = new BigInt64Array(rows.length * length)
  rows.forEach((row, i) => {
    row.forEach((piece, j) => {
      ids[i * length + j] = BigInt(piece)
      mask[i * length + j] = 1n
    })
  })
  const dims = [rows.length, length]
  return { input_ids: new Tensor("int64", ids, dims), attention_mask: new Tensor("int64", mask, dims) }
}

/** Outputs in the order in which they are taken: the first are pooled already. */
const POOLED_OUTPUTS = ["sentence_embedding"]
const PIECE_OUTPUTS = ["last_hidden_state", "token_embeddings", "logits"]

/** Pools the vectors of the pieces of each row and brings them to length 1. */
function vectorsOf(
  outputs: Record<string, unknown>,
  lengths: readonly number[],
  pooling: Pooling,
): Float32Array[] {
  const names = [...POOLED_OUTPUTS, ...PIECE_OUTPUTS]
  const output = names.map((name) => outputs[name]).find((value) => value instanceof Tensor)
  if (output === undefined) {
    throw new Error(`the model gives ${Object.keys(outputs).join(", ")} and none of ${names.join(", ")}`)
  }
  const { dims } = output
  const values = output.data
  if (!(values instanceof Float32Array)) throw new Error(`the model gives ${output.type} and no float32`)
  const width = dims.at(-1) ?? 0
  const stride = dims.length === 2 ? width : (dims[1] ?? 0) * width
  return lengths.map((length, row) => {
    const part = values.subarray(row * stride, (row + 1) * stride)
    return toUnit(dims.length === 2 ? part.slice() : pool(part, length, width, pooling))
  })
}

function pool(pieces: Float32Array, length: number, width: number, pooling: Pooling): Float32Array {
  if (pooling === "cls") return pieces.slice(0, width)
  if (pooling === "last") return pieces.slice((length - 1) * width, length * width)
  const sum = new Float64Array(width)
  for (let i = 0; i < length * width; i++) sum[i % width] = (sum[i % width] ?? 0) + (pieces[i] ?? 0)
  return Float32Array.from(sum)
}

/** Brings a vector to length 1 in place. */
export function toUnit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector)
  if (!(length > 0 && Number.isFinite(length)))
    throw new Error("the model gives a vector without a direction")
  for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] ?? 0) / length
  return vector
}
