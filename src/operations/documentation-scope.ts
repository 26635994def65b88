/** Which branches of which repositories a question goes to, and that they are up to date when it gets there. */

import { documentationScope, hasDocumentationScope, permitsDocumentation } from "../domain/api-key.ts"
import { type DocumentationBranch, type DocumentedRepository, workAt } from "../domain/documentation.ts"
import type { Repository } from "../domain/project.ts"
import { AppError } from "../errors.ts"
import { REFRESH_MS_MAX } from "../limits.ts"
import { findDocumentationBranch, findDocumentedRepository } from "../store/documentation.ts"
import { findRepositoryById, listRepositories } from "../store/repositories.ts"
import { CONNECT_REPOSITORY, forbidden } from "./admission.ts"
import type { App } from "./app.ts"
import { beginDocumentation } from "./documentation-repositories.ts"
import { documentRules } from "./documentation-rules.ts"
import { type DocumentSource, openSource } from "./documentation-source.ts"
import { indexingProblemOf, runIndexing } from "./indexing.ts"
import { authenticate } from "./keys.ts"
import type { CallContext } from "./operation.ts"
import { countRequest } from "./plan-limits.ts"
import { findNamedRepository } from "./tenants.ts"

/** A branch that is searched, as it is now. */
export interface SearchedBranch {
  repository: Repository
  documented: DocumentedRepository
  branch: DocumentationBranch
}

/** Authenticates a call about documentation and counts it; fails with `unauthenticated`, `forbidden` or `rate_limited`. */
export async function admitDocumentationCall(app: App): Promise<CallContext> {
  const key = await authenticate(app)
  if (!hasDocumentationScope(key.scopes)) throw forbidden("repo:{repository_id}:documentation")
  await countRequest(app, key, "documentation")
  return { app, key, nowMs: app.now() }
}

/**
 * Returns the repositories that a call is about: the one that it names by id or name, else all that its key permits.
 * Fails with `not_found`, or with `forbidden`, which says nothing of what there is.
 */
export async function permittedRepositories(
  { app, key }: CallContext,
  named: string | number | undefined,
): Promise<Repository[]> {
  const mayAll = key.scopes.includes("*")
  if (named === undefined) {
    const all = await listRepositories(app.db)
    return all.filter(({ id }) => permitsDocumentation(key.scopes, id))
  }
  const repository = await findNamedRepository(app.db, named)
  if (repository !== undefined && permitsDocumentation(key.scopes, repository.id)) return [repository]
  // What a restricted key is told does not depend on what there is.
  if (!mayAll)
    throw forbidden(documentationScope(/^[1-9]\d{0,14}$/.test(String(named)) ? Number(named) : "{id}"))
  throw new AppError("not_found", `repository "${named}" was not found`, {
    field: "repository",
    hint: CONNECT_REPOSITORY,
  })
}

/**
 * Returns the branches that a question goes to. Those that have moved are brought up to date first, as far as that
 * takes a moment; `notes` say what is missing still. Fails with `not_found` for a branch that there is none of.
 */
export async function searchedBranches(
  context: CallContext,
  {
    repository: named,
    branch: wanted,
  }: { repository?: string | number | undefined; branch?: string | undefined },
): Promise<{ branches: SearchedBranch[]; notes: string[] }> {
  const { app } = context
  const repositories = await permittedRepositories(context, named)
  const untilMs = performance.now() + REFRESH_MS_MAX
  const branches: SearchedBranch[] = []
  const notes: string[] = []
  const known: string[] = []
  for (const repository of repositories) {
    if ((await findDocumentedRepository(app.db, repository.id))?.isWanted === false) {
      if (named !== undefined) notes.push(`${repository.name}: ${LET_GO}`)
      continue
    }
    const found = await branchOf(app, repository, wanted, untilMs)
    if (found.searched !== undefined) branches.push(found.searched)
    notes.push(...found.notes)
    known.push(...found.known)
  }
  if (wanted !== undefined && branches.length === 0 && repositories.length > 0 && notes.length === 0) {
    const names = known.length === 0 ? "there are no branches yet" : `known are: ${shownNames(known)}`
    throw new AppError("not_found", `branch "${wanted}" was not found; ${names}`, { field: "branch" })
  }
  if (repositories.length === 0) notes.push(`No repository is connected. ${CONNECT_REPOSITORY}`)
  return { branches, notes }
}

