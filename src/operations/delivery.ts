/**
 * Delivering mail: the limits, the policies, the thread and the rows, in one transaction. Sending,
 * replying, answering an acknowledgment and notifying all go through here.
 */

import type { Queries } from "../db/database.ts"
import { type Agent, isNotifier, NOTIFIER_NAME } from "../domain/agent.ts"
import { decideDelivery } from "../domain/contact.ts"
import type { Importance, RecipientKind } from "../domain/message.ts"
import { secondsUntil } from "../domain/rate-limit.ts"
import { anyOverlap } from "../domain/reservation.ts"
import type { Thread } from "../domain/thread.ts"
import { AppError, assert } from "../errors.ts"
import { recordActivity } from "../store/activity.ts"
import { findAgentByName } from "../store/agents.ts"
import { findContact, findContactFacts, putContact } from "../store/contacts.ts"
import { countSentSince, insertMessage } from "../store/messages.ts"
import { findRepositoryById } from "../store/repositories.ts"
import { listHeldByAgent } from "../store/reservations.ts"
import {
  addToThread,
  findThread,
  hasWrittenTo,
  insertThread,
  isThreadMember,
  setThreadKey,
  shareThread,
} from "../store/threads.ts"
import { rateLimited } from "./admission.ts"
import { oneLine } from "./markdown.ts"
import type { ProjectContext } from "./operation.ts"

const HOUR_MS = 3_600_000

export interface Draft {
  sender: Agent
  recipients: ReadonlyMap<Agent, RecipientKind>
  /** The thread to write in; undefined begins a new one under the message's own id. */
  threadKey: string | undefined
  parentId: number | null
  subject: string
  bodyMd: string
  importance: Importance
  ackRequired: boolean
  attachments: Record<string, unknown>[]
}

export interface Delivered {
  messageId: number
  threadKey: string
  sentAtMs: number
}

/** A refusal names one recipient, why, and the next step. */
export type Delivery = { delivered: Delivered } | { refusals: string[] }

/**
 * Delivers a message to all of its recipients or to none. Contact requests that a refusal files are
 * kept, which is why refusals are returned and not thrown: see `requireDelivered`.
 */
export async function deliver(tx: Queries, context: ProjectContext, draft: Draft): Promise<Delivery> {
  const { app, project, nowMs } = context
  await requireSendAllowance(tx, context, draft.sender)
  const thread = await findWritableThread(tx, context, draft)
  const refusals: string[] = []
  for (const recipient of draft.recipients.keys()) {
    const refusal = await refusalOf(tx, context, draft, recipient, thread)
    if (refusal !== null) refusals.push(refusal)
  }
  if (refusals.length > 0) return { refusals }
  const delivered = await store(tx, context, draft, thread)
  await app.search.putMessage(tx, { id: delivered.messageId, subject: draft.subject, body: draft.bodyMd })
  const activity = { projectId: project.id, agentId: draft.sender.id, messageId: delivered.messageId }
  await recordActivity(tx, { ...activity, kind: "message_sent" }, nowMs)
  return { delivered }
}

/** Returns what was delivered, or fails with `refused` and every refusal. */
export function requireDelivered(delivery: Delivery): Delivered {
  if ("delivered" in delivery) return delivery.delivered
  throw new AppError(
    "refused",
    `nothing was sent, because not every recipient can be reached: ${delivery.refusals.join(" ")}`,
  )
}

/**
 * Sends a message from the notifier to one agent. Notifications have threads of their own, which nobody
 * else can read, and are exempt from limits and policies.
 */
export async function notify(
  tx: Queries,
  context: ProjectContext,
  recipient: Agent,
  notice: { subject: string; bodyMd: string },
): Promise<void> {
  if (isNotifier(recipient.name)) return
  const sender = await findAgentByName(tx, context.project.id, NOTIFIER_NAME)
  assert(sender !== undefined, `project ${context.project.id} has a notifier`)
  const draft: Draft = {
    sender,
    recipients: new Map([[recipient, "to"]]),
    threadKey: undefined,
    parentId: null,
    importance: "normal",
    ackRequired: false,
    attachments: [],
    ...notice,
  }
  // Not indexed: a search is for everybody, a notification for one.
  await store(tx, context, draft, undefined)
}

