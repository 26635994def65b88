/** What ties sessions together, and what each was told. */

import type { Queries } from "../../db/database.ts"

/** The notice of a session that was found dead. */
export const DEATH_NOTICE = "died"

export const sessionStatements = {
  anchors: "SELECT anchor FROM session_anchors WHERE session = ? ORDER BY position, anchor",
  atAnchor: "SELECT session FROM session_anchors WHERE anchor = ? AND session <> ? ORDER BY session",
  putAnchor: `
    INSERT INTO session_anchors (session, anchor, position, created_at_ms) VALUES (?, ?, ?, ?)
    ON CONFLICT (session, anchor) DO UPDATE SET created_at_ms = excluded.created_at_ms`,
  removeAnchors: "DELETE FROM session_anchors WHERE session = ? OR anchor = 'session:' || ?",
  removeOldAnchors: "DELETE FROM session_anchors WHERE created_at_ms < ?",
  timeOfNotice: "SELECT created_at_ms FROM session_notices WHERE session = ? AND notice = ?",
  hasNotice: "SELECT notice FROM session_notices WHERE session = ? AND notice = ?",
  putNotice: `
    INSERT INTO session_notices (session, notice, created_at_ms) VALUES (?, ?, ?)
    ON CONFLICT (session, notice) DO NOTHING`,
  takenUp: "SELECT notice, created_at_ms FROM session_notices WHERE session = ? AND notice LIKE 'agent:%'",
  removeNotice: "DELETE FROM session_notices WHERE notice = ?",
  removeNoticeOf: "DELETE FROM session_notices WHERE session = ? AND notice = ?",
  removeOldNotices: "DELETE FROM session_notices WHERE created_at_ms < ?",
}

/** Returns what a session is tied to, nearest first. */
export async function listAnchors(db: Queries, session: string): Promise<string[]> {
  return (await db.all<{ anchor: string }>(sessionStatements.anchors, [session])).map((row) => row.anchor)
}

/** Returns the other sessions that are tied to the same anchor. */
export async function listSessionsAt(db: Queries, anchor: string, besides: string): Promise<string[]> {
  const rows = await db.all<{ session: string }>(sessionStatements.atAnchor, [anchor, besides])
  return rows.map((row) => row.session)
}

/** Ties a session to anchors, given nearest first; what it is tied to already stays. */
export async function putAnchors(
  tx: Queries,
  session: string,
  anchors: readonly string[],
  nowMs: number,
): Promise<void> {
  for (const [position, anchor] of anchors.entries()) {
    await tx.run(sessionStatements.putAnchor, [session, anchor, position, nowMs])
  }
}

/** Unties a session from all processes and from all other sessions. */
export async function removeAnchors(tx: Queries, session: string): Promise<void> {
  await tx.run(sessionStatements.removeAnchors, [session, session])
}

/** Notes that a session is told something; returns whether it is the first time. */
export async function noteOnce(
  tx: Queries,
  session: string,
  notice: string,
  nowMs: number,
): Promise<boolean> {
  return (await tx.run(sessionStatements.putNotice, [session, notice, nowMs])) > 0
}

export async function wasNotified(db: Queries, session: string, notice: string): Promise<boolean> {
  return (await db.get(sessionStatements.hasNotice, [session, notice])) !== undefined
}

/** Returns what is noted of the session that an agent was taken up from. */
export function takenUpNotice(agentId: number): string {
  return `agent:${agentId}`
}

/** Returns the agents that were taken up from a session, and when. */
export async function listTakenUp(
  db: Queries,
  session: string,
): Promise<{ agentId: number; takenUpAtMs: number }[]> {
  const rows = await db.all<{ notice: string; created_at_ms: number }>(sessionStatements.takenUp, [session])
  return rows.map(({ notice, created_at_ms }) => ({
    agentId: Number(notice.slice("agent:".length)),
    takenUpAtMs: created_at_ms,
  }))
}

/** Forgets from which sessions an agent was taken up. */
export async function removeTakenUp(tx: Queries, agentId: number): Promise<void> {
  await tx.run(sessionStatements.removeNotice, [takenUpNotice(agentId)])
}

/** Forgets what was noted before a time: those sessions are long over. */
export async function removeOldSessionNotes(tx: Queries, beforeMs: number): Promise<void> {
  await tx.run(sessionStatements.removeOldAnchors, [beforeMs])
  await tx.run(sessionStatements.removeOldNotices, [beforeMs])
}

/** Notes that a session was found dead. */
export async function noteDeath(tx: Queries, session: string, nowMs: number): Promise<void> {
  await noteOnce(tx, session, DEATH_NOTICE, nowMs)
}

/** Returns when a session was found dead; null when it was not. */
export async function findDeath(db: Queries, session: string): Promise<number | null> {
  const row = await db.get<{ created_at_ms: number }>(sessionStatements.timeOfNotice, [session, DEATH_NOTICE])
  return row?.created_at_ms ?? null
}

/** Forgets that a session was found dead: it has come back. */
export async function removeDeath(tx: Queries, session: string): Promise<void> {
  await tx.run(sessionStatements.removeNoticeOf, [session, DEATH_NOTICE])
}
