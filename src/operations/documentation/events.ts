/** What is told of documentation: which branches of which repository, and how much; never what it says. */

import type { Queries } from "../../db/database.ts"
import type { DocumentationBranch } from "../../domain/documentation/documentation.ts"
import { OWN_ACTOR } from "../../domain/events/kinds.ts"
import { countBranchFiles, REFUSED_PATH } from "../../store/documentation/documents.ts"
import { recordEvent } from "../../store/events.ts"
import type { BranchChanges } from "./reading.ts"

/**
 * Records that a branch has turned to its new files, in the transaction in which it does; `branch` is as it was, with
 * the new commit. A commit that changes no document is told to nobody.
 */
export async function recordReading(
  tx: Queries,
  branch: DocumentationBranch,
  { put, removed }: BranchChanges,
  nowMs: number,
): Promise<void> {
  const changed = { put: put.length, removed: removed.filter((path) => path !== REFUSED_PATH).length }
  if (branch.isComplete && changed.put + changed.removed === 0) return
  const { files, chunks } = await countBranchFiles(tx, branch.id)
  const event = {
    kind: branch.isComplete ? ("documentation.updated" as const) : ("documentation.indexed" as const),
    repositoryId: branch.repositoryId,
    actor: OWN_ACTOR,
    data: {
      branch: branch.name,
      commit: branch.commit,
      files,
      chunks,
      ...(branch.isComplete ? changed : {}),
    },
  }
  await recordEvent(tx, event, nowMs)
}

/** Records that a branch is gone with what was searched of it, in the transaction in which it goes. */
export async function recordDeletion(
  tx: Queries,
  { repositoryId, name, commit }: DocumentationBranch,
  nowMs: number,
): Promise<void> {
  if (commit === null) return
  const data = { branch: name, commit }
  await recordEvent(tx, { kind: "documentation.deleted", repositoryId, actor: OWN_ACTOR, data }, nowMs)
}

/** Records that somebody has let the documentation of a repository go, in the transaction in which that is done. */
export async function recordLettingGo(
  tx: Queries,
  repositoryId: number,
  branches: readonly DocumentationBranch[],
  nowMs: number,
): Promise<void> {
  const names = branches.filter(({ commit }) => commit !== null).map(({ name }) => name)
  if (names.length === 0) return
  await recordEvent(tx, { kind: "documentation.deleted", repositoryId, data: { branches: names } }, nowMs)
}
