/** Numbers of memories, of embeddings and of states of documentation: they grow with time and are never given twice. */

import type { Queries } from "../db/database.ts"

export const memoryNumberStatements = {
  next: "UPDATE memory_numbers SET last_number = last_number + 1 WHERE id = 1 RETURNING last_number",
  last: "SELECT last_number FROM memory_numbers WHERE id = 1",
}

type NumberRow = { last_number: number }

/** Takes the next number. */
export async function nextNumber(tx: Queries): Promise<number> {
  const row = await tx.get<NumberRow>(memoryNumberStatements.next)
  return (row as NumberRow).last_number
}

/** Returns the last number that was taken. */
export async function lastNumber(db: Queries): Promise<number> {
  const row = await db.get<NumberRow>(memoryNumberStatements.last)
  return (row as NumberRow).last_number
}
