/** Which folders coding agents were told to trust: in others they read no settings of a project, most without a word. */

import { readFileSync } from "node:fs"
import { dirname, sep } from "node:path"
import { parse } from "jsonc-parser"
import { realPathOf } from "./settings-file.ts"

/** Returns the object in a client's own JSON file, with comments or not; {} when there is none or it cannot be read. */
export function readOwnSettings(path: string): Record<string, unknown> {
  try {
    const value: unknown = parse(readFileSync(path, "utf8"))
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** Whether one of the folders, given as a client lists them, is `root` or around it. */
export function isWithinAny(folders: unknown, root: string): boolean {
  const listed = Array.isArray(folders) ? folders.filter((folder) => typeof folder === "string") : []
  return listed.some((folder) => isWithin(folder, root))
}

/**
 * Whether Gemini CLI trusts a folder by its `trustedFolders.json`: the longest path that holds it decides, and
 * `TRUST_PARENT` stands for the folder above. Undefined where nothing is said of it.
 */
export function isTrustedByRules(rules: Record<string, unknown>, root: string): boolean | undefined {
  const [nearest] = Object.entries(rules)
    .filter(([path, level]) => isWithin(level === "TRUST_PARENT" ? dirname(path) : path, root))
    .sort(([one], [other]) => other.length - one.length)
  if (nearest === undefined) return undefined
  const [, level] = nearest
  if (level === "DO_NOT_TRUST") return false
  return level === "TRUST_FOLDER" || level === "TRUST_PARENT" ? true : undefined
}

function isWithin(folder: string, root: string): boolean {
  const [outer, inner] = [realPathOf(folder), realPathOf(root)]
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep)
}
