/**
 * Where a path lies on disk: made real, and in which work tree. The hook asks before every edit, so the work tree is
 * found by looking for `.git`, and git itself is asked only about those that were not met before.
 */

import { statSync } from "node:fs"
import { dirname, join } from "node:path"
import { PATH_CHARS_MAX } from "../config/limits.ts"
import { findWorkTree, realpathOfNearest, type WorkTree } from "./repository.ts"

export interface Place {
  /** Absolute and real; what is missing of it stays as it was. */
  path: string
  workTree: WorkTree | undefined
}

/** Returns the place of a file, which need not exist: the work tree around its folder. */
export async function placeOfFile(file: string): Promise<Place> {
  const path = await realpathOfNearest(file)
  return { path, workTree: await workTreeAround(dirname(path)) }
}

/** Returns the place of a folder: the work tree that it is the root of or lies in. */
export async function placeOfFolder(folder: string): Promise<Place> {
  const path = await realpathOfNearest(folder)
  return { path, workTree: await workTreeAround(path) }
}

const WORK_TREES_KNOWN_MAX = 1_000
/** Work trees met before, by root and the identity of their `.git`: one that was made anew is looked at anew. */
const knownWorkTrees = new Map<string, WorkTree>()

/** Returns the work tree that a real folder lies in; the folder itself need not exist, if only it could. */
async function workTreeAround(folder: string): Promise<WorkTree | undefined> {
  if (folder.length > PATH_CHARS_MAX) return undefined
  for (let root = folder; ; root = dirname(root)) {
    const mark = gitMark(root)
    if (mark !== undefined) {
      const key = `${mark} ${root}`
      const known = knownWorkTrees.get(key) ?? (await findWorkTree(root))
      if (known === undefined) return undefined
      if (knownWorkTrees.size >= WORK_TREES_KNOWN_MAX) knownWorkTrees.clear()
      knownWorkTrees.set(key, known)
      return known
    }
    if (dirname(root) === root) return undefined
  }
}

function gitMark(root: string): string | undefined {
  try {
    const found = statSync(join(root, ".git"), { throwIfNoEntry: false })
    return found && `${found.dev}:${found.ino}:${found.birthtimeMs}`
  } catch {
    return undefined
  }
}
