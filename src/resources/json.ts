/** The JSON shapes that resources share. */

import { type Agent, isActive, isPerson } from "../domain/coordination/agent.ts"
import type { Contact } from "../domain/coordination/contact.ts"
import {
  firstAckAt,
  type InboxMessage,
  type Message,
  type Recipient,
} from "../domain/coordination/message.ts"
import type { Reservation } from "../domain/coordination/reservation.ts"
import { duration, isoTime } from "../operations/markdown.ts"

function timeOrNull(timeMs: number | null): string | null {
  return timeMs === null ? null : isoTime(timeMs)
}

/** A message as it lies in an inbox. */
export function inboxJson(message: InboxMessage) {
  return {
    id: message.id,
    thread_id: message.threadKey,
    from: message.senderName,
    subject: message.subject,
    importance: message.importance,
    is_read: message.readAtMs !== null,
    ack_required: message.ackRequired,
    ack_received_at: timeOrNull(message.ackedAtMs),
    created_at: isoTime(message.createdAtMs),
  }
}

/** A message as it lies in an outbox: shaped like an inbox, with everybody it went to, bcc too. */
export function outboxJson(message: Message, recipients: readonly Recipient[]) {
  return {
    id: message.id,
    thread_id: message.threadKey,
    from: message.senderName,
    recipients: recipients.map(recipientJson),
    subject: message.subject,
    importance: message.importance,
    is_read: recipients.every((recipient) => recipient.readAtMs !== null),
    ack_required: message.ackRequired,
    ack_received_at: timeOrNull(firstAckAt(recipients)),
    created_at: isoTime(message.createdAtMs),
  }
}

/** A whole message, with the recipients that the reader may see. */
export function messageJson(message: Message, recipients: readonly Recipient[]) {
  return {
    id: message.id,
    thread_id: message.threadKey,
    sender: { id: message.senderId, name: message.senderName },
    recipients: recipients.map(recipientJson),
    subject: message.subject,
    body_md: message.bodyMd,
    importance: message.importance,
    ack_required: message.ackRequired,
    ack_received_at: timeOrNull(firstAckAt(recipients)),
    attachments: message.attachments,
    created_at: isoTime(message.createdAtMs),
  }
}

function recipientJson(recipient: Recipient) {
  return { id: recipient.agentId, name: recipient.name, type: recipient.kind }
}

export function agentJson(agent: Agent, nowMs: number) {
  return {
    id: agent.id,
    name: agent.name,
    is_person: isPerson(agent),
    program: agent.program,
    model: agent.model,
    contact_policy: agent.contactPolicy,
    task_description: agent.taskDescription,
    repository_id: agent.repositoryId,
    is_active: isActive(agent, nowMs),
    last_active_at: isoTime(agent.lastActiveAtMs),
    created_at: isoTime(agent.createdAtMs),
  }
}

export function reservationJson(reservation: Reservation, nowMs: number) {
  return {
    id: reservation.id,
    agent: reservation.agentName,
    is_person: reservation.isPersons,
    session_died_at: reservation.diedAtMs === null ? null : isoTime(reservation.diedAtMs),
    repository_id: reservation.repositoryId,
    path_pattern: reservation.pathPattern,
    exclusive: reservation.exclusive,
    reason: reservation.reason,
    created_at: isoTime(reservation.createdAtMs),
    expires_at: isoTime(reservation.expiresAtMs),
    time_remaining: duration(reservation.expiresAtMs - nowMs),
  }
}

export function contactJson(contact: Contact) {
  return {
    id: contact.id,
    requester: contact.requesterName,
    recipient: contact.recipientName,
    status: contact.status,
    reason: contact.reason,
    requested_at: isoTime(contact.requestedAtMs),
    responded_at: timeOrNull(contact.respondedAtMs),
  }
}
