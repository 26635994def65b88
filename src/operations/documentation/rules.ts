/** Which files of a repository are documentation, by their paths. */

import { createHash } from "node:crypto"
import { echoed } from "../../domain/foreign-text/markdown.ts"
import { type CompiledPattern, compilePattern, GlobError, normalizePattern } from "../../domain/glob/glob.ts"
import { anyMatchesPath } from "../../domain/glob/matching.ts"
import { AppError } from "../../errors.ts"
import { type Format, formatOf } from "../../indexing/formats.ts"
import { READER_VERSION } from "../../indexing/read-document.ts"

export interface DocumentRules {
  /** Names these rules and the way files are read: what was read by others has to be looked at again. */
  name: string
  formatOf(path: string): Format | null
  isDocument(path: string): boolean
  isFolderWanted(folder: string): boolean
}

/** Everything below a folder of that kind: whether a path is meant depends on its folder alone. */
const FOLDER_PATTERN = /\/\*\*$/

/** Returns the rules that leave out what any of the globs matches; fails with `invalid` for what is no glob. */
export function documentRules(ignoredGlobs: readonly string[]): DocumentRules {
  const rules = known.get(ignoredGlobs) ?? makeRules(ignoredGlobs)
  known.set(ignoredGlobs, rules)
  return rules
}

/** Every search asks for the rules of the same list. */
const known = new WeakMap<readonly string[], DocumentRules>()

function makeRules(ignoredGlobs: readonly string[]): DocumentRules {
  const folderPatterns: CompiledPattern[] = []
  const filePatterns: CompiledPattern[] = []
  for (const glob of ignoredGlobs)
    (FOLDER_PATTERN.test(glob) ? folderPatterns : filePatterns).push(compiled(glob))
  const verdicts = new Map<string, boolean>()
  const isFolderWanted = (folder: string) => {
    const known = verdicts.get(folder)
    if (known !== undefined) return known
    const isWanted = folder === "" || !anyMatchesPath(folderPatterns, `${folder}/-`)
    verdicts.set(folder, isWanted)
    return isWanted
  }
  const formatOfWanted = (path: string) => {
    const format = formatOf(path)
    if (format === null || !isFolderWanted(path.slice(0, Math.max(0, path.lastIndexOf("/"))))) return null
    return anyMatchesPath(filePatterns, path) ? null : format
  }
  const digest = createHash("sha256").update(JSON.stringify(ignoredGlobs)).digest("hex").slice(0, 16)
  return {
    name: `${READER_VERSION}:${digest}`,
    formatOf: formatOfWanted,
    isDocument: (path) => formatOfWanted(path) !== null,
    isFolderWanted,
  }
}

function compiled(glob: string): CompiledPattern {
  try {
    return compilePattern(normalizePattern(glob))
  } catch (error) {
    if (!(error instanceof GlobError)) throw error
    throw new AppError(
      "invalid",
      `documentation.ignore in your config file: ${echoed(glob)} ${error.message}`,
      {
        hint: "Correct it there.",
      },
    )
  }
}
