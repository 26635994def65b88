/**
 * Indexing as a command does it: what is read is shown while it is read, another process at the same work is
 * waited for, and Ctrl+C loses nothing.
 */

import { setTimeout as delay } from "node:timers/promises"
import type { IndexingWork } from "../../domain/documentation/documentation.ts"
import { visibleLine } from "../../domain/foreign-text/visible.ts"
import type { App } from "../../operations/app.ts"
import { type IndexingOptions, latestWork, runIndexing } from "../../operations/documentation/indexing.ts"
import { createProgress, type Progress, type Screen } from "../progress.ts"
import { figure, percentOf } from "./indexing-work.ts"

const POLL_INTERVAL_MS = 250
/** Where no bar is, a line is written whenever so many percent more are done. */
const STEP_PERCENT = 10

interface IndexingProgress {
  /** Shows how far a repository is. */
  show(name: string, work: IndexingWork): void
  /** Takes the bar away. */
  end(): void
}

export interface ProgressOptions {
  /** Shows nothing at all. */
  isQuiet: boolean
  /** Shows nothing of work that is over sooner. */
  afterMs?: number
  screen?: Screen
}

/** Shows indexing as a bar at a terminal, else as lines: one as each phase begins, and one at each tenth. */
export function createIndexingProgress({
  isQuiet,
  afterMs = 0,
  screen = process.stderr,
}: ProgressOptions): IndexingProgress {
  if (isQuiet) return { show() {}, end() {} }
  const startedMs = performance.now()
  let bar: Progress | undefined
  let [phase, steps] = ["", 0]
  const begin = (name: string, work: IndexingWork, next: string) => {
    bar?.end()
    ;[phase, steps] = [next, 0]
    if (screen.isTTY === true) bar = createProgress(`${label(work)} ${name}`, figure, screen)
    else screen.write(`${label(work)} ${name}: ${figureOf(work)(work.total)}\n`)
  }
  return {
    show(repository, work) {
      if (work.total === 0 || performance.now() - startedMs < afterMs) return
      const { branch, done, total } = work
      const name = visibleLine(branch === null ? repository : `${repository} (${branch})`)
      const next = `${name} ${work.phase}`
      if (next !== phase) begin(name, work, next)
      bar?.show(done, total)
      const stepsNow = Math.floor(percentOf(work) / STEP_PERCENT)
      if (bar === undefined && stepsNow > steps) {
        screen.write(`  ${stepsNow * STEP_PERCENT} %, ${figure(done)} of ${figureOf(work)(total)}\n`)
      }
      steps = Math.max(steps, stepsNow)
    },
    end() {
      bar?.end()
    },
  }
}

function label({ phase }: IndexingWork): string {
  return { cloning: "Cloning", reading: "Reading", embedding: "Embedding" }[phase]
}

function figureOf({ phase }: IndexingWork): (amount: number) => string {
  const noun = { cloning: "object", reading: "file", embedding: "chunk" }[phase]
  return (amount) => `${figure(amount)} ${noun}${amount === 1 ? "" : "s"}`
}

interface CommandIndexing extends ProgressOptions {
  repositoryIds: readonly number[]
  signal: AbortSignal
  /** Whether to wait for another process that is at it; always, unless given. */
  isWaitedFor?(): Promise<boolean>
  /** How long another process may read nothing until it is not waited for any more; for ever unless given. */
  stalledMsMax?: number
  /** How long to go on once there is nothing left to do but vectors; to the end unless given. */
  vectorsMsMax?: number
}

/** Brings documentation up to date and shows it; where another process is at it, follows that and looks again. */
export async function indexWithProgress(
  app: App,
  { repositoryIds, signal, vectorsMsMax, ...waiting }: CommandIndexing,
): Promise<"stopped" | "done"> {
  const progress = createIndexingProgress(waiting)
  const stop = new AbortController()
  const onAbort = () => stop.abort()
  signal.addEventListener("abort", onAbort, { once: true })
  if (signal.aborted) stop.abort()
  let timer: NodeJS.Timeout | undefined
  const onProgress: IndexingOptions["onProgress"] = ({ name }, work) => {
    progress.show(name, work)
    if (work.phase === "embedding" && vectorsMsMax !== undefined) timer ??= setTimeout(onAbort, vectorsMsMax)
  }
  const others = followOthers(app, progress, waiting)
  try {
    while (true) {
      const result = await runIndexing(quietly(app), { repositoryIds, signal: stop.signal, onProgress })
      if (signal.aborted) return "stopped"
      if (result !== "busy" || !(await others.areWorthWaiting())) return "done"
      await delay(POLL_INTERVAL_MS, undefined, { signal: stop.signal }).catch(() => undefined)
    }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener("abort", onAbort)
    progress.end()
  }
}

/** A command tells its user itself what goes wrong with a repository. */
function quietly(app: App): App {
  return { ...app, log: { ...app.log, warn() {} } }
}

/** Follows what another process has noted of its work. */
function followOthers(
  app: App,
  progress: IndexingProgress,
  {
    isWaitedFor,
    stalledMsMax = Number.POSITIVE_INFINITY,
  }: Pick<CommandIndexing, "isWaitedFor" | "stalledMsMax">,
): { areWorthWaiting(): Promise<boolean> } {
  let [readAtMs, changedAtMs] = [0, performance.now()]
  return {
    async areWorthWaiting() {
      if (isWaitedFor !== undefined && !(await isWaitedFor())) return false
      const latest = await latestWork(app)
      if (latest !== undefined) progress.show(latest.name, latest.work)
      if (latest?.work.phase === "reading" && latest.work.updatedAtMs !== readAtMs)
        [readAtMs, changedAtMs] = [latest.work.updatedAtMs, performance.now()]
      return performance.now() - changedAtMs <= stalledMsMax
    },
  }
}
