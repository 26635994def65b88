/** Looks whether what was installed is still there, for `signalbox doctor`. */

import { existsSync } from "node:fs"
import { AppError } from "../errors.ts"
import { CLIENTS, clientNamed } from "./catalogue.ts"
import { partOf, type TargetName } from "./client.ts"
import { foreignEntriesOf, isInstalled } from "./install.ts"
import { installedPlaces, readManifest } from "./manifest.ts"
import type { Machine, Scope } from "./place.ts"
import { realPathOf } from "./settings-file.ts"

/** The state of one client in one place; `faults` is empty when all is as it was installed. */
export interface InstalledClient {
  client: TargetName
  title: string
  scope: Scope
  root: string
  faults: string[]
}

/** Returns every installed client with what is wrong with its settings; fails with `invalid` when the manifest cannot be read. */
export function checkInstalled(dataFolder: string, machine: Machine): InstalledClient[] {
  const manifest = readManifest(dataFolder)
  return installedPlaces(manifest).map(({ client: name, scope, root }) => {
    const client = clientNamed(name)
    const base = { client: name, title: client.title, scope, root }
    if (!existsSync(root)) return { ...base, faults: [`${root} is gone`] }
    const place = { machine, scope, root }
    const faults = client.files(place).flatMap((file) => {
      // A link that came since leads away from what was recorded.
      const record = manifest.files[realPathOf(file.path)] ?? manifest.files[file.path]
      const roles = record?.clients[name] ?? []
      const part = partOf(file, roles)
      return part === undefined ? [] : faultOf(() => isInstalled(client, place, part), file.path)
    })
    return { ...base, faults }
  })
}

/** A server entry of our name that was not written by us; `reason` says where in the file it is and what it may do. */
export interface ForeignEntry {
  client: TargetName
  title: string
  scope: Scope
  root: string
  path: string
  reason: string
}

/**
 * Returns the server entries that were left alone, wherever a client is installed and in every client's user settings:
 * a file that holds nothing of ours is in no manifest. What cannot be read is left out;
 * `checkInstalled` names it where it is recorded. Fails with `invalid` when the manifest cannot be read.
 */
export function findForeignEntries(dataFolder: string, machine: Machine): ForeignEntry[] {
  const recorded = installedPlaces(readManifest(dataFolder)).filter(
    ({ scope, client }) => scope === "project" && client !== "git",
  )
  const own = CLIENTS.map(({ name }) => ({ client: name, scope: "user" as const, root: machine.home }))
  return [...own, ...recorded].flatMap(({ client: name, scope, root }) => {
    const client = clientNamed(name)
    const place = { machine, scope, root }
    if (!existsSync(root)) return []
    return client.files(place).flatMap((file) => {
      const base = { client: name, title: client.title, scope, root, path: file.path }
      return foreignEntriesOf(client, place, file).map((reason) => ({ ...base, reason }))
    })
  })
}

function faultOf(check: () => boolean, path: string): string[] {
  try {
    return check() ? [] : [`${path} does not hold all of signalbox any more`]
  } catch (error) {
    return [error instanceof AppError ? error.message : (error as Error).message]
  }
}
