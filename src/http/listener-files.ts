/**
 * Where the listener is, for those on this machine that may know: two files beside the database that only
 * its owner may read. One is for programs; the other holds what the hook needs, the proof included.
 */

import { readFileSync, rmSync } from "node:fs"
import { passPath, writePass } from "../hook/proven-call.ts"
import { placeFile } from "../runtime/own-file.ts"
import type { HookPass } from "./hook-pass.ts"

const PRIVATE_MODE = 0o600

export interface ListenerRecord {
  /** Without a slash at its end. */
  url: string
  pid: number
  /** ISO 8601. */
  started_at: string
  /** The hook token. */
  token: string
}

/** Returns the paths of what belongs to the listener of a database. */
export function listenerPaths(databasePath: string) {
  const base = databasePath.replace(/\.db$/, "")
  return { record: `${base}.listener.json`, curl: passPath(databasePath), lock: `${base}.listener.lock` }
}

/** Writes both files, each in one step, since others may be reading them. */
export function writeListenerFiles(
  databasePath: string,
  record: Omit<ListenerRecord, "token">,
  { token, proof }: HookPass,
): void {
  const paths = listenerPaths(databasePath)
  const pass = writePass({ port: Number(new URL(record.url).port), token, proof, pid: record.pid })
  placeFile(paths.record, `${JSON.stringify({ ...record, token }, null, 2)}\n`, PRIVATE_MODE)
  placeFile(paths.curl, pass, PRIVATE_MODE)
}

/** Returns what stands in the record, or undefined when there is none that can be read. */
export function readListenerRecord(databasePath: string): ListenerRecord | undefined {
  try {
    return JSON.parse(readFileSync(listenerPaths(databasePath).record, "utf8")) as ListenerRecord
  } catch {
    return undefined
  }
}

/** Removes both files, unless another process has written them meanwhile. */
export function removeListenerFiles(databasePath: string, pid: number): void {
  if (readListenerRecord(databasePath)?.pid !== pid) return
  const { record, curl } = listenerPaths(databasePath)
  for (const path of [record, curl]) rmSync(path, { force: true })
}
