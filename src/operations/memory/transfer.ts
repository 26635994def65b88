/**
 * Taking the memories of a repository out into a file and in again. What is in is in: an import that is stopped
 * goes on when it is started again, because lines that are there already are passed over.
 */

import { createHash } from "node:crypto"
import { setImmediate } from "node:timers/promises"
import { IMPORT_NOTES_KEPT_MAX, MEMORY_LINE_BYTES_MAX } from "../../config/limits.ts"
import type { Queries } from "../../db/database.ts"
import type { Memory } from "../../domain/memory/memory.ts"
import { invalid } from "../../errors.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { findMemory, isUuidTaken, listNewer, type PageFilter } from "../../store/memory/memories.ts"
import { type Embedded, embedAtOnce, loadActiveModel, storeOrPostpone } from "../embedding/memories.ts"
import type { Input } from "../input.ts"
import type { TenantContext } from "../operation.ts"
import { recordMemoryEvent } from "./events.ts"
import type { filterInput } from "./inputs.ts"
import {
  type ByteLine,
  differencesOf,
  type LineProblem,
  type MemoryRecord,
  memoryLine,
  readMemoryLine,
  splitLines,
} from "./lines.ts"
import { eraseMemory, lockOf, putMemory } from "./memories.ts"

/** Memories that are read together: with the longest contents some megabytes. */
const PAGE = 100
/** Memories that are stored in one transaction: others have to write, too. */
const STORED_AT_ONCE = 100
/** Long contents have many windows, and no other process may write while they are stored. */
const STORED_CHARS_MAX = 100_000

/** A page of an export: whole lines. */
export interface ExportPage {
  text: string
  memories: number
}

/**
 * Gives the memories of a repository as lines, page by page, the oldest first, so that an import stores them in
 * the order of their creation. What is written meanwhile may be in or not.
 */
export async function* exportMemories(
  { app, repository }: TenantContext,
  { sector, tag }: Input<typeof filterInput>,
): AsyncGenerator<ExportPage> {
  const filter: PageFilter = { repositoryId: repository.id, sector: sector ?? null, tag: tag ?? null }
  for (let place = { createdAtMs: Number.MIN_SAFE_INTEGER, id: 0 }; ; ) {
    const memories = await listNewer(app.db, filter, place, PAGE)
    const last = memories.at(-1)
    if (last === undefined) return
    yield { text: memories.map(memoryLine).join(""), memories: memories.length }
    place = { createdAtMs: last.createdAtMs, id: last.id }
  }
}

/** How far an import is: lines that are dealt with, and bytes of the file that are read for good. */
interface ImportProgress {
  lines: number
  bytes: number
}

export interface ImportOptions {
  /** Lines take the place of memories that have their id and differ. */
  replaces: boolean
  /** Only looks what would happen; lines of the same file are not compared with each other. */
  dryRun: boolean
  /** Ends the import after what is in work. */
  signal?: AbortSignal | undefined
  onProgress?: ((progress: ImportProgress) => void) | undefined
}

/**
 * What is to be said of a line: it is no memory (`bad`), there is another memory of that id (`differs`), or the
 * id is another repository's and the memory has got a new one (`renamed`).
 */
export interface ImportNote extends LineProblem {
  kind: "bad" | "differs" | "renamed"
  /** From 1. */
  line: number
  /** The id in the line, where one could be read. */
  id: string | null
}

/** What became of the lines; every line counts in just one of added, replaced, skipped, differing and bad. */
export interface ImportOutcome {
  lines: number
  added: number
  replaced: number
  /** They were there already, the same. */
  skipped: number
  /** Of the skipped: they were read, reinforced or changed and changed back since the file was written. */
  usedSince: number
  /** They were there and differ; they were left alone. */
  differing: number
  bad: number
  /** Of the added, replaced and skipped: they have another id here than in the file. */
  renamed: number
  /** The first ones of each kind. */
  notes: ImportNote[]
  /** The signal came before the end. */
  isStopped: boolean
}

/**
 * Stores the memories of a file that `exportMemories` has written, with their ids, times and saliences; words,
 * vectors and waypoints are made as for new memories. Of a bad line nothing is stored, and the others are.
 * An id that another repository has gets a new one, the same every time. Fails with `invalid` for a file that is
 * no UTF-8 at all.
 */
