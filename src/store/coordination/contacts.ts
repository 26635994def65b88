/** Contacts and blocks, and the facts about two agents that decide on mail between them. */

import type { Queries } from "../../db/database.ts"
import type { Contact, ContactStatus } from "../../domain/coordination/contact.ts"
import { type ContactRow, toContact } from "../rows.ts"

const SELECT = `
  SELECT c.id, c.project_id, c.requester_id, a.name AS requester_name, c.recipient_id, b.name AS recipient_name,
    c.status, c.reason, c.response, c.requested_at_ms, c.responded_at_ms
  FROM contacts c JOIN agents a ON a.id = c.requester_id JOIN agents b ON b.id = c.recipient_id`

export const contactStatements = {
  findById: `${SELECT} WHERE c.id = ?`,
  findByPair: `${SELECT} WHERE c.requester_id = ? AND c.recipient_id = ?`,
  listForAgent: `
    ${SELECT} WHERE (c.requester_id = ? OR c.recipient_id = ?) AND (? IS NULL OR c.status = ?)
    ORDER BY c.requested_at_ms DESC, c.id DESC`,
  put: `
    INSERT INTO contacts (project_id, requester_id, recipient_id, status, reason, response, requested_at_ms, responded_at_ms)
    VALUES (?, ?, ?, ?, ?, NULL, ?, ?)
    ON CONFLICT (requester_id, recipient_id) DO UPDATE SET
      status = excluded.status, reason = excluded.reason, response = NULL,
      requested_at_ms = excluded.requested_at_ms, responded_at_ms = excluded.responded_at_ms
    RETURNING id`,
  respond: "UPDATE contacts SET status = ?, response = ?, responded_at_ms = ? WHERE id = ?",
  block: `
    INSERT INTO blocks (blocker_id, blocked_id, reason, created_at_ms) VALUES (?, ?, ?, ?)
    ON CONFLICT (blocker_id, blocked_id) DO UPDATE SET reason = excluded.reason`,
  unblock: "DELETE FROM blocks WHERE blocker_id = ? AND blocked_id = ?",
  facts: `
    SELECT
      CASE WHEN EXISTS (SELECT 1 FROM blocks WHERE blocker_id = ? AND blocked_id = ?) THEN 1 ELSE 0 END AS blocked,
      CASE WHEN EXISTS (
        SELECT 1 FROM contacts WHERE status = 'approved'
          AND ((requester_id = ? AND recipient_id = ?) OR (recipient_id = ? AND requester_id = ?))
      ) THEN 1 ELSE 0 END AS approved,
      CASE WHEN EXISTS (
        SELECT 1 FROM contacts WHERE status = 'denied' AND requester_id = ? AND recipient_id = ?
      ) THEN 1 ELSE 0 END AS denied`,
  liftDenial: "DELETE FROM contacts WHERE requester_id = ? AND recipient_id = ? AND status = 'denied'",
}

export async function findContactById(db: Queries, id: number): Promise<Contact | undefined> {
  const row = await db.get<ContactRow>(contactStatements.findById, [id])
  return row && toContact(row)
}

export async function findContact(
  db: Queries,
  requesterId: number,
  recipientId: number,
): Promise<Contact | undefined> {
  const row = await db.get<ContactRow>(contactStatements.findByPair, [requesterId, recipientId])
  return row && toContact(row)
}

/** Returns what an agent asked and was asked, the latest first. */
export async function listContacts(db: Queries, agentId: number, status?: ContactStatus): Promise<Contact[]> {
  const wanted = status ?? null
  return (await db.all<ContactRow>(contactStatements.listForAgent, [agentId, agentId, wanted, wanted])).map(
    toContact,
  )
}

interface NewContact {
  projectId: number
  requesterId: number
  recipientId: number
  status: ContactStatus
  reason: string
}

/** Files a contact request or reopens the one there is; returns its id. */
export async function putContact(tx: Queries, contact: NewContact, nowMs: number): Promise<number> {
  const respondedAtMs = contact.status === "pending" ? null : nowMs
  const row = await tx.get<{ id: number }>(contactStatements.put, [
    contact.projectId,
    contact.requesterId,
    contact.recipientId,
    contact.status,
    contact.reason,
    nowMs,
    respondedAtMs,
  ])
  return (row as { id: number }).id
}

export async function respondToContact(
  tx: Queries,
  contactId: number,
  answer: { status: ContactStatus; response: string | null },
  nowMs: number,
): Promise<void> {
  await tx.run(contactStatements.respond, [answer.status, answer.response, nowMs, contactId])
}

export async function putBlock(
  tx: Queries,
  blockerId: number,
  blockedId: number,
  reason: string | null,
  nowMs: number,
): Promise<void> {
  await tx.run(contactStatements.block, [blockerId, blockedId, reason, nowMs])
}

/** Lifts a block; returns whether there was one. */
export async function removeBlock(tx: Queries, blockerId: number, blockedId: number): Promise<boolean> {
  return (await tx.run(contactStatements.unblock, [blockerId, blockedId])) > 0
}

/** Takes back a denial of a request; returns whether there was one. */
export async function liftDenial(tx: Queries, requesterId: number, recipientId: number): Promise<boolean> {
  return (await tx.run(contactStatements.liftDenial, [requesterId, recipientId])) > 0
}

/** Returns whether the recipient has blocked or denied the sender, and whether a contact between them is approved. */
export async function findContactFacts(
  db: Queries,
  senderId: number,
  recipientId: number,
): Promise<{ blocked: boolean; approved: boolean; denied: boolean }> {
  const row = await db.get<{ blocked: number; approved: number; denied: number }>(contactStatements.facts, [
    recipientId,
    senderId,
    senderId,
    recipientId,
    senderId,
    recipientId,
    senderId,
    recipientId,
  ])
  return { blocked: row?.blocked === 1, approved: row?.approved === 1, denied: row?.denied === 1 }
}
