/** Ids of memories: those of some rows, and those that begin as people type them. */

import type { Queries } from "../../db/database.ts"

/** Ids that one statement reads. */
const FOUND_AT_ONCE = 10

export const memoryIdStatements = {
  ofRows: `SELECT id, uuid FROM memories WHERE id IN (${Array(FOUND_AT_ONCE).fill("?").join(", ")})`,
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

/** Returns the ids of the memories in some rows, by row. */
export async function idsOfRows(db: Queries, rows: readonly number[]): Promise<Map<number, string>> {
  const ids = new Map<number, string>()
  for (let from = 0; from < rows.length; from += FOUND_AT_ONCE) {
    const args = Array.from({ length: FOUND_AT_ONCE }, (_, at) => rows[from + at] ?? 0)
    const found = await db.all<{ id: number; uuid: string }>(memoryIdStatements.ofRows, args)
    for (const { id, uuid } of found) ids.set(id, uuid)
  }
  return ids
}
