/** Events with the names of what they are about, a page at a time. */

import type { Queries } from "../db/database.ts"
import type { NamedEvent } from "../domain/events/visibility.ts"
import { type EventRow, toEvent } from "./events.ts"

const SELECT = `
  SELECT e.id, e.kind, e.project_id, e.repository_id, e.agent_id, e.actor, e.party_id, e.subject_id, e.data,
    e.created_at_ms, p.key AS project_key, r.name AS repository_name, a.name AS agent_name
  FROM events e LEFT JOIN projects p ON p.id = e.project_id LEFT JOIN repositories r ON r.id = e.repository_id
    LEFT JOIN agents a ON a.id = e.agent_id`

export const eventFeedStatements = {
  listAfter: `${SELECT} WHERE e.id > ? ORDER BY e.id LIMIT ?`,
  listBefore: `${SELECT} WHERE e.id < ? ORDER BY e.id DESC LIMIT ?`,
  listLinks: `
    SELECT project_id, repository_id FROM project_repositories
    WHERE project_id IN (SELECT project_id FROM events WHERE id BETWEEN ? AND ?) ORDER BY repository_id`,
}

type NamedEventRow = EventRow & {
  project_key: string | null
  repository_name: string | null
  agent_name: string | null
}

/** Returns the events after an id with their names, oldest first, at most `limit`. */
export async function listNamedEventsAfter(db: Queries, id: number, limit: number): Promise<NamedEvent[]> {
  return named(db, await db.all<NamedEventRow>(eventFeedStatements.listAfter, [id, limit]))
}

/** Returns the events before an id with their names, newest first, at most `limit`. */
export async function listNamedEventsBefore(db: Queries, id: number, limit: number): Promise<NamedEvent[]> {
  return named(db, await db.all<NamedEventRow>(eventFeedStatements.listBefore, [id, limit]))
}

async function named(db: Queries, rows: readonly NamedEventRow[]): Promise<NamedEvent[]> {
  const ids = rows.map(({ id }) => id)
  const links = new Map<number, number[]>()
  if (rows.some((row) => row.project_id !== null)) {
    const range = [Math.min(...ids), Math.max(...ids)]
    for (const link of await db.all<{ project_id: number; repository_id: number }>(
      eventFeedStatements.listLinks,
      range,
    ))
      links.set(link.project_id, [...(links.get(link.project_id) ?? []), link.repository_id])
  }
  return rows.map((row) => ({
    ...toEvent(row),
    projectKey: row.project_key,
    repositoryName: row.repository_name,
    agentName: row.agent_name,
    linkedRepositoryIds: (row.project_id === null ? undefined : links.get(row.project_id)) ?? [],
  }))
}
