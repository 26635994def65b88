/** `signalbox memory export` and `import`: all memories of a repository as JSON Lines, and back. */

import { once } from "node:events"
import { createReadStream, createWriteStream, existsSync, renameSync, rmSync, statSync } from "node:fs"
import { resolve } from "node:path"
import { addAbortSignal, type Readable, type Writable } from "node:stream"
import { finished } from "node:stream/promises"
import type { Config } from "../../config/config.ts"
import { IMPORT_LINES_SHOWN_MAX } from "../../config/limits.ts"
import { visibleLine } from "../../domain/foreign-text/visible.ts"
import { AppError, invalid, megabytes } from "../../errors.ts"
import { checkInput } from "../../operations/input.ts"
import { count, lines } from "../../operations/markdown.ts"
import { filterInput } from "../../operations/memory/inputs.ts"
import {
  type ExportPage,
  exportMemories,
  type ImportNote,
  type ImportOutcome,
  importMemories,
} from "../../operations/memory/transfer.ts"
import type { TenantContext } from "../../operations/operation.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { bold, dim, green, print, printResult } from "../output.ts"
import { createProgress, untilInterrupted } from "../progress.ts"
import { STDIN } from "../typed-text.ts"
import { type MemoryOptions, withMemories } from "./context.ts"

interface ExportOptions extends MemoryOptions {
  sector?: string
  tag?: string
  /** Replaces a file that exists. */
  force?: boolean
}

/**
 * Writes the memories of a repository, one a line, the oldest first, to stdout or to a file, which appears when
 * it is whole. Fails with `refused` when the file exists.
 */
export function exportMemoriesCommand(
  config: Config,
  file: string | undefined,
  options: ExportOptions,
): Promise<void> {
  const filter = checkInput(filterInput, { sector: options.sector, tag: options.tag })
  return withMemories(config, options, async (context) => {
    const pages = exportMemories(context, filter)
    if (file === undefined || file === STDIN) {
      await writePages(pages, process.stdout)
      return
    }
    const target = resolve(config.workingFolder, file)
    if (existsSync(target) && options.force !== true) {
      throw new AppError("refused", `${target} exists already`, {
        hint: "Name another file, or go on with --force to replace it.",
      })
    }
    const memories = await untilInterrupted((signal) => writeFileWhole(pages, target, signal))
    print(`${green("✓")} Exported ${count(memories, "memory", "memories")} to ${bold(visibleLine(target))}`)
  })
}

/** Writes pages to a file that gets its name at the end; returns how many memories are in it. */
async function writeFileWhole(
  pages: AsyncIterable<ExportPage>,
  target: string,
  signal: AbortSignal,
): Promise<number> {
  const part = `${target}.part-${process.pid}`
  // As private as the database that it comes from.
  const stream = createWriteStream(part, { flags: "wx", mode: 0o600 })
  try {
    const memories = await writePages(pages, stream, signal)
    await finished(stream.end())
    if (signal.aborted) throw new AppError("refused", "stopped; no file was written")
    renameSync(part, target)
    return memories
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError("unavailable", `${target} cannot be written: ${(error as Error).message}`)
  } finally {
    stream.destroy()
    rmSync(part, { force: true })
  }
}

/** Writes pages no faster than they are read; a reader that leaves, such as head, ends it. */
async function writePages(
  pages: AsyncIterable<ExportPage>,
  stream: Writable,
  signal?: AbortSignal,
): Promise<number> {
  const progress = createProgress("Exporting", memoryFigure)
  const left = new AbortController()
  const onLeft = () => left.abort()
  stream.once("error", onLeft)
  let memories = 0
  try {
    for await (const page of pages) {
      if (!stream.write(page.text)) await once(stream, "drain", { signal: left.signal })
      memories += page.memories
      if (left.signal.aborted || signal?.aborted === true) break
      // A signal, and that the reader has left, are heard in a pause only.
      await new Promise(setImmediate)
      if (stream !== process.stdout || !process.stdout.isTTY) progress.show(memories, null)
    }
  } catch (error) {
    if (!left.signal.aborted || stream !== process.stdout) throw stream.errored ?? error
  } finally {
    stream.removeListener("error", onLeft)
    progress.end()
  }
  return memories
}

export interface ImportCommandOptions extends MemoryOptions {
  /** Lines take the place of memories that differ. */
  replace?: boolean
  dryRun?: boolean
}

/**
 * Stores the memories of a file, or of stdin for `-`. Lines that are no memories are named and left out, and fail
 * the command at its end; so do, with `conflict`, memories that differ from what is there.
 */
