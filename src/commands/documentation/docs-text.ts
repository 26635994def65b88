/** How answers of documentation search look at a terminal. Contents are shown as they are, but for control characters. */

import { indexTermsOf, queryTermsOf } from "../../domain/documentation/terms.ts"
import { visible, visibleLine } from "../../domain/foreign-text/visible.ts"
import type { DocumentationAnswer, FoundPassage } from "../../operations/documentation/results.ts"
import { lines } from "../../operations/markdown.ts"
import { bold, cyan, dim, outputColumns, usesStyle } from "../output.ts"
import { figure } from "./indexing-work.ts"

const INDENT = "  "
const ELLIPSIS = "…"
/** Names such as `get_user_name` and `--dry-run`, and plain words. */
const NAME = /-{0,2}[\p{L}\p{N}\p{M}_$]+(?:[-.:/@]+[\p{L}\p{N}\p{M}_$]+)*/gu
const WORD = /[\p{L}\p{N}\p{M}]+/gu

/** Rows of a terminal that one passage gets, unless it is wanted whole. */
const EXCERPT_ROWS_MAX = 6

/** Returns what was found, the best first, in excerpts or `isFull`, and what was not searched. */
export function answerText(
  query: string,
  { results, meta }: DocumentationAnswer,
  { isFull = false }: { isFull?: boolean } = {},
): string {
  const { total, notes = [] } = meta
  const terms = new Set(indexTermsOf(queryTermsOf(query)))
  const entries = results.map((result, index) => resultText(result, index + 1, terms, isFull))
  const isCut = total > results.length && results.length > 0
  const tail = lines(
    results.length === 0 ? "Nothing was found. Try other words." : null,
    isCut
      ? dim(
          `${results.length} shown of ${figure(total)} matches; --limit shows more${isFull ? "" : ", --full whole passages"}.`,
        )
      : null,
    ...notes.map((note) => dim(`Note: ${visibleLine(note)}`)),
  )
  return [...entries, ...(tail === "" ? [] : [tail])].join("\n\n")
}

function resultText(
  result: FoundPassage,
  number: number,
  terms: ReadonlySet<string>,
  isFull: boolean,
): string {
  const { file, line_start, line_end, repository, branch, score, last_updated, headings, url } = result
  const place = hyperlink(cyan(`${visibleLine(file)}:${line_start}-${line_end}`), url)
  const updated = last_updated.slice(0, "2026-01-01".length)
  return lines(
    `${number}. ${score.toFixed(2)}  ${place}  ${dim(`${visibleLine(repository)} ${visibleLine(branch)}  ${updated}`)}`,
    headings.length === 0 ? null : INDENT + dim(headings.map(visibleLine).join(" > ")),
    ...(isFull ? whole(result.content) : excerpt(result.content, terms, outputColumns() - INDENT.length)).map(
      (line) => (INDENT + emphasized(line, terms)).trimEnd(),
    ),
  )
}

function whole(content: string): string[] {
  return visible(content).trimEnd().split("\n")
}

/**
 * Returns the rows of a passage that hold most of the terms asked for, the first of several such, at most
 * `EXCERPT_ROWS_MAX` of `columns` characters each; an ellipsis stands where something is left out.
 */
export function excerpt(content: string, terms: ReadonlySet<string>, columns: number): string[] {
  const rows = whole(content)
    .filter((line) => line.trim() !== "")
    .flatMap((line) => wrapped(line, Math.max(20, columns - ELLIPSIS.length)))
  if (rows.length <= EXCERPT_ROWS_MAX) return rows
  const found = rows.map((row) => indexTermsOf(queryTermsOf(row)).filter((term) => terms.has(term)))
  const starts = Array.from({ length: rows.length - EXCERPT_ROWS_MAX + 1 }, (_, start) => ({
    start,
    terms: new Set(found.slice(start, start + EXCERPT_ROWS_MAX).flat()).size,
  }))
  const { start } = starts.reduce((best, one) => (one.terms > best.terms ? one : best))
  const shown = rows.slice(start, start + EXCERPT_ROWS_MAX)
  const isCutBehind = start + EXCERPT_ROWS_MAX < rows.length
  return shown.map((row, index) => {
    const before = index === 0 && start > 0 ? ELLIPSIS : ""
    return `${before}${row}${index === shown.length - 1 && isCutBehind ? ELLIPSIS : ""}`
  })
}

/** Breaks a line between words where that is possible; every row but the first begins without white space. */
function wrapped(line: string, columns: number): string[] {
  return (
    line
      .match(new RegExp(`.{1,${columns}}(?=\\s|$)|.{1,${columns}}`, "gu"))
      ?.map((row, index) => (index === 0 ? row : row.trimStart())) ?? []
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
  return usesStyle && process.stdout.isTTY === true
}
