/** `signalbox memory` on single memories: add, get, edit, reinforce, forget. */

import type { Config } from "../../config/config.ts"
import { AppError, invalid } from "../../errors.ts"
import { loadActiveModel } from "../../operations/embedding/memories.ts"
import { checkInput } from "../../operations/input.ts"
import { lines } from "../../operations/markdown.ts"
import { changeInput, createInput, reinforceInput } from "../../operations/memory/inputs.ts"
import { listAlike } from "../../operations/memory/listing.ts"
import {
  changeMemory,
  createMemory,
  deleteMemory,
  readMemory,
  reinforceMemory,
  requireMemory,
} from "../../operations/memory/memories.ts"
import type { MemoryJson } from "../../operations/memory/results.ts"
import type { TenantContext } from "../../operations/operation.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { afterDeletion } from "../after-deletion.ts"
import { bold, dim, green, printResult } from "../output.ts"
import { editorOf, editText, STDIN } from "../typed-text.ts"
import { type MemoryOptions, requireMemoryId, withMemories } from "./context.ts"
import { contentOf, EDITED_CONTENT, metadataOf } from "./input.ts"
import { memoryEntry, memoryWhole, shortId } from "./text.ts"

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
  const draft = checkInput(createInput, {
    content: await contentOf(words),
    sector: options.sector,
    tags: options.tag,
    source: options.source,
    metadata: metadataOf(options),
  })
  await withMemories(config, options, async (context) => {
    // Servers go on without it until it is ready, but a command has only this one text.
    await loadActiveModel(context.app)
    const memory = await createMemory(context, draft)
    const alike = await listAlike(context, memory.id)
    printResult(options, memory, () =>
      lines(
        `${green("✓")} Remembered ${bold(shortId(memory.id))} as ${memory.sector}${memory.sector_inferred ? dim(" (as its words suggest)") : ""}`,
        memory.embedding_status === "completed"
          ? null
          : dim("  Found by its words now, and by its meaning when a server has given it its vector."),
        ...alike.map((one) => dim(`  Much like ${shortId(one.memory.id)} (${one.weight.toFixed(2)})`)),
      ),
    )
  })
}

/** Shows a memory whole, which counts as an access. */
export function getMemoryCommand(config: Config, id: string, options: MemoryOptions): Promise<void> {
  return withMemories(config, options, async (context) => {
    const memory = await readMemory(context, await requireMemoryId(context, id))
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
  const change = checkInput(changeInput, {
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
    if (isByHand || change.content !== undefined) await loadActiveModel(context.app)
    const memory = isByHand ? await editByHand(context, uuid) : await changeMemory(context, uuid, change)
    printChanged(options, memory)
  })
}

/** Returns the memory as it is afterwards; undefined when the user left it as it was. */
async function editByHand(context: TenantContext, uuid: string): Promise<MemoryJson | undefined> {
  const { db } = context.app
  const before = await requireMemory(db, context, uuid)
  const edited = await editText(before.content, editorOf(process.env), EDITED_CONTENT)
  if (edited.text === before.content) {
    edited.discard()
    return undefined
  }
  try {
    const { content } = checkInput(changeInput, { content: edited.text })
    if ((await requireMemory(db, context, uuid)).contentVersion !== before.contentVersion)
      throw new AppError("conflict", `the memory ${uuid} was changed by somebody else meanwhile`)
    const memory = await changeMemory(context, uuid, { content })
    edited.discard()
    return memory
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    // Nobody writes a text twice gladly.
    const hint = `Your text is kept in ${edited.path}; \`${ownCommand()} memory edit ${shortId(uuid)} --content - < ${edited.path}\` stores it.`
    throw new AppError(error.code, error.message, { ...extrasOf(error), hint })
  }
}

function extrasOf({ field }: AppError) {
  return field === undefined ? {} : { field }
}

function printChanged(options: MemoryOptions, memory: MemoryJson | undefined): void {
  if (memory === undefined) {
    printResult({}, null, () => "Nothing was changed.")
    return
  }
  printResult(options, memory, () =>
    lines(
      `${green("✓")} Changed ${bold(shortId(memory.id))} ${dim(`(${memory.updated_at})`)}`,
      memoryEntry(memory, { isFull: false }),
    ),
  )
}

interface ReinforceOptions extends MemoryOptions {
  profile?: string
}

/** Raises a memory's salience. */
export function reinforceMemoryCommand(config: Config, id: string, options: ReinforceOptions): Promise<void> {
  const asked = checkInput(reinforceInput, { profile: options.profile })
  return withMemories(config, options, async (context) => {
    const done = await reinforceMemory(context, await requireMemoryId(context, id), asked)
    const { old_salience: before, new_salience: after, profile_used: profile } = done
    printResult(
      options,
      done,
      () =>
        `${green("✓")} Reinforced ${bold(shortId(done.id))}: salience ${before} -> ${after} ${dim(`(${profile})`)}`,
    )
  })
}

interface ForgetOptions extends MemoryOptions {
  /** From the daily backups too. */
  purge?: boolean
}

/** Deletes a memory for good. */
export function forgetMemoryCommand(config: Config, id: string, options: ForgetOptions): Promise<void> {
  return withMemories(config, options, async (context) => {
    const memory = await deleteMemory(context, await requireMemoryId(context, id))
    const held = await afterDeletion(context.app, options)
    printResult(options, { id: memory.id, deleted: true, held_by_backups: held !== null }, () =>
      lines(
        `${green("✓")} Forgot ${bold(memory.id)} for good:`,
        memoryEntry(memory, { isFull: false }),
        held === null ? null : dim(held),
      ),
    )
  })
}
