/**
 * One file from a host with the layout of the Hugging Face hub, into a local file: resumed after an
 * interruption, checked against the size and the checksum that the host tells. Knows one file at a time.
 */

import { mkdir, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import { AppError } from "../../errors.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { sha256Of } from "./files.ts"
import { type ModelFile, objectOf, parseJson } from "./manifest.ts"
import { ignoreMissing, type ModelProgress } from "./store.ts"

export interface Hub {
  /** Such as `https://huggingface.co`. */
  host: string
  id: string
  /** A branch, a tag or a commit. */
  revision: string
  signal?: AbortSignal | undefined
  onProgress?: ((progress: ModelProgress) => void) | undefined
  /** Before the second attempt; each further one waits twice as long. */
  retryDelayMs: number
  /** A connection that brings nothing for so long is given up. */
  stalledMs: number
}

/** Attempts in a row that brought nothing, before giving up. */
const ATTEMPTS_MAX = 4
const REDIRECTS_MAX = 5

/** What the host says of a file besides its content. */
interface FoundFile {
  response: Response
  /** The commit that the revision stands for. */
  commit: string | null
  /** Of the whole file; the hub tells both for large files. */
  bytes: number | null
  sha256: string | null
}

/** What is written beside a part of a file, to know later whether it may be continued. */
interface PartOrigin {
  etag: string | null
  sha256: string | null
}

/** A connection that broke or a host that is busy: the same again may succeed. */
class Transient extends Error {}

interface FetchedFile {
  file: ModelFile
  commit: string | null
}

/**
 * Fetches `path` of a model into `target`; null when the model has no such file.
 *
 * What an earlier attempt left in `<target>.part` is continued with a Range request, when the host confirms
 * that it is still the same file. Tries up to 4 times in a row without progress. Throws AppError: `not_found`
 * for a model that does not exist or is not public, `unavailable` for no network, a busy host and a checksum
 * that does not match. Throws the signal's reason when it is aborted.
 */
export async function fetchFile(hub: Hub, path: string, target: string): Promise<FetchedFile | null> {
  let delayMs = hub.retryDelayMs
  for (let attempt = 1; ; attempt++) {
    const before = await sizeOf(`${target}.part`)
    try {
      return await fetchOnce(hub, path, target)
    } catch (error) {
      hub.signal?.throwIfAborted()
      if (!(error instanceof Transient)) throw error
      if ((await sizeOf(`${target}.part`)) > before) {
        attempt = 0
        delayMs = hub.retryDelayMs
        continue
      }
      if (attempt === ATTEMPTS_MAX) throw unreachable(hub, path, error)
    }
    await passed(delayMs, hub.signal)
    delayMs *= 2
  }
}

async function fetchOnce(hub: Hub, path: string, target: string): Promise<FetchedFile | null> {
  const part = `${target}.part`
  const origin = await readOrigin(part)
  const stall = new AbortController()
  const timer = setTimeout(() => stall.abort(), hub.stalledMs)
  try {
    const signal = hub.signal === undefined ? stall.signal : AbortSignal.any([stall.signal, hub.signal])
    const have = await sizeOf(part)
    const found = await request(hub, path, signal, have > 0 ? continuing(have, origin) : {})
    if (found === null) return null
    const { commit, sha256 } = found
    const etag = found.response.headers.get("etag")
    const start = startOf(found, have, origin)
    if (start === null) {
      await rm(part, { force: true })
      throw new Transient("what was there cannot be continued")
    }
    const bytesTotal = found.bytes ?? totalOf(found.response)
    await mkdir(dirname(part), { recursive: true, mode: 0o700 })
    await writeFile(`${part}.json`, JSON.stringify({ etag, sha256 } satisfies PartOrigin))
    await receive(found.response, part, start, (bytes) => {
      timer.refresh()
      hub.onProgress?.({ file: path, bytes, bytesTotal })
    })
    return { file: await finish(path, part, target, bytesTotal, sha256, start > 0), commit }
  } finally {
    clearTimeout(timer)
  }
}

/** Checks what was received and gives it its name. */
async function finish(
  path: string,
  part: string,
  target: string,
  bytesTotal: number | null,
  expected: string | null,
  wasContinued: boolean,
): Promise<ModelFile> {
  const bytes = await sizeOf(part)
  if (bytesTotal !== null && bytes < bytesTotal) throw new Transient("the connection ended early")
  const sha256 = await sha256Of(part)
  if ((expected !== null && sha256 !== expected) || (bytesTotal !== null && bytes !== bytesTotal)) {
    await rm(part, { force: true })
    if (wasContinued) throw new Transient("what was there did not fit what came after it")
    throw new AppError(
      "unavailable",
      `${path} arrived damaged: its checksum or size is not what the host says`,
      {
        hint: "Try again; if it happens twice, something on the way changes what is downloaded.",
      },
    )
  }
  await rename(part, target)
  await rm(`${part}.json`, { force: true })
  return { path, bytes, sha256 }
}

function continuing(have: number, { etag, sha256 }: PartOrigin): Record<string, string> {
  const range = `bytes=${have}-`
  if (etag !== null && !etag.startsWith("W/")) return { range, "if-range": etag }
  // Without a checksum at the end there would be nothing to notice that the file has changed.
  return sha256 === null ? {} : { range }
}

/** Returns at which byte the answer begins: 0 for a whole file; null when it does not continue what we have. */
function startOf({ response, sha256 }: FoundFile, have: number, origin: PartOrigin): number | null {
  if (response.status === 200) return 0
  if (response.status === 416) return null
  const from = /^bytes (\d+)-/.exec(response.headers.get("content-range") ?? "")?.[1]
  return Number(from) === have && sha256 === origin.sha256 ? have : null
}

function totalOf(response: Response): number | null {
  const total = /\/(\d+)$/.exec(response.headers.get("content-range") ?? "")?.[1]
  const length = response.status === 200 ? response.headers.get("content-length") : null
  return total !== undefined ? Number(total) : length !== null ? Number(length) : null
}

/** Writes every chunk before it takes the next, so that what has come is there when the connection breaks. */
async function receive(
  { body }: Response,
  part: string,
  start: number,
  onBytes: (bytes: number) => void,
): Promise<void> {
  let bytes = start
  const file = await open(part, start > 0 ? "a" : "w", 0o600)
  try {
    const chunks = body?.getReader()
    while (chunks !== undefined) {
      const { done, value } = await chunks.read().catch((error: unknown) => {
        throw new Transient("the connection broke", { cause: error })
      })
      if (done) break
      await file.writeFile(value)
      bytes += value.length
      onBytes(bytes)
    }
  } finally {
    await file.close()
    await body?.cancel().catch(() => undefined)
  }
}

/** Asks for a file, following redirects by hand: only the first answers tell checksum and commit. */
async function request(
  hub: Hub,
  path: string,
  signal: AbortSignal,
  range: Record<string, string>,
): Promise<FoundFile | null> {
  const file = path.split("/").map(encodeURIComponent).join("/")
  let url = new URL(
    `${hub.host.replace(/\/+$/, "")}/${hub.id}/resolve/${encodeURIComponent(hub.revision)}/${file}`,
  )
  const told = { commit: null as string | null, bytes: null as number | null, sha256: null as string | null }
  for (let hop = 0; hop <= REDIRECTS_MAX; hop++) {
    // Encoded content would have another length than the file.
    const headers = { "accept-encoding": "identity", "user-agent": "signalbox", ...range }
    const response = await fetch(url, { headers, signal, redirect: "manual" }).catch((error: unknown) => {
      throw new Transient("the host cannot be reached", { cause: error })
    })
    told.commit ??= commitOf(response)
    told.sha256 ??= /^"?([0-9a-f]{64})"?$/.exec(response.headers.get("x-linked-etag") ?? "")?.[1] ?? null
    told.bytes ??= Number(response.headers.get("x-linked-size") ?? 0) || null
    const location = response.headers.get("location")
    if (response.status < 300 || response.status > 399 || location === null) {
      return (await isAnswer(hub, path, response)) ? { response, ...told } : null
    }
    await response.body?.cancel()
    const next = new URL(location, url)
    if (next.protocol !== url.protocol && next.protocol !== "https:") {
      throw new AppError(
        "refused",
        `the host redirects ${path} to ${next.protocol}//${next.host}, which is not safe`,
      )
    }
    url = next
  }
  throw new AppError("unavailable", `the host redirects ${path} again and again`)
}

function commitOf(response: Response): string | null {
  const commit = response.headers.get("x-repo-commit")
  return commit !== null && /^[0-9a-f]{7,64}$/.test(commit) ? commit : null
}

/** Whether the model has the file. Throws for every answer that is neither yes nor no. */
async function isAnswer(hub: Hub, path: string, response: Response): Promise<boolean> {
  const { status } = response
  if (status === 200 || status === 206 || status === 416) return true
  await response.body?.cancel()
  const code = response.headers.get("x-error-code")
  if (code === "GatedRepo" || status === 403) {
    throw new AppError("refused", `the model '${hub.id}' is only given to those who agree to its terms`, {
      hint: `Download it in the browser and import the folder: \`${ownCommand()} model use <folder>\`.`,
    })
  }
  if (code === "RevisionNotFound") {
    throw new AppError("not_found", `the model '${hub.id}' has no revision '${hub.revision}'`)
  }
  // The hub answers 401 for a model that does not exist, as for one that is private.
  if (code === "RepoNotFound" || status === 401) {
    throw new AppError("not_found", `there is no public model '${hub.id}' at ${hub.host}`, {
      hint: "Check the spelling: ids are 'owner/name', as in the address of the model's page.",
    })
  }
  if (status === 404) return false
  if (status === 429 || status >= 500) throw new Transient(`the host answers ${status}`)
  throw new AppError("unavailable", `the host answers ${status} for ${path} of '${hub.id}'`)
}

function unreachable(hub: Hub, path: string, error: Transient): AppError {
  const failure = new AppError(
    "unavailable",
    `${path} of '${hub.id}' cannot be downloaded: ${error.message}`,
    {
      hint:
        "Try again: it goes on where it stopped. Without a network, copy the model's folder from another " +
        `machine and import it: \`${ownCommand()} model use <folder>\`.`,
    },
  )
  failure.cause = error.cause
  return failure
}

async function readOrigin(part: string): Promise<PartOrigin> {
  const text = await readFile(`${part}.json`, "utf8").catch(ignoreMissing)
  const { etag, sha256 } = objectOf(parseJson(text ?? ""))
  return {
    etag: typeof etag === "string" ? etag : null,
    sha256: typeof sha256 === "string" ? sha256 : null,
  }
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(ignoreMissing))?.size ?? 0
}

function passed(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop)
      resolve()
    }, delayMs)
    signal?.addEventListener("abort", stop, { once: true })
  })
}
