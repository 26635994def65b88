/**
 * Takes our part out of settings. A file that nobody else touched since gets its original bytes back;
 * from any other only what is ours is cut out.
 */

import { existsSync, readFileSync } from "node:fs"
import { isDeepStrictEqual } from "node:util"
import { clientNamed } from "./catalogue.ts"
import { type Client, partOf, type SettingsFile, type TargetName } from "./client.ts"
import { type ChangeOptions, editOf, requireOwnPlace } from "./install.ts"
import { lineDiff } from "./line-diff.ts"
import {
  type FileRecord,
  type Manifest,
  readManifest,
  removeEmptyFolders,
  writeManifest,
} from "./manifest.ts"
import { type Action, type Outcome, outcomeOf } from "./outcome.ts"
import type { Place } from "./place.ts"
import {
  bytesFor,
  deleteFile,
  hashOf,
  readSnapshot,
  realPathOf,
  replaceFile,
  type Snapshot,
  textOf,
} from "./settings-file.ts"

/**
 * Uninstalls one client in one place and returns what happened to each of its files that are there. It
 * works without a record too, by what our entries look like.
 */
export function uninstallClient(client: Client, place: Place, options: ChangeOptions): Outcome[] {
  const files = client.files(place).flatMap((file) => partOf(file, options.roles) ?? [])
  const outcomes = [
    ...files.map((file) => uninstallFile(client, file.path, file, place, options)),
    ...strayPaths(client, place, options).map((path) =>
      uninstallFile(client, path, undefined, place, options),
    ),
  ]
  return outcomes.flatMap((outcome) => outcome ?? [])
}

/** Returns files that we wrote for a client and that it reads no longer, because it has others instead. */
function strayPaths(client: Client, place: Place, options: ChangeOptions): string[] {
  const known = client.files(place).map((file) => realPathOf(file.path))
  return Object.entries(readManifest(options.dataFolder).files)
    .filter(([, { clients, scope, root }]) => {
      return scope === place.scope && root === place.root && clients[client.name] !== undefined
    })
    .map(([path]) => path)
    .filter((path) => !known.includes(path))
}

/** Uninstalls one file; `file` is undefined when it is not known what of ours is in it. Undefined when it is not there. */
function uninstallFile(
  target: Client,
  path: string,
  file: SettingsFile | undefined,
  place: Place,
  options: ChangeOptions,
): Outcome | undefined {
  const client = target.name
  return outcomeOf(client, path, () => {
    requireOwnPlace(target, place, path)
    const snapshot = readSnapshot(path)
    const manifest = readManifest(options.dataFolder)
    const record = manifest.files[snapshot.path]
    const left = record && withoutRoles(record, client, options)
    const outcome = { client, path }
    const removal =
      snapshot.bytes === undefined
        ? { bytes: undefined, leftAlone: [] }
        : (originalBytes(record, left, snapshot) ?? removePart(client, file, snapshot, left, place))
    const action = actionOf(snapshot, removal)
    if (options.isDryRun) {
      return action && { ...outcome, action, reasons: removal.leftAlone, ...diffOf(path, snapshot, removal) }
    }
    if (action === "deleted") deleteFile(snapshot)
    else if (removal.bytes !== undefined && (action === "changed" || action === "restored")) {
      replaceFile(snapshot, removal.bytes)
    }
    if (left !== undefined) {
      recordRemoval(manifest, snapshot, left, removal.bytes)
      // The record alone does not prove that a file which no client has was ever there.
      if (file !== undefined || action === "deleted") removeEmptyFolders(manifest, snapshot.path)
      writeManifest(options.dataFolder, manifest)
    }
    return action && { ...outcome, action, reasons: removal.leftAlone }
  })
}

/** The bytes that a file is to have; undefined when it is to go. */
interface Result {
  bytes: Buffer | undefined
  leftAlone: string[]
  isOriginal?: boolean
}

