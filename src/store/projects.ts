/** Projects and their links to repositories. */

import type { Queries } from "../db/database.ts"
import type { Project } from "../domain/project.ts"
import { type ProjectRow, toProject } from "./rows.ts"

export const projectStatements = {
  findByKey: "SELECT id, key, created_at_ms FROM projects WHERE key = ?",
  findById: "SELECT id, key, created_at_ms FROM projects WHERE id = ?",
  mostActive: `
    SELECT p.id, p.key, p.created_at_ms
    FROM project_repositories l JOIN projects p ON p.id = l.project_id JOIN agents a ON a.project_id = p.id
    WHERE l.repository_id = ? ORDER BY a.last_active_at_ms DESC, p.id LIMIT 1`,
  ofRepository: `
    SELECT p.id, p.key, p.created_at_ms FROM project_repositories l JOIN projects p ON p.id = l.project_id
    WHERE l.repository_id = ? ORDER BY p.id`,
  busiest: `
    SELECT p.id, p.key, p.created_at_ms
    FROM project_repositories l JOIN projects p ON p.id = l.project_id JOIN agents a ON a.project_id = p.id
    WHERE l.repository_id = ? GROUP BY p.id, p.key, p.created_at_ms
    ORDER BY max(a.last_active_at_ms) DESC, p.id LIMIT ?`,
  listAll: "SELECT id, key, created_at_ms FROM projects ORDER BY id LIMIT ?",
  listKeys: "SELECT key FROM projects WHERE substr(key, 1, length(?)) = ? ORDER BY key LIMIT ?",
  insert: "INSERT INTO projects (key, created_at_ms) VALUES (?, ?) RETURNING id, key, created_at_ms",
  listRepositoryIds:
    "SELECT repository_id AS id FROM project_repositories WHERE project_id = ? ORDER BY repository_id",
  linkRepository: `
    INSERT INTO project_repositories (project_id, repository_id) VALUES (?, ?)
    ON CONFLICT (project_id, repository_id) DO NOTHING`,
}

/** Finds the project of a repository in which an agent was active last. */
export async function findMostActiveProject(db: Queries, repositoryId: number): Promise<Project | undefined> {
  const row = await db.get<ProjectRow>(projectStatements.mostActive, [repositoryId])
  return row && toProject(row)
}

export async function findProjectByKey(db: Queries, key: string): Promise<Project | undefined> {
  const row = await db.get<ProjectRow>(projectStatements.findByKey, [key])
  return row && toProject(row)
}

export async function findProjectById(db: Queries, id: number): Promise<Project | undefined> {
  const row = await db.get<ProjectRow>(projectStatements.findById, [id])
  return row && toProject(row)
}

/** Returns the projects whose agents work in a repository, the oldest first. */
export async function listProjectsOfRepository(db: Queries, repositoryId: number): Promise<Project[]> {
  return (await db.all<ProjectRow>(projectStatements.ofRepository, [repositoryId])).map(toProject)
}

/** Returns the projects of a repository in which an agent was active last, at most `limit`. */
export async function listBusiestProjects(
  db: Queries,
  repositoryId: number,
  limit: number,
): Promise<Project[]> {
  return (await db.all<ProjectRow>(projectStatements.busiest, [repositoryId, limit])).map(toProject)
}

/** Returns all projects, the oldest first, at most `limit`. */
export async function listProjects(db: Queries, limit: number): Promise<Project[]> {
  return (await db.all<ProjectRow>(projectStatements.listAll, [limit])).map(toProject)
}

/** Returns the keys that begin with `prefix`, in order, at most `limit`. */
export async function listProjectKeys(db: Queries, prefix: string, limit: number): Promise<string[]> {
  return (await db.all<{ key: string }>(projectStatements.listKeys, [prefix, prefix, limit])).map(
    (row) => row.key,
  )
}

export async function insertProject(tx: Queries, key: string, nowMs: number): Promise<Project> {
  const row = await tx.get<ProjectRow>(projectStatements.insert, [key, nowMs])
  return toProject(row as ProjectRow)
}

/** Returns the ids of the repositories that a project's agents work in. */
export async function listProjectRepositoryIds(db: Queries, projectId: number): Promise<number[]> {
  return (await db.all<{ id: number }>(projectStatements.listRepositoryIds, [projectId])).map((row) => row.id)
}

export async function linkRepository(tx: Queries, projectId: number, repositoryId: number): Promise<void> {
  await tx.run(projectStatements.linkRepository, [projectId, repositoryId])
}
