/** Ids of memories as people type them: their beginnings. */

import type { Queries } from "../../db/database.ts"

export const memoryIdStatements = {
  beginning:
    "SELECT uuid FROM memories WHERE uuid >= ? AND uuid < ? AND repository_id = ? ORDER BY uuid LIMIT ?",
}

/** Sorts after the digits of ids, wherever capitals and signs may sort. */
const AFTER_IDS = "g"

/** Returns the ids of a repository's memories that begin with a text in small letters, in order, at most `limit`. */
export async function listIdsBeginning(
  db: Queries,
  repositoryId: number,
  beginning: string,
  limit: number,
): Promise<string[]> {
  const args = [beginning, `${beginning}${AFTER_IDS}`, repositoryId, limit]
  const rows = await db.all<{ uuid: string }>(memoryIdStatements.beginning, args)
  return rows.map(({ uuid }) => uuid)
}
