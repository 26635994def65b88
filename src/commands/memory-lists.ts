/** `signalbox memory` on many memories: search, list, prune, stats. */

import type { Config } from "../config.ts"
import { SECTORS } from "../domain/memory.ts"
import { HOT_SALIENCE_MIN } from "../limits.ts"
import { count, lines } from "../operations/markdown.ts"
import { checkMemoryArguments, MEMORY_ARGUMENTS } from "../operations/memory-commands.ts"
import { foundJson, pageJson, prunedJson, statisticsJson } from "../operations/memory-json.ts"
import { listMemories, type MemoryPage } from "../operations/memory-listing.ts"
import { type FoundMemory, type MemorySearchResult, searchMemories } from "../operations/memory-search.ts"
import { memoryStatistics, pruneMemories } from "../operations/memory-upkeep.ts"
import type { TenantContext } from "../operations/operation.ts"
import { loadActiveModel, type MemoryOptions, withMemories } from "./memory.ts"
import { memoryEntry, shortId } from "./memory-text.ts"
import { bold, dim, green, printResult } from "./output.ts"

export interface SearchOptions extends MemoryOptions {
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
  const asked = checkMemoryArguments(MEMORY_ARGUMENTS.search, {
    query: words.join(" "),
    limit: numberIn(options.limit),
    sector: options.sector,
    tags: options.tag,
    min_salience: numberIn(options.minSalience),
    max_hops: numberIn(options.maxHops),
  })
  return withMemories(config, options, async (context) => {
    await loadActiveModel(context)
    const startedMs = performance.now()
    const found = await searchMemories(context, {
      query: asked.query,
      limit: asked.limit,
      sector: asked.sector,
      tags: asked.tags,
      salienceMin: asked.min_salience,
      maxHops: options.waypoints === false ? 0 : asked.max_hops,
    })
    const json = foundJson(context, found, options.explain === true, performance.now() - startedMs)
    printResult(options, json, () => foundText(context, found, options))
  })
}

function foundText(
  context: TenantContext,
  { results, total }: MemorySearchResult,
  options: SearchOptions,
): string {
  if (results.length === 0)
    return "Nothing was found. Try other words, or see them all: signalbox memory list"
  const entries = results.map((found, index) => {
    const more = [
      ...(found.via === undefined ? [] : [`by way of ${found.via.map(shortId).join(" -> ")}`]),
      ...(options.explain === true ? [explanationText(found)] : []),
    ]
    const lead = `${index + 1}. ${found.score.toFixed(2)}`
    return memoryEntry(context, found.memory, { lead, isFull: options.full === true, more })
  })
  const isCut = total > results.length
  return [
    ...entries,
    ...(isCut ? [dim(`${results.length} shown of ${count(total, "match", "matches")}.`)] : []),
  ].join("\n\n")
}

/** Returns how a score came about, as names and figures; what is not known is left out. */
function explanationText({ explanation }: FoundMemory): string {
  return Object.entries(explanation)
    .flatMap(([name, value]: [string, unknown]) => {
      if (value === null) return []
      return typeof value === "number" ? `${name} ${shownFigure(value)}` : `${name} ${wordsOf(value)}`
    })
    .join(", ")
}

function wordsOf(value: unknown): string {
  return Array.isArray(value) && value.every((one) => typeof one === "string")
    ? value.join("+") || "none"
    : JSON.stringify(value)
}

function shownFigure(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(3)
}

export interface ListOptions extends MemoryOptions {
  limit?: string
  cursor?: string
  sector?: string
  tag?: string
  full?: boolean
}

/** Lists one page of memories, the newest first. */
export function listMemoriesCommand(config: Config, options: ListOptions): Promise<void> {
  const asked = checkMemoryArguments(MEMORY_ARGUMENTS.list, {
    limit: numberIn(options.limit),
    cursor: options.cursor,
    sector: options.sector,
    tag: options.tag,
  })
  return withMemories(config, options, async (context) => {
    const page = await listMemories(context, asked)
    const json = pageJson(context, page)
    printResult(options, json, () => pageText(context, page, options))
  })
}

function pageText(context: TenantContext, page: MemoryPage, options: ListOptions): string {
  const isFiltered = options.sector !== undefined || options.tag !== undefined
  if (page.memories.length === 0) {
    return isFiltered || options.cursor !== undefined
      ? "No such memories."
      : `No memories in ${context.repository.name} yet. The first one: signalbox memory add "..."`
  }
  const entries = page.memories.map((memory) =>
    memoryEntry(context, memory, { isFull: options.full === true }),
  )
  const more =
    page.nextCursor === null ? [] : [dim(`More, with the same options: --cursor ${page.nextCursor}`)]
  return [...entries, ...more].join("\n\n")
}

export interface PruneOptions extends MemoryOptions {
  threshold?: string
  sector?: string
  /** Deletes; otherwise it is only counted. */
  yes?: boolean
}

/** Deletes the memories that have faded below a threshold, or says how many that would be. */
export function pruneMemoriesCommand(config: Config, options: PruneOptions): Promise<void> {
  const { threshold, sector } = checkMemoryArguments(MEMORY_ARGUMENTS.prune, {
    threshold: numberIn(options.threshold),
    sector: options.sector,
  })
  const request = { threshold, sector, dryRun: options.yes !== true }
  return withMemories(config, options, async (context) => {
    const pruned = await pruneMemories(context, request)
    printResult(options, prunedJson(pruned, request), () => {
      const kind = sector === undefined ? "" : `${sector} `
      const what = `${count(pruned, `${kind}memory`, `${kind}memories`)} of a salience below ${threshold}`
      if (!request.dryRun) return `${green("✓")} Deleted ${what} for good.`
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
    const totals = statisticsJson(await memoryStatistics(context))
    const fact = (name: string, value: string) => `${name.padEnd(12)} ${value}`
    printResult(options, totals, () =>
      lines(
        fact("Memories", `${bold(String(totals.total_memories))} in ${context.repository.name}`),
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
