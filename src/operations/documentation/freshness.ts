/**
 * Which branches a question goes to, and bringing them up to date before it gets there. What is stored of a branch is
 * loaded once for a question, and again only after something of it was written.
 */

import { DOCUMENTATION_NAMES_SHOWN_MAX, REFRESH_MS_MAX } from "../../config/limits.ts"
import type { Queries } from "../../db/database.ts"
import {
  type DocumentationBranch,
  type DocumentedRepository,
  workAt,
} from "../../domain/documentation/documentation.ts"
import { echoed, named } from "../../domain/foreign-text/markdown.ts"
import type { Repository } from "../../domain/project.ts"
import { AppError } from "../../errors.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { findDocumentationBranch, findDocumentedRepository } from "../../store/documentation/documentation.ts"
import { findRefusal } from "../../store/documentation/documents.ts"
import { findRepositoryById } from "../../store/repositories.ts"
import { howToConnect } from "../admission.ts"
import type { App } from "../app.ts"
import type { CallContext } from "../operation.ts"
import { indexingProblemOf, runIndexing } from "./indexing.ts"
import { permittedRepositories } from "./permission.ts"
import { beginDocumentation } from "./repositories.ts"
import { type DocumentRules, documentRules } from "./rules.ts"
import { type DocumentSource, openSource } from "./source.ts"
import { refusalKey } from "./sync.ts"

/** A branch that is searched, as it is now. */
export interface SearchedBranch {
  repository: Repository
  documented: DocumentedRepository
  branch: DocumentationBranch
}

/** What is stored of a branch that somebody asks for, and of its repository. */
interface StoredState {
  repository: Repository
  documented: DocumentedRepository | undefined
  branch: DocumentationBranch | undefined
}

async function loadState(db: Queries, repository: Repository, branch: string | null): Promise<StoredState> {
  return {
    repository,
    documented: await findDocumentedRepository(db, repository.id),
    branch: branch === null ? undefined : await findDocumentationBranch(db, repository.id, branch),
  }
}

/** Loads the state of a branch; a repository that nobody has asked for yet is searched from now on. */
async function beginState(app: App, repository: Repository, branch: string | null): Promise<StoredState> {
  const state = await loadState(app.db, repository, branch)
  if (state.documented !== undefined) return state
  await beginDocumentation(app, repository)
  return loadState(app.db, repository, branch)
}

function isDisconnected({ documented }: StoredState): boolean {
  return documented?.isWanted === false
}

/** What a question goes to. */
interface Asked {
  repository?: string | number | undefined
  branch?: string | undefined
}

/**
 * Brings the branches that a question goes to up to date, as far as that takes a moment, and returns them; `notes` say
 * what is missing still. Fails with `not_found` for a branch that there is none of.
 */
export async function bringUpToDate(
  context: CallContext,
  { repository: named, branch: wanted }: Asked,
): Promise<{ branches: SearchedBranch[]; notes: string[] }> {
  const repositories = await permittedRepositories(context, named)
  const untilMs = performance.now() + REFRESH_MS_MAX
  const branches: SearchedBranch[] = []
  const notes: string[] = []
  const known: string[] = []
  for (const repository of repositories) {
    const brought = await bringBranch(context.app, repository, wanted, untilMs)
    if (brought === "let go") {
      if (named !== undefined)
        notes.push(
          `${repository.name}: its documentation is not searched; \`${ownCommand()} repos add\` begins it again.`,
        )
      continue
    }
    if (brought.searched !== undefined) branches.push(brought.searched)
    notes.push(...brought.notes)
    known.push(...brought.known)
  }
  if (wanted !== undefined && branches.length === 0 && repositories.length > 0 && notes.length === 0) {
    const names = known.length === 0 ? "there are no branches yet" : `known are: ${shownNames(known)}`
    throw new AppError("not_found", `branch ${echoed(wanted)} was not found; ${names}`, { field: "branch" })
  }
  if (repositories.length === 0) notes.push(`No repository is connected. ${howToConnect()}`)
  return { branches, notes }
}

function shownNames(names: readonly string[]): string {
  const all = [...new Set(names)]
  const left = all.length - DOCUMENTATION_NAMES_SHOWN_MAX
  return (
    all.slice(0, DOCUMENTATION_NAMES_SHOWN_MAX).map(named).join(", ") + (left > 0 ? `, and ${left} more` : "")
  )
}

interface BroughtBranch {
  searched?: SearchedBranch
  notes: string[]
  /** The names of its branches, where the wanted one is not among them. */
  known: string[]
}

