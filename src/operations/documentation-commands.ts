/**
 * What the command line needs around documentation: who calls and what they may see, arguments checked by the same
 * rules as everywhere, and whether a search would miss what has not been read yet.
 */

import { resolve } from "node:path"
import * as z from "zod"
import { hasDocumentationScope, isAdmin } from "../domain/api-key.ts"
import type { Repository } from "../domain/project.ts"
import { AppError, invalid } from "../errors.ts"
import { isGitUrl } from "../git/clone.ts"
import { realpathOfNearest } from "../git/repository.ts"
import { DOCUMENTATION_LIMIT_DEFAULT } from "../limits.ts"
import {
  findDocumentationBranch,
  findDocumentedRepository,
  listDocumentedRepositories,
} from "../store/documentation.ts"
import { findRepositoryById, listRepositories } from "../store/repositories.ts"
import { forbidden } from "./admission.ts"
import type { App } from "./app.ts"
import {
  branchName,
  branchNames,
  documentationLimit,
  documentationQuery,
  namedRepository,
  newRepositoryName,
  pathOrUrl,
} from "./documentation-fields.ts"
import { beginDocumentation } from "./documentation-repositories.ts"
import { documentRules } from "./documentation-rules.ts"
import { openSource } from "./documentation-source.ts"
import { indexingProblemOf } from "./indexing.ts"
import { authenticate } from "./keys.ts"
import { repositoryAround } from "./locations.ts"
import { checkMemoryArguments } from "./memory-commands.ts"
import type { CallContext } from "./operation.ts"
import { findNamedRepository } from "./tenants.ts"

/** What commands take, by the same rules as requests. */
const ARGUMENTS = {
  add: z.object({
    target: pathOrUrl(""),
    name: newRepositoryName("").optional(),
    branches: branchNames("").default([]),
  }),
  search: z.object({
    query: documentationQuery(),
    repository: namedRepository("").optional(),
    branch: branchName("").optional(),
    limit: documentationLimit(DOCUMENTATION_LIMIT_DEFAULT),
  }),
}

export type AddArguments = z.output<typeof ARGUMENTS.add>
export type DocumentationArguments = z.output<typeof ARGUMENTS.search>

/** Checks what a search is asked for; fails with `invalid`, naming each parameter that breaks a rule, and the rule. */
export function checkSearchArguments(given: Record<string, unknown>): DocumentationArguments {
  return checkMemoryArguments(ARGUMENTS.search, given)
}

/**
 * Checks what is to be connected; a folder, relative to the working one, becomes its real path. Fails with `invalid`,
 * also for an address that git would fetch without encryption or by way of a program.
 */
export async function checkAddArguments(
  workingFolder: string,
  given: Record<string, unknown>,
): Promise<AddArguments> {
  const asked = checkMemoryArguments(ARGUMENTS.add, given)
  if (isGitUrl(asked.target)) return asked
  if (/^[a-z][a-z0-9+.-]*:(\/\/|:)/i.test(asked.target)) {
    throw invalid(
      "target",
      "must be a folder, or an address that begins with https://, ssh:// or file://, or is user@host:path",
    )
  }
  return { ...asked, target: await realpathOfNearest(resolve(workingFolder, asked.target)) }
}

/**
 * Authenticates a search on the command line, which is exempt from rate limits. The repository around the working
 * folder is connected unless another one is named. Fails with `unauthenticated` and `forbidden`.
 */
export async function documentationContext(app: App, named: string | undefined): Promise<CallContext> {
  const key = await authenticate(app)
  if (!hasDocumentationScope(key.scopes)) throw forbidden("repo:{repository_id}:documentation")
  if (named === undefined) await repositoryAround(app, app.config.workingFolder)
  return { app, key, nowMs: app.now() }
}

/** Authenticates a command that changes what this machine searches; fails with `unauthenticated` and `forbidden`. */
export async function requireAdmin(app: App): Promise<void> {
  const key = await authenticate(app)
  if (!isAdmin(key.scopes)) throw forbidden("admin")
}

/** Returns the connected repositories that the key of a command names in any scope, or all for one that may all. */
export async function listedRepositories(app: App): Promise<Repository[]> {
  const { scopes } = await authenticate(app)
  const all = await listRepositories(app.db)
  if (isAdmin(scopes)) return all
  return all.filter(({ id }) => scopes.some((scope) => scope.startsWith(`repo:${id}:`)))
}

/** Returns the repositories whose documentation is searched. */
export async function searchedRepositories(app: App): Promise<Repository[]> {
  const repositories: Repository[] = []
  for (const { repositoryId } of await listDocumentedRepositories(app.db)) {
    const repository = await findRepositoryById(app.db, repositoryId)
    if (repository !== undefined) repositories.push(repository)
  }
  return repositories
}

/** Returns the connected repository of an id or a name; fails with `not_found`. */
export async function requireRepository(app: App, named: string): Promise<Repository> {
  const repository = await findNamedRepository(app.db, named.trim())
  if (repository !== undefined) return repository
  throw new AppError("not_found", `repository "${named}" was not found`, {
    field: "repository",
    hint: "`signalbox repos list` shows the ids and names.",
  })
}

/** How well what a question goes to was read: as it is now, as it was once, or not to the end yet. */
export type Reading = "current" | "moved" | "unread"

/**
 * Begins to search what a question goes to, and returns how well it was read, the worst of all, as far as that can be
 * told in a moment. What cannot be opened is left to the search, which says so.
 */
export async function readingOf(
  app: App,
  repositories: readonly Repository[],
  branch: string | undefined,
): Promise<Reading> {
  const found = new Set<Reading>()
  for (const repository of repositories) found.add(await readingOfOne(app, repository, branch))
  return found.has("unread") ? "unread" : found.has("moved") ? "moved" : "current"
}

async function readingOfOne(app: App, repository: Repository, wanted: string | undefined): Promise<Reading> {
  if ((await findDocumentedRepository(app.db, repository.id))?.isWanted === false) return "current"
  try {
    return await readingIn(app, repository, wanted)
  } catch (error) {
    if (indexingProblemOf(error) === undefined) throw error
    return "current"
  }
}

async function readingIn(app: App, repository: Repository, wanted: string | undefined): Promise<Reading> {
  const rules = documentRules(app.config.ignoredDocuments)
  const source = await openSource(repository, rules)
  await beginDocumentation(app, repository)
  const name = wanted ?? repository.defaultBranch ?? (await source.defaultBranch())
  if (name === null) return "current"
  const branch = await findDocumentationBranch(app.db, repository.id, name)
  if (branch !== undefined) {
    if (!branch.isComplete || branch.rules !== rules.name) return "unread"
    return source.isAt(name, branch.commit ?? "") === false ? "moved" : "current"
  }
  if ((await source.commitOf(name)) === undefined) return "current"
  if (wanted !== undefined) await beginDocumentation(app, repository, [wanted])
  return "unread"
}
