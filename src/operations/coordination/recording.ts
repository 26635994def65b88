/** What coordination writes down of what happened: which facts an event of each sort has. Bodies never stand in one. */

import type { Queries } from "../../db/database.ts"
import type { Agent } from "../../domain/coordination/agent.ts"
import type { Contact } from "../../domain/coordination/contact.ts"
import type { Message } from "../../domain/coordination/message.ts"
import type { Override } from "../../domain/coordination/override.ts"
import { modeOf, type Reservation } from "../../domain/coordination/reservation.ts"
import type { EventKind } from "../../domain/events/kinds.ts"
import { recordEvent } from "../../store/events.ts"
import type { Delivered, Draft } from "./writing.ts"

/** Records that a message was sent; of bcc recipients nothing is told. Must run in the transaction of the change. */
export function recordSent(
  tx: Queries,
  projectId: number,
  { sender, recipients, ...draft }: Draft,
  { messageId, threadKey, sentAtMs }: Delivered,
): Promise<void> {
  const namesOf = (kind: "to" | "cc") =>
    [...recipients].filter(([, one]) => one === kind).map(([{ name }]) => name)
  const data = {
    ...messageData({ ...draft, id: messageId, threadKey }),
    to: namesOf("to"),
    cc: namesOf("cc"),
  }
  const event = { kind: "message.sent", projectId, agentId: sender.id, subjectId: messageId, data } as const
  return recordEvent(tx, event, sentAtMs)
}

/** Records what a recipient did with a message, in which its sender is the other side; not for bcc and notices. */
export function recordReceipt(
  tx: Queries,
  kind: "message.read" | "message.acknowledged",
  message: Message,
  agentId: number,
  nowMs: number,
): Promise<void> {
  const { id: subjectId, projectId, senderId: partyId } = message
  return recordEvent(tx, { kind, projectId, agentId, partyId, subjectId, data: messageData(message) }, nowMs)
}

function messageData(message: Pick<Message, "id" | "threadKey" | "subject" | "importance" | "ackRequired">) {
  return {
    message_id: message.id,
    thread_id: message.threadKey,
    subject: message.subject,
    importance: message.importance,
    ack_required: message.ackRequired,
  }
}

/** What an event tells of a reservation. */
export type RecordedReservation = Pick<
  Reservation,
  "id" | "projectId" | "repositoryId" | "agentId" | "pathPattern" | "exclusive" | "reason" | "expiresAtMs"
>

/** Records what became of a reservation, under its holder's name; must run in the transaction of the change. */
export function recordReservation(
  tx: Queries,
  kind: Extract<EventKind, `reservation.${string}`>,
  reservation: RecordedReservation,
  nowMs: number,
): Promise<void> {
  const { id, projectId, repositoryId, agentId, pathPattern, reason } = reservation
  const data = {
    reservation_id: id,
    path_pattern: pathPattern,
    mode: modeOf(reservation),
    expires_at: new Date(reservation.expiresAtMs).toISOString(),
    reason,
  }
  return recordEvent(tx, { kind, projectId, repositoryId, agentId, subjectId: id, data }, nowMs)
}

/** Records that an agent came or went; must run in the transaction of the change. */
export function recordPresence(
  tx: Queries,
  kind: Extract<EventKind, `agent.${string}`>,
  { id, projectId, repositoryId, name, program }: Agent,
  nowMs: number,
): Promise<void> {
  const data = { agent_id: id, name, program }
  return recordEvent(tx, { kind, projectId, repositoryId, agentId: id, subjectId: id, data }, nowMs)
}

/** Records what became of a request to override, for its requester; must run in the transaction of the change. */
export function recordOverride(
  tx: Queries,
  kind: Extract<EventKind, `override.${string}`>,
  { id, projectId, repositoryId, requesterId, path, reason }: Override,
  { holders, decidedBy }: { holders: readonly Reservation[]; decidedBy?: string },
  nowMs: number,
): Promise<void> {
  const data = {
    override_id: id,
    path,
    reason,
    holders: holderNames(holders),
    ...(decidedBy !== undefined && { decided_by: decidedBy }),
  }
  const sides = { agentId: requesterId, ...(holders[0] && { partyId: holders[0].agentId }) }
  return recordEvent(tx, { kind, projectId, repositoryId, ...sides, subjectId: id, data }, nowMs)
}

/** Returns the names of those who hold reservations, each once. */
export function holderNames(holders: readonly Pick<Reservation, "agentName">[]): string[] {
  return [...new Set(holders.map(({ agentName }) => agentName))]
}

/** What an event tells of a contact: who asked whom. */
type RecordedContact = Pick<Contact, "id" | "projectId"> & {
  requester: Pick<Agent, "id" | "name">
  recipient: Pick<Agent, "id" | "name">
}

/** Records that one agent asked another one for contact; must run in the transaction of the change. */
export function recordContactRequest(tx: Queries, contact: RecordedContact, nowMs: number): Promise<void> {
  const { id: subjectId, projectId, requester, recipient } = contact
  const sides = { agentId: requester.id, partyId: recipient.id }
  const event = { kind: "contact.requested", projectId, ...sides, subjectId } as const
  return recordEvent(tx, { ...event, data: contactData(contact) }, nowMs)
}

/** Records that `by` answered such a request, also where nobody had to wait for it; must run in the transaction. */
export function recordContactAnswer(
  tx: Queries,
  contact: RecordedContact,
  { by, approved }: { by: Pick<Agent, "id">; approved: boolean },
  nowMs: number,
): Promise<void> {
  const { id: subjectId, projectId, requester, recipient } = contact
  const partyId = by.id === requester.id ? recipient.id : requester.id
  const data = { ...contactData(contact), approved }
  const event = { kind: "contact.answered", projectId, agentId: by.id, partyId, subjectId, data } as const
  return recordEvent(tx, event, nowMs)
}

function contactData({ id, requester, recipient }: RecordedContact) {
  return { contact_request_id: id, requester: requester.name, recipient: recipient.name }
}

/** Records that one agent blocked another one, which nobody but the blocker may see. */
export function recordBlock(
  tx: Queries,
  { blocker, blocked, contactId }: { blocker: Agent; blocked: Agent; contactId: number },
  nowMs: number,
): Promise<void> {
  const sides = { agentId: blocker.id, partyId: blocked.id }
  const data = { contact_request_id: contactId, agent_id: blocked.id, name: blocked.name }
  const event = { kind: "contact.blocked", projectId: blocker.projectId, ...sides } as const
  return recordEvent(tx, { ...event, subjectId: contactId, data }, nowMs)
}
