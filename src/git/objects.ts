/**
 * Reads trees and contents from git's objects, without a checkout: what a commit holds, what differs between
 * two, and the bytes of many files from one process. Everything is streamed, so no size of a repository
 * matters to memory.
 */

import { isUtf8 } from "node:buffer"
import { BRANCH_ENTRIES_MAX } from "../config/limits.ts"
import {
  callGit,
  GitError,
  isObjectName,
  nulRecords,
  requireObjectName,
  runGit,
  streamGit,
} from "./git-process.ts"

/** A file of a commit, a symbolic link, or the place of a submodule. */
interface TreeEntry {
  /** From the root of the repository, with `/`; any other character may be in it. */
  path: string
  /** The name is not UTF-8; `path` then has U+FFFD for what is no text, and others may read the same. */
  isOddName: boolean
  kind: "file" | "link" | "submodule"
  /** Of the content; for a submodule, of its commit. */
  hash: string
  /** Null where git does not say: of submodules, of changes, and of what a partial clone left out. */
  bytes: number | null
}

/** What became of a path; null where it is no more. */
interface TreeChange {
  path: string
  isOddName: boolean
  entry: TreeEntry | null
}

/** More entries than somebody wants to go through. */
export class TooManyEntries extends Error {
  readonly max: number

  constructor(max: number) {
    super(`more than ${max} entries`)
    this.name = "TooManyEntries"
    this.max = max
  }
}

/** A content that was asked for. */
interface Blob {
  hash: string
  /** Null when it is missing, larger than asked for, or no content but another object. */
  bytes: Buffer | null
  /** Null when it is missing or no content. */
  size: number | null
}

/**
 * Lists all entries of a commit's tree, folders left out, in git's order: by the bytes of their paths. Throws
 * GitError for a commit that is not there or not named in full, the signal's reason when it aborts, and
 * TooManyEntries, which ends git, after `entriesMax`.
 */
export async function* listTree(
  gitFolder: string,
  commit: string,
  signal?: AbortSignal,
  entriesMax: number = BRANCH_ENTRIES_MAX,
): AsyncGenerator<TreeEntry, void, undefined> {
  // For its size git would look for a content that was left out, and give up.
  const size = (await isPartialClone(gitFolder)) ? [] : ["-l"]
  const args = ["ls-tree", "-r", "-z", ...size, "--full-tree", requireObjectName(commit)]
  let count = 0
  for await (const records of nulRecords(streamGit(args, { gitFolder, signal }))) {
    for (const record of records) {
      if (++count > entriesMax) throw new TooManyEntries(entriesMax)
      yield parseTreeEntry(record)
    }
  }
}

/**
 * Lists the paths whose entries differ between two commits or trees, in git's order; a renamed file is one
 * that went and one that came. Throws as `listTree` does.
 */
export async function* changedEntries(
  gitFolder: string,
  from: string,
  to: string,
  signal?: AbortSignal,
  entriesMax: number = BRANCH_ENTRIES_MAX,
): AsyncGenerator<TreeChange, void, undefined> {
  const options = ["-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--ignore-submodules=none"]
  const args = ["diff-tree", ...options, requireObjectName(from), requireObjectName(to)]
  let head: Buffer | undefined
  let count = 0
  for await (const records of nulRecords(streamGit(args, { gitFolder, signal }))) {
    for (const record of records) {
      if (head === undefined) {
        head = record
        continue
      }
      if (++count > entriesMax) throw new TooManyEntries(entriesMax)
      yield parseChange(head.toString("latin1"), record)
      head = undefined
    }
  }
}

/**
 * Reads contents in the order of their hashes, from one process. What is larger than `bytesMax` is passed
 * over as it comes, so that at most one content is held, and git waits while the next is not taken. Throws as
 * `listTree` does; a content that is missing is an answer, not an error.
 */
export async function* readBlobs(
  gitFolder: string,
  hashes: Iterable<string>,
  options: BlobOptions,
): AsyncGenerator<Blob, void, undefined> {
  if (!(await isPartialClone(gitFolder))) {
    yield* readPresent(gitFolder, hashes, options)
    return
  }
  const wanted = [...hashes]
  const present = await presentOf(gitFolder, wanted, options.signal)
  const found = readPresent(
    gitFolder,
    wanted.filter((hash) => present.has(hash)),
    options,
  )
  try {
    for (const hash of wanted) {
      const next = present.has(hash) ? await found.next() : undefined
      yield next?.value ?? { hash, bytes: null, size: null }
    }
  } finally {
    await found.return()
  }
}

interface BlobOptions {
  bytesMax: number
  signal?: AbortSignal | undefined
}

async function isPartialClone(gitFolder: string): Promise<boolean> {
  const names = "^(remote\\..*\\.promisor|extensions\\.partialclone)$"
  return (await runGit(["config", "--get-regexp", names], { gitFolder })) !== undefined
}

