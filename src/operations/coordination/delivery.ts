/**
 * Delivering mail: the limits, the policies, the thread and the rows, in one transaction. Sending,
 * replying and answering an acknowledgment all go through here.
 */

import type { Queries } from "../../db/database.ts"
import type { Agent } from "../../domain/coordination/agent.ts"
import { decideDelivery } from "../../domain/coordination/contact.ts"
import type { Thread } from "../../domain/coordination/thread.ts"
import { oneLine } from "../../domain/foreign-text/markdown.ts"
import { secondsUntil } from "../../domain/rate-limit.ts"
import { HOUR_MS } from "../../domain/time-units.ts"
import { AppError, assert } from "../../errors.ts"
import { findContact, findContactFacts, putContact } from "../../store/coordination/contacts.ts"
import { countSentSince } from "../../store/coordination/messages.ts"
import { findThread, hasWrittenTo, isThreadMember } from "../../store/coordination/threads.ts"
import type { ProjectContext } from "../operation.ts"
import { rateLimited } from "../rate-limits.ts"
import { areAcquainted } from "./acquaintance.ts"
import { recordContactRequest, recordSent } from "./recording.ts"
import { type Delivered, type Draft, notify, writeMessage } from "./writing.ts"

/** Why one recipient does not get a message, with the next step. */
interface Refusal {
  recipient: Agent
  reason: string
}

type Delivery = { delivered: Delivered } | { refusals: string[] }

/**
 * Delivers a message to all of its recipients or to none. Contact requests that a refusal files are
 * kept, which is why refusals are returned and not thrown: see `requireDelivered`. With `isTold` false there is no event
 * of it.
 */
export async function deliver(
  tx: Queries,
  context: ProjectContext,
  draft: Draft,
  { isTold }: { isTold: boolean } = { isTold: true },
): Promise<Delivery> {
  await requireSendAllowance(tx, context, draft.sender)
  const thread = await findWritableThread(tx, context, draft)
  const refusals = await listRefusals(tx, context, draft, thread)
  if (refusals.length > 0) return { refusals: refusals.map(({ reason }) => reason) }
  return { delivered: await write(tx, context, draft, thread, isTold) }
}

/**
 * Delivers a message to those of its recipients that accept it, and returns who does not; nothing is written when
 * nobody does. For what is meant for all who can be reached, where no single one matters to the others.
 */
export async function deliverWhereAccepted(
  tx: Queries,
  context: ProjectContext,
  draft: Draft,
): Promise<{ delivered: Delivered | undefined; recipients: Agent[]; refusals: Refusal[] }> {
  await requireSendAllowance(tx, context, draft.sender)
  const thread = await findWritableThread(tx, context, draft)
  const refusals = await listRefusals(tx, context, draft, thread)
  const refused = new Set(refusals.map(({ recipient }) => recipient.id))
  const accepting = [...draft.recipients].filter(([{ id }]) => !refused.has(id))
  const recipients = accepting.map(([agent]) => agent)
  if (recipients.length === 0) return { delivered: undefined, recipients, refusals }
  const reduced = { ...draft, recipients: new Map(accepting) }
  return { delivered: await write(tx, context, reduced, thread), recipients, refusals }
}

async function write(
  tx: Queries,
  context: ProjectContext,
  draft: Draft,
  thread: Thread | undefined,
  isTold = true,
): Promise<Delivered> {
  const { app, project } = context
  const delivered = await writeMessage(tx, context, draft, thread)
  await app.search.putMessage(tx, { id: delivered.messageId, subject: draft.subject, body: draft.bodyMd })
  if (isTold) await recordSent(tx, project.id, draft, delivered)
  return delivered
}

async function listRefusals(
  tx: Queries,
  context: ProjectContext,
  draft: Draft,
  thread: Thread | undefined,
): Promise<Refusal[]> {
  const refusals: Refusal[] = []
  for (const recipient of draft.recipients.keys()) {
    const reason = await refusalOf(tx, context, draft, recipient, thread)
    if (reason !== null) refusals.push({ recipient, reason })
  }
  return refusals
}

/** Returns what was delivered, or fails with `refused` and every refusal. */
export function requireDelivered(delivery: Delivery): Delivered {
  if ("delivered" in delivery) return delivery.delivered
  throw new AppError(
    "refused",
    `nothing was sent, because not every recipient can be reached: ${delivery.refusals.join(" ")}`,
  )
}

