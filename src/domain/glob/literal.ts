/**
 * Paths as patterns and what of a pattern is plain text: escaping, the one path that a pattern names, the folders
 * it begins with. Refuses to know automata: it reads texts.
 */

import { BRACE_EXPANSIONS_MAX } from "../../config/limits.ts"
import { expandBraces } from "./braces.ts"
import { foldCase } from "./case-folding.ts"

/** Returns a path as a pattern that stands for this very path, whatever characters it has. */
export function escapePath(path: string): string {
  return path.replace(/[*?[\]{}\\]/g, "\\$&")
}

/**
 * Returns the one path that a normalised pattern names, unescaped, or null for a pattern with anything special.
 *
 * An open bracket or brace counts as special even where it stands for itself; `escapePath` makes it plain.
 */
export function literalPath(pattern: string): string | null {
  if (!pattern.includes("\\")) return /[*?[{]/.test(pattern) ? null : pattern
  const names = pattern.split("/").map(literalName)
  return names.every((name) => name !== null) ? names.join("/") : null
}

/**
 * The longest run of leading segments without anything special, unescaped and case-folded, each with a `/` after it.
 *
 * When two normalised patterns overlap, under any options, one of their prefixes starts with the other, so
 * it serves as a key to look up candidates: `src/api/*.ts` gives `src/api/`, `src/a.ts` gives `src/a.ts/`,
 * `*.ts` gives the empty text. Folding is that of `foldCase`.
 */
export function literalPrefix(pattern: string): string {
  // A `..` takes written segments away, and braces can spell one: `src/.{.,x}/a` is also `a`.
  const expansions = pattern.includes("{") ? expandBraces(pattern, BRACE_EXPANSIONS_MAX) : [pattern]
  if (expansions === null || expansions.some((text) => text.split("/").includes(".."))) return ""
  let prefix = ""
  for (const segment of pattern.split("/")) {
    const name = literalName(segment)
    if (name === null) break
    prefix += `${foldCase(name)}/`
  }
  return prefix
}

/** No wildcard, bracket or brace but escaped ones; a lone last backslash is plain. */
const PLAIN = /^(?:\\[\s\S]|[^\\*?[{])*\\?$/

/** The name that a segment stands for, or null when it has anything special or no file can have its name. */
function literalName(segment: string): string | null {
  if (!PLAIN.test(segment)) return null
  const name = segment.replace(/\\([\s\S])/g, "$1")
  return name === "" || name === "." || name === ".." ? null : name
}