export async function importMemories(
  context: TenantContext,
  chunks: AsyncIterable<Uint8Array>,
  options: ImportOptions,
): Promise<ImportOutcome> {
  const run = new ImportRun(context, options)
  // A model that needs time is waited for once, not passed by a thousand times.
  if (!options.dryRun) await loadActiveModel(context.app)
  try {
    for await (const line of splitLines(chunks, MEMORY_LINE_BYTES_MAX)) {
      await run.take(line)
      if (options.signal?.aborted === true) break
    }
  } catch (error) {
    if (options.signal?.aborted !== true) throw error
  }
  return run.end()
}

interface PlacedLine {
  line: number
  /** Bytes of the file up to its end. */
  bytesRead: number
  record: MemoryRecord
}

/** Where a line belongs: the id that it has here, and the memory that is there. */
interface Target {
  uuid: string
  stored: Memory | undefined
}

type Verdict = "added" | "replaced" | "skipped" | "usedSince" | "differing"

/** One import at work. */
class ImportRun {
  readonly #context: TenantContext
  readonly #options: ImportOptions
  readonly #outcome: ImportOutcome = {
    lines: 0,
    added: 0,
    replaced: 0,
    skipped: 0,
    usedSince: 0,
    differing: 0,
    bad: 0,
    renamed: 0,
    notes: [],
    isStopped: false,
  }
  #batch: PlacedLine[] = []

  constructor(context: TenantContext, options: ImportOptions) {
    this.#context = context
    this.#options = options
  }

  /** Takes the next line; now and then all that were taken are stored. */
  async take({ number: line, bytes, bytesRead }: ByteLine): Promise<void> {
    if (line === 1 && bytes !== null) requireUtf8(bytes)
    const text = bytes === null ? null : decoded(bytes)
    if (text?.trim() === "") return
    this.#outcome.lines += 1
    const read = text === null ? { problem: unreadable(bytes) } : readMemoryLine(text)
    if ("problem" in read) {
      this.#outcome.bad += 1
      this.#note({ kind: "bad", line, id: idIn(text), ...read.problem }, this.#outcome.bad)
    } else this.#batch.push({ line, bytesRead, record: read.record })
    const charsTaken = this.#batch.reduce((sum, { record }) => sum + record.content.length, 0)
    if (this.#batch.length >= STORED_AT_ONCE || charsTaken >= STORED_CHARS_MAX) await this.#settle()
  }

  /** Stores what is left; after the signal that is let be. */
  async end(): Promise<ImportOutcome> {
    const outcome = this.#outcome
    if (!this.#isStopped()) await this.#settle()
    outcome.isStopped = this.#isStopped()
    // Lines that were read and not dealt with come again with the next import.
    outcome.lines -= this.#batch.length
    return outcome
  }

  #isStopped(): boolean {
    return this.#options.signal?.aborted === true
  }

  async #settle(): Promise<void> {
    const { app, repository } = this.#context
    const batch = this.#batch
    const wanting: (PlacedLine & { embedded: Embedded | undefined })[] = []
    let done = 0
    for (const one of batch) {
      const target = await findTarget(app.db, repository.id, one.record)
      const verdict = this.#verdictOf(one, target)
      if (this.#options.dryRun || !isStoring(verdict)) this.#count(one, target, verdict)
      else if (!this.#isStopped()) {
        // All of this may be done without a pause, and a signal is heard in a pause only.
        await setImmediate()
        const embedded = await embedAtOnce(app, repository.id, one.record.content)
        wanting.push({ ...one, embedded })
      } else break
      done += 1
      this.#tell(one)
    }
    this.#batch = batch.slice(done)
    await this.#store(wanting)
    const last = batch[done - 1]
    if (last !== undefined) this.#tell(last)
  }

  #tell({ bytesRead }: PlacedLine): void {
    const { added, replaced, skipped, differing, bad } = this.#outcome
    this.#options.onProgress?.({ lines: added + replaced + skipped + differing + bad, bytes: bytesRead })
  }

  /** Stores lines in one transaction, after a second look: others may have written meanwhile. */
  async #store(wanting: readonly (PlacedLine & { embedded: Embedded | undefined })[]): Promise<void> {
    const { app, repository } = this.#context
    if (wanting.length === 0) return
    const done = await app.db.transaction(lockOf(repository.id), async (tx) => {
      const nowMs = app.now()
      const settled: [PlacedLine, Target, Verdict][] = []
      for (const { embedded, ...one } of wanting) {
        const target = await findTarget(tx, repository.id, one.record)
        const verdict = this.#verdictOf(one, target)
        settled.push([one, target, verdict])
        if (!isStoring(verdict)) continue
        if (target.stored !== undefined) await eraseMemory(tx, app, target.stored)
        const memory = { ...one.record, uuid: target.uuid, repositoryId: repository.id }
        const id = await putMemory(tx, app, memory)
        const kind = target.stored === undefined ? "memory.created" : "memory.updated"
        await recordMemoryEvent(tx, this.#context, kind, memory, nowMs)
        await storeOrPostpone(tx, app, { id, repositoryId: repository.id }, embedded, nowMs)
      }
      return settled
    })
    for (const settled of done) this.#count(...settled)
  }

  #verdictOf({ record }: PlacedLine, { stored }: Target): Verdict {
    if (stored === undefined) return "added"
    const { written, ofUse } = differencesOf(stored, record)
    if (written.length + ofUse.length === 0) return "skipped"
    if (this.#options.replaces) return "replaced"
    return written.length > 0 ? "differing" : "usedSince"
  }

  #count({ line, record }: PlacedLine, { uuid, stored }: Target, verdict: Verdict): void {
    const outcome = this.#outcome
    outcome[verdict] += 1
    if (verdict === "usedSince") outcome.skipped += 1
    if (verdict === "differing" && stored !== undefined) {
      const { written } = differencesOf(stored, record)
      const text = `differs from the memory ${uuid} in ${written.join(", ")}; that was left alone`
      const note = { kind: "differs", line, id: record.uuid, field: written[0] ?? null, text } as const
      this.#note(note, outcome.differing)
    } else if (uuid !== record.uuid) {
      outcome.renamed += 1
      const text = `${record.uuid} is the id of a memory of another repository; here it is ${uuid}`
      this.#note({ kind: "renamed", line, id: record.uuid, field: "id", text }, outcome.renamed)
    }
  }

  /** `number` counts the notes of this kind, this one included. */
  #note(note: ImportNote, number: number): void {
    if (number <= IMPORT_NOTES_KEPT_MAX) this.#outcome.notes.push(note)
  }
}

