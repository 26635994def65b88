/** Adds our part to the settings of clients, file by file, and records how to take it out again. */

import { existsSync, realpathSync } from "node:fs"
import { type Client, partOf, type Role, type SettingsFile, type TargetName } from "./client.ts"
import type { Edit } from "./edit.ts"
import { jsonEdit } from "./json-settings.ts"
import { lineDiff } from "./line-diff.ts"
import { type FileRecord, type Manifest, readManifest, writeManifest } from "./manifest.ts"
import { type Outcome, outcomeOf } from "./outcome.ts"
import { ownedEdit } from "./owned-file.ts"
import type { Machine, Place } from "./place.ts"
import {
  bytesFor,
  hashOf,
  keepBackup,
  readSnapshot,
  replaceFile,
  requireWithin,
  type Snapshot,
  textOf,
} from "./settings-file.ts"
import { blockEdit } from "./text-block.ts"
import { tomlEdit } from "./toml-settings.ts"

const EXECUTABLE_MODE = 0o755

/** How the settings are to be changed. */
export interface ChangeOptions {
  /** Where the manifest is kept. */
  dataFolder: string
  roles: readonly Role[]
  /** Show what would change and write nothing at all. */
  isDryRun: boolean
}

/** Returns the clients that are used on this machine, but for those that only we made to look so. */
export function findClients(clients: readonly Client[], machine: Machine, manifest: Manifest): Client[] {
  const isForeign = (path: string) =>
    existsSync(path) &&
    !manifest.folders.includes(realpathSync(path)) &&
    manifest.files[realpathSync(path)]?.original !== null
  return clients.filter((client) => client.traces(machine).some(isForeign))
}

/**
 * Installs one client in one place and returns what happened to each of its files. Doing it again
 * changes nothing. A file that cannot be edited fails alone.
 */
export function installClient(client: Client, place: Place, options: ChangeOptions): Outcome[] {
  return client.files(place).flatMap((file) => {
    const part = partOf(file, options.roles)
    if (part === undefined) return []
    return [outcomeOf(client.name, file.path, () => installFile(client, part, place, options))]
  })
}

/** Fails with `refused` when a file of a project is not one of that project, but behind a link out of it. */
export function requireOwnPlace(client: Client, place: Place, path: string): void {
  if (place.scope !== "project") return
  requireWithin([place.root, ...(client.furtherFolders?.(place) ?? [])], path)
}

/** Returns the edit that suits the form of a file. */
export function editOf(client: TargetName, file: SettingsFile): Edit {
  switch (file.form) {
    case "json":
      return jsonEdit(client, file)
    case "toml":
      return tomlEdit(file)
    case "owned":
      return ownedEdit(file)
    case "block":
      return blockEdit(file)
  }
}

/** Whether a file is there and holds all of our part; fails with `invalid` or `refused` when it cannot be edited. */
export function isInstalled(client: Client, place: Place, file: SettingsFile): boolean {
  requireOwnPlace(client, place, file.path)
  const snapshot = readSnapshot(file.path)
  const text = textOf(snapshot)
  return snapshot.bytes !== undefined && editOf(client.name, file).add(text).text === text
}

/** Returns why server entries of our name in a file are left alone; none when it cannot be read or edited. */
export function foreignEntriesOf(client: Client, place: Place, file: SettingsFile): string[] {
  const part = partOf(file, ["mcp"])
  if (part === undefined) return []
  try {
    requireOwnPlace(client, place, part.path)
    return editOf(client.name, part).add(textOf(readSnapshot(part.path))).leftAlone
  } catch {
    return []
  }
}

function installFile(client: Client, file: SettingsFile, place: Place, options: ChangeOptions): Outcome {
  requireOwnPlace(client, place, file.path)
  const snapshot = readSnapshot(file.path)
  const before = textOf(snapshot)
  const { text, leftAlone, containers } = editOf(client.name, file).add(before)
  const outcome = { client: client.name, path: file.path, reasons: leftAlone }
  const isNew = snapshot.bytes === undefined
  const isChanged = text !== before
  const action = isChanged
    ? isNew
      ? "created"
      : "changed"
    : leftAlone.length > 0
      ? "left-alone"
      : "unchanged"
  if (options.isDryRun) {
    return { ...outcome, action, ...(isChanged && { diff: lineDiff(file.path, before, text) }) }
  }
  const manifest = readManifest(options.dataFolder)
  const record = recordOf(manifest, snapshot, place, isChanged)
  if (record === undefined) return { ...outcome, action }
  const known = record.clients[client.name] ?? []
  record.clients[client.name] = [...new Set([...known, ...rolesOf(file)])]
  record.containers.push(...containers)
  if (isChanged) {
    const bytes = bytesFor(snapshot, text)
    const isExecutable = file.form === "block" || (file.form === "owned" && file.isExecutable)
    const mode = isNew && isExecutable ? EXECUTABLE_MODE : snapshot.mode
    manifest.folders.push(...replaceFile(snapshot, bytes, mode))
    if (record.writtenSha256 !== null) record.writtenSha256 = hashOf(bytes)
  }
  manifest.files[snapshot.path] = record
  writeManifest(options.dataFolder, manifest)
  return { ...outcome, action }
}

/** Returns the record of a file, a new one when it is about to be changed for the first time. */
function recordOf(
  manifest: Manifest,
  snapshot: Snapshot,
  place: Place,
  isChanged: boolean,
): FileRecord | undefined {
  const known = manifest.files[snapshot.path]
  if (known !== undefined && snapshot.bytes !== undefined) {
    const isOurs = known.writtenSha256 === hashOf(snapshot.bytes)
    // The bytes we started from no longer tell what the file would be without us.
    return isOurs || !isChanged ? known : { ...known, writtenSha256: null }
  }
  if (!isChanged) return undefined
  const original =
    snapshot.bytes === undefined ? null : { sha256: hashOf(snapshot.bytes), backup: keepBackup(snapshot) }
  const { scope, root } = place
  return { scope, root, clients: {}, original, writtenSha256: "", containers: [] }
}

function rolesOf(file: SettingsFile): Role[] {
  return file.form === "json" ? file.entries.map((entry) => entry.role) : [file.role]
}
