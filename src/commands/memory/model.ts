/** `signalbox model`: which models embed memories, which one does, and handing over to another. */

import { existsSync, statSync } from "node:fs"
import { basename, join, resolve } from "node:path"
import type { Config } from "../../config/config.ts"
import { BUILTIN_SOURCE } from "../../domain/embedding/embedding.ts"
import { visible, visibleLine } from "../../domain/foreign-text/visible.ts"
import { BUILTIN_MODEL } from "../../embed/builtin.ts"
import { downloadModel, HUB_DEFAULT } from "../../embed/models/download.ts"
import { type ModelManifest, modelName, requireModelId } from "../../embed/models/manifest.ts"
import {
  findModel,
  importModel,
  listModels,
  type ModelProgress,
  removeModel,
  type StoredModel,
  verifyModel,
} from "../../embed/models/store.ts"
import { AppError, invalid, megabytes } from "../../errors.ts"
import { ASKS, admit } from "../../operations/admission.ts"
import type { App } from "../../operations/app.ts"
import { commandCall } from "../../operations/caller.ts"
import { type ModelState, modelState, useModel } from "../../operations/embedding/models.ts"
import { lines } from "../../operations/markdown.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { bold, dim, green, type OutputOptions, printResult, table } from "../output.ts"
import { createProgress, untilInterrupted } from "../progress.ts"
import { withApp } from "../with-app.ts"
import { followModel, progressJson, progressText } from "./model-follow.ts"

/** Files below this are not worth a word. */
const WORTH_SAYING_BYTES = 1_000_000

/** What `useModel` asks for. */
type WantedModel = Parameters<typeof useModel>[1]

/** A model that is there, or that the database knows of. */
interface ModelRow {
  id: string
  /** The name under which its vectors are stored. */
  name: string
  state: "active" | "building" | null
  kind: "builtin" | "folder" | "hub" | "missing"
  dimensions: number | null
  bytes: number | null
  from: string | null
}

/** Lists the built-in model, those on disk, and those that the database names and that are not on disk. */
export function listModelsCommand(config: Config, options: OutputOptions): Promise<void> {
  return withApp(config, async (app) => {
    const state = await modelState(app.db)
    const rows = rowsOf(await listModels(modelsFolder(config)), state)
    const json = rows.map((row) => ({
      ...row,
      progress: row.state === null ? null : progressJson(progressOf(state, row.state)),
    }))
    printResult(options, json, () => {
      const cells = rows.map((row) => [
        visibleLine(row.id),
        stateText(row, state),
        row.dimensions === null ? "" : String(row.dimensions),
        row.bytes === null ? "" : megabytes(row.bytes),
        visibleLine(row.from ?? ""),
      ])
      return lines(
        table(["ID", "STATE", "DIMENSIONS", "SIZE", "FROM"], cells),
        dim(`${ownCommand()} model use <id> hands over to another one.`),
      )
    })
  })
}

function rowsOf(stored: readonly StoredModel[], state: ModelState): ModelRow[] {
  const stateOf = (source: string): ModelRow["state"] =>
    state.active.source === source ? "active" : state.building?.source === source ? "building" : null
  const builtin: ModelRow = {
    id: BUILTIN_SOURCE,
    name: BUILTIN_MODEL.name,
    state: stateOf(BUILTIN_SOURCE),
    kind: "builtin",
    dimensions: BUILTIN_MODEL.dimensions,
    bytes: null,
    from: "comes with signalbox",
  }
  const onDisk = stored.map(({ manifest }): ModelRow => {
    const { id, source, dimensions } = manifest
    const from = source.kind === "folder" ? source.path : `${source.host} (${source.revision.slice(0, 12)})`
    const name = modelName(manifest)
    return { id, name, state: stateOf(id), kind: source.kind, dimensions, bytes: sizeOf(manifest), from }
  })
  const known = new Set([BUILTIN_SOURCE, ...onDisk.map(({ id }) => id)])
  const missing = [state.active, state.building].flatMap((model): ModelRow[] => {
    if (model === undefined || known.has(model.source)) return []
    const { source: id, name, dimensions } = model
    return [{ id, name, state: stateOf(id), kind: "missing", dimensions, bytes: null, from: null }]
  })
  return [builtin, ...onDisk, ...missing]
}

