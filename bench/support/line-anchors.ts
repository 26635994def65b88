/** Whether texts stand where their line numbers and links say, in the file as git has it. */

import { git } from "./documentation-sets.ts"

/** A text that is said to stand on certain lines of a file. */
export interface Anchored {
  file: string
  /** From 1; both lines belong to it. */
  lineStart: number
  lineEnd: number
  text: string
  /** Of the form `https://github.com/<owner>/<name>/blob/<commit>/<path>#L3-L7`; not compared unless given. */
  url?: string
}

/**
 * How a text differs from its lines: not at all, in blanks at the ends of lines, by being a part of a long line or
 * of long lines, by a mark in the place of what was left out of a long word, in another way, or only in its link.
 */
export const DIFFERENCES = ["none", "blanks", "part", "shortened", "other", "link"] as const
export type Difference = (typeof DIFFERENCES)[number]

/** Stands where something was left out. */
const OMISSION = "…"

export class CommittedFiles {
  readonly #root: string
  readonly #commit: string
  readonly #lines = new Map<string, string[]>()

  constructor(root: string, commit: string) {
    this.#root = root
    this.#commit = commit
  }

  /** Compares a text with its lines, and its link with both. */
  compare({ file, lineStart, lineEnd, text, url }: Anchored): Difference {
    const there = this.#linesOf(file)
      .slice(lineStart - 1, lineEnd)
      .join("\n")
    if (there !== text) return differenceOf(there, text)
    if (url === undefined) return "none"
    const lines = lineStart === lineEnd ? `#L${lineStart}` : `#L${lineStart}-L${lineEnd}`
    const path = file.split("/").map(encodeURIComponent).join("/")
    const isRight = url.includes(`/blob/${this.#commit}/${path}`) && url.endsWith(lines)
    return isRight ? "none" : "link"
  }

  #linesOf(file: string): string[] {
    const known = this.#lines.get(file)
    if (known !== undefined) return known
    const text = git(this.#root, ["show", `${this.#commit}:${file}`])
    const lines = text.replace(/^\ufeff/, "").split(/\r\n|\n|\r/)
    this.#lines.set(file, lines)
    return lines
  }
}

function differenceOf(there: string, text: string): Difference {
  const withoutBlanks = (lines: string) => lines.replace(/[ \t]+$/gm, "")
  if (withoutBlanks(there) === withoutBlanks(text)) return "blanks"
  if (there.includes(text)) return "part"
  return isInOrder(text.split(OMISSION), there) ? "shortened" : "other"
}

/** Whether all parts stand in a text, one after the other. */
function isInOrder(parts: readonly string[], text: string): boolean {
  let at = 0
  for (const part of parts) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return true
}
