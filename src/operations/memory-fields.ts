/** The vocabulary of what users say about memories: each kind is described and bounded once. */

import * as z from "zod"
import { REINFORCE_PROFILE_DEFAULT, REINFORCE_PROFILES, SECTORS } from "../domain/memory.ts"
import {
  MEMORY_CONTENT_CHARS_MAX,
  MEMORY_HOPS_DEFAULT,
  MEMORY_HOPS_MAX,
  MEMORY_METADATA_JSON_BYTES_MAX,
  MEMORY_QUERY_CHARS_MAX,
  MEMORY_SOURCE_CHARS_MAX,
  MEMORY_TAG_CHARS_MAX,
  MEMORY_TAGS_MAX,
  PRUNE_THRESHOLD_DEFAULT,
} from "../limits.ts"
import { text } from "./fields.ts"

/** A text that the database gives back as it came: half a surrogate pair would not survive. */
const wellFormed = <Type extends z.ZodString>(type: Type) =>
  type.refine((value) => !/\p{Surrogate}/u.test(value), "must be well-formed Unicode")

export const sector = (description: string) => z.enum(SECTORS).describe(description)

export const memoryId = () => z.uuid("must be the id of a memory, a UUID").describe("Memory id")

export const content = (description = "What to remember") =>
  wellFormed(text(MEMORY_CONTENT_CHARS_MAX, description))

export const tag = (description: string) => wellFormed(text(MEMORY_TAG_CHARS_MAX, description))

export const tags = (description: string) => z.array(tag("")).max(MEMORY_TAGS_MAX).describe(description)

export const source = () =>
  wellFormed(
    z
      .string()
      .max(MEMORY_SOURCE_CHARS_MAX)
      .refine((value) => !value.includes("\0"), "must not contain NUL characters"),
  ).describe("Where it comes from")

/** A schema of objects would drop a key such as `__proto__`; this one hands everything through. */
export const metadata = () =>
  z
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

export const memoryQuery = () => text(MEMORY_QUERY_CHARS_MAX, "A question or words")

export const profile = () =>
  z.enum(REINFORCE_PROFILES).default(REINFORCE_PROFILE_DEFAULT).describe("How much")

/** A number from 0 to 1. */
export const fraction = (description: string) => z.number().min(0).max(1).describe(description)

export const maxHops = () =>
  z.int().min(0).max(MEMORY_HOPS_MAX).default(MEMORY_HOPS_DEFAULT).describe("Most waypoints in a row")

export const threshold = () => fraction("What is below is pruned").default(PRUNE_THRESHOLD_DEFAULT)
