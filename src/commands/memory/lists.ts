/** `signalbox memory` on many memories: search, list, prune, stats. */

import type { Config } from "../../config/config.ts"
import { HOT_SALIENCE_MIN } from "../../config/limits.ts"
import { visibleJson, visibleLine } from "../../domain/foreign-text/visible.ts"
import { SECTORS } from "../../domain/memory/memory.ts"
import { loadActiveModel } from "../../operations/embedding/memories.ts"
import { checkInput } from "../../operations/input.ts"
import { count, lines } from "../../operations/markdown.ts"
import { listInput, pruneInput, searchInput } from "../../operations/memory/inputs.ts"
import { listMemories } from "../../operations/memory/listing.ts"
import type { FoundMemories, MemoryPage } from "../../operations/memory/results.ts"
import { searchMemories } from "../../operations/memory/search.ts"
import { memoryStatistics, pruneMemories } from "../../operations/memory/upkeep.ts"
import type { TenantContext } from "../../operations/operation.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { afterDeletion } from "../after-deletion.ts"
import { bold, dim, green, printResult } from "../output.ts"
import { type MemoryOptions, withMemories } from "./context.ts"
import { memoryEntry, shortId } from "./text.ts"

interface SearchOptions extends MemoryOptions {
  limit?: string
  sector?: string
  /** The memories have all of them. */
  tag?: string[]
  minSalience?: string
  /** False to follow none. */
  waypoints?: boolean
  maxHops?: string
  /** Whole contents. */
  full?: boolean
  explain?: boolean
}

/** Finds memories by words and by meaning, the best first. */
export function searchMemoriesCommand(
  config: Config,
  words: readonly string[],
  options: SearchOptions,
): Promise<void> {
  const asked = checkInput(searchInput, {
    query: words.join(" "),
    limit: numberIn(options.limit),
    sector: options.sector,
    tags: options.tag,
    min_salience: numberIn(options.minSalience),
    expand_waypoints: options.waypoints,
    max_hops: numberIn(options.maxHops),
  })
  return withMemories(config, options, async (context) => {
    await loadActiveModel(context.app)
    const found = await searchMemories(context, { ...asked, explain: options.explain })
    printResult(options, found, () => foundText(found, options.full === true))
  })
}

function foundText({ data, meta }: FoundMemories, isFull: boolean): string {
  if (data.length === 0)
    return `Nothing was found. Try other words, or see them all: ${ownCommand()} memory list`
  const entries = data.map((memory, index) => {
    const { score, via, explain } = memory
    const more = [
      ...(via === undefined ? [] : [`by way of ${via.map(shortId).join(" -> ")}`]),
      ...(explain === undefined ? [] : [explanationText(explain)]),
    ]
    return memoryEntry(memory, { lead: `${index + 1}. ${score.toFixed(2)}`, isFull, more })
  })
  const isCut = meta.total > data.length
  return [
    ...entries,
    ...(isCut ? [dim(`${data.length} shown of ${count(meta.total, "match", "matches")}.`)] : []),
  ].join("\n\n")
}

/** Returns how a score came about, as names and figures; what is not known is left out. */
function explanationText(explanation: Record<string, unknown>): string {
  return Object.entries(explanation)
    .flatMap(([name, value]) => {
      if (value === null) return []
      return typeof value === "number" ? `${name} ${shownFigure(value)}` : `${name} ${wordsOf(value)}`
    })
    .join(", ")
}

function wordsOf(value: unknown): string {
  return Array.isArray(value) && value.every((one) => typeof one === "string")
    ? visibleLine(value.join("+")) || "none"
    : visibleJson(value)
}

function shownFigure(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(3)
}

interface ListOptions extends MemoryOptions {
  limit?: string
  cursor?: string
  sector?: string
  tag?: string
  full?: boolean
}

