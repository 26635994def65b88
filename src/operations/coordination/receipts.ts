/** What becomes of a message with a recipient: first read, first acknowledged. */

import type { Queries } from "../../db/database.ts"
import { isNotifier } from "../../domain/coordination/agent.ts"
import type { Message, RecipientKind } from "../../domain/coordination/message.ts"
import { kindOfCopy, markAcknowledged, markRead } from "../../store/coordination/messages.ts"
import { recordReceipt } from "./recording.ts"

/** Marks a message read by an agent; returns whether it had it unread. Must run in a transaction. */
export async function noteRead(
  tx: Queries,
  message: Message,
  agentId: number,
  nowMs: number,
): Promise<boolean> {
  const kind = await markRead(tx, message.id, agentId, nowMs)
  if (kind !== undefined && (await isTold(tx, message, kind)))
    await recordReceipt(tx, "message.read", message, agentId, nowMs)
  return kind !== undefined
}

/** Marks a message acknowledged, and with that read, by a recipient that has not done so; must run in a transaction. */
export async function noteAcknowledged(
  tx: Queries,
  message: Message,
  own: { agentId: number; kind: RecipientKind },
  nowMs: number,
): Promise<void> {
  await noteRead(tx, message, own.agentId, nowMs)
  await markAcknowledged(tx, message.id, own.agentId, nowMs)
  if (await isTold(tx, message, own.kind))
    await recordReceipt(tx, "message.acknowledged", message, own.agentId, nowMs)
}

/** What everybody may see must not tell of a bcc recipient, nor of its answer, nor of notices. */
async function isTold(
  tx: Queries,
  { parentId, senderId, senderName }: Message,
  kind: RecipientKind,
): Promise<boolean> {
  if (kind === "bcc" || isNotifier(senderName)) return false
  return parentId === null || (await kindOfCopy(tx, parentId, senderId)) !== "bcc"
}
