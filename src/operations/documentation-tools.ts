/**
 * The tools on documentation: search it, list the repositories that are searched, connect one. What a call needs is
 * loaded by the first call: most server processes are started for other tools, or only to list them.
 */

import { isAbsolute } from "node:path"
import * as z from "zod"
import { invalid } from "../errors.ts"
import {
  branchName,
  branchNames,
  documentationLimit,
  documentationQuery,
  namedRepository,
  newRepositoryName,
  pathOrUrl,
} from "./documentation-fields.ts"
import { answerText, progressText, repositoryFacts } from "./documentation-markdown.ts"
import { fitBlocks, lines, oneLine } from "./markdown.ts"
import { defineOperation } from "./operation.ts"

/** Agents pay for every result that they read, so a tool shows fewer than the API. */
const LIMIT_DEFAULT = 5
/** How long connecting a repository waits for its first indexing. */
const FIRST_INDEXING_MS_MAX = 5_000

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
    query: documentationQuery(),
    repository: namedRepository("Repository id or name; default: all").optional(),
    branch: branchName("Default: the default branch").optional(),
    limit: documentationLimit(LIMIT_DEFAULT),
  }),
  async run(context, input) {
    const { searchDocumentation } = await import("./documentation-search.ts")
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
    const { permittedRepositories } = await import("./documentation-scope.ts")
    const { repositoryStates } = await import("./documentation-repositories.ts")
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
  description:
    "Connect a folder or a git URL, which is cloned, and begin to search its documentation. Again: adds branches and fetches.",
  input: z.strictObject({
    path_or_url: pathOrUrl("Absolute path of a folder, or git URL"),
    name: newRepositoryName("Default: the folder's name").optional(),
    branches: branchNames("Searched besides the default branch").optional(),
  }),
  async run({ app }, { path_or_url: target, name, branches = [] }) {
    const { connectRepository, repositoryStates } = await import("./documentation-repositories.ts")
    const { runIndexing } = await import("./indexing.ts")
    const { findRepositoryById } = await import("../store/repositories.ts")
    const { isGitUrl } = await import("../git/clone.ts")
    // The folder that a server happens to run in means nothing to its client.
    if (!isAbsolute(target) && !isGitUrl(target))
      throw invalid("path_or_url", "must be an absolute path, or the URL of a git repository")
    const repository = await connectRepository(app, { target, name, branches })
    const untilMs = performance.now() + FIRST_INDEXING_MS_MAX
    const outcome = await runIndexing(app, { repositoryIds: [repository.id], untilMs })
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