/** Returns the record as it will be when a client's roles are gone from it. */
function withoutRoles(record: FileRecord, client: TargetName, options: ChangeOptions): FileRecord {
  const { [client]: roles = [], ...clients } = record.clients
  const left = roles.filter((role) => !options.roles.includes(role))
  return { ...record, clients: left.length === 0 ? clients : { ...clients, [client]: left } }
}

/** Returns what the file was before us, when we leave it and nobody else changed it since. */
function originalBytes(
  record: FileRecord | undefined,
  left: FileRecord | undefined,
  snapshot: Snapshot,
): Result | undefined {
  if (record === undefined || left === undefined || hasClients(left)) return undefined
  if (snapshot.bytes === undefined || record.writtenSha256 !== hashOf(snapshot.bytes)) return undefined
  // All that is written into settings has our name; a record that says it of anything else is wrong.
  if (!snapshot.bytes.includes("signalbox")) return undefined
  if (record.original === null) return { bytes: undefined, leftAlone: [] }
  const { backup, sha256 } = record.original
  const bytes = existsSync(backup) ? readFileSync(backup) : undefined
  if (bytes === undefined || hashOf(bytes) !== sha256) return undefined
  return { bytes, leftAlone: [], isOriginal: true }
}

function removePart(
  client: TargetName,
  file: SettingsFile | undefined,
  snapshot: Snapshot,
  left: FileRecord | undefined,
  place: Place,
): Result {
  if (file === undefined) {
    return { bytes: snapshot.bytes, leftAlone: ["it is read no longer; take signalbox out of it by hand"] }
  }
  const part = withoutOthers(file, left, place)
  if (part === undefined) return { bytes: snapshot.bytes, leftAlone: [] }
  const { text, leftAlone } = editOf(client, part).remove(textOf(snapshot), {
    containers: left?.containers ?? [],
    isCreated: left !== undefined && !hasClients(left) && left.original === null,
  })
  return { bytes: text === undefined ? undefined : bytesFor(snapshot, text), leftAlone }
}

function hasClients(record: FileRecord): boolean {
  return Object.keys(record.clients).length > 0
}

/** Returns our part of a file without the entries that other clients have in it too. */
function withoutOthers(
  file: SettingsFile,
  record: FileRecord | undefined,
  place: Place,
): SettingsFile | undefined {
  if (file.form !== "json" || record === undefined) return file
  const others = Object.keys(record.clients).flatMap((name) => {
    const roles = record.clients[name as TargetName] ?? []
    const files = clientNamed(name).files(place)
    return files.flatMap((other) => {
      const part = other.path === file.path ? partOf(other, roles) : undefined
      return part?.form === "json" ? part.entries : []
    })
  })
  const entries = file.entries.filter((entry) => !others.some((other) => isDeepStrictEqual(other, entry)))
  return entries.length === 0 ? undefined : { ...file, entries }
}

/** Returns what is done to a file; undefined when it is not there. */
function actionOf(snapshot: Snapshot, { bytes, leftAlone, isOriginal }: Result): Action | undefined {
  if (snapshot.bytes === undefined) return undefined
  if (bytes === undefined) return "deleted"
  if (snapshot.bytes.equals(bytes)) return leftAlone.length > 0 ? "left-alone" : "unchanged"
  return isOriginal === true ? "restored" : "changed"
}

function diffOf(path: string, snapshot: Snapshot, { bytes }: Result): { diff?: string } {
  const diff = lineDiff(path, textOf(snapshot), textOf({ ...snapshot, bytes }))
  return diff === "" ? {} : { diff }
}

function recordRemoval(
  manifest: Manifest,
  snapshot: Snapshot,
  left: FileRecord,
  bytes: Buffer | undefined,
): void {
  if (!hasClients(left)) {
    delete manifest.files[snapshot.path]
    return
  }
  const wasOurs = snapshot.bytes !== undefined && left.writtenSha256 === hashOf(snapshot.bytes)
  const writtenSha256 = wasOurs && bytes !== undefined ? hashOf(bytes) : null
  manifest.files[snapshot.path] = { ...left, writtenSha256 }
}
