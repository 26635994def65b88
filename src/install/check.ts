/** Looks whether what was installed is still there, for `signalbox doctor`. */

import { existsSync } from "node:fs"
import { AppError } from "../errors.ts"
import { clientNamed } from "./catalogue.ts"
import { partOf, type TargetName } from "./client.ts"
import { isInstalled } from "./install.ts"
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
    const faults = client.files({ machine, scope, root }).flatMap((file) => {
      const roles = manifest.files[realPathOf(file.path)]?.clients[name] ?? []
      const part = partOf(file, roles)
      return part === undefined ? [] : faultOf(() => isInstalled(name, part), file.path)
    })
    return { ...base, faults }
  })
}

function faultOf(check: () => boolean, path: string): string[] {
  try {
    return check() ? [] : [`${path} does not hold all of signalbox any more`]
  } catch (error) {
    return [error instanceof AppError ? error.message : (error as Error).message]
  }
}
