/** Shows what would change in a file, in the form of `diff -u`. */

import { formatPatch, OMIT_HEADERS, type StructuredPatch, structuredPatch } from "diff"

/** Deleted and added lines that are looked for at most: the time to find them grows with their square. */
const EDITS_MAX = 2_000

/**
 * Returns the difference of two texts with three lines of context, or nothing when they are equal. When
 * more than `EDITS_MAX` lines differ, all lines count as replaced.
 */
export function lineDiff(path: string, before: string, after: string): string {
  if (before === after) return ""
  const bounds = { context: 3, maxEditLength: EDITS_MAX }
  const patch = structuredPatch(path, path, before, after, "", "", bounds) ?? replacement(before, after)
  // Not by the package, which escapes what is not ASCII in a path.
  const headers = `--- ${path}\n+++ ${path}\n`
  return headers + formatPatch(patch, OMIT_HEADERS).slice(0, -1)
}

function replacement(before: string, after: string): StructuredPatch {
  const removal = structuredPatch("", "", before, "")
  const [removed] = removal.hunks
  const [added] = structuredPatch("", "", "", after).hunks
  const whole = {
    oldStart: 1,
    oldLines: removed?.oldLines ?? 0,
    newStart: 1,
    newLines: added?.newLines ?? 0,
    lines: [...(removed?.lines ?? []), ...(added?.lines ?? [])],
  }
  return { ...removal, hunks: [whole] }
}
