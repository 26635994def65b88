/** What is known of a session's turn: when its user last prompted it, and what it was handed since. */

import type { Queries } from "../../db/database.ts"

export const turnStatements = {
  find: "SELECT pushes, prompted_at_ms, mentioned_to FROM turn_pushes WHERE session = ?",
  prompt: `
    INSERT INTO turn_pushes (session, pushes, prompted_at_ms, mentioned_to) VALUES (?, 0, ?, ?)
    ON CONFLICT (session) DO UPDATE
      SET pushes = 0, prompted_at_ms = excluded.prompted_at_ms, mentioned_to = excluded.mentioned_to`,
  countPush: `
    INSERT INTO turn_pushes (session, pushes, prompted_at_ms, mentioned_to) VALUES (?, 1, ?, 0)
    ON CONFLICT (session) DO UPDATE SET pushes = turn_pushes.pushes + 1`,
  welcome: `
    INSERT INTO turn_pushes (session, pushes, prompted_at_ms, mentioned_to)
    VALUES (?, 0, ?, (SELECT coalesce(max(message_id), 0) FROM message_recipients WHERE agent_id = ?))
    ON CONFLICT (session) DO UPDATE SET mentioned_to = CASE
      WHEN excluded.mentioned_to > turn_pushes.mentioned_to THEN excluded.mentioned_to ELSE turn_pushes.mentioned_to END`,
  removeOld: "DELETE FROM turn_pushes WHERE prompted_at_ms < ?",
}

export interface Turn {
  /** How often the session was handed mail since its user's last prompt. */
  pushes: number
  /** 0 where no prompt was heard of. */
  promptedAtMs: number
  /** The newest message that the session was told of in passing; 0 for none. */
  mentionedTo: number
}

/** Returns what is known of a session's turn; of one that nothing is known of, that it has no beginning. */
export async function findTurn(db: Queries, session: string): Promise<Turn> {
  const row = await db.get<{ pushes: number; prompted_at_ms: number; mentioned_to: number }>(
    turnStatements.find,
    [session],
  )
  return {
    pushes: row?.pushes ?? 0,
    promptedAtMs: row?.prompted_at_ms ?? 0,
    mentionedTo: row?.mentioned_to ?? 0,
  }
}

/** Notes that a session's user has prompted it, and up to which message it is told of mail with that. */
export async function notePrompt(
  tx: Queries,
  session: string,
  mentionedTo: number,
  nowMs: number,
): Promise<void> {
  await tx.run(turnStatements.prompt, [session, nowMs, mentionedTo])
}

/** Counts that a session was kept from stopping. */
export async function countPush(tx: Queries, session: string, nowMs: number): Promise<void> {
  await tx.run(turnStatements.countPush, [session, nowMs])
}

/** Notes that a session was told how much mail waits for its agent; a turn that has begun goes on. */
export async function noteWelcome(
  tx: Queries,
  session: string,
  agentId: number,
  nowMs: number,
): Promise<void> {
  await tx.run(turnStatements.welcome, [session, nowMs, agentId])
}

/** Forgets the turns that began before a time: those sessions are long over. */
export async function removeOldTurns(tx: Queries, beforeMs: number): Promise<void> {
  await tx.run(turnStatements.removeOld, [beforeMs])
}
