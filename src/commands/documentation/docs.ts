/** `signalbox docs`: questions to the documentation of connected repositories. */

import type { Config } from "../../config/config.ts"
import { DOCS_VECTORS_TIMEOUT_MS, STALLED_TIMEOUT_MS } from "../../config/limits.ts"
import { ASKS, admit } from "../../operations/admission.ts"
import type { App } from "../../operations/app.ts"
import { commandCall } from "../../operations/caller.ts"
import { repositoryAround } from "../../operations/coordination/locations.ts"
import { beginReading } from "../../operations/documentation/freshness.ts"
import { searchInput } from "../../operations/documentation/inputs.ts"
import { permittedRepositories } from "../../operations/documentation/permission.ts"
import { answerJson } from "../../operations/documentation/results.ts"
import { searchDocumentation } from "../../operations/documentation/search.ts"
import { checkInput, type Input } from "../../operations/input.ts"
import type { CallContext } from "../../operations/operation.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { type OutputOptions, printResult } from "../output.ts"
import { untilInterrupted } from "../progress.ts"
import { withApp } from "../with-app.ts"
import { answerText } from "./docs-text.ts"
import { indexWithProgress } from "./indexing-progress.ts"

/** What is read sooner needs no word. */
const SILENT_MS = 500

export interface DocsSearchOptions extends OutputOptions {
  /** Id or name; all that the key permits unless given. */
  repository?: string
  branch?: string
  limit?: string
  /** Whole passages, not excerpts. */
  full?: boolean
}

/** A person reads a few; programs get what REST gives. */
const RESULTS_SHOWN = 3

/** Finds passages of documentation, those of the repository around first, each once, the best first; what has not been read yet is read before. */
export function searchDocsCommand(
  config: Config,
  words: readonly string[],
  options: DocsSearchOptions,
): Promise<void> {
  const { limit = options.json === true ? undefined : String(RESULTS_SHOWN) } = options
  const asked = checkInput(searchInput, {
    query: words.join(" "),
    repository: options.repository?.trim(),
    branch: options.branch,
    limit: limit !== undefined && /^-?\d{1,15}$/.test(limit) ? Number(limit) : limit,
  })
  return withApp(config, async (app) => {
    const { context, repositoryId } = await admitSearch(app, asked.repository)
    await readWhatIsMissing(context, asked, options)
    const answer = await searchDocumentation(context, { ...asked, reader: { repositoryId } })
    printResult(options, answerJson(answer), () =>
      answerText(asked.query, answer, { isFull: options.full === true }),
    )
  })
}

/** The repository around the working folder is connected unless another one is named. */
async function admitSearch(
  app: App,
  named: string | undefined,
): Promise<{ context: CallContext; repositoryId: number | undefined }> {
  const call = commandCall(app)
  const context = await admit(call, ASKS.documentation)
  const around = named === undefined ? await repositoryAround(app, call.caller.folder) : undefined
  return { context, repositoryId: around?.id }
}

/** Reads what the question goes to, as long as it takes; Ctrl+C has it answered from what is there. */
async function readWhatIsMissing(
  context: CallContext,
  { repository, branch }: Input<typeof searchInput>,
  options: OutputOptions,
): Promise<void> {
  const { app } = context
  const repositories = await permittedRepositories(context, repository)
  const reading = () => beginReading(app, repositories, branch)
  if ((await reading()) === "current") return
  const result = await untilInterrupted((signal) =>
    indexWithProgress(app, {
      repositoryIds: repositories.map(({ id }) => id),
      signal,
      isQuiet: options.json === true,
      afterMs: SILENT_MS,
      // What was read once is searched as it was then, while another process is at work.
      isWaitedFor: async () => (await reading()) === "unread",
      stalledMsMax: STALLED_TIMEOUT_MS,
      vectorsMsMax: DOCS_VECTORS_TIMEOUT_MS,
    }),
  )
  if (result === "stopped" && options.json !== true)
    process.stderr.write(`Stopped reading; \`${ownCommand()} repos sync\` goes on. What is found so far:\n`)
}
