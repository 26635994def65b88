/**
 * What the operations on documentation take: every field with its bounds, declared once for MCP, HTTP and the command
 * line. Tools only say more briefly what a field is.
 */

import * as z from "zod"
import {
  BRANCHES_MAX,
  DOCUMENTATION_LIMIT_DEFAULT,
  DOCUMENTATION_LIMIT_MAX,
  DOCUMENTATION_QUERY_CHARS_MAX,
  PATH_CHARS_MAX,
  REPOSITORY_NAME_CHARS_MAX,
} from "../../config/limits.ts"
import { limit, text } from "../fields.ts"

/**
 * A repository by its id or its name. A number is taken too, whatever the schema says: many clients send an id as
 * one. `shown` is what the schema says besides or instead; JSON Schema knows nothing of what comes before a
 * transformation.
 */
export const namedRepository = (description: string, shown: Record<string, unknown> = {}) =>
  z
    .preprocess(
      (value) => (typeof value === "number" ? String(value) : value),
      text(REPOSITORY_NAME_CHARS_MAX, description),
    )
    .meta({ type: "string", minLength: 1, maxLength: REPOSITORY_NAME_CHARS_MAX, description, ...shown })

export const branchName = (description: string) => text(REPOSITORY_NAME_CHARS_MAX, description)

export const searchInput = {
  query: text(DOCUMENTATION_QUERY_CHARS_MAX, "A question or words"),
  repository: namedRepository("Id or name; default: all that the key permits", {
    type: ["string", "integer"],
  }).optional(),
  branch: branchName("Default: each repository's default branch").optional(),
  limit: limit(DOCUMENTATION_LIMIT_DEFAULT, DOCUMENTATION_LIMIT_MAX),
}

export const connectInput = {
  path_or_url: text(PATH_CHARS_MAX, "Absolute path of a folder, or git URL"),
  /** One that nobody takes for an id. */
  name: text(REPOSITORY_NAME_CHARS_MAX, "Default: the folder's name")
    .refine((value) => !/\p{Cc}/u.test(value), "must not contain control characters")
    .refine((value) => !/^\d+$/.test(value), "must not be a number, which names an id")
    .optional(),
  branches: z
    .array(branchName(""))
    .max(BRANCHES_MAX)
    .describe("Searched besides the default branch")
    .optional(),
}