function stateText(row: ModelRow, state: ModelState): string {
  if (row.state === null) return ""
  const model = row.state === "active" ? state.active : state.building
  const progress = progressOf(state, row.state)
  const done =
    row.state === "active" && progress.completed === progress.total ? "" : `, ${progressText(progress)}`
  const trouble =
    row.kind === "missing"
      ? ", its files are missing"
      : model?.name === row.name
        ? ""
        : ", its files have changed"
  return `${row.state === "active" ? "active" : "being built"}${done}${trouble}`
}

function progressOf(state: ModelState, which: "active" | "building") {
  return which === "building" ? (state.buildingProgress ?? state.activeProgress) : state.activeProgress
}

export interface UseModelOptions extends OutputOptions {
  /** Another hub than Hugging Face's, such as a mirror. */
  host?: string
  /** A branch, a tag or a commit on the hub. */
  revision?: string
}

/**
 * Has all memories embedded with a model: the built-in one, one on disk, one in a folder, which is imported, or
 * one of the hub, which is downloaded. Follows the work where a listener does it, and does it where none is up.
 * Fails with `refused` when it is stopped before the end.
 */
export function useModelCommand(config: Config, typed: string, options: UseModelOptions): Promise<void> {
  return withApp(config, async (app) => {
    await admit(commandCall(app), ASKS.admin)
    await untilInterrupted(async (signal) => {
      const wanted = await wantedModel(app, typed, options, signal)
      if (signal.aborted) throw stopped("nothing was changed")
      const before = await modelState(app.db)
      const model = await useModel(app, wanted)
      if (model.state === "active") {
        const ended =
          before.building === undefined
            ? ""
            : ` What was being built for ${before.building.source} has ended.`
        printResult(
          options,
          useJson(await modelState(app.db)),
          () => `${bold(wanted.source)} is active.${ended}`,
        )
        return
      }
      await followModel(app, model, signal)
      const state = await modelState(app.db)
      printResult(options, useJson(state), () =>
        lines(
          `${green("✓")} ${bold(wanted.source)} is active: ${progressText(state.activeProgress)}.`,
          dim(
            `  ${before.active.source} is kept; ${ownCommand()} model use ${before.active.source} goes back.`,
          ),
        ),
      )
    })
  })
}

function useJson({ active, activeProgress }: ModelState) {
  return { id: active.source, name: active.name, state: active.state, progress: progressJson(activeProgress) }
}

/** Brings a model here, checks its files and tries it out. */
async function wantedModel(
  app: App,
  typed: string,
  options: UseModelOptions,
  signal: AbortSignal,
): Promise<WantedModel> {
  if (typed === BUILTIN_SOURCE) return { ...BUILTIN_MODEL, source: BUILTIN_SOURCE }
  const stored = await bringModel(app, typed, options, signal)
  if (signal.aborted) throw stopped("nothing was changed")
  const problems = await verifyModel(stored)
  if (problems.length > 0) {
    const { id } = stored.manifest
    throw new AppError("unavailable", `the model '${id}' is damaged: ${problems.join(" ")}`, {
      hint: `Bring it in again: ${ownCommand()} model remove ${id}, then ${ownCommand()} model use ${typed}.`,
    })
  }
  const { id, dimensions, calibration } = await measured(app, stored)
  if (dimensions === null || calibration === null)
    throw new AppError("unavailable", `the model '${id}' could not be tried out`)
  return { name: modelName(stored.manifest), source: id, dimensions, calibration }
}

async function measured(app: App, stored: StoredModel): Promise<ModelManifest> {
  const { manifest } = stored
  if (manifest.dimensions !== null && manifest.calibration !== null) return manifest
  say(`Trying out ${manifest.id}.`)
  return (await import("../../embed/transformers/transformers.ts")).measureModel(stored, app.log)
}

async function bringModel(
  app: App,
  typed: string,
  options: UseModelOptions,
  signal: AbortSignal,
): Promise<StoredModel> {
  const { config } = app
  const folder = resolve(config.workingFolder, typed)
  const found = await findModel(modelsFolder(config), typed).catch((error: unknown) => {
    // No id at all, or one that is not here: then it is a folder or one of the hub.
    if (error instanceof AppError && ["invalid", "not_found"].includes(error.code)) return undefined
    throw error
  })
  const asksForOther = options.revision !== undefined
  if (found !== undefined && !asksForOther) return found
  if (existsSync(folder) && statSync(folder).isDirectory()) {
    await requireUnused(app, `local/${basename(folder)}`)
    return importFrom(config, folder, undefined)
  }
  if (/^[./~]|\\|^[A-Za-z]:/.test(typed))
    throw invalid("model", `must be a folder or an id, there is no ${folder}`)
  const id = requireModelId(typed)
  await requireUnused(app, id)
  return download(config, id, options, signal)
}

