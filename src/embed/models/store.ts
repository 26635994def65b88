/**
 * The models on disk: each has a folder of its own below the folder of models, in the layout of
 * transformers.js. A model appears there whole or not at all, because it is made in a folder beside and
 * renamed. What starts with a dot is such work and no model.
 */

import { createHash, randomUUID } from "node:crypto"
import { createReadStream, createWriteStream } from "node:fs"
import { mkdir, readdir, rename, stat } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import { pipeline } from "node:stream/promises"
import { AppError, invalid } from "../../errors.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { removeOwned } from "../../runtime/owned-folder.ts"
import { NEEDED_FILES, OPTIONAL_FILES, onnxDataPath, onnxPath, readSettings, sha256Of } from "./files.ts"
import {
  MODEL_DTYPES,
  type ModelDtype,
  type ModelFile,
  type ModelManifest,
  modelFolderName,
  ONNX_NAMES,
  readManifest,
  requireModelId,
  writeManifest,
} from "./manifest.ts"

/** How far a file is: bytes are here of the total, which is null when it is not known. */
export interface ModelProgress {
  file: string
  bytes: number
  bytesTotal: number | null
}

/** A model on disk. */
export interface StoredModel {
  folder: string
  manifest: ModelManifest
}

export interface ImportOptions {
  /** The folder to copy from; it may be one of the hub's cache, with links. */
  folder: string
  modelsFolder: string
  /** The id; `local/<name of the folder>` unless given. */
  name?: string | undefined
  /** The form of the weights; the best that is there unless given. */
  dtype?: ModelDtype | undefined
  onProgress?: ((progress: ModelProgress) => void) | undefined
}

/**
 * Copies a model from a local folder, in the place of one with the same id, and returns it; it is not
 * measured yet. The ONNX file may lie in `onnx/` or beside the others. Throws AppError `invalid` that names
 * what is missing, and `unavailable` when the disk is full.
 */
export async function importModel(options: ImportOptions): Promise<StoredModel> {
  const from = resolve(options.folder)
  const id = requireModelId(options.name ?? `local/${nameFrom(from)}`)
  const { dtype, sources } = await findFiles(from, options.dtype)
  const temporary = join(options.modelsFolder, `.import-${randomUUID()}`)
  try {
    const files: ModelFile[] = []
    for (const [path, source] of sources) {
      files.push(await copyFile(source, temporary, path, options.onProgress))
    }
    const settings = await readSettings(temporary, id, dtype)
    const source = { kind: "folder", path: from } as const
    const manifest = { id, source, ...settings, files, dimensions: null, calibration: null }
    return await placeModel(options.modelsFolder, temporary, manifest)
  } catch (error) {
    throw describeDiskError(error, options.modelsFolder)
  } finally {
    await removeOwned(options.modelsFolder, temporary)
  }
}

/** Writes the manifest of a folder with all of a model's files and moves it to where the model belongs. */
export async function placeModel(
  modelsFolder: string,
  temporary: string,
  manifest: ModelManifest,
): Promise<StoredModel> {
  await writeManifest(temporary, manifest)
  const folder = join(modelsFolder, modelFolderName(manifest.id))
  const old = join(modelsFolder, `.old-${randomUUID()}`)
  // Two renames, because a folder cannot be renamed onto another; between them there is no model, never half of one.
  await rename(folder, old).catch(ignoreMissing)
  await rename(temporary, folder)
  await removeOwned(modelsFolder, old)
  return { folder, manifest }
}

/** Returns all models on disk, by id; a folder whose manifest cannot be read is left out. */
export async function listModels(modelsFolder: string): Promise<StoredModel[]> {
  const entries = await readdir(modelsFolder).catch(ignoreMissing)
  const models: StoredModel[] = []
  for (const entry of entries ?? []) {
    if (entry.startsWith(".")) continue
    const folder = join(modelsFolder, entry)
    const manifest = await readManifest(folder).catch(() => null)
    if (manifest !== null) models.push({ folder, manifest })
  }
  return models.sort((a, b) => (a.manifest.id < b.manifest.id ? -1 : 1))
}

/** Returns the model with an id. Throws AppError `not_found` when it is not on disk, `unavailable` when it is damaged. */
export async function findModel(modelsFolder: string, id: string): Promise<StoredModel> {
  const folder = join(modelsFolder, modelFolderName(id))
  if (!(await isThere(folder))) {
    throw new AppError("not_found", `the model '${id}' is not on this machine`, {
      hint: `\`${ownCommand()} model use ${id}\` downloads it.`,
    })
  }
  return { folder, manifest: await readManifest(folder) }
}