/** Lists one page of memories, the newest first. */
export function listMemoriesCommand(config: Config, options: ListOptions): Promise<void> {
  const asked = checkInput(listInput, {
    limit: numberIn(options.limit),
    cursor: options.cursor,
    sector: options.sector,
    tag: options.tag,
  })
  return withMemories(config, options, async (context) => {
    const page = await listMemories(context, asked)
    printResult(options, page, () => pageText(context, page, options))
  })
}

function pageText(context: TenantContext, page: MemoryPage, options: ListOptions): string {
  const isFiltered = options.sector !== undefined || options.tag !== undefined
  if (page.data.length === 0) {
    return isFiltered || options.cursor !== undefined
      ? "No such memories."
      : `No memories in ${visibleLine(context.repository.name)} yet. The first one: ${ownCommand()} memory add "..."`
  }
  const { next_cursor: next } = page.meta
  const entries = page.data.map((memory) => memoryEntry(memory, { isFull: options.full === true }))
  const more = next === null ? [] : [dim(`More, with the same options: --cursor ${next}`)]
  return [...entries, ...more].join("\n\n")
}

interface PruneOptions extends MemoryOptions {
  threshold?: string
  sector?: string
  /** Deletes; otherwise it is only counted. */
  yes?: boolean
  /** With `yes`: from the daily backups too. */
  purge?: boolean
}

/** Deletes the memories that have faded below a threshold, or says how many that would be. */
export function pruneMemoriesCommand(config: Config, options: PruneOptions): Promise<void> {
  const asked = checkInput(pruneInput, {
    threshold: numberIn(options.threshold),
    sector: options.sector,
    dry_run: options.yes !== true,
  })
  const { threshold, sector, dry_run: isDryRun } = asked
  return withMemories(config, options, async (context) => {
    const outcome = await pruneMemories(context, asked)
    const isDeleted = !isDryRun && (outcome.memories_pruned > 0 || options.purge === true)
    const held = isDeleted ? await afterDeletion(context.app, options) : null
    printResult(options, { ...outcome, ...(isDryRun ? {} : { held_by_backups: held !== null }) }, () => {
      const pruned = outcome.memories_pruned
      const kind = sector === undefined ? "" : `${sector} `
      const what = `${count(pruned, `${kind}memory`, `${kind}memories`)} of a salience below ${threshold}`
      if (!isDryRun) return lines(`${green("✓")} Deleted ${what} for good.`, held === null ? null : dim(held))
      if (pruned === 0) return `Nothing to prune: there is no ${kind}memory of a salience below ${threshold}.`
      return lines(
        `${count(pruned, `${kind}memory`, `${kind}memories`)} of a salience below ${threshold} would be deleted.`,
        dim("  This was a dry run, nothing was deleted. Add --yes to delete them for good."),
      )
    })
  })
}

/** Shows how many memories there are, how salient they are and what they take up. */
export function memoryStatsCommand(config: Config, options: MemoryOptions): Promise<void> {
  return withMemories(config, options, async (context) => {
    const totals = await memoryStatistics(context)
    const fact = (name: string, value: string) => `${name.padEnd(12)} ${value}`
    printResult(options, totals, () =>
      lines(
        fact("Memories", `${bold(String(totals.total_memories))} in ${visibleLine(context.repository.name)}`),
        ...SECTORS.map((sector) => fact(`  ${sector}`, String(totals.by_sector[sector]))),
        fact(
          "Salience",
          `${totals.avg_salience} on average, ${totals.hot_memories} hot (${HOT_SALIENCE_MIN} or more)`,
        ),
        fact("Waypoints", count(totals.total_waypoints, "connected pair")),
        fact("Embeddings", `${count(totals.embeddings_today, "vector")} made today (UTC)`),
        fact("Storage", `${totals.storage_used_mb} MB`),
      ),
    )
  })
}

/** Returns what was typed as a number, or as it is for the check to refuse. */
function numberIn(typed: string | undefined): number | string | undefined {
  return typed !== undefined && /^-?\d{1,15}(\.\d{1,15})?$/.test(typed) ? Number(typed) : typed
}
