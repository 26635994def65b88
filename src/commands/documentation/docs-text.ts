/** How answers of documentation search look at a terminal. Contents are shown as they are, but for control characters. */

import { indexTermsOf, queryTermsOf } from "../../domain/documentation/terms.ts"
import { visible, visibleLine } from "../../domain/foreign-text/visible.ts"
import type { DocumentationAnswer, FoundPassage } from "../../operations/documentation/results.ts"
import { lines } from "../../operations/markdown.ts"
import { bold, cyan, dim } from "../output.ts"
import { figure } from "./indexing-work.ts"

const INDENT = "  "
/** Names such as `get_user_name` and `--dry-run`, and plain words. */
const NAME = /-{0,2}[\p{L}\p{N}\p{M}_$]+(?:[-.:/@]+[\p{L}\p{N}\p{M}_$]+)*/gu
const WORD = /[\p{L}\p{N}\p{M}]+/gu

/** Returns what was found, the best first, and what was not searched. */
export function answerText(query: string, { results, meta }: DocumentationAnswer): string {
  const { total, notes = [] } = meta
  const terms = new Set(indexTermsOf(queryTermsOf(query)))
  const entries = results.map((result, index) => resultText(result, index + 1, terms))
  const isCut = total > results.length && results.length > 0
  const tail = lines(
    results.length === 0 ? "Nothing was found. Try other words." : null,
    isCut ? dim(`${results.length} shown of ${figure(total)} matches.`) : null,
    ...notes.map((note) => dim(`Note: ${visibleLine(note)}`)),
  )
  return [...entries, ...(tail === "" ? [] : [tail])].join("\n\n")
}

function resultText(result: FoundPassage, number: number, terms: ReadonlySet<string>): string {
  const { file, line_start, line_end, repository, branch, score, last_updated, headings, url } = result
  const place = hyperlink(cyan(`${visibleLine(file)}:${line_start}-${line_end}`), url)
  const updated = last_updated.slice(0, "2026-01-01".length)
  return lines(
    `${number}. ${score.toFixed(2)}  ${place}  ${dim(`${visibleLine(repository)} ${visibleLine(branch)}  ${updated}`)}`,
    headings.length === 0 ? null : INDENT + dim(headings.map(visibleLine).join(" > ")),
    ...visible(result.content)
      .trimEnd()
      .split("\n")
      .map((line) => (INDENT + emphasized(line, terms)).trimEnd()),
  )
}

/**
 * Returns a text in which words are marked that stand for one of some terms of the index: whole names that do, else
 * the words in them.
 */
export function emphasized(text: string, terms: ReadonlySet<string>, mark = bold): string {
  const isMeant = (word: string) => indexTermsOf(queryTermsOf(word)).some((term) => terms.has(term))
  return text.replace(NAME, (name) => {
    const [own] = indexTermsOf(queryTermsOf(name))
    if (own !== undefined && terms.has(own)) return mark(name)
    return name.replace(WORD, (word) => (isMeant(word) ? mark(word) : word))
  })
}

/**
 * Returns a text that leads to an address when it is clicked, where there is a terminal that can
 * (https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda: OSC 8, ended by ST).
 */
export function hyperlink(text: string, url: string, canLink = isLinking()): string {
  if (!canLink || /[^\x21-\x7e]/.test(url)) return text
  return `\u001b]8;;${url}\u001b\\${text}\u001b]8;;\u001b\\`
}

function isLinking(): boolean {
  return process.stdout.isTTY === true && process.env.TERM !== "dumb"
}
