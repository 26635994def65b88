/**
 * Reads and writes files of other programs: through links, in one step, with the mode they had, and
 * never over something that was written in the meantime.
 */

import { createHash, randomBytes } from "node:crypto"
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { basename, dirname, join, sep } from "node:path"
import { AppError, invalid } from "../errors.ts"

const NEW_FILE_MODE = 0o644
const NEW_SECRET_MODE = 0o600
const BYTE_ORDER_MARK = "\ufeff"

/** A file as it was when it was read. */
export interface Snapshot {
  /** Where the bytes lie: links are resolved. */
  path: string
  /** Undefined when there is no such file. */
  bytes: Buffer | undefined
  /** Permission bits; of a new file those it will get. */
  mode: number
}

/** Reads a file; fails with `invalid` when it is a link to nothing or no file at all. */
export function readSnapshot(path: string): Snapshot {
  if (existsSync(path)) {
    const real = realpathSync(path)
    const facts = statSync(real)
    if (!facts.isFile()) throw invalid(path, "is no file", "Move it aside, then run the command again.")
    return { path: real, bytes: readFileSync(real), mode: facts.mode & 0o777 }
  }
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) {
    throw invalid(path, "is a link to a file that is not there", "Restore what it points at, or delete it.")
  }
  return { path: realPathOf(path), bytes: undefined, mode: NEW_FILE_MODE }
}

/**
 * Fails with `refused` when a file of a repository would lie in none of `folders`, because of a link on the way to it:
 * whoever wrote the repository would choose then which file on this machine is changed.
 */
export function requireWithin(folders: readonly string[], path: string): void {
  const isWithin = (place: string) => folders.some((folder) => `${place}${sep}`.startsWith(folder + sep))
  const step = isWithin(path) ? linkOnWay(folders, path) : path
  if (step === undefined) return
  throw new AppError("refused", `${path} is left alone: ${step} leads out of the repository, or to nothing`, {
    hint: "Put a folder or file of the repository in the place of that link, then run the command again.",
  })
}

/** Returns the first link between one of the folders and a file in it that leads out of all of them. */
function linkOnWay(folders: readonly string[], path: string): string | undefined {
  const places = folders.map(realPathOf)
  const isInside = (place: string) => places.some((folder) => `${place}${sep}`.startsWith(folder + sep))
  const steps = [path]
  for (let step = dirname(path); !folders.includes(step) && step !== dirname(step); step = dirname(step))
    steps.unshift(step)
  return steps.find((step) => {
    const isLink = lstatSync(step, { throwIfNoEntry: false })?.isSymbolicLink() === true
    return isLink && !(existsSync(step) && isInside(realpathSync(step)))
  })
}

/** Returns the text of a file, empty when there is none; fails with `invalid` when it is not UTF-8. */
export function textOf(snapshot: Snapshot): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(snapshot.bytes)
  } catch {
    throw invalid(snapshot.path, "is not UTF-8 text", "Convert it, then run the command again.")
  }
}

/** Returns a text as the bytes that replace a file: with the byte order mark, if it had one. */
export function bytesFor(snapshot: Snapshot, text: string): Buffer {
  const hasMark = snapshot.bytes?.subarray(0, 3).equals(Buffer.from(BYTE_ORDER_MARK)) === true
  return Buffer.from(hasMark ? BYTE_ORDER_MARK + text : text)
}

/** Replaces a file in one step and returns the folders that were made; fails with `unavailable` when it changed since it was read. */
export function replaceFile(snapshot: Snapshot, bytes: Buffer, mode = snapshot.mode): string[] {
  const folders = makeFolders(dirname(snapshot.path))
  const name = `.${basename(snapshot.path)}.${randomBytes(6).toString("hex")}.tmp`
  const temporary = join(dirname(snapshot.path), name)
  try {
    writeFileSync(temporary, bytes, { mode, flag: "wx" })
    chmodSync(temporary, mode)
    requireUnchanged(snapshot)
    renameSync(temporary, snapshot.path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  return folders
}

/** Deletes a file, unless it changed since it was read (`unavailable`). */
export function deleteFile(snapshot: Snapshot): void {
  requireUnchanged(snapshot)
  rmSync(snapshot.path)
}

/** Stands in the name of a copy after that of the file. */
export const COPY_MARK = ".signalbox.bak"

/**
 * Keeps a copy of a file beside it and returns its path. A copy that is there already and differs is
 * an earlier one and stays; the new one gets a number then.
 */
export function keepBackup(snapshot: Snapshot): string {
  const bytes = snapshot.bytes ?? Buffer.alloc(0)
  for (let number = 1; ; number += 1) {
    const path = `${snapshot.path}${COPY_MARK}${number === 1 ? "" : number}`
    if (!existsSync(path)) {
      writeFileSync(path, bytes, { mode: snapshot.mode, flag: "wx" })
      chmodSync(path, snapshot.mode)
      return path
    }
    if (readFileSync(path).equals(bytes)) return path
  }
}

export function hashOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex")
}

/** Writes a file of our own, for this user alone. */
export function writePrivateFile(path: string, text: string): void {
  const bytes = existsSync(path) ? readFileSync(path) : undefined
  replaceFile({ path, bytes, mode: NEW_SECRET_MODE }, Buffer.from(text))
}

function requireUnchanged(snapshot: Snapshot): void {
  const now = existsSync(snapshot.path) ? readFileSync(snapshot.path) : undefined
  const isSame =
    now === undefined
      ? snapshot.bytes === undefined
      : snapshot.bytes !== undefined && now.equals(snapshot.bytes)
  if (isSame) return
  throw new AppError("unavailable", `${snapshot.path} was changed by another program at the same moment`, {
    hint: "Run the command again.",
  })
}

/** Makes a folder with what is missing above it; returns what was made, the outer first. */
function makeFolders(folder: string): string[] {
  if (existsSync(folder)) return []
  const above = makeFolders(dirname(folder))
  mkdirSync(folder)
  return [...above, folder]
}

/** Returns a path with links resolved as far as it exists, so that a file is known by one name before and after it is made. */
export function realPathOf(path: string): string {
  if (existsSync(path)) return realpathSync(path)
  const folder = dirname(path)
  return folder === path ? path : join(realPathOf(folder), basename(path))
}
