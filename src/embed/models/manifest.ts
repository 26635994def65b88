/**
 * What is known of a model on disk: `signalbox-model.json` beside its files says where it came from, how it
 * is to be run, the checksum of every file, and what was measured with it.
 */

import { createHash } from "node:crypto"
import { readFile, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Calibration } from "../../domain/embedding/similarity.ts"
import { AppError, invalid } from "../../errors.ts"
import { ownCommand } from "../../runtime/own-command.ts"

export const MANIFEST_FILE = "signalbox-model.json"
const MANIFEST_FORMAT = 1

/** The forms of weights in the order of preference, with the names that their files have. */
export const ONNX_NAMES = {
  q8: "model_quantized.onnx",
  fp32: "model.onnx",
  int8: "model_int8.onnx",
  uint8: "model_uint8.onnx",
  q4: "model_q4.onnx",
  bnb4: "model_bnb4.onnx",
  q4f16: "model_q4f16.onnx",
  fp16: "model_fp16.onnx",
} as const
export type ModelDtype = keyof typeof ONNX_NAMES
export const MODEL_DTYPES = Object.keys(ONNX_NAMES) as ModelDtype[]

/** How the vectors of the pieces become one: their mean, that of the first piece, or that of the last. */
const POOLINGS = ["mean", "cls", "last"] as const
export type Pooling = (typeof POOLINGS)[number]

export interface ModelFile {
  /** Below the model's folder, with `/` between. */
  path: string
  bytes: number
  sha256: string
}

/** How a model is to be run. */
export interface ModelSettings {
  dtype: ModelDtype
  pooling: Pooling
  /** Put before every query and every passage; empty for most models. */
  prompts: { query: string; passage: string }
  /** Pieces of one window, the special ones included. */
  piecesMax: number
}

export interface ModelManifest extends ModelSettings {
  id: string
  source: { kind: "folder"; path: string } | { kind: "hub"; host: string; revision: string }
  files: readonly ModelFile[]
  /** Null until the model has been measured. */
  dimensions: number | null
  calibration: Calibration | null
}

/**
 * Returns the id when it is one: `owner/name` or `name` as on the Hugging Face hub, each part of at most 96
 * letters, digits, `.`, `_` and `-` that starts and ends with a letter or digit, without `..` and `--`. Throws
 * AppError `invalid` otherwise, so that an id never leads out of the folder of models.
 */
export function requireModelId(id: string): string {
  const parts = id.split("/")
  const isPart = (part: string) =>
    /^[A-Za-z0-9](?:[\w.-]{0,94}[A-Za-z0-9])?$/.test(part) && !/\.\.|--/.test(part)
  if (parts.length <= 2 && parts.every(isPart)) return id
  throw invalid(
    "id",
    `must be a model's id such as 'owner/name', this is '${id.slice(0, 200)}'`,
    "Ids have letters, digits, '.', '_' and '-', and one '/' between owner and name.",
  )
}

/** Returns the name of the folder of a model: no two ids share one, as none has `--` in it. */
export function modelFolderName(id: string): string {
  return requireModelId(id).replace("/", "--")
}

/**
 * Returns the name under which vectors are stored: the id, `@`, and 12 hex digits of a SHA-256 over the
 * checksums of all files, so that it changes with the weights.
 */
export function modelName({ id, files }: Pick<ModelManifest, "id" | "files">): string {
  const lines = files.map(({ path, sha256 }) => `${path} ${sha256}\n`).sort()
  return `${id}@${createHash("sha256").update(lines.join("")).digest("hex").slice(0, 12)}`
}

/** Writes the manifest to the model's folder, whole or not at all. */
export async function writeManifest(modelFolder: string, manifest: ModelManifest): Promise<void> {
  const path = join(modelFolder, MANIFEST_FILE)
  const text = `${JSON.stringify({ format: MANIFEST_FORMAT, ...manifest }, null, 2)}\n`
  await writeFile(`${path}.new`, text, { mode: 0o600 })
  await rename(`${path}.new`, path)
}

/** Reads the manifest of a model's folder. Throws AppError `unavailable` when there is none or it is damaged. */
export async function readManifest(modelFolder: string): Promise<ModelManifest> {
  const damaged = (what: string, cause?: unknown) =>
    new AppError("unavailable", `the model in ${modelFolder} ${what}`, {
      cause,
      hint: `Remove it and bring it in again with \`${ownCommand()} model use\`.`,
    })
  let text: string
  try {
    text = await readFile(join(modelFolder, MANIFEST_FILE), "utf8")
  } catch (error) {
    throw damaged(`has no ${MANIFEST_FILE}`, error)
  }
  const manifest = parseManifest(text)
  if (manifest === null) throw damaged(`has a ${MANIFEST_FILE} that cannot be read`)
  return manifest
}

function parseManifest(text: string): ModelManifest | null {
  const value = objectOf(parseJson(text))
  const source = objectOf(value.source)
  const prompts = objectOf(value.prompts)
  const calibration = objectOf(value.calibration)
  const { id, piecesMax, dimensions } = value
  const dtype = MODEL_DTYPES.find((name) => name === value.dtype)
  const pooling = POOLINGS.find((name) => name === value.pooling)
  const files = Array.isArray(value.files) ? value.files.map(fileOf) : []
  if (value.format !== MANIFEST_FORMAT || typeof id !== "string") return null
  if (dtype === undefined || pooling === undefined || !isCount(piecesMax)) return null
  if (files.length === 0 || files.includes(null)) return null
  return {
    id,
    source:
      source.kind === "hub"
        ? { kind: "hub", host: String(source.host), revision: String(source.revision) }
        : { kind: "folder", path: String(source.path) },
    dtype,
    pooling,
    prompts: { query: String(prompts.query ?? ""), passage: String(prompts.passage ?? "") },
    piecesMax,
    files: files.filter((file) => file !== null),
    dimensions: isCount(dimensions) ? dimensions : null,
    calibration:
      typeof calibration.midpoint === "number" && typeof calibration.slope === "number"
        ? { midpoint: calibration.midpoint, slope: calibration.slope }
        : null,
  }
}

function fileOf(value: unknown): ModelFile | null {
  const { path, bytes, sha256 } = objectOf(value)
  if (typeof path !== "string" || typeof bytes !== "number" || typeof sha256 !== "string") return null
  // What is read and checked by this path must lie in the model's folder.
  return path.startsWith("/") || path.split("/").includes("..") ? null : { path, bytes, sha256 }
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0
}

/** Returns what a JSON text says, or null when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Returns the fields of an object; none for anything else. */
export function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {}
}
