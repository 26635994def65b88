/**
 * Brings what is searched of a repository up to date with its branches. What was read before is never read again,
 * and a process that goes on after one that was killed finds everything that it had stored: contents come in
 * bit by bit, and a branch turns to its new set of files in one transaction. Only while a branch is read for the
 * first time its files can be searched one by one.
 */

import { BRANCH_DOCUMENTS_MAX } from "../../config/limits.ts"
import type { DocumentationBranch } from "../../domain/documentation/documentation.ts"
import { echoed } from "../../domain/foreign-text/markdown.ts"
import type { Repository } from "../../domain/project.ts"
import { AppError, assert } from "../../errors.ts"
import { TooManyEntries } from "../../git/objects.ts"
import { nothing, withTerms } from "../../indexing/read-document.ts"
import {
  findDocumentedRepository,
  insertDocumentationBranch,
  listDocumentationBranches,
  putDocumentationBranch,
  putDocumentedRepository,
  removeDocumentationBranch,
} from "../../store/documentation/documentation.ts"
import {
  branchKeys,
  findBlob,
  findRefusal,
  isContentMissing,
  listBranchPaths,
  putBranchFile,
  putChangedAt,
  REFUSED_PATH,
  removeBranchFile,
  removeBranchFiles,
} from "../../store/documentation/documents.ts"
import { putDefaultBranch } from "../../store/repositories.ts"
import type { App } from "../app.ts"
import { removeUnusedContents, storeContents } from "./contents.ts"
import { recordDeletion, recordReading } from "./events.ts"
import {
  type BranchChanges,
  type BranchRun,
  BranchTooLarge,
  type IndexingRun,
  keyOf,
  readContents,
} from "./reading.ts"
import type { DocumentRules } from "./rules.ts"
import { openSource, type SourceChange } from "./source.ts"

/**
 * Brings some branches of a repository up to date, or all that are searched and the default one; returns whether
 * that was finished. Branches that are gone are removed. Fails with `unavailable` when the repository is.
 */
export async function syncRepository(
  run: IndexingRun,
  repository: Repository,
  only?: readonly string[],
): Promise<boolean> {
  const { app } = run
  const source = await openSource(repository, run.rules)
  const defaultBranch = await source.defaultBranch()
  await noteRemote(app, repository, await source.remoteUrl())
  if (defaultBranch !== repository.defaultBranch || only === undefined)
    await trackDefaultBranch(app, repository, defaultBranch)
  let failure: unknown
  for (const branch of await listDocumentationBranches(app.db, repository.id)) {
    if (run.isStopped()) return false
    if (only !== undefined && !only.includes(branch.name)) continue
    try {
      await syncBranch({ ...run, repository, source, branch })
    } catch (error) {
      // One branch that cannot be read is no reason to leave the others.
      failure ??= error
    }
  }
  if (run.isStopped()) return false
  // A run that was broken off may have left some, whatever this one found.
  await removeUnusedContents(app, repository.id, run.isStopped)
  if (failure !== undefined) throw failure
  return !run.isStopped()
}

/** Links lead to the remote as it is now. */
async function noteRemote(
  app: App,
  { id: repositoryId }: Repository,
  remoteUrl: string | null,
): Promise<void> {
  if ((await findDocumentedRepository(app.db, repositoryId))?.remoteUrl === remoteUrl) return
  await app.db.transaction(`documentation:${repositoryId}`, async (tx) => {
    // It may have been let go in the meantime.
    const known = await findDocumentedRepository(tx, repositoryId)
    if (known !== undefined) await putDocumentedRepository(tx, { ...known, remoteUrl })
  })
}

/** The default branch is always searched; one that no longer is the default one stays if it is still there. */
async function trackDefaultBranch(app: App, { id }: Repository, name: string | null): Promise<void> {
  await app.db.transaction(`documentation:${id}`, async (tx) => {
    await putDefaultBranch(tx, id, name)
    if (name !== null) await insertDocumentationBranch(tx, id, name)
  })
}

/** Brings one branch up to date, or removes it when it is gone. */
async function syncBranch(run: BranchRun): Promise<void> {
  const { app, branch, source, rules } = run
  const commit = await source.commitOf(branch.name)
  if (commit === undefined) return removeBranch(app, branch)
  const hasMissing = await isContentMissing(app.db, branch)
  const isCurrent = branch.isComplete && branch.commit === commit && branch.rules === rules.name
  if (isCurrent && !hasMissing) return
  const refusal = await findRefusal(app.db, branch.id)
  if (refusal?.key === refusalKey(commit, rules)) throw tooLarge(branch, refusal.problem)
  try {
    const changes = await changesTo(run, commit, hasMissing)
    if (refusal !== undefined) changes.removed.push(REFUSED_PATH)
    if (run.isStopped()) return
    if (!branch.isComplete) await beginBranch(run, commit, changes)
    const ids = await readContents(run, changes, commit)
    if (ids !== undefined) await finishBranch(run, commit, changes, ids)
  } catch (error) {
    const refused = error instanceof TooManyEntries ? new BranchTooLarge(error.max, "files") : error
    if (!(refused instanceof BranchTooLarge)) throw error
    await refuseBranch(run, commit, refused.message)
    throw tooLarge(branch, refused.message)
  }
}

/** Names a commit that is not read again by the same rules. */
export function refusalKey(commit: string, rules: DocumentRules): string {
  return `too-large:${commit}:${rules.name}`
}

function tooLarge({ name }: DocumentationBranch, problem: string): AppError {
  return new AppError("unavailable", `branch ${echoed(name)} ${problem}`, {
    hint: "Folders to leave out are named under documentation.ignore in your config file.",
  })
}

