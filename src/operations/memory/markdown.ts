/** How memories read in results: facts a line each, and the content as a quote. */

import {
  MEMORY_EXCERPT_CHARS_MAX,
  MEMORY_JSON_SHOWN_CHARS_MAX,
  MEMORY_SHOWN_CHARS_MAX,
  RESULT_CHARS_MAX,
} from "../../config/limits.ts"
import { oneLine, quoted, quoteMark } from "../../domain/foreign-text/markdown.ts"
import { visibleJson } from "../../domain/foreign-text/visible.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { lines } from "../markdown.ts"
import type { MemoryJson } from "./results.ts"

/** Returns what is to be known of a memory before its content. */
export function memoryHead({ id, sector, salience, created_at: created, tags }: MemoryJson): string {
  return lines(
    `Memory id: ${id}`,
    `Sector: ${sector}, salience ${salience}`,
    `Created: ${created}`,
    tags.length === 0 ? null : `Tags: ${tags.map(oneLine).join(", ")}`,
  )
}

/** Returns a memory as one of many: by the beginning of its content, or whole if that is wanted and it is not too long. */
export function memoryEntry(
  title: string,
  memory: MemoryJson,
  isFull: boolean,
  ...more: (string | null)[]
): string {
  const { content } = memory
  const text = isFull && content.length <= MEMORY_SHOWN_CHARS_MAX ? content : excerptOf(content)
  return lines(`### ${title}`, memoryHead(memory), ...more, "", quoted(text))
}

/** Returns a weight or a score as results show it. */
export function shownWeight(weight: number): string {
  return weight.toFixed(2)
}

/**
 * Returns a content from a character on, as a quote, as much as fits beside what else there is of the memory, and
 * how to get the rest.
 */
export function contentFrom(content: string, offset: number, charsTaken: number): string {
  const characters = [...content]
  const part: string[] = []
  // Each line gets a mark in front.
  const mark = quoteMark(content)
  let room = RESULT_CHARS_MAX - RESERVE_CHARS - charsTaken
  for (const character of characters.slice(offset)) {
    room -= /[\n\r\u0085\u2028\u2029]/u.test(character) ? 1 + mark.length : character.length
    if (room < 0) break
    part.push(character)
  }
  const next = offset + part.length
  const left = characters.length - next
  return lines(
    offset === 0 ? null : `Content from character ${offset}:`,
    quoted(part.join("")),
    left <= 0 ? null : `\n${left} more characters: call get-memory with offset ${next}.`,
  )
}

/** For the lines around a part of a content. */
const RESERVE_CHARS = 500

/** Returns a value as JSON on one line, whatever counts as the end of one; one that takes too much is cut. */
export function jsonLine(value: unknown): string {
  const json = visibleJson(value)
  if (json.length <= MEMORY_JSON_SHOWN_CHARS_MAX) return oneLine(json)
  return `${oneLine(json.slice(0, MEMORY_JSON_SHOWN_CHARS_MAX))}… (cut; \`${ownCommand()} memory get\` shows the rest)`
}

function excerptOf(content: string): string {
  const characters = [...content]
  const left = characters.length - MEMORY_EXCERPT_CHARS_MAX
  if (left <= 0) return content
  return `${characters.slice(0, MEMORY_EXCERPT_CHARS_MAX).join("")}… (${left} more characters)`
}
