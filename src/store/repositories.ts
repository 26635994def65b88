/** Connected repositories. */

import type { Queries } from "../db/database.ts"
import { type Repository, repositoryNameKey } from "../domain/project.ts"
import { flag, type RepositoryRow, toRepository } from "./rows.ts"

const COLUMNS = "id, name, root_path, identity_path, default_branch, ignore_case"

export const repositoryStatements = {
  findById: `SELECT ${COLUMNS} FROM repositories WHERE id = ? AND is_connected = 1`,
  findPlace: "SELECT identity_path, is_connected FROM repositories WHERE id = ?",
  findByIdentity: `SELECT ${COLUMNS} FROM repositories WHERE identity_path = ? AND is_connected = 1`,
  findByName: `SELECT ${COLUMNS} FROM repositories WHERE name = ? AND is_connected = 1`,
  list: `SELECT ${COLUMNS} FROM repositories WHERE is_connected = 1 ORDER BY id`,
  insert: `
    INSERT INTO repositories
      (name, root_path, identity_path, default_branch, ignore_case, is_connected, created_at_ms)
    VALUES (?, ?, ?, ?, ?, 1, ?)
    ON CONFLICT (identity_path) DO UPDATE SET name = excluded.name, root_path = excluded.root_path,
      default_branch = excluded.default_branch, ignore_case = excluded.ignore_case, is_connected = 1
    RETURNING ${COLUMNS}`,
  putName: "UPDATE repositories SET name = ? WHERE id = ?",
  isInUse: `
    SELECT 1 AS used FROM repositories r WHERE r.id = ? AND (
      EXISTS (SELECT 1 FROM project_repositories p WHERE p.repository_id = r.id)
      OR EXISTS (SELECT 1 FROM agents a WHERE a.repository_id = r.id)
      OR EXISTS (SELECT 1 FROM reservations v WHERE v.repository_id = r.id)
      OR EXISTS (SELECT 1 FROM overrides o WHERE o.repository_id = r.id)
      OR EXISTS (SELECT 1 FROM memory_totals t WHERE t.repository_id = r.id)
      OR EXISTS (SELECT 1 FROM embedding_days d WHERE d.repository_id = r.id))`,
  disconnect: "UPDATE repositories SET is_connected = 0, name = ? WHERE id = ?",
  putDefaultBranch: "UPDATE repositories SET default_branch = ? WHERE id = ?",
}

export async function findRepositoryById(db: Queries, id: number): Promise<Repository | undefined> {
  const row = await db.get<RepositoryRow>(repositoryStatements.findById, [id])
  return row && toRepository(row)
}

/** Returns where a repository lies and whether it is connected now, if it ever was. */
export async function findRepositoryPlace(
  db: Queries,
  id: number,
): Promise<{ identityPath: string; isConnected: boolean } | undefined> {
  const row = await db.get<{ identity_path: string; is_connected: number }>(repositoryStatements.findPlace, [
    id,
  ])
  return row && { identityPath: row.identity_path, isConnected: row.is_connected === 1 }
}

export async function findRepositoryByIdentity(db: Queries, path: string): Promise<Repository | undefined> {
  const row = await db.get<RepositoryRow>(repositoryStatements.findByIdentity, [path])
  return row && toRepository(row)
}

/** Finds a repository by its name: the very one, else the first that differs in case alone. */
export async function findRepositoryByName(db: Queries, name: string): Promise<Repository | undefined> {
  const row = await db.get<RepositoryRow>(repositoryStatements.findByName, [name])
  if (row !== undefined) return toRepository(row)
  return (await listRepositories(db)).find((one) => repositoryNameKey(one.name) === repositoryNameKey(name))
}

export async function listRepositories(db: Queries): Promise<Repository[]> {
  return (await db.all<RepositoryRow>(repositoryStatements.list)).map(toRepository)
}

/** Connects a repository that is not connected; it gets back the id that it had. */
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

export async function putDefaultBranch(tx: Queries, id: number, name: string | null): Promise<void> {
  await tx.run(repositoryStatements.putDefaultBranch, [name, id])
}

export async function putRepositoryName(tx: Queries, id: number, name: string): Promise<void> {
  await tx.run(repositoryStatements.putName, [name, id])
}

/** Whether agents, reservations or memories belong to a repository. */
export async function isRepositoryInUse(db: Queries, id: number): Promise<boolean> {
  return (await db.get(repositoryStatements.isInUse, [id])) !== undefined
}

/** Disconnects a repository that nothing belongs to any more; connected again it has the same id. */
export async function disconnectRow(tx: Queries, id: number): Promise<void> {
  await tx.run(repositoryStatements.disconnect, [`disconnected ${id}`, id])
}
