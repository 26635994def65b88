/**
 * What each operation on memories takes, but for the memory and the repository that it is about: every field with its
 * bounds, declared once for MCP, HTTP and the command line. Tools only say more briefly what a field is.
 */

import * as z from "zod"
import {
  MEMORY_CONTENT_CHARS_MAX,
  MEMORY_HOPS_DEFAULT,
  MEMORY_HOPS_MAX,
  MEMORY_METADATA_JSON_BYTES_MAX,
  MEMORY_PAGE_DEFAULT,
  MEMORY_PAGE_MAX,
  MEMORY_QUERY_CHARS_MAX,
  MEMORY_SEARCH_LIMIT_DEFAULT,
  MEMORY_SEARCH_LIMIT_MAX,
  MEMORY_SOURCE_CHARS_MAX,
  MEMORY_TAG_CHARS_MAX,
  MEMORY_TAGS_MAX,
  PRUNE_THRESHOLD_DEFAULT,
  WAYPOINT_WEIGHT_DEFAULT,
  WAYPOINTS_LIMIT_DEFAULT,
  WAYPOINTS_LIMIT_MAX,
} from "../../config/limits.ts"
import { REINFORCE_PROFILE_DEFAULT, REINFORCE_PROFILES, SECTORS } from "../../domain/memory/memory.ts"
import { text } from "../fields.ts"

export const memoryId = z.uuid("must be the id of a memory, a UUID").describe("Memory id")

/** A text that the database gives back as it came: half a surrogate pair would not survive. */
const wellFormed = <Type extends z.ZodString>(type: Type) =>
  type.refine((value) => !/\p{Surrogate}/u.test(value), "must be well-formed Unicode")

export const content = wellFormed(text(MEMORY_CONTENT_CHARS_MAX, "What to remember"))
export const sector = z.enum(SECTORS)
const tag = wellFormed(text(MEMORY_TAG_CHARS_MAX, ""))
export const tags = z.array(tag).max(MEMORY_TAGS_MAX)
export const fraction = z.number().min(0).max(1)
const limit = (otherwise: number, max: number) => z.int().min(1).max(max).default(otherwise)

export const source = wellFormed(
  z
    .string()
    .max(MEMORY_SOURCE_CHARS_MAX)
    .refine((value) => !value.includes("\0"), "must not contain NUL characters"),
).describe("Where it comes from")

/** A schema of objects would drop a key such as `__proto__`; this one hands everything through. */
export const metadata = z
  .custom<Record<string, unknown>>(
    (value) => typeof value === "object" && value !== null && !Array.isArray(value),
    "must be a JSON object",
  )
  .refine(
    (value) => Buffer.byteLength(JSON.stringify(value)) <= MEMORY_METADATA_JSON_BYTES_MAX,
    // Written when it is needed: the first figure that is written so costs 20 ms of every start.
    {
      error: () =>
        `must take at most ${MEMORY_METADATA_JSON_BYTES_MAX.toLocaleString("en-US")} bytes as JSON`,
    },
  )
  .meta({ type: "object", description: "Free JSON object" })

const onlySector = sector.describe("Only of this sector").optional()

export const createInput = {
  content,
  sector: sector.describe("Default: as its words suggest").optional(),
  tags: tags.describe("For filtering").optional(),
  source: source.optional(),
  metadata: metadata.optional(),
}

export const changeInput = {
  content: content.optional(),
  tags: tags.describe("Take the place of all it had").optional(),
  source: source.optional(),
  metadata: metadata.optional(),
}

/** A change over HTTP, where null takes away what a field held. */
export const clearingInput = {
  content: content.nullable().optional(),
  tags: changeInput.tags.unwrap().nullable().optional(),
  source: source.nullable().optional(),
  metadata: metadata.nullable().optional(),
}

export const searchInput = {
  query: text(MEMORY_QUERY_CHARS_MAX, "A question or words"),
  limit: limit(MEMORY_SEARCH_LIMIT_DEFAULT, MEMORY_SEARCH_LIMIT_MAX),
  sector: onlySector,
  tags: tags.describe("Only with all of these").optional(),
  min_salience: fraction.describe("Only what has at least this salience now").optional(),
  expand_waypoints: z.boolean().default(true).describe("Whether to add what the best are connected with"),
  max_hops: z
    .int()
    .min(0)
    .max(MEMORY_HOPS_MAX)
    .default(MEMORY_HOPS_DEFAULT)
    .describe("Most waypoints in a row"),
}

/** Which memories a listing or an export takes. */
export const filterInput = {
  sector: onlySector,
  tag: tag.describe("Only with this tag").optional(),
}

export const listInput = {
  limit: limit(MEMORY_PAGE_DEFAULT, MEMORY_PAGE_MAX),
  cursor: z.string().min(1).optional().describe("next_cursor or prev_cursor of another page"),
  ...filterInput,
}

export const waypointsInput = {
  limit: limit(WAYPOINTS_LIMIT_DEFAULT, WAYPOINTS_LIMIT_MAX),
  min_weight: fraction.default(WAYPOINT_WEIGHT_DEFAULT).describe("Only connections of at least this weight"),
}

export const reinforceInput = {
  profile: z.enum(REINFORCE_PROFILES).default(REINFORCE_PROFILE_DEFAULT).describe("How much"),
}

export const pruneInput = {
  threshold: fraction.describe("What is below is pruned").default(PRUNE_THRESHOLD_DEFAULT),
  sector: onlySector,
  dry_run: z.boolean().default(false).describe("Only count"),
}