async function bringBranch(
  app: App,
  repository: Repository,
  wanted: string | undefined,
  untilMs: number,
): Promise<BroughtBranch | "let go"> {
  const before = await beginState(app, repository, wanted ?? repository.defaultBranch)
  if (isDisconnected(before)) return "let go"
  const notes: string[] = []
  const rules = documentRules(app.config.ignoredDocuments)
  let source: DocumentSource | undefined
  let state: StoredState | undefined
  try {
    source = await openSource(repository, rules)
    state = await indexIfMoved(app, before, source, { wanted, rules, untilMs })
    if (state === undefined) return { notes, known: await source.branchNames() }
  } catch (error) {
    const reason = indexingProblemOf(error)
    if (reason === undefined) throw error
    notes.push(`${repository.name}: ${reason}`)
    state = await loadAgain(app.db, repository, wanted)
  }
  const { repository: now, documented, branch } = state
  if (branch === undefined || documented === undefined) {
    if (wanted === undefined)
      notes.push(`${repository.name}: there is nothing to search yet, it has no commit.`)
    return { notes, known: [] }
  }
  const refusal = await findRefusal(app.db, branch.id)
  if (refusal !== undefined) {
    const before = branch.commit === null ? "" : " This is what it was before."
    notes.push(`${now.name}: ${branch.name} ${refusal.problem}.${before}`)
  } else if (!branch.isComplete || branch.rules !== rules.name)
    notes.push(`${now.name}: ${incompleteText(documented, app.now())}`)
  else if (source?.isAt(branch.name, branch.commit ?? "") === false)
    notes.push(`${now.name}: ${branch.name} has moved on; this is what it was before.`)
  return { searched: { repository: now, documented, branch }, notes, known: [] }
}

/** Indexing may have found another default branch. */
async function loadAgain(db: Queries, before: Repository, wanted: string | undefined): Promise<StoredState> {
  const repository = (await findRepositoryById(db, before.id)) ?? before
  return loadState(db, repository, wanted ?? repository.defaultBranch)
}

function incompleteText({ work: noted, problem }: DocumentedRepository, nowMs: number): string {
  if (problem !== null) return problem
  const work = workAt(noted, nowMs)
  const figures = work === null || work.total === 0 ? "" : ` (${work.done} of ${work.total} files)`
  return `it is being indexed${figures}; what is not read yet is not found.`
}

/** Indexes a branch if it has moved; returns its state afterwards, or undefined when there is no such branch. */
async function indexIfMoved(
  app: App,
  state: StoredState,
  source: DocumentSource,
  { wanted, rules, untilMs }: { wanted: string | undefined; rules: DocumentRules; untilMs: number },
): Promise<StoredState | undefined> {
  const { repository, branch } = state
  const name = wanted ?? (await source.defaultBranch())
  const isKnown = wanted !== undefined || name === repository.defaultBranch
  // Without any branch there is nothing to index, unless it had one or was expected to get one.
  if (isKnown && name === null) return state
  const isReady = isKnown && branch?.isComplete === true && branch.rules === rules.name
  if (isReady && (await isCurrent(source, branch))) return state
  if (branch !== undefined && (await isRefused(app.db, source, branch, rules))) return state
  if (wanted !== undefined && branch === undefined) {
    if ((await source.commitOf(wanted)) === undefined) return undefined
    await beginDocumentation(app, repository, [wanted])
  }
  const only = wanted === undefined ? {} : { branches: [wanted] }
  const options = { repositoryIds: [repository.id], ...only, untilMs }
  await (app.indexer?.run(options) ?? runIndexing(app, options))
  const now = await loadAgain(app.db, repository, wanted)
  return wanted !== undefined && now.branch === undefined ? undefined : now
}

async function isCurrent(source: DocumentSource, { name, commit }: DocumentationBranch): Promise<boolean> {
  const isAt = source.isAt(name, commit ?? "")
  return isAt === "unknown" ? (await source.commitOf(name)) === commit : isAt
}

/** Whether the commit that a branch is at was found to be too large to be read. */
async function isRefused(
  db: Queries,
  source: DocumentSource,
  { id, name }: DocumentationBranch,
  rules: DocumentRules,
): Promise<boolean> {
  const refusal = await findRefusal(db, id)
  return refusal !== undefined && refusal.key === refusalKey((await source.commitOf(name)) ?? "", rules)
}

/** How well what a question goes to was read: as it is now, as it was once, or not to the end yet. */
export type Reading = "current" | "moved" | "unread"

/**
 * Begins to search what a question goes to, and returns how well it was read, the worst of all, as far as that can be
 * told in a moment. What cannot be opened is left to the search, which says so.
 */
export async function beginReading(
  app: App,
  repositories: readonly Repository[],
  branch: string | undefined,
): Promise<Reading> {
  const found = new Set<Reading>()
  for (const repository of repositories) found.add(await beginReadingOne(app, repository, branch))
  return found.has("unread") ? "unread" : found.has("moved") ? "moved" : "current"
}

async function beginReadingOne(
  app: App,
  repository: Repository,
  wanted: string | undefined,
): Promise<Reading> {
  const rules = documentRules(app.config.ignoredDocuments)
  try {
    const source = await openSource(repository, rules)
    const name = wanted ?? repository.defaultBranch ?? (await source.defaultBranch())
    const state = await beginState(app, repository, name)
    if (name === null || isDisconnected(state)) return "current"
    const { branch } = state
    if (branch !== undefined) {
      if (!branch.isComplete || branch.rules !== rules.name) return "unread"
      return source.isAt(name, branch.commit ?? "") === false ? "moved" : "current"
    }
    if ((await source.commitOf(name)) === undefined) return "current"
    if (wanted !== undefined) await beginDocumentation(app, repository, [wanted])
    return "unread"
  } catch (error) {
    if (indexingProblemOf(error) === undefined) throw error
    return "current"
  }
}
