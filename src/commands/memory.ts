/** `signalbox memory` on single memories: add, get, edit, reinforce, forget. */

import type { Config } from "../config.ts"
import type { Memory } from "../domain/memory.ts"
import { shownSalience } from "../domain/salience.ts"
import { AppError, invalid } from "../errors.ts"
import { activeModel } from "../operations/embedding.ts"
import { isoTime, lines } from "../operations/markdown.ts"
import {
  changeMemory,
  createMemory,
  deleteMemory,
  readMemory,
  reinforceMemory,
  requireMemory,
} from "../operations/memories.ts"
import {
  checkMemoryArguments,
  MEMORY_ARGUMENTS,
  memoryContext,
  readJsonArgument,
  requireMemoryId,
} from "../operations/memory-commands.ts"
import { memoryJson, reinforcedJson } from "../operations/memory-json.ts"
import type { TenantContext } from "../operations/operation.ts"
import { listWaypoints } from "../store/waypoints.ts"
import { contentOf, editorOf, editText, STDIN } from "./memory-input.ts"
import { memoryEntry, memoryWhole, shortId } from "./memory-text.ts"
import { bold, dim, green, type OutputOptions, printResult } from "./output.ts"
import { withApp } from "./with-app.ts"

/** From this weight on, a new memory says much the same as an older one. */
const ALIKE_WEIGHT_MIN = 0.9
const ALIKE_SHOWN_MAX = 3

/** What every command on memories takes. */
export interface MemoryOptions extends OutputOptions {
  /** Id or name; the repository around the working folder unless given. */
  repository?: string
}

/**
 * Waits for the model that embeds. Servers go on without it until it is ready, but a command has only this one
 * text; where the model cannot be loaded, it goes on as they do.
 */
export async function loadActiveModel({ app }: TenantContext): Promise<void> {
  await app.embedders.load(await activeModel(app.db)).catch(() => undefined)
}

/** Runs a command on the memories of the repository that is meant. */
export function withMemories<T>(
  config: Config,
  options: MemoryOptions,
  work: (context: TenantContext) => Promise<T>,
): Promise<T> {
  return withApp(config, async (app) => work(await memoryContext(app, options.repository)))
}

export interface AddOptions extends MemoryOptions {
  sector?: string
  tag?: string[]
  source?: string
  /** A JSON object. */
  metadata?: string
}

/** Stores a memory verbatim; `-`, or no words and a pipe, for a content from stdin. */
export async function addMemoryCommand(
  config: Config,
  words: readonly string[],
  options: AddOptions,
): Promise<void> {
  const draft = checkMemoryArguments(MEMORY_ARGUMENTS.create, {
    content: await contentOf(words),
    sector: options.sector,
    tags: options.tag,
    source: options.source,
    metadata: metadataOf(options),
  })
  await withMemories(config, options, async (context) => {
    await loadActiveModel(context)
    const { memory, sectorInferred } = await createMemory(context, draft)
    const { db } = context.app
    const model = await activeModel(db)
    const alike = await listWaypoints(db, memory.id, model.id, ALIKE_WEIGHT_MIN, ALIKE_SHOWN_MAX)
    printResult(options, { ...memoryJson(context, memory), sector_inferred: sectorInferred }, () =>
      lines(
        `${green("✓")} Remembered ${bold(shortId(memory.uuid))} as ${memory.sector}${sectorInferred ? dim(" (as its words suggest)") : ""}`,
        memory.embeddingStatus === "completed"
          ? null
          : dim("  Found by its words now, and by its meaning when a server has given it its vector."),
        ...alike.map((one) => dim(`  Much like ${shortId(one.memory.uuid)} (${one.weight.toFixed(2)})`)),
      ),
    )
  })
}

/** Shows a memory whole, which counts as an access. */
export function getMemoryCommand(config: Config, id: string, options: MemoryOptions): Promise<void> {
  return withMemories(config, options, async (context) => {
    const memory = memoryJson(context, await readMemory(context, await requireMemoryId(context, id)))
    printResult(options, memory, () => memoryWhole(memory))
  })
}

export interface EditOptions extends MemoryOptions {
  /** `-` for stdin. */
  content?: string
  /** Take the place of all that the memory has. */
  tag?: string[]
  /** False for no tags at all. */
  tags?: boolean
  source?: string
  metadata?: string
}

