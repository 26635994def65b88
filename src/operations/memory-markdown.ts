/** How memories read in results: facts a line each, and the content as a quote. */

import type { Memory } from "../domain/memory.ts"
import { salienceAt, shownSalience } from "../domain/salience.ts"
import { RESULT_CHARS_MAX } from "../limits.ts"
import { isoTime, lines, oneLine, quoted } from "./markdown.ts"
import type { TenantContext } from "./operation.ts"

/** Of a memory's content, where many are shown. */
const EXCERPT_CHARS_MAX = 400
/** A longer content is shown by its beginning even where whole ones are wanted: it would hide all after it. */
const FULL_CHARS_MAX = 10_000

/** Returns what is to be known of a memory before its content. */
export function memoryHead(memory: Memory, { app, nowMs }: TenantContext): string {
  const salience = salienceAt(memory.salience, memory.sector, app.config.halfLives, nowMs)
  return lines(
    `Memory id: ${memory.uuid}`,
    `Sector: ${memory.sector}, salience ${shownSalience(salience)}`,
    `Created: ${isoTime(memory.createdAtMs)}`,
    memory.tags.length === 0 ? null : `Tags: ${memory.tags.map(oneLine).join(", ")}`,
  )
}

/** Returns a memory as one of many: by the beginning of its content, or whole if that is wanted and it is not too long. */
export function memoryEntry(
  title: string,
  memory: Memory,
  context: TenantContext,
  isFull: boolean,
  ...more: (string | null)[]
): string {
  return lines(
    `### ${title}`,
    memoryHead(memory, context),
    ...more,
    "",
    quoted(isFull && memory.content.length <= FULL_CHARS_MAX ? memory.content : excerptOf(memory.content)),
  )
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
  let room = RESULT_CHARS_MAX - RESERVE_CHARS - charsTaken
  for (const character of characters.slice(offset)) {
    // Each line gets a mark in front.
    room -= /[\n\r\u2028\u2029]/u.test(character) ? 3 : character.length
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

/** Of a value as JSON: the largest metadata fits, unless it needs many escapes. */
const JSON_CHARS_MAX = 18_000

/** Returns a value as JSON on one line, whatever counts as the end of one; one that takes too much is cut. */
export function jsonLine(value: unknown): string {
  const json = JSON.stringify(value).replace(
    /[\u0085\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  )
  if (json.length <= JSON_CHARS_MAX) return json
  return `${json.slice(0, JSON_CHARS_MAX)}… (cut; \`signalbox memory get\` shows the rest)`
}

function excerptOf(content: string): string {
  const characters = [...content]
  const left = characters.length - EXCERPT_CHARS_MAX
  if (left <= 0) return content
  return `${characters.slice(0, EXCERPT_CHARS_MAX).join("")}… (${left} more characters)`
}
