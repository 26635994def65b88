/**
 * A folder without git, read as if it were a tree: the wanted files below it with the hashes that git would
 * give them. No link is followed, and nothing outside the folder is read.
 */

import { createHash } from "node:crypto"
import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
} from "node:fs"
import { isAbsolute, join, relative, sep } from "node:path"
import { setImmediate as nextTurn } from "node:timers/promises"
import { FOLDER_ENTRIES_MAX } from "../config/limits.ts"
import { TooManyEntries } from "./objects.ts"

/** What stands in a folder under a path from its root, with `/`. */
interface FolderEntry {
  path: string
  /** The name is not UTF-8, so that the path cannot be asked for; always `unreadable`. */
  isOddName: boolean
  kind: "file" | "link" | "unreadable"
  /** SHA-1 of the content as a git blob; null for what is larger than asked for or unreadable. */
  hash: string | null
  bytes: number | null
}

/** Which paths matter; both are given paths from the root, with `/`. */
export interface FolderFilter {
  /** For files and links. */
  isWanted: (path: string) => boolean
  /** For folders: nothing below one that is not wanted is looked at. */
  isFolderWanted: (path: string) => boolean
}

interface WalkOptions extends FolderFilter {
  signal?: AbortSignal | undefined
  entriesMax?: number
}

/** How long other work waits at most, but for a single file's reading. */
const TURN_MS_MAX = 10

/**
 * Lists the wanted files and links of a folder, sorted by the bytes of their paths, as git sorts them.
 * `.git`, sockets, pipes and devices are passed over. Files of more than `bytesMax` have no hash. A file or
 * folder that cannot be read, or goes meanwhile, is an entry of its own kind; only a root that cannot be read
 * throws, as does the signal when it aborts, and TooManyEntries where there are more than `entriesMax` of any kind.
 */
export async function* listFolder(
  root: string,
  { bytesMax, ...options }: WalkOptions & { bytesMax: number },
): AsyncGenerator<FolderEntry, void, undefined> {
  for await (const { path, kind } of walk(root, options)) {
    const name = { path, isOddName: kind === "odd" }
    const content =
      kind === "file" || kind === "link" ? readHashed(join(root, path), kind, bytesMax) : undefined
    if (kind === "unreadable" || kind === "odd" || content === undefined) {
      yield { ...name, kind: "unreadable", hash: null, bytes: null }
    } else {
      yield { ...name, kind, ...content }
    }
  }
}

/**
 * Returns a file's content, or undefined where there is none to give: no file, no regular one, more than
 * `bytesMax` bytes, not readable, or, by way of a link or of its name, not inside the root.
 */
export async function readFolderFile(
  root: string,
  path: string,
  bytesMax: number,
): Promise<Buffer | undefined> {
  try {
    const realRoot = realpathSync.native(root)
    const real = realpathSync.native(join(realRoot, path))
    if (!isInside(realRoot, real)) return undefined
    const content = readRegular(real, bytesMax)
    // A folder on the way may have become a link since.
    return realpathSync.native(real) === real ? (content?.bytes ?? undefined) : undefined
  } catch {
    return undefined
  }
}

/**
 * Returns a digest of what the wanted files of a folder are called, how large they are and when they were
 * changed, to notice a change without reading them. Throws as `listFolder` does.
 */
export async function folderState(root: string, options: WalkOptions): Promise<string> {
  const digest = createHash("sha256")
  for await (const { path, kind } of walk(root, options)) {
    const stats = lstatSync(join(root, path), { throwIfNoEntry: false })
    // The time of the last change of any kind is there too: a copy can keep the other.
    const state = stats === undefined ? [] : [stats.size, stats.mtimeMs, stats.ctimeMs]
    digest.update(`${JSON.stringify([path, kind, ...state])}\n`)
  }
  return digest.digest("hex")
}

interface Found {
  path: string
  kind: "file" | "link" | "unreadable" | "odd"
}