export function importMemoriesCommand(
  config: Config,
  file: string,
  options: ImportCommandOptions,
): Promise<void> {
  return withMemories(config, options, async (context) => {
    const { stream, bytes } = sourceOf(config, file)
    const progress = createProgress(options.dryRun === true ? "Checking" : "Importing", megabytes)
    const outcome = await untilInterrupted(async (signal) => {
      try {
        return await importMemories(context, addAbortSignal(signal, stream), {
          replaces: options.replace === true,
          dryRun: options.dryRun === true,
          signal,
          onProgress: (done) => progress.show(done.bytes, bytes),
        })
      } catch (error) {
        throw asReadError(error, file)
      } finally {
        progress.end()
      }
    })
    printResult(options, outcomeJson(context, outcome, options), () => outcomeText(context, outcome, options))
    requireAllIn(outcome, options)
  })
}

function sourceOf({ workingFolder }: Config, file: string): { stream: Readable; bytes: number | null } {
  if (file === STDIN) return { stream: process.stdin, bytes: null }
  const path = resolve(workingFolder, file)
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) {
    throw new AppError("not_found", `there is no file ${path}`, {
      hint: `\`${ownCommand()} memory export <file>\` writes one.`,
    })
  }
  if (found.isDirectory()) throw invalid("file", `must be a file, and ${path} is a folder`)
  return { stream: createReadStream(path), bytes: found.isFile() ? found.size : null }
}

function asReadError(error: unknown, file: string): unknown {
  const { syscall, message } = error as NodeJS.ErrnoException
  if (syscall !== "open" && syscall !== "read") return error
  return new AppError("unavailable", `${file} cannot be read: ${message}`)
}

function outcomeJson(
  { repository }: TenantContext,
  outcome: ImportOutcome,
  { dryRun }: ImportCommandOptions,
) {
  return {
    repository_id: repository.id,
    dry_run: dryRun === true,
    lines: outcome.lines,
    added: outcome.added,
    replaced: outcome.replaced,
    skipped: outcome.skipped,
    used_since: outcome.usedSince,
    differing: outcome.differing,
    bad: outcome.bad,
    renamed: outcome.renamed,
    stopped: outcome.isStopped,
    notes: outcome.notes.map(({ kind, line, id, field, text }) => ({ kind, line, id, field, message: text })),
  }
}

function outcomeText(
  { repository }: TenantContext,
  outcome: ImportOutcome,
  { dryRun }: ImportCommandOptions,
): string {
  const memories = (number: number) => count(number, "memory", "memories")
  const { added, replaced, skipped, usedSince, renamed } = outcome
  const used = usedSince === 0 ? "" : `, ${usedSince} of them used since`
  return lines(
    dryRun === true
      ? `Nothing was stored, this was a dry run. Into ${visibleLine(repository.name)} would come ${memories(added)}.`
      : `${green("✓")} Imported ${memories(added)} into ${bold(visibleLine(repository.name))}.`,
    replaced === 0
      ? null
      : `  ${memories(replaced)} ${dryRun === true ? "would be" : replaced === 1 ? "was" : "were"} replaced.`,
    skipped === 0 ? null : `  ${memories(skipped)} ${skipped === 1 ? "was" : "were"} there already${used}.`,
    renamed === 0
      ? null
      : `  ${memories(renamed)} ${renamed === 1 ? "has" : "have"} a new id, because another repository has theirs:`,
    ...noteLines(outcome, "renamed", renamed).map(dim),
  )
}

/** Fails when anything of the file is not in, saying what and what to do. */
function requireAllIn(outcome: ImportOutcome, options: ImportCommandOptions): void {
  const { bad, differing, isStopped } = outcome
  if (bad + differing === 0 && !isStopped) return
  const text = lines(
    bad === 0 ? null : `${count(bad, "line")} of ${outcome.lines} cannot be imported; the others can:`,
    ...noteLines(outcome, "bad", bad),
    differing === 0
      ? null
      : `${count(differing, "memory", "memories")} left alone that differ${differing === 1 ? "s" : ""} from the file:`,
    ...noteLines(outcome, "differs", differing),
    differing === 0 ? null : "Import again with --replace to take those of the file.",
    isStopped
      ? `Stopped after ${count(outcome.lines, "line")}. ${options.dryRun === true ? "Nothing was stored." : "What was stored stays: import the same again to go on, what is there is passed over."}`
      : null,
  )
  throw new AppError(bad === 0 && !isStopped ? "conflict" : "refused", text)
}

function noteLines({ notes }: ImportOutcome, kind: ImportNote["kind"], number: number): string[] {
  const shown = notes
    .filter((note) => note.kind === kind)
    .slice(0, IMPORT_LINES_SHOWN_MAX)
    .map(({ line, text }) => `  line ${line}: ${visibleLine(text)}`)
  const more = number - shown.length
  return more > 0 ? [...shown, `  and ${more} more`] : shown
}

function memoryFigure(number: number): string {
  return count(number, "memory", "memories")
}
