/** How much of each mail of a long thread is looked at, so that no thread takes longer than a moment. */

import { SUMMARY_WORK_MAX } from "../../config/limits.ts"
import type { ThreadMessage } from "./statement.ts"

/** What reading a mark that may end a line or a sentence costs, in characters. */
const MARK_COST = 30
const RARE_MARKS = new Set([..."…。！？"].map((mark) => mark.charCodeAt(0)))

/**
 * Returns the mails as they are looked at: whole where a thread fits, else the opening of the longest, all to the same
 * measure, and how many are whole. A character costs 1, and 30 more where a line or a sentence may end.
 */
export function lookedAt(messages: readonly ThreadMessage[], workMax = SUMMARY_WORK_MAX) {
  const costs = messages.map(({ body }) => read(body, Number.POSITIVE_INFINITY).cost)
  const share = shareOf(costs, workMax)
  const isWhole = costs.map((cost) => cost <= share)
  return {
    messages: messages.map((message, at) =>
      isWhole[at] ? message : { ...message, body: read(message.body, share).opening },
    ),
    wholeCount: isWhole.filter(Boolean).length,
  }
}

/** The most that each may cost so that all together cost no more than `total`. */
function shareOf(costs: readonly number[], total: number): number {
  let left = total
  for (const [at, cost] of costs.toSorted((a, b) => a - b).entries()) {
    const share = left / (costs.length - at)
    if (cost > share) return share
    left -= cost
  }
  return Number.POSITIVE_INFINITY
}

/** Reads a text until it costs more than `costMax`; its opening ends where a line or a sentence may end, if one does. */
function read(text: string, costMax: number): { cost: number; opening: string } {
  let cost = 0
  let end = 0
  for (let at = 0; at < text.length && cost <= costMax; at++) {
    const code = text.charCodeAt(at)
    // Line feed, `!`, `.` and `?`.
    const isMark =
      code < 64
        ? code === 10 || code === 33 || code === 46 || code === 63
        : code > 8000 && RARE_MARKS.has(code)
    cost += isMark ? MARK_COST + 1 : 1
    if (isMark && cost <= costMax) end = at + 1
  }
  return { cost, opening: text.slice(0, end || costMax) }
}
