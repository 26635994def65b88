/**
 * Where the listener is, for those on this machine that may know: two files beside the database that only
 * its owner may read. One is for programs, one is a config file of curl for the hook's shell form.
 */

import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { HOOK_PATH } from "../hook/wire.ts"

/** How long the hook waits for a connection and for its answer, in seconds; the whole hook has 2. */
const HOOK_CONNECT_SECONDS_MAX = 0.3
const HOOK_ANSWER_SECONDS_MAX = 0.7

export interface ListenerRecord {
  /** Without a slash at its end. */
  url: string
  pid: number
  /** ISO 8601. */
  started_at: string
  /** The local key. */
  token: string
}

/** Returns the paths of what belongs to the listener of a database. */
export function listenerPaths(databasePath: string) {
  const base = databasePath.replace(/\.db$/, "")
  return { record: `${base}.listener.json`, curl: `${base}.hook.curl`, lock: `${base}.listener.lock` }
}

/** Writes both files, each in one step, since others may be reading them. */
export function writeListenerFiles(databasePath: string, record: ListenerRecord): void {
  const paths = listenerPaths(databasePath)
  writePrivately(paths.record, `${JSON.stringify(record, null, 2)}\n`)
  writePrivately(paths.curl, curlConfig(record))
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

/** Returns the config file with which curl sends the hook's input, as in curl(1), --config. */
export function curlConfig({ url, token }: ListenerRecord): string {
  const lines = [
    `url = ${quoted(`${url}${HOOK_PATH}`)}`,
    `noproxy = "*"`,
    `header = ${quoted(`Authorization: Bearer ${token}`)}`,
    `header = "Content-Type: application/json"`,
    `header = "Expect:"`,
    "silent",
    `connect-timeout = ${HOOK_CONNECT_SECONDS_MAX}`,
    `max-time = ${HOOK_ANSWER_SECONDS_MAX}`,
  ]
  return `${lines.join("\n")}\n`
}

/** Quotes a value for curl: inside double quotes a backslash escapes quotes, backslashes and breaks. */
function quoted(value: string): string {
  const escaped = value
    .replace(/[\\"]/g, "\\$&")
    .replaceAll("\n", "\\n")
    .replaceAll("\r", "\\r")
    .replaceAll("\t", "\\t")
  return `"${escaped}"`
}

function writePrivately(path: string, content: string): void {
  rmSync(`${path}.new`, { force: true })
  writeFileSync(`${path}.new`, content, { mode: 0o600, flag: "wx" })
  renameSync(`${path}.new`, path)
}
