/** What was refused lately, so that the same is not told again at once. */

import type { Queries } from "../../db/database.ts"
import type { StoredEvent } from "../../domain/events/kinds.ts"
import { type EventRow, toEvent } from "../events.ts"

/** The literals are the index's condition, word for word. */
const REFUSED = `
  SELECT id, kind, project_id, repository_id, agent_id, actor, party_id, subject_id, data, created_at_ms FROM events
  WHERE kind IN ('reservation.refused', 'edit.blocked') AND created_at_ms > ?`

export const refusalStatements = {
  ofAgent: `${REFUSED} AND agent_id = ? ORDER BY id`,
  ofNobody: `${REFUSED} AND agent_id IS NULL ORDER BY id`,
}

/** Returns what an agent, or with null whoever has none yet, was refused after a time, oldest first. */
export async function listRefusedSince(
  db: Queries,
  agentId: number | null,
  sinceMs: number,
): Promise<StoredEvent[]> {
  const rows =
    agentId === null
      ? await db.all<EventRow>(refusalStatements.ofNobody, [sinceMs])
      : await db.all<EventRow>(refusalStatements.ofAgent, [sinceMs, agentId])
  return rows.map(toEvent)
}
