/**
 * Downloads a model that the user named, the only download there is. All its files are of one commit, and
 * what an interrupted download left is kept beside the models until it can be finished.
 */

import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { openProcessLock } from "../../db/process-lock.ts"
import { AppError, invalid } from "../../errors.ts"
import { removeOwned } from "../../runtime/owned-folder.ts"
import { NEEDED_FILES, OPTIONAL_FILES, onnxDataPath, onnxPath, readSettings, sha256Of } from "./files.ts"
import { fetchFile, type Hub } from "./hub.ts"
import { MODEL_DTYPES, type ModelDtype, type ModelFile, modelFolderName, parseJson } from "./manifest.ts"
import {
  describeDiskError,
  ignoreMissing,
  type ModelProgress,
  placeModel,
  type StoredModel,
} from "./store.ts"

interface DownloadOptions {
  /** `owner/name`, as on the hub. */
  id: string
  modelsFolder: string
  host?: string | undefined
  /** A branch, a tag or a commit; `main` unless given. */
  revision?: string | undefined
  /** The form of the weights; quantised when there is one, else whole, unless given. */
  dtype?: ModelDtype | undefined
  onProgress?: ((progress: ModelProgress) => void) | undefined
  signal?: AbortSignal | undefined
  /** For tests: how long to wait before the second attempt, and for a connection that stands still. */
  retryDelayMs?: number | undefined
  stalledMs?: number | undefined
}

/** Where models are downloaded from unless another place is named. */
export const HUB_DEFAULT = "https://huggingface.co"
const RETRY_DELAY_MS = 1_000
const STALLED_MS = 60_000
/** Beside the files of an unfinished download: the commit that they are of. */
const COMMIT_FILE = ".commit"

/**
 * Downloads a model in the place of one with the same id, and returns it; it is not measured yet.
 *
 * Of the forms of the weights it takes the quantised one, else the whole. Started again after an interruption,
 * it goes on where it stopped, unless the model has changed meanwhile. Throws AppError: `invalid` for an id,
 * host or revision that cannot be one and for a model without ONNX weights, `not_found` for a model that does
 * not exist, `conflict` while another process downloads it, `unavailable` without a network, with a full disk, or for a checksum that does not match.
 */
export async function downloadModel(options: DownloadOptions): Promise<StoredModel> {
  const name = modelFolderName(options.id)
  const hub: Hub = {
    host: requireHost(options.host ?? HUB_DEFAULT),
    id: options.id,
    revision: requireRevision(options.revision ?? "main"),
    signal: options.signal,
    onProgress: options.onProgress,
    retryDelayMs: options.retryDelayMs ?? RETRY_DELAY_MS,
    stalledMs: options.stalledMs ?? STALLED_MS,
  }
  const temporary = join(options.modelsFolder, `.download-${name}`)
  await mkdir(options.modelsFolder, { recursive: true, mode: 0o700 })
  const lock = openProcessLock(`${temporary}.lock`)
  try {
    if (!lock.tryTake()) {
      throw new AppError("conflict", `the model '${options.id}' is being downloaded by another process`)
    }
    const revision = await pinCommit(hub, options.modelsFolder, temporary)
    const fetching = new ModelFetch({ ...hub, revision }, temporary)
    for (const path of NEEDED_FILES) await fetching.require(path)
    const dtype = await fetching.weights(options.dtype)
    for (const path of OPTIONAL_FILES) await fetching.take(path)
    const settings = await readSettings(temporary, options.id, dtype)
    const source = { kind: "hub", host: hub.host, revision } as const
    const manifest = {
      id: options.id,
      source,
      ...settings,
      files: fetching.files,
      dimensions: null,
      calibration: null,
    }
    await rm(join(temporary, COMMIT_FILE), { force: true })
    return await placeModel(options.modelsFolder, temporary, manifest)
  } catch (error) {
    throw describeDiskError(error, options.modelsFolder)
  } finally {
    lock.close()
  }
}

/**
 * Returns the commit that the revision stands for now, or the revision where the host does not tell, and
 * throws away what is there of another: files of two commits do not fit together.
 */
async function pinCommit(hub: Hub, modelsFolder: string, temporary: string): Promise<string> {
  const probe = join(temporary, ".probe.json")
  await rm(`${probe}.part`, { force: true })
  const config = await fetchFile({ ...hub, onProgress: undefined }, "config.json", probe)
  await rm(probe, { force: true })
  if (config === null) throw noSuchFile(hub, "config.json")
  const known = await readFile(join(temporary, COMMIT_FILE), "utf8").catch(ignoreMissing)
  if (known !== null && known !== config.commit) await removeOwned(modelsFolder, temporary)
  await mkdir(temporary, { recursive: true, mode: 0o700 })
  if (config.commit === null) return hub.revision
  await writeFile(join(temporary, COMMIT_FILE), config.commit)
  return config.commit
}

/** Collects the files of a model in a folder. */
class ModelFetch {
  readonly files: ModelFile[] = []
  readonly #hub: Hub
  readonly #folder: string

  constructor(hub: Hub, folder: string) {
    this.#hub = hub
    this.#folder = folder
  }

  /** Fetches a file if the model has it, and says whether it does. */
  async take(path: string): Promise<boolean> {
    const target = join(this.#folder, path)
    const finished = await stat(target).catch(ignoreMissing)
    if (finished !== null && (await this.#isPinned())) {
      this.files.push({ path, bytes: finished.size, sha256: await sha256Of(target) })
      this.#hub.onProgress?.({ file: path, bytes: finished.size, bytesTotal: finished.size })
      return true
    }
    const fetched = await fetchFile(this.#hub, path, target)
    if (fetched === null) return false
    this.files.push(fetched.file)
    return true
  }

  async require(path: string): Promise<void> {
    if (!(await this.take(path))) throw noSuchFile(this.#hub, path)
    if (parseJson(await readFile(join(this.#folder, path), "utf8")) === null) {
      throw new AppError("invalid", `${path} of '${this.#hub.id}' is no JSON`)
    }
  }

  /** Fetches the weights in the form that is wanted, else in the best there is, and says which. */
  async weights(wanted: ModelDtype | undefined): Promise<ModelDtype> {
    for (const dtype of wanted === undefined ? MODEL_DTYPES : [wanted]) {
      if (!(await this.take(onnxPath(dtype)))) continue
      await this.take(onnxDataPath(dtype))
      return dtype
    }
    throw noSuchFile(this.#hub, wanted === undefined ? "onnx/model.onnx" : onnxPath(wanted))
  }

  /** Whether what is there is known to be of this very commit. */
  async #isPinned(): Promise<boolean> {
    const known = await readFile(join(this.#folder, COMMIT_FILE), "utf8").catch(ignoreMissing)
    return known !== null && known === this.#hub.revision
  }
}

function noSuchFile(hub: Hub, path: string): AppError {
  return new AppError("invalid", `the model '${hub.id}' at ${hub.host} has no ${path}`, {
    field: "id",
    hint: "Take one with an `onnx` folder, as models for transformers.js have it.",
  })
}

function requireHost(host: string): string {
  const url = URL.canParse(host) ? new URL(host) : undefined
  if (url?.protocol === "https:" || url?.protocol === "http:") return host.replace(/\/+$/, "")
  throw invalid("host", `must be an http or https address, this is '${host.slice(0, 200)}'`)
}

function requireRevision(revision: string): string {
  if (/^[\w./-]{1,200}$/.test(revision) && !revision.split("/").includes("..")) return revision
  throw invalid("revision", `must be a branch, a tag or a commit, this is '${revision.slice(0, 200)}'`)
}