/** Notes that a commit is not read; what was read of others before stays. */
async function refuseBranch(
  { app, branch, rules }: BranchRun,
  commit: string,
  problem: string,
): Promise<void> {
  const { id, repositoryId } = branch
  const key = refusalKey(commit, rules)
  await app.db.transaction(`documentation:${repositoryId}`, async (tx) => {
    const ids = await storeContents(tx, app, repositoryId, [{ key, ...withTerms(nothing(problem)) }])
    const blobId = ids.get(key)
    assert(blobId !== undefined, "a content that was stored has an id")
    await putBranchFile(tx, id, { path: REFUSED_PATH, blobId, changedAtMs: null })
  })
}

/** Removes a branch with its files; what no other has is removed by the next sync. */
export async function removeBranch(app: App, branch: DocumentationBranch): Promise<void> {
  const { id, repositoryId } = branch
  await app.db.transaction(`documentation:${repositoryId}`, async (tx) => {
    await removeBranchFiles(tx, id)
    await removeDocumentationBranch(tx, id)
    await recordDeletion(tx, branch, app.now())
  })
}

async function changesTo(run: BranchRun, commit: string, isWhole: boolean): Promise<BranchChanges> {
  const { app, branch, source, rules, signal } = run
  const { documentsMax = BRANCH_DOCUMENTS_MAX, entriesMax } = run.limits
  const isSmallStep = branch.isComplete && branch.rules === rules.name && !isWhole
  const since = isSmallStep ? branch.commit : null
  const changed = since === null ? null : await source.changes(since, commit, signal, entriesMax)
  const changes: BranchChanges = { since: changed === null ? null : since, put: [], removed: [] }
  if (changed !== null) {
    const stored = new Set(await listBranchPaths(app.db, branch.id))
    let hasOddName = false
    for await (const change of changed) {
      hasOddName ||= change.isOddName
      addChange(changes, rules, change, stored)
      if (changes.put.length > documentsMax) throw new BranchTooLarge(documentsMax, "documents")
    }
    // Of names that read alike one may go and another stay.
    if (!hasOddName) {
      const paths = await pathsAfter(run, changes)
      if (paths.size > documentsMax) throw new BranchTooLarge(documentsMax, "documents")
      return changes
    }
    changes.put.length = 0
    changes.removed.length = 0
  }
  const stored = await branchKeys(app.db, branch.id)
  let documents = 0
  for await (const entry of source.entries(commit, signal, entriesMax)) {
    const key = keyOf(rules, entry)
    if (key === null) continue
    if (++documents > documentsMax) throw new BranchTooLarge(documentsMax, "documents")
    if (stored.get(entry.path) !== key) changes.put.push({ path: entry.path, key, entry })
    stored.delete(entry.path)
  }
  changes.removed.push(...stored.keys())
  return changes
}

function addChange(
  changes: BranchChanges,
  rules: DocumentRules,
  { path, entry }: SourceChange,
  stored: ReadonlySet<string>,
): void {
  const key = entry === null ? null : keyOf(rules, entry)
  if (entry !== null && key !== null) changes.put.push({ path, key, entry })
  else if (stored.has(path)) changes.removed.push(path)
}

/** Returns the paths that a branch has after a change. */
async function pathsAfter({ app, branch }: BranchRun, { put, removed }: BranchChanges): Promise<Set<string>> {
  const paths = new Set(await listBranchPaths(app.db, branch.id))
  paths.delete(REFUSED_PATH)
  for (const path of removed) paths.delete(path)
  for (const { path } of put) paths.add(path)
  return paths
}

/** Takes away what a reading that was broken off has left of another commit, so that all files are of one. */
async function beginBranch(run: BranchRun, commit: string, changes: BranchChanges): Promise<void> {
  const { app, branch, rules } = run
  await app.db.transaction(`documentation:${branch.repositoryId}`, async (tx) => {
    for (const path of [...changes.removed, ...changes.put.map((change) => change.path)])
      await removeBranchFile(tx, branch.id, path)
    await putDocumentationBranch(tx, { ...branch, commit, rules: rules.name, isComplete: false })
  })
}

/** Turns a branch to its new files, all at once, with the times of their last changes. */
async function finishBranch(
  run: BranchRun,
  commit: string,
  changes: BranchChanges,
  ids: ReadonlyMap<string, number>,
): Promise<void> {
  const { app, branch, rules } = run
  const { put, removed } = changes
  const dated = await datesOf(run, commit, changes)
  await app.db.transaction(`documentation:${branch.repositoryId}`, async (tx) => {
    for (const path of removed) await removeBranchFile(tx, branch.id, path)
    for (const { path, key } of put) {
      const blobId = ids.get(key) ?? (await findBlob(tx, branch.repositoryId, key))
      if (blobId !== undefined)
        await putBranchFile(tx, branch.id, { path, blobId, changedAtMs: dated.get(path) ?? null })
    }
    const isPut = new Set(put.map(({ path }) => path))
    for (const [path, ms] of dated) if (!isPut.has(path)) await putChangedAt(tx, branch.id, path, ms)
    const indexedAtMs = app.now()
    await putDocumentationBranch(tx, { ...branch, commit, rules: rules.name, isComplete: true, indexedAtMs })
    await recordReading(tx, { ...branch, commit }, changes, indexedAtMs)
  })
}

/** Returns when the files of a branch were last changed, as far as that is not known yet. */
async function datesOf(run: BranchRun, commit: string, changes: BranchChanges): Promise<Map<string, number>> {
  return run.source.changedAt(commit, await pathsAfter(run, changes), changes.since, run.signal)
}