const LET_GO = "its documentation is not searched; `signalbox repos add` begins it again."

const NAMES_SHOWN_MAX = 30

function shownNames(names: readonly string[]): string {
  const all = [...new Set(names)]
  const left = all.length - NAMES_SHOWN_MAX
  return all.slice(0, NAMES_SHOWN_MAX).join(", ") + (left > 0 ? `, and ${left} more` : "")
}

interface FoundBranch {
  searched?: SearchedBranch
  notes: string[]
  /** The names of its branches, where the wanted one is not among them. */
  known: string[]
}

async function branchOf(
  app: App,
  repository: Repository,
  wanted: string | undefined,
  untilMs: number,
): Promise<FoundBranch> {
  await beginDocumentation(app, repository)
  const notes: string[] = []
  const rules = documentRules(app.config.ignoredDocuments)
  let source: DocumentSource | undefined
  try {
    source = await openSource(repository, rules)
    const isThere = await refresh(app, repository, source, wanted, rules.name, untilMs)
    if (!isThere) return { notes, known: await source.branchNames() }
  } catch (error) {
    const reason = indexingProblemOf(error)
    if (reason === undefined) throw error
    notes.push(`${repository.name}: ${reason}`)
  }
  const now = (await findRepositoryById(app.db, repository.id)) ?? repository
  const documented = await findDocumentedRepository(app.db, repository.id)
  const name = wanted ?? now.defaultBranch
  const branch = name === null ? undefined : await findDocumentationBranch(app.db, repository.id, name)
  if (branch === undefined || documented === undefined) {
    if (wanted === undefined)
      notes.push(`${repository.name}: there is nothing to search yet, it has no commit.`)
    return { notes, known: [] }
  }
  if (!branch.isComplete || branch.rules !== rules.name)
    notes.push(`${now.name}: ${incompleteText(documented, app.now())}`)
  else if (source?.isAt(branch.name, branch.commit ?? "") === false)
    notes.push(`${now.name}: ${branch.name} has moved on; this is what it was before.`)
  return { searched: { repository: now, documented, branch }, notes, known: [] }
}

function incompleteText({ work: noted, problem }: DocumentedRepository, nowMs: number): string {
  if (problem !== null) return problem
  const work = workAt(noted, nowMs)
  const figures = work === null || work.total === 0 ? "" : ` (${work.done} of ${work.total} files)`
  return `it is being indexed${figures}; what is not read yet is not found.`
}

/** Brings a branch up to date if it is not; returns false when there is no such branch. */
async function refresh(
  app: App,
  repository: Repository,
  source: DocumentSource,
  wanted: string | undefined,
  rules: string,
  untilMs: number,
): Promise<boolean> {
  const defaultBranch = wanted === undefined ? await source.defaultBranch() : null
  const name = wanted ?? defaultBranch
  if (name === null) {
    // It had one, or was expected to get one.
    if (repository.defaultBranch !== null) await runIndexing(app, { repositoryIds: [repository.id], untilMs })
    return true
  }
  const branch = await findDocumentationBranch(app.db, repository.id, name)
  const isKnownDefault = wanted !== undefined || defaultBranch === repository.defaultBranch
  const isReady = branch?.isComplete === true && branch.rules === rules && isKnownDefault
  if (isReady && (await isCurrent(source, branch))) return true
  if (branch === undefined && wanted !== undefined) {
    if ((await source.commitOf(wanted)) === undefined) return false
    await beginDocumentation(app, repository, [wanted])
  }
  const only = wanted === undefined ? {} : { branches: [wanted] }
  await runIndexing(app, { repositoryIds: [repository.id], ...only, untilMs })
  return wanted === undefined || (await findDocumentationBranch(app.db, repository.id, wanted)) !== undefined
}

async function isCurrent(source: DocumentSource, { name, commit }: DocumentationBranch): Promise<boolean> {
  const isAt = source.isAt(name, commit ?? "")
  return isAt === "unknown" ? (await source.commitOf(name)) === commit : isAt
}