/**
 * Changes what is given of a memory; with nothing given and at a terminal, its content in the user's editor.
 * Fails with `conflict` when somebody else has changed the content meanwhile.
 */
export async function editMemoryCommand(config: Config, id: string, options: EditOptions): Promise<void> {
  if (options.tags === false && options.tag !== undefined)
    throw invalid("tags", "cannot be given and taken away at once", "Use --tag or --no-tags.")
  const change = checkMemoryArguments(MEMORY_ARGUMENTS.change, {
    content: options.content === STDIN ? await contentOf([STDIN]) : options.content,
    tags: options.tags === false ? [] : options.tag,
    source: options.source,
    metadata: metadataOf(options),
  })
  const isByHand = Object.values(change).every((value) => value === undefined)
  if (isByHand && !(process.stdin.isTTY && process.stdout.isTTY)) {
    throw invalid(
      "edit",
      "needs something to change",
      "Give --content, --tag, --no-tags, --source or --metadata; at a terminal your editor opens without them.",
    )
  }
  await withMemories(config, options, async (context) => {
    const uuid = await requireMemoryId(context, id)
    if (isByHand || change.content !== undefined) await loadActiveModel(context)
    const memory = isByHand ? await editByHand(context, uuid) : await changeMemory(context, uuid, change)
    printChanged(options, context, memory)
  })
}

/** Returns the memory as it is afterwards; undefined when the user left it as it was. */
async function editByHand(context: TenantContext, uuid: string): Promise<Memory | undefined> {
  const { db } = context.app
  const before = await requireMemory(db, context, uuid)
  const edited = await editText(before.content, editorOf(process.env))
  if (edited.text === before.content) {
    edited.discard()
    return undefined
  }
  try {
    const { content } = checkMemoryArguments(MEMORY_ARGUMENTS.change, { content: edited.text })
    if ((await requireMemory(db, context, uuid)).contentVersion !== before.contentVersion)
      throw new AppError("conflict", `the memory ${uuid} was changed by somebody else meanwhile`)
    const memory = await changeMemory(context, uuid, { content })
    edited.discard()
    return memory
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    // Nobody writes a text twice gladly.
    const hint = `Your text is kept in ${edited.path}; \`signalbox memory edit ${shortId(uuid)} --content - < ${edited.path}\` stores it.`
    throw new AppError(error.code, error.message, { ...extrasOf(error), hint })
  }
}

function extrasOf({ field }: AppError) {
  return field === undefined ? {} : { field }
}

function printChanged(options: MemoryOptions, context: TenantContext, memory: Memory | undefined): void {
  if (memory === undefined) {
    printResult({}, null, () => "Nothing was changed.")
    return
  }
  printResult(options, memoryJson(context, memory), () =>
    lines(
      `${green("✓")} Changed ${bold(shortId(memory.uuid))} ${dim(`(${isoTime(memory.updatedAtMs)})`)}`,
      memoryEntry(context, memory, { isFull: false }),
    ),
  )
}

export interface ReinforceOptions extends MemoryOptions {
  profile?: string
}

/** Raises a memory's salience. */
export function reinforceMemoryCommand(config: Config, id: string, options: ReinforceOptions): Promise<void> {
  const { profile } = checkMemoryArguments(MEMORY_ARGUMENTS.reinforce, { profile: options.profile })
  return withMemories(config, options, async (context) => {
    const done = await reinforceMemory(context, await requireMemoryId(context, id), profile)
    printResult(options, reinforcedJson(done, profile), () => {
      const [before, after] = [shownSalience(done.before), shownSalience(done.after)]
      return `${green("✓")} Reinforced ${bold(shortId(done.memory.uuid))}: salience ${before} -> ${after} ${dim(`(${profile})`)}`
    })
  })
}

/** Deletes a memory for good. */
export function forgetMemoryCommand(config: Config, id: string, options: MemoryOptions): Promise<void> {
  return withMemories(config, options, async (context) => {
    const memory = await deleteMemory(context, await requireMemoryId(context, id))
    printResult(options, { id: memory.uuid, deleted: true }, () =>
      lines(
        `${green("✓")} Forgot ${bold(memory.uuid)} for good:`,
        memoryEntry(context, memory, { isFull: false }),
      ),
    )
  })
}

function metadataOf({ metadata }: { metadata?: string }): unknown {
  return metadata === undefined ? undefined : readJsonArgument("metadata", metadata)
}
