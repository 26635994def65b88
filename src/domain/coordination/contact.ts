/**
 * Contacts: who may write to whom. The facts are gathered by the store; the order in which they decide
 * is here and nowhere else.
 */

import { CONTACT_REQUEST_AGAIN_AFTER_MS } from "../../config/limits.ts"
import type { ContactPolicy } from "./agent.ts"

export const CONTACT_STATUSES = ["pending", "approved", "denied"] as const
export type ContactStatus = (typeof CONTACT_STATUSES)[number]

export interface Contact {
  id: number
  projectId: number
  requesterId: number
  requesterName: string
  recipientId: number
  recipientName: string
  status: ContactStatus
  reason: string
  response: string | null
  requestedAtMs: number
  respondedAtMs: number | null
}

/** What is known of one sender and one recipient when a message or a request is weighed. */
export interface ContactFacts {
  recipientPolicy: ContactPolicy
  /** The recipient has blocked the sender. */
  blocked: boolean
  /** A contact between the two is approved, whoever asked. */
  approved: boolean
  /** The recipient has denied the sender's request and not lifted that since. */
  denied: boolean
}

/**
 * `closed` is a refusal for good, `denied` and `needs_approval` are some that a contact request can change. With
 * `if_acquainted` it depends on whether the two work in the same repository or one of them in none,
 * share a thread, or hold overlapping reservations: facts that cost a search, so they are asked last.
 */
type DeliveryVerdict = "deliver" | "closed" | "denied" | "needs_approval" | "if_acquainted"

/**
 * Decides whether a message is delivered; a block and `block_all` come before everything else.
 * `answersRecipient`: the recipient has written to the sender in the thread that the message is for.
 */
export function decideDelivery(facts: ContactFacts & { answersRecipient: boolean }): DeliveryVerdict {
  if (facts.blocked || facts.recipientPolicy === "block_all") return "closed"
  if (facts.answersRecipient || facts.recipientPolicy === "open" || facts.approved) return "deliver"
  if (facts.denied) return "denied"
  return facts.recipientPolicy === "contacts_only" ? "needs_approval" : "if_acquainted"
}

/**
 * Decides what becomes of a contact request: approved, denied, or left to the recipient as pending, as all are that
 * follow a denial.
 */
export function decideRequest(facts: ContactFacts): ContactStatus | "if_acquainted" {
  if (facts.blocked || facts.recipientPolicy === "block_all") return "denied"
  if (facts.approved || facts.recipientPolicy === "open") return "approved"
  return facts.denied || facts.recipientPolicy === "contacts_only" ? "pending" : "if_acquainted"
}

/**
 * Whether a new request may follow a denial: one does in an hour. `asked` counts all requests that the recipient was
 * told of, of which only the first did not follow a denial; `lastMs` is when the last one was made.
 */
export function mayAskAgain({ asked, lastMs }: { asked: number; lastMs: number }, nowMs: number): boolean {
  return asked < 2 || nowMs - lastMs >= CONTACT_REQUEST_AGAIN_AFTER_MS
}