async function requireSendAllowance(tx: Queries, context: ProjectContext, sender: Agent): Promise<void> {
  const sendsMax = context.app.config.rates.sends_per_hour
  if (sendsMax === 0) return
  const { sent, firstMs } = await countSentSince(tx, sender.id, context.nowMs - HOUR_MS)
  if (sent < sendsMax) return
  throw rateLimited(
    `${sendsMax} messages per hour per agent`,
    secondsUntil((firstMs ?? 0) + HOUR_MS, context.nowMs),
  )
}

/** Returns the thread that a draft names, if it exists and its sender takes part in it. */
async function findWritableThread(
  tx: Queries,
  context: ProjectContext,
  draft: Draft,
): Promise<Thread | undefined> {
  if (draft.threadKey === undefined) return undefined
  const thread = await findThread(tx, context.project.id, draft.threadKey)
  if (thread?.isNotice === true) {
    throw new AppError("refused", `thread ${thread.key} is a notification, where nobody can write`, {
      hint: "Omit thread_id to begin a thread of your own.",
    })
  }
  if (thread === undefined || (await isThreadMember(tx, thread.id, draft.sender.id))) return thread
  throw new AppError("refused", `${draft.sender.name} takes no part in thread ${thread.key}`, {
    hint: "Omit thread_id to begin a thread of your own.",
  })
}

async function refusalOf(
  tx: Queries,
  context: ProjectContext,
  draft: Draft,
  recipient: Agent,
  thread: Thread | undefined,
): Promise<string | null> {
  const { sender } = draft
  if (recipient.id === sender.id) return null
  const answersRecipient =
    thread !== undefined && (await hasWrittenTo(tx, thread.id, recipient.id, sender.id))
  const facts = await findContactFacts(tx, sender.id, recipient.id)
  switch (decideDelivery({ ...facts, recipientPolicy: recipient.contactPolicy, answersRecipient })) {
    case "deliver":
      return null
    case "closed":
      return `${recipient.name} does not accept messages from you. Continue without ${recipient.name}.`
    case "denied":
      return deniedText(tx, context, sender, recipient)
    case "needs_approval":
      if (isTyped(context))
        return `${recipient.name} accepts messages from approved contacts only, until it has written to you first.`
      return `${recipient.name} accepts messages from approved contacts only. Call request-contact for ${recipient.name} first.`
    case "if_acquainted":
      if (await areAcquainted(tx, sender, recipient, context.nowMs)) return null
      return fileRequest(tx, context, draft, recipient)
  }
}

/** Says that a denial stands, which outranks whatever `auto` would say. */
async function deniedText(
  tx: Queries,
  context: ProjectContext,
  sender: Agent,
  recipient: Agent,
): Promise<string> {
  if (isTyped(context)) return `${recipient.name} does not want to be written to by you.`
  const contact = await findContact(tx, sender.id, recipient.id)
  assert(contact !== undefined, `agent ${recipient.id} has denied agent ${sender.id}`)
  return `${recipient.name} has denied your contact request ${contact.id}. Call request-contact only if your reason is a new one.`
}

/** Files the contact request that the message needs, unless one waits already. */
async function fileRequest(
  tx: Queries,
  context: ProjectContext,
  draft: Draft,
  recipient: Agent,
): Promise<string> {
  const before = await findContact(tx, draft.sender.id, recipient.id)
  const isPending = before?.status === "pending"
  const id = isPending ? before.id : await requestContact(tx, context, draft.sender, recipient, draft.subject)
  const next = isTyped(context)
    ? `Send again when ${recipient.name} has approved it, or has written to you.`
    : "Send again when list-contacts shows it approved."
  return `${recipient.name} has to approve you as a contact first; contact request ${id} is pending for that. ${next}`
}

/** Whether somebody types at the command line, which has no tools to call. */
function isTyped({ caller }: ProjectContext): boolean {
  return caller.surface === "command line"
}

/** Returns the subject under which a recipient is told of a contact request. */
export function requestSubject(requester: Agent): string {
  return `Contact request from ${requester.name}`
}

/** Files a pending contact request and notifies the recipient; returns its id. */
export async function requestContact(
  tx: Queries,
  context: ProjectContext,
  requester: Agent,
  recipient: Agent,
  reason: string,
): Promise<number> {
  const request = {
    projectId: context.project.id,
    requesterId: requester.id,
    recipientId: recipient.id,
    reason,
  }
  const id = await putContact(tx, { ...request, status: "pending" }, context.nowMs)
  await recordContactRequest(tx, { id, projectId: context.project.id, requester, recipient }, context.nowMs)
  await notify(tx, context, recipient, {
    subject: requestSubject(requester),
    bodyMd: `${requester.name} would like to write to you: ${oneLine(reason)}\n\nContact request id: ${id}\n\nAnswer with respond-contact.`,
  })
  return id
}