/**
 * Whether `auto` lets two agents write to each other unasked: they work in the same repository or one
 * of them in none, share a thread, or hold overlapping reservations.
 */
export async function areAcquainted(tx: Queries, one: Agent, other: Agent, nowMs: number): Promise<boolean> {
  if (one.repositoryId === null || other.repositoryId === null || one.repositoryId === other.repositoryId)
    return true
  return (await shareThread(tx, one.id, other.id)) || (await holdOverlapping(tx, one, other, nowMs))
}

async function holdOverlapping(tx: Queries, one: Agent, other: Agent, nowMs: number): Promise<boolean> {
  const [ours, theirs] = [
    await listHeldByAgent(tx, one.id, nowMs),
    await listHeldByAgent(tx, other.id, nowMs),
  ]
  for (const repositoryId of new Set(ours.map((reservation) => reservation.repositoryId))) {
    const patterns = (held: typeof ours) =>
      held
        .filter((reservation) => reservation.repositoryId === repositoryId)
        .map((reservation) => reservation.pathPattern)
    const ignoreCase = (await findRepositoryById(tx, repositoryId))?.ignoreCase ?? false
    if (anyOverlap(patterns(ours), patterns(theirs), ignoreCase)) return true
  }
  return false
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
    case "needs_approval":
      return `${recipient.name} accepts messages from approved contacts only. Call request-contact for ${recipient.name} first.`
    case "if_acquainted":
      if (await areAcquainted(tx, sender, recipient, context.nowMs)) return null
      return fileRequest(tx, context, draft, recipient)
  }
}

/** Files the contact request that the message needs, unless one waits or was denied already. */
async function fileRequest(
  tx: Queries,
  context: ProjectContext,
  draft: Draft,
  recipient: Agent,
): Promise<string> {
  const before = await findContact(tx, draft.sender.id, recipient.id)
  if (before?.status === "denied") {
    return `${recipient.name} has denied your contact request ${before.id}. Call request-contact only if your reason is a new one.`
  }
  const isPending = before?.status === "pending"
  const id = isPending ? before.id : await requestContact(tx, context, draft.sender, recipient, draft.subject)
  return `${recipient.name} has to approve you as a contact first; contact request ${id} is pending for that. Send again when list-contacts shows it approved.`
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
  await notify(tx, context, recipient, {
    subject: `Contact request from ${requester.name}`,
    bodyMd: `${requester.name} would like to write to you: ${oneLine(reason)}\n\nContact request id: ${id}\n\nAnswer with respond-contact.`,
  })
  return id
}

/** No thread can be named so, for a thread id is never empty. */
const NO_KEY_YET = ""

async function store(
  tx: Queries,
  context: ProjectContext,
  draft: Draft,
  existing: Thread | undefined,
): Promise<Delivered> {
  const { project, nowMs } = context
  // A thread that is named after its first message can only be named once that message has an id.
  const key = draft.threadKey ?? NO_KEY_YET
  const isNotice = isNotifier(draft.sender.name)
  const thread =
    existing ??
    (await insertThread(tx, { projectId: project.id, key, subject: draft.subject, isNotice }, nowMs))
  const recipients = new Map([...draft.recipients].map(([agent, kind]) => [agent.id, kind]))
  const messageId = await insertMessage(
    tx,
    { ...draft, projectId: project.id, threadId: thread.id, senderId: draft.sender.id, recipients },
    nowMs,
  )
  await addToThread(tx, thread.id, nowMs)
  if (draft.threadKey !== undefined) return { messageId, threadKey: draft.threadKey, sentAtMs: nowMs }
  const threadKey = await freeThreadKey(tx, project.id, messageId)
  await setThreadKey(tx, thread.id, threadKey)
  return { messageId, threadKey, sentAtMs: nowMs }
}

/** `thr_` + message id, unless somebody chose just that id for a thread of their own before. */
async function freeThreadKey(tx: Queries, projectId: number, messageId: number): Promise<string> {
  let key = `thr_${messageId}`
  for (let number = 2; (await findThread(tx, projectId, key)) !== undefined; number += 1)
    key = `thr_${messageId}.${number}`
  return key
}
