/** How answers to searches of documentation read as JSON, over HTTP and on the command line alike. */

import type { DocumentationAnswer, DocumentationResult } from "./documentation-search.ts"
import { isoTime } from "./markdown.ts"

/** A result as everybody sees it; the score has four decimals, the time is ISO 8601 in UTC, lines count from 1. */
export interface DocumentationResultJson {
  content: string
  file: string
  repository: string
  branch: string
  url: string
  score: number
  last_updated: string
  line_start: number
  line_end: number
}

/** Returns what a search found; `searchMs` is how long it took. Notes are left out where there are none. */
export function documentationJson(
  { results, total, isCached, notes }: DocumentationAnswer,
  searchMs: number,
) {
  return {
    results: results.map(resultJson),
    meta: {
      total,
      query_time_ms: Math.round(searchMs),
      cached: isCached,
      ...(notes.length === 0 ? {} : { notes }),
    },
  }
}

function resultJson(result: DocumentationResult): DocumentationResultJson {
  return {
    content: result.content,
    file: result.file,
    repository: result.repository,
    branch: result.branch,
    url: result.url,
    score: Number(result.score.toFixed(4)),
    last_updated: isoTime(result.lastUpdatedMs),
    line_start: result.lineStart,
    line_end: result.lineEnd,
  }
}
