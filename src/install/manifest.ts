/** What was installed where, in `install.json` in the data folder: all that is needed to give back the original bytes. */

import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { invalid } from "../errors.ts"
import { removeEmptyAbove } from "../runtime/owned-folder.ts"
import type { Role, TargetName } from "./client.ts"
import type { Scope } from "./place.ts"
import { writePrivateFile } from "./settings-file.ts"

const VERSION = 1

export interface FileRecord {
  scope: Scope
  /** The root of the place that the file belongs to. */
  root: string
  /** Who wants what in it. */
  clients: Partial<Record<TargetName, Role[]>>
  /** The file as it was before us; null when there was none. */
  original: { sha256: string; backup: string } | null
  /** What we wrote last; null once it holds changes of the user's too. */
  writtenSha256: string | null
  /** Paths of the objects and arrays that were made for our entries. */
  containers: string[][]
}

export interface Manifest {
  version: typeof VERSION
  /** By real path. */
  files: Record<string, FileRecord>
  /** Folders that were made for files of ours, the outer first. */
  folders: string[]
}

/** Reads the manifest; fails with `invalid` when it cannot be understood. */
export function readManifest(dataFolder: string): Manifest {
  const path = manifestPath(dataFolder)
  if (!existsSync(path)) return { version: VERSION, files: {}, folders: [] }
  try {
    const manifest: unknown = JSON.parse(readFileSync(path, "utf8"))
    if (isManifest(manifest)) return manifest
  } catch {
    // What cannot be parsed is no better than another version's.
  }
  throw invalid(path, "cannot be understood", "Move it aside: settings are recognised without it as well.")
}

function isManifest(value: unknown): value is Manifest {
  if (!isObject(value) || value.version !== VERSION || !isObject(value.files)) return false
  return isTexts(value.folders) && Object.values(value.files).every(isRecord)
}

function isRecord(value: unknown): value is FileRecord {
  if (!isObject(value) || !isObject(value.clients)) return false
  const { scope, root, clients, original, writtenSha256, containers } = value
  const isOriginal = original === null || (isObject(original) && isTexts([original.sha256, original.backup]))
  return (
    isTexts([scope, root, writtenSha256 ?? ""]) &&
    Object.values(clients).every(isTexts) &&
    isOriginal &&
    Array.isArray(containers) &&
    containers.every(isTexts)
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string")
}

export function writeManifest(dataFolder: string, manifest: Manifest): void {
  writePrivateFile(manifestPath(dataFolder), `${JSON.stringify(manifest, null, 2)}\n`)
}

/** Removes the folders that were made for a file of ours, by its real path, as far as nothing else is in them. */
export function removeEmptyFolders(manifest: Manifest, file: string): void {
  manifest.folders = manifest.folders
    .toReversed()
    .filter((folder) => !removeEmptyAbove(file, folder) && existsSync(folder))
    .toReversed()
}

/** Returns the parts of a client that are installed somewhere, as one entry for each place. */
export function installedPlaces(manifest: Manifest): { client: TargetName; scope: Scope; root: string }[] {
  const places = Object.values(manifest.files).flatMap(({ clients, scope, root }) =>
    Object.keys(clients).map((client) => JSON.stringify({ client, scope, root })),
  )
  return [...new Set(places)].map((place) => JSON.parse(place))
}

function manifestPath(dataFolder: string): string {
  return join(dataFolder, "install.json")
}
