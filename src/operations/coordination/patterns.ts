/** Patterns as agents write them, brought to the form relative to the repository's root. */

import { dirname, isAbsolute, relative, sep } from "node:path"
import { PATTERN_CHARS_MAX } from "../../config/limits.ts"
import { named } from "../../domain/foreign-text/markdown.ts"
import { GlobError, normalizePattern } from "../../domain/glob/glob.ts"
import type { Repository } from "../../domain/project.ts"
import { invalid } from "../../errors.ts"
import { findWorkTree, isFolder, realpathOfNearest } from "../../git/repository.ts"

/**
 * Returns a pattern relative to the repository's root. An absolute path is taken relative to its own
 * work tree, if that belongs to the repository. Fails with `invalid`, naming the field.
 */
export async function resolvePattern(
  repository: Repository,
  pattern: string,
  field: string,
): Promise<string> {
  // An absolute one is measured once it is relative, as it will be stored.
  if (!isAbsolute(pattern) && pattern.length > PATTERN_CHARS_MAX) {
    throw invalid(field, `must have at most ${PATTERN_CHARS_MAX} characters (got ${pattern.length})`)
  }
  try {
    return normalizePattern(isAbsolute(pattern) ? await fromAbsolute(repository, pattern, field) : pattern)
  } catch (error) {
    if (error instanceof GlobError) throw invalid(field, error.message)
    throw error
  }
}

const SPECIAL = /[*?[\]{}\\]/

async function fromAbsolute(repository: Repository, pattern: string, field: string): Promise<string> {
  const segments = (sep === "/" ? pattern : pattern.replaceAll(sep, "/")).split("/")
  const literalCount = await countLiteralSegments(segments)
  const real = await realpathOfNearest(segments.slice(0, literalCount).join("/") || "/")
  const root = await rootAround(repository, real)
  const inside = root === undefined ? ".." : relative(root, real)
  if (inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside)) {
    throw invalid(
      field,
      `is an absolute path outside repository ${repository.id} (${named(repository.rootPath)})`,
      "Give a path relative to the repository's root, such as src/app.ts.",
    )
  }
  // What the file system named is literal, whatever characters it has.
  const escaped = inside.split(sep).map((segment) => segment.replace(/[*?{}\\]/g, "\\$&"))
  return [...escaped, ...segments.slice(literalCount)].filter((segment) => segment !== "").join("/")
}

/** Counts the leading segments that are no pattern: without special characters, or there by that name. */
async function countLiteralSegments(segments: readonly string[]): Promise<number> {
  for (const [index, segment] of segments.entries()) {
    if (SPECIAL.test(segment) && !(await isFolder(segments.slice(0, index + 1).join("/")))) return index
  }
  return segments.length
}

/** Returns the root of the repository's work tree that a path lies in, if it lies in one. */
async function rootAround(repository: Repository, real: string): Promise<string | undefined> {
  let folder = real
  while (!(await isFolder(folder)) && dirname(folder) !== folder) folder = dirname(folder)
  const workTree = await findWorkTree(folder)
  if (workTree === undefined) return repository.rootPath
  return workTree.identityPath === repository.identityPath ? workTree.rootPath : undefined
}
