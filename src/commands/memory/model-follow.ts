/** Watches a model take over, and does the work where no other process does. */

import { setTimeout as delay } from "node:timers/promises"
import { STALLED_TIMEOUT_MS } from "../../config/limits.ts"
import type { EmbeddingProgress, StoredModel } from "../../domain/embedding/embedding.ts"
import { AppError } from "../../errors.ts"
import type { App } from "../../operations/app.ts"
import { embedWaiting, modelState } from "../../operations/embedding/models.ts"
import { count } from "../../operations/markdown.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { isListenerUp } from "../listener.ts"
import { createProgress, type Progress } from "../progress.ts"

const POLL_INTERVAL_MS = 250

/**
 * Returns when a model is the active one. Where a listener is up, that does the work and is watched; otherwise
 * the work is done here. Fails with `refused` when the signal comes first, and with `conflict` when somebody
 * chose another model meanwhile.
 */
export async function followModel(app: App, model: StoredModel, signal: AbortSignal): Promise<void> {
  const progress = createProgress("Embedding", (number) => number.toLocaleString("en-US"))
  try {
    if (!(await watch(app, model, signal, progress))) {
      await embedWaiting(app, signal, (_, { completed, failed, total }) =>
        progress.show(completed + failed, total),
      )
    }
  } finally {
    progress.end()
  }
  await requireActive(app, model)
}

/** Watches others at work until the model is active, or is not wanted any more; false when none works. */
async function watch(
  app: App,
  model: StoredModel,
  signal: AbortSignal,
  progress: Progress,
): Promise<boolean> {
  let [seen, seenAtMs] = [-1, performance.now()]
  while (!signal.aborted) {
    const { building, buildingProgress } = await modelState(app.db)
    if (building?.id !== model.id) return true
    const { completed, failed, total } = buildingProgress ?? { completed: 0, failed: 0, total: 0 }
    progress.show(completed + failed, total)
    if (completed + failed !== seen) [seen, seenAtMs] = [completed + failed, performance.now()]
    if (performance.now() - seenAtMs > STALLED_TIMEOUT_MS) return false
    if (!(await isListenerUp(app.config))) return false
    await delay(POLL_INTERVAL_MS, undefined, { signal }).catch(() => undefined)
  }
  return true
}

async function requireActive(app: App, model: StoredModel): Promise<void> {
  const { active, building, buildingProgress } = await modelState(app.db)
  if (active.id === model.id) return
  if (building?.id !== model.id || buildingProgress === undefined) {
    throw new AppError("conflict", `another model was chosen meanwhile: ${(building ?? active).source}`, {
      hint: `\`${ownCommand()} model list\` shows who is at work.`,
    })
  }
  const isServed = await isListenerUp(app.config)
  throw new AppError("refused", `stopped: ${progressText(buildingProgress)} with ${model.source}`, {
    hint: `${isServed ? "The running server goes on by itself" : "The next server goes on by itself, and so does the same command"}; until it is done, ${active.source} is used.`,
  })
}

/** Returns how far a model is, in words. */
export function progressText({ completed, failed, total }: EmbeddingProgress): string {
  const notOnes = failed === 0 ? "" : `, ${failed} cannot be`
  return `${completed.toLocaleString("en-US")} of ${count(total, "memory", "memories")} embedded${notOnes}`
}

/** Returns how far a model is, as JSON. */
export function progressJson({ completed, failed, total }: EmbeddingProgress) {
  return { completed, failed, total }
}
