/** Documentation search over HTTP. */

import * as z from "zod"
import { searchInput } from "../../operations/documentation/inputs.ts"
import { answerJson, answerShape } from "../../operations/documentation/results.ts"
import { searchDocumentation } from "../../operations/documentation/search.ts"
import { type AnyRoute, defineRoute } from "../route.ts"

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

const search = defineRoute({
  method: "POST",
  path: "/api/v1/documentation/search",
  api: "documentation",
  summary: "Find passages in the documentation of connected repositories",
  description:
    "Branches that have moved are brought up to date first, as far as that takes a moment; `meta.notes` says what is not searched yet.",
  permission: "documentation",
  isLimited: true,
  body: z.object({
    ...searchInput,
    query: searchInput.query.meta({ examples: ["how are requests limited?"] }),
    branch: searchInput.branch
      .unwrap()
      .meta({ examples: ["main"] })
      .optional(),
    limit: searchInput.limit.meta({ examples: [5] }),
  }),
  responses: {
    200: {
      description: "What was found, the best first",
      schema: answerShape.meta({ examples: [EXAMPLE] }),
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
    return { status: 200, body: answerJson(await searchDocumentation(context, body)) }
  },
})

export const documentationRoutes: readonly AnyRoute[] = [search]
