/**
 * The tools on documentation: search it, list the repositories that are searched, connect one. What a call needs is
 * loaded by the first call: most server processes are started for other tools, or only to list them.
 */

import { isAbsolute } from "node:path"
import * as z from "zod"
import { DOCUMENTATION_TOOL_LIMIT_DEFAULT, FIRST_INDEXING_TIMEOUT_MS } from "../../config/limits.ts"
import { oneLine } from "../../domain/foreign-text/markdown.ts"
import { invalid } from "../../errors.ts"
import { fitBlocks, lines } from "../markdown.ts"
import { defineOperation } from "../operation.ts"
import { branchName, connectInput, namedRepository, searchInput } from "./inputs.ts"
import { answerText, progressText, repositoryFacts } from "./markdown.ts"

export const searchDocumentationTool = defineOperation({
  name: "search-documentation",
  title: "Search documentation",
  category: "documentation",
  effect: "read",
  idempotent: true,
  onMachine: true,
  description:
    "Find passages in the documentation of connected repositories, by words and by meaning, with file, lines and link. Ask before you guess how something works.",
  input: z.strictObject({
    ...searchInput,
    repository: namedRepository("Repository id or name; default: all").optional(),
    branch: branchName("Default: the default branch").optional(),
    limit: searchInput.limit.default(DOCUMENTATION_TOOL_LIMIT_DEFAULT),
  }),
  async run(context, input) {
    const { searchDocumentation } = await import("./search.ts")
    return searchDocumentation(context, input)
  },
  markdown: answerText,
})

export const listRepositoriesTool = defineOperation({
  name: "list-repositories",
  title: "List repositories",
  category: "documentation",
  effect: "read",
  idempotent: true,
  onMachine: true,
  description:
    "List connected repositories: id, root, branches searched, files left out, indexing under way.",
  input: z.strictObject({
    repository: namedRepository("Only this one, by id or name").optional(),
  }),
  async run(context, input) {
    const { permittedRepositories } = await import("./permission.ts")
    const { repositoryStates } = await import("./repositories.ts")
    return repositoryStates(context.app, await permittedRepositories(context, input.repository))
  },
  markdown: (states) =>
    states.length === 0
      ? "# Repositories\n\nNone is connected. connect-repository connects one."
      : fitBlocks(
          lines("# Repositories", "", `Connected: ${states.length}`),
          states.map((state) => lines(`### ${oneLine(state.repository.name)}`, repositoryFacts(state))),
          "Name one with repository.",
        ),
})

export const connectRepositoryTool = defineOperation({
  name: "connect-repository",
  title: "Connect repository",
  category: "documentation",
  effect: "write",
  idempotent: true,
  onMachine: true,
  needsAdmin: true,
  reachesOut: true,
  description:
    "Connect a work tree beside a connected one, or a git URL at a host that your user allows, which is cloned, and begin to search its documentation. Again: adds branches and fetches. Anything else takes a person's command, which the answer names.",
  input: z.strictObject(connectInput),
  async run({ app }, { path_or_url: target, name, branches }) {
    const { connectRepository, repositoryStates } = await import("./repositories.ts")
    const { requireNeighbour } = await import("./neighbourhood.ts")
    const { runIndexing } = await import("./indexing.ts")
    const { findRepositoryById } = await import("../../store/repositories.ts")
    const { isGitUrl } = await import("../../git/address.ts")
    // The folder that a server happens to run in means nothing to its client.
    if (!isAbsolute(target) && !isGitUrl(target))
      throw invalid("path_or_url", "must be an absolute path, or the URL of a git repository")
    const request = { target, name, branches }
    await requireNeighbour(app, request)
    const repository = await connectRepository(app, request)
    const untilMs = performance.now() + FIRST_INDEXING_TIMEOUT_MS
    const options = { repositoryIds: [repository.id], untilMs }
    const outcome = await (app.indexer?.run(options) ?? runIndexing(app, options))
    // Its default branch is known by now.
    const now = (await findRepositoryById(app.db, repository.id)) ?? repository
    return { states: await repositoryStates(app, [now]), outcome }
  },
  markdown: ({ states, outcome }) =>
    lines(
      "# Repository connected",
      "",
      ...states.map((state) =>
        lines(
          `Name: ${oneLine(state.repository.name)}`,
          repositoryFacts(state),
          progressText(state, outcome),
        ),
      ),
    ),
})
