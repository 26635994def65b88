/** Documentation search over HTTP. */

import * as z from "zod"
import { hasDocumentationScope } from "../domain/api-key.ts"
import { DOCUMENTATION_LIMIT_DEFAULT, PASSAGE_CHARS_MAX } from "../limits.ts"
import { forbidden } from "../operations/admission.ts"
import {
  branchName,
  documentationLimit,
  documentationQuery,
  namedRepository,
} from "../operations/documentation-fields.ts"
import { documentationJson } from "../operations/documentation-json.ts"
import { searchDocumentation } from "../operations/documentation-search.ts"
import { type AnyRoute, defineRoute } from "./route.ts"

/** An answer as the OpenAPI document shows it. */
const EXAMPLE = {
  results: [
    {
      content: "## Rate limits\n\nA key of plan starter has 60 requests a minute.",
      file: "docs/limits.md",
      repository: "billing",
      branch: "main",
      url: "https://github.com/example/billing/blob/4f2a9c7d10b3e58f6a1c2d3e4f5061728394a5b6/docs/limits.md?plain=1#L12-L14",
      score: 0.9312,
      last_updated: "2026-03-09T16:20:00.000Z",
      line_start: 12,
      line_end: 14,
    },
  ],
  meta: { total: 17, query_time_ms: 9, cached: false },
}

const resultShape = z.object({
  content: z.string().describe(`The passage that answers best, at most ${PASSAGE_CHARS_MAX} characters`),
  file: z.string().describe("Path from the repository's root"),
  repository: z.string().describe("Its name"),
  branch: z.string(),
  url: z.string().describe("Link to those lines at that commit on the code host, else to the file"),
  score: z.number().min(0).max(1).describe("Higher is better; comparable between queries"),
  last_updated: z.iso.datetime().describe("When the file last changed on that branch"),
  line_start: z.int().min(1).describe("First line of the passage in the file"),
  line_end: z.int().min(1).describe("Its last line"),
})

const search = defineRoute({
  method: "POST",
  path: "/api/v1/documentation/search",
  api: "documentation",
  summary: "Find passages in the documentation of connected repositories",
  description:
    "Branches that have moved are brought up to date first, as far as that takes a moment; `meta.notes` says what is not searched yet.",
  isLimited: true,
  body: z.object({
    query: documentationQuery().meta({ examples: ["how are requests limited?"] }),
    repository: namedRepository("Id or name; default: all that the key permits", {
      type: ["string", "integer"],
    }).optional(),
    branch: branchName("Default: each repository's default branch")
      .meta({ examples: ["main"] })
      .optional(),
    limit: documentationLimit(DOCUMENTATION_LIMIT_DEFAULT).meta({ examples: [5] }),
  }),
  responses: {
    200: {
      description: "What was found, the best first",
      schema: z
        .object({
          results: z.array(resultShape),
          meta: z.object({
            total: z.int().min(0).describe("Matches before the limit"),
            query_time_ms: z.int().min(0),
            cached: z.boolean().describe("Whether the same was asked of the same documentation before"),
            notes: z.array(z.string()).optional().describe("What is not searched yet, where anything is not"),
          }),
        })
        .meta({ examples: [EXAMPLE] }),
    },
    404: {
      description:
        "The repository does not exist, or has no such branch; the message names those that are known.",
      schema: z
        .object({
          error: z.literal("Not found"),
          message: z.string(),
          field: z.enum(["repository", "branch"]),
        })
        .meta({
          examples: [
            {
              error: "Not found",
              message: 'branch "mian" was not found; known are: main, release/2.x.',
              field: "branch",
            },
          ],
        }),
    },
  },
  async run(context, { body }) {
    const startedMs = performance.now()
    if (!hasDocumentationScope(context.key.scopes)) throw forbidden("repo:{repository_id}:documentation")
    const answer = await searchDocumentation(context, body)
    return { status: 200, body: documentationJson(answer, performance.now() - startedMs) }
  },
})

/** The routes of the documentation API. */
export const documentationRoutes: readonly AnyRoute[] = [search]
