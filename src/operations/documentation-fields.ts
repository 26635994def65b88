/** The vocabulary of what users say about documentation: each kind is described and bounded once. */

import * as z from "zod"
import {
  BRANCHES_MAX,
  DOCUMENTATION_LIMIT_MAX,
  DOCUMENTATION_QUERY_CHARS_MAX,
  PATH_CHARS_MAX,
  REPOSITORY_NAME_CHARS_MAX,
} from "../limits.ts"
import { limit, text } from "./fields.ts"

export const documentationQuery = () => text(DOCUMENTATION_QUERY_CHARS_MAX, "A question or words")

export const documentationLimit = (defaultRows: number) => limit(defaultRows, DOCUMENTATION_LIMIT_MAX)

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

export const branchNames = (description: string) =>
  z.array(branchName("")).max(BRANCHES_MAX).describe(description)

/** The name that a repository is to have: one that nobody takes for an id. */
export const newRepositoryName = (description: string) =>
  text(REPOSITORY_NAME_CHARS_MAX, description)
    .refine((value) => !/\p{Cc}/u.test(value), "must not contain control characters")
    .refine((value) => !/^\d+$/.test(value), "must not be a number, which names an id")

export const pathOrUrl = (description: string) => text(PATH_CHARS_MAX, description)
