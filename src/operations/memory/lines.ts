/**
 * Exported memories: JSON Lines, one memory a line, with everything that is stored of it but what can be made
 * anew (words, vectors, waypoints). A line that was written reads back as the same memory.
 */

import * as z from "zod"
import { IMPORT_RULES_SHOWN_MAX, JSON_DEPTH_MAX, STABILITY_MAX } from "../../config/limits.ts"
import { visibleJson } from "../../domain/foreign-text/visible.ts"
import { isDeeper } from "../../domain/json-depth.ts"
import type { Memory } from "../../domain/memory/memory.ts"
import { time } from "../fields.ts"
import { describeIssue } from "../input.ts"
import { isoTime } from "../markdown.ts"
import { content, fraction, memoryId, metadata, sector, source, tags } from "./inputs.ts"

/** What of a memory does not depend on the database it is in. */
export type MemoryRecord = Omit<Memory, "id" | "repositoryId" | "contentVersion" | "embeddingStatus">

const salienceShape = z.strictObject({
  base: fraction,
  anchor: time(""),
  stability: z.number().min(1).max(STABILITY_MAX),
})

const lineShape = z.strictObject({
  id: memoryId,
  content: content,
  sector: sector,
  salience: salienceShape,
  access_count: z.int().min(0),
  tags: tags,
  source: source.nullable(),
  metadata: metadata,
  created_at: time(""),
  updated_at: time(""),
  last_accessed_at: time("").nullable(),
})

/** Returns a memory as one line with its end. Times are ISO 8601 with milliseconds; `anchor` is when `base` held. */
export function memoryLine(memory: MemoryRecord): string {
  const { base, anchorMs, stability } = memory.salience
  const line: z.input<typeof lineShape> = {
    id: memory.uuid,
    content: memory.content,
    sector: memory.sector,
    salience: { base, anchor: isoTime(anchorMs), stability },
    access_count: memory.accessCount,
    tags: memory.tags,
    source: memory.source,
    metadata: memory.metadata,
    created_at: isoTime(memory.createdAtMs),
    updated_at: isoTime(memory.updatedAtMs),
    last_accessed_at: memory.lastAccessedAtMs === null ? null : isoTime(memory.lastAccessedAtMs),
  }
  return `${visibleJson(line)}\n`
}

/** Why a line is no memory: each rule that it breaks, and the first field that does, if it is about one. */
export interface LineProblem {
  field: string | null
  text: string
}

/** Reads a line; a problem says in words what is wrong with it. All fields are needed, and no others are taken. */
export function readMemoryLine(line: string): { record: MemoryRecord } | { problem: LineProblem } {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return { problem: { field: null, text: "is not valid JSON" } }
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { problem: { field: null, text: "must be a JSON object" } }
  if (isDeeper(value, JSON_DEPTH_MAX))
    return { problem: { field: null, text: `must be nested at most ${JSON_DEPTH_MAX} levels deep` } }
  const parsed = lineShape.safeParse(value)
  if (!parsed.success) return { problem: problemOf(parsed.error.issues, value) }
  const { salience, ...rest } = parsed.data
  return {
    record: {
      uuid: rest.id.toLowerCase(),
      content: rest.content,
      sector: rest.sector,
      salience: { base: salience.base, anchorMs: salience.anchor, stability: salience.stability },
      accessCount: rest.access_count,
      tags: rest.tags,
      source: rest.source,
      metadata: rest.metadata,
      createdAtMs: rest.created_at,
      updatedAtMs: rest.updated_at,
      lastAccessedAtMs: rest.last_accessed_at,
    },
  }
}

function problemOf(issues: readonly z.core.$ZodIssue[], value: object): LineProblem {
  const rules = issues
    .slice(0, IMPORT_RULES_SHOWN_MAX)
    .map((issue) => describeIssue(issue, knownAt(issue.path), value))
  const left = issues.length - rules.length
  const [first] = issues
  const unknown = first?.code === "unrecognized_keys" ? first.keys.slice(0, 1) : []
  const path = [...(first?.path ?? []), ...unknown]
  return {
    field: path.length === 0 ? null : path.join("."),
    text: [...rules, ...(left > 0 ? [`${left} more`] : [])].join("; "),
  }
}

function knownAt(path: readonly PropertyKey[]): string[] {
  return Object.keys(path[0] === "salience" ? salienceShape.shape : lineShape.shape)
}

/** A line of a file as bytes; `bytes` is null when it is longer than it may be, and not kept. */
export interface ByteLine {
  /** From 1. */
  number: number
  bytes: Uint8Array | null
  /** Bytes of the file up to its end. */
  bytesRead: number
}

const NEW_LINE = 10

/** Splits what comes in chunks at the new lines; the last line needs none. Holds one line at a time. */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  lineBytesMax: number,
): AsyncGenerator<ByteLine> {
  let number = 0
  let bytesRead = 0
  let size = 0
  let parts: Uint8Array[] = []
  const add = (part: Uint8Array) => {
    size += part.length
    bytesRead += part.length
    if (size <= lineBytesMax) parts.push(part)
    else parts = []
  }
  const take = (): ByteLine => {
    const bytes = size > lineBytesMax ? null : parts.length === 1 ? (parts[0] ?? null) : Buffer.concat(parts)
    number += 1
    size = 0
    parts = []
    return { number, bytes, bytesRead }
  }
  for await (const chunk of chunks) {
    let from = 0
    for (let end = chunk.indexOf(NEW_LINE); end >= 0; end = chunk.indexOf(NEW_LINE, from)) {
      add(chunk.subarray(from, end))
      bytesRead += 1
      yield take()
      from = end + 1
    }
    if (from < chunk.length) add(chunk.subarray(from))
  }
  if (size > 0) yield take()
}

/** The fields of a memory that its author wrote, and those that its use changes, by the names they have in a line. */
const WRITTEN = ["content", "sector", "tags", "source", "metadata", "created_at"] as const
const OF_USE = ["salience", "access_count", "updated_at", "last_accessed_at"] as const

interface Differences {
  written: string[]
  ofUse: string[]
}

/** Returns the fields in which two memories differ; the order of keys in their metadata does not count. */
export function differencesOf(stored: MemoryRecord, other: MemoryRecord): Differences {
  const one = JSON.parse(memoryLine(stored)) as Record<string, unknown>
  const two = JSON.parse(memoryLine(other)) as Record<string, unknown>
  const differ = (name: string) => sorted(one[name]) !== sorted(two[name])
  return { written: WRITTEN.filter(differ), ofUse: OF_USE.filter(differ) }
}

/** Returns JSON with the keys of all objects in order. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([left], [right]) => (left < right ? -1 : 1)))
      : inner,
  )
}
