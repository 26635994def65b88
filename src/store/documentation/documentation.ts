/** Repositories and branches whose documentation is searched. */

import type { Queries } from "../../db/database.ts"
import type {
  DocumentationBranch,
  DocumentedRepository,
  IndexingWork,
} from "../../domain/documentation/documentation.ts"
import { nextNumber } from "../numbers.ts"
import { flag } from "../rows.ts"
import {
  type DocumentationBranchRow,
  type DocumentedRepositoryRow,
  toDocumentationBranch,
  toDocumentedRepository,
} from "./rows.ts"

const REPOSITORY_COLUMNS = "repository_id, is_wanted, clone_url, remote_url, vectors_version, work, problem"
const BRANCH_COLUMNS = "id, repository_id, name, commit_hash, rules, is_complete, version, indexed_at_ms"

export const documentationStatements = {
  putRepository: `
    INSERT INTO documentation_repositories
      (repository_id, is_wanted, clone_url, remote_url, last_number, vectors_version)
    VALUES (?, ?, ?, ?, 0, 0)
    ON CONFLICT (repository_id) DO UPDATE SET
      is_wanted = excluded.is_wanted, clone_url = excluded.clone_url, remote_url = excluded.remote_url`,
  findRepository: `SELECT ${REPOSITORY_COLUMNS} FROM documentation_repositories WHERE repository_id = ?`,
  listRepositories: `SELECT ${REPOSITORY_COLUMNS} FROM documentation_repositories WHERE is_wanted = 1 ORDER BY repository_id`,
  removeRepository: "DELETE FROM documentation_repositories WHERE repository_id = ?",
  letGo:
    "UPDATE documentation_repositories SET is_wanted = 0, work = NULL, problem = NULL WHERE repository_id = ?",
  listRemovals: `
    SELECT r.repository_id AS id FROM documentation_repositories r
    WHERE r.is_wanted = 0 AND (r.clone_url IS NOT NULL
      OR EXISTS (SELECT 1 FROM documentation_branches b WHERE b.repository_id = r.repository_id)
      OR EXISTS (SELECT 1 FROM documentation_blobs b WHERE b.repository_id = r.repository_id))
    ORDER BY r.repository_id`,
  putWork: "UPDATE documentation_repositories SET work = ? WHERE repository_id = ?",
  putProblem: "UPDATE documentation_repositories SET problem = ? WHERE repository_id = ?",
  bumpVectorsVersion: `
    UPDATE documentation_repositories SET vectors_version = ? WHERE repository_id = ?`,
  takeNumbers: `
    UPDATE documentation_repositories SET last_number = last_number + ? WHERE repository_id = ?
    RETURNING last_number AS number`,
  findBranch: `SELECT ${BRANCH_COLUMNS} FROM documentation_branches WHERE repository_id = ? AND name = ?`,
  listBranches: `SELECT ${BRANCH_COLUMNS} FROM documentation_branches WHERE repository_id = ? ORDER BY name`,
  insertBranch: `
    INSERT INTO documentation_branches (repository_id, name, rules, is_complete, version)
    VALUES (?, ?, '', 0, 0) ON CONFLICT (repository_id, name) DO NOTHING`,
  putBranch: `
    UPDATE documentation_branches
    SET commit_hash = ?, rules = ?, is_complete = ?, version = ?, indexed_at_ms = ? WHERE id = ?`,
  removeBranch: "DELETE FROM documentation_branches WHERE id = ?",
}

/** Stores whether a repository's documentation is searched, and where it came from. */
export async function putDocumentedRepository(
  tx: Queries,
  repository: Pick<DocumentedRepository, "repositoryId" | "isWanted" | "cloneUrl" | "remoteUrl">,
): Promise<void> {
  const { repositoryId, isWanted, cloneUrl, remoteUrl } = repository
  await tx.run(documentationStatements.putRepository, [repositoryId, flag(isWanted), cloneUrl, remoteUrl])
}