/** Returns which objects are here; in a partial clone `cat-file` ends at the first that is not. */
async function presentOf(
  gitFolder: string,
  hashes: readonly string[],
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<string>> {
  const options = ["--no-walk=unsorted", "--objects", "--ignore-missing", "--missing=allow-any"]
  const input = inBatches(hashes)
  const output = await callGit(["rev-list", ...options, "--stdin"], {
    gitFolder,
    reach: "here",
    input,
    signal,
  })
  return new Set(output.split("\n").map((line) => line.split(" ", 1)[0] ?? ""))
}

async function* readPresent(
  gitFolder: string,
  hashes: Iterable<string>,
  { bytesMax, signal }: BlobOptions,
): AsyncGenerator<Blob, void, undefined> {
  const input = inBatches(hashes)
  const stream = streamGit(["cat-file", "--batch", "--buffer"], { gitFolder, input, signal })
  const bytes = new ByteReader(stream)
  try {
    for (let head = await bytes.line(); head !== undefined; head = await bytes.line()) {
      // "<hash> <type> <size>" and then so many bytes and a newline, or "<hash> missing".
      const [hash = "", type, sizeText] = head.split(" ")
      if (sizeText === undefined) {
        yield { hash, bytes: null, size: null }
        continue
      }
      const size = Number(sizeText)
      const isRead = type === "blob" && size <= bytesMax
      const content = isRead ? await bytes.take(size) : null
      await bytes.skip(isRead ? 1 : size + 1)
      yield { hash, bytes: content, size: type === "blob" ? size : null }
    }
  } finally {
    await stream.return()
  }
}

const HASHES_PER_WRITE = 256

/** One write for each would cost more than the contents. */
function* inBatches(hashes: Iterable<string>): Generator<string, void, undefined> {
  let lines: string[] = []
  for (const hash of hashes) {
    // Anything else could be a way to say another object, or two lines.
    if (!isObjectName(hash)) requireObjectName(hash)
    if (lines.push(`${hash}\n`) < HASHES_PER_WRITE) continue
    yield lines.join("")
    lines = []
  }
  if (lines.length > 0) yield lines.join("")
}

/** Takes lines and runs of bytes from a stream of pieces. */
class ByteReader {
  readonly #pieces: AsyncIterator<Buffer>
  #piece: Buffer = Buffer.alloc(0)

  constructor(pieces: AsyncIterable<Buffer>) {
    this.#pieces = pieces[Symbol.asyncIterator]()
  }

  /** Returns the text up to the next newline, or undefined at the end. */
  async line(): Promise<string | undefined> {
    let text = ""
    for (;;) {
      const end = this.#piece.indexOf(10)
      if (end >= 0) {
        text += this.#piece.toString("latin1", 0, end)
        this.#piece = this.#piece.subarray(end + 1)
        return text
      }
      text += this.#piece.toString("latin1")
      if (await this.#next()) continue
      if (text === "") return undefined
      throw new GitError("git ended in the middle of an answer")
    }
  }

  /** Returns the next bytes, copied, so that none of the stream's larger pieces is kept alive by them. */
  async take(size: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(size)
    let filled = 0
    while (filled < size) filled += (await this.#some(size - filled)).copy(bytes, filled)
    return bytes
  }

  async skip(size: number): Promise<void> {
    let left = size
    while (left > 0) left -= (await this.#some(left)).length
  }

  async #some(sizeMax: number): Promise<Buffer> {
    if (this.#piece.length === 0 && !(await this.#next())) {
      throw new GitError("git ended in the middle of a content")
    }
    const some = this.#piece.subarray(0, sizeMax)
    this.#piece = this.#piece.subarray(some.length)
    return some
  }

  async #next(): Promise<boolean> {
    const { done, value } = await this.#pieces.next()
    this.#piece = done === true ? Buffer.alloc(0) : value
    return done !== true
  }
}

/** The form of `ls-tree -l`: mode, type, hash and padded size, a tab, the path; without `-l` no size. */
function parseTreeEntry(record: Buffer): TreeEntry {
  const tab = record.indexOf(9)
  const [mode = "", , hash = "", size = ""] = record.toString("latin1", 0, tab).split(/ +/)
  const bytes = /^\d+$/.test(size) ? Number(size) : null
  return { ...nameOf(record.subarray(tab + 1)), kind: kindOf(mode), hash, bytes }
}

/** The form of `diff-tree --raw`: `:<old mode> <mode> <old hash> <hash> <status>`, and then the path. */
function parseChange(head: string, path: Buffer): TreeChange {
  const [, mode = "", , hash = "", status] = head.split(" ")
  const name = nameOf(path)
  if (status === "D") return { ...name, entry: null }
  return { ...name, entry: { ...name, kind: kindOf(mode), hash, bytes: null } }
}

function nameOf(bytes: Buffer): { path: string; isOddName: boolean } {
  return { path: bytes.toString("utf8"), isOddName: !isUtf8(bytes) }
}

function kindOf(mode: string): TreeEntry["kind"] {
  if (mode === "120000") return "link"
  return mode === "160000" ? "submodule" : "file"
}
