/**
 * The tools on many memories: search, list, waypoints, prune, statistics. What a call needs is loaded by the first
 * call, as with those on single ones.
 */

import * as z from "zod"
import { SECTORS } from "../domain/memory.ts"
import { shownSalience } from "../domain/salience.ts"
import {
  MEMORY_PAGE_DEFAULT,
  MEMORY_PAGE_MAX,
  MEMORY_SEARCH_LIMIT_DEFAULT,
  MEMORY_SEARCH_LIMIT_MAX,
  WAYPOINT_WEIGHT_DEFAULT,
  WAYPOINTS_LIMIT_DEFAULT,
  WAYPOINTS_LIMIT_MAX,
} from "../limits.ts"
import { limit } from "./fields.ts"
import { fitBlocks, lines } from "./markdown.ts"
import { fraction, maxHops, memoryId, memoryQuery, sector, tag, tags, threshold } from "./memory-fields.ts"
import { memoryEntry, shownWeight } from "./memory-markdown.ts"
import { tenant } from "./memory-tools.ts"
import { defineOperation } from "./operation.ts"

const full = () => z.boolean().default(false).describe("Whole contents instead of their beginnings")
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
    query: memoryQuery(),
    limit: limit(MEMORY_SEARCH_LIMIT_DEFAULT, MEMORY_SEARCH_LIMIT_MAX),
    sector: sector("Only this sector").optional(),
    tags: tags("Only with all of these").optional(),
    min_salience: fraction("Least salience now").optional(),
    expand_waypoints: z.boolean().default(true).describe("Add what the best are connected with"),
    max_hops: maxHops(),
    full: full(),
    repository_id: tenant(),
  }),
  async run(context, input) {
    const { searchMemories } = await import("./memory-search.ts")
    const found = await searchMemories(context, {
      query: input.query,
      limit: input.limit,
      sector: input.sector,
      tags: input.tags ?? [],
      salienceMin: input.min_salience ?? 0,
      maxHops: input.expand_waypoints ? input.max_hops : 0,
    })
    return { found, context, isFull: input.full }
  },
  markdown: ({ found, context, isFull }) =>
    found.results.length === 0
      ? "# Memories\n\nNothing was found. Try other words, or list-memories."
      : fitBlocks(
          lines("# Memories", "", `Shown: ${found.results.length} of ${found.total} matches`),
          found.results.map(({ memory, score, via }) =>
            memoryEntry(
              `Score ${shownWeight(score)}`,
              memory,
              context,
              isFull,
              via === undefined ? null : `Via: ${via.join(" -> ")}`,
            ),
          ),
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
    limit: limit(MEMORY_PAGE_DEFAULT, MEMORY_PAGE_MAX),
    cursor: z.string().min(1).optional().describe("Next cursor of the page before"),
    sector: sector("Only this sector").optional(),
    tag: tag("Only with this tag").optional(),
    full: full(),
    repository_id: tenant(),
  }),
  async run(context, input) {
    const { listMemories } = await import("./memory-listing.ts")
    return { page: await listMemories(context, input), context, isFull: input.full }
  },
  markdown: ({ page, context, isFull }) =>
    fitBlocks(
      lines(
        "# Memories",
        "",
        `Shown: ${page.memories.length}`,
        `Next cursor: ${page.nextCursor ?? "none, this is the end"}`,
      ),
      page.memories.map((memory, index) => memoryEntry(String(index + 1), memory, context, isFull)),
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
    memory_id: memoryId(),
    limit: limit(WAYPOINTS_LIMIT_DEFAULT, WAYPOINTS_LIMIT_MAX),
    min_weight: fraction("Least weight").default(WAYPOINT_WEIGHT_DEFAULT),
    full: full(),
    repository_id: tenant(),
  }),
  async run(context, input) {
    const asked = { limit: input.limit, weightMin: input.min_weight }
    const { listMemoryWaypoints } = await import("./memory-listing.ts")
    const found = await listMemoryWaypoints(context, input.memory_id, asked)
    return { found, context, isFull: input.full }
  },
  markdown: ({ found, context, isFull }) =>
    fitBlocks(
      lines("# Waypoints", "", `Shown: ${found.waypoints.length} of ${found.total}`),
      found.waypoints.map(({ weight, memory }) =>
        memoryEntry(`Weight ${shownWeight(weight)}`, memory, context, isFull),
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
    threshold: threshold(),
    sector: sector("Only this sector").optional(),
    dry_run: z.boolean().default(true).describe("Only count"),
    repository_id: tenant(),
  }),
  async run(context, { threshold: used, sector: only, dry_run: dryRun }) {
    const { pruneMemories } = await import("./memory-upkeep.ts")
    const pruned = await pruneMemories(context, { threshold: used, sector: only, dryRun })
    return { pruned, used, only, dryRun }
  },
  markdown: ({ pruned, used, only, dryRun }) =>
    lines(
      "# Memories pruned",
      "",
      `${dryRun ? "Would be deleted" : "Deleted"}: ${pruned}`,
      `Below: ${used}`,
      only === undefined ? null : `Sector: ${only}`,
      dryRun && pruned > 0 ? "Call again with dry_run false to delete them for good." : null,
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
  input: z.strictObject({ repository_id: tenant() }),
  async run(context) {
    const { memoryStatistics } = await import("./memory-upkeep.ts")
    return memoryStatistics(context)
  },
  markdown: (totals) =>
    lines(
      "# Memory statistics",
      "",
      `Memories: ${totals.total}`,
      ...SECTORS.map((name) => `- ${name}: ${totals.bySector[name]}`),
      `Average salience: ${shownSalience(totals.averageSalience)}`,
      `Hot memories: ${totals.hot}`,
      `Waypoints: ${totals.waypoints}`,
      `Embeddings today: ${totals.vectorsToday}`,
      `Storage: ${(totals.storedBytes / 1_000_000).toFixed(3)} MB`,
    ),
})