/** Returns what is known of a repository's documentation, also when somebody has let it go. */
export async function findDocumentedRepository(
  db: Queries,
  repositoryId: number,
): Promise<DocumentedRepository | undefined> {
  const row = await db.get<DocumentedRepositoryRow>(documentationStatements.findRepository, [repositoryId])
  return row && toDocumentedRepository(row)
}

/** Returns the repositories whose documentation is searched. */
export async function listDocumentedRepositories(db: Queries): Promise<DocumentedRepository[]> {
  const rows = await db.all<DocumentedRepositoryRow>(documentationStatements.listRepositories)
  return rows.map(toDocumentedRepository)
}

/** Forgets that a repository's documentation is searched; its branches have to be gone. */
export async function removeDocumentedRepository(tx: Queries, repositoryId: number): Promise<void> {
  await tx.run(documentationStatements.removeRepository, [repositoryId])
}

/** Lets a repository's documentation go: from now on no search shows it. What is stored of it is to be removed. */
export async function letDocumentationGo(tx: Queries, repositoryId: number): Promise<void> {
  await tx.run(documentationStatements.letGo, [repositoryId])
}

/** Returns the ids of the repositories that were let go and of which something is left to be removed. */
export async function listRemovals(db: Queries): Promise<number[]> {
  return (await db.all<{ id: number }>(documentationStatements.listRemovals)).map(({ id }) => id)
}

/** Says what is being done with a repository; null when nothing is. */
export async function putIndexingWork(
  tx: Queries,
  repositoryId: number,
  work: IndexingWork | null,
): Promise<void> {
  const text = work === null ? null : JSON.stringify(work)
  await tx.run(documentationStatements.putWork, [text, repositoryId])
}

/** Says what keeps a repository from being read; null when nothing does. */
export async function putIndexingProblem(
  tx: Queries,
  repositoryId: number,
  problem: string | null,
): Promise<void> {
  await tx.run(documentationStatements.putProblem, [problem, repositoryId])
}

/** Notes that chunks of a repository have got vectors. */
export async function bumpVectorsVersion(tx: Queries, repositoryId: number): Promise<void> {
  await tx.run(documentationStatements.bumpVectorsVersion, [await nextNumber(tx), repositoryId])
}

/** Takes numbers for so many chunks; returns the first. */
export async function takeChunkNumbers(tx: Queries, repositoryId: number, count: number): Promise<number> {
  const row = await tx.get<{ number: number }>(documentationStatements.takeNumbers, [count, repositoryId])
  return (row?.number ?? 0) - count + 1
}

/** Returns a branch that is searched, or undefined when that one is not. */
export async function findDocumentationBranch(
  db: Queries,
  repositoryId: number,
  name: string,
): Promise<DocumentationBranch | undefined> {
  const row = await db.get<DocumentationBranchRow>(documentationStatements.findBranch, [repositoryId, name])
  return row && toDocumentationBranch(row)
}

/** Returns the branches that are searched in a repository, by name. */
export async function listDocumentationBranches(
  db: Queries,
  repositoryId: number,
): Promise<DocumentationBranch[]> {
  const rows = await db.all<DocumentationBranchRow>(documentationStatements.listBranches, [repositoryId])
  return rows.map(toDocumentationBranch)
}

/** Begins to search a branch; nothing happens when it is searched already. */
export async function insertDocumentationBranch(
  tx: Queries,
  repositoryId: number,
  name: string,
): Promise<void> {
  await tx.run(documentationStatements.insertBranch, [repositoryId, name])
}

/** Stores what the files of a branch are of now. */
export async function putDocumentationBranch(
  tx: Queries,
  {
    id,
    commit,
    rules,
    isComplete,
    indexedAtMs,
  }: Omit<DocumentationBranch, "repositoryId" | "name" | "version">,
): Promise<void> {
  await tx.run(documentationStatements.putBranch, [
    commit,
    rules,
    flag(isComplete),
    await nextNumber(tx),
    indexedAtMs,
    id,
  ])
}

/** Removes a branch; its files have to be gone. */
export async function removeDocumentationBranch(tx: Queries, id: number): Promise<void> {
  await tx.run(documentationStatements.removeBranch, [id])
}
