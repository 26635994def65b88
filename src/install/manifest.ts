/** What was installed where, in `install.json` in the data folder: all that is needed to give back the original bytes. */

import { existsSync, readFileSync, rmdirSync } from "node:fs"
import { join } from "node:path"
import { invalid } from "../errors.ts"
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
    const manifest = JSON.parse(readFileSync(path, "utf8")) as Manifest
    if (manifest.version === VERSION) return manifest
  } catch {
    // What cannot be parsed is no better than another version's.
  }
  throw invalid(path, "cannot be understood", "Move it aside: settings are recognised without it as well.")
}

export function writeManifest(dataFolder: string, manifest: Manifest): void {
  writePrivateFile(manifestPath(dataFolder), `${JSON.stringify(manifest, null, 2)}\n`)
}

/** Removes the folders that were made for us, as far as nothing else is in them. */
export function removeEmptyFolders(manifest: Manifest): void {
  manifest.folders = manifest.folders
    .toReversed()
    .filter((folder) => !removeIfEmpty(folder))
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

/** Returns whether the folder is gone. */
function removeIfEmpty(folder: string): boolean {
  try {
    rmdirSync(folder)
    return true
  } catch {
    return !existsSync(folder)
  }
}
