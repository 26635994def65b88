/** What a search of documentation returns, the same for MCP, HTTP and the command line. */

import * as z from "zod"
import { PASSAGE_CHARS_MAX } from "../../config/limits.ts"

const passageShape = z.object({
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

export const answerShape = z.object({
  results: z.array(passageShape),
  meta: z.object({
    total: z.int().min(0).describe("Matches before the limit"),
    query_time_ms: z.int().min(0),
    cached: z.boolean().describe("Whether the same was asked of the same documentation before"),
    notes: z.array(z.string()).optional().describe("What is not searched yet, where anything is not"),
  }),
})
type AnswerJson = z.output<typeof answerShape>

/** A passage as texts show it: under its headings, with a score that is not rounded yet. */
export type FoundPassage = z.output<typeof passageShape> & { headings: readonly string[] }

export type DocumentationAnswer = Omit<AnswerJson, "results"> & { results: FoundPassage[] }

/** Returns an answer as JSON shows it, with scores of four decimals. */
export function answerJson({ results, meta }: DocumentationAnswer): AnswerJson {
  return {
    results: results.map(({ headings: _, ...passage }) => ({
      ...passage,
      score: Number(passage.score.toFixed(4)),
    })),
    meta,
  }
}