/** Deletes a model and what an interrupted download of it left; says whether there was one. */
export async function removeModel(modelsFolder: string, id: string): Promise<boolean> {
  const name = modelFolderName(id)
  const folder = join(modelsFolder, name)
  const wasThere = await isThere(folder)
  await removeOwned(modelsFolder, folder)
  await removeOwned(modelsFolder, join(modelsFolder, `.download-${name}`))
  return wasThere
}

/** Returns what is wrong with a model's files, one sentence each: missing, of another size or other content. */
export async function verifyModel({ folder, manifest }: StoredModel): Promise<string[]> {
  const problems: string[] = []
  for (const { path, bytes, sha256 } of manifest.files) {
    const found = await stat(join(folder, path)).catch(ignoreMissing)
    if (!found?.isFile()) problems.push(`${path} is missing.`)
    else if (found.size !== bytes) problems.push(`${path} has ${found.size} bytes and should have ${bytes}.`)
    else if ((await sha256Of(join(folder, path))) !== sha256) {
      problems.push(`${path} is not what it was when the model came in: its checksum differs.`)
    }
  }
  return problems
}

/** Returns the error that users get when the disk is full; any other as it is. */
export function describeDiskError(error: unknown, modelsFolder: string): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code !== "ENOSPC" && code !== "EDQUOT") return error
  return new AppError("unavailable", `the disk is full; the model does not fit in ${modelsFolder}`, {
    hint: "Free some space and do the same again.",
  })
}

/** Makes an id of a folder's name, whatever characters that has. */
function nameFrom(folder: string): string {
  const name = basename(folder)
    .replace(/[^\w.-]+/g, "-")
    .replace(/-{2,}/g, "-")
    .replace(/\.{2,}/g, ".")
    .replace(/[^A-Za-z0-9]+$/, "")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, 90)
  return name.replace(/[^A-Za-z0-9]+$/, "") || "model"
}

/** Finds the files of a model: for each its path in our layout and where it lies. */
async function findFiles(
  folder: string,
  wanted: ModelDtype | undefined,
): Promise<{ dtype: ModelDtype; sources: Map<string, string> }> {
  const found = await stat(folder).catch(ignoreMissing)
  if (!found?.isDirectory()) throw invalid("folder", `must be a folder with a model, ${folder} is none`)
  const sources = new Map<string, string>()
  const add = async (path: string, ...places: string[]) => {
    for (const place of places) {
      if (sources.has(path) || !(await isThere(join(folder, place)))) continue
      sources.set(path, join(folder, place))
    }
    return sources.has(path)
  }
  const missing: string[] = []
  for (const path of NEEDED_FILES) if (!(await add(path, path))) missing.push(path)
  for (const path of OPTIONAL_FILES) await add(path, path)

  let dtype: ModelDtype | undefined
  for (const candidate of wanted === undefined ? MODEL_DTYPES : [wanted]) {
    if (!(await add(onnxPath(candidate), onnxPath(candidate), ONNX_NAMES[candidate]))) continue
    dtype = candidate
    await add(onnxDataPath(dtype), onnxDataPath(dtype), `${ONNX_NAMES[dtype]}_data`)
    break
  }
  if (dtype === undefined) missing.push(wanted === undefined ? "onnx/model.onnx" : onnxPath(wanted))
  if (missing.length > 0 || dtype === undefined) {
    throw new AppError(
      "invalid",
      `the model in ${folder} cannot be used: it has no ${missing.join(", no ")}`,
      {
        field: "folder",
        hint: "A model for transformers.js has these files; on the Hugging Face hub, look for one with an `onnx` folder.",
      },
    )
  }
  return { dtype, sources }
}

async function copyFile(
  source: string,
  folder: string,
  path: string,
  onProgress: ((progress: ModelProgress) => void) | undefined,
): Promise<ModelFile> {
  const target = join(folder, path)
  await mkdir(dirname(target), { recursive: true, mode: 0o700 })
  const { size } = await stat(source)
  const hash = createHash("sha256")
  let bytes = 0
  const count = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      hash.update(chunk)
      bytes += chunk.length
      onProgress?.({ file: path, bytes, bytesTotal: size })
      yield chunk
    }
  }
  await pipeline(createReadStream(source), count, createWriteStream(target, { mode: 0o600 }))
  return { path, bytes, sha256: hash.digest("hex") }
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(ignoreMissing)) !== null
}

/** For `catch`: nothing there is an answer, everything else is still an error. */
export function ignoreMissing(error: unknown): null {
  const { code } = error as NodeJS.ErrnoException
  if (code === "ENOENT" || code === "ENOTDIR") return null
  throw error
}
