/** Connected repositories. */

import type { Queries } from "../db/database.ts"
import type { Repository } from "../domain/project.ts"
import { flag, type RepositoryRow, toRepository } from "./rows.ts"

const COLUMNS = "id, name, root_path, identity_path, default_branch, ignore_case"

export const repositoryStatements = {
  findById: `SELECT ${COLUMNS} FROM repositories WHERE id = ?`,
  findByIdentity: `SELECT ${COLUMNS} FROM repositories WHERE identity_path = ?`,
  findByName: `SELECT ${COLUMNS} FROM repositories WHERE name = ?`,
  list: `SELECT ${COLUMNS} FROM repositories ORDER BY id`,
  insert: `
    INSERT INTO repositories (name, root_path, identity_path, default_branch, ignore_case, created_at_ms)
    VALUES (?, ?, ?, ?, ?, ?) RETURNING ${COLUMNS}`,
}

export async function findRepositoryById(db: Queries, id: number): Promise<Repository | undefined> {
  const row = await db.get<RepositoryRow>(repositoryStatements.findById, [id])
  return row && toRepository(row)
}

export async function findRepositoryByIdentity(db: Queries, path: string): Promise<Repository | undefined> {
  const row = await db.get<RepositoryRow>(repositoryStatements.findByIdentity, [path])
  return row && toRepository(row)
}

export async function findRepositoryByName(db: Queries, name: string): Promise<Repository | undefined> {
  const row = await db.get<RepositoryRow>(repositoryStatements.findByName, [name])
  return row && toRepository(row)
}

export async function listRepositories(db: Queries): Promise<Repository[]> {
  return (await db.all<RepositoryRow>(repositoryStatements.list)).map(toRepository)
}

export async function insertRepository(
  tx: Queries,
  repository: Omit<Repository, "id">,
  nowMs: number,
): Promise<Repository> {
  const { name, rootPath, identityPath, defaultBranch, ignoreCase } = repository
  const row = await tx.get<RepositoryRow>(repositoryStatements.insert, [
    name,
    rootPath,
    identityPath,
    defaultBranch,
    flag(ignoreCase),
    nowMs,
  ])
  return toRepository(row as RepositoryRow)
}