function isStoring(verdict: Verdict): boolean {
  return verdict === "added" || verdict === "replaced"
}

/**
 * Returns where a memory belongs in a repository. What another repository has under its id is never looked at;
 * the id that it gets instead comes from both, so that importing again finds it.
 */
async function findTarget(db: Queries, repositoryId: number, { uuid }: MemoryRecord): Promise<Target> {
  const own = await findMemory(db, repositoryId, uuid)
  if (own !== undefined) return { uuid, stored: own }
  const isTaken = await isUuidTaken(db, uuid)
  for (let other = idFrom(uuid, repositoryId); ; other = idFrom(other, repositoryId)) {
    const stored = await findMemory(db, repositoryId, other)
    if (stored !== undefined) return { uuid: other, stored }
    if (!isTaken) return { uuid, stored: undefined }
    if (!(await isUuidTaken(db, other))) return { uuid: other, stored: undefined }
  }
}

/** Returns a UUID of version 5 (RFC 9562, section 5.5), the same for the same id and repository. */
export function idFrom(uuid: string, repositoryId: number): string {
  const bytes = createHash("sha1")
    .update(Buffer.from(uuid.replaceAll("-", ""), "hex"))
    .update(`repository ${repositoryId}`)
    .digest()
    .subarray(0, 16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
}

const UTF_8 = new TextDecoder("utf-8", { fatal: true })

/** Returns a line as text, without a byte-order mark; null when it is no UTF-8. */
function decoded(bytes: Uint8Array): string | null {
  try {
    return UTF_8.decode(bytes)
  } catch {
    return null
  }
}

function unreadable(bytes: Uint8Array | null): LineProblem {
  if (bytes !== null) return { field: null, text: "is not valid UTF-8" }
  const figure = MEMORY_LINE_BYTES_MAX.toLocaleString("en-US")
  return { field: null, text: `must have at most ${figure} bytes` }
}

/** Every line of such a file would be bad, and none would say why. */
function requireUtf8([first, second]: Uint8Array): void {
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
  if (!isUtf16) return
  throw invalid(
    "file",
    "must be UTF-8, and is UTF-16",
    `Older PowerShells write that with \`>\`: name the file instead, ${ownCommand()} memory export <file>.`,
  )
}

/** Returns the id in a line that is bad for another reason, if it has one. */
function idIn(text: string | null): string | null {
  return /"id"\s*:\s*"([0-9A-Fa-f-]{36})"/.exec(text ?? "")?.[1]?.toLowerCase() ?? null
}
