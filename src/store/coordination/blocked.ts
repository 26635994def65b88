/** What others' reservations kept agents from lately. */

import type { Queries } from "../../db/database.ts"

export const blockedStatements = {
  // The kinds are as the index spells them.
  listSince: `
    SELECT e.kind, coalesce(a.name, e.actor, 'somebody') AS who, r.name AS repository, e.data, e.created_at_ms
    FROM events e LEFT JOIN agents a ON a.id = e.agent_id LEFT JOIN repositories r ON r.id = e.repository_id
    WHERE e.kind IN ('reservation.refused', 'edit.blocked') AND e.created_at_ms > ?
    ORDER BY e.created_at_ms DESC LIMIT ?`,
}

/** An edit or a reservation that was refused. */
export interface BlockedEvent {
  isEdit: boolean
  /** The agent's name, or that of its program where it had none. */
  who: string
  repository: string | null
  path: string
  holders: readonly string[]
  atMs: number
}

/** Returns what was blocked or refused after a time, the latest first, at most `limit`. */
export async function listBlockedSince(db: Queries, sinceMs: number, limit: number): Promise<BlockedEvent[]> {
  const rows = await db.all<{
    kind: string
    who: string
    repository: string | null
    data: string
    created_at_ms: number
  }>(blockedStatements.listSince, [sinceMs, limit])
  return rows.map((row) => {
    const { path, path_pattern, holders } = JSON.parse(row.data) as Record<string, unknown>
    return {
      isEdit: row.kind === "edit.blocked",
      who: row.who,
      repository: row.repository,
      path: String(path ?? path_pattern ?? ""),
      holders: Array.isArray(holders) ? holders.map(String) : [],
      atMs: row.created_at_ms,
    }
  })
}
