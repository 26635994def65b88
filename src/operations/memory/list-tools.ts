/**
 * The tools on many memories: search, list, waypoints, prune, statistics. What a call needs is loaded by the first
 * call, as with those on single ones.
 */

import * as z from "zod"
import { WAYPOINT_WEIGHT_DEFAULT } from "../../config/limits.ts"
import { SECTORS } from "../../domain/memory/memory.ts"
import { fitBlocks, lines } from "../markdown.ts"
import { defineOperation } from "../operation.ts"
import { memoryIdText, memoryNamed } from "./ids.ts"
import { fraction, listInput, pruneInput, searchInput, sector, waypointsInput } from "./inputs.ts"
import { memoryEntry, shownWeight } from "./markdown.ts"
import { tenant } from "./tools.ts"

const ROWS = "Most rows to return"
const onlySector = sector.describe("Only this sector").optional()
const full = z.boolean().default(false).describe("Whole contents instead of their beginnings")
const READ_WHOLE = "get-memory gives one whole."

export const searchMemoriesTool = defineOperation({
  name: "search-memories",
  title: "Search memories",
  category: "memory",
  effect: "read",
  idempotent: true,
  inRepository: true,
  description:
    "Find what is remembered of this repository, by words and by meaning. Ask before you decide anew.",
  input: z.strictObject({
    ...searchInput,
    limit: searchInput.limit.describe(ROWS),
    sector: onlySector,
    min_salience: fraction.describe("Least salience now").optional(),
    expand_waypoints: searchInput.expand_waypoints.describe("Add what the best are connected with"),
    full,
    repository_id: tenant,
  }),
  async run(context, input) {
    const { searchMemories } = await import("./search.ts")
    return { found: await searchMemories(context, input), isFull: input.full }
  },
  markdown: ({ found: { data, meta }, isFull }) =>
    data.length === 0
      ? "# Memories\n\nNothing was found. Try other words, or list-memories."
      : fitBlocks(
          lines("# Memories", "", `Shown: ${data.length} of ${meta.total} matches`),
          data.map((memory) => {
            const via = memory.via === undefined ? null : `Via: ${memory.via.join(" -> ")}`
            return memoryEntry(`Score ${shownWeight(memory.score)}`, memory, isFull, via)
          }),
          `Use a smaller limit. ${READ_WHOLE}`,
        ),
})

export const listMemoriesTool = defineOperation({
  name: "list-memories",
  title: "List memories",
  category: "memory",
  effect: "read",
  idempotent: true,
  inRepository: true,
  description: "List memories, newest first.",
  input: z.strictObject({
    ...listInput,
    limit: listInput.limit.describe(ROWS),
    cursor: listInput.cursor.describe("Next cursor of the page before"),
    sector: onlySector,
    full,
    repository_id: tenant,
  }),
  async run(context, input) {
    const { listMemories } = await import("./listing.ts")
    return { page: await listMemories(context, input), isFull: input.full }
  },
  markdown: ({ page: { data, meta }, isFull }) =>
    fitBlocks(
      lines(
        "# Memories",
        "",
        `Shown: ${data.length}`,
        `Next cursor: ${meta.next_cursor ?? "none, this is the end"}`,
      ),
      data.map((memory, index) => memoryEntry(String(index + 1), memory, isFull)),
      `Use a smaller limit. ${READ_WHOLE}`,
    ),
})

export const getMemoryWaypoints = defineOperation({
  name: "get-memory-waypoints",
  title: "Get memory waypoints",
  category: "memory",
  effect: "read",
  idempotent: true,
  inRepository: true,
  description: "List the memories that a memory is connected with by meaning, strongest first.",
  input: z.strictObject({
    memory_id: memoryIdText,
    limit: waypointsInput.limit.describe(ROWS),
    min_weight: fraction.describe("Least weight").default(WAYPOINT_WEIGHT_DEFAULT),
    full,
    repository_id: tenant,
  }),
  async run(context, input) {
    const { listMemoryWaypoints } = await import("./listing.ts")
    return {
      found: await listMemoryWaypoints(context, await memoryNamed(context, input.memory_id), input),
      isFull: input.full,
    }
  },
  markdown: ({ found, isFull }) =>
    fitBlocks(
      lines("# Waypoints", "", `Shown: ${found.waypoints.length} of ${found.total}`),
      found.waypoints.map(({ weight, memory }) =>
        memoryEntry(`Weight ${shownWeight(weight)}`, memory, isFull),
      ),
      `Use a smaller limit. ${READ_WHOLE}`,
    ),
})

export const pruneMemoriesTool = defineOperation({
  name: "prune-memories",
  title: "Prune memories",
  category: "memory",
  effect: "destroy",
  inRepository: true,
  description: "Delete the memories whose salience has faded below a threshold, or count them (the default).",
  input: z.strictObject({
    ...pruneInput,
    sector: onlySector,
    dry_run: pruneInput.dry_run.default(true),
    repository_id: tenant,
  }),
  async run(context, input) {
    const { pruneMemories } = await import("./upkeep.ts")
    const { heldByBackups } = await import("../backups.ts")
    const outcome = await pruneMemories(context, input)
    const isDeleted = !outcome.dry_run && outcome.memories_pruned > 0
    return { outcome, held: isDeleted ? heldByBackups(context.app) : null }
  },
  markdown: ({
    outcome: { memories_pruned: pruned, threshold_used: used, sector_filter: only, dry_run: isDryRun },
    held,
  }) =>
    lines(
      "# Memories pruned",
      "",
      `${isDryRun ? "Would be deleted" : "Deleted"}: ${pruned}`,
      `Below: ${used}`,
      only === null ? null : `Sector: ${only}`,
      isDryRun && pruned > 0 ? "Call again with dry_run false to delete them for good." : null,
      held,
    ),
})

export const getMemoryStats = defineOperation({
  name: "get-memory-stats",
  title: "Get memory statistics",
  category: "memory",
  effect: "read",
  idempotent: true,
  inRepository: true,
  description: "Count this repository's memories by sector, with salience, waypoints and storage.",
  input: z.strictObject({ repository_id: tenant }),
  async run(context) {
    const { memoryStatistics } = await import("./upkeep.ts")
    return memoryStatistics(context)
  },
  markdown: (totals) =>
    lines(
      "# Memory statistics",
      "",
      `Memories: ${totals.total_memories}`,
      ...SECTORS.map((name) => `- ${name}: ${totals.by_sector[name]}`),
      `Average salience: ${totals.avg_salience}`,
      `Hot memories: ${totals.hot_memories}`,
      `Waypoints: ${totals.total_waypoints}`,
      `Embeddings today: ${totals.embeddings_today}`,
      `Storage: ${totals.storage_used_mb.toFixed(3)} MB`,
    ),
})
