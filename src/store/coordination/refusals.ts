/** What was refused lately, so that the same is not told again at once. */

import type { Queries } from "../../db/database.ts"
import type { NewEvent } from "../events.ts"

/** The literals are the index's condition, word for word; data begins with the path. */
const WANTED = `
  WHERE kind IN ('reservation.refused', 'edit.blocked') AND created_at_ms > ? AND kind = ? AND repository_id = ?
    AND substr(data, 1, ?) = ?`

export const refusalStatements = {
  ofAgent: `SELECT id FROM events ${WANTED} AND agent_id = ? LIMIT 1`,
  ofNobody: `SELECT id FROM events ${WANTED} AND agent_id IS NULL AND actor = ? LIMIT 1`,
}

/** Whether an event of its kind and path was recorded for the same asking after a time. */
export async function wasRefusedSince(
  db: Queries,
  { kind, repositoryId, agentId, actor, data }: NewEvent,
  sinceMs: number,
): Promise<boolean> {
  const [path] = Object.entries(data)
  const beginning = `${JSON.stringify(path === undefined ? {} : { [path[0]]: path[1] }).slice(0, -1)},`
  const args = [sinceMs, kind, repositoryId ?? null, [...beginning].length, beginning]
  const found =
    agentId == null
      ? await db.get(refusalStatements.ofNobody, [...args, actor ?? null])
      : await db.get(refusalStatements.ofAgent, [...args, agentId])
  return found !== undefined
}
