/** `signalbox docs`: questions to the documentation of connected repositories. */

import type { Config } from "../config.ts"
import {
  checkSearchArguments,
  type DocumentationArguments,
  documentationContext,
  readingOf,
} from "../operations/documentation-commands.ts"
import { documentationJson } from "../operations/documentation-json.ts"
import { permittedRepositories } from "../operations/documentation-scope.ts"
import { searchDocumentation } from "../operations/documentation-search.ts"
import type { CallContext } from "../operations/operation.ts"
import { answerText } from "./docs-text.ts"
import { indexWithProgress } from "./indexing-progress.ts"
import { type OutputOptions, printResult } from "./output.ts"
import { untilInterrupted } from "./progress.ts"
import { withApp } from "./with-app.ts"

/** What is read sooner needs no word. */
const SILENT_MS = 500
/** Texts are found by their words without vectors, so a slow model keeps nobody waiting for longer. */
const VECTORS_MS_MAX = 10_000
/** Another process that reads nothing for so long is busy with something else. */
const STALLED_MS_MAX = 20_000

export interface DocsSearchOptions extends OutputOptions {
  /** Id or name; all that the key permits unless given. */
  repository?: string
  branch?: string
  limit?: string
}

/** Finds passages of documentation, the best first; what has not been read yet is read before. */
export function searchDocsCommand(
  config: Config,
  words: readonly string[],
  options: DocsSearchOptions,
): Promise<void> {
  const { limit } = options
  const asked = checkSearchArguments({
    query: words.join(" "),
    repository: options.repository?.trim(),
    branch: options.branch,
    limit: limit !== undefined && /^-?\d{1,15}$/.test(limit) ? Number(limit) : limit,
  })
  return withApp(config, async (app) => {
    const context = await documentationContext(app, asked.repository)
    await readWhatIsMissing(context, asked, options)
    const startedMs = performance.now()
    const answer = await searchDocumentation(context, asked)
    const json = documentationJson(answer, performance.now() - startedMs)
    printResult(options, json, () => answerText(asked.query, answer))
  })
}

/** Reads what the question goes to, as long as it takes; Ctrl+C has it answered from what is there. */
async function readWhatIsMissing(
  context: CallContext,
  { repository, branch }: DocumentationArguments,
  options: OutputOptions,
): Promise<void> {
  const { app } = context
  const repositories = await permittedRepositories(context, repository)
  const reading = () => readingOf(app, repositories, branch)
  if ((await reading()) === "current") return
  const result = await untilInterrupted((signal) =>
    indexWithProgress(app, {
      repositoryIds: repositories.map(({ id }) => id),
      signal,
      isQuiet: options.json === true,
      afterMs: SILENT_MS,
      // What was read once is searched as it was then, while another process is at work.
      isWaitedFor: async () => (await reading()) === "unread",
      stalledMsMax: STALLED_MS_MAX,
      vectorsMsMax: VECTORS_MS_MAX,
    }),
  )
  if (result === "stopped" && options.json !== true)
    process.stderr.write("Stopped reading; `signalbox repos sync` goes on. What is found so far:\n")
}