async function* walk(
  root: string,
  { signal, entriesMax = FOLDER_ENTRIES_MAX, ...filter }: WalkOptions,
): AsyncGenerator<Found, void, undefined> {
  let turnStartMs = performance.now()
  let entriesLeft = entriesMax
  const takeEntry = () => {
    if (entriesLeft-- === 0) throw new TooManyEntries(entriesMax)
  }
  // Backwards, so that the next one is at the end.
  const open: (Found | { path: string; kind: "folder" })[] = readFolder(root, "", filter, takeEntry).reverse()
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    signal?.throwIfAborted()
    if (performance.now() - turnStartMs > TURN_MS_MAX) {
      await nextTurn()
      turnStartMs = performance.now()
    }
    if (next.kind !== "folder") {
      yield next
      continue
    }
    try {
      for (const entry of readFolder(root, `${next.path}/`, filter, takeEntry).reverse()) open.push(entry)
    } catch (error) {
      if (error instanceof TooManyEntries) throw error
      yield { path: next.path, kind: "unreadable" }
    }
  }
}

/** The wanted entries of one folder, sorted as git does: a folder by its name with a `/`. */
function readFolder(
  root: string,
  prefix: string,
  { isWanted, isFolderWanted }: FolderFilter,
  takeEntry: () => void,
) {
  const entries: Dirent[] = []
  const folder = opendirSync(join(root, prefix))
  try {
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
      takeEntry()
      entries.push(entry)
    }
  } finally {
    folder.closeSync()
  }
  const found: (Found | { path: string; kind: "folder" })[] = []
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name === ".git") continue
    const path = prefix + entry.name
    const kind = kindOf(entry, join(root, path))
    if (kind === undefined) continue
    if (kind === "folder" ? isFolderWanted(path) : isWanted(path)) found.push({ path, kind })
  }
  const key = ({ path, kind }: { path: string; kind: string }) =>
    Buffer.from(kind === "folder" ? `${path}/` : path)
  const keyed = found.map((entry) => ({ entry, key: key(entry) }))
  return keyed.sort((a, b) => Buffer.compare(a.key, b.key)).map(({ entry }) => entry)
}

/** Undefined for what no document is: sockets, pipes, devices. */
function kindOf(entry: Dirent, path: string): Found["kind"] | "folder" | undefined {
  // Such a name is there, but not under what it reads as.
  if (entry.name.includes("\uFFFD") && lstatSync(path, { throwIfNoEntry: false }) === undefined) return "odd"
  if (entry.isDirectory()) return "folder"
  if (entry.isSymbolicLink()) return "link"
  return entry.isFile() ? "file" : undefined
}

/** Undefined when it cannot be read. */
function readHashed(path: string, kind: "file" | "link", bytesMax: number) {
  try {
    if (kind === "link") {
      const target = Buffer.from(readlinkSync(path, { encoding: "buffer" }))
      return { hash: blobHash(target), bytes: target.length }
    }
    const content = readRegular(path, bytesMax)
    if (content === undefined) return undefined
    const { bytes, size } = content
    return { hash: bytes === null ? null : blobHash(bytes), bytes: size }
  } catch {
    return undefined
  }
}

/** What git hashes of a content: its kind, its length and a NUL before it. */
export function blobHash(bytes: Buffer): string {
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex")
}

/**
 * Reads a regular file that is no link; null bytes for more than `bytesMax`. Neither a pipe nor a link that
 * has taken the place of a file since it was listed can hold this up or lead it elsewhere.
 */
function readRegular(path: string, bytesMax: number): { bytes: Buffer | null; size: number } | undefined {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  try {
    const stats = fstatSync(file)
    if (!stats.isFile()) return undefined
    if (stats.size > bytesMax) return { bytes: null, size: stats.size }
    const bytes = Buffer.alloc(stats.size)
    let filled = 0
    for (let count = -1; count !== 0 && filled < bytes.length; filled += count) {
      count = readSync(file, bytes, filled, bytes.length - filled, null)
    }
    return { bytes: bytes.subarray(0, filled), size: filled }
  } finally {
    closeSync(file)
  }
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path)
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
