/** What files that are edited or committed claim, by the settings of their work tree. */

import { AppError } from "../errors.ts"
import { type ClaimedPath, claimOf } from "../operations/claims.ts"
import type { Location } from "../operations/locations.ts"
import { oneLine } from "../operations/markdown.ts"
import { type HookSettings, matchesAny, modeFor } from "./settings.ts"

/** Returns what an edit or a commit claims, and why some of its files cannot be checked; ignored files are left out. */
export function claimsOf(
  locations: readonly Location[],
  settings: HookSettings,
): { paths: ClaimedPath[]; problems: string[] } {
  const paths: ClaimedPath[] = []
  const problems: string[] = []
  for (const location of locations) {
    if (matchesAny(settings.ignorePatterns, location.path)) continue
    try {
      paths.push(claimOf(location, modeFor(settings, location.path) === "exclusive"))
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      problems.push(`a file was not checked: ${oneLine(error.text)}`)
    }
  }
  return { paths, problems }
}
