/** How much of each mail of a long thread is looked at, so that no thread takes longer than a moment. */

import { SUMMARY_WORK_MAX } from "../../config/limits.ts"
import type { ThreadMessage } from "./thread-message.ts"

/** What reading a mark that may end a line or a sentence costs, in characters. */
const MARK_COST = 30

/**
 * Returns the mails as they are looked at: whole where a thread fits, else the opening of the longest, all to the same
 * measure, and how many are whole. A character costs 1, and 30 more where a line or a sentence may end.
 */
export function lookedAt(
  messages: readonly ThreadMessage[],
  workMax = SUMMARY_WORK_MAX,
): { messages: readonly ThreadMessage[]; wholeCount: number } {
  const costs = messages.map(({ body }) => costOf(body))
  const share = shareOf(costs, workMax)
  const wholeCount = costs.filter((cost) => cost <= share).length
  if (wholeCount === messages.length) return { messages, wholeCount }
  return {
    messages: messages.map((message, at) =>
      (costs[at] ?? 0) <= share ? message : { ...message, body: openingOf(message.body, share) },
    ),
    wholeCount,
  }
}

/** The most that each may cost so that all together cost no more than `total`. */
function shareOf(costs: readonly number[], total: number): number {
  let left = total
  for (const [at, cost] of [...costs].sort((a, b) => a - b).entries()) {
    const share = left / (costs.length - at)
    if (cost > share) return share
    left -= cost
  }
  return Number.POSITIVE_INFINITY
}

function costOf(text: string): number {
  let cost = text.length
  for (let at = 0; at < text.length; at++) if (isMark(text.charCodeAt(at))) cost += MARK_COST
  return cost
}

/** The beginning of a text that costs no more than `costMax`, up to a place where a line or a sentence may end if there is one. */
function openingOf(text: string, costMax: number): string {
  let cost = 0
  let end = 0
  for (let at = 0; at < text.length; at++) {
    const isEnd = isMark(text.charCodeAt(at))
    cost += isEnd ? MARK_COST + 1 : 1
    if (cost > costMax) break
    if (isEnd) end = at + 1
  }
  return text.slice(0, end === 0 ? costMax : end)
}

/** Line feed, `!`, `.`, `?`, `…`, and the full stops of Chinese and Japanese. */
function isMark(code: number): boolean {
  return code === 10 || code === 33 || code === 46 || code === 63 || MARKS.has(code)
}

const MARKS: ReadonlySet<number> = new Set([..."…。！？"].map((mark) => mark.charCodeAt(0)))
