/** What an agent was told of by a call that waits for mail, so that it is told once; reading mail is another thing. */

import type { Queries } from "../../db/database.ts"
import type { InboxMessage } from "../../domain/coordination/message.ts"
import { flag, type InboxRow, toInboxMessage } from "../rows.ts"
import { INBOX } from "./messages.ts"

export const mailMarkStatements = {
  // The condition on what is unread is as the inbox index spells it.
  untold: `
    ${INBOX} WHERE r.agent_id = ? AND CASE WHEN r.read_at_ms IS NULL THEN 0 ELSE 1 END = 0
      AND (? IS NULL OR a.name_key = ?) AND (? IS NULL OR t.key = ?)
      AND NOT EXISTS (SELECT k.message_id FROM mail_marks k WHERE k.agent_id = r.agent_id AND k.message_id = m.id)
    ORDER BY r.message_id LIMIT ?`,
  mark: "INSERT INTO mail_marks (agent_id, message_id) VALUES (?, ?)",
  // What was read meanwhile is told no more anyway.
  forgetRead: `
    DELETE FROM mail_marks WHERE agent_id = ? AND message_id IN (
      SELECT r.message_id FROM message_recipients r
      WHERE r.agent_id = mail_marks.agent_id AND r.message_id = mail_marks.message_id AND r.read_at_ms IS NOT NULL)`,
}

/** Which mail is waited for. */
export interface AwaitedMail {
  /** Who wrote it, as `nameKey` spells it. */
  senderKey: string | undefined
  threadKey: string | undefined
}

/** Returns an agent's unread mail that it was not told of, with its texts, oldest first, at most `limit`. */
export async function listUntoldMail(
  db: Queries,
  agentId: number,
  { senderKey = null, threadKey = null }: { [K in keyof AwaitedMail]: AwaitedMail[K] | null },
  limit: number,
): Promise<InboxMessage[]> {
  const args = [flag(true), agentId, senderKey, senderKey, threadKey, threadKey, limit]
  return (await db.all<InboxRow>(mailMarkStatements.untold, args)).map(toInboxMessage)
}

/** Marks messages as told to an agent, none of which was; forgets the marks of those that it has read since. */
export async function markTold(tx: Queries, agentId: number, messageIds: readonly number[]): Promise<void> {
  await tx.run(mailMarkStatements.forgetRead, [agentId])
  for (const id of messageIds) await tx.run(mailMarkStatements.mark, [agentId, id])
}