async function download(
  config: Config,
  id: string,
  { host = HUB_DEFAULT, revision }: UseModelOptions,
  signal: AbortSignal,
): Promise<StoredModel> {
  say(`Downloading ${id} from ${host}; nothing but this is sent or fetched.`)
  const { onProgress, end } = fileProgress("Downloading")
  try {
    return await downloadModel({ id, host, revision, modelsFolder: modelsFolder(config), signal, onProgress })
  } catch (error) {
    if (!signal.aborted) throw error
    throw stopped("what was downloaded is kept, and the same command goes on")
  } finally {
    end()
  }
}

async function importFrom(config: Config, folder: string, name: string | undefined): Promise<StoredModel> {
  const { onProgress, end } = fileProgress("Copying")
  try {
    return await importModel({ folder, modelsFolder: modelsFolder(config), name, onProgress })
  } finally {
    end()
  }
}

/** Shows a bar for the files that come in, one after the other, and says of a large one how large it is. */
function fileProgress(label: string): { onProgress(progress: ModelProgress): void; end(): void } {
  const progress = createProgress(label, megabytes)
  const said = new Set<string>()
  return {
    onProgress({ file, bytes, bytesTotal }) {
      if (bytesTotal !== null && bytesTotal >= WORTH_SAYING_BYTES && !said.has(file)) {
        said.add(file)
        progress.end()
        say(`${file}: ${megabytes(bytesTotal)}`)
      }
      progress.show(bytes, bytesTotal)
    },
    end: progress.end,
  }
}

interface ImportModelOptions extends OutputOptions {
  /** The id that the model gets; `local/<name of the folder>` unless given. */
  name?: string
}

/** Copies a model from a folder to where models are kept. */
export function importModelCommand(
  config: Config,
  folder: string,
  options: ImportModelOptions,
): Promise<void> {
  return withApp(config, async (app) => {
    await admit(commandCall(app), ASKS.admin)
    const source = resolve(config.workingFolder, folder)
    await requireUnused(app, options.name ?? `local/${basename(source)}`)
    const { manifest } = await importFrom(config, source, options.name)
    const json = { id: manifest.id, name: modelName(manifest), bytes: sizeOf(manifest) }
    printResult(options, json, () =>
      lines(
        `${green("✓")} Imported ${bold(manifest.id)} ${dim(`(${megabytes(json.bytes)})`)}`,
        dim(`  Hand over to it: ${ownCommand()} model use ${manifest.id}`),
      ),
    )
  })
}

/** Fails with `refused` while this database uses a model: its files must stay as they are. */
async function requireUnused(app: App, id: string): Promise<void> {
  const { active, building } = await modelState(app.db)
  const state = active.source === id ? "active" : building?.source === id ? "being built" : undefined
  if (state === undefined) return
  const other = state === "active" ? BUILTIN_SOURCE : active.source
  throw new AppError("refused", `the model '${id}' is ${state}`, {
    hint: `Hand over to another one first: ${ownCommand()} model use ${other}.`,
  })
}

/** Deletes a model from the disk. Fails with `refused` while this database uses it, with `not_found` without one. */
export function removeModelCommand(config: Config, id: string, options: OutputOptions): Promise<void> {
  return withApp(config, async (app) => {
    await admit(commandCall(app), ASKS.admin)
    if (id === BUILTIN_SOURCE) throw invalid("id", "is the built-in model, which cannot be removed")
    await requireUnused(app, id)
    if (!(await removeModel(modelsFolder(config), id)))
      throw new AppError("not_found", `the model '${id}' is not on this machine`)
    printResult(options, { id, removed: true }, () => `${green("✓")} Removed ${bold(id)} from this machine.`)
  })
}

function sizeOf({ files }: ModelManifest): number {
  return files.reduce((total, { bytes }) => total + bytes, 0)
}

function modelsFolder({ dataFolder }: Config): string {
  return join(dataFolder, "models")
}

function stopped(what: string): AppError {
  return new AppError("refused", `stopped; ${what}`)
}

/** Says what goes on, beside the result. */
function say(text: string): void {
  process.stderr.write(`${visible(text)}\n`)
}
