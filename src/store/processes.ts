/** The table of live server processes. Whether one still lives is found out elsewhere. */

import type { Queries } from "../db/database.ts"

interface ServerProcess {
  id: number
  pid: number
  /** Tells the process from a later one with the same pid. */
  identityMark: string
  session: string
}

export const processStatements = {
  list: "SELECT id, pid, identity_mark, session FROM server_processes ORDER BY id",
  insert:
    "INSERT INTO server_processes (pid, identity_mark, session, started_at_ms) VALUES (?, ?, ?, ?) RETURNING id",
  remove: "DELETE FROM server_processes WHERE id = ?",
  hasSession: "SELECT id FROM server_processes WHERE session = ? LIMIT 1",
}

export async function listProcesses(db: Queries): Promise<ServerProcess[]> {
  const rows = await db.all<{ id: number; pid: number; identity_mark: string; session: string }>(
    processStatements.list,
  )
  return rows.map((row) => ({
    id: row.id,
    pid: row.pid,
    identityMark: row.identity_mark,
    session: row.session,
  }))
}

/** Returns the new row's id. */
export async function insertProcess(
  tx: Queries,
  process: Omit<ServerProcess, "id">,
  nowMs: number,
): Promise<number> {
  const row = await tx.get<{ id: number }>(processStatements.insert, [
    process.pid,
    process.identityMark,
    process.session,
    nowMs,
  ])
  return (row as { id: number }).id
}

export async function removeProcess(tx: Queries, id: number): Promise<void> {
  await tx.run(processStatements.remove, [id])
}

/** Whether a server process of this session is in the table. */
export async function isSessionListed(db: Queries, session: string): Promise<boolean> {
  return (await db.get(processStatements.hasSession, [session])) !== undefined
}
