/** How memories look at a terminal of 80 columns. */

import { visible, visibleJson, visibleLine } from "../../domain/foreign-text/visible.ts"
import { lines } from "../../operations/markdown.ts"
import type { MemoryJson } from "../../operations/memory/results.ts"
import { columnsOf, wrapped } from "../columns.ts"
import { bold, cyan, dim } from "../output.ts"

const COLUMNS = 80
const INDENT = "  "
/** Lines of a content where many memories are shown. */
const EXCERPT_LINES = 3
/** Enough of an id to tell it from all others, as a rule; longer beginnings are taken as well. */
const SHORT_ID_CHARS = 8

/** Returns the beginning of an id, which commands take for the whole. */
export function shortId(uuid: string): string {
  return uuid.slice(0, SHORT_ID_CHARS)
}

/** Returns a memory as one of many: a line of facts, and its content or the beginning of it. */
export function memoryEntry(
  memory: MemoryJson,
  { lead, isFull, more = [] }: { lead?: string; isFull: boolean; more?: readonly string[] },
): string {
  const { sector, salience, created_at, tags } = memory
  const facts = [shortId(memory.id), sector, salience.toFixed(2), created_at.slice(0, "2026-01-01".length)]
  const [head = "", ...rest] = wrapped([lead, ...facts].filter(Boolean).join("  ") + tagList(tags), COLUMNS)
  return lines(
    head.replace(facts[0] ?? "", cyan),
    ...rest.map((row) => INDENT + row),
    ...more.flatMap((text) => wrapped(text, COLUMNS - INDENT.length)).map((row) => dim(INDENT + row)),
    ...contentRows(memory.content, isFull).map((row) => INDENT + row),
  )
}

function tagList(tags: readonly string[]): string {
  return tags.map((tag) => `  #${visibleLine(tag)}`).join("")
}

function contentRows(content: string, isFull: boolean): string[] {
  if (isFull) return visible(content).split("\n")
  const columns = COLUMNS - INDENT.length
  // No more than can be shown has to be wrapped.
  const beginning = visible(
    content
      .slice(0, 2 * COLUMNS * EXCERPT_LINES)
      .replace(/\s+/gu, " ")
      .trim(),
  )
  const rows = wrapped(beginning, columns)
  const isWhole = rows.length <= EXCERPT_LINES && content.length <= 2 * COLUMNS * EXCERPT_LINES
  if (isWhole) return rows
  const shown = rows.slice(0, EXCERPT_LINES)
  const last = shown.pop() ?? ""
  return [...shown, columnsOf(last) < columns ? `${last}…` : `${[...last].slice(0, -1).join("")}…`]
}

/** Returns a memory whole: all that is known of it, and its content as it is. */
export function memoryWhole(memory: MemoryJson): string {
  const fact = (name: string, value: string) => `${dim(name.padEnd(10))} ${value}`
  const { access_count: accesses, last_accessed_at: last, metadata } = memory
  return lines(
    bold(memory.id),
    fact("Sector", `${memory.sector}, salience ${memory.salience}`),
    fact("Created", memory.created_at),
    memory.updated_at === memory.created_at ? null : fact("Updated", memory.updated_at),
    fact(
      "Accessed",
      `${accesses === 1 ? "once" : `${accesses} times`}${last === null ? "" : `, last ${last}`}`,
    ),
    memory.tags.length === 0 ? null : fact("Tags", memory.tags.map(visibleLine).join(", ")),
    memory.source === null ? null : fact("Source", visibleLine(memory.source)),
    Object.keys(metadata).length === 0 ? null : fact("Metadata", visibleJson(metadata)),
    memory.embedding_status === "completed" ? null : fact("Embedding", memory.embedding_status),
    "",
    visible(memory.content),
  )
}
